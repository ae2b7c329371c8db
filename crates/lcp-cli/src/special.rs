//! What is done about special tokens of a pack, before anything is counted (RFC 0008 §3).

use std::borrow::Cow;
use std::path::Path;

use clap::ValueEnum;
use lcp_driver::special_tokens::{
    Occurrences, SpecialTokens, escape, escape_text, find, find_in_blocks,
};
use lcp_driver::{Warning, WarningCode, escape_control};
use lcp_types::Block;

use crate::Result;
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::files;

/// What is done about special tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", schemars(inline))]
#[expect(missing_docs, reason = "they say it")]
pub enum Treatment {
    Report,
    Neutralise,
    Reject,
}

/// What is in force: what the flag says, else the file.
pub fn in_force(flag: Option<Treatment>, config: &Config) -> SpecialTokens {
    match flag {
        Some(Treatment::Report) => SpecialTokens::Report,
        Some(Treatment::Neutralise) => SpecialTokens::Neutralise,
        Some(Treatment::Reject) => SpecialTokens::Reject,
        None => config.budget.special_tokens.as_ref().map(|found| found.value).unwrap_or_default(),
    }
}

impl From<SpecialTokens> for Treatment {
    fn from(how: SpecialTokens) -> Self {
        match how {
            SpecialTokens::Report => Self::Report,
            SpecialTokens::Neutralise => Self::Neutralise,
            SpecialTokens::Reject => Self::Reject,
        }
    }
}

/// What an agent asks for, if that is stricter than the settings of who runs the server.
pub fn at_least(asked: Option<Treatment>, config: &Config) -> Option<Treatment> {
    asked.max(config.budget.special_tokens.as_ref().map(|found| found.value.into()))
}

/// Does it to one block of a pack.
pub fn treat_block(block: &mut Block<'_>, index: usize, how: SpecialTokens, path: &Path) -> Result {
    match how {
        SpecialTokens::Report => {}
        SpecialTokens::Neutralise => drop(escape(std::slice::from_mut(block))),
        SpecialTokens::Reject => {
            if let Some((_, token)) = find_in_blocks(std::slice::from_ref(block)).first {
                return Err(rejected(index, block, &token, path));
            }
        }
    }
    Ok(())
}

/// Does it to the text of one block that no render would show: a picture, an unknown type.
pub fn treat_text<'t>(
    text: Cow<'t, str>,
    (index, block): (usize, &Block<'_>),
    how: SpecialTokens,
    path: &Path,
) -> Result<Cow<'t, str>> {
    let first = find(&text).next();
    match (how, first) {
        (SpecialTokens::Neutralise, Some(_)) => Ok(escape_text(&text).into_owned().into()),
        (SpecialTokens::Reject, Some(at)) => Err(rejected(index, block, &text[at], path)),
        (SpecialTokens::Report, _) | (_, None) => Ok(text),
    }
}

/// What is said of the special tokens of a text that is not made of a pack.
pub fn of_text(text: &str) -> Option<String> {
    let count = find(text).count();
    let what = if count == 1 { "a special token" } else { "special tokens" };
    let name = WarningCode::SpecialTokens.name();
    (count > 0).then(|| format!("the text has {what} [{name}] ({count})"))
}

/// Does it to the blocks of a pack; what was changed is warned of. What stays, the plan warns of.
pub fn treat(blocks: &mut [Block<'_>], how: SpecialTokens, path: &Path) -> Result<Option<Warning>> {
    match how {
        SpecialTokens::Report => Ok(None),
        SpecialTokens::Neutralise => Ok(changed(&escape(blocks))),
        SpecialTokens::Reject => match find_in_blocks(blocks).first {
            Some((block, token)) => Err(rejected(block, &blocks[block], &token, path)),
            None => Ok(None),
        },
    }
}

fn changed(found: &Occurrences) -> Option<Warning> {
    let (block, _) = found.first.as_ref()?;
    let message = match found.count {
        1 => "a space was put into a special token".to_owned(),
        count => {
            format!("a space was put into each of {count} special tokens, the first in this block")
        }
    };
    Some(Warning::new(WarningCode::SpecialTokens, Some(*block), message))
}

fn rejected(index: usize, block: &Block<'_>, token: &str, path: &Path) -> Failure {
    let (ty, label) = (block.block_type().label(), block.label());
    let name = WarningCode::SpecialTokens.name();
    // Who reads the message may be the model.
    let (token, label) = (escape_text(token), escape_text(&label));
    let (file, label) = (files::name(path), escape_control(&label));
    let message = format!(
        "the special token {token}, here with a space in it, is not allowed [{name}] ({file}, block {index}, {ty} {label})"
    );
    Failure { name: Some(name), ..Failure::new(Code::Malformed, message) }
        .hint("--special-tokens neutralise puts a space into each")
}

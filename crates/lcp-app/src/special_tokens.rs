//! The policy for special tokens of a pack, which is applied before tokens are counted (RFC 0008
//! §3).

use std::borrow::Cow;
use std::cmp;
use std::path::Path;

use lcp_driver::special_tokens::{
    Occurrences, SpecialTokens, escape, escape_text, find, find_in_blocks,
};
use lcp_driver::{Warning, WarningCode, escape_control};
use lcp_types::Block;

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::files;

/// Returns the effective policy: the given one, or that of the settings.
pub fn effective(given: Option<SpecialTokens>, config: &Config) -> SpecialTokens {
    given.unwrap_or(config.budget.special_tokens)
}

/// Returns the stricter of the given policy and that of the settings.
pub fn at_least(given: Option<SpecialTokens>, config: &Config) -> SpecialTokens {
    let of_file = config.budget.special_tokens;
    given.map_or(of_file, |given| cmp::max_by_key(given, of_file, |policy| *policy as u8))
}

/// Applies the policy to one block of a pack.
pub fn apply_to_block(
    block: &mut Block<'_>,
    index: usize,
    how: SpecialTokens,
    path: &Path,
) -> Result {
    match how {
        SpecialTokens::Warn => {}
        SpecialTokens::Escape => drop(escape(std::slice::from_mut(block))),
        SpecialTokens::Reject => {
            if let Some((_, token)) = find_in_blocks(std::slice::from_ref(block)).first {
                return Err(rejected(index, block, &token, path));
            }
        }
    }
    Ok(())
}

/// Applies the policy to the text of a block that no render shows: an image, an unknown type.
pub fn apply_to_text<'t>(
    text: Cow<'t, str>,
    (index, block): (usize, &Block<'_>),
    how: SpecialTokens,
    path: &Path,
) -> Result<Cow<'t, str>> {
    let first = find(&text).next();
    match (how, first) {
        (SpecialTokens::Escape, Some(_)) => Ok(escape_text(&text).into_owned().into()),
        (SpecialTokens::Reject, Some(at)) => Err(rejected(index, block, &text[at], path)),
        (SpecialTokens::Warn, _) | (_, None) => Ok(text),
    }
}

/// Returns a warning about the special tokens of a text that does not come from a pack.
pub fn warning_about(text: &str) -> Option<String> {
    let mut found = find(text);
    // A model may read the message.
    let token = escape_text(&text[found.next()?]);
    let tokens = lcp_driver::plural(found.count() as u64 + 1, "special token");
    let name = WarningCode::SpecialTokens.name();
    Some(format!("the text has {tokens}, such as {token} (shown with a space) [{name}]"))
}

/// Applies the policy to the blocks of a pack. Returns a warning about changes; the plan warns
/// about tokens that stay.
pub(crate) fn apply(
    blocks: &mut [Block<'_>],
    how: SpecialTokens,
    path: &Path,
) -> Result<Option<Warning>> {
    match how {
        SpecialTokens::Warn => Ok(None),
        SpecialTokens::Escape => Ok(changed(&escape(blocks))),
        SpecialTokens::Reject => match find_in_blocks(blocks).first {
            Some((block, token)) => Err(rejected(block, &blocks[block], &token, path)),
            None => Ok(None),
        },
    }
}

fn changed(found: &Occurrences) -> Option<Warning> {
    let (block, _) = found.first.as_ref()?;
    let message = match found.count {
        1 => "inserted a space into a special token".to_owned(),
        count => {
            format!("inserted a space into each of {count} special tokens, the first in this block")
        }
    };
    Some(Warning::new(WarningCode::SpecialTokens, Some(*block), message))
}

fn rejected(index: usize, block: &Block<'_>, token: &str, path: &Path) -> Error {
    let (ty, label) = (block.block_type().label(), block.label());
    let name = WarningCode::SpecialTokens.name();
    // A model may read the message.
    let (token, label) = (escape_text(token), escape_text(&label));
    let (file, label) = (files::display_name(path), escape_control(&label));
    let message = format!(
        "special token {token} (shown with a space) is not allowed [{name}] ({file}, block \
         {index}, {ty} {label})"
    );
    Error::new(ErrorKind::Malformed, message)
        .with_code(name)
        .with_hint("pass --special-tokens escape to insert a space into each")
}

//! Reads chats in Markdown: turns under headings, or histories of aider. Any other text becomes a
//! document.

mod aider;
mod headings;
#[cfg(test)]
mod tests;

pub use aider::AIDER_TOOL_NAME;

use lcp_types::{Role, Status};

use crate::builder::BlockBuilder;
use crate::raw_json::Source;
use crate::{Error, Format, ImportResult, Options, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    role: Role,
    /// The text, without blank lines around it. It is never blank.
    text: String,
}

/// The turns of a chat, and the text before the first turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Chat {
    /// The tool name of all tool results.
    tool: &'static str,
    preamble: String,
    turns: Vec<Turn>,
}

/// Imports the turns of a chat as blocks. A text without turns becomes one DOCUMENT.
pub(crate) fn import(bytes: &[u8], options: &Options) -> Result<ImportResult> {
    let source = Source::new(bytes)?;
    let text = source.text();
    if text.trim().is_empty() || text.contains('\0') {
        return Err(Error::looked_for(Format::Markdown, "text"));
    }
    let mut builder = BlockBuilder::new(Format::Markdown, &source);
    if let Some(chat) = chat(text) {
        if !chat.preamble.is_empty() {
            builder.push_detached("preamble", &chat.preamble);
        }
        for turn in chat.turns {
            builder.begin_message(turn.role);
            if turn.role == Role::Tool {
                builder.begin_orphan_result("");
                builder.push_result_text("", Some(chat.tool), Status::Ok, &turn.text);
            } else {
                builder.push_text(&turn.text);
            }
        }
    } else {
        let heading = || text.lines().find_map(|line| line.strip_prefix("# "));
        let title = options.name.as_deref().or_else(heading).unwrap_or_default();
        builder.push_document(title.trim(), text);
    }
    Ok(builder.finish())
}

/// Returns the turns of a text if it is a chat. A history of aider can have no turns.
fn chat(text: &str) -> Option<Chat> {
    let of_headings = || headings::turns(text).filter(|turns| !turns.turns.is_empty());
    aider::turns(text).or_else(of_headings)
}

//! Where messages come from: a pack, or a chat history.

use std::path::Path;

use lcp_continuity::Message;
use lcp_types::{Block, BlockContent, Meta};

use super::history;
use crate::failure::{Code, Failure};
use crate::{Result, files};

/// The messages of a file, or of standard input for `-`.
///
/// # Errors
///
/// A file that cannot be read, is malformed, or has no message.
pub fn messages(path: &Path) -> Result<Vec<Message>> {
    messages_of(path, &files::read(path)?)
}

/// The same of bytes that were read from there.
pub fn messages_of(path: &Path, bytes: &[u8]) -> Result<Vec<Message>> {
    let messages = match as_history(bytes) {
        Some(text) => history::messages(text),
        None => of_blocks(&files::decode(path, bytes)?.blocks),
    };
    if messages.is_empty() {
        let message = format!("there is no message in it ({})", files::name(path));
        return Err(Failure::new(Code::Malformed, message)
            .hint("a pack with CONVERSATION blocks is wanted, or a chat history of aider"));
    }
    Ok(messages)
}

/// The text, unless it is that of a pack or of a manifest.
fn as_history(bytes: &[u8]) -> Option<&str> {
    // A pack has a zero byte before the first block ends.
    let text = str::from_utf8(bytes).ok()?;
    (!text.contains('\0') && !text.trim_start().starts_with('{')).then_some(text)
}

/// Every block that can be shown is a message, but extensions; what annotations say of
/// calls goes along.
#[must_use]
pub fn of_blocks(blocks: &[Block<'_>]) -> Vec<Message> {
    let metas = Meta::of_all(blocks, &mut |_, _| {});
    let is_shown = |block: &Block<'_>| {
        let content = &block.content;
        !content.is_metadata() && !matches!(content, BlockContent::Extension(_))
    };
    let shown = blocks.iter().zip(metas).filter(|(block, _)| is_shown(block));
    let message = |(block, meta): (&Block<'_>, Meta<'_>)| {
        let message = Message::new(block.clone().into_owned());
        match meta.tool_call_id {
            Some(call) => message.answering(call),
            None => message,
        }
    };
    shown.map(message).collect()
}

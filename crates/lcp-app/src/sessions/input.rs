//! Reads messages from packs and transcripts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use lcp_continuity::Message;
use lcp_transcripts::{AIDER_TOOL_NAME, Format, annotation_keys};
use lcp_types::{Block, BlockContent, BlockMeta, Status};

use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::find_block::tagged;
use crate::reporter::Reporter;

/// The type under which an import counts lines that are not JSON.
const UNREADABLE_LINE: &str = "line";

/// Reads the messages of a file, or of standard input for `-`. The input is a pack, or a transcript
/// in a format that `import` detects.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is malformed, or has no messages.
pub fn messages(path: &Path, reporter: &dyn Reporter) -> Result<Vec<Message>> {
    messages_of(path, &files::read(path, reporter)?, reporter)
}

/// Reads the messages of bytes that were read from `path`, and warns about lines that cannot be
/// read.
pub fn messages_of(path: &Path, bytes: &[u8], reporter: &dyn Reporter) -> Result<Vec<Message>> {
    let messages = messages_if_any(path, bytes, reporter)?;
    if messages.is_empty() {
        let message = format!("the input has no messages ({})", files::display_name(path));
        return Err(Error::new(ErrorKind::Malformed, message)
            .with_hint("pass a pack with CONVERSATION blocks, or a transcript"));
    }
    Ok(messages)
}

/// Reads the messages as [`messages_of`] does. There may be none.
pub(crate) fn messages_if_any(
    path: &Path,
    bytes: &[u8],
    reporter: &dyn Reporter,
) -> Result<Vec<Message>> {
    Ok(match lcp_transcripts::detect(bytes) {
        Some(format) => {
            let imported =
                lcp_transcripts::import(format, bytes, &lcp_transcripts::Options::default());
            let malformed = |error: lcp_transcripts::Error| {
                Error::new(ErrorKind::Malformed, files::located(&error.to_string(), path))
            };
            let imported = imported.map_err(malformed)?;
            if let Some(lines) = imported.report.unknown.get(UNREADABLE_LINE) {
                let lines = lcp_driver::plural(*lines, "line");
                let message = format!("left out {lines} without a readable record");
                reporter.warn(&files::located(&message, path));
            }
            let mut messages = of_blocks(imported.blocks);
            if format == Format::Markdown && messages.len() > 1 {
                messages.pop_if(|last| may_grow(last));
            }
            messages
        }
        None => of_blocks(files::decode(path, bytes)?.blocks),
    })
}

/// Returns whether a message is the last output of aider itself. aider may add lines to it, but
/// recorded messages must not change, so it is recorded only when another message follows.
fn may_grow(message: &Message) -> bool {
    matches!(&message.block.content,
        BlockContent::ToolResult(result) if result.tool_name == AIDER_TOOL_NAME)
}

/// Converts blocks into messages, with the tool call IDs of their annotations. Leaves out metadata,
/// extensions and side conversations. The main conversation contains the result of a side
/// conversation. A result that consists only of extensions becomes the
/// type name of the first one, in brackets.
fn of_blocks(blocks: Vec<Block<'_>>) -> Vec<Message> {
    let metas = BlockMeta::resolve_all(&blocks, &mut |_, _| {});
    let calls: Vec<_> =
        metas.into_iter().map(|meta| meta.tool_call_id.map(Cow::into_owned)).collect();
    let aside = tagged(&blocks, annotation_keys::SIDECHAIN);
    let others = blocks.iter().zip(&calls).filter(|(block, _)| block.as_extension().is_none());
    let mut answered: HashSet<String> = others.filter_map(|(_, call)| call.clone()).collect();
    let message = |(index, (block, call)): (usize, (Block<'_>, Option<String>))| {
        if block.content.is_metadata() || aside.contains(&index) {
            return None;
        }
        if let Some(extension) = block.as_extension() {
            let call = call.filter(|call| answered.insert(call.clone()))?;
            let text = format!("[{}]", extension.type_name);
            return Some(Message::tool_result(call, "", Status::Ok, text));
        }
        let message = Message::new(block.into_owned());
        Some(match call {
            Some(call) => message.answering(call),
            None => message,
        })
    };
    blocks.into_iter().zip(calls).enumerate().filter_map(message).collect()
}

//! A conversation as text, for a program to read.

use std::fmt::Write as _;

use lcp_types::{BlockContent, Status};

use crate::model::{Message, Recorded};

/// The conversation: see [`CommandSummarizer`](super::CommandSummarizer).
pub(super) fn text(before: Option<&str>, messages: &[Recorded]) -> String {
    let mut out = String::new();
    if let Some(before) = before {
        push(&mut out, "earlier summary", before);
    }
    for recorded in messages {
        let message = &recorded.message;
        if message.block.content.is_metadata() {
            continue;
        }
        let text = message.text();
        let summary = message.block.summary.as_deref().unwrap_or_default();
        push(&mut out, &speaker(message), if text.trim().is_empty() { summary } else { &text });
    }
    out
}

/// Adds a paragraph, if it says anything.
fn push(out: &mut String, speaker: &str, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = write!(out, "[{speaker}] ");
    for (at, line) in text.lines().enumerate() {
        // What is said must not pass for another message.
        let guard = if at > 0 && line.starts_with('[') { " " } else { "" };
        let _ = writeln!(out, "{guard}{line}");
    }
}

/// Who speaks; of a result the tool, and how the call ended unless it succeeded.
fn speaker(message: &Message) -> String {
    let role = message.role();
    let role = role.name().unwrap_or("turn");
    match &message.block.content {
        BlockContent::Conversation(_) => role.to_owned(),
        BlockContent::ToolResult(result) => {
            let tool = result.tool_name.replace(['\n', '\r', ']'], " ");
            match result.status {
                Status::Ok => format!("{role} {tool}"),
                status => format!("{role} {tool}: {}", status.name().unwrap_or("unknown")),
            }
        }
        content => format!("{role} {}", content.block_type()),
    }
}

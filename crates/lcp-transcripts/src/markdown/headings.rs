//! Reads chats with a heading for each speaker: `## User`, `### Human (10:15)`, `**Assistant:**`.

use lcp_types::{Fence, Role};

use super::{Chat, Turn};

/// The names of speakers in exported chats.
const SPEAKERS: [(Role, &[&str]); 4] = [
    (Role::User, &["user", "human", "you", "me", "prompt"]),
    (
        Role::Assistant,
        &[
            "assistant", "ai", "model", "bot", "agent", "response", "claude", "claude code",
            "chatgpt", "codex", "copilot", "github copilot", "cursor", "gemini",
        ],
    ),
    (Role::System, &["system", "system prompt"]),
    (Role::Tool, &["tool", "tool result", "tool output", "tool results"]),
];

/// The tool name of all tool results, because a chat does not record tool names.
const TOOL_NAME: &str = "tool";

/// The maximum length of a speaker heading in bytes. Longer lines are prose.
const NAME_BYTES_MAX: usize = 120;

/// The style of a speaker heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadingStyle {
    /// A Markdown heading of this level.
    Heading(usize),
    /// Bold text at the beginning of a line.
    Bold,
}

/// A heading that names the speaker of the text below it.
struct SpeakerHeading {
    style: HeadingStyle,
    role: Role,
    /// The byte offset of the heading.
    start: usize,
    /// The byte offset of the text after the heading.
    end: usize,
}

/// Returns the turns under headings of one style, if both user and model have a heading of this
/// style.
pub(super) fn turns(text: &str) -> Option<Chat> {
    let mut headings = speaker_headings(text);
    let has =
        |style, role| headings.iter().any(|heading| (heading.style, heading.role) == (style, role));
    let is_chat = |style: &HeadingStyle| has(*style, Role::User) && has(*style, Role::Assistant);
    let mut styles: Vec<HeadingStyle> = Vec::new();
    for heading in &headings {
        if !styles.contains(&heading.style) {
            styles.push(heading.style);
        }
    }
    let style = styles.into_iter().find(is_chat)?;
    headings.retain(|heading| heading.style == style);
    let preamble = headings.first().map_or("", |first| &text[..first.start]);
    let ends = headings.iter().skip(1).map(|next| next.start).chain([text.len()]);
    let said = headings.iter().zip(ends).map(|(heading, end)| Turn {
        role: heading.role,
        text: without_rules(&text[heading.end..end]).to_owned(),
    });
    Some(Chat {
        tool: TOOL_NAME,
        preamble: without_rules(preamble).to_owned(),
        turns: said.filter(|turn| !turn.text.is_empty()).collect(),
    })
}

/// Removes blank lines around a text, and a horizontal rule at its end.
fn without_rules(text: &str) -> &str {
    let text = trimmed(text);
    let is_rule = |line: &str| line.len() >= 3 && line.bytes().all(|byte| byte == b'-');
    match text.rsplit_once('\n') {
        Some((before, last)) if is_rule(last.trim()) => trimmed(before),
        None if is_rule(text.trim()) => "",
        _ => text,
    }
}

/// Removes the blank lines around a text. The first line keeps its indentation.
fn trimmed(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind('\n').map_or(0, |newline| newline + 1);
    &text[start..]
}

/// Returns the speaker headings outside of fenced code.
fn speaker_headings(text: &str) -> Vec<SpeakerHeading> {
    let mut headings = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        match (open, Fence::parse(line.trim_end())) {
            (None, Some(fence)) => open = Some(fence),
            (Some(before), Some(fence)) if before.is_closed_by(&fence) => open = None,
            (None, None) => {
                if let Some((style, role, end)) = parse_heading(line) {
                    headings.push(SpeakerHeading { style, role, start: at, end: at + end });
                }
            }
            _ => {}
        }
    }
    headings
}

/// Returns the style, the speaker and the length in bytes of a speaker heading at the start of a
/// line.
fn parse_heading(line: &str) -> Option<(HeadingStyle, Role, usize)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if level > 0 {
        let name = line[level..].strip_prefix(' ')?;
        return Some((HeadingStyle::Heading(level), speaker(name)?, line.len()));
    }
    // `**User:** text`, `**User**: text`, `_**User**_`.
    let inner = line.strip_prefix("_**").or_else(|| line.strip_prefix("**"))?;
    let (name, rest) = inner.split_once("**")?;
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    let said = rest.strip_prefix(':');
    let is_mark = said.is_some() || name.ends_with(':') || rest.trim().is_empty();
    let role = speaker(name).filter(|_| is_mark)?;
    let said = said.unwrap_or(rest).trim_start_matches(' ');
    Some((HeadingStyle::Bold, role, line.len() - said.len()))
}

/// Returns the speaker with this name. Emphasis, emoji and a time in parentheses are ignored.
fn speaker(name: &str) -> Option<Role> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let name = name.split(['(', '[']).next().unwrap_or(name);
    let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let has = |row: &&(Role, &[&str])| row.1.contains(&name.as_str());
    SPEAKERS.iter().find(has).map(|(role, _)| *role)
}

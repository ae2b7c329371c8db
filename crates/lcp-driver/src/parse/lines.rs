//! Parser of Markdown and Minimal texts: a part ends before the next line that begins one, unless
//! its head names a terminator.

use lcp_types::{BlockType, Priority};

use super::{Cursor, ParseError, ParsedPart, PartKind};
use crate::block_view::label::take_word;
use crate::render::NUMBERED;
use crate::render::collision::{self, Delimiters, FENCE};

/// The syntax of one of the two modes.
pub(super) struct LineSyntax {
    delimiters: Delimiters,
    /// The text before and after the token count of an omitted line.
    omitted_parts: [&'static str; 2],
    fences: bool,
}

pub(super) const MARKDOWN: LineSyntax = LineSyntax {
    delimiters: collision::MARKDOWN,
    omitted_parts: [", ~", " tokens]_"],
    fences: true,
};

pub(super) const MINIMAL: LineSyntax =
    LineSyntax { delimiters: collision::MINIMAL, omitted_parts: [" ~", "tok]"], fences: false };

pub(super) fn parse(text: &str, syntax: &LineSyntax) -> Result<Vec<ParsedPart>, ParseError> {
    let mut cursor = Cursor { text, at: 0 };
    let mut parts = Vec::new();
    while !cursor.rest().is_empty() {
        let start = cursor.at;
        let part = parse_part(&mut cursor, syntax)?;
        parts.push(ParsedPart { at: start..cursor.at, ..part });
    }
    Ok(parts)
}

fn parse_part(cursor: &mut Cursor<'_>, syntax: &LineSyntax) -> Result<ParsedPart, ParseError> {
    let start = *cursor;
    if let Some(rest) = cursor.rest().strip_prefix(syntax.delimiters.omitted) {
        let line = rest.split('\n').next().unwrap_or_default();
        cursor.line()?;
        return omitted(line, syntax).map_or_else(|| start.fail("an omitted line"), Ok);
    }
    let Some(head) = cursor.rest().strip_prefix(syntax.delimiters.opening) else {
        return start.fail("a block header");
    };
    let Some((mut part, mut rest)) = head_words(head) else {
        return start.fail("a block header");
    };
    if let Some(notes) = rest.strip_prefix(" (") {
        let Some((notes, behind)) = notes.split_once(')') else {
            return start.fail("the end of the attributes");
        };
        if let Some(kind) = notes.split(", ").find_map(PartKind::from_name) {
            part.kind = kind;
        }
        part.numbered = notes.split(", ").any(|note| note == NUMBERED);
        part.priority = notes.split(", ").find_map(Priority::from_name);
        rest = behind;
    }
    let head_end = cursor.text.len() - rest.len();
    if syntax.fences {
        markdown_body(cursor, head_end, syntax, &mut part)?;
    } else {
        minimal_body(cursor, head_end, syntax, &mut part)?;
    }
    Ok(part)
}

/// Parses the words of a head; returns the part and the rest of the text.
fn head_words(head: &str) -> Option<(ParsedPart, &str)> {
    let end = head.find([' ', ']', '\n'])?;
    let (word, mut rest) = head.split_at(end);
    let is_role = BlockType::from_label(word).is_none() && word != BlockType::Other(0).label();
    let block_type = if is_role { BlockType::Conversation.label() } else { word };
    let mut part = ParsedPart::new(PartKind::Full, block_type);
    if is_role {
        part.words.push(word.to_owned());
    }
    while let Some(behind) = rest.strip_prefix(' ') {
        if behind.starts_with(['(', '<', '~']) {
            break;
        }
        if let Some(call) = behind.strip_prefix('#') {
            let (id, behind) = take_word(call)?;
            part.tool_call_id = Some(id);
            rest = behind;
        } else {
            let (word, lines, behind) = take_word_and_lines(behind)?;
            part.words.push(word);
            part.lines = lines.or(part.lines);
            rest = behind;
        }
    }
    Some((part, rest))
}

/// Takes a word and the line range after a colon, if there is one.
fn take_word_and_lines(text: &str) -> Option<(String, Option<String>, &str)> {
    let (word, rest) = take_word(text)?;
    let is_range = |lines: &str| lines.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if let Some(behind) = rest.strip_prefix(':') {
        let (lines, rest) = take_word(behind)?;
        return Some((word, Some(lines), rest));
    }
    match word.rsplit_once(':') {
        Some((path, lines)) if !text.starts_with('"') && is_range(lines) => {
            Some((path.to_owned(), Some(lines.to_owned()), rest))
        }
        _ => Some((word, None, rest)),
    }
}

fn omitted(line: &str, syntax: &LineSyntax) -> Option<ParsedPart> {
    let [before, after] = syntax.omitted_parts;
    let (head, tokens) = line.strip_suffix(after)?.rsplit_once(before)?;
    let tokens = tokens.parse().ok()?;
    if let Some((count, "block" | "blocks")) = head.split_once(' ')
        && let Ok(count) = count.parse()
    {
        return Some(ParsedPart::new(PartKind::RolledUp { count, tokens }, ""));
    }
    let head = format!("{head}\n");
    let (mut part, _) = head_words(&head)?;
    part.kind = PartKind::Placeholder { tokens };
    Some(part)
}

fn markdown_body(
    cursor: &mut Cursor<'_>,
    head_end: usize,
    syntax: &LineSyntax,
    part: &mut ParsedPart,
) -> Result<(), ParseError> {
    cursor.at = head_end;
    if !cursor.rest().starts_with('\n') {
        return cursor.fail("the end of the heading");
    }
    cursor.at += 1;
    if cursor.rest().starts_with(FENCE) {
        let line = cursor.line()?;
        let (fence, lang) = line.split_at(line.bytes().take_while(|b| *b == b'`').count());
        // Only the fence around a content has an info string.
        let is_content = matches!(part.kind, PartKind::Full | PartKind::Excerpt);
        part.lang = is_content.then(|| lang.to_owned());
        part.body = Some(cursor.lines_until(fence)?.to_owned());
    } else {
        part.body = until_head(cursor, syntax);
    }
    Ok(())
}

fn minimal_body(
    cursor: &mut Cursor<'_>,
    head_end: usize,
    syntax: &LineSyntax,
    part: &mut ParsedPart,
) -> Result<(), ParseError> {
    cursor.at = head_end;
    if let Some(rest) = cursor.rest().strip_prefix(" <<") {
        let Some((word, _)) = rest.split_once("]\n") else {
            return cursor.fail("the end marker of the content");
        };
        cursor.at += " <<".len() + word.len() + "]\n".len();
        part.body = Some(cursor.lines_until(word)?.to_owned());
        return Ok(());
    }
    if !(cursor.rest().starts_with("] ") || cursor.rest().starts_with("]\n")) {
        return cursor.fail("the end of the header");
    }
    cursor.at += 2;
    part.body = until_head(cursor, syntax);
    Ok(())
}

/// Takes the lines up to the next one that begins a part; returns `None` if there are no such
/// lines.
fn until_head(cursor: &mut Cursor<'_>, syntax: &LineSyntax) -> Option<String> {
    let start = cursor.at;
    let mut at = start;
    for line in cursor.rest().split_inclusive('\n') {
        let inline = at == start && !cursor.text[..start].ends_with('\n');
        if syntax.delimiters.begin(line) && !inline {
            break;
        }
        at += line.len();
    }
    cursor.at = at;
    cursor.text[start..at].strip_suffix('\n').map(str::to_owned)
}

//! Parser of XML texts.

use lcp_types::Priority;

use super::{Cursor, ParseError, ParsedPart, PartKind};
use crate::block_view::label::from_xml;
use crate::block_view::{FROM, RENAMED_FROM};
use crate::detail::OutputMode;
use crate::render::xml::NESTING_MARK;
use crate::render::{NUMBERED, envelope};

pub(super) fn parse(text: &str) -> Result<Vec<ParsedPart>, ParseError> {
    let (opening, closing) = envelope(OutputMode::Xml);
    let mut cursor = Cursor { text, at: 0 };
    if !text.starts_with(opening) {
        return cursor.fail("<context>");
    }
    cursor.at = opening.len();
    let mut parts = Vec::new();
    while cursor.rest() != closing {
        let start = cursor.at;
        let part = parse_part(&mut cursor)?;
        parts.push(ParsedPart { at: start..cursor.at, ..part });
    }
    Ok(parts)
}

fn parse_part(cursor: &mut Cursor<'_>) -> Result<ParsedPart, ParseError> {
    let start = *cursor;
    let line = cursor.line()?;
    let Some(tag) = line.strip_prefix('<') else {
        return start.fail("an element");
    };
    let Some((name, mut rest)) = tag.find([' ', '>']).map(|end| tag.split_at(end)) else {
        return start.fail("an element");
    };
    let mut attributes = Vec::new();
    while let Some(attribute) = rest.strip_prefix(' ').filter(|rest| !rest.starts_with('/')) {
        let Some((key, value, behind)) = take_attribute(attribute) else {
            return start.fail("an attribute");
        };
        attributes.push((key, value));
        rest = behind;
    }
    let mut part = from_element(name, attributes).map_or_else(|| start.fail("a number"), Ok)?;
    match rest {
        ">" => part.body = Some(cursor.lines_until(&format!("</{name}>"))?.to_owned()),
        " />" => {}
        _ => return start.fail("the end of a tag"),
    }
    Ok(part)
}

fn take_attribute(text: &str) -> Option<(&str, String, &str)> {
    let (key, rest) = text.split_once("=\"")?;
    let (value, rest) = rest.split_once('"')?;
    Some((key, from_xml(value)?, rest))
}

/// Builds a part from the name and attributes of an element.
fn from_element(name: &str, attributes: Vec<(&str, String)>) -> Option<ParsedPart> {
    let name = name.split_once(NESTING_MARK).map_or(name, |(name, _)| name);
    let mut part = ParsedPart::new(PartKind::Full, name);
    let omitted = name == "omitted";
    for (key, value) in attributes {
        match key {
            "type" if omitted => part.block_type = value,
            "count" if omitted => {
                part.block_type.clear();
                part.kind = PartKind::RolledUp { count: value.parse().ok()?, tokens: 0 };
            }
            "tokens" if omitted => {
                let tokens = value.parse().ok()?;
                part.kind = match part.kind {
                    PartKind::RolledUp { count, .. } => PartKind::RolledUp { count, tokens },
                    _ => PartKind::Placeholder { tokens },
                };
            }
            "detail" => part.kind = PartKind::from_name(&value)?,
            NUMBERED => part.numbered = true,
            "lines" => part.lines = Some(value),
            "tool_call_id" => part.tool_call_id = Some(value),
            "lang" => part.lang = Some(value),
            "schema" => part.schema = Some(value),
            RENAMED_FROM => part.words.extend([FROM.to_owned(), value]),
            "priority" => part.priority = Some(Priority::from_name(&value)?),
            _ => part.words.push(value),
        }
    }
    Some(part)
}

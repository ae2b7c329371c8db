//! Parser of XML texts.

use lcp_types::Priority;

use super::{Cursor, ParseError, Piece, PieceKind};
use crate::block_view::label::from_xml;
use crate::detail::OutputMode;
use crate::render::envelope;
use crate::render::xml::NESTING_MARK;

pub(super) fn parse(text: &str) -> Result<Vec<Piece>, ParseError> {
    let (opening, closing) = envelope(OutputMode::Xml);
    let mut cursor = Cursor { text, at: 0 };
    if !text.starts_with(opening) {
        return cursor.fail("<context>");
    }
    cursor.at = opening.len();
    let mut pieces = Vec::new();
    while cursor.rest() != closing {
        let start = cursor.at;
        let piece = piece(&mut cursor)?;
        pieces.push(Piece { at: start..cursor.at, ..piece });
    }
    Ok(pieces)
}

fn piece(cursor: &mut Cursor<'_>) -> Result<Piece, ParseError> {
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
    let mut piece = described(name, attributes).map_or_else(|| start.fail("a number"), Ok)?;
    match rest {
        ">" => piece.body = Some(cursor.lines_until(&format!("</{name}>"))?.to_owned()),
        " />" => {}
        _ => return start.fail("the end of a tag"),
    }
    Ok(piece)
}

fn take_attribute(text: &str) -> Option<(&str, String, &str)> {
    let (key, rest) = text.split_once("=\"")?;
    let (value, rest) = rest.split_once('"')?;
    Some((key, from_xml(value)?, rest))
}

/// Builds a piece from the name and attributes of an element.
fn described(name: &str, attributes: Vec<(&str, String)>) -> Option<Piece> {
    let name = name.split_once(NESTING_MARK).map_or(name, |(name, _)| name);
    let mut piece = Piece::new(PieceKind::Full, name);
    let omitted = name == "omitted";
    for (key, value) in attributes {
        match key {
            "type" if omitted => piece.block_type = value,
            "count" if omitted => {
                piece.block_type.clear();
                piece.kind = PieceKind::RolledUp { count: value.parse().ok()?, tokens: 0 };
            }
            "tokens" if omitted => {
                let tokens = value.parse().ok()?;
                piece.kind = match piece.kind {
                    PieceKind::RolledUp { count, .. } => PieceKind::RolledUp { count, tokens },
                    _ => PieceKind::Placeholder { tokens },
                };
            }
            "detail" => piece.kind = PieceKind::from_name(&value)?,
            "lines" => piece.lines = Some(value),
            "tool_call_id" => piece.tool_call_id = Some(value),
            "lang" => piece.lang = Some(value),
            "schema" => piece.schema = Some(value),
            "priority" => piece.priority = Some(Priority::from_name(&value)?),
            _ => piece.words.push(value),
        }
    }
    Some(piece)
}

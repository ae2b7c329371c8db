//! The fields of messages, of their parts, and of calls.

use std::ops::Range;

use crate::json::{MemberKey, Reader};

/// A mark that tells a provider where a cached beginning ends.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    /// The place of the mark in the body, with one comma.
    pub(super) place: Range<usize>,
    /// `false` for `null`.
    pub(super) is_set: bool,
    pub(super) is_hour: bool,
}

/// The key of cache marks.
pub(super) const CACHE_CONTROL: &str = "cache_control";

/// The known fields of a message, of a part of one, or of a call, as they are written.
#[derive(Default)]
pub(super) struct Item<'b> {
    pub(super) role: Option<&'b str>,
    pub(super) kind: Option<&'b str>,
    pub(super) id: Option<&'b str>,
    /// The id of the call to which a result belongs.
    pub(super) call: Option<&'b str>,
    pub(super) name: Option<&'b str>,
    pub(super) arguments: Option<&'b str>,
    pub(super) input: Option<&'b str>,
    pub(super) text: Option<&'b str>,
    pub(super) content: Option<Content<'b>>,
    pub(super) output: Option<Content<'b>>,
    pub(super) calls: Option<Content<'b>>,
    pub(super) function: Option<Box<Self>>,
    mark: Option<()>,
}

/// The content of a message or of a part.
pub(super) enum Content<'b> {
    Text(&'b str),
    Items(Vec<Item<'b>>),
    Other,
}

impl<'b> Content<'b> {
    pub(super) fn into_items(self) -> Vec<Item<'b>> {
        match self {
            Self::Items(items) => items,
            _ => Vec::new(),
        }
    }
}

/// Reads the value of a cache mark.
fn read_mark<'b>(json: &mut Reader<'b>, key: MemberKey<'b>, marks: &mut Vec<Mark>) -> Option<()> {
    let value = json.value()?;
    let (is_set, is_hour) = (value != "null", value.contains("\"1h\""));
    marks.push(Mark { place: json.place_of(key), is_set, is_hour });
    Some(())
}

/// Returns whether one of the marks is switched on.
pub(super) fn has_mark(marks: &[Mark]) -> bool {
    marks.iter().any(|mark| mark.is_set)
}

/// Reads an item. Returns `None` if it is no object, or if the object can be understood in several ways.
pub(super) fn read_item<'b>(json: &mut Reader<'b>, marks: &mut Vec<Mark>) -> Option<Item<'b>> {
    let mut item = Item::default();
    json.members(|json, key| {
        let field = match key.name {
            "role" => &mut item.role,
            "type" => &mut item.kind,
            "id" => &mut item.id,
            "tool_use_id" | "tool_call_id" | "call_id" => &mut item.call,
            "name" => &mut item.name,
            "arguments" => &mut item.arguments,
            "input" => &mut item.input,
            "text" => &mut item.text,
            "content" => return set(&mut item.content, read_content(json, marks)?),
            "output" => return set(&mut item.output, read_content(json, marks)?),
            "tool_calls" => return set(&mut item.calls, read_content(json, marks)?),
            "function" if json.peek()? == b'{' => {
                return set(&mut item.function, Box::new(read_item(json, marks)?));
            }
            CACHE_CONTROL => return set(&mut item.mark, read_mark(json, key, marks)?),
            name => return skip(json, name),
        };
        set(field, json.value()?)
    })?;
    Some(item)
}

/// Reads the value of a field with items.
pub(super) fn read_content<'b>(
    json: &mut Reader<'b>,
    marks: &mut Vec<Mark>,
) -> Option<Content<'b>> {
    Some(match json.peek()? {
        b'"' => Content::Text(json.string()?),
        b'[' => {
            let mut items = Vec::new();
            json.elements(|json| {
                let is_object = json.peek()? == b'{';
                items.push(if is_object { read_item(json, marks)? } else { Item::default() });
                if is_object { Some(()) } else { json.value().map(drop) }
            })?;
            Content::Items(items)
        }
        _ => {
            json.value()?;
            Content::Other
        }
    })
}

/// Reads a field that is not known. A name with escapes could be that of a known one.
pub(super) fn skip(json: &mut Reader<'_>, name: &str) -> Option<()> {
    json.value()?;
    (!name.contains('\\')).then_some(())
}

/// Sets a field. Returns `None` if the object has it twice.
pub(super) fn set<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

/// Returns the text of a string without escapes, as names and types are written. `null` is no string.
pub(super) fn plain(json: &str) -> Option<&str> {
    json.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
}

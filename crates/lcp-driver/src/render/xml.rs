//! XML renderer: an element for each block, with its content on separate lines.
//!
//! Content is not escaped, because escapes would cost tokens and change the text for the model. If
//! a reader may take a part of the content for the end of an element, the element gets a number
//! that the content does not have: `<code.2 …>` to `</code.2>`. The number depends on the content
//! alone, so the same block always renders to the same text.

use lcp_types::BlockType;

use super::collision::{first_free_suffix, first_word, is_blank};
use super::{ENVELOPE, NUMBERED, Part, Shown};
use crate::block_view::BlockView;
use crate::block_view::label::push_xml;

/// The separator between the name of an element and its number.
pub(crate) const NESTING_MARK: char = '.';

pub(super) fn part<'v>(view: &BlockView<'_>, shown: Shown, body: Option<&'v str>) -> Part<'v> {
    let mut name = view.head.word.to_owned();
    if let Some(number) = body.and_then(|body| number(view.head.word, body)) {
        name.push(NESTING_MARK);
        name.push_str(&number.to_string());
    }
    let mut head = format!("<{name}");
    let mut attribute = |key: &str, value: &str| {
        head.push(' ');
        head.push_str(key);
        head.push_str("=\"");
        push_xml(&mut head, value);
        head.push('"');
    };
    for arg in &view.head.args {
        attribute(arg.key, &arg.value);
    }
    if let Some(priority) = view.head.priority {
        attribute("priority", priority.name());
    }
    if let Some(detail) = shown.name() {
        attribute("detail", detail);
    }
    if view.numbered && shown.is_content() {
        attribute(NUMBERED, "true");
    }
    if body.is_none() {
        head.push_str(" />");
        return Part::line(head);
    }
    head.push_str(">\n");
    Part { head, body, tail: format!("</{name}>\n") }
}

/// Returns the number for an element whose content has the closing tag of an element or the opening
/// tag of this one; `None` if it needs no number.
fn number(word: &str, content: &str) -> Option<u64> {
    let tags = || {
        content.match_indices('<').map(|(at, mark)| {
            let rest = content[at + mark.len()..].trim_start_matches(is_blank);
            let closing = rest.strip_prefix('/');
            let (name, behind) = first_word(closing.unwrap_or(rest));
            (closing.is_some(), name, behind)
        })
    };
    let collides = |(closes, name, _): (bool, String, _)| {
        if closes { is_element(&name) } else { name == word }
    };
    tags().any(collides).then(|| {
        first_free_suffix(tags().filter(|(_, name, _)| name == word).filter_map(|(.., behind)| {
            let digits = behind.strip_prefix(NESTING_MARK)?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse().ok()
        }))
    })
}

/// Returns whether this crate has an element with this name.
fn is_element(name: &str) -> bool {
    name == ENVELOPE || name == BlockType::Other(0).label() || BlockType::from_label(name).is_some()
}

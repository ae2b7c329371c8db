//! Edits of JSON with comments. Everything that is not edited stays byte for byte.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::document::{EditError, Edited};

type Result<T> = std::result::Result<T, EditError>;

/// The text of a new file.
const NEW: &str = "{\n}\n";

/// Sets the member `name` of the object at `path`.
///
/// Returns `None` if there is such a member already. It may have more fields than `value`, for example
/// environment variables.
pub(super) fn set(
    text: &str,
    path: &[&str],
    name: &str,
    value: &CstInputValue,
) -> Result<Option<Edited>> {
    let root = parse(text)?;
    let object = object_at(&root, path)?;
    let existing = object.get(name);
    if let Some(existing) = &existing {
        let there = existing.to_serde_value().unwrap_or_default();
        if includes(&there, value) {
            return Ok(None);
        }
        existing.set_value(value.clone());
    } else {
        object.append(name, value.clone());
    }
    Ok(Some(Edited { text: root.to_string(), replaces: existing.is_some() }))
}

/// Removes the member `name` of the object at `path`, and objects that are empty then.
pub(super) fn unset(text: &str, path: &[&str], name: &str) -> Result<Edited> {
    let root = parse(text)?;
    let object = root.object_value().and_then(|object| existing(object, path));
    let text = match object.and_then(|object| object.get(name)) {
        Some(member) => remove_empty(cut_member(&root, member), path)?,
        None => text.to_owned(),
    };
    Ok(Edited { text, replaces: false })
}

/// Adds `value` to the array at `path`, in place of the elements that are `ours`. Returns `None` if the
/// array has exactly this element of LCP.
pub(super) fn add_element(
    text: &str,
    path: &[&str],
    value: &CstInputValue,
    ours: &dyn Fn(&Value) -> bool,
) -> Result<Option<Edited>> {
    let root = parse(text)?;
    let Some((name, folder)) = path.split_last() else { return Ok(None) };
    let object = object_at(&root, folder)?;
    let array = object.array_value_or_create(name).ok_or_else(|| not_a("an array", path))?;
    let there = own_elements(&array, ours);
    if let [(_, only)] = &there[..]
        && includes(only, value)
    {
        return Ok(None);
    }
    if !there.is_empty() {
        let text = remove_elements(text, path, ours)?.text;
        return add_element(&text, path, value, ours);
    }
    array.ensure_multiline();
    array.append(value.clone());
    Ok(Some(Edited { text: root.to_string(), replaces: false }))
}

/// Removes the elements that are `ours` from the array at `path`, and what is empty then.
pub(super) fn remove_elements(
    text: &str,
    path: &[&str],
    ours: &dyn Fn(&Value) -> bool,
) -> Result<Edited> {
    let mut text = text.to_owned();
    let Some((name, folder)) = path.split_last() else {
        return Ok(Edited { text, replaces: false });
    };
    loop {
        let root = parse(&text)?;
        let object = root.object_value().and_then(|object| existing(object, folder));
        let array = object.as_ref().and_then(|object| object.array_value(name));
        let Some(array) = array else { break };
        let Some((element, _)) = own_elements(&array, ours).into_iter().next() else { break };
        let is_last = array.elements().len() == 1 && !has_comments(&array.children());
        text = match object.and_then(|object| object.get(name)).filter(|_| is_last) {
            Some(member) => remove_empty(cut_member(&root, member), folder)?,
            None => cut_element(&root, element),
        };
    }
    Ok(Edited { text, replaces: false })
}

fn parse(text: &str) -> Result<CstRootNode> {
    let text = if text.trim().is_empty() { NEW } else { text };
    // Comments and trailing commas, but nothing else that JSON does not have: an agent would refuse it.
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options).map_err(|error| EditError {
        message: format!("not valid JSON: {}", error.kind()),
        position: Some((error.line_display(), error.column_display())),
    })
}

/// Returns the object at `path`, and creates what is missing.
fn object_at(root: &CstRootNode, path: &[&str]) -> Result<CstObject> {
    let mut object = root.object_value_or_create().ok_or_else(|| not_a("an object", &[]))?;
    for (depth, name) in path.iter().enumerate() {
        object = object
            .object_value_or_create(name)
            .ok_or_else(|| not_a("an object", &path[..=depth]))?;
    }
    Ok(object)
}

fn not_a(what: &str, path: &[&str]) -> EditError {
    let name =
        if path.is_empty() { "the file".to_owned() } else { format!("`{}`", path.join(".")) };
    EditError::new(format!("{name} is not {what}"))
}

fn existing(mut object: CstObject, path: &[&str]) -> Option<CstObject> {
    for name in path {
        object = object.object_value(name)?;
    }
    Some(object)
}

/// Removes the objects on `path` that have no members, from the innermost outwards.
fn remove_empty(text: String, path: &[&str]) -> Result<String> {
    let Some((name, folder)) = path.split_last() else { return Ok(text) };
    let root = parse(&text)?;
    let object = root.object_value().and_then(|object| existing(object, folder));
    let member = object.and_then(|object| object.get(name));
    let is_empty =
        |object: CstObject| object.properties().is_empty() && !has_comments(&object.children());
    match member {
        Some(member) if member.object_value().is_some_and(is_empty) => {
            remove_empty(cut_member(&root, member), folder)
        }
        _ => Ok(text),
    }
}

fn has_comments(nodes: &[CstNode]) -> bool {
    nodes.iter().any(CstNode::is_comment)
}

/// The text of a part that is about to be cut out.
const CUT: &str = "lcp: removed";

/// Returns the document without a member. The function of the library would remove comments around it.
fn cut_member(root: &CstRootNode, member: CstObjectProp) -> String {
    take_comma(&CstNode::from(member.clone()));
    member.replace_with(CUT, CstInputValue::Null);
    cut(&root.to_string(), &format!("\"{CUT}\": null"))
}

/// Returns the document without an element of an array.
fn cut_element(root: &CstRootNode, element: CstObject) -> String {
    take_comma(&CstNode::from(element.clone()));
    element.replace_with(CUT.into());
    cut(&root.to_string(), &format!("\"{CUT}\""))
}

/// Removes the comma behind a node, or else the one before it.
fn take_comma(node: &CstNode) {
    let comma = node.trailing_comma().map(CstNode::from);
    let comma = comma.or_else(|| node.previous_siblings().find(CstNode::is_comma));
    if let Some(comma) = comma.and_then(|comma| comma.as_token()) {
        comma.remove();
    }
}

/// Removes `part`, and its line if nothing else is on it.
fn cut(text: &str, part: &str) -> String {
    let Some((before, after)) = text.split_once(part) else { return text.to_owned() };
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = after.trim_start_matches([' ', '\t']);
    match rest.strip_prefix('\n') {
        Some(rest) if before[line..].trim().is_empty() => format!("{}{rest}", &before[..line]),
        Some(_) => format!("{}{rest}", before.trim_end_matches([' ', '\t'])),
        None => format!("{before}{after}"),
    }
}

fn own_elements(array: &CstArray, ours: &dyn Fn(&Value) -> bool) -> Vec<(CstObject, Value)> {
    let elements = array.elements().into_iter().filter_map(|element| element.as_object());
    let elements = elements.filter_map(|element| {
        let value = element.to_serde_value()?;
        Some((element, value))
    });
    elements.filter(|(_, value)| ours(value)).collect()
}

/// Returns whether `there` has all fields of `value`.
fn includes(there: &Value, value: &CstInputValue) -> bool {
    match (there, value) {
        (Value::Object(there), CstInputValue::Object(value)) => value
            .iter()
            .all(|(name, value)| there.get(name).is_some_and(|there| includes(there, value))),
        (Value::Array(there), CstInputValue::Array(value)) => {
            there.len() == value.len()
                && there.iter().zip(value).all(|(there, value)| includes(there, value))
        }
        (Value::String(there), CstInputValue::String(value)) => there == value,
        (Value::Number(there), CstInputValue::Number(value)) => there.to_string() == *value,
        (Value::Bool(there), CstInputValue::Bool(value)) => there == value,
        _ => false,
    }
}

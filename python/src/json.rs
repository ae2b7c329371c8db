//! Encodes messages as JSON, in half the time of Python's `json`, which first collects the parts in a list.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The maximum depth of values. Python's `json` encodes deeper ones, because it knows the recursion limit
/// of the interpreter.
const DEPTH_MAX: u32 = 64;

/// Returns a value as JSON, as `json.dumps` writes it with `ensure_ascii=False` and without spaces.
///
/// Returns `None` if Python's `json` must convert or reject the value, or a value inside it: a type that
/// JSON does not have, a subclass, a key that is not a string, NaN or infinity, half of a surrogate pair,
/// an integer with too many digits, or more than [`DEPTH_MAX`] levels.
#[pyfunction]
pub(crate) fn encode_json(value: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    let mut json = Vec::new();
    push(&mut json, value, DEPTH_MAX)?;
    Some(json)
}

/// Appends a value. Types are compared exactly, because a subclass can behave differently.
fn push(json: &mut Vec<u8>, value: &Bound<'_, PyAny>, depth: u32) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    if let Ok(text) = value.cast_exact::<PyString>() {
        return push_text(json, text);
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let mut separator = b'{';
        // Iterate over a copy: in free-threaded Python, another thread can change the dict.
        for (key, value) in dict.copy().ok()? {
            json.push(separator);
            push_text(json, key.cast_exact::<PyString>().ok()?)?;
            json.push(b':');
            push(json, &value, depth)?;
            separator = b',';
        }
        end(json, separator, *b"{}");
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        push_items(json, list.iter(), depth)?;
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        push_items(json, tuple.iter(), depth)?;
    } else if value.is_none() {
        json.extend_from_slice(b"null");
    } else if let Ok(truth) = value.cast_exact::<PyBool>() {
        json.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
    } else {
        let is_finite = value.cast_exact::<PyFloat>().is_ok_and(|it| it.value().is_finite());
        let is_number = is_finite || value.cast_exact::<PyInt>().is_ok();
        let number = is_number.then(|| value.repr().ok()).flatten()?;
        json.extend_from_slice(number.to_str().ok()?.as_bytes());
    }
    Some(())
}

fn push_items<'py>(
    json: &mut Vec<u8>,
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: u32,
) -> Option<()> {
    let mut separator = b'[';
    for item in items {
        json.push(separator);
        push(json, &item, depth)?;
        separator = b',';
    }
    end(json, separator, *b"[]");
    Some(())
}

/// Closes an object or list. If it is empty, `separator` is still the opening bracket, which is not written
/// yet.
fn end(json: &mut Vec<u8>, separator: u8, [first, last]: [u8; 2]) {
    if separator == first {
        json.push(separator);
    }
    json.push(last);
}

fn push_text(json: &mut Vec<u8>, text: &Bound<'_, PyString>) -> Option<()> {
    // `to_str` would make Python cache the UTF-8 in the string object.
    let utf8 = text.encode_utf8().ok()?;
    let text = std::str::from_utf8(utf8.as_bytes()).ok()?;
    serde_json::to_writer(json, text).ok()
}

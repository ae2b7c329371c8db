//! Reads JSON without loss.
//!
//! Values keep their original text ([`RawValue`]), and objects are parsed one level at a time.
//! Therefore numbers of any size and the order of keys survive.

mod object;
mod source;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) use object::{Object, list, without};
pub(crate) use source::{Document, Line, LineIndex, ParseLine, Source};

pub(crate) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

pub(crate) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

pub(crate) fn array(value: &RawValue) -> Option<Vec<&RawValue>> {
    value.get().starts_with('[').then(|| serde_json::from_str(value.get()).ok()).flatten()
}

/// Returns the first items of a list, at most `max` of them, up to the first error. The rest of the
/// text is not parsed.
pub(crate) fn first_items(json: &str, max: usize) -> Vec<&RawValue> {
    struct Items<'i, 'a>(&'i mut Vec<&'a RawValue>, usize);

    impl<'de> Visitor<'de> for Items<'_, 'de> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
            while self.0.len() < self.1
                && let Some(item) = list.next_element()?
            {
                self.0.push(item);
            }
            Ok(())
        }
    }

    let mut items = Vec::new();
    // The error can be that the list is longer.
    let _ = serde_json::Deserializer::from_str(json).deserialize_seq(Items(&mut items, max));
    items
}

/// Returns the text of a JSON string. Halves of surrogate pairs become U+FFFD.
pub(crate) fn string(value: &RawValue) -> Option<String> {
    string_and_loss(value).map(|(text, _)| text)
}

/// Returns the same as [`string`], and whether half of a surrogate pair was replaced.
pub(crate) fn string_and_loss(value: &RawValue) -> Option<(String, bool)> {
    let text = value.get().strip_prefix('"')?.strip_suffix('"')?;
    // Most strings have no escapes.
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Some((text.to_owned(), false));
    }
    let exact = serde_json::from_str(value.get()).ok().map(|text| (text, false));
    exact.or_else(|| {
        let Lossy(text) = serde_json::from_str(value.get()).ok()?;
        Some((text, true))
    })
}

/// Replaces halves of surrogate pairs by U+FFFD, because strict parsers reject them.
pub(crate) fn strict(json: String) -> String {
    /// Returns the code unit of the escape at the beginning of the text.
    fn unit(json: &str) -> Option<u16> {
        u16::from_str_radix(json.strip_prefix("\\u")?.get(..4)?, 16).ok()
    }
    // Few texts have such escapes.
    let has = |escape: &str| memchr::memmem::find(json.as_bytes(), escape.as_bytes()).is_some();
    if !has(r"\ud") && !has(r"\uD") {
        return json;
    }
    let mut out = String::new();
    // The bytes before `taken` are in `out`.
    let (mut taken, mut at) = (0, 0);
    while let Some(found) = json[at..].find('\\') {
        at += found;
        let escape = &json[at..];
        // For any other escape, skip the character after the backslash, which may be a backslash
        // too.
        let Some(first) = unit(escape) else {
            at += 1 + escape[1..].chars().next().map_or(0, char::len_utf8);
            continue;
        };
        let second = escape.get(6..).and_then(unit);
        match (first, second) {
            (0xD800..=0xDBFF, Some(0xDC00..=0xDFFF)) => at += 12,
            (0xD800..=0xDFFF, _) => {
                out.push_str(&json[taken..at]);
                out.push_str("\\ufffd");
                at += 6;
                taken = at;
            }
            _ => at += 6,
        }
    }
    if taken == 0 {
        return json;
    }
    out + &json[taken..]
}

/// Returns the value of a JSON boolean.
pub(crate) fn boolean(value: &RawValue) -> Option<bool> {
    serde_json::from_str(value.get()).ok()
}

/// Removes the white space between the tokens of a JSON value.
pub(crate) fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let is_kept = |c: &char| {
        let is_space = !in_string && c.is_ascii_whitespace();
        in_string ^= *c == '"' && !escaped;
        escaped = in_string && *c == '\\' && !escaped;
        !is_space
    };
    json.chars().filter(is_kept).collect()
}

/// Returns a text as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + text.len() / 16 + 2);
    push_quoted(&mut json, text);
    json
}

/// Appends a text as a JSON string.
pub(crate) fn push_quoted(json: &mut String, text: &str) {
    // `serde_json` checks one byte at a time. `memchr` is faster, and finds the three escapes that most
    // texts need.
    if has_rare_escapes(text) {
        // Writing a text cannot fail.
        json.push_str(&serde_json::to_string(text).unwrap_or_default());
        return;
    }
    json.push('"');
    let mut start = 0;
    for at in memchr::memchr3_iter(b'\n', b'"', b'\\', text.as_bytes()) {
        json.push_str(&text[start..at]);
        json.push_str(match text.as_bytes()[at] {
            b'\n' => r"\n",
            b'"' => r#"\""#,
            _ => r"\\",
        });
        start = at + 1;
    }
    json.push_str(&text[start..]);
    json.push('"');
}

/// Returns whether a text has control characters other than newlines.
fn has_rare_escapes(text: &str) -> bool {
    let rare_count = |byte: &u8| u8::from(*byte < b' ' && *byte != b'\n');
    // Sums of `u8` are vectorized best. A chunk of 255 bytes cannot overflow one.
    let mut parts = text.as_bytes().chunks(usize::from(u8::MAX));
    parts.any(|part| part.iter().map(rare_count).sum::<u8>() > 0)
}

struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

/// The fields of an object, in order. [`Self::take`] removes a field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Returns the fields of an object; `None` if the value is not an object.
    pub(crate) fn read(value: &'a RawValue) -> Option<Self> {
        Self::parse(value.get())
    }

    /// Parses the fields of an object; `None` if the text is not an object.
    pub(crate) fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the value of a key, unless it is null. The last value counts if a key is repeated.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| *value).filter(|value| !is_null(value))
    }

    /// Returns whether a key is present, even with a null value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Removes a key and returns its value, unless it is null. The last value counts if a key is
    /// repeated.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a RawValue> {
        let value = self.get(key);
        self.0.retain(|(name, _)| name != key);
        value
    }

    /// Removes a key with a string value and returns the text. A value of another type stays.
    pub(crate) fn take_string(&mut self, key: &str) -> Option<String> {
        let text = string(self.get(key)?)?;
        self.take(key);
        Some(text)
    }

    /// Returns the text of a key with a string value.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        string(self.get(key)?)
    }

    /// Returns the remaining fields that are not null, with their values unchanged.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().filter(|(_, value)| !is_null(value)).map(|(key, value)| (&**key, *value))
    }

    /// Returns the only field that is not null; `None` if there are more or none.
    pub(crate) fn only(&self) -> Option<(&str, &'a RawValue)> {
        let mut rest = self.rest();
        rest.next().filter(|_| rest.next().is_none())
    }

    /// Returns the remaining fields as a JSON object; `None` if there are no fields.
    pub(crate) fn rest_json(&self) -> Option<String> {
        let mut object = Object::default();
        for (key, value) in self.rest() {
            object.raw(key, value.get());
        }
        object.finish_some()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        /// A key, which is copied only if it has escapes.
        #[derive(serde::Deserialize)]
        struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(fields)
            }
        }
        from.deserialize_map(Map).map(Fields)
    }
}

pub(crate) fn is_json_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && source::too_deep(text).is_none()
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quote_matches_serde_json(text in "[a\n\t\"\\\\\u{1}\u{7f}é]{0,600}") {
            prop_assert_eq!(quote(&text), serde_json::to_string(&text).unwrap());
        }
    }

    #[test]
    fn quote_escapes_control_characters_at_chunk_edges() {
        for before in 250..260 {
            for control in (0..0x20_u8).map(char::from) {
                let text = format!("{}é{control}\n", "a".repeat(before));
                assert_eq!(quote(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }
}

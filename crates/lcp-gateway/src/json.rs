//! A reader of JSON text.

use std::ops::Range;

use serde::de::IgnoredAny;

/// The maximum depth of nested arrays and objects.
const DEPTH_MAX: u32 = 128;

/// The length in bytes from which an encoded image or file is not counted.
const ENCODED_BYTES_MIN: usize = 1_000;

/// A reader of JSON text, from front to back. Its functions return `None` if the text is not JSON.
pub(crate) struct Reader<'j> {
    text: &'j str,
    at: usize,
    depth: u32,
}

/// The key of a member of an object.
#[derive(Clone, Copy)]
pub(crate) struct MemberKey<'j> {
    /// The name as it is written, without quotes.
    pub(crate) name: &'j str,
    /// The place of the comma before the key, or that of the first key.
    start: usize,
    is_first: bool,
}

impl<'j> Reader<'j> {
    pub(crate) const fn new(text: &'j str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Returns the place of the next byte.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Continues at a place, which must be in the same arrays and objects.
    pub(crate) const fn set_at(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns the first byte of the next token.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
        let blanks = blanks.unwrap_or(rest.len());
        self.at += blanks;
        rest.get(blanks).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Reads a value. Returns it as it is written.
    pub(crate) fn value(&mut self) -> Option<&'j str> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => return self.string(),
            b'{' => self.members(|json, _| json.value().map(drop))?,
            b'[' => self.elements(|json| json.value().map(drop))?,
            _ => {
                let rest = &self.text[start..];
                let is_end = |byte: u8| byte.is_ascii_whitespace() || b",]}".contains(&byte);
                self.at += rest.bytes().position(is_end).unwrap_or(rest.len());
                serde_json::from_str::<IgnoredAny>(&self.text[start..self.at]).ok()?;
            }
        }
        Some(&self.text[start..self.at])
    }

    /// Reads a string. Returns it as it is written, with its quotes.
    pub(crate) fn string(&mut self) -> Option<&'j str> {
        self.take(b'"')?;
        let start = self.at - 1;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let length = plain_length(rest);
            self.at += length + 1;
            match rest.get(length)? {
                b'"' => return Some(&self.text[start..self.at]),
                b'\\' => {}
                _ => return None,
            }
            self.at += match rest.get(length + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
                b'u' if rest.get(length + 2..length + 6)?.iter().all(u8::is_ascii_hexdigit) => 5,
                _ => return None,
            };
        }
    }

    /// Reads an object. `read` must read the value of each member.
    pub(crate) fn members(
        &mut self,
        mut read: impl FnMut(&mut Self, MemberKey<'j>) -> Option<()>,
    ) -> Option<()> {
        self.list(b'{', b'}', |json, comma| {
            json.peek();
            let start = comma.unwrap_or(json.at);
            let name = json.string()?;
            let name = &name[1..name.len() - 1];
            json.take(b':')?;
            read(json, MemberKey { name, start, is_first: comma.is_none() })
        })
    }

    /// Reads an array. `read` must read each element.
    pub(crate) fn elements(&mut self, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.list(b'[', b']', |json, _| read(json))
    }

    /// Reads an array or an object. `read` gets the place of the comma before each item.
    fn list(
        &mut self,
        open: u8,
        close: u8,
        mut read: impl FnMut(&mut Self, Option<usize>) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        if self.take(close).is_none() {
            read(self, None)?;
            while self.take(b',').is_some() {
                let comma = self.at - 1;
                read(self, Some(comma))?;
            }
            self.take(close)?;
        }
        self.depth -= 1;
        Some(())
    }

    /// Returns the place of the member that was just read, with one comma, so that the object is valid
    /// without these bytes.
    pub(crate) fn place_of(&self, key: MemberKey<'j>) -> Range<usize> {
        let mut rest = Self { text: self.text, at: self.at, depth: self.depth };
        if key.is_first && rest.take(b',').is_some() {
            rest.peek();
            return key.start..rest.at;
        }
        key.start..self.at
    }

    /// Checks that nothing follows.
    pub(crate) fn end(mut self) -> Option<()> {
        self.peek().is_none().then_some(())
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
fn plain_length(bytes: &[u8]) -> usize {
    // Most runs end with a line, so a vectorized search would mostly set itself up.
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    const fn less_than(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(LOW * limit as u64) & !word & HIGH
    }
    const QUOTES: u64 = LOW * b'"' as u64;
    const BACKSLASHES: u64 = LOW * b'\\' as u64;
    let (words, _) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let ends =
            less_than(word, b' ') | less_than(word ^ QUOTES, 1) | less_than(word ^ BACKSLASHES, 1);
        if ends != 0 {
            // Bits above the lowest one can be wrong, because of borrows.
            return at * 8 + ends.trailing_zeros() as usize / 8;
        }
    }
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    let rest = &bytes[words.len() * 8..];
    words.len() * 8 + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// Decodes a string that is written with quotes. Returns `None` if it has half a surrogate pair.
pub(crate) fn decode(string: &str) -> Option<String> {
    serde_json::from_str(string).ok()
}

/// Returns a string as it is written in JSON.
pub(crate) fn encode(text: &str) -> String {
    // Serializing a string cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// Returns the text whose tokens are counted: that of all strings of valid JSON, without images and files
/// in base64.
pub(crate) fn countable_text(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut reader = Reader::new(json);
    while let Some(next) = memchr::memchr(b'"', &json.as_bytes()[reader.at..]) {
        reader.at += next;
        let Some(string) = reader.string() else { break };
        let is_encoded = string.len() >= ENCODED_BYTES_MIN
            && string.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if !is_encoded && let Some(string) = decode(string) {
            text.push_str(&string);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(json: &str) -> Option<&str> {
        let mut reader = Reader::new(json);
        let value = reader.value()?;
        reader.end()?;
        Some(value)
    }

    fn is_json(text: &str) -> bool {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    proptest! {
        #[test]
        fn reader_accepts_what_a_parser_accepts(text in r#"([\[\]{}:,"\\a0-9.eE+-]|null|true|"a":|\\u00e9|\\n| |\n|\x01){0,12}"#) {
            prop_assert_eq!(read(&text).is_some(), is_json(&text), "{}", text);
        }

        #[test]
        fn strings_are_those_that_a_parser_accepts(text in r#"([a-zß]{0,9}(\\\\|\\"|\\n|\\u00e9|\\ud83d|\\x|\\u12g4|\\|"|\x01|\x7f)?){0,4}"#) {
            let text = format!("\"{text}\"");
            prop_assert_eq!(read(&text).is_some(), is_json(&text), "{}", text);
        }

        #[test]
        fn values_are_returned_as_written(text in any::<String>(), number in any::<f64>()) {
            let json = serde_json::json!({ "a": [text, number, null], "b": { "c": {} } }).to_string();
            let padded = format!(" {json}\n");
            prop_assert_eq!(read(&padded), Some(json.as_str()));
            for end in (1..json.len()).filter(|end| json.is_char_boundary(*end)) {
                prop_assert_eq!(read(&json[..end]), None);
            }
            prop_assert_eq!(decode(&encode(&text)), Some(text));
        }
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(DEPTH_MAX as usize)).is_some());
        assert!(read(&nested(DEPTH_MAX as usize + 1)).is_none());
    }

    #[test]
    fn object_without_the_place_of_a_member_is_json() {
        for json in [
            r#"{"x":1}"#, r#"{ "x" : [1] , "a":1}"#, r#"{"a":1, "x":1 ,"b":2}"#,
            r#"{"a":1,"x":{}}"#,
        ] {
            let (mut reader, mut place) = (Reader::new(json), None);
            let read = reader.members(|json, key| {
                json.value()?;
                if key.name == "x" {
                    place = Some(json.place_of(key));
                }
                Some(())
            });
            assert!(read.is_some());
            let mut rest = json.to_owned();
            rest.replace_range(place.unwrap(), "");
            assert!(is_json(&rest) && !rest.contains('x'), "{rest}");
        }
        let (mut reader, mut place) = (Reader::new(r#"{ "x": 1, "a": 2}"#), None);
        let _ = reader.members(|json, key| {
            json.value()?;
            place = place.take().or(Some(json.place_of(key)));
            Some(())
        });
        assert_eq!(place, Some(2..10));
    }

    #[test]
    fn images_are_not_counted() {
        let image = "iVBORw0KGgo".repeat(200);
        let json = format!(r#"{{"data":"{image}","text":"a\nb"}}"#);
        assert_eq!(countable_text(&json), "data\ntext\na\nb\n");
        let chinese = "上下文".repeat(400);
        assert_eq!(countable_text(&format!("\"{chinese}\"")), format!("{chinese}\n"));
    }
}

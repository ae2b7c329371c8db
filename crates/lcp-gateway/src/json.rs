//! Parts of JSON text. All functions expect valid JSON.

use std::ops::Range;

/// The key of the marks that tell a provider where a cached beginning ends, as it is written.
const CACHE_CONTROL: &str = "\"cache_control\"";

/// The length in bytes from which an encoded image or file is not counted.
const ENCODED_BYTES_MIN: usize = 1_000;

/// Returns the place of a part in the text from which it is borrowed.
pub(crate) fn place(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// The tokens of JSON text: strings with their quotes, numbers, literals, brackets and colons. White
/// space and commas have no meaning between them.
struct Tokens<'j> {
    rest: &'j str,
}

impl<'j> Iterator for Tokens<'j> {
    type Item = &'j str;

    fn next(&mut self) -> Option<&'j str> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',');
        let start = self.rest.bytes().position(|byte| !is_blank(&byte))?;
        let text = &self.rest[start..];
        let bytes = text.as_bytes();
        let length = match bytes[0] {
            b'"' => string_length(bytes),
            b'{' | b'}' | b'[' | b']' | b':' => 1,
            _ => {
                let ends = |byte: &u8| is_blank(byte) || matches!(byte, b'}' | b']' | b':');
                bytes.iter().position(ends).unwrap_or(bytes.len())
            }
        };
        let (token, rest) = text.split_at(length);
        self.rest = rest;
        Some(token)
    }
}

/// Returns the length of the string at the beginning, with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        // The character after a backslash ends no string.
        at += 1;
    }
    bytes.len()
}

/// Passes the tokens of a value to `use_token`, without cache marks. They move from request to request,
/// and are not part of a cached beginning.
pub(crate) fn without_cache_marks<'j>(json: &'j str, mut use_token: impl FnMut(&'j str)) {
    let mut tokens = Tokens { rest: json };
    while let Some(token) = tokens.next() {
        let is_mark = token == CACHE_CONTROL && tokens.rest.trim_start().starts_with(':');
        if !is_mark {
            use_token(token);
            continue;
        }
        let mut depth = 0_usize;
        // The colon, and then the value.
        for skipped in tokens.by_ref().skip(1) {
            match skipped {
                "{" | "[" => depth += 1,
                "}" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
}

/// Returns whether a value has a cache mark.
pub(crate) fn has_cache_mark(json: &str) -> bool {
    if memchr::memmem::find(json.as_bytes(), CACHE_CONTROL.as_bytes()).is_none() {
        return false;
    }
    let mut tokens = Tokens { rest: json };
    while let Some(token) = tokens.next() {
        if token == CACHE_CONTROL && tokens.rest.trim_start().starts_with(':') {
            let value = tokens.nth(1);
            if value.is_some_and(|value| value != "null") {
                return true;
            }
        }
    }
    false
}

/// Returns the text whose tokens are counted: that of all strings, without images and files in
/// base64.
pub(crate) fn countable_text(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for token in (Tokens { rest: json }).filter(|token| token.starts_with('"')) {
        let is_encoded = token.len() >= ENCODED_BYTES_MIN
            && token.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if !is_encoded && let Ok(string) = serde_json::from_str::<String>(token) {
            text.push_str(&string);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(json: &str) -> Vec<&str> {
        let mut all = Vec::new();
        without_cache_marks(json, |token| all.push(token));
        all
    }

    #[test]
    fn cache_marks_and_white_space_have_no_tokens() {
        let marked = r#"[{"text" : "a \" } b", "cache_control": {"type": "ephemeral", "x": [{}]}},
            {"cache_control":null,"n":-1.5e3,"t":true}]"#;
        let plain = r#"[{"text":"a \" } b"},{"n":-1.5e3,"t":true}]"#;
        assert_eq!(tokens(marked), tokens(plain));
        assert!(has_cache_mark(marked) && !has_cache_mark(plain));
        // A text is no mark.
        let text = r#"{"a":"cache_control","b":"\"cache_control\":1"}"#;
        assert_eq!(tokens(text).len(), 8);
        assert!(!has_cache_mark(text));
        assert!(!has_cache_mark(r#"{"cache_control":null}"#));
    }

    #[test]
    fn numbers_next_to_each_other_are_not_joined() {
        assert_eq!(tokens("[1,2]"), ["[", "1", "2", "]"]);
        assert_ne!(tokens("[1,2]"), tokens("[12]"));
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

//! Encoded and minified text in excerpts: a line names it and gives its length (RFC 0013).
//!
//! Base64 and minified code have no meaning for a model, but can take all tokens of an excerpt.

use std::borrow::Cow;
use std::ops::Range;

use crate::fmt::{group_thousands, write_to};

/// The minimum length of a run of Base64, in bytes. Hashes and identifiers are shorter.
const BASE64_MIN: usize = 256;

/// The minimum length of a line of minified text, in bytes, and the length that is shown of it.
const MINIFIED_MIN: usize = 2_000;
const MINIFIED_SHOWN: usize = 200;

/// Minified text has at most one white space in this number of bytes; prose has about one in six.
const BYTES_PER_SPACE: usize = 20;

/// A text with a marker in place of each long encoded run.
pub(super) struct Shortened<'t> {
    pub(super) text: Cow<'t, str>,
    /// The byte ranges of the markers in `text`.
    pub(super) markers: Vec<Range<usize>>,
}

/// Replaces the runs of Base64 in a text and, if `is_code`, lines of minified code.
pub(super) fn shorten(text: &str, is_code: bool) -> Shortened<'_> {
    let (mut out, mut markers) = (String::new(), Vec::new());
    let mut copied = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.len() >= BASE64_MIN {
            for (run, kind) in runs(line, is_code) {
                out.push_str(&text[copied..start + run.start]);
                let marker = out.len();
                // Runs are ASCII, so their bytes are characters.
                let chars = group_thousands(run.len() as u64);
                write_to(&mut out, format_args!("… {chars} {kind}characters …"));
                markers.push(marker..out.len());
                copied = start + run.end;
            }
        }
        start += line.len();
    }
    if markers.is_empty() {
        return Shortened { text: Cow::Borrowed(text), markers };
    }
    out.push_str(&text[copied..]);
    Shortened { text: Cow::Owned(out), markers }
}

/// Returns the encoded runs of a line, each with the word for its kind.
fn runs(line: &str, is_code: bool) -> Vec<(Range<usize>, &'static str)> {
    let mut found = base64_runs(line);
    if is_code && found.is_empty() && is_minified(line) {
        let end = line.trim_end_matches(['\n', '\r']).len();
        found.push((MINIFIED_SHOWN..end, ""));
    }
    found
}

fn base64_runs(line: &str) -> Vec<(Range<usize>, &'static str)> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| is_base64(**byte)).count();
        if run >= BASE64_MIN && is_varied(&bytes[at..at + run]) {
            found.push((at..at + run, "base64 "));
        }
        at += run.max(1);
    }
    found
}

/// Returns whether a byte occurs in Base64, in the alphabet of files or of URLs.
const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Returns whether a run has letters of both cases, unlike rules, long numbers and hashes.
fn is_varied(run: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| run.iter().filter(|byte| test(byte)).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    upper >= run.len() / 8 && lower >= run.len() / 32
}

/// Returns whether a line is ASCII with little white space.
fn is_minified(line: &str) -> bool {
    let spaces = || line.bytes().filter(u8::is_ascii_whitespace).count();
    line.len() >= MINIFIED_MIN && line.is_ascii() && spaces() * BYTES_PER_SPACE <= line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns text that looks like the Base64 of random bytes.
    fn base64(len: usize) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 1_u32;
        let char = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(alphabet[(state >> 24) as usize % alphabet.len()])
        };
        std::iter::repeat_with(char).take(len).collect()
    }

    #[test]
    fn encoded_runs_are_counted_exactly() {
        let shorten = |text: &str| {
            let Shortened { text, markers } = shorten(text, true);
            let marked = markers.iter().map(|marker| text[marker.clone()].to_owned());
            assert!(marked.into_iter().all(|text| text.starts_with('…') && text.ends_with('…')));
            text.into_owned()
        };
        let uri = format!("<img src=\"data:image/png;base64,{}\">\nend", base64(60_000));
        let wanted = "<img src=\"data:image/png;base64,… 60,000 base64 characters …\">\nend";
        assert_eq!(shorten(&uri), wanted);
        let two = format!("a {} b\n{} c", base64(300), base64(400));
        assert_eq!(shorten(&two), "a … 300 base64 characters … b\n… 400 base64 characters … c");
        let minified = format!("{}\r\nfn", "f=function(a){return a+1}".repeat(200));
        let wanted = format!("{}… 4,800 characters …\r\nfn", "f=function(a){return a+1}".repeat(8));
        assert_eq!(shorten(&minified), wanted);
    }

    #[test]
    fn other_long_text_stays() {
        for text in [
            base64(BASE64_MIN - 1),
            "a long line of prose. ".repeat(500),
            "漢字".repeat(3_000),
            "1234,".repeat(200),
            "=".repeat(1_000),
            "-".repeat(1_000),
            "a".repeat(1_000),
            "deadbeef".repeat(100),
            String::new(),
        ] {
            assert!(matches!(shorten(&text, true).text, Cow::Borrowed(_)), "{text}");
        }
        // Only code is minified.
        assert!(shorten(&"[1,2],".repeat(1_000), false).markers.is_empty());
    }
}

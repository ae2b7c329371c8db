//! Character sets of text files (RFC 0013 §2).
//!
//! Text that is not UTF-8 is decoded, by its byte-order mark or by the most likely character set.
//! Names are those of the WHATWG Encoding Standard.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use crate::file_type::BINARY_SNIFF_BYTES;

/// A character set that text can be decoded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// The bytes are UTF-8, perhaps with some errors, and stay unchanged.
    Unchanged(Vec<u8>),
    /// The text, and the name of its character set.
    Text(String, &'static str),
    /// The bytes are not text.
    Binary,
    /// The bytes are not text in the character set that was asked for.
    Invalid(Charset),
}

/// The minimum share of pairs of bytes with a zero in the same half, in percent, in UTF-16 without
/// a byte-order mark.
const UTF_16_PERCENT: usize = 70;

/// The maximum share of control characters in a text, in percent.
const CONTROL_PERCENT_MAX: usize = 2;

impl Charset {
    /// Returns the character set with this name, in any case. Names are the labels of the WHATWG
    /// Encoding Standard, such as `windows-1252`, `latin1`, `gbk` and `shift_jis`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(name.as_bytes()).map(Self)
    }

    /// Returns the name, in lower case.
    #[must_use]
    pub fn name(self) -> String {
        self.0.name().to_ascii_lowercase()
    }
}

/// Returns whether the beginning of a file shows that it is not text.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    if utf_16(head).is_some() {
        return false;
    }
    head.contains(&0) || head.starts_with(b"%PDF-") || has_controls(head)
}

/// Decodes the content of a file, in the given character set or in the one that is detected.
pub(crate) fn decode(bytes: Vec<u8>, charset: Option<Charset>) -> Decoded {
    if let Some(charset) = charset {
        return match charset.0.decode_with_bom_removal(&bytes) {
            (_, true) => Decoded::Invalid(charset),
            (text, false) => decoded(text, charset.0),
        };
    }
    let head = &bytes[..bytes.len().min(BINARY_SNIFF_BYTES)];
    if let Some(encoding) = utf_16(head) {
        let (text, has_errors) = encoding.decode_with_bom_removal(&bytes);
        return if has_errors || has_controls(text.as_bytes()) {
            Decoded::Binary
        } else {
            decoded(text, encoding)
        };
    }
    if is_binary(head) {
        return Decoded::Binary;
    }
    let is_utf_8 = is_mostly_utf_8(&bytes);
    // ISO-2022-JP has ASCII bytes only, and these escapes.
    let has_escape = bytes.contains(&0x1b) && bytes.windows(2).any(|pair| pair == b"\x1b$");
    if is_utf_8 && !has_escape {
        return Decoded::Unchanged(bytes);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    if is_utf_8 && encoding != ISO_2022_JP {
        return Decoded::Unchanged(bytes);
    }
    match encoding.decode_without_bom_handling(&bytes) {
        (_, true) => Decoded::Binary,
        (text, false) => decoded(text, encoding),
    }
}

fn decoded(text: Cow<'_, str>, encoding: &'static Encoding) -> Decoded {
    if encoding == UTF_8 {
        return Decoded::Unchanged(text.into_owned().into_bytes());
    }
    Decoded::Text(text.into_owned(), encoding.name())
}

/// Returns UTF-16 if the beginning of a file has its byte-order mark, or a zero in the same half of
/// most pairs of bytes.
fn utf_16(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        // UTF-32 begins with the same mark, and is not decoded.
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        _ if !head.contains(&0) => return None,
        _ => {}
    }
    let pairs = head.len() / 2;
    let zeros = |half: usize| head.iter().skip(half).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let most = |zeros: usize| pairs > 0 && zeros * 100 >= pairs * UTF_16_PERCENT;
    match (first, second) {
        (0, second) if most(second) => Some(UTF_16LE),
        (first, 0) if most(first) => Some(UTF_16BE),
        _ => None,
    }
}

/// Returns whether bytes have too many control characters for a text. Tabs, line breaks, form feeds,
/// backspaces and escapes are part of texts.
fn has_controls(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(BINARY_SNIFF_BYTES)];
    let is_control = |byte: u8| matches!(byte, 0..=7 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    // Sums of `u8` are vectorized best. A chunk of 255 bytes cannot overflow one.
    let count = |part: &[u8]| -> u8 { part.iter().map(|byte| u8::from(is_control(*byte))).sum() };
    let parts = head.chunks(usize::from(u8::MAX));
    let controls: usize = parts.map(|part| usize::from(count(part))).sum();
    controls * 100 > head.len() * CONTROL_PERCENT_MAX
}

/// Returns whether bytes are UTF-8. They may have errors if they have at least as many characters
/// that are not ASCII: a text with a few broken characters is not in another character set.
fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let Err(error) = std::str::from_utf8(bytes) else { return true };
    let (mut characters, mut errors) = (0, 0);
    // The last character may be cut.
    let is_cut = error.error_len().is_none();
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        errors += usize::from(!chunk.invalid().is_empty());
    }
    errors == usize::from(is_cut) || characters > 0 && characters >= errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_text(bytes: &[u8]) -> (String, &'static str) {
        match decode(bytes.to_vec(), None) {
            Decoded::Text(text, charset) => (text, charset),
            other => panic!("{other:?}"),
        }
    }

    fn utf_16_bytes(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn utf_16_is_decoded_with_and_without_a_mark() {
        let text = "fn main() {\n\tprint(\"é\");\n}\n";
        for mark in ["\u{feff}", ""] {
            let marked = format!("{mark}{text}");
            let little = utf_16_bytes(&marked, u16::to_le_bytes);
            assert_eq!(decode_text(&little), (text.to_owned(), "UTF-16LE"));
            let big = utf_16_bytes(&marked, u16::to_be_bytes);
            assert_eq!(decode_text(&big), (text.to_owned(), "UTF-16BE"));
        }
    }

    #[test]
    fn latin_1_is_decoded_as_its_superset() {
        let bytes = b"Gr\xfc\xdfe aus K\xf6ln, caf\xe9\n";
        assert_eq!(decode_text(bytes), ("Grüße aus Köln, café\n".to_owned(), "windows-1252"));
    }

    #[test]
    fn utf_8_stays_unchanged_even_with_a_few_errors() {
        let cut = &"a long text in ASCII, and é".as_bytes()[..27];
        for text in [&b"plain"[..], "größer".as_bytes(), b"", "\u{feff}mark".as_bytes(), cut] {
            assert_eq!(decode(text.to_vec(), None), Decoded::Unchanged(text.to_vec()));
        }
        let broken = ["größer und länger".as_bytes(), b"\xff"].concat();
        assert_eq!(decode(broken.clone(), None), Decoded::Unchanged(broken));
    }

    #[test]
    fn bytes_that_are_not_text_are_binary() {
        let noise: Vec<u8> = (0..=255).cycle().take(512).collect();
        for bytes in [&b"a\0b"[..], b"%PDF-1.7\n1 0 obj\n", b"\x01\x02\x03\x04abc", &noise] {
            assert_eq!(decode(bytes.to_vec(), None), Decoded::Binary, "{bytes:?}");
        }
        // UTF-16 with half a surrogate pair.
        assert_eq!(decode(b"\xff\xfea\0\x00\xd8b\0".to_vec(), None), Decoded::Binary);
    }

    #[test]
    fn given_charset_is_used_or_reported() {
        let greek = Charset::from_name("ISO-8859-7").unwrap();
        assert_eq!(greek.name(), "iso-8859-7");
        let wanted = Decoded::Text("αβγ".into(), "ISO-8859-7");
        assert_eq!(decode(b"\xe1\xe2\xe3".to_vec(), Some(greek)), wanted);
        let gbk = Charset::from_name("gbk").unwrap();
        assert_eq!(decode(b"\xff\xff".to_vec(), Some(gbk)), Decoded::Invalid(gbk));
        assert_eq!(Charset::from_name("klingon"), None);
    }
}

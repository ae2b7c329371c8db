//! Words of identifiers: split at case, digits and `_`, and stemmed.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// Words without a meaning of their own, in a question about code.
const STOP_WORDS: &str = "a about above add added adding adds after again all allow allowed allows \
    also am an and any are as at be because been before being below between both but by can cannot \
    change changed changes chore could currently did do does doing don down during each eg etc \
    feat few fix fixed fixes for from further get gets had has have having he her here him his how \
    i ie if implement implemented implements in instead into is issue it its just let lets ll make \
    makes me more most my need needs new no nor not now of off on once only or other our out over \
    own perf pr re refactor remove removed removes same see set sets she should so some such \
    support supported supports than that the their them then there these they this those through \
    to too under until up update updated updates use used uses using ve very via was we were what \
    when where which while who whom why will with won would you your";

/// Returns whether a lowercase word has no meaning of its own.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split_ascii_whitespace().any(|stop| stop == word)
}

/// A splitter of identifiers into stemmed words.
pub(crate) struct WordSplitter {
    stemmer: Stemmer,
}

impl Default for WordSplitter {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English) }
    }
}

impl WordSplitter {
    /// Returns the stem of a lowercase word.
    pub(crate) fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        self.stemmer.stem(word)
    }
}

/// Returns the identifiers of a text with their offsets: ASCII letters, digits and `_`, not
/// beginning with a digit.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            while !IS_PART[usize::from(*bytes.get(at)?)] {
                at += 1;
            }
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            let start = at;
            while bytes.get(at).is_some_and(|byte| IS_PART[usize::from(*byte)]) {
                at += 1;
            }
            if start < at {
                return Some((start, &text[start..at]));
            }
        }
    })
}

/// `true` for the bytes of identifiers.
const IS_PART: [bool; 256] = {
    let mut is_part = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        is_part[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    is_part
};

/// Returns the words of an identifier: `HTTPServer_v2` has `HTTP` and `Server`. Words of one letter
/// are left out.
pub(crate) fn words(identifier: &str) -> impl Iterator<Item = &str> {
    let bytes = identifier.as_bytes();
    let mut at = 0;
    let parts = std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|byte| *byte != b'_')?;
        at = start + word_len(&bytes[start..]);
        Some(&identifier[start..at])
    });
    parts.filter(|word| word.len() > 1)
}

/// Returns the length of the first word, which is not empty.
fn word_len(bytes: &[u8]) -> usize {
    let run = |test: fn(&u8) -> bool| bytes.iter().take_while(|byte| test(byte)).count();
    let digits = run(u8::is_ascii_digit);
    if digits > 0 {
        return digits;
    }
    let capitals = run(u8::is_ascii_uppercase);
    let small = bytes[capitals..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    match (capitals, small) {
        // The last of several capitals begins the next word.
        (2.., 1..) => capitals - 1,
        _ => (capitals + small).max(1),
    }
}

/// Returns an identifier without `_` and in lowercase: `tablePrinter`, `table_printer` and
/// `TablePrinter` are `tableprinter`.
pub(crate) fn squash(identifier: &str) -> String {
    let letters = identifier.bytes().filter(|byte| *byte != b'_');
    letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Returns whether a name is an identifier of several words, not a word: it has `_` within, a digit
/// after a letter, or a capital after a small letter.
pub(crate) fn is_compound(identifier: &str) -> bool {
    let body = identifier.trim_matches('_').as_bytes();
    let is_break = |pair: &[u8]| {
        pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
            || pair[0].is_ascii_digit() && pair[1].is_ascii_uppercase()
            || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
    };
    let begins_with_capitals = body.len() > 2
        && body[..2].iter().all(u8::is_ascii_uppercase)
        && body.last().is_some_and(u8::is_ascii_lowercase);
    body.contains(&b'_') || body.windows(2).any(is_break) || begins_with_capitals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(identifier: &str) -> Vec<&str> {
        words(identifier).collect()
    }

    #[test]
    fn identifiers_split_at_case_digits_and_underscores() {
        assert_eq!(split("HTTPServer_v2"), ["HTTP", "Server"]);
        assert_eq!(split("tablePrinter"), ["table", "Printer"]);
        assert_eq!(split("__init__"), ["init"]);
        assert_eq!(split("utf8Decode"), ["utf", "Decode"]);
        assert_eq!(split("parseURLs"), ["parse", "UR", "Ls"]);
        assert_eq!(split("x"), [""; 0]);
    }

    #[test]
    fn identifiers_of_a_text_have_their_offsets() {
        let found: Vec<_> = identifiers("a + 12ab.c_d, 9 é_x").collect();
        assert_eq!(found, [(0, "a"), (6, "ab"), (9, "c_d"), (18, "_x")]);
    }

    #[test]
    fn compounds_are_identifiers_of_several_words() {
        for name in ["table_printer", "tablePrinter", "TablePrinter", "utf8", "HTTPServer"] {
            assert!(is_compound(name), "{name}");
        }
        for name in ["table", "Table", "TABLE", "_table", "ID"] {
            assert!(!is_compound(name), "{name}");
        }
        for name in ["tablePrinter", "table_printer", "TABLE_PRINTER"] {
            assert_eq!(squash(name), "tableprinter");
        }
    }

    #[test]
    fn inflections_have_one_stem() {
        let splitter = WordSplitter::default();
        assert_eq!(splitter.stem("printing"), splitter.stem("prints"));
        assert!(is_stop_word("should") && !is_stop_word("printer"));
    }
}

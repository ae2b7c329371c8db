//! Tags: the paths and identifiers in a text.

use std::collections::HashMap;

use lcp_driver::segments::CompressionLevel;
use lcp_types::{BlockContent, Role};

use super::super::SummaryRequest;
use super::line::{Line, Piece, message_text, recency};

/// The maximum length of a term in bytes. Longer words are not names.
const TERM_BYTES: usize = 80;
/// The points for each occurrence of a term, up to [`NAMED_MAX`] occurrences.
const NAMED: i32 = 4;
const NAMED_MAX: usize = 10;

/// Returns the terms of the earlier summary and those of the messages, as one line each.
pub(super) fn term_lines(request: &SummaryRequest<'_>) -> [Vec<Line>; 2] {
    let mut earlier = Terms::default();
    earlier.add(request.before.unwrap_or_default(), 0);
    let mut newer = Terms::default();
    for (at, recorded) in request.messages.iter().enumerate() {
        let message = &recorded.message;
        let path = match &message.block.content {
            content if content.is_metadata() || message.role() == Role::System => continue,
            BlockContent::Code(code) => &code.path,
            BlockContent::Diff(diff) => &diff.path,
            _ => "",
        };
        let recency = recency(at, request.messages.len());
        newer.add(path, recency);
        if let Some((text, _)) = message_text(message, CompressionLevel::Tags) {
            newer.add(&text, recency);
        }
    }
    [earlier, newer].map(Terms::into_lines)
}

/// Terms in the order of their first occurrence.
#[derive(Default)]
struct Terms {
    places: HashMap<String, usize>,
    /// Each term with its number of occurrences and the recency of the last one.
    terms: Vec<(String, usize, i32)>,
}

impl Terms {
    fn add(&mut self, text: &str, recency: i32) {
        for term in text.split_whitespace().filter_map(is_term) {
            let place = self.places.get(term).copied().unwrap_or_else(|| {
                self.places.insert(term.to_owned(), self.terms.len());
                self.terms.push((term.to_owned(), 0, 0));
                self.terms.len() - 1
            });
            let (_, named, newest) = &mut self.terms[place];
            *named += 1;
            *newest = recency;
        }
    }

    fn into_lines(self) -> Vec<Line> {
        let pieces = |(at, (text, named, recency)): (usize, (String, usize, i32))| {
            let named = i32::try_from(named.min(NAMED_MAX)).unwrap_or_default();
            Piece { text, at, score: NAMED * named + recency }
        };
        let pieces: Vec<Piece> = self.terms.into_iter().enumerate().map(pieces).collect();
        let line = Line { label: String::new(), pieces, between: [", "; 2] };
        if line.pieces.is_empty() { Vec::new() } else { vec![line] }
    }
}

/// Returns the path, address or identifier in a word, without punctuation around it.
///
/// A term is a word with
///
/// - a slash and a dot, or two slashes,
/// - `::`, `_` or a capital letter inside,
/// - a dot before a file extension, or
/// - letters followed by at least two digits.
pub(super) fn is_term(word: &str) -> Option<&str> {
    let outside = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '.' | '~');
    let mut term = word.trim_matches(outside).trim_end_matches(['.', '/']);
    // Remove a line number after a file name.
    while let Some((file, line)) = term.rsplit_once(':')
        && line.chars().all(|c| c.is_ascii_digit())
    {
        term = file;
    }
    if term.len() < 3 || term.len() > TERM_BYTES || !term.contains(char::is_alphabetic) {
        return None;
    }
    let plain = |c: char| c.is_alphanumeric() || "_-./:~#@+".contains(c);
    if !term.chars().all(plain) {
        return None;
    }
    let ends_like_a_file = || {
        term.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && (1..=5).contains(&ending.len())
                && ending.starts_with(|c: char| c.is_ascii_lowercase())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
                && !stem.ends_with('.')
                // "e.g" and "i.e" are abbreviations.
                && (stem.len() > 1 || ending.len() > 1 || matches!(ending, "c" | "h"))
        })
    };
    let is_path = || {
        let slashes = term.matches('/').count();
        slashes > 1 || slashes == 1 && (term.contains('.') || term.starts_with(['/', '~']))
    };
    let within = |pattern: fn(char) -> bool| {
        let mut chars = term.chars();
        let ends = (chars.next(), chars.next_back());
        ends.1.is_some() && chars.any(pattern)
    };
    // True for parseHeader and ParseHeader, but not for Header or HTTP.
    let is_camel = || {
        let mut lower = false;
        term.chars().any(|c| {
            let found = lower && c.is_uppercase();
            lower = c.is_lowercase();
            found
        })
    };
    let is_code = || {
        let digits = term.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        digits.len() > 1 && digits.len() < term.len() && digits.chars().all(|c| c.is_ascii_digit())
    };
    let named = is_path()
        || term.contains("::")
        || within(|c| c == '_')
        || ends_like_a_file()
        || is_camel()
        || is_code();
    named.then_some(term)
}

//! Passages: ranges of lines of a content, with the score of their relevance (RFC 0014).

use std::fmt;

use crate::limits::PASSAGES_MAX;

/// A range of lines of a content, and how much a question needs it.
///
/// The scores of all blocks of a pack are comparable. A TAG annotation with the key
/// [`Tag::PASSAGES`](crate::Tag::PASSAGES) stores the passages of a block.
///
/// ```
/// use lcp_types::Passage;
///
/// let passages = Passage::parse_list("12-40:830 55-58:412").unwrap();
/// assert_eq!(passages[1], Passage { first: 55, last: 58, score: 412 });
/// assert_eq!(Passage::format_list(&passages), "12-40:830 55-58:412");
/// assert_eq!(Passage::parse_list("12-40:830 30-58:412"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passage {
    /// The number of the first line, from 1.
    pub first: u32,
    /// The number of the last line, at least `first`.
    pub last: u32,
    /// The score, from 1 to [`Self::SCORE_MAX`].
    pub score: u16,
}

impl Passage {
    /// The highest score, for passages that are certainly needed.
    pub const SCORE_MAX: u16 = 1000;

    /// Parses passages as `FIRST-LAST:SCORE`, separated by one space each. They must be in the order
    /// of lines without overlap, and at most [`PASSAGES_MAX`] in number. Returns `None` if the text
    /// is anything else.
    #[must_use]
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        let mut passages: Vec<Self> = Vec::new();
        for item in text.split(' ') {
            let passage = Self::parse(item)?;
            let end = passages.last().map_or(0, |before| before.last);
            if passage.first <= end || passages.len() == PASSAGES_MAX {
                return None;
            }
            passages.push(passage);
        }
        Some(passages)
    }

    /// Formats passages in the form that [`Self::parse_list`] reads.
    #[must_use]
    pub fn format_list(passages: &[Self]) -> String {
        passages.iter().map(Self::to_string).collect::<Vec<_>>().join(" ")
    }

    fn parse(text: &str) -> Option<Self> {
        // `parse` of a number also accepts a sign.
        if !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':')) {
            return None;
        }
        let (lines, score) = text.split_once(':')?;
        let (first, last) = lines.split_once('-')?;
        let (first, last, score) = (first.parse().ok()?, last.parse().ok()?, score.parse().ok()?);
        let is_valid = 1 <= first && first <= last && (1..=Self::SCORE_MAX).contains(&score);
        is_valid.then_some(Self { first, last, score })
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}:{}", self.first, self.last, self.score)
    }
}

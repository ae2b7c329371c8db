//! Splits text by the pattern of a tokenizer file.

use regex_automata::meta::Regex;

/// The end of most patterns: white space without its last character before other text.
const TRAILING: &str = r"|\s+(?!\S)|\s+";

/// A pattern, compiled to the cheapest form with the same matches.
#[derive(Debug)]
pub(super) enum Splitter {
    /// A pattern without look-around. Its time is linear.
    Plain(Regex),
    /// A pattern that ends with [`TRAILING`]. Its look-ahead is implemented by hand, because a
    /// backtracking engine gives up on a million spaces. The second pattern is white space.
    Trailing(Regex),
    /// A pattern with other look-around. It gives up after a million steps, and the rest is one
    /// piece.
    Backtracking(fancy_regex::Regex),
}

impl Splitter {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// Returns the message of the engine if the pattern is invalid.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        if let Some(head) = pattern.strip_suffix(TRAILING)
            && let Some(regex) = linear(&[head, r"\s+"])
        {
            return Ok(Self::Trailing(regex));
        }
        if let Some(regex) = linear(&[pattern]) {
            return Ok(Self::Plain(regex));
        }
        fancy_regex::Regex::new(pattern).map(Self::Backtracking).map_err(|error| error.to_string())
    }

    /// Passes the start and end of all matches to `each`, in order.
    pub(super) fn matches(&self, text: &str, mut each: impl FnMut(usize, usize)) {
        match self {
            Self::Plain(regex) => {
                regex.find_iter(text).for_each(|found| each(found.start(), found.end()));
            }
            Self::Trailing(regex) => {
                let mut start = 0;
                while let Some(found) =
                    regex.search(&regex_automata::Input::new(text).span(start..text.len()))
                {
                    let mut end = found.end();
                    let white = found.pattern().as_usize() == 1;
                    if white && end < text.len() {
                        let last = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
                        if last > found.start() {
                            end = last;
                        }
                    }
                    each(found.start(), end);
                    start = end;
                }
            }
            Self::Backtracking(regex) => {
                let found = regex.find_iter(text).map_while(Result::ok);
                found.for_each(|found| each(found.start(), found.end()));
            }
        }
    }
}

/// Compiles patterns for a linear-time engine. Returns `None` for patterns with look-around or with
/// empty matches.
fn linear(patterns: &[&str]) -> Option<Regex> {
    let regex = Regex::new_many(patterns).ok()?;
    // Engines differ in the treatment of empty matches after a match, so such patterns are left to
    // the reference engine.
    (!regex.is_match("")).then_some(regex)
}

//! Cuts text by the pattern that a tokenizer file asks for.

use regex_automata::meta::Regex;

/// The end of most patterns: white space without the last character before other text.
const TRAILING: &str = r"|\s+(?!\S)|\s+";

/// A pattern, compiled to the cheapest form that gives its matches.
#[derive(Debug)]
pub(super) enum Splitter {
    /// No look-around: linear in the text.
    Plain(Regex),
    /// Ends with [`TRAILING`]. Its look-ahead is done by hand, since a regular
    /// expression engine backtracks over it and gives up on a million spaces.
    /// The second pattern is white space.
    Trailing(Regex),
    /// Look-around elsewhere. Gives up after a million steps: the rest is one piece.
    Backtracking(fancy_regex::Regex),
}

impl Splitter {
    /// # Errors
    ///
    /// What is wrong with the pattern.
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

    /// The places of all matches, in order.
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

/// A linear-time engine for patterns without look-around that match something.
fn linear(patterns: &[&str]) -> Option<Regex> {
    let regex = Regex::new_many(patterns).ok()?;
    // Matches of nothing are told apart by where the last one ended; that is
    // left to the engine that the others are compared with.
    (!regex.is_match("")).then_some(regex)
}

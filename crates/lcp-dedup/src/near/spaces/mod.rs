//! Changes of white space that one line describes exactly (RFC 0012).
//!
//! `line.rs` splits lines into white space and content, `infer.rs` detects the change from one text
//! to another, with the indentation in `indentation.rs`, and `describe.rs` writes and parses the
//! description.

mod describe;
mod indentation;
mod infer;
mod line;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use indentation::Indentation;
use line::{Blanks, Ending, line_parts};

/// A change of the white space of a text. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpaceChange {
    indentation: Option<Indentation>,
    trailing: Option<Trailing>,
    ending: Option<Ending>,
    /// `true` if the last line gains a final newline, `false` if it loses it.
    final_newline: Option<bool>,
}

/// The white space at the end of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trailing {
    Removed,
    EachLine(Blanks),
    /// Only these runs of lines have any. Line numbers count from 1 and ascend.
    Lines(Vec<(RangeInclusive<usize>, Blanks)>),
}

impl SpaceChange {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the changed text. It is at most 64 times as long.
    pub(super) fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut runs = match &self.trailing {
            Some(Trailing::Lines(runs)) => runs.as_slice(),
            _ => &[],
        };
        let mut usual = self.ending;
        for (number, line) in (1..).zip(line_parts(text)) {
            match &self.indentation {
                Some(change) if !line.content.is_empty() => {
                    change.push_changed(line.indentation, &mut out);
                }
                _ => out.extend_from_slice(line.indentation),
            }
            out.extend_from_slice(line.content);
            match &self.trailing {
                None => out.extend_from_slice(line.trailing),
                Some(Trailing::Removed) => {}
                Some(Trailing::EachLine(blanks)) => blanks.push_to(&mut out),
                Some(Trailing::Lines(_)) => {
                    if let Some((lines, blanks)) = runs.first() {
                        if lines.contains(&number) {
                            blanks.push_to(&mut out);
                        }
                        runs = &runs[usize::from(*lines.end() <= number)..];
                    }
                }
            }
            let ending = line.ending.map(|ending| self.ending.unwrap_or(ending));
            usual = usual.or(ending);
            out.extend_from_slice(ending.map_or(b"", Ending::bytes));
        }
        match self.final_newline {
            Some(true) if !out.ends_with(b"\n") => {
                out.extend_from_slice(usual.unwrap_or(Ending::Lf).bytes());
            }
            Some(false) if out.pop_if(|byte| *byte == b'\n').is_some() => {
                out.pop_if(|byte| *byte == b'\r');
            }
            _ => {}
        }
        out
    }
}

//! The change of white space from one text to another.

use std::ops::RangeInclusive;

use super::indentation::Indentation;
use super::line::{Blanks, Ending, line_parts};
use super::{SpaceChange, Trailing};

/// The white space of a text, apart from indentation.
struct Profile<'t> {
    /// The white space at the end of each line.
    trailing: Vec<&'t [u8]>,
    endings: Vec<Ending>,
    last_content: &'t [u8],
}

impl<'t> Profile<'t> {
    fn new(text: &'t [u8]) -> Self {
        let mut profile = Self { trailing: Vec::new(), endings: Vec::new(), last_content: b"" };
        for line in line_parts(text) {
            profile.trailing.push(line.trailing);
            profile.endings.extend(line.ending);
            profile.last_content = line.content;
        }
        profile
    }

    /// Returns the ending of all lines, if it is the same.
    fn ending(&self) -> Option<Ending> {
        let first = *self.endings.first()?;
        self.endings.iter().all(|ending| *ending == first).then_some(first)
    }

    fn has_final_newline(&self) -> bool {
        self.endings.len() == self.trailing.len()
    }

    /// Returns a description of the white space at the end of lines.
    fn describe_trailing(&self) -> Option<Trailing> {
        if let Some(first) = self.trailing.first().copied().and_then(Blanks::new)
            && self.trailing.len() > 1
            && self.trailing.iter().all(|blanks| Some(first) == Blanks::new(blanks))
        {
            return Some(Trailing::EachLine(first));
        }
        let mut runs: Vec<(RangeInclusive<usize>, Blanks)> = Vec::new();
        for (number, blanks) in (1..).zip(&self.trailing).filter(|(_, blanks)| !blanks.is_empty()) {
            let blanks = Blanks::new(blanks)?;
            match runs.last_mut() {
                Some((lines, same)) if *same == blanks && *lines.end() + 1 == number => {
                    *lines = *lines.start()..=number;
                }
                _ => runs.push((number..=number, blanks)),
            }
        }
        Some(if runs.is_empty() { Trailing::Removed } else { Trailing::Lines(runs) })
    }
}

impl SpaceChange {
    /// Returns a change that makes the white space of `covering` more like that of `text`. The
    /// result may still differ.
    pub(in super::super) fn infer(covering: &[u8], text: &[u8]) -> Self {
        let (old, new) = (Profile::new(covering), Profile::new(text));
        let ending = new.ending().filter(|ending| old.endings.iter().any(|old| old != ending));
        // Other lines at the end are a change of content.
        let same_end = old.last_content == new.last_content;
        let final_newline = new.has_final_newline();
        let final_newline =
            (same_end && old.has_final_newline() != final_newline).then_some(final_newline);
        // Line numbers are those of the covering text.
        let same_lines = old.trailing.len() == new.trailing.len();
        let trailing = new
            .describe_trailing()
            .filter(|trailing| same_lines || !matches!(trailing, Trailing::Lines(_)))
            .filter(|trailing| old.describe_trailing().as_ref() != Some(trailing));
        Self { indentation: Indentation::infer(covering, text), trailing, ending, final_newline }
    }
}

//! The description of a change of white space.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

use super::indentation::Indentation;
use super::line::{Blanks, Ending, WIDTH_MAX};
use super::{SpaceChange, Trailing};

impl SpaceChange {
    /// Returns the parts of the description, such as `indentation (tabs for 4 spaces)`.
    pub(in super::super) fn describe(&self) -> Vec<String> {
        let newline = self.final_newline.map(|has| if has { "a newline" } else { "no newline" });
        let newline = newline.map(|newline| format!("{newline} at the end"));
        let ending = self.ending.map(|ending| match ending {
            Ending::Lf => "LF for CRLF".to_owned(),
            Ending::CrLf => "CRLF for LF".to_owned(),
        });
        let endings: Vec<_> = ending.into_iter().chain(newline).collect();
        let endings = (!endings.is_empty()).then(|| endings.join(", "));
        let parts = [
            ("indentation", self.indentation.map(|change| change.to_string())),
            ("trailing white space", self.trailing.as_ref().map(ToString::to_string)),
            ("line endings", endings),
        ];
        let part = |(name, change): (&str, Option<String>)| Some(format!("{name} ({})", change?));
        parts.into_iter().filter_map(part).collect()
    }

    /// Parses the parts of a description. Returns `None` unless they are exactly as
    /// [`Self::describe`] returns them.
    pub(in super::super) fn parse(parts: &[&str]) -> Option<Self> {
        let mut parsed = Self::default();
        for part in parts {
            let (name, change) = part.strip_suffix(')')?.split_once(" (")?;
            match name {
                "indentation" => parsed.indentation = Some(Indentation::parse(change)?),
                "trailing white space" => parsed.trailing = Some(Trailing::parse(change)?),
                "line endings" => parsed.add_endings(change)?,
                _ => return None,
            }
        }
        (parsed.describe() == parts).then_some(parsed)
    }

    fn add_endings(&mut self, changes: &str) -> Option<()> {
        for change in changes.split(", ") {
            match change {
                "LF for CRLF" => self.ending = Some(Ending::Lf),
                "CRLF for LF" => self.ending = Some(Ending::CrLf),
                "a newline at the end" => self.final_newline = Some(true),
                "no newline at the end" => self.final_newline = Some(false),
                _ => return None,
            }
        }
        Some(())
    }
}

impl Display for Indentation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let spaces = |count| Blanks { count, is_tab: false };
        match *self {
            Self::Tabs { width } => write!(f, "tabs for {}", spaces(width)),
            Self::Spaces { width } => write!(f, "{} for each tab", spaces(width)),
            Self::Scaled { new, old } => write!(f, "{} for {old}", spaces(new)),
            Self::More(blanks) => write!(f, "{} more {}", blanks.count, blanks.name()),
            Self::Fewer(blanks) => write!(f, "{} fewer {}", blanks.count, blanks.name()),
        }
    }
}

impl Indentation {
    fn parse(text: &str) -> Option<Self> {
        let spaces = |text| Some(Blanks::parse(text)?.count);
        if let Some(width) = text.strip_prefix("tabs for ") {
            return Some(Self::Tabs { width: spaces(width)? });
        }
        if let Some(width) = text.strip_suffix(" for each tab") {
            return Some(Self::Spaces { width: spaces(width)? });
        }
        if let Some((new, old)) = text.split_once(" for ") {
            return Some(Self::Scaled { new: spaces(new)?, old: count(old)? });
        }
        if text.contains(" more ") {
            return Blanks::parse(&text.replace(" more ", " ")).map(Self::More);
        }
        Blanks::parse(&text.replace(" fewer ", " ")).map(Self::Fewer)
    }
}

impl Display for Trailing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let runs = match self {
            Self::Removed => return f.write_str("removed"),
            Self::EachLine(blanks) => return write!(f, "{blanks} on each line"),
            Self::Lines(runs) => runs,
        };
        let mut lists: BTreeMap<Blanks, Vec<String>> = BTreeMap::new();
        for (lines, blanks) in runs {
            let (first, last) = (lines.start(), lines.end());
            let run = if first == last { first.to_string() } else { format!("{first}-{last}") };
            lists.entry(*blanks).or_default().push(run);
        }
        f.write_str("only ")?;
        for (at, (blanks, runs)) in lists.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            let is_one = matches!(runs.as_slice(), [run] if !run.contains('-'));
            let lines = if is_one { "line" } else { "lines" };
            write!(f, "{separator}{blanks} on {lines} {}", runs.join(", "))?;
        }
        Ok(())
    }
}

impl Trailing {
    fn parse(text: &str) -> Option<Self> {
        if text == "removed" {
            return Some(Self::Removed);
        }
        if let Some(blanks) = text.strip_suffix(" on each line") {
            return Blanks::parse(blanks).map(Self::EachLine);
        }
        let mut runs = Vec::new();
        for list in text.strip_prefix("only ")?.split("; ") {
            let (blanks, lines) = list.split_once(" on line")?;
            let blanks = Blanks::parse(blanks)?;
            let lines = lines.strip_prefix('s').unwrap_or(lines).strip_prefix(' ')?;
            for run in lines.split(", ") {
                runs.push((parse_run(run)?, blanks));
            }
        }
        runs.sort_by_key(|(lines, _)| *lines.start());
        // Each line has its white space from one list.
        let ascend = runs.windows(2).all(|pair| pair[0].0.end() < pair[1].0.start());
        ascend.then_some(Self::Lines(runs))
    }
}

fn parse_run(text: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last).then_some(first..=last)
}

/// Parses a number from 1 to [`WIDTH_MAX`].
fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| (1..=WIDTH_MAX).contains(count))
}

impl Display for Blanks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.name())
    }
}

impl Blanks {
    const fn name(self) -> &'static str {
        match (self.is_tab, self.count) {
            (false, 1) => "space",
            (false, _) => "spaces",
            (true, 1) => "tab",
            (true, _) => "tabs",
        }
    }

    /// Parses `4 spaces` or `1 tab`.
    fn parse(text: &str) -> Option<Self> {
        let (number, name) = text.split_once(' ')?;
        let blanks = Self { count: count(number)?, is_tab: name.starts_with("tab") };
        (blanks.name() == name).then_some(blanks)
    }
}

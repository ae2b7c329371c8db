//! Changes of indentation, and the search for the one that explains most lines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::line::{Blanks, WIDTH_MAX, line_parts};

/// The maximum number of pairs of different indentations to derive changes from.
const PAIRS_MAX: usize = 4;

/// The maximum number of bytes of an indentation to compare.
const INDENTATION_MAX: usize = 256;

/// A uniform change of indentation: the new indentation of a line depends only on its old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indentation {
    /// One tab for `width` columns, and spaces for the remaining columns.
    Tabs {
        width: usize,
    },
    /// Spaces up to the next of the tab stops, which are `width` columns apart, for each tab.
    Spaces {
        width: usize,
    },
    /// `new` spaces for each `old` spaces. The remaining spaces stay.
    Scaled {
        new: usize,
        old: usize,
    },
    More(Blanks),
    /// A line that begins with other white space stays.
    Fewer(Blanks),
}

impl Indentation {
    /// Appends the changed indentation of a line that has the indentation `old`.
    pub(super) fn push_changed(self, old: &[u8], out: &mut Vec<u8>) {
        let mut push = |byte: u8, count: usize| out.resize(out.len() + count, byte);
        match self {
            Self::Tabs { width } => {
                let columns = columns(old, width);
                push(b'\t', columns / width);
                push(b' ', columns % width);
            }
            Self::Spaces { width } => push(b' ', columns(old, width)),
            Self::Scaled { old: unit, new } if !old.contains(&b'\t') => {
                push(b' ', old.len() / unit * new + old.len() % unit);
            }
            Self::Scaled { .. } => out.extend_from_slice(old),
            Self::More(blanks) => {
                blanks.push_to(out);
                out.extend_from_slice(old);
            }
            Self::Fewer(blanks) => out.extend_from_slice(blanks.strip_from(old)),
        }
    }

    /// Returns the change that explains the indentation of the most lines, if it explains more
    /// lines than no change. Compares lines with equal content.
    pub(super) fn infer(covering: &[u8], text: &[u8]) -> Option<Self> {
        // The lines of each pair of indentations, the old one first. A content that the covering
        // text has at several depths decides nothing.
        let mut depths: HashMap<&[u8], Option<&[u8]>, RandomState> = HashMap::default();
        for line in line_parts(covering) {
            let depth = depths.entry(line.content).or_insert(Some(line.indentation));
            *depth = depth.filter(|depth| *depth == line.indentation);
        }
        let mut pairs: BTreeMap<(&[u8], &[u8]), usize> = BTreeMap::new();
        for line in line_parts(text).filter(|line| !line.content.is_empty()) {
            let Some(Some(old)) = depths.get(line.content) else { continue };
            if old.len().max(line.indentation.len()) <= INDENTATION_MAX {
                *pairs.entry((old, line.indentation)).or_default() += 1;
            }
        }
        let mut different: Vec<_> = pairs.iter().filter(|((old, new), _)| old != new).collect();
        different.sort_by_key(|(_, count)| Reverse(**count));
        different.truncate(PAIRS_MAX);
        // The least depth tells the unit of indentation.
        different.sort_by_key(|((old, new), _)| old.len() + new.len());
        let explained = |change: Self| -> usize {
            let is_explained = |(old, new): (&[u8], &[u8])| {
                let mut changed = Vec::new();
                change.push_changed(old, &mut changed);
                changed == new
            };
            pairs.iter().filter(|(pair, _)| is_explained(**pair)).map(|(_, count)| count).sum()
        };
        let unchanged = pairs.iter().filter(|((old, new), _)| old == new);
        let mut most = unchanged.map(|(_, count)| count).sum();
        let mut tried = Vec::new();
        let mut best = None;
        for change in different.iter().flat_map(|((old, new), _)| Self::of_pair(old, new)) {
            if tried.contains(&change) {
                continue;
            }
            tried.push(change);
            let count = explained(change);
            if count > most {
                (most, best) = (count, Some(change));
            }
        }
        best
    }

    /// Returns the changes that explain a pair of indentations.
    fn of_pair(old: &[u8], new: &[u8]) -> Vec<Self> {
        let [old_tabs, new_tabs] = [old, new].map(|blanks| {
            let tabs = blanks.iter().take_while(|byte| **byte == b'\t').count();
            // A tab after a space is not a unit of indentation.
            (!blanks[tabs..].contains(&b'\t')).then_some(tabs)
        });
        let mut changes = Vec::new();
        // The width of a tab, if `spaces` are the columns of `tabs` tabs and some spaces.
        let width = |spaces: &[u8], tabs: usize, mixed: &[u8]| {
            let columns = spaces.len().checked_sub(mixed.len() - tabs)?;
            columns.checked_div(tabs).filter(|width| (1..=WIDTH_MAX).contains(width))
        };
        match (old_tabs, new_tabs) {
            (Some(0), Some(0)) => {
                // The same change with smaller units.
                for unit in (1..=WIDTH_MAX).rev().filter(|unit| old.len().is_multiple_of(*unit)) {
                    let units = old.len() / unit;
                    let new =
                        new.len().checked_div(units).filter(|_| new.len().is_multiple_of(units));
                    let new = new.filter(|new| (1..=WIDTH_MAX).contains(new));
                    changes.extend(new.map(|new| Self::Scaled { new, old: unit }));
                }
            }
            (Some(0), Some(tabs)) => {
                changes.extend(width(old, tabs, new).map(|width| Self::Tabs { width }));
            }
            (Some(tabs), Some(0)) => {
                changes.extend(width(new, tabs, old).map(|width| Self::Spaces { width }));
            }
            _ => {}
        }
        let more = new.strip_suffix(old).and_then(Blanks::new).map(Self::More);
        let fewer = old.strip_suffix(new).and_then(Blanks::new).map(Self::Fewer);
        changes.extend(more.into_iter().chain(fewer));
        changes
    }
}

/// Returns the columns of an indentation, with tab stops `width` columns apart.
fn columns(indentation: &[u8], width: usize) -> usize {
    indentation.iter().fold(0, |columns, byte| match byte {
        b'\t' => (columns / width + 1) * width,
        _ => columns + 1,
    })
}

//! The passages of a text: functions, small types and the lines between them, which together cover
//! all lines.

use std::ops::RangeInclusive;

use lcp_ingest::outline::{Definition, DefinitionKind, definitions};
use lcp_types::limits::PASSAGES_MAX;

use crate::document::Document;
use crate::parameters::PASSAGE_LINES;
use crate::scan::{DictionaryTerms, Scanner, TermCounts};
use crate::text_index::TextIndex;

/// A type with functions in it that is not longer stays one passage.
const TYPE_LINES_MAX: usize = 40;

/// The maximum number of lines of a section outside of functions, before long ones are divided.
const GAP_LINES_MAX: usize = 60;

/// The maximum number of lines of comments and attributes above a definition.
const COMMENT_LINES_MAX: usize = 200;

/// A run of fewer lines outside of functions joins the passage before it.
const GAP_LINES_MIN: usize = 3;

/// The mean number of bytes of a token.
pub(crate) const BYTES_PER_TOKEN: f64 = 3.9;

/// The passages of a file, with the terms in them.
#[derive(Clone, Debug)]
pub(crate) struct FilePassages {
    pub(crate) path: String,
    pub(crate) passages: Vec<PassageCounts>,
}

/// A passage with the terms in it. The name of its definition is the field
/// [`Field::Name`](crate::scan::Field::Name).
#[derive(Clone, Debug)]
pub(crate) struct PassageCounts {
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    /// `true` if it is outside of definitions.
    pub(crate) is_unnamed: bool,
    pub(crate) tokens: f64,
    pub(crate) counts: TermCounts,
}

/// A passage with the identifiers in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassageIndex {
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    pub(crate) bytes: usize,
    /// The name of its definition; empty if it has none.
    pub(crate) name: String,
    pub(crate) text: TextIndex,
}

impl FilePassages {
    /// Counts the terms in the passages of a file.
    pub(crate) fn new(
        scanner: &Scanner<'_>,
        path: &str,
        passages: &[PassageIndex],
        dictionary: &DictionaryTerms,
    ) -> Self {
        let passages = passages.iter().map(|passage| PassageCounts {
            first_line: passage.first_line,
            last_line: passage.last_line,
            is_unnamed: passage.name.is_empty(),
            tokens: passage.bytes as f64 / BYTES_PER_TOKEN,
            counts: scanner.scan(&passage.name, &passage.text, dictionary),
        });
        Self { path: path.to_owned(), passages: passages.collect() }
    }
}

/// Divides a document into passages, and calls `index` with each. A document that is not parsed has only
/// runs of lines.
pub(crate) fn index_passages<'d>(
    document: &Document<'d>,
    is_parsed: bool,
    mut index: impl FnMut(&'d str) -> TextIndex,
) -> Vec<PassageIndex> {
    let text = document.text;
    let definitions = if is_parsed { definitions(document.kind, text) } else { Vec::new() };
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let passage = |section: Section| {
        let (first_line, last_line) = (*section.lines.start(), *section.lines.end());
        let end = starts.get(last_line).copied().unwrap_or(text.len());
        let text = &text[starts[first_line - 1]..end];
        let (bytes, name) = (text.len(), section.name);
        PassageIndex { first_line, last_line, bytes, name, text: index(text) }
    };
    let sections = sections(text, &definitions).into_iter().flat_map(Section::pieces);
    sections.take(PASSAGES_MAX).map(passage).collect()
}

/// A range of lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The lines, from 1.
    pub(crate) lines: RangeInclusive<usize>,
    /// The name of its definition; empty if it has none.
    pub(crate) name: String,
}

impl Section {
    /// Divides a long section into pieces of equal length.
    fn pieces(self) -> impl Iterator<Item = Self> {
        let (first, last) = (*self.lines.start(), *self.lines.end());
        let lines = last + 1 - first;
        let is_long = 2 * lines > 3 * PASSAGE_LINES;
        let pieces = if is_long { (2 * lines + PASSAGE_LINES) / (2 * PASSAGE_LINES) } else { 1 };
        (0..pieces).map(move |at| Self {
            lines: first + lines * at / pieces..=first + lines * (at + 1) / pieces - 1,
            name: self.name.clone(),
        })
    }
}

/// Divides the lines of a text at its definitions. Comments and attributes above a definition
/// belong to it.
pub(crate) fn sections(text: &str, definitions: &[Definition]) -> Vec<Section> {
    let lines: Vec<_> = text.lines().collect();
    let owners = owners(&lines, definitions);
    let mut sections: Vec<Section> = Vec::new();
    let mut start = 0;
    for line in 0..lines.len() {
        let is_gap = owners[line].is_none_or(|owner| !owner.is_leaf);
        let ends = owners.get(line + 1) != Some(&owners[line]);
        let is_full = is_gap && line - start + 1 >= GAP_LINES_MAX;
        if !(ends || is_full) {
            continue;
        }
        match sections.last_mut() {
            Some(last) if is_gap && line - start + 1 < GAP_LINES_MIN => {
                last.lines = *last.lines.start()..=line + 1;
            }
            _ => {
                let name = owners[line].map(|owner| definitions[owner.definition].name.clone());
                let lines = start + 1..=line + 1;
                sections.push(Section { lines, name: name.unwrap_or_default() });
            }
        }
        start = line + 1;
    }
    sections
}

/// The definition that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    definition: usize,
    /// `true` if the definition is not divided.
    is_leaf: bool,
}

fn owners(lines: &[&str], definitions: &[Definition]) -> Vec<Option<Owner>> {
    let mut owners: Vec<Option<Owner>> = vec![None; lines.len()];
    for (at, one) in definitions.iter().enumerate() {
        let first = first_line(lines, one.first_line);
        let within =
            definitions[at + 1..].iter().take_while(|inner| inner.first_line <= one.last_line);
        let has_functions = within.take(TYPE_LINES_MAX).any(|inner| {
            inner.kind == DefinitionKind::Function && inner.last_line <= one.last_line
        });
        let is_leaf = one.kind == DefinitionKind::Function
            || !has_functions
            || one.last_line - first < TYPE_LINES_MAX;
        let owner = Owner { definition: at, is_leaf };
        let end = one.last_line.min(lines.len());
        for line in owners.iter_mut().take(end).skip(first - 1) {
            if line.is_none_or(|known| !known.is_leaf) {
                *line = Some(owner);
            }
        }
    }
    owners
}

/// Returns the line at which the comments and attributes above a definition begin.
fn first_line(lines: &[&str], definition: usize) -> usize {
    let above = lines[..definition - 1].iter().rev().take(COMMENT_LINES_MAX);
    let is_part = |line: &&&str| {
        ["//", "#", "@", "*", "/*"].iter().any(|it| line.trim_start().starts_with(it))
    };
    definition - above.take_while(is_part).count()
}

pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use lcp_ingest::outline::{InputKind, definitions};
    use lcp_types::Lang;

    use super::*;

    #[test]
    fn functions_are_sections_with_their_comments() {
        let text = "use a;\nuse b;\nuse c;\n\n/// Opens.\nfn open() {\n    a();\n}\n\n#[test]\nfn close() {\n}\n";
        let definitions = definitions(InputKind::Code(Lang::Rust), text);
        let sections = sections(text, &definitions);
        let found: Vec<_> =
            sections.iter().map(|one| (one.lines.clone(), one.name.as_str())).collect();
        assert_eq!(found, [(1..=4, ""), (5..=9, "open"), (10..=12, "close")]);
    }

    #[test]
    fn long_sections_are_divided_into_equal_pieces() {
        let pieces = |lines: usize| -> Vec<_> {
            let section = Section { lines: 11..=10 + lines, name: "open".to_owned() };
            section.pieces().map(|piece| piece.lines).collect()
        };
        assert_eq!(pieces(45), [11..=55]);
        assert_eq!(pieces(46), [11..=33, 34..=56]);
        assert_eq!(pieces(90), [11..=40, 41..=70, 71..=100]);
    }

    #[test]
    fn sections_cover_all_lines_of_any_text() {
        for lines in [0, 1, 59, 60, 61, 500] {
            let text = "x\n".repeat(lines);
            let sections = sections(&text, &[]);
            let mut next = 1;
            for section in &sections {
                assert_eq!(*section.lines.start(), next);
                next = section.lines.end() + 1;
            }
            assert_eq!(next, lines + 1);
        }
    }
}

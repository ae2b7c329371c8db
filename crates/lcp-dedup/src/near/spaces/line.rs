//! Lines as white space and content.

use super::super::lines::split_lines;

/// The maximum number of spaces or tabs that a description may add to a line or write for one
/// tab, so that a description cannot request a huge text.
pub(super) const WIDTH_MAX: usize = 16;

/// The newline of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Lf,
    CrLf,
}

impl Ending {
    pub(super) const fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }
}

/// A line. Spaces and tabs of a line without content are trailing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineParts<'l> {
    pub(super) indentation: &'l [u8],
    pub(super) content: &'l [u8],
    pub(super) trailing: &'l [u8],
    /// `None` for a last line without a newline.
    pub(super) ending: Option<Ending>,
}

/// Splits a text into the parts of its lines.
pub(super) fn line_parts(text: &[u8]) -> impl Iterator<Item = LineParts<'_>> {
    split_lines(text).map(|line| {
        let (line, ending) = match line.strip_suffix(b"\n") {
            None => (line, None),
            Some(rest) => match rest.strip_suffix(b"\r") {
                None => (rest, Some(Ending::Lf)),
                Some(rest) => (rest, Some(Ending::CrLf)),
            },
        };
        let is_content = |byte: &u8| !matches!(byte, b' ' | b'\t');
        let end = line.iter().rposition(is_content).map_or(0, |last| last + 1);
        let start = line[..end].iter().position(is_content).unwrap_or(0);
        LineParts {
            indentation: &line[..start],
            content: &line[start..end],
            trailing: &line[end..],
            ending,
        }
    })
}

/// A number of spaces, or of tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Blanks {
    /// From 1 to [`WIDTH_MAX`].
    pub(super) count: usize,
    pub(super) is_tab: bool,
}

impl Blanks {
    /// Returns the blanks that make up the text; `None` if they differ or are too many.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let (first, rest) = text.split_first()?;
        let is_uniform = matches!(first, b' ' | b'\t') && rest.iter().all(|byte| byte == first);
        let blanks = Self { count: text.len(), is_tab: *first == b'\t' };
        (is_uniform && blanks.count <= WIDTH_MAX).then_some(blanks)
    }

    pub(super) fn push_to(self, text: &mut Vec<u8>) {
        text.resize(text.len() + self.count, self.byte());
    }

    /// Returns the text without these blanks at its start. A text that lacks them is unchanged.
    pub(super) fn strip_from(self, text: &[u8]) -> &[u8] {
        match text.split_at_checked(self.count) {
            Some((blanks, rest)) if blanks.iter().all(|byte| *byte == self.byte()) => rest,
            _ => text,
        }
    }

    const fn byte(self) -> u8 {
        if self.is_tab { b'\t' } else { b' ' }
    }
}

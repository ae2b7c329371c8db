//! Types of outlines.

use lcp_types::Lang;

/// The marker that stands for lines left out.
pub const MARKER: &str = "…";

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// Code of a language. Markdown counts as [`InputKind::Document`].
    Code(Lang),
    /// Prose with headings, as Markdown has them.
    Document,
    /// Anything else: a log, the output of a tool.
    Text,
}

impl InputKind {
    /// Returns the language that a summarizer program is given.
    #[cfg(feature = "summaries")]
    pub(crate) fn language(self) -> Option<&'static str> {
        match self {
            Self::Code(lang) => lang.name(),
            Self::Document => Lang::Markdown.name(),
            Self::Text => None,
        }
    }
}

/// The bounds of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineOptions {
    /// Bytes of an outline: 64 KiB. It ends with a marker where there is more.
    pub bytes_max: usize,
    /// The largest part of the text that an outline may be, in percent of bytes: 80.
    pub percent_max: u8,
    /// Lines kept of the start of a text that is neither code nor a document: 12.
    pub first_lines: usize,
    /// Lines kept of its end: 8.
    pub last_lines: usize,
}

impl Default for OutlineOptions {
    fn default() -> Self {
        Self { bytes_max: 64 << 10, percent_max: 80, first_lines: 12, last_lines: 8 }
    }
}

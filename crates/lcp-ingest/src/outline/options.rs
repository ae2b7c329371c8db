//! The options of outlines.

use lcp_types::{DataFormat, Lang};

/// The marker for omitted text.
pub const MARKER: &str = "…";

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// Code in a language. Markdown counts as [`InputKind::Document`].
    Code(Lang),
    /// Code in a language that a block names by a tag: one of
    /// [`Tag::LANGS`](lcp_types::Tag::LANGS).
    TaggedCode(&'static str),
    /// Prose with Markdown headings.
    Document,
    /// A table or a list of records in a format.
    Records(DataFormat),
    /// Any other text, such as a log or the output of a tool.
    Text,
}

impl InputKind {
    /// Returns the name of the language for a summarizer program.
    #[cfg(feature = "summaries")]
    pub(crate) fn language(self) -> Option<&'static str> {
        match self {
            Self::Code(lang) => lang.name(),
            Self::TaggedCode(name) => Some(name),
            Self::Document => Lang::Markdown.name(),
            Self::Records(format) => format.name(),
            Self::Text => None,
        }
    }
}

/// The limits of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineOptions {
    /// The maximum size of an outline in bytes. The default is 64 KiB. A longer outline is cut and
    /// ends with a marker.
    pub bytes_max: usize,
    /// The maximum size of an outline in percent of the bytes of the text. The default is 80.
    pub percent_max: u8,
    /// The number of lines at the start of a plain text that the outline includes. The default is
    /// 12.
    pub first_lines: usize,
    /// The number of lines at the end of a plain text that the outline includes. The default is 8.
    pub last_lines: usize,
}

impl Default for OutlineOptions {
    fn default() -> Self {
        Self { bytes_max: 64 << 10, percent_max: 80, first_lines: 12, last_lines: 8 }
    }
}

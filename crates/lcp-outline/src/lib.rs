//! Outlines without a model: what a text says of itself, shorter (RFC 0010 §4).
//!
//! Start at [`outline`]. Of code it keeps the declarations and leaves bodies and imports
//! out, of documents the headings and the first sentence below each, of anything else
//! the first and last lines. What it keeps are lines of the text itself, in order and
//! indented as there; `…` stands for what is left out.
//!
//! Each language is a feature and brings its tree-sitter grammar, in C. Code of any other
//! has the outline of any text.

#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, reason = "each language needs another part of the engine")
)]

#[cfg(feature = "tree-sitter")]
mod code;
mod document;
mod ends;
mod page;

use lcp_types::Lang;
use lcp_types::limits::{OUTLINE_BYTES_MAX, SUMMARY_BYTES_MAX};

use page::Page;

/// What stands for something that is left out.
pub const MARKER: &str = "…";

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Code of a language. Markdown counts as [`Kind::Document`].
    Code(Lang),
    /// Prose with headings, as Markdown has them.
    Document,
    /// Anything else: a log, the output of a tool.
    Text,
}

/// How much an outline may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of an outline: 64 KiB. It ends with a marker where there is more.
    pub bytes_max: usize,
    /// The largest part of the text that an outline may be, in percent of bytes: 80.
    pub percent_max: u8,
    /// Lines kept of the start of a text that is neither code nor a document: 12.
    pub first_lines: usize,
    /// Lines kept of its end: 8.
    pub last_lines: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { bytes_max: 64 << 10, percent_max: 80, first_lines: 12, last_lines: 8 }
    }
}

/// The outline of a text, without a newline at its end; `None` where it would not be
/// smaller than [`Options::percent_max`] says, or there is nothing to keep.
///
/// Code that its grammar cannot read keeps what could be read. Code without a
/// declaration, a document without a heading, and code that is larger than
/// `OUTLINE_BYTES_MAX` or takes its grammar too long have the outline of any text. The
/// same text gives the same outline on any machine: work is counted, not timed.
///
/// ```
/// use lcp_outline::{Kind, Options, outline};
///
/// let text = "# Ships\n\nThey sail. Some sink.\n\n## Sails\n\nMade of cloth, by hand. Old.\n";
/// let outline = outline(Kind::Document, text, &Options::default());
/// assert_eq!(
///     outline.as_deref(),
///     Some("# Ships\nThey sail.\n## Sails\nMade of cloth, by hand.")
/// );
/// ```
#[must_use]
pub fn outline(kind: Kind, text: &str, options: &Options) -> Option<String> {
    let bytes_max = options.bytes_max.min(usize::try_from(SUMMARY_BYTES_MAX).unwrap_or(usize::MAX));
    let of = |fill: &dyn Fn(&mut Page<'_>) -> bool| {
        let mut page = Page::new(text, bytes_max);
        fill(&mut page).then(|| page.finish())
    };
    let special = match kind {
        Kind::Document | Kind::Code(Lang::Markdown) => of(&document::fill),
        Kind::Code(lang) if text.len() as u64 <= OUTLINE_BYTES_MAX => code(lang, text, &of),
        Kind::Code(_) | Kind::Text => None,
    };
    let outline = special.or_else(|| of(&|page| ends::fill(page, options)))?;
    let is_smaller =
        outline.len() as u128 * 100 <= text.len() as u128 * u128::from(options.percent_max);
    (is_smaller && !outline.is_empty()).then_some(outline)
}

/// Fills a page by a function that says whether there is anything on it.
type Filled<'f> = &'f dyn Fn(&dyn Fn(&mut Page<'_>) -> bool) -> Option<String>;

#[cfg(feature = "tree-sitter")]
fn code(lang: Lang, text: &str, of: Filled<'_>) -> Option<String> {
    let code = code::Code::read(lang, text)?;
    of(&|page| code.fill(page))
}

/// There are no grammars.
#[cfg(not(feature = "tree-sitter"))]
fn code(_: Lang, _: &str, _: Filled<'_>) -> Option<String> {
    None
}

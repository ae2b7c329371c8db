//! Outlines: the most informative lines of a text, selected without a model (RFC 0010 §4).
//!
//! Start at [`outline`]. The outline of code has its declarations, without bodies and imports. The
//! outline of a document has its headings and the first sentence below each. The outline of any
//! table or a list of records has its header or keys, its first records and their number. The outline
//! of any other text has its first and last lines. All other lines are taken from the text, in order and with
//! their indentation. `…` marks omitted text.
//!
//! Each language is a feature that adds its tree-sitter grammar, which is written in C. Code in
//! other languages gets the outline of plain text.

#![cfg_attr(
    not(feature = "outline"),
    allow(dead_code, unused_imports, reason = "each language needs another part of the engine")
)]

mod builder;
#[cfg(feature = "tree-sitter")]
mod code;
mod definition;
mod document;
mod options;
mod records;

use lcp_types::Lang;
use lcp_types::limits::{OUTLINE_BYTES_MAX, SUMMARY_BYTES_MAX};

use builder::OutlineBuilder;
pub use definition::{Definition, DefinitionKind};
pub use options::{InputKind, MARKER, OutlineOptions};

/// Returns the outline of a text, or `None` if the outline is empty or larger than
/// [`OutlineOptions::percent_max`] allows.
///
/// Code without declarations, documents without headings, and code that is too large or too slow to
/// parse get the outline of plain text. The result is the same on any machine.
///
/// ```
/// use lcp_ingest::outline::{InputKind, OutlineOptions, outline};
///
/// let text = "# Ships\n\nThey sail. Some sink.\n\n## Sails\n\nMade of cloth, by hand. Old.\n";
/// let outline = outline(InputKind::Document, text, &OutlineOptions::default());
/// assert_eq!(
///     outline.as_deref(),
///     Some("# Ships\nThey sail.\n## Sails\nMade of cloth, by hand.")
/// );
/// ```
#[must_use]
pub fn outline(kind: InputKind, text: &str, options: &OutlineOptions) -> Option<String> {
    if let InputKind::Records(format) = kind {
        let outline = records::outline(format, text)?;
        return is_small(&outline, text, options).then_some(outline);
    }
    let bytes_max = options.bytes_max.min(usize::try_from(SUMMARY_BYTES_MAX).unwrap_or(usize::MAX));
    let mut builder = OutlineBuilder::new(text, bytes_max);
    let is_special = match kind {
        InputKind::Document | InputKind::Code(Lang::Markdown) => document::fill(&mut builder),
        _ if text.len() as u64 <= OUTLINE_BYTES_MAX => fill_code(kind, &mut builder),
        _ => false,
    };
    if !is_special {
        builder = OutlineBuilder::new(text, bytes_max);
        builder.push_head_and_tail(options.first_lines, options.last_lines);
    }
    let outline = builder.finish();
    (is_small(&outline, text, options) && !outline.is_empty()).then_some(outline)
}

/// Returns whether an outline is not larger than the options allow.
fn is_small(outline: &str, text: &str, options: &OutlineOptions) -> bool {
    outline.len() as u128 * 100 <= text.len() as u128 * u128::from(options.percent_max)
}

/// Adds the declarations of code. Returns whether there are any.
#[cfg(feature = "tree-sitter")]
fn fill_code(kind: InputKind, builder: &mut OutlineBuilder<'_>) -> bool {
    code::fill(kind, builder)
}

/// Returns `false`: without grammars, there are no declarations.
#[cfg(not(feature = "tree-sitter"))]
fn fill_code(_: InputKind, _: &mut OutlineBuilder<'_>) -> bool {
    false
}

/// Returns the definitions of code in the order of their first lines, outer ones first. The list is
/// empty without a grammar of the language, and for code that is too large or too slow to parse.
#[must_use]
pub fn definitions(kind: InputKind, text: &str) -> Vec<Definition> {
    if text.len() as u64 > OUTLINE_BYTES_MAX {
        return Vec::new();
    }
    #[cfg(feature = "tree-sitter")]
    return code::definitions(kind, text);
    #[cfg(not(feature = "tree-sitter"))]
    {
        let _ = kind;
        Vec::new()
    }
}

/// Returns the number of grammars that [`definitions`] can try for a text of this kind.
#[must_use]
pub fn grammars(kind: InputKind) -> usize {
    #[cfg(feature = "tree-sitter")]
    return code::grammars(kind);
    #[cfg(not(feature = "tree-sitter"))]
    {
        let _ = kind;
        0
    }
}

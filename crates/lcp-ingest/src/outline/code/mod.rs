//! Outlines of code: the declarations, found by tree-sitter grammars.

mod item;
mod language;
mod languages;
mod parse;
mod walk;

use tree_sitter::Tree;

use crate::outline::builder::OutlineBuilder;
use crate::outline::options::InputKind;
use language::Language;

/// Adds the declarations of code. Returns whether there are any.
///
/// If a language has several dialects, the one with the fewest syntax errors is used. Without a
/// grammar, or if parsing takes too long in each dialect, nothing is added.
pub(super) fn fill(kind: InputKind, builder: &mut OutlineBuilder<'_>) -> bool {
    let dialects = match kind {
        InputKind::Code(lang) => languages::dialects(lang),
        InputKind::TaggedCode(name) => languages::tagged(name),
        InputKind::Document | InputKind::Records(_) | InputKind::Text => &[],
    };
    let mut best: Option<(usize, &Language, Tree)> = None;
    for language in dialects {
        let Some(tree) = parse::parse(&(language.grammar)(), builder.text()) else { continue };
        let errors = parse::error_bytes(&tree);
        if best.as_ref().is_none_or(|(least, ..)| errors < *least) {
            best = Some((errors, language, tree));
        }
        if errors == 0 {
            break;
        }
    }
    best.is_some_and(|(_, language, tree)| walk::fill(builder, language, &tree))
}

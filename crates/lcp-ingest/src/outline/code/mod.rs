//! Outlines of code: the declarations, found by tree-sitter grammars.

mod definitions;
mod item;
mod language;
mod languages;
mod parse;
mod walk;

use tree_sitter::Tree;

use crate::outline::builder::OutlineBuilder;
use crate::outline::definition::Definition;
use crate::outline::options::InputKind;
use language::Language;

/// Adds the declarations of code. Returns whether there are any.
///
/// Without a grammar, or if parsing takes too long in each dialect, nothing is added.
pub(super) fn fill(kind: InputKind, builder: &mut OutlineBuilder<'_>) -> bool {
    parse_best(kind, builder.text())
        .is_some_and(|(language, tree)| walk::fill(builder, language, &tree))
}

/// Returns the definitions of code. The list is empty if the code cannot be parsed.
pub(super) fn definitions(kind: InputKind, text: &str) -> Vec<Definition> {
    parse_best(kind, text)
        .map(|(language, tree)| definitions::definitions(text, language, &tree))
        .unwrap_or_default()
}

/// Returns the number of grammars that can be tried for a text of this kind.
pub(super) fn grammars(kind: InputKind) -> usize {
    dialects(kind).len()
}

/// Parses a text. If a language has several dialects, the one with the fewest syntax errors is
/// used.
fn parse_best(kind: InputKind, text: &str) -> Option<(&'static Language, Tree)> {
    let mut best: Option<(usize, &'static Language, Tree)> = None;
    for language in dialects(kind) {
        let Some(tree) = parse::parse(&(language.grammar)(), text) else { continue };
        let errors = parse::error_bytes(&tree);
        if best.as_ref().is_none_or(|(least, ..)| errors < *least) {
            best = Some((errors, language, tree));
        }
        if errors == 0 {
            break;
        }
    }
    best.map(|(_, language, tree)| (language, tree))
}

/// Returns the languages to try for a text, the most likely first.
fn dialects(kind: InputKind) -> &'static [&'static Language] {
    match kind {
        InputKind::Code(lang) => languages::dialects(lang),
        InputKind::TaggedCode(name) => languages::tagged(name),
        InputKind::Document | InputKind::Records(_) | InputKind::Text => &[],
    }
}

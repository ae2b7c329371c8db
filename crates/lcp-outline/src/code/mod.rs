//! Code: its declarations, as a grammar finds them.

mod item;
mod language;
mod languages;
mod parse;
mod walk;

use lcp_types::Lang;
use tree_sitter::Tree;

use crate::Page;
use language::Language;

/// A text that a grammar has read.
pub(crate) struct Code {
    language: &'static Language,
    tree: Tree,
}

impl Code {
    /// Reads a text by that of the dialects of its language which can read most of it;
    /// `None` without a grammar, or if each takes too long.
    pub(crate) fn read(lang: Lang, text: &str) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for language in languages::of(lang) {
            let Some(tree) = parse::parse(&(language.grammar)(), text) else { continue };
            let unread = parse::unread(&tree);
            if best.as_ref().is_none_or(|(least, _)| unread < *least) {
                best = Some((unread, Self { language, tree }));
            }
            if unread == 0 {
                break;
            }
        }
        best.map(|(_, code)| code)
    }

    /// Keeps its declarations. Whether there are any.
    pub(crate) fn fill(&self, page: &mut Page<'_>) -> bool {
        walk::fill(page, self.language, &self.tree)
    }
}

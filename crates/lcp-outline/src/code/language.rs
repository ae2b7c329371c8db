//! What the engine must know of a language.

use tree_sitter::Node;

/// What is done with a node of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Kept up to its body; all of it without one.
    Signature,
    /// Kept with what is declared in it: a type, a namespace.
    Members,
    /// Kept up to its value, unless that is short.
    Value,
    /// Only its first line is kept.
    Head,
    /// Kept as what it wraps: an export, decorators; all of it if that is nothing.
    Wrapper,
    /// Like a wrapper, but left out if it wraps nothing that is kept.
    Statement,
    /// Several in brackets, with what is declared in it; else a wrapper.
    Group,
    /// What is in it counts as if it stood in its place.
    Inside,
    /// An attribute of what follows.
    Attribute,
    /// A comment.
    Comment,
    /// Left out without a word: imports.
    Silent,
}

/// A declaration, for the questions that languages answer differently.
pub(super) struct Declared<'n, 't> {
    pub(super) text: &'t str,
    /// Where it stands, with what is wrapped around it.
    pub(super) outer: Node<'n>,
    pub(super) node: Node<'n>,
    /// The source of it, from the first byte of `outer`.
    pub(super) source: &'t str,
    /// The kind of node that it is declared in; empty at the top.
    pub(super) owner: &'n str,
    /// The attributes before it.
    pub(super) attributes: &'t str,
}

impl<'t> Declared<'_, 't> {
    /// The source of a field.
    pub(super) fn field(&self, name: &str) -> Option<&'t str> {
        self.text.get(self.node.child_by_field_name(name)?.byte_range())
    }
}

/// A language: kinds of nodes, by their names in its grammar.
pub(super) struct Language {
    pub(super) grammar: fn() -> tree_sitter::Language,
    /// What is done with nodes. Those that are not here are left out with a marker.
    pub(super) rules: &'static [(&'static str, Rule)],
    /// Bodies that are left out.
    pub(super) bodies: &'static [&'static str],
    /// Bodies with declarations in them.
    pub(super) members: &'static [&'static str],
    /// Nodes between a declaration and its members.
    pub(super) carriers: &'static [&'static str],
    /// Values that have a body.
    pub(super) functions: &'static [&'static str],
    /// Whether a comment documents what follows.
    pub(super) is_doc: fn(&str) -> bool,
    /// Whether a comment documents the file it stands in.
    pub(super) is_file_doc: fn(&str) -> bool,
    /// Whether a text at the start of a body documents it.
    pub(super) has_docstrings: bool,
    /// Whether others can use it, so that its documentation is kept.
    pub(super) is_public: fn(&Declared<'_, '_>) -> bool,
    /// Whether it is left out without a word, like an import.
    pub(super) is_silent: fn(&Declared<'_, '_>) -> bool,
    /// Whether what is declared in it is left out.
    pub(super) is_closed: fn(&Declared<'_, '_>) -> bool,
}

impl Language {
    pub(super) fn rule(&self, kind: &str) -> Option<Rule> {
        self.rules.iter().find(|(name, _)| *name == kind).map(|(_, rule)| *rule)
    }
}

/// Whether a comment is one for a documentation tool: `/** … */`.
pub(super) fn is_block_doc(comment: &str) -> bool {
    comment.starts_with("/**") && !comment.starts_with("/**/")
}

pub(super) fn never(_: &str) -> bool {
    false
}

pub(super) fn always(_: &str) -> bool {
    true
}

/// Whether it is a name that a preprocessor is told of, and nothing more.
#[cfg(any(feature = "c", feature = "cpp"))]
pub(super) fn is_flag(declared: &Declared<'_, '_>) -> bool {
    declared.node.kind() == "preproc_def" && declared.field("value").is_none()
}

pub(super) fn is_heard(_: &Declared<'_, '_>) -> bool {
    false
}

pub(super) fn is_open(_: &Declared<'_, '_>) -> bool {
    false
}

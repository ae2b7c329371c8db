//! The description of a language.

use tree_sitter::Node;

/// The treatment of a kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Kept up to its body; all of it without one.
    Signature,
    /// Kept with what is declared in it: a type, a namespace.
    Members,
    /// Kept up to its value, unless that is short.
    Value,
    /// Kept with its first line alone.
    FirstLine,
    /// Kept as what it wraps: an export, decorators; all of it if that is nothing.
    Wrapper,
    /// Like a wrapper, but left out if it wraps nothing that is kept.
    Statement,
    /// Several in brackets, with what is declared in it; else a wrapper.
    Group,
    /// Replaced by the nodes in it.
    Transparent,
    /// An attribute of what follows.
    Attribute,
    /// A comment.
    Comment,
    /// Left out without a marker: imports.
    Omit,
}

/// A declaration, for the questions that languages answer differently.
pub(super) struct Declaration<'n, 't> {
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

impl<'t> Declaration<'_, 't> {
    pub(super) fn field(&self, name: &str) -> Option<&'t str> {
        self.text.get(self.node.child_by_field_name(name)?.byte_range())
    }
}

/// A language: kinds of nodes, by their names in its grammar.
pub(super) struct Language {
    pub(super) grammar: fn() -> tree_sitter::Language,
    /// The treatments, with the kinds of nodes of each. Other nodes are left out with a marker.
    pub(super) rules: &'static [(Rule, &'static str)],
    /// Bodies that are left out.
    pub(super) bodies: &'static [&'static str],
    /// Bodies with declarations in them.
    pub(super) members: &'static [&'static str],
    /// Nodes between a declaration and its members.
    pub(super) containers: &'static [&'static str],
    /// Values that have a body.
    pub(super) functions: &'static [&'static str],
    /// Whether a comment documents what follows.
    pub(super) is_doc_comment: fn(&str) -> bool,
    /// Whether a comment documents its file.
    pub(super) is_file_doc_comment: fn(&str) -> bool,
    /// Whether a text at the start of a body documents it.
    pub(super) has_docstrings: bool,
    /// Whether others can use it, so that its documentation is kept.
    pub(super) is_public: fn(&Declaration<'_, '_>) -> bool,
    /// Whether it is left out without a marker, like an import.
    pub(super) is_omitted: fn(&Declaration<'_, '_>) -> bool,
    /// Whether the declarations in it are left out.
    pub(super) hides_members: fn(&Declaration<'_, '_>) -> bool,
}

impl Language {
    /// The base of all languages, which has no nodes.
    pub(super) const BASE: Self = Self {
        grammar: || unreachable!("each language has its own"),
        rules: &[],
        bodies: &[],
        members: &[],
        containers: &[],
        functions: &[],
        is_doc_comment: is_block_doc,
        is_file_doc_comment: |_| false,
        has_docstrings: false,
        is_public: |_| true,
        is_omitted: |_| false,
        hides_members: |_| false,
    };

    pub(super) fn rule(&self, kind: &str) -> Option<Rule> {
        let has_kind = |(_, kinds): &&(Rule, &str)| kinds.split(' ').any(|name| name == kind);
        self.rules.iter().find(has_kind).map(|(rule, _)| *rule)
    }
}

/// Returns whether a comment is for a documentation tool: `/** … */`.
pub(super) fn is_block_doc(comment: &str) -> bool {
    comment.starts_with("/**") && !comment.starts_with("/**/")
}

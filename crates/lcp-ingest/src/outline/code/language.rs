//! The description of a language for outlines.

use tree_sitter::Node;

/// The treatment of a kind of syntax node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Included up to its body, or completely if it has no body.
    Signature,
    /// Included with the declarations in it, such as a type or a namespace.
    Members,
    /// Included up to its value, or with the value if it is short.
    Value,
    /// Included with only its first line.
    FirstLine,
    /// Treated like the declaration that it wraps, such as an export or a decorated function.
    /// Included completely if it wraps no declaration.
    Wrapper,
    /// Treated like a wrapper, but left out if it wraps no declaration.
    Statement,
    /// A group of declarations in brackets, treated like [`Rule::Members`]. Without brackets,
    /// treated like a wrapper.
    Group,
    /// Replaced by its child nodes.
    Transparent,
    /// An attribute of the next declaration.
    Attribute,
    /// A comment.
    Comment,
    /// Left out without a marker: imports.
    Omit,
}

/// A declaration, as passed to the functions of a language.
pub(super) struct Declaration<'n, 't> {
    pub(super) text: &'t str,
    /// The declaration with its wrappers.
    pub(super) outer: Node<'n>,
    pub(super) node: Node<'n>,
    /// The source text of `outer`.
    pub(super) source: &'t str,
    /// The kind of the node that contains the declaration. It is empty at the top level.
    pub(super) owner: &'n str,
    /// The attributes before the declaration.
    pub(super) attributes: &'t str,
}

impl<'t> Declaration<'_, 't> {
    pub(super) fn field(&self, name: &str) -> Option<&'t str> {
        self.text.get(self.node.child_by_field_name(name)?.byte_range())
    }
}

/// A language, described by the names of node kinds in its grammar.
pub(super) struct Language {
    pub(super) grammar: fn() -> tree_sitter::Language,
    /// The treatments, each with its node kinds. Other nodes are left out with a marker.
    pub(super) rules: &'static [(Rule, &'static str)],
    /// The kinds of bodies to leave out.
    pub(super) bodies: &'static [&'static str],
    /// The kinds of bodies that contain declarations.
    pub(super) members: &'static [&'static str],
    /// The kinds of nodes between a declaration and its members.
    pub(super) containers: &'static [&'static str],
    /// The kinds of values that have a body.
    pub(super) functions: &'static [&'static str],
    /// Returns whether a comment documents the next declaration.
    pub(super) is_doc_comment: fn(&str) -> bool,
    /// Returns whether a comment documents its file.
    pub(super) is_file_doc_comment: fn(&str) -> bool,
    /// `true` if a string at the start of a body documents the declaration.
    pub(super) has_docstrings: bool,
    /// Returns whether a declaration is public, so that its documentation is included.
    pub(super) is_public: fn(&Declaration<'_, '_>) -> bool,
    /// Returns whether a declaration is left out without a marker, like an import.
    pub(super) is_omitted: fn(&Declaration<'_, '_>) -> bool,
    /// Returns whether the members of a declaration are left out.
    pub(super) hides_members: fn(&Declaration<'_, '_>) -> bool,
}

impl Language {
    /// The base of all languages, without any node kinds.
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

/// Returns whether a comment is for a documentation tool (`/** … */`).
pub(super) fn is_block_doc(comment: &str) -> bool {
    comment.starts_with("/**") && !comment.starts_with("/**/")
}

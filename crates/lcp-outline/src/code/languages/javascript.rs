//! JavaScript, and JSX.

use crate::code::language::Rule::{Comment, Members, Signature, Silent, Statement, Value, Wrapper};
use crate::code::language::{Declared, Language, is_block_doc, is_open, never};

pub(super) const JAVASCRIPT: Language = Language {
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    rules: &[
        ("assignment_expression", Value),
        ("class_declaration", Members),
        ("comment", Comment),
        ("empty_statement", Silent),
        ("export_statement", Wrapper),
        ("expression_statement", Statement),
        ("field_definition", Value),
        ("function_declaration", Signature),
        ("generator_function_declaration", Signature),
        ("hash_bang_line", Silent),
        ("import_statement", Silent),
        ("lexical_declaration", Value),
        ("method_definition", Signature),
        ("variable_declaration", Value),
    ],
    bodies: &["statement_block"],
    members: &["class_body"],
    carriers: &[],
    functions: &["arrow_function", "function_expression", "generator_function"],
    is_doc: is_block_doc,
    is_file_doc: never,
    has_docstrings: false,
    is_public: |declared| !declared.source.starts_with(['#', '_']),
    is_silent: is_required,
    is_closed: is_open,
};

/// `const name = require(…)`.
fn is_required(declared: &Declared<'_, '_>) -> bool {
    let value = declared.source.split_once('=').map(|(_, value)| value.trim_start());
    declared.node.kind().ends_with("_declaration")
        && value.is_some_and(|value| value.starts_with("require("))
}

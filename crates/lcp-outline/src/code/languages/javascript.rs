//! JavaScript, and JSX.

use crate::code::language::Rule::{
    Comment, Members, Signature, Silent, Statement, Value, Wrapper,
};
use crate::code::language::{Language, is_block_doc, is_open, never};

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
    is_closed: is_open,
};

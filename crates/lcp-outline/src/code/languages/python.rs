//! Python.

use crate::code::language::Rule::{Comment, Members, Signature, Silent, Statement, Value, Wrapper};
use crate::code::language::{Language, is_heard, is_open, never};

pub(super) const PYTHON: Language = Language {
    grammar: || tree_sitter_python::LANGUAGE.into(),
    rules: &[
        ("assignment", Value),
        ("class_definition", Members),
        ("comment", Comment),
        ("decorated_definition", Wrapper),
        ("expression_statement", Statement),
        ("function_definition", Signature),
        ("future_import_statement", Silent),
        ("import_from_statement", Silent),
        ("import_statement", Silent),
        ("pass_statement", Silent),
        ("type_alias_statement", Signature),
    ],
    bodies: &["block"],
    members: &["block"],
    carriers: &[],
    functions: &[],
    is_doc: never,
    is_file_doc: never,
    has_docstrings: true,
    is_public: |declared| declared.field("name").is_none_or(|name| !name.starts_with('_')),
    is_silent: is_heard,
    is_closed: is_open,
};

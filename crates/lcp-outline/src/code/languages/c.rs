//! C.

use crate::code::language::Rule::{Comment, Inside, Members, Signature, Silent, Value};
use crate::code::language::{Language, always, is_flag, is_open, never};

pub(super) const C: Language = Language {
    grammar: || tree_sitter_c::LANGUAGE.into(),
    rules: &[
        (";", Silent),
        ("comment", Comment),
        ("declaration", Value),
        ("declaration_list", Inside),
        ("enum_specifier", Members),
        ("enumerator", Signature),
        ("field_declaration", Value),
        ("function_definition", Signature),
        ("linkage_specification", Inside),
        ("preproc_call", Silent),
        ("preproc_def", Value),
        ("preproc_elif", Inside),
        ("preproc_elifdef", Inside),
        ("preproc_else", Inside),
        ("preproc_function_def", Value),
        ("preproc_if", Inside),
        ("preproc_ifdef", Inside),
        ("preproc_include", Silent),
        ("struct_specifier", Members),
        ("type_definition", Members),
        ("union_specifier", Members),
    ],
    bodies: &["compound_statement"],
    members: &["enumerator_list", "field_declaration_list"],
    carriers: &["enum_specifier", "struct_specifier", "union_specifier"],
    functions: &[],
    is_doc: always,
    is_file_doc: never,
    has_docstrings: false,
    is_public: |declared| !declared.source.starts_with("static"),
    is_silent: is_flag,
    is_closed: is_open,
};

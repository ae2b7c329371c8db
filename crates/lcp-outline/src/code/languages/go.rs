//! Go.

use crate::code::language::Rule::{Comment, Group, Members, Signature, Silent, Value};
use crate::code::language::{Declared, Language, always, is_heard, is_open, never};

pub(super) const GO: Language = Language {
    grammar: || tree_sitter_go::LANGUAGE.into(),
    rules: &[
        ("comment", Comment),
        ("const_declaration", Group),
        ("const_spec", Value),
        ("field_declaration", Signature),
        ("function_declaration", Signature),
        ("import_declaration", Silent),
        ("method_declaration", Signature),
        ("method_elem", Signature),
        ("package_clause", Signature),
        ("type_alias", Signature),
        ("type_declaration", Group),
        ("type_elem", Signature),
        ("type_spec", Members),
        ("var_declaration", Group),
        ("var_spec", Value),
        ("var_spec_list", Group),
    ],
    bodies: &["block"],
    members: &["field_declaration_list", "interface_type"],
    carriers: &["struct_type"],
    functions: &["func_literal"],
    is_doc: always,
    is_file_doc: never,
    has_docstrings: false,
    is_public,
    is_silent: is_heard,
    is_closed: is_open,
};

/// Exported: its name begins with a capital.
fn is_public(declared: &Declared<'_, '_>) -> bool {
    let name = match (declared.field("name"), declared.node.kind()) {
        (Some(name), _) => name,
        (None, "field_declaration") => declared.source,
        // The package, several at once.
        _ => return true,
    };
    name.starts_with(char::is_uppercase)
}

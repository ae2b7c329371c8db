//! TypeScript, and TSX.

use crate::code::language::Rule::{
    self, Comment, Members, Signature, Silent, Statement, Value, Wrapper,
};
use crate::code::language::{Declared, Language, is_block_doc, is_heard, is_open, never};

pub(super) const TYPESCRIPT: Language = of(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into());

pub(super) const TSX: Language = of(|| tree_sitter_typescript::LANGUAGE_TSX.into());

const RULES: &[(&str, Rule)] = &[
    ("abstract_class_declaration", Members),
    ("abstract_method_signature", Signature),
    ("ambient_declaration", Wrapper),
    ("assignment_expression", Value),
    ("call_signature", Signature),
    ("class_declaration", Members),
    ("comment", Comment),
    ("construct_signature", Signature),
    ("empty_statement", Silent),
    ("enum_assignment", Signature),
    ("enum_declaration", Members),
    ("export_statement", Wrapper),
    ("expression_statement", Statement),
    ("function_declaration", Signature),
    ("function_signature", Signature),
    ("generator_function_declaration", Signature),
    ("hash_bang_line", Silent),
    ("import_alias", Silent),
    ("import_statement", Silent),
    ("index_signature", Signature),
    ("interface_declaration", Members),
    ("internal_module", Members),
    ("lexical_declaration", Value),
    ("method_definition", Signature),
    ("method_signature", Signature),
    ("module", Members),
    ("property_identifier", Signature),
    ("property_signature", Signature),
    ("public_field_definition", Value),
    ("string", Signature),
    ("type_alias_declaration", Signature),
    ("variable_declaration", Value),
];

const fn of(grammar: fn() -> tree_sitter::Language) -> Language {
    Language {
        grammar,
        rules: RULES,
        bodies: &["statement_block"],
        members: &["class_body", "enum_body", "interface_body", "statement_block"],
        carriers: &[],
        functions: &["arrow_function", "function_expression", "generator_function"],
        is_doc: is_block_doc,
        is_file_doc: never,
        has_docstrings: false,
        is_public,
        is_silent: is_heard,
        is_closed: is_open,
    }
}

/// Exported, or part of something.
fn is_public(declared: &Declared<'_, '_>) -> bool {
    if declared.owner.is_empty() {
        return declared.outer.kind() == "export_statement";
    }
    !declared.source.starts_with("private") && !declared.source.starts_with(['#', '_'])
}

//! Rust.

use crate::code::language::Rule::{
    Attribute, Comment, Head, Members, Signature, Silent, Statement, Value,
};
use crate::code::language::{Declared, Language, is_block_doc};

pub(super) const RUST: Language = Language {
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    rules: &[
        ("attribute_item", Attribute),
        ("block_comment", Comment),
        ("const_item", Value),
        ("empty_statement", Silent),
        ("enum_item", Members),
        ("enum_variant", Members),
        ("expression_statement", Statement),
        ("extern_crate_declaration", Silent),
        ("field_declaration", Signature),
        ("foreign_mod_item", Members),
        ("function_item", Signature),
        ("function_signature_item", Signature),
        ("impl_item", Members),
        ("inner_attribute_item", Silent),
        ("line_comment", Comment),
        ("macro_definition", Head),
        ("macro_invocation", Head),
        ("mod_item", Members),
        ("static_item", Value),
        ("struct_item", Members),
        ("trait_item", Members),
        ("associated_type", Signature),
        ("type_item", Signature),
        ("union_item", Members),
        ("use_declaration", Signature),
    ],
    bodies: &["block"],
    members: &["declaration_list", "enum_variant_list", "field_declaration_list"],
    carriers: &[],
    functions: &[],
    is_doc: |comment| comment.starts_with("///") || is_block_doc(comment),
    is_file_doc: |comment| comment.starts_with("//!") || comment.starts_with("/*!"),
    has_docstrings: false,
    is_public: |declared| {
        let owners = ["trait_item", "enum_item", "enum_variant", "foreign_mod_item"];
        declared.source.starts_with("pub")
            || owners.contains(&declared.owner)
            || declared.node.kind() == "macro_definition"
    },
    is_silent: |declared| {
        declared.node.kind() == "use_declaration" && !declared.source.starts_with("pub")
    },
    is_closed: is_trait_or_tests,
};

/// What implements a trait says nothing that the trait does not; tests are for nobody
/// else.
fn is_trait_or_tests(declared: &Declared<'_, '_>) -> bool {
    match declared.node.kind() {
        "impl_item" => declared.field("trait").is_some(),
        "mod_item" => {
            declared.attributes.contains("cfg(test)")
                || matches!(declared.field("name"), Some("test" | "tests"))
        }
        _ => false,
    }
}

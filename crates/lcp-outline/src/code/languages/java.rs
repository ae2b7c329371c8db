//! Java.

use crate::code::language::Rule::{Comment, Inside, Members, Signature, Silent, Value};
use crate::code::language::{Declared, Language, is_block_doc, is_heard, never};

pub(super) const JAVA: Language = Language {
    grammar: || tree_sitter_java::LANGUAGE.into(),
    rules: &[
        ("annotation_type_declaration", Members),
        ("annotation_type_element_declaration", Signature),
        ("block_comment", Comment),
        ("class_declaration", Members),
        ("compact_constructor_declaration", Signature),
        ("constant_declaration", Value),
        ("constructor_declaration", Signature),
        ("enum_body_declarations", Inside),
        ("enum_constant", Members),
        ("enum_declaration", Members),
        ("field_declaration", Value),
        ("import_declaration", Silent),
        ("interface_declaration", Members),
        ("line_comment", Comment),
        ("method_declaration", Signature),
        ("module_declaration", Signature),
        ("package_declaration", Silent),
        ("record_declaration", Members),
    ],
    bodies: &["block", "constructor_body"],
    members: &["annotation_type_body", "class_body", "enum_body", "interface_body"],
    carriers: &[],
    functions: &[],
    is_doc: is_block_doc,
    is_file_doc: never,
    has_docstrings: false,
    is_public,
    is_silent: is_heard,
    is_closed: |declared| declared.node.kind() == "enum_constant",
};

/// Public, protected, or part of what others implement.
fn is_public(declared: &Declared<'_, '_>) -> bool {
    let owners = ["interface_declaration", "annotation_type_declaration"];
    let modifiers = declared.node.child(0).filter(|child| child.kind() == "modifiers");
    let modifiers = modifiers.and_then(|child| declared.text.get(child.byte_range()));
    owners.contains(&declared.owner)
        || declared.node.kind() == "enum_constant"
        || modifiers.is_some_and(|words| words.contains("public") || words.contains("protected"))
}

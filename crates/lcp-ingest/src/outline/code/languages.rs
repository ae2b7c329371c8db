//! The languages: a table each, and which grammars may read which.

use lcp_types::Lang;

use super::language::Language;
use super::language::Rule::{
    Attribute, Comment, FirstLine, Group, Members, Omit, Signature, Statement, Transparent, Value,
    Wrapper,
};
use super::language::{Declaration, is_block_doc};

/// Returns the grammars that a text may be written for, the likeliest first.
pub(super) fn dialects(lang: Lang) -> &'static [&'static Language] {
    match lang {
        // Headers of C++ are called like those of C.
        #[cfg(all(feature = "c", feature = "cpp"))]
        Lang::C => &[&C, &CPP],
        #[cfg(all(feature = "c", not(feature = "cpp")))]
        Lang::C => &[&C],
        #[cfg(feature = "cpp")]
        Lang::Cpp => &[&CPP],
        #[cfg(feature = "go")]
        Lang::Go => &[&GO],
        #[cfg(feature = "java")]
        Lang::Java => &[&JAVA],
        #[cfg(feature = "javascript")]
        Lang::JavaScript => &[&JAVASCRIPT],
        #[cfg(feature = "python")]
        Lang::Python => &[&PYTHON],
        #[cfg(feature = "rust")]
        Lang::Rust => &[&RUST],
        #[cfg(feature = "typescript")]
        Lang::TypeScript => &[&TYPESCRIPT, &TSX],
        _ => &[],
    }
}

#[cfg(feature = "c")]
const C: Language = Language { grammar: || tree_sitter_c::LANGUAGE.into(), ..C_FAMILY };

#[cfg(feature = "cpp")]
const CPP: Language = Language { grammar: || tree_sitter_cpp::LANGUAGE.into(), ..C_FAMILY };

/// C++, of which C has some of the nodes.
const C_FAMILY: Language = Language {
    rules: &[
        (";", Omit),
        ("access_specifier", Signature),
        ("alias_declaration", Signature),
        ("class_specifier", Members),
        ("comment", Comment),
        ("concept_definition", Signature),
        ("declaration", Value),
        ("declaration_list", Transparent),
        ("enum_specifier", Members),
        ("enumerator", Signature),
        ("field_declaration", Value),
        ("friend_declaration", Signature),
        ("function_definition", Signature),
        ("linkage_specification", Transparent),
        ("namespace_alias_definition", Signature),
        ("namespace_definition", Members),
        ("preproc_call", Omit),
        ("preproc_def", Value),
        ("preproc_elif", Transparent),
        ("preproc_elifdef", Transparent),
        ("preproc_else", Transparent),
        ("preproc_function_def", Value),
        ("preproc_if", Transparent),
        ("preproc_ifdef", Transparent),
        ("preproc_include", Omit),
        ("static_assert_declaration", Omit),
        ("struct_specifier", Members),
        ("template_declaration", Wrapper),
        ("template_instantiation", Signature),
        ("type_definition", Members),
        ("union_specifier", Members),
        ("using_declaration", Omit),
    ],
    bodies: &["compound_statement", "field_initializer_list", "try_statement"],
    members: &["declaration_list", "enumerator_list", "field_declaration_list"],
    containers: &["class_specifier", "enum_specifier", "struct_specifier", "union_specifier"],
    functions: &["lambda_expression"],
    is_doc_comment: |_| true,
    is_public: |declaration| !declaration.source.starts_with("static"),
    // A name for the preprocessor, and nothing more.
    is_omitted: |declaration| {
        declaration.node.kind() == "preproc_def" && declaration.field("value").is_none()
    },
    ..Language::BASE
};

#[cfg(feature = "go")]
const GO: Language = Language {
    grammar: || tree_sitter_go::LANGUAGE.into(),
    rules: &[
        ("comment", Comment),
        ("const_declaration", Group),
        ("const_spec", Value),
        ("field_declaration", Signature),
        ("function_declaration", Signature),
        ("import_declaration", Omit),
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
    containers: &["struct_type"],
    functions: &["func_literal"],
    is_doc_comment: |_| true,
    is_public: is_exported_in_go,
    ..Language::BASE
};

/// Returns whether its name begins with a capital.
fn is_exported_in_go(declaration: &Declaration<'_, '_>) -> bool {
    let name = match (declaration.field("name"), declaration.node.kind()) {
        (Some(name), _) => name,
        (None, "field_declaration") => declaration.source,
        // The package, several at once.
        _ => return true,
    };
    name.starts_with(char::is_uppercase)
}

#[cfg(feature = "java")]
const JAVA: Language = Language {
    grammar: || tree_sitter_java::LANGUAGE.into(),
    rules: &[
        ("annotation_type_declaration", Members),
        ("annotation_type_element_declaration", Signature),
        ("block_comment", Comment),
        ("class_declaration", Members),
        ("compact_constructor_declaration", Signature),
        ("constant_declaration", Value),
        ("constructor_declaration", Signature),
        ("enum_body_declarations", Transparent),
        ("enum_constant", Members),
        ("enum_declaration", Members),
        ("field_declaration", Value),
        ("import_declaration", Omit),
        ("interface_declaration", Members),
        ("line_comment", Comment),
        ("method_declaration", Signature),
        ("module_declaration", Signature),
        ("package_declaration", Omit),
        ("record_declaration", Members),
    ],
    bodies: &["block", "constructor_body"],
    members: &["annotation_type_body", "class_body", "enum_body", "interface_body"],
    is_public: is_public_in_java,
    hides_members: |declaration| declaration.node.kind() == "enum_constant",
    ..Language::BASE
};

/// Returns whether it is public, protected, or part of what others implement.
fn is_public_in_java(declaration: &Declaration<'_, '_>) -> bool {
    let owners = ["interface_declaration", "annotation_type_declaration"];
    let modifiers = declaration.node.child(0).filter(|child| child.kind() == "modifiers");
    let modifiers = modifiers.and_then(|child| declaration.text.get(child.byte_range()));
    owners.contains(&declaration.owner)
        || declaration.node.kind() == "enum_constant"
        || modifiers.is_some_and(|words| words.contains("public") || words.contains("protected"))
}

/// JavaScript, and JSX.
#[cfg(feature = "javascript")]
const JAVASCRIPT: Language = Language {
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    rules: &[
        ("assignment_expression", Value),
        ("class_declaration", Members),
        ("comment", Comment),
        ("empty_statement", Omit),
        ("export_statement", Wrapper),
        ("expression_statement", Statement),
        ("field_definition", Value),
        ("function_declaration", Signature),
        ("generator_function_declaration", Signature),
        ("hash_bang_line", Omit),
        ("import_statement", Omit),
        ("lexical_declaration", Value),
        ("method_definition", Signature),
        ("variable_declaration", Value),
    ],
    bodies: &["statement_block"],
    members: &["class_body"],
    functions: &["arrow_function", "function_expression", "generator_function"],
    is_public: |declaration| !declaration.source.starts_with(['#', '_']),
    // `const name = require(…)`.
    is_omitted: |declaration| {
        let value = declaration.source.split_once('=').map(|(_, value)| value.trim_start());
        declaration.node.kind().ends_with("_declaration")
            && value.is_some_and(|value| value.starts_with("require("))
    },
    ..Language::BASE
};

#[cfg(feature = "python")]
const PYTHON: Language = Language {
    grammar: || tree_sitter_python::LANGUAGE.into(),
    rules: &[
        ("assignment", Value),
        ("class_definition", Members),
        ("comment", Comment),
        ("decorated_definition", Wrapper),
        ("expression_statement", Statement),
        ("function_definition", Signature),
        ("future_import_statement", Omit),
        ("import_from_statement", Omit),
        ("import_statement", Omit),
        ("pass_statement", Omit),
        ("type_alias_statement", Signature),
    ],
    bodies: &["block"],
    members: &["block"],
    is_doc_comment: |_| false,
    has_docstrings: true,
    is_public: |declaration| declaration.field("name").is_none_or(|name| !name.starts_with('_')),
    ..Language::BASE
};

#[cfg(feature = "rust")]
const RUST: Language = Language {
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    rules: &[
        ("attribute_item", Attribute),
        ("block_comment", Comment),
        ("const_item", Value),
        ("empty_statement", Omit),
        ("enum_item", Members),
        ("enum_variant", Members),
        ("expression_statement", Statement),
        ("extern_crate_declaration", Omit),
        ("field_declaration", Signature),
        ("foreign_mod_item", Members),
        ("function_item", Signature),
        ("function_signature_item", Signature),
        ("impl_item", Members),
        ("inner_attribute_item", Omit),
        ("line_comment", Comment),
        ("macro_definition", FirstLine),
        ("macro_invocation", FirstLine),
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
    is_doc_comment: |comment| comment.starts_with("///") || is_block_doc(comment),
    is_file_doc_comment: |comment| comment.starts_with("//!") || comment.starts_with("/*!"),
    is_public: |declaration| {
        let owners = ["trait_item", "enum_item", "enum_variant", "foreign_mod_item"];
        declaration.source.starts_with("pub")
            || owners.contains(&declaration.owner)
            || declaration.node.kind() == "macro_definition"
    },
    is_omitted: |declaration| {
        declaration.node.kind() == "use_declaration" && !declaration.source.starts_with("pub")
    },
    hides_members: is_trait_impl_or_tests,
    ..Language::BASE
};

/// Returns whether it implements a trait, which documents its members, or has tests.
fn is_trait_impl_or_tests(declaration: &Declaration<'_, '_>) -> bool {
    match declaration.node.kind() {
        "impl_item" => declaration.field("trait").is_some(),
        "mod_item" => {
            declaration.attributes.contains("cfg(test)")
                || matches!(declaration.field("name"), Some("test" | "tests"))
        }
        _ => false,
    }
}

#[cfg(feature = "typescript")]
const TSX: Language =
    Language { grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(), ..TYPESCRIPT };

#[cfg(feature = "typescript")]
const TYPESCRIPT: Language = Language {
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    rules: &[
        ("abstract_class_declaration", Members),
        ("abstract_method_signature", Signature),
        ("ambient_declaration", Wrapper),
        ("assignment_expression", Value),
        ("call_signature", Signature),
        ("class_declaration", Members),
        ("comment", Comment),
        ("construct_signature", Signature),
        ("empty_statement", Omit),
        ("enum_assignment", Signature),
        ("enum_declaration", Members),
        ("export_statement", Wrapper),
        ("expression_statement", Statement),
        ("function_declaration", Signature),
        ("function_signature", Signature),
        ("generator_function_declaration", Signature),
        ("hash_bang_line", Omit),
        ("import_alias", Omit),
        ("import_statement", Omit),
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
    ],
    bodies: &["statement_block"],
    members: &["class_body", "enum_body", "interface_body", "statement_block"],
    functions: &["arrow_function", "function_expression", "generator_function"],
    // Exported, or part of something.
    is_public: |declaration| {
        if declaration.owner.is_empty() {
            return declaration.outer.kind() == "export_statement";
        }
        !declaration.source.starts_with("private") && !declaration.source.starts_with(['#', '_'])
    },
    ..Language::BASE
};

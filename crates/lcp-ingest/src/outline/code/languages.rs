//! The languages, each described by a constant.

use lcp_types::Lang;

use super::item;
use super::language::Language;
use super::language::Rule::{
    Attribute, Comment, FirstLine, Group, Members, Omit, Signature, Statement, Transparent, Value,
    Wrapper,
};
use super::language::{Declaration, is_block_doc};

/// Returns the language of a tag (one of `Tag::LANGS`), if it has a grammar.
pub(super) fn tagged(name: &str) -> &'static [&'static Language] {
    match name {
        #[cfg(feature = "csharp")]
        "csharp" => &[&CSHARP],
        #[cfg(feature = "kotlin")]
        "kotlin" => &[&KOTLIN],
        _ => &[],
    }
}

/// Returns the languages to try for a text, the most likely first.
pub(super) fn dialects(lang: Lang) -> &'static [&'static Language] {
    match lang {
        // Headers of C and C++ have the same extension.
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

/// The base of C and C++. C uses a part of the node kinds.
const C_FAMILY: Language = Language {
    rules: &[
        (
            Signature,
            "access_specifier alias_declaration concept_definition enumerator friend_declaration \
             function_definition namespace_alias_definition template_instantiation",
        ),
        (
            Members,
            "class_specifier enum_specifier namespace_definition struct_specifier \
             type_definition union_specifier",
        ),
        (Value, "declaration field_declaration preproc_def preproc_function_def"),
        (Wrapper, "template_declaration"),
        (
            Transparent,
            "declaration_list linkage_specification preproc_elif preproc_elifdef preproc_else \
             preproc_if preproc_ifdef",
        ),
        (Comment, "comment"),
        (Omit, "; preproc_call preproc_include static_assert_declaration using_declaration"),
    ],
    bodies: &["compound_statement", "field_initializer_list", "try_statement"],
    members: &["declaration_list", "enumerator_list", "field_declaration_list"],
    containers: &["class_specifier", "enum_specifier", "struct_specifier", "union_specifier"],
    functions: &["lambda_expression"],
    is_doc_comment: |_| true,
    is_public: |declaration| !declaration.source.starts_with("static"),
    // A definition without a value, such as an include guard.
    is_omitted: |declaration| {
        declaration.node.kind() == "preproc_def" && declaration.field("value").is_none()
    },
    ..Language::BASE
};

#[cfg(feature = "csharp")]
const CSHARP: Language = Language {
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    rules: &[
        (
            Signature,
            "constructor_declaration conversion_operator_declaration delegate_declaration \
             destructor_declaration file_scoped_namespace_declaration local_function_statement \
             method_declaration operator_declaration",
        ),
        (
            Members,
            "class_declaration enum_declaration interface_declaration namespace_declaration \
             record_declaration struct_declaration",
        ),
        (
            Value,
            "enum_member_declaration event_declaration event_field_declaration field_declaration \
             indexer_declaration property_declaration",
        ),
        (Statement, "global_statement"),
        (Transparent, "preproc_elif preproc_else preproc_if"),
        (Comment, "comment"),
        (
            Omit,
            "extern_alias_directive global_attribute preproc_define preproc_endregion \
             preproc_nullable preproc_pragma preproc_region preproc_undef shebang_directive \
             using_directive",
        ),
    ],
    bodies: &["arrow_expression_clause", "block"],
    members: &["declaration_list", "enum_member_declaration_list"],
    containers: &["variable_declaration"],
    functions: &["anonymous_method_expression", "lambda_expression"],
    is_doc_comment: |comment| comment.starts_with("///") || is_block_doc(comment),
    is_public: is_public_in_csharp,
    ..Language::BASE
};

/// Returns whether the declaration is public or protected, or a member of an enum or interface.
fn is_public_in_csharp(declaration: &Declaration<'_, '_>) -> bool {
    let owners = ["enum_declaration", "interface_declaration"];
    owners.contains(&declaration.owner)
        || modifiers(declaration, "modifier").any(|word| matches!(word, "public" | "protected"))
}

#[cfg(feature = "go")]
const GO: Language = Language {
    grammar: || tree_sitter_go::LANGUAGE.into(),
    rules: &[
        (
            Signature,
            "field_declaration function_declaration method_declaration method_elem \
             package_clause type_alias type_elem",
        ),
        (Members, "type_spec"),
        (Value, "const_spec var_spec"),
        (Group, "const_declaration type_declaration var_declaration var_spec_list"),
        (Comment, "comment"),
        (Omit, "import_declaration"),
    ],
    bodies: &["block"],
    members: &["field_declaration_list", "interface_type"],
    containers: &["struct_type"],
    functions: &["func_literal"],
    is_doc_comment: |_| true,
    is_public: is_exported_in_go,
    ..Language::BASE
};

/// Returns whether the name of the declaration begins with a capital letter.
fn is_exported_in_go(declaration: &Declaration<'_, '_>) -> bool {
    let name = match (declaration.field("name"), declaration.node.kind()) {
        (Some(name), _) => name,
        (None, "field_declaration") => declaration.source,
        // A package clause or a group.
        _ => return true,
    };
    name.starts_with(char::is_uppercase)
}

#[cfg(feature = "java")]
const JAVA: Language = Language {
    grammar: || tree_sitter_java::LANGUAGE.into(),
    rules: &[
        (
            Signature,
            "annotation_type_element_declaration compact_constructor_declaration \
             constructor_declaration method_declaration module_declaration",
        ),
        (
            Members,
            "annotation_type_declaration class_declaration enum_constant enum_declaration \
             interface_declaration record_declaration",
        ),
        (Value, "constant_declaration field_declaration"),
        (Transparent, "enum_body_declarations"),
        (Comment, "block_comment line_comment"),
        (Omit, "import_declaration package_declaration"),
    ],
    bodies: &["block", "constructor_body"],
    members: &["annotation_type_body", "class_body", "enum_body", "interface_body"],
    is_public: is_public_in_java,
    hides_members: |declaration| declaration.node.kind() == "enum_constant",
    ..Language::BASE
};

/// Returns whether the declaration is public, protected, an enum constant, or a member of an
/// interface or annotation type.
fn is_public_in_java(declaration: &Declaration<'_, '_>) -> bool {
    let owners = ["interface_declaration", "annotation_type_declaration"];
    owners.contains(&declaration.owner)
        || declaration.node.kind() == "enum_constant"
        || modifiers(declaration, "modifiers")
            .any(|words| words.contains("public") || words.contains("protected"))
}

#[cfg(feature = "javascript")]
const JAVASCRIPT: Language = Language {
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    rules: &[
        (Signature, "function_declaration generator_function_declaration method_definition"),
        (Members, "class_declaration"),
        (Value, "assignment_expression field_definition lexical_declaration variable_declaration"),
        (Wrapper, "export_statement"),
        (Statement, "expression_statement"),
        (Comment, "comment"),
        (Omit, "empty_statement hash_bang_line import_statement"),
    ],
    bodies: &["statement_block"],
    members: &["class_body"],
    functions: &["arrow_function", "function_expression", "generator_function"],
    is_public: |declaration| !declaration.source.starts_with(['#', '_']),
    // An import: `const name = require(…)`.
    is_omitted: |declaration| {
        let value = declaration.source.split_once('=').map(|(_, value)| value.trim_start());
        declaration.node.kind().ends_with("_declaration")
            && value.is_some_and(|value| value.starts_with("require("))
    },
    ..Language::BASE
};

#[cfg(feature = "kotlin")]
const KOTLIN: Language = Language {
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    rules: &[
        (Signature, "function_declaration secondary_constructor type_alias"),
        (Members, "class_declaration companion_object enum_entry object_declaration"),
        (Value, "property_declaration"),
        (Comment, "block_comment line_comment"),
        (Omit, "file_annotation import package_header shebang"),
    ],
    bodies: &["block", "function_body", "getter", "property_delegate", "setter"],
    members: &["class_body", "enum_class_body"],
    functions: &["anonymous_function"],
    is_public: |declaration| {
        !modifiers(declaration, "modifiers").any(|words| {
            words.split_ascii_whitespace().any(|word| matches!(word, "private" | "internal"))
        })
    },
    hides_members: |declaration| declaration.node.kind() == "enum_entry",
    ..Language::BASE
};

#[cfg(feature = "python")]
const PYTHON: Language = Language {
    grammar: || tree_sitter_python::LANGUAGE.into(),
    rules: &[
        (Signature, "function_definition type_alias_statement"),
        (Members, "class_definition"),
        (Value, "assignment"),
        (Wrapper, "decorated_definition"),
        (Statement, "expression_statement"),
        (Comment, "comment"),
        (Omit, "future_import_statement import_from_statement import_statement pass_statement"),
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
        (
            Signature,
            "field_declaration function_item function_signature_item associated_type type_item \
             use_declaration",
        ),
        (
            Members,
            "enum_item enum_variant foreign_mod_item impl_item mod_item struct_item trait_item \
             union_item",
        ),
        (Value, "const_item static_item"),
        (FirstLine, "macro_definition macro_invocation"),
        (Statement, "expression_statement"),
        (Attribute, "attribute_item"),
        (Comment, "block_comment line_comment"),
        (Omit, "empty_statement extern_crate_declaration inner_attribute_item"),
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

/// Returns whether the declaration is a test module or implements a trait. The trait documents the
/// members of its implementations.
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
        (
            Signature,
            "abstract_method_signature call_signature construct_signature enum_assignment \
             function_declaration function_signature generator_function_declaration \
             index_signature method_definition method_signature property_identifier \
             property_signature string type_alias_declaration",
        ),
        (
            Members,
            "abstract_class_declaration class_declaration enum_declaration interface_declaration \
             internal_module module",
        ),
        (
            Value,
            "assignment_expression lexical_declaration public_field_definition \
             variable_declaration",
        ),
        (Wrapper, "ambient_declaration export_statement"),
        (Statement, "expression_statement"),
        (Comment, "comment"),
        (Omit, "empty_statement hash_bang_line import_alias import_statement"),
    ],
    bodies: &["statement_block"],
    members: &["class_body", "enum_body", "interface_body", "statement_block"],
    functions: &["arrow_function", "function_expression", "generator_function"],
    // At the top level, exported declarations are public. Members are public unless they are
    // private.
    is_public: |declaration| {
        if declaration.owner.is_empty() {
            return declaration.outer.kind() == "export_statement";
        }
        !declaration.source.starts_with("private") && !declaration.source.starts_with(['#', '_'])
    },
    ..Language::BASE
};

/// Returns the texts of the children of a kind, such as the modifiers of a declaration.
fn modifiers<'t>(
    declaration: &Declaration<'_, 't>,
    kind: &'static str,
) -> impl Iterator<Item = &'t str> {
    item::children(declaration.node)
        .filter(move |child| child.kind() == kind)
        .filter_map(|child| declaration.text.get(child.byte_range()))
}

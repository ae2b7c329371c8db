//! Every table against the numbers and names of RFC 0001, written out.

use std::collections::HashSet;

use lcp_types::codec::Record;
use lcp_types::wire::WireType;
use lcp_types::{
    Annotation, AnnotationKind, BlockType, Code, Conversation, DataFormat, Diff, DiffHunk,
    Document, EmbeddingRef, Extension, FileEntry, FileEntryKind, FileTree, FormatHint, Image, Lang,
    MediaType, Priority, Role, Status, StructuredData, ToolResult, limits, wire,
};

/// One test a table: `name: Enum { code Variant "name", … }`.
macro_rules! tables {
    ($($test:ident: $enum:ident { $($code:literal $variant:ident $name:literal),* $(,)? })*) => {$(
        #[test]
        fn $test() {
            let rows = [$(($code, $enum::$variant, $name)),*];
            assert_eq!($enum::ALL, rows.map(|(_, value, _)| value));
            assert_eq!($enum::NAMES, rows.map(|(code, _, name)| (code, name)));
            for code in 0..=u8::MAX {
                let value = $enum::from_code(code);
                assert_eq!(value.code(), code, "no code is lost");
                let row = rows.iter().find(|(named, ..)| *named == code);
                assert_eq!(value.name(), row.map(|(.., name)| *name));
                match row {
                    Some((_, named, name)) => {
                        assert_eq!(value, *named);
                        assert_eq!($enum::from_name(name), Some(value));
                        assert_eq!(value.to_string(), *name);
                        assert_eq!(format!("{value:>12}|"), format!("{name:>12}|"));
                    }
                    None => {
                        assert_eq!(value, $enum::Other(code));
                        assert_eq!(value.to_string(), code.to_string());
                    }
                }
            }
            for name in ["", "other", "no such name"] {
                assert_eq!($enum::from_name(name), None);
            }
        }
    )*};
}

tables! {
    lang: Lang {
        0x01 Rust "rust", 0x02 TypeScript "typescript", 0x03 JavaScript "javascript",
        0x04 Python "python", 0x05 Go "go", 0x06 Java "java", 0x07 C "c", 0x08 Cpp "cpp",
        0x09 Ruby "ruby", 0x0A Shell "shell", 0x0B Sql "sql", 0x0C Html "html",
        0x0D Css "css", 0x0E Json "json", 0x0F Yaml "yaml", 0x10 Toml "toml",
        0x11 Markdown "markdown", 0xFF Unknown "unknown",
    }
    role: Role { 1 System "system", 2 User "user", 3 Assistant "assistant", 4 Tool "tool" }
    status: Status { 1 Ok "ok", 2 Error "error", 3 Timeout "timeout" }
    format_hint: FormatHint { 1 Markdown "markdown", 2 Plain "plain", 3 Html "html" }
    data_format: DataFormat { 1 Json "json", 2 Yaml "yaml", 3 Toml "toml", 4 Csv "csv" }
    annotation_kind: AnnotationKind { 1 Priority "priority", 2 Summary "summary", 3 Tag "tag" }
    media_type: MediaType { 1 Png "png", 2 Jpeg "jpeg", 3 Gif "gif", 4 Svg "svg", 5 Webp "webp" }
    file_entry_kind: FileEntryKind { 0 File "file", 1 Directory "directory" }
}

#[test]
fn priorities_are_ordered_and_have_the_codes_one_to_five() {
    let rows = [
        (1, Priority::Critical, "critical"),
        (2, Priority::High, "high"),
        (3, Priority::Normal, "normal"),
        (4, Priority::Low, "low"),
        (5, Priority::Background, "background"),
    ];
    assert_eq!(Priority::ALL, rows.map(|(_, priority, _)| priority));
    assert!(Priority::ALL.is_sorted_by(|a, b| a < b), "most important first");
    for (code, priority, name) in rows {
        assert_eq!(priority.code(), code);
        assert_eq!(priority.name(), name);
        assert_eq!(priority.to_string(), name);
        assert_eq!(Priority::from_name(name), Some(priority));
    }
    for code in 0..=u8::MAX {
        let named = rows.iter().find(|(named, ..)| *named == code);
        assert_eq!(Priority::from_code(code), named.map(|(_, priority, _)| *priority));
    }
    assert_eq!(Priority::from_name("Critical"), None, "names are lower case");
    assert_eq!(Priority::default(), Priority::Normal);
}

#[test]
fn block_types_have_their_codes_names_and_labels() {
    let rows = [
        (0x01, BlockType::Code, "code", "code"),
        (0x02, BlockType::Conversation, "conversation", "conversation"),
        (0x03, BlockType::FileTree, "file_tree", "file-tree"),
        (0x04, BlockType::ToolResult, "tool_result", "tool-result"),
        (0x05, BlockType::Document, "document", "document"),
        (0x06, BlockType::StructuredData, "structured_data", "data"),
        (0x07, BlockType::Diff, "diff", "diff"),
        (0x08, BlockType::Annotation, "annotation", "annotation"),
        (0x09, BlockType::EmbeddingRef, "embedding_ref", "embedding-ref"),
        (0x0A, BlockType::Image, "image", "image"),
        (0xFE, BlockType::Extension, "extension", "extension"),
    ];
    assert_eq!(BlockType::ALL, rows.map(|(_, block_type, ..)| block_type));
    for (code, block_type, name, label) in rows {
        assert_eq!(block_type.code(), code);
        assert_eq!(block_type.name(), name);
        assert_eq!(block_type.label(), label);
        assert_eq!(block_type.to_string(), label);
        assert_eq!(BlockType::from_name(name), Some(block_type));
        assert_eq!(BlockType::from_label(label), Some(block_type));
    }
    for code in 0..=u8::MAX {
        let block_type = BlockType::from_code(code);
        assert_eq!(block_type.code(), code, "no code is lost");
        let named = rows.iter().any(|(named, ..)| *named == code);
        let other = matches!(block_type, BlockType::Other(_));
        assert_eq!(other, !named && code != wire::TYPE_END);
    }
    let names: HashSet<_> = BlockType::ALL.iter().map(|ty| ty.name()).collect();
    let labels: HashSet<_> = BlockType::ALL.iter().map(|ty| ty.label()).collect();
    assert_eq!((names.len(), labels.len()), (rows.len(), rows.len()));
}

#[test]
fn end_and_unknown_types_cannot_be_looked_up_by_name() {
    assert_eq!(BlockType::from_code(0xFF), BlockType::End);
    assert_eq!(BlockType::Other(0x42).name(), "raw");
    assert_eq!(BlockType::Other(0x42).to_string(), "type 0x42");
    for name in ["raw", "end", "data", ""] {
        assert_eq!(BlockType::from_name(name), None, "{name:?} names no type");
    }
    for label in ["raw", "end", "structured_data", ""] {
        assert_eq!(BlockType::from_label(label), None, "{label:?} is no label");
    }
}

/// The fields of a record as RFC 0001 §7 prints them.
fn fields<T: Record<'static>>() -> String {
    let field = |spec: &lcp_types::codec::FieldSpec| {
        let wire = match spec.wire {
            WireType::Varint => "V",
            WireType::Bytes => "B",
            WireType::Nested => "N",
        };
        let optional = if spec.required { "" } else { "?" };
        format!("{}{wire}{optional} {}", spec.id, spec.name)
    };
    let fields: Vec<_> = T::FIELDS.iter().map(field).collect();
    format!("{}: {}", T::NAME, fields.join(" · "))
}

#[test]
fn record_fields_match_the_format() {
    let records = [
        fields::<Code<'_>>(),
        fields::<Conversation<'_>>(),
        fields::<FileTree<'_>>(),
        fields::<FileEntry<'_>>(),
        fields::<ToolResult<'_>>(),
        fields::<Document<'_>>(),
        fields::<StructuredData<'_>>(),
        fields::<Diff<'_>>(),
        fields::<DiffHunk<'_>>(),
        fields::<Annotation<'_>>(),
        fields::<EmbeddingRef<'_>>(),
        fields::<Image<'_>>(),
        fields::<Extension<'_>>(),
    ];
    let expected = [
        "Code: 1V lang · 2B path · 3B content · 4V? line_start · 5V? line_end",
        "Conversation: 1V role · 2B content · 3B? tool_call_id",
        "FileTree: 1B root · 2N? entries",
        "FileEntry: 1B name · 2V kind · 3V size · 4N? children",
        "ToolResult: 1B tool_name · 2V status · 3B content · 4B? schema_hint",
        "Document: 1B title · 2B content · 3V format_hint",
        "StructuredData: 1V format · 2B? schema · 3B content",
        "Diff: 1B path · 2N? hunks",
        "DiffHunk: 1V old_start · 2V new_start · 3B lines",
        "Annotation: 1V target_block_id · 2V kind · 3B value",
        "EmbeddingRef: 1B vector_id · 2B source_hash · 3B model",
        "Image: 1V media_type · 2B alt_text · 3B data",
        "Extension: 1B namespace · 2B type_name · 3B content",
    ];
    assert_eq!(records, expected);
}

#[test]
fn stream_constants_match_the_format() {
    assert_eq!(wire::MAGIC_LCP, [0x4C, 0x43, 0x50, 0x00]);
    assert_eq!(wire::MAGIC_BCP, [0x42, 0x43, 0x50, 0x00]);
    assert_eq!(wire::END_FRAME, [0xFF, 0x01, 0x00, 0x00]);
    assert_eq!((wire::VERSION_MAJOR, wire::VERSION_MINOR), (1, 0));
    assert_eq!(wire::HEADER_RESERVED, 0b1111_1100);
    assert_eq!(wire::BLOCK_RESERVED, 0b1111_1000);
    assert_eq!((wire::HEADER_BYTES, wire::HASH_BYTES, wire::VARINT_BYTES_MAX), (8, 32, 10));
}

#[test]
fn limits_match_the_format() {
    const MIB: u64 = 1024 * 1024;
    assert_eq!(limits::BODY_DECOMPRESSED_BYTES_MAX, 16 * MIB);
    assert_eq!(limits::PAYLOAD_DECOMPRESSED_BYTES_MAX, 256 * MIB);
    assert_eq!(limits::TOTAL_DECOMPRESSED_BYTES_MAX, 256 * MIB);
    assert_eq!(limits::DEPTH_MAX, 64);
}

//! Proptest strategies for blocks and packs.

use std::borrow::Cow;

use lcp_types::codec::Record;
use lcp_types::wire::BLOCK_RESERVED;
use lcp_types::{
    Annotation, AnnotationKind, Block, BlockContent, BlockType, Code, Conversation, CowBytes,
    DataFormat, Diff, DiffHunk, Document, EmbeddingRef, Extension, FileEntry, FileEntryKind,
    FileTree, FormatHint, Image, Lang, MediaType, Role, Status, StructuredData, ToolResult,
    UnknownField, UnknownFields, UnknownValue,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Generates any block that a pack can hold: every type, unnamed enumeration values, unknown
/// fields, content that is not UTF-8, reserved flags and unknown block types.
///
/// Unknown fields have ascending ids, as encoders write them, so that a block equals its own round
/// trip.
pub fn any_block() -> impl Strategy<Value = Block<'static>> {
    block(Scope::Any)
}

/// Generates up to 11 [`any_block`]s.
pub fn any_pack() -> impl Strategy<Value = Vec<Block<'static>>> {
    vec(any_block(), 0..12)
}

/// Generates a block that every reader of the format understands: only named values, no unknown
/// fields, types or flags, and at least one element in each list of hunks or entries.
pub fn known_block() -> impl Strategy<Value = Block<'static>> {
    block(Scope::Known)
}

/// Generates from 1 to 11 [`known_block`]s.
pub fn known_pack() -> impl Strategy<Value = Vec<Block<'static>>> {
    vec(known_block(), 1..12)
}

/// The range of blocks that a strategy generates.
#[derive(Clone, Copy)]
enum Scope {
    Any,
    Known,
}

fn block(scope: Scope) -> BoxedStrategy<Block<'static>> {
    let flags = match scope {
        Scope::Any => prop_oneof![3 => Just(0), 1 => any::<u8>()].boxed(),
        Scope::Known => Just(0).boxed(),
    };
    (option::of(text()), content(scope), flags)
        .prop_map(|(summary, content, flags)| Block {
            summary: summary.map(Into::into),
            content,
            reserved_flags: flags & BLOCK_RESERVED,
        })
        .boxed()
}

/// Generates text other than content. It is mostly short, and sometimes unusual.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z0-9_./ -]{0,20}",
        1 => vec(any::<char>(), 0..12).prop_map(String::from_iter),
        1 => select(vec!["", "\n", "a\r\nb", "\"\\\u{0}", "日本語", "👩‍👩‍👧‍👦", "=", "</code>"]).prop_map(String::from),
    ]
}

/// Generates content: text and other bytes, sometimes enough to be worth compressing.
fn bytes() -> impl Strategy<Value = CowBytes<'static>> {
    prop_oneof![
        4 => text().prop_map(CowBytes::from),
        2 => vec(any::<u8>(), 0..40).prop_map(CowBytes::from),
        1 => (text(), 1usize..200).prop_map(|(text, times)| text.repeat(times).into()),
        1 => vec(any::<u8>(), 250..600).prop_map(CowBytes::from),
    ]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 0u64..200, 2 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)]
}

fn line() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..200, any::<u32>(), Just(u32::MAX)]
}

/// Generates values of an enumeration: the named ones, and with [`Scope::Any`] all codes.
fn value<E>(scope: Scope, named: &'static [E], from_code: fn(u8) -> E) -> BoxedStrategy<E>
where
    E: Copy + std::fmt::Debug + 'static,
{
    match scope {
        Scope::Any => prop_oneof![3 => select(named), 1 => any::<u8>().prop_map(from_code)].boxed(),
        Scope::Known => select(named).boxed(),
    }
}

/// Generates fields with ids that the record does not define.
fn unknown<T: Record<'static>>(scope: Scope) -> BoxedStrategy<UnknownFields<'static>> {
    if matches!(scope, Scope::Known) {
        return Just(UnknownFields::new()).boxed();
    }
    let payload = prop_oneof![
        number().prop_map(UnknownValue::Varint),
        bytes().prop_map(UnknownValue::Bytes),
        bytes().prop_map(UnknownValue::Nested),
    ];
    let id = number().prop_map(|id| match id {
        known if T::FIELDS.iter().any(|spec| spec.id == known) => known + 200,
        unknown => unknown,
    });
    let fields = vec((id, payload), 1..4).prop_map(|mut fields| {
        fields.sort_by_key(|(id, _)| *id);
        let field = |(id, value)| UnknownField { id, value };
        fields.into_iter().map(field).collect::<Vec<_>>().into()
    });
    prop_oneof![5 => Just(UnknownFields::new()), 1 => fields].boxed()
}

/// Returns the range of the number of nested records in a list.
fn list(scope: Scope) -> std::ops::Range<usize> {
    match scope {
        Scope::Any => 0..4,
        Scope::Known => 1..4,
    }
}

/// Generates a record with these fields and unknown fields.
macro_rules! record {
    ($scope:ident, $record:ident { $($field:ident: $strategy:expr),* $(,)? }) => {
        ($($strategy,)* unknown::<$record<'_>>($scope)).prop_map(|($($field,)* unknown)| {
            $record { $($field: $field.into(),)* unknown }.into()
        })
    };
}

fn entry(scope: Scope) -> impl Strategy<Value = FileEntry<'static>> {
    let one = move |inner: BoxedStrategy<Vec<FileEntry<'static>>>| {
        let kinds = value(scope, FileEntryKind::ALL, FileEntryKind::from_code);
        record!(scope, FileEntry { name: text(), kind: kinds, size: number(), children: inner })
    };
    one(Just(Vec::new()).boxed())
        .prop_recursive(5, 12, 3, move |inner| one(vec(inner, 0..3).boxed()))
}

fn hunk(scope: Scope) -> impl Strategy<Value = DiffHunk<'static>> {
    record!(scope, DiffHunk { old_start: line(), new_start: line(), lines: bytes() })
}

/// Generates line ranges. Old readers require both ends or neither.
fn lines(scope: Scope) -> BoxedStrategy<(Option<u32>, Option<u32>)> {
    match scope {
        Scope::Any => (option::of(line()), option::of(line())).boxed(),
        Scope::Known => option::of((line(), line())).prop_map(Option::unzip).boxed(),
    }
}

/// Generates targets of annotations. Old readers accept only 32 bits.
fn target(scope: Scope) -> BoxedStrategy<u64> {
    match scope {
        Scope::Any => number().boxed(),
        Scope::Known => line().prop_map(u64::from).boxed(),
    }
}

fn words() -> impl Strategy<Value = Option<Cow<'static, str>>> {
    option::of(text().prop_map(Into::into))
}

/// Generates messages, tool results, annotations and documents.
fn message_content(scope: Scope) -> BoxedStrategy<BlockContent<'static>> {
    prop_oneof![
        record!(
            scope,
            Conversation {
                role: value(scope, Role::ALL, Role::from_code),
                content: bytes(),
                tool_call_id: words(),
            }
        ),
        record!(
            scope,
            ToolResult {
                tool_name: text(),
                status: value(scope, Status::ALL, Status::from_code),
                content: bytes(),
                schema_hint: words(),
            }
        ),
        record!(
            scope,
            Annotation {
                target_block_id: target(scope),
                kind: value(scope, AnnotationKind::ALL, AnnotationKind::from_code),
                value: bytes(),
            }
        ),
        record!(
            scope,
            Document {
                title: text(),
                content: bytes(),
                format_hint: value(scope, FormatHint::ALL, FormatHint::from_code),
            }
        ),
    ]
    .boxed()
}

/// Generates source files, file trees and diffs.
fn files(scope: Scope) -> BoxedStrategy<BlockContent<'static>> {
    let code = (
        value(scope, Lang::ALL, Lang::from_code),
        text(),
        bytes(),
        lines(scope),
        unknown::<Code<'_>>(scope),
    )
        .prop_map(|(lang, path, content, (line_start, line_end), unknown)| {
            BlockContent::from(Code {
                lang,
                path: path.into(),
                content,
                line_start,
                line_end,
                unknown,
            })
        });
    prop_oneof![
        code,
        record!(scope, FileTree { root: text(), entries: vec(entry(scope), list(scope)) }),
        record!(scope, Diff { path: text(), hunks: vec(hunk(scope), list(scope)) }),
    ]
    .boxed()
}

/// Generates structured data, embedding references, images and extensions.
fn data(scope: Scope) -> BoxedStrategy<BlockContent<'static>> {
    prop_oneof![
        record!(
            scope,
            StructuredData {
                format: value(scope, DataFormat::ALL, DataFormat::from_code),
                schema: words(),
                content: bytes(),
            }
        ),
        record!(scope, EmbeddingRef { vector_id: bytes(), source_hash: bytes(), model: text() }),
        record!(
            scope,
            Image {
                media_type: value(scope, MediaType::ALL, MediaType::from_code),
                alt_text: text(),
                data: bytes(),
            }
        ),
        record!(scope, Extension { namespace: text(), type_name: text(), content: bytes() }),
    ]
    .boxed()
}

fn content(scope: Scope) -> BoxedStrategy<BlockContent<'static>> {
    let known = prop_oneof![4 => message_content(scope), 3 => files(scope), 4 => data(scope)];
    if matches!(scope, Scope::Known) {
        return known.boxed();
    }
    let raw = (any::<u8>(), bytes()).prop_map(|(code, body)| {
        let type_id = match BlockType::from_code(code) {
            BlockType::Other(code) => code,
            _ => 0x42,
        };
        Block::raw(type_id, body).content
    });
    prop_oneof![11 => known, 1 => raw].boxed()
}

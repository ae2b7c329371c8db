//! Interprets bytes as choices of blocks, so that the fuzzer changes the content of blocks, not
//! their encoding.

use std::borrow::Cow;

use crate::DELIMITERS;
use arbitrary::Unstructured;
use lcp_types::wire::BLOCK_RESERVED;
use lcp_types::{
    Annotation, AnnotationKind, Block, BlockContent, BlockType, CarriedLevel, Code, Conversation,
    CowBytes, DataFormat, Diff, DiffHunk, Document, EmbeddingRef, Extension, FileEntry,
    FileEntryKind, FileTree, FormatHint, Image, Lang, MediaType, Priority, Role, Status,
    StructuredData, Tag, ToolResult, UnknownField, UnknownFields, UnknownValue,
};

/// Tags that influence a plan.
const TAGS: &[&str] = &[
    "pinned", "rank=0.9", "rank=1e400", "tool_call_id=c1", "tool_call_id=c2", "category=odd",
    "args={}", "passages=1-1:1000", "passages=1-2:9 4-900:700", "passages=2-3:500 6-6:1",
    "passages=3-2:9", "reason=named", "reason=",
];

/// The remaining bytes. When no bytes remain, every choice is the first one.
pub(crate) struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the unused bytes.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Returns a number below `end`. `end` must be at most 65,536. If `end` is 0, returns 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let number: usize = if end <= 256 {
            self.byte().into()
        } else {
            u16::from_le_bytes([self.byte(), self.byte()]).into()
        };
        if end == 0 { 0 } else { number % end }
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns a number that is mostly small, and sometimes at a boundary of varint lengths or of
    /// 32 bits.
    pub(crate) fn number(&mut self) -> u64 {
        let byte = self.byte();
        match byte {
            0..200 => byte.into(),
            200..240 => (1 << (7 * (byte % 10))) - u64::from(byte & 1),
            240..250 => u64::from(u32::MAX) + u64::from(byte & 3) - 1,
            _ => u64::MAX,
        }
    }

    fn line(&mut self) -> u32 {
        u32::try_from(self.number()).unwrap_or(u32::MAX)
    }

    /// Returns a text of [`DELIMITERS`] and arbitrary pieces.
    pub(crate) fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(12) {
            let piece = self.below(DELIMITERS.len() + 12);
            match DELIMITERS.get(piece) {
                Some(piece) => text.push_str(piece),
                None if piece.is_multiple_of(4) => text.push_str(&text.clone()),
                None => text.push_str(&String::from_utf8_lossy(self.some_bytes())),
            }
            if text.len() > 4_000 {
                break;
            }
        }
        text
    }

    fn some_bytes(&mut self) -> &'a [u8] {
        let len = self.below(24).min(self.0.len());
        self.0.bytes(len).unwrap_or_default()
    }

    /// Returns the label of a block, which is mostly a path.
    fn label(&mut self) -> Cow<'static, str> {
        match self.byte() {
            0..160 => format!("src/{}.rs", self.byte() % 8).into(),
            160..200 => String::new().into(),
            _ => self.text().into(),
        }
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    fn content(&mut self) -> CowBytes<'static> {
        match self.byte() {
            0..230 => self.text().into(),
            _ => self.some_bytes().to_vec().into(),
        }
    }

    /// Returns fields that readers do not know. Their ids ascend, as encoders write them.
    fn unknown(&mut self) -> UnknownFields<'static> {
        if self.byte() < 240 {
            return UnknownFields::new();
        }
        let mut id = 100;
        let mut fields = Vec::new();
        for _ in 0..=self.below(3) {
            id += self.number() % 1_000;
            let value = match self.below(3) {
                0 => UnknownValue::Varint(self.number()),
                1 => UnknownValue::Bytes(self.content()),
                _ => UnknownValue::Nested(self.content()),
            };
            fields.push(UnknownField { id, value });
        }
        fields.into()
    }

    fn entries(&mut self, depth: usize) -> Vec<FileEntry<'static>> {
        (0..self.below(4))
            .map(|_| {
                let is_directory = depth < 6 && self.flag();
                FileEntry {
                    name: self.label(),
                    kind: FileEntryKind::from_code(u8::from(is_directory)),
                    size: self.number(),
                    children: if is_directory { self.entries(depth + 1) } else { Vec::new() },
                    unknown: self.unknown(),
                }
            })
            .collect()
    }

    fn hunk(&mut self) -> DiffHunk<'static> {
        DiffHunk {
            old_start: self.line(),
            new_start: self.line(),
            lines: self.content(),
            unknown: self.unknown(),
        }
    }

    /// Returns the code of an enumeration value, which is mostly a named one.
    fn code(&mut self) -> u8 {
        let byte = self.byte();
        if byte < 240 { byte % 12 } else { byte }
    }

    fn content_of_block(&mut self) -> BlockContent<'static> {
        match self.below(12) {
            0..=2 => Code {
                lang: Lang::from_code(self.code()),
                path: self.label(),
                content: self.content(),
                line_start: self.maybe(Self::line),
                line_end: self.maybe(Self::line),
                unknown: self.unknown(),
            }
            .into(),
            3 | 4 => Conversation {
                role: Role::from_code(self.code()),
                content: self.content(),
                tool_call_id: self.maybe(Self::label),
                unknown: self.unknown(),
            }
            .into(),
            5 => ToolResult {
                tool_name: self.label(),
                status: Status::from_code(self.code()),
                content: self.content(),
                schema_hint: self.maybe(Self::label),
                unknown: self.unknown(),
            }
            .into(),
            6 => Document {
                title: self.label(),
                content: self.content(),
                format_hint: FormatHint::from_code(self.code()),
                unknown: self.unknown(),
            }
            .into(),
            7 => StructuredData {
                format: DataFormat::from_code(self.code()),
                schema: self.maybe(Self::label),
                content: self.content(),
                unknown: self.unknown(),
            }
            .into(),
            8 => {
                let hunks = (0..self.below(4)).map(|_| self.hunk()).collect();
                Diff { path: self.label(), hunks, unknown: self.unknown() }.into()
            }
            9 => {
                let entries = self.entries(0);
                FileTree { root: self.label(), entries, unknown: self.unknown() }.into()
            }
            10 => self.reference_or_image(),
            _ => self.metadata_or_extension(),
        }
    }

    fn reference_or_image(&mut self) -> BlockContent<'static> {
        if self.flag() {
            return EmbeddingRef {
                vector_id: self.content(),
                source_hash: self.content(),
                model: self.label(),
                unknown: self.unknown(),
            }
            .into();
        }
        Image {
            media_type: MediaType::from_code(self.code()),
            alt_text: self.label(),
            data: self.content(),
            unknown: self.unknown(),
        }
        .into()
    }

    /// Returns a block of metadata, an extension or an unknown type.
    fn metadata_or_extension(&mut self) -> BlockContent<'static> {
        let target = self.number();
        match self.below(6) {
            0 => Annotation {
                target_block_id: target,
                kind: AnnotationKind::from_code(self.code()),
                value: self.content(),
                unknown: self.unknown(),
            }
            .into(),
            1 => Annotation::priority(target, self.one_of(&Priority::ALL)).into(),
            2 => Annotation::tag(target, &Tag::parse(self.one_of(TAGS))).into(),
            3 => self.one_of(&CarriedLevel::ALL).to_extension(target, &self.text()).into(),
            4 => Extension {
                namespace: self.label(),
                type_name: self.label(),
                content: self.content(),
                unknown: self.unknown(),
            }
            .into(),
            _ => {
                let type_id = match BlockType::from_code(self.byte()) {
                    BlockType::Other(code) => code,
                    _ => 0x42,
                };
                Block::raw(type_id, self.content()).content
            }
        }
    }

    pub(crate) fn block(&mut self) -> Block<'static> {
        Block {
            summary: self.maybe(Self::text).map(Cow::Owned),
            content: self.content_of_block(),
            reserved_flags: if self.byte() < 240 { 0 } else { self.byte() & BLOCK_RESERVED },
        }
    }

    /// Returns as many blocks as the bytes yield, at most 24.
    pub(crate) fn blocks(&mut self) -> Vec<Block<'static>> {
        let mut blocks = Vec::new();
        while !self.is_empty() && blocks.len() < 24 {
            blocks.push(self.block());
        }
        blocks
    }
}

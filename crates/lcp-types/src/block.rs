//! The block: one typed item of a pack.

use std::borrow::Cow;
use std::fmt;

use crate::{
    Annotation, Code, Conversation, CowBytes, DataFormat, Diff, DiffHunk, Document, EmbeddingRef,
    Extension, FieldVisitor, FileEntry, FileEntryKind, FileTree, FormatHint, Image, IntoOwned,
    Lang, MediaType, Role, Status, StructuredData, ToolResult,
};

/// Defines the block types, one row each: `code Variant(Content), "manifest_name", "label";`.
macro_rules! block_types {
    ($($(#[$meta:meta])* $code:literal $variant:ident($content:ident), $name:literal, $label:literal;)*) => {
        /// The type of a block (RFC 0001 §7).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        pub enum BlockType {
            $($(#[$meta])* $variant,)*
            /// The END marker of a stream. It is not a block itself.
            End,
            /// A type that this version does not know.
            Other(u8),
        }

        impl BlockType {
            /// Every type that a block can have and that this version knows.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the type with this code.
            #[must_use]
            #[inline]
            pub const fn from_code(code: u8) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    crate::wire::TYPE_END => Self::End,
                    other => Self::Other(other),
                }
            }

            /// Returns the code on the wire.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)*
                    Self::End => crate::wire::TYPE_END,
                    Self::Other(code) => code,
                }
            }

            /// Returns the name in manifests, such as `structured_data`; `raw` for unknown types.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::End => "end",
                    Self::Other(_) => "raw",
                }
            }

            /// Returns the name in flags and rendered text, such as `data`; `raw` for unknown
            /// types.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)*
                    Self::End => "end",
                    Self::Other(_) => "raw",
                }
            }

            /// Returns the type with this manifest name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|ty| ty.name() == name)
            }

            /// Returns the type with this label.
            #[must_use]
            pub fn from_label(label: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|ty| ty.label() == label)
            }
        }

        /// The content of a block, by type.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        pub enum BlockContent<'a> {
            $($(#[$meta])* $variant($content<'a>),)*
            /// A block of a type that this version does not know.
            Raw(RawBlock<'a>),
        }

        impl<'a> BlockContent<'a> {
            /// Returns the block type of this content.
            #[must_use]
            pub const fn block_type(&self) -> BlockType {
                match self {
                    $(Self::$variant(_) => BlockType::$variant,)*
                    Self::Raw(raw) => BlockType::Other(raw.type_id),
                }
            }

            /// Reads the fields of a block of this type. Returns `None` if the type is unknown.
            ///
            /// # Errors
            ///
            /// Returns the error of `from` if a field is malformed or exceeds a limit.
            #[inline]
            pub fn read<R: crate::codec::FieldReader<'a>>(
                block_type: BlockType,
                from: &mut R,
            ) -> Result<Option<Self>, R::Error> {
                use crate::codec::Record;
                Ok(match block_type {
                    $(BlockType::$variant => Some(Self::$variant($content::read(from)?)),)*
                    BlockType::End | BlockType::Other(_) => None,
                })
            }

            /// Writes the fields. A block of an unknown type has no fields; it is returned instead.
            ///
            /// # Errors
            ///
            /// Returns the error of `to` if it rejects a field.
            pub fn write<W: crate::codec::FieldWriter>(
                &self,
                to: &mut W,
            ) -> Result<Option<&RawBlock<'a>>, W::Error> {
                use crate::codec::Record;
                match self {
                    $(Self::$variant(content) => content.write(to).map(|()| None),)*
                    Self::Raw(raw) => Ok(Some(raw)),
                }
            }
        }

        impl IntoOwned for BlockContent<'_> {
            type Owned = BlockContent<'static>;
            #[inline]
            fn into_owned(self) -> BlockContent<'static> {
                match self {
                    $(Self::$variant(content) => BlockContent::$variant(content.into_owned()),)*
                    Self::Raw(raw) => BlockContent::Raw(RawBlock { type_id: raw.type_id, body: raw.body.into_owned() }),
                }
            }

            #[inline]
            fn to_static(&self) -> BlockContent<'static> {
                match self {
                    $(Self::$variant(content) => BlockContent::$variant(content.to_static()),)*
                    Self::Raw(raw) => BlockContent::Raw(RawBlock { type_id: raw.type_id, body: raw.body.to_static() }),
                }
            }

            fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
                match self {
                    $(Self::$variant(content) => content.visit(visitor),)*
                    Self::Raw(raw) => visitor.bytes(&mut raw.body),
                }
            }
        }

        $(impl<'a> From<$content<'a>> for BlockContent<'a> {
            fn from(content: $content<'a>) -> Self {
                Self::$variant(content)
            }
        })*
    };
}

block_types! {
    /// A source file, or a range of its lines.
    0x01 Code(Code), "code", "code";
    /// One turn of a chat.
    0x02 Conversation(Conversation), "conversation", "conversation";
    /// Directories and files, without their contents.
    0x03 FileTree(FileTree), "file_tree", "file-tree";
    /// The output of a tool call.
    0x04 ToolResult(ToolResult), "tool_result", "tool-result";
    /// A text document.
    0x05 Document(Document), "document", "document";
    /// Structured data, such as JSON.
    0x06 StructuredData(StructuredData), "structured_data", "data";
    /// The changes to one file.
    0x07 Diff(Diff), "diff", "diff";
    /// A statement about another block.
    0x08 Annotation(Annotation), "annotation", "annotation";
    /// A vector that is stored elsewhere.
    0x09 EmbeddingRef(EmbeddingRef), "embedding_ref", "embedding-ref";
    /// A picture with its alternate text.
    0x0A Image(Image), "image", "image";
    /// A type that another program defines.
    0xFE Extension(Extension), "extension", "extension";
}

/// Matches the block types with a `content` field, and returns that field by the kind of reference
/// that `self` is.
macro_rules! text_of {
    ($block:expr) => {
        match $block {
            Self::Code(Code { content, .. })
            | Self::Conversation(Conversation { content, .. })
            | Self::ToolResult(ToolResult { content, .. })
            | Self::Document(Document { content, .. })
            | Self::StructuredData(StructuredData { content, .. })
            | Self::Extension(Extension { content, .. }) => Some(content),
            _ => None,
        }
    };
}

impl<'a> BlockContent<'a> {
    /// Returns the content of the types whose content is text (or arbitrary bytes).
    #[must_use]
    pub const fn text(&self) -> Option<&CowBytes<'a>> {
        text_of!(self)
    }

    /// Returns a mutable reference to the content that [`Self::text`] returns.
    #[must_use]
    pub const fn text_mut(&mut self) -> Option<&mut CowBytes<'a>> {
        text_of!(self)
    }

    /// Returns whether the block describes other blocks and is never shown as a block. This applies
    /// to annotations and to extensions in the namespace of LCP.
    #[must_use]
    pub fn is_metadata(&self) -> bool {
        match self {
            Self::Annotation(_) => true,
            Self::Extension(extension) => extension.namespace == crate::CarriedLevel::NAMESPACE,
            _ => false,
        }
    }
}

impl fmt::Display for BlockType {
    /// Writes the label, or the code in hexadecimal if the type is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(code) => write!(f, "type {code:#04x}"),
            known => f.pad(known.label()),
        }
    }
}

/// A block of a type that this version does not know, with its original bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RawBlock<'a> {
    /// The code of the type. It is neither in [`BlockType::ALL`] nor the code of END.
    pub type_id: u8,
    /// The body after the summary, decompressed and with references resolved.
    pub body: CowBytes<'a>,
}

/// One typed item of a pack, with an optional summary. The constructors take the most common
/// fields.
///
/// ```
/// use lcp_types::{Block, BlockContent, Role};
///
/// let turn = Block::conversation(Role::User, "Why does it fail?");
/// let BlockContent::Conversation(turn) = &turn.content else { unreachable!() };
/// assert_eq!(turn.content.as_str(), Some("Why does it fail?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Block<'a> {
    /// A short form of the content, shown when the budget is tight.
    pub summary: Option<Cow<'a, str>>,
    /// The content, which also determines the type.
    pub content: BlockContent<'a>,
    /// Unknown frame flags, which the encoder writes back. Only bits of
    /// [`BLOCK_RESERVED`](crate::wire::BLOCK_RESERVED) are used.
    pub reserved_flags: u8,
}

impl<'a> Block<'a> {
    /// Returns a block with this content and without a summary.
    #[must_use]
    pub fn new(content: impl Into<BlockContent<'a>>) -> Self {
        Self { summary: None, content: content.into(), reserved_flags: 0 }
    }

    /// Returns the type of the block.
    #[must_use]
    pub const fn block_type(&self) -> BlockType {
        self.content.block_type()
    }

    /// Returns the annotation, if the block is one.
    #[must_use]
    pub const fn as_annotation(&self) -> Option<&Annotation<'a>> {
        match &self.content {
            BlockContent::Annotation(annotation) => Some(annotation),
            _ => None,
        }
    }

    /// Returns the extension, if the block is one.
    #[must_use]
    pub const fn as_extension(&self) -> Option<&Extension<'a>> {
        match &self.content {
            BlockContent::Extension(extension) => Some(extension),
            _ => None,
        }
    }

    /// Returns the name of the block, unescaped: its path, title, role or the like. The label is
    /// empty if that field is empty.
    ///
    /// ```
    /// use lcp_types::{Block, Lang};
    ///
    /// assert_eq!(Block::code(Lang::Rust, "src/main.rs", "fn main() {}").label(), "src/main.rs");
    /// ```
    #[must_use]
    pub fn label(&self) -> Cow<'_, str> {
        match &self.content {
            BlockContent::Code(code) => code.path.as_ref().into(),
            BlockContent::Conversation(turn) => turn.role.label(),
            BlockContent::FileTree(tree) => tree.root.as_ref().into(),
            BlockContent::ToolResult(result) => result.tool_name.as_ref().into(),
            BlockContent::Document(document) => document.title.as_ref().into(),
            BlockContent::StructuredData(data) => data.format.to_string().into(),
            BlockContent::Diff(diff) => diff.path.as_ref().into(),
            BlockContent::EmbeddingRef(embedding) => embedding.vector_id.to_str_lossy(),
            BlockContent::Image(image) => image.media_type.to_string().into(),
            BlockContent::Extension(extension) => extension.namespace.as_ref().into(),
            BlockContent::Raw(raw) => raw.type_id.to_string().into(),
            BlockContent::Annotation(annotation) => annotation.target_block_id.to_string().into(),
        }
    }

    /// Returns the block with this summary.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<Cow<'a, str>>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Returns an owned copy. This is faster than [`Self::into_owned`] for a block that was just
    /// decoded.
    ///
    /// ```
    /// use lcp_types::{Block, Role};
    ///
    /// let turn = Block::conversation(Role::User, "hi");
    /// assert_eq!(turn.to_static(), turn);
    /// ```
    #[must_use]
    #[inline]
    pub fn to_static(&self) -> Block<'static> {
        Block {
            summary: IntoOwned::to_static(&self.summary),
            content: self.content.to_static(),
            reserved_flags: self.reserved_flags,
        }
    }

    /// Passes every text and content of the block to `visitor`, always in the same order.
    pub fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        self.summary.visit(visitor);
        self.content.visit(visitor);
    }

    /// Converts the block into one that owns all of its data.
    #[must_use]
    #[inline]
    pub fn into_owned(self) -> Block<'static> {
        Block {
            summary: IntoOwned::into_owned(self.summary),
            content: IntoOwned::into_owned(self.content),
            reserved_flags: self.reserved_flags,
        }
    }

    /// Returns a CODE block with a whole file.
    #[must_use]
    pub fn code(
        lang: Lang,
        path: impl Into<Cow<'a, str>>,
        content: impl Into<CowBytes<'a>>,
    ) -> Self {
        Self::new(Code::from_fields(lang, path.into(), content.into(), None, None))
    }

    /// Returns a CODE block with the lines `first` to `last` of a file, numbered from 1.
    #[must_use]
    pub fn code_lines(
        lang: Lang,
        path: impl Into<Cow<'a, str>>,
        content: impl Into<CowBytes<'a>>,
        first: u32,
        last: u32,
    ) -> Self {
        let (path, content) = (path.into(), content.into());
        Self::new(Code::from_fields(lang, path, content, Some(first), Some(last)))
    }

    /// Returns a CONVERSATION block.
    #[must_use]
    pub fn conversation(role: Role, content: impl Into<CowBytes<'a>>) -> Self {
        Self::new(Conversation::from_fields(role, content.into(), None))
    }

    /// Returns a CONVERSATION block that makes or answers a tool call.
    #[must_use]
    pub fn conversation_with_call(
        role: Role,
        content: impl Into<CowBytes<'a>>,
        tool_call_id: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self::new(Conversation::from_fields(role, content.into(), Some(tool_call_id.into())))
    }

    /// Returns a FILE_TREE block.
    #[must_use]
    pub fn file_tree(root: impl Into<Cow<'a, str>>, entries: Vec<FileEntry<'a>>) -> Self {
        Self::new(FileTree::from_fields(root.into(), entries))
    }

    /// Returns a TOOL_RESULT block.
    #[must_use]
    pub fn tool_result(
        tool_name: impl Into<Cow<'a, str>>,
        status: Status,
        content: impl Into<CowBytes<'a>>,
    ) -> Self {
        Self::new(ToolResult::from_fields(tool_name.into(), status, content.into(), None))
    }

    /// Returns a DOCUMENT block.
    #[must_use]
    pub fn document(
        title: impl Into<Cow<'a, str>>,
        content: impl Into<CowBytes<'a>>,
        format_hint: FormatHint,
    ) -> Self {
        Self::new(Document::from_fields(title.into(), content.into(), format_hint))
    }

    /// Returns a STRUCTURED_DATA block.
    #[must_use]
    pub fn structured_data(format: DataFormat, content: impl Into<CowBytes<'a>>) -> Self {
        Self::new(StructuredData::from_fields(format, None, content.into()))
    }

    /// Returns a DIFF block.
    #[must_use]
    pub fn diff(path: impl Into<Cow<'a, str>>, hunks: Vec<DiffHunk<'a>>) -> Self {
        Self::new(Diff::from_fields(path.into(), hunks))
    }

    /// Returns an EMBEDDING_REF block.
    #[must_use]
    pub fn embedding_ref(
        vector_id: impl Into<CowBytes<'a>>,
        source_hash: impl Into<CowBytes<'a>>,
        model: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self::new(EmbeddingRef::from_fields(vector_id.into(), source_hash.into(), model.into()))
    }

    /// Returns an IMAGE block.
    #[must_use]
    pub fn image(
        media_type: MediaType,
        alt_text: impl Into<Cow<'a, str>>,
        data: impl Into<CowBytes<'a>>,
    ) -> Self {
        Self::new(Image::from_fields(media_type, alt_text.into(), data.into()))
    }

    /// Returns an EXTENSION block.
    #[must_use]
    pub fn extension(
        namespace: impl Into<Cow<'a, str>>,
        type_name: impl Into<Cow<'a, str>>,
        content: impl Into<CowBytes<'a>>,
    ) -> Self {
        Self::new(Extension::from_fields(namespace.into(), type_name.into(), content.into()))
    }

    /// Returns a block of a type that this version does not know.
    #[must_use]
    pub fn raw(type_id: u8, body: impl Into<CowBytes<'a>>) -> Self {
        Self::new(BlockContent::Raw(RawBlock { type_id, body: body.into() }))
    }
}

impl<'a> FileEntry<'a> {
    /// Returns the entry of a file with a size of `size` bytes.
    #[must_use]
    pub fn file(name: impl Into<Cow<'a, str>>, size: u64) -> Self {
        Self::from_fields(name.into(), FileEntryKind::File, size, Vec::new())
    }

    /// Returns the entry of a directory.
    #[must_use]
    pub fn directory(name: impl Into<Cow<'a, str>>, children: Vec<FileEntry<'a>>) -> Self {
        Self::from_fields(name.into(), FileEntryKind::Directory, 0, children)
    }
}

impl<'a> DiffHunk<'a> {
    /// Returns a hunk. Each of its `lines` begins with `+`, `-` or a space and ends with a newline.
    #[must_use]
    pub fn new(old_start: u32, new_start: u32, lines: impl Into<CowBytes<'a>>) -> Self {
        Self::from_fields(old_start, new_start, lines.into())
    }

    /// Formats the header of the hunk in a unified diff, given its lines on both sides. A range of
    /// one line has no count: `@@ -7 +7,3 @@`.
    #[must_use]
    pub fn header(&self, old_lines: usize, new_lines: usize) -> String {
        let range = |start: u32, lines: usize| match lines {
            1 => start.to_string(),
            _ => format!("{start},{lines}"),
        };
        format!("@@ -{} +{} @@", range(self.old_start, old_lines), range(self.new_start, new_lines))
    }
}

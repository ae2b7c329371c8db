//! The model of an LLM Context Pack: what a pack holds, and the numbers that
//! the wire uses for it.
//!
//! A pack is a stream of typed [`Block`]s. Start there. The same type serves
//! both directions: decoded blocks borrow from the input, built blocks own
//! their content or borrow it from you ([`Block::into_owned`] cuts the tie).
//!
//! | look for | in |
//! |---|---|
//! | blocks and what they hold | [`Block`], [`BlockContent`], [`content`] |
//! | priorities, tags, further levels | [`Annotation`], [`Priority`], [`Tag`], [`CarriedLevel`], all that they say [`BlockMeta`] |
//! | blocks that others replace | [`Replacements`] |
//! | fences of Markdown | [`Fence`] |
//! | numbers of the wire format | [`wire`], [`limits`] |
//! | how fields are read and written | [`codec`] |
//! | content that is stored elsewhere | [`ContentStore`] |
//! | blocks that are read when they are needed, and their index | [`BlockSource`], [`BlockIndex`] |
//!
//! This crate reads and writes no bytes: `lcp-decoder` and `lcp-encoder` do.
//! It has no dependencies; `serde` is an optional feature. (A FILE_TREE as deep as
//! it may be is deeper than the recursion limit of `serde_json`: lift it there.)
//!
//! ```
//! use lcp_types::{Block, BlockType, Lang};
//!
//! let block = Block::code(Lang::Rust, "src/main.rs", "fn main() {}").with_summary("entry point");
//! assert_eq!(block.block_type(), BlockType::Code);
//! assert_eq!(block.block_type().label(), "code");
//! ```

mod annotation;
mod block;
mod bytes;
pub mod codec;
pub mod content;
mod fence;
mod index;
mod level;
pub mod limits;
mod meta;
mod owned;
mod replacements;
mod source;
mod store;
mod unknown;
pub mod wire;
mod wire_enums;

pub use annotation::{Annotation, Tag};
pub use block::{Block, BlockContent, BlockType, RawBlock};
pub use bytes::CowBytes;
pub use content::{
    Code, Conversation, Diff, DiffHunk, Document, EmbeddingRef, Extension, FileEntry, FileTree,
    Image, StructuredData, ToolResult,
};
pub use fence::Fence;
pub use index::{
    AlternateCost, AlternateLevel, BlockIndex, BlockIndexBuilder, EncodingCosts, LabelColumn,
    ModeCosts, ToolCallEntry,
};
pub use level::{AlternateText, CarriedLevel};
pub use meta::{
    AnnotationError, AnnotationErrorKind, BlockMeta, HANDOFF_INDEX_VERSION, HANDOFF_TYPE_NAME,
    escape_for_display,
};
pub use owned::{FieldVisitor, IntoOwned};
pub use replacements::{DuplicateKind, Replacement, Replacements};
pub use source::{BlockSource, BlockSourceError, BlockSourceErrorKind};
pub use store::{ContentHash, ContentStore, MemoryContentStore, StoreError};
pub use unknown::{UnknownField, UnknownFields, UnknownValue};
pub use wire_enums::{
    AnnotationKind, DataFormat, FileEntryKind, FormatHint, Lang, MediaType, Priority, Role, Status,
};

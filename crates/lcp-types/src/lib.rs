//! The data model of LLM Context Packs: block types, and the constants of the wire format.
//!
//! A pack is a stream of typed [`Block`]s. The same type is used for reading and writing: decoded
//! blocks borrow from the input, and new blocks own their content or borrow it from you.
//! [`Block::into_owned`] removes the borrow.
//!
//! | topic | items |
//! |---|---|
//! | blocks and their contents | [`Block`], [`BlockContent`], [`content`] |
//! | priorities, tags, alternate texts | [`Annotation`], [`Priority`], [`Tag`], [`category`], [`CarriedLevel`]; all properties of a block: [`BlockMeta`] |
//! | duplicates and the blocks that replace them | [`Replacements`] |
//! | records of session files that are not content | [`SessionRecord`] |
//! | names of tools, for comparison | [`normalize_tool_name`] |
//! | code fences in Markdown | [`Fence`] |
//! | rows of tables, elements of lists | `RecordForm` (feature `records`) |
//! | constants of the wire format | [`wire`], [`limits`] |
//! | reading and writing of fields | [`codec`] |
//! | content stored outside the pack | [`ContentStore`] |
//! | blocks read on demand, and their index | [`BlockSource`], [`BlockIndex`] |
//!
//! This crate does not read or write bytes; `lcp-decoder` and `lcp-encoder` do. It has no
//! dependencies except those of the optional features `serde` and `records`. A FILE_TREE of the maximum depth
//! exceeds the recursion limit of `serde_json`, so raise that limit if you need such trees.
//!
//! ```
//! use lcp_types::{Block, BlockType, Lang};
//!
//! let block = Block::code(Lang::Rust, "src/main.rs", "fn main() {}").with_summary("entry point");
//! assert_eq!(block.block_type(), BlockType::Code);
//! assert_eq!(block.block_type().label(), "code");
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

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
mod passage;
#[cfg(feature = "records")]
mod records;
mod replacements;
mod session_record;
mod source;
mod store;
mod tool_name;
mod unknown;
pub mod wire;
mod wire_enums;

pub use annotation::{Annotation, Tag, category};
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
pub use passage::Passage;
#[cfg(feature = "records")]
#[cfg_attr(docsrs, doc(cfg(feature = "records")))]
pub use records::{RecordForm, Records};
pub use replacements::{DuplicateKind, Replacement, Replacements};
pub use session_record::SessionRecord;
pub use source::{BlockSource, BlockSourceError, BlockSourceErrorKind};
pub use store::{ContentHash, ContentStore, MemoryContentStore, StoreError};
pub use tool_name::normalize_tool_name;
pub use unknown::{UnknownField, UnknownFields, UnknownValue};
pub use wire_enums::{
    AnnotationKind, DataFormat, FileEntryKind, FormatHint, Lang, MediaType, Priority, Role, Status,
};

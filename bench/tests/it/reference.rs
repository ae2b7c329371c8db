//! The public reference implementation (Bit Context Protocol 1.0), in terms of
//! LCP's blocks.

use std::borrow::Cow;
use std::sync::Arc;

use bcp_encoder::{BcpEncoder, MemoryContentStore};
use bcp_types::block::BlockContent as TheirContent;
use bcp_types::content_store::ContentStore as TheirStore;
use bcp_types::enums as theirs;
use bcp_types::file_tree::FileEntryKind as TheirEntryKind;
use lcp_types::{
    Block, BlockContent, ContentHash, ContentStore, DiffHunk, FileEntry, FileEntryKind, Priority,
    StoreError,
};

/// A block as the reference has it: its summary and its content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TheirBlock {
    /// The summary.
    pub(crate) summary: Option<String>,
    /// The content.
    pub(crate) content: TheirContent,
}

impl From<bcp_types::Block> for TheirBlock {
    fn from(block: bcp_types::Block) -> Self {
        Self { summary: block.summary.map(|summary| summary.text), content: block.content }
    }
}

/// The value of an enumeration by its code; both sides have the same codes.
macro_rules! named {
    ($enum:ident, $value:expr) => {
        theirs::$enum::from_wire_byte($value.code()).expect("a named value")
    };
}

/// The block that the reference must read where LCP wrote `block`.
pub(crate) fn expected(block: &Block<'_>) -> TheirBlock {
    let content = match &block.content {
        BlockContent::Code(it) => TheirContent::Code(bcp_types::code::CodeBlock {
            lang: theirs::Lang::from_wire_byte(it.lang.code()),
            path: it.path.to_string(),
            content: it.content.as_slice().to_vec(),
            line_range: it.line_start.zip(it.line_end),
        }),
        BlockContent::Conversation(it) => {
            TheirContent::Conversation(bcp_types::conversation::ConversationBlock {
                role: named!(Role, it.role),
                content: it.content.as_slice().to_vec(),
                tool_call_id: it.tool_call_id.as_deref().map(str::to_owned),
            })
        }
        BlockContent::FileTree(it) => TheirContent::FileTree(bcp_types::file_tree::FileTreeBlock {
            root_path: it.root.to_string(),
            entries: entries(&it.entries),
        }),
        BlockContent::ToolResult(it) => {
            TheirContent::ToolResult(bcp_types::tool_result::ToolResultBlock {
                tool_name: it.tool_name.to_string(),
                status: named!(Status, it.status),
                content: it.content.as_slice().to_vec(),
                schema_hint: it.schema_hint.as_deref().map(str::to_owned),
            })
        }
        BlockContent::Document(it) => TheirContent::Document(bcp_types::document::DocumentBlock {
            title: it.title.to_string(),
            content: it.content.as_slice().to_vec(),
            format_hint: named!(FormatHint, it.format_hint),
        }),
        BlockContent::StructuredData(it) => {
            TheirContent::StructuredData(bcp_types::structured_data::StructuredDataBlock {
                format: named!(DataFormat, it.format),
                schema: it.schema.as_deref().map(str::to_owned),
                content: it.content.as_slice().to_vec(),
            })
        }
        BlockContent::Diff(it) => TheirContent::Diff(bcp_types::diff::DiffBlock {
            path: it.path.to_string(),
            hunks: hunks(&it.hunks),
        }),
        BlockContent::Annotation(it) => {
            TheirContent::Annotation(bcp_types::annotation::AnnotationBlock {
                target_block_id: it.target_block_id.try_into().expect("32 bits"),
                kind: named!(AnnotationKind, it.kind),
                value: it.value.as_slice().to_vec(),
            })
        }
        BlockContent::EmbeddingRef(it) => {
            TheirContent::EmbeddingRef(bcp_types::embedding_ref::EmbeddingRefBlock {
                vector_id: it.vector_id.as_slice().to_vec(),
                source_hash: it.source_hash.as_slice().to_vec(),
                model: it.model.to_string(),
            })
        }
        BlockContent::Image(it) => TheirContent::Image(bcp_types::image::ImageBlock {
            media_type: named!(MediaType, it.media_type),
            alt_text: it.alt_text.to_string(),
            data: it.data.as_slice().to_vec(),
        }),
        BlockContent::Extension(it) => {
            TheirContent::Extension(bcp_types::extension::ExtensionBlock {
                namespace: it.namespace.to_string(),
                type_name: it.type_name.to_string(),
                content: it.content.as_slice().to_vec(),
            })
        }
        BlockContent::Raw(it) => {
            TheirContent::Unknown { type_id: it.type_id, body: it.body.as_slice().to_vec() }
        }
    };
    TheirBlock { summary: block.summary.as_deref().map(str::to_owned), content }
}

fn entries(ours: &[FileEntry<'_>]) -> Vec<bcp_types::file_tree::FileEntry> {
    let entry = |entry: &FileEntry<'_>| bcp_types::file_tree::FileEntry {
        name: entry.name.to_string(),
        kind: match entry.kind {
            FileEntryKind::File => TheirEntryKind::File,
            FileEntryKind::Directory => TheirEntryKind::Directory,
            FileEntryKind::Other(code) => panic!("no such kind of entry there: {code}"),
        },
        size: entry.size,
        children: entries(&entry.children),
    };
    ours.iter().map(entry).collect()
}

fn hunks(ours: &[DiffHunk<'_>]) -> Vec<bcp_types::diff::DiffHunk> {
    let hunk = |hunk: &DiffHunk<'_>| bcp_types::diff::DiffHunk {
        old_start: hunk.old_start,
        new_start: hunk.new_start,
        lines: hunk.lines.as_slice().to_vec(),
    };
    ours.iter().map(hunk).collect()
}

/// Adds `block` to a pack of the reference's writer, through its own methods.
pub(crate) fn add(to: &mut BcpEncoder, block: &Block<'_>) {
    match expected(block).content {
        TheirContent::Code(it) => match it.line_range {
            None => to.add_code(it.lang, &it.path, &it.content),
            Some((first, last)) => to.add_code_range(it.lang, &it.path, &it.content, first, last),
        },
        TheirContent::Conversation(it) => match it.tool_call_id {
            None => to.add_conversation(it.role, &it.content),
            Some(id) => to.add_conversation_tool(it.role, &it.content, &id),
        },
        TheirContent::FileTree(it) => to.add_file_tree(&it.root_path, it.entries),
        TheirContent::ToolResult(it) => {
            assert_eq!(it.schema_hint, None, "the writer has no method for it");
            to.add_tool_result(&it.tool_name, it.status, &it.content)
        }
        TheirContent::Document(it) => to.add_document(&it.title, &it.content, it.format_hint),
        TheirContent::StructuredData(it) => {
            assert_eq!(it.schema, None, "the writer has no method for it");
            to.add_structured_data(it.format, &it.content)
        }
        TheirContent::Diff(it) => to.add_diff(&it.path, it.hunks),
        TheirContent::Annotation(it) => to.add_annotation(it.target_block_id, it.kind, &it.value),
        TheirContent::EmbeddingRef(it) => {
            to.add_embedding_ref(&it.vector_id, &it.source_hash, &it.model)
        }
        TheirContent::Image(it) => to.add_image(it.media_type, &it.alt_text, &it.data),
        TheirContent::Extension(it) => to.add_extension(&it.namespace, &it.type_name, &it.content),
        other => panic!("the writer has no method for {other:?}"),
    };
    if let Some(summary) = &block.summary {
        to.with_summary(summary).expect("a block was added");
    }
}

/// The reference's name of a priority.
pub(crate) fn priority(priority: Priority) -> theirs::Priority {
    named!(Priority, priority)
}

/// The reference's store, to be read by LCP's decoder.
#[derive(Clone)]
pub(crate) struct Store(pub(crate) Arc<MemoryContentStore>);

impl ContentStore for Store {
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        Ok(self.0.get(hash).map(Cow::Owned))
    }

    /// The reference hashes by itself, the same way.
    fn put(&mut self, hash: ContentHash, body: &[u8]) -> Result<(), StoreError> {
        if self.0.put(body) == hash {
            return Ok(());
        }
        Err(StoreError { message: "the reference has another hash".into() })
    }
}

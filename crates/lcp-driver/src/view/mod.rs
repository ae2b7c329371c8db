//! What there is to show of a block, the same for every mode: its head (what
//! it is), its content as text, its summary.

mod content;
mod head;
pub(crate) mod label;

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, BlockType, FormatHint, Lang};

pub(crate) use head::{Form, Head};

use crate::meta::Meta;

/// One block, ready to be rendered in any mode.
#[derive(Clone, Debug)]
pub(crate) struct View<'b> {
    pub(crate) head: Head<'b>,
    /// The content, without the newline that renderers add. `None`: the head
    /// is all there is.
    pub(crate) content: Option<Cow<'b, str>>,
    /// Whether the content holds bytes that are not UTF-8 and so are not shown.
    pub(crate) lossy: bool,
    pub(crate) summary: Option<&'b str>,
    /// Whether the content is prose, which Markdown shows without a fence.
    pub(crate) prose: bool,
    /// The language of a Markdown fence around the content.
    pub(crate) info: &'static str,
}

impl<'b> View<'b> {
    pub(crate) fn new(block: &'b Block<'_>, meta: &'b Meta<'_>) -> Self {
        let prose = match &block.content {
            BlockContent::Conversation(_) | BlockContent::Image(_) => true,
            BlockContent::Document(document) => document.format_hint != FormatHint::Html,
            _ => false,
        };
        let (content, lossy) = content::text(&block.content).unzip();
        Self {
            head: Head::new(block, Some(meta)),
            content,
            lossy: lossy.unwrap_or_default(),
            summary: meta.summary.as_deref(),
            prose,
            info: info(&block.content),
        }
    }
}

/// Whether a block can be shown at all: annotations speak of other blocks, and
/// extensions in LCP's own namespace carry what belongs to other blocks.
pub(crate) fn is_metadata(block: &Block<'_>) -> bool {
    match &block.content {
        BlockContent::Annotation(_) => true,
        BlockContent::Extension(extension) => extension.namespace == "lcp",
        _ => false,
    }
}

/// The category that a block has by its type, where no tag names one.
pub(crate) fn default_category(block_type: BlockType) -> &'static str {
    match block_type {
        BlockType::ToolResult => "tool_results",
        BlockType::Code | BlockType::Diff | BlockType::FileTree => "open_files",
        BlockType::Conversation => "conversation",
        _ => "references",
    }
}

fn info(content: &BlockContent<'_>) -> &'static str {
    match content {
        BlockContent::Code(code) if code.lang != Lang::Unknown => code.lang.name().unwrap_or(""),
        BlockContent::StructuredData(data) => data.format.name().unwrap_or(""),
        BlockContent::Document(document) => match document.format_hint {
            FormatHint::Plain => "text",
            hint => hint.name().unwrap_or(""),
        },
        BlockContent::Diff(_) => "diff",
        _ => "",
    }
}

//! What there is to show of a block, the same for every mode: its head (what
//! it is), its content as text, its summary.

mod content;
mod head;
pub(crate) mod label;

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, FormatHint, Lang, Meta, Role};

pub use content::content_text;
pub use head::block_label;
pub(crate) use head::{Form, Head};

/// One block, ready to be rendered in any mode.
#[derive(Clone, Debug)]
pub(crate) struct View<'b> {
    pub(crate) head: Head<'b>,
    /// The content, without the newline that renderers add. `None`: the head
    /// is all there is.
    pub(crate) content: Option<Cow<'b, str>>,
    /// Whether the content holds bytes that are not UTF-8 and so are not shown.
    pub(crate) lossy: bool,
    pub(crate) detailed: Option<&'b str>,
    pub(crate) summary: Option<&'b str>,
    pub(crate) tags: Option<&'b str>,
    /// Which parts of the content an excerpt keeps.
    pub(crate) keep: Keep,
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
            detailed: meta.detailed.as_deref(),
            summary: meta.summary.as_deref(),
            tags: meta.tags.as_deref(),
            keep: Keep::of(&block.content),
            prose,
            info: fence_info(&block.content),
        }
    }
}

/// The categories that a block may have by its type and role, where no tag
/// names one: the first that is a share (RFC 0004 §4).
pub(crate) fn default_categories(content: &BlockContent<'_>) -> &'static [&'static str] {
    match content {
        BlockContent::ToolResult(_) => &["tool_results", "recent_messages"],
        BlockContent::Conversation(turn) => match turn.role {
            Role::Tool => &["tool_results", "recent_messages"],
            Role::System => &["system_prompt", "conversation"],
            _ => &["conversation", "recent_messages"],
        },
        BlockContent::Code(_) | BlockContent::Diff(_) | BlockContent::FileTree(_) => {
            &["open_files", "retrieved_context"]
        }
        _ => &["references", "retrieved_context"],
    }
}

/// Which parts of a content an excerpt keeps (RFC 0004 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The beginning, where files say what they are.
    Head,
    /// The end, where tools say what went wrong, and a third of it from the
    /// beginning.
    MostlyTail,
    /// As much of both.
    Both,
}

impl Keep {
    fn of(content: &BlockContent<'_>) -> Self {
        match content {
            BlockContent::ToolResult(_) => Self::MostlyTail,
            BlockContent::Conversation(turn) if turn.role == Role::Tool => Self::MostlyTail,
            BlockContent::Conversation(_) => Self::Both,
            _ => Self::Head,
        }
    }
}

/// The language behind a Markdown fence around this content; empty for none.
#[must_use]
pub fn fence_info(content: &BlockContent<'_>) -> &'static str {
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

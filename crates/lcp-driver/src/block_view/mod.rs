//! The parts of a block that can be rendered, the same in every mode: its head, its content as
//! text, and its further levels.

mod content;
mod head;
pub(crate) mod label;
pub(crate) mod line_numbers;

use std::borrow::Cow;

use lcp_types::category::{
    OPEN_FILES, RECENT_MESSAGES, REFERENCES, RETRIEVED_CONTEXT, SYSTEM_PROMPT, TOOL_RESULTS,
};
use lcp_types::{Block, BlockContent, BlockMeta, DataFormat, FormatHint, Lang, Passage, Role};

pub use content::content_text;
pub(crate) use head::{FROM, Form, Head, RENAMED_FROM};

/// A block that is prepared for rendering in any mode.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the content")]
pub(crate) struct BlockView<'b> {
    pub(crate) head: Head<'b>,
    /// The content, without the newline that renderers add. `None` if the block has only a head.
    pub(crate) content: Option<Cow<'b, str>>,
    /// `true` if each line of the content begins with its number.
    pub(crate) numbered: bool,
    /// `true` if the content has bytes that are not UTF-8, which are not shown.
    pub(crate) lossy: bool,
    pub(crate) detailed: Option<&'b str>,
    pub(crate) summary: Option<&'b str>,
    pub(crate) tags: Option<&'b str>,
    /// The part of the content that an excerpt shows.
    pub(crate) excerpt_focus: ExcerptFocus,
    /// The passages that an excerpt shows first; empty if it shows the part above.
    pub(crate) passages: &'b [Passage],
    /// The format of structured data.
    pub(crate) data_format: Option<DataFormat>,
    /// `true` if the content may have lines that a program shortened.
    pub(crate) may_be_minified: bool,
    /// `true` if the content is prose, which Markdown shows without a fence.
    pub(crate) prose: bool,
    /// The language of a Markdown fence around the content.
    pub(crate) info: &'static str,
}

impl<'b> BlockView<'b> {
    pub(crate) fn new(block: &'b Block<'_>, meta: &'b BlockMeta<'_>) -> Self {
        let prose = match &block.content {
            BlockContent::Conversation(_) | BlockContent::Image(_) => true,
            BlockContent::Document(document) => document.format_hint != FormatHint::Html,
            _ => false,
        };
        let (mut content, lossy) = content::text(&block.content).unzip();
        let first_line = line_numbers::first_line(&block.content).filter(|_| meta.line_numbers);
        if let (Some(first), Some(text)) = (first_line, &mut content) {
            *text = Cow::Owned(line_numbers::number_lines(text, first));
        }
        Self {
            head: Head::new(block, Some(meta)),
            content,
            numbered: first_line.is_some(),
            lossy: lossy.unwrap_or_default(),
            detailed: meta.detailed.as_deref(),
            summary: meta.summary.as_deref(),
            tags: meta.tags.as_deref(),
            excerpt_focus: ExcerptFocus::for_content(&block.content),
            passages: &meta.passages,
            data_format: match &block.content {
                BlockContent::StructuredData(data) => Some(data.format),
                _ => None,
            },
            may_be_minified: matches!(&block.content, BlockContent::Code(code) if code.lang != Lang::Json),
            // Numbered lines are not Markdown.
            prose: prose && first_line.is_none(),
            info: fence_info(&block.content, meta.lang),
        }
    }
}

/// The category of turns for shares that have no section `recent_messages`.
const CONVERSATION: &str = "conversation";

/// Returns the default categories of a block. The first one that has a share applies.
pub(crate) fn default_categories(content: &BlockContent<'_>) -> &'static [&'static str] {
    match content {
        BlockContent::ToolResult(_) => &[TOOL_RESULTS, RECENT_MESSAGES],
        BlockContent::Conversation(turn) => match turn.role {
            Role::Tool => &[TOOL_RESULTS, RECENT_MESSAGES],
            Role::System => &[SYSTEM_PROMPT, CONVERSATION],
            _ => &[CONVERSATION, RECENT_MESSAGES],
        },
        BlockContent::Code(_) | BlockContent::Diff(_) | BlockContent::FileTree(_) => {
            &[OPEN_FILES, RETRIEVED_CONTEXT]
        }
        _ => &[REFERENCES, RETRIEVED_CONTEXT],
    }
}

/// The part of a content that an excerpt shows (RFC 0004 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExcerptFocus {
    /// The beginning, which has the declarations of a file.
    Head,
    /// Two thirds from the end, where tools report errors, and one third from the beginning.
    MostlyTail,
    /// Half from each end.
    Both,
}

impl ExcerptFocus {
    fn for_content(content: &BlockContent<'_>) -> Self {
        match content {
            BlockContent::ToolResult(_) => Self::MostlyTail,
            BlockContent::Conversation(turn) if turn.role == Role::Tool => Self::MostlyTail,
            BlockContent::Conversation(_) => Self::Both,
            _ => Self::Head,
        }
    }
}

/// Returns the info string of a Markdown fence around this content; it may be empty. `lang` is the
/// language of a tag ([`BlockMeta::lang`]).
#[must_use]
pub fn fence_info(content: &BlockContent<'_>, lang: Option<&'static str>) -> &'static str {
    match content {
        BlockContent::Code(code) if code.lang == Lang::Unknown => lang.unwrap_or(""),
        BlockContent::Code(code) => code.lang.name().unwrap_or(""),
        BlockContent::StructuredData(data) => data.format.name().unwrap_or(""),
        BlockContent::Document(document) => match document.format_hint {
            FormatHint::Plain => "text",
            hint => hint.name().unwrap_or(""),
        },
        BlockContent::Diff(_) => "diff",
        _ => "",
    }
}

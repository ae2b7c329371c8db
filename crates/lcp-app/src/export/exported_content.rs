//! The content that messages have of a block, by what a plan shows of it.

use std::borrow::Cow;

use lcp_driver::{BlockText, RenderDecision};
use lcp_transcripts::{ExportDetail, Format};
use lcp_types::{Block, BlockContent};

/// Returns the content that messages have of a block. `is_answer`: the block is what a tool gave,
/// and can be written as the tool did.
pub(super) fn exported_content<'b>(
    block: &Block<'_>,
    decision: &RenderDecision,
    text: &BlockText,
    is_answer: bool,
) -> ExportDetail<'b> {
    let is_full = matches!(decision, RenderDecision::Full);
    let part = || ExportDetail::Replaced(Cow::Owned(text.part.trim_end_matches('\n').to_owned()));
    let body = || text.body.clone().map_or_else(part, |body| ExportDetail::Replaced(body.into()));
    match &block.content {
        BlockContent::Conversation(_) | BlockContent::ToolResult(_) | BlockContent::Image(_) => {
            if is_full {
                ExportDetail::Full
            } else {
                body()
            }
        }
        // JSON of a provider stands there as it is, or not at all.
        BlockContent::Extension(extension) if Format::from_name(&extension.namespace).is_some() => {
            if is_full {
                ExportDetail::Full
            } else {
                ExportDetail::Omitted
            }
        }
        _ if is_answer => {
            if is_full {
                ExportDetail::Full
            } else {
                body()
            }
        }
        // With its head, which says what it is.
        _ => part(),
    }
}

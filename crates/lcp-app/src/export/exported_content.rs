//! The content of a block in exported messages, according to its decision in a plan.

use std::borrow::Cow;

use lcp_driver::{BlockText, RenderDecision};
use lcp_transcripts::{ExportDetail, Format};
use lcp_types::{Block, BlockContent};

/// Returns the content of a block in messages. `is_answer` is `true` for the result of a tool that
/// can be written in its original form.
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
        // JSON of a provider is exported unchanged or omitted.
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
        // This includes the head, which has the type and label.
        _ => part(),
    }
}

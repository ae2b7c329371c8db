//! Summaries of blocks that are there already.

use std::borrow::Cow;

use lcp_outline::Kind;
use lcp_types::limits::SUMMARY_BYTES_MAX;
use lcp_types::{Block, BlockContent, FormatHint};
use rayon::prelude::*;

use super::{Summaries, Summarizing};
use crate::{Result, threads};

/// Gives code, documents and results of tools a summary where that is smaller. Those that
/// have one keep it.
///
/// # Errors
///
/// The system has no more threads.
pub fn summarise(
    blocks: &mut [Block<'_>],
    summaries: &Summaries,
    flags: &Summarizing,
    done: &(dyn Fn() + Sync),
) -> Result {
    threads::with(flags.jobs(), || {
        blocks.par_iter_mut().for_each(|block| {
            if block.summary.is_none() {
                let summary = of(block, summaries);
                block.summary = summary.map(Into::into);
            }
            done();
        });
    })
}

fn of(block: &Block<'_>, summaries: &Summaries) -> Option<String> {
    let (kind, content) = match &block.content {
        BlockContent::Code(code) => (Kind::Code(code.lang), &code.content),
        BlockContent::Document(document) => {
            let is_markdown = document.format_hint == FormatHint::Markdown;
            (if is_markdown { Kind::Document } else { Kind::Text }, &document.content)
        }
        BlockContent::ToolResult(result) => (Kind::Text, &result.content),
        _ => return None,
    };
    let label: Cow<'_, str> = block.label();
    let summary = summaries.summary(&label, kind, content.as_str()?)?;
    let is_smaller = summary.len() < content.len();
    let fits = summary.len() as u64 <= SUMMARY_BYTES_MAX;
    (is_smaller && fits && !summary.is_empty()).then_some(summary)
}

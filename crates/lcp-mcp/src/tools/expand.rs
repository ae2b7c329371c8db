//! The tool `expand`, which returns the full text of one block in pages.

use lcp_driver::content_text;
use lcp_tokens::TokenEstimator;
use lcp_types::BlockContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{ToolError, ToolResult};
use crate::state::ServerState;
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::files;
use lcp_app::special_tokens;
use lcp_packfile::PackScan;

/// The default size of a page in bytes.
const PAGE_BYTES: usize = 64 << 10;

/// The maximum size of a page in bytes.
const PAGE_BYTES_MAX: usize = 1 << 20;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Id, or a .lcp file.
    pack: String,
    #[serde(alias = "index")]
    block: Option<usize>,
    label: Option<String>,
    /// From `next_offset`.
    #[serde(default)]
    offset: usize,
    /// Bytes.
    limit: Option<usize>,
    /// Tokens.
    budget: Option<u32>,
    #[schemars(skip)]
    encoding: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    /// The index of the block.
    block: usize,
    /// The type of the block.
    r#type: &'static str,
    /// The label of the block.
    label: String,
    /// The start of this page in bytes.
    offset: usize,
    /// The start of the next page in bytes; null after the last page.
    next_offset: Option<usize>,
    /// The size of the whole text in bytes.
    total_bytes: usize,
    /// The number of tokens in this page.
    tokens: u32,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "expand";
    const DESCRIPTION: &'static str =
        "Returns the full text of a block that `render` shortened, in pages.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        if input.block.is_some() == input.label.is_some() {
            return Err(ToolError::usage("expected either `block` or `label`"));
        }
        let file = state.pack(&input.pack)?;
        let pack = PackScan::new(&file.bytes);
        let broken = |error| ToolError::from(files::malformed(&file.name, &file.bytes, error));
        let index = match (input.block, &input.label) {
            (Some(index), _) => lcp_app::block_at(&pack, index),
            // A label can look like an index, because a file can have such a name.
            (None, label) => lcp_app::block_labelled(&pack, label.as_deref().unwrap_or_default()),
        };
        let index = match index {
            Ok(index) => index,
            // The block may be in a part of the pack that cannot be read.
            Err(failure) => {
                let unknown = || {
                    let error = ToolError::from(failure);
                    let lists = "call `render` with `report` to list the blocks";
                    if error.hint.is_some() { error } else { error.with_hint(lists) }
                };
                return Err(pack.problems().next().map_or_else(unknown, broken));
            }
        };
        if let Some(error) = &pack.frames[index].problem {
            return Err(broken(error));
        }
        let label = lcp_app::block_label(&pack, index).unwrap_or_default();
        let mut block = pack.blocks[index].clone();
        let how = special_tokens::effective(None, &state.config.settings);
        special_tokens::apply_to_block(&mut block, index, how, &file.name)?;
        let block = &block;
        let content = lcp_app::content_bytes(block);
        // A text block remains text, even if it contains NUL bytes.
        if !is_text(&block.content) && content.contains(&0) {
            let message = format!("block {index} is binary and has no text");
            return Err(ToolError::usage(message).with_hint("run `lcp cat` to print its bytes"));
        }
        let text = String::from_utf8_lossy(&content);
        let text = special_tokens::apply_to_text(text, (index, block), how, &file.name)?;
        let label = special_tokens::apply_to_text(label.into(), (index, block), how, &file.name)?;
        let page = page(&text, input.offset, input.limit)?;
        let estimator = state.tokenizer(input.encoding, input.model, false)?.estimator;
        let page = truncate(page, input.budget, &estimator)?;
        let end = input.offset + page.len();
        Ok(ToolOutput {
            text: Some(page.to_owned()),
            facts: Facts {
                block: index,
                r#type: block.content.block_type().label(),
                label: label.into_owned(),
                offset: input.offset,
                next_offset: (end < text.len()).then_some(end),
                total_bytes: text.len(),
                tokens: estimator.estimate(page),
            },
        })
    }
}

/// Returns whether blocks of this type contain text.
fn is_text(content: &BlockContent<'_>) -> bool {
    !matches!(content, BlockContent::Image(_)) && content_text(content).is_some()
}

/// Returns a page of a text. A page ends between two characters.
fn page(text: &str, offset: usize, limit: Option<usize>) -> ToolResult<&str> {
    let limit = limit.unwrap_or(PAGE_BYTES);
    if !(1..=PAGE_BYTES_MAX).contains(&limit) {
        return Err(ToolError::usage(format!("limit must be from 1 to {PAGE_BYTES_MAX}")));
    }
    let rest = text.get(offset..).ok_or_else(|| {
        let bytes = text.len();
        let message = format!("no page can start at offset {offset} (the text has {bytes} bytes)");
        let hint = "start at 0, then pass `next_offset` of the previous page";
        ToolError::usage(message).with_hint(hint)
    })?;
    let mut end = limit.min(rest.len());
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    // A page has at least one character, because otherwise paging would never end.
    let one = rest.chars().next().map_or(0, char::len_utf8);
    Ok(&rest[..end.max(one)])
}

/// Truncates a page to a token budget.
fn truncate<'t>(
    page: &'t str,
    budget: Option<u32>,
    estimator: &dyn TokenEstimator,
) -> ToolResult<&'t str> {
    let Some(budget) = budget else { return Ok(page) };
    let cut = estimator.truncate_to(page, budget);
    if cut.is_empty() && !page.is_empty() {
        let message = format!("a budget of {budget} is too small for one character of this page");
        return Err(ToolError::new("over_budget", message).with_hint("pass a larger `budget`"));
    }
    Ok(cut)
}

#[cfg(test)]
mod tests;

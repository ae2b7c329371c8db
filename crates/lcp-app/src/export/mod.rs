//! Messages of a pack within a budget (RFC 0010 §5.3).

mod exported_content;
mod fit;
mod options;

use std::collections::BTreeSet;

use lcp_driver::{BlockTexts, Plan, RenderDecision};
use lcp_tokens::TokenEstimator;
use lcp_transcripts::{ExportBlock, ExportDetail, ExportResult, Format, Provider, annotation_keys};
use lcp_types::{Annotation, Block, BlockContent, Role, Tag};

use crate::find_block::tagged;
use exported_content::exported_content;
use fit::has_turns;
pub use fit::{FitError, FittedMessages, fit};
pub use options::{ExportOptions, ExportedPack, ResultOrder};

/// Tokens of a message in addition to its texts.
const MESSAGE_TOKENS: u64 = 4;
/// Tokens of a request in addition to its messages.
const HISTORY_TOKENS: u64 = 3;

/// The blocks of a pack that messages for a provider can contain.
#[derive(Debug)]
pub struct ExportCandidates<'b> {
    target: Provider,
    blocks: &'b [Block<'b>],
    /// Blocks that are subject to the budget.
    planned: BTreeSet<usize>,
    /// Blocks that are included at any cost: the parts of a request other than messages.
    always_included: BTreeSet<usize>,
    /// The number of blocks in side conversations; they are left out.
    pub sidechains: usize,
    /// The messages without a budget.
    pub full_export: ExportResult,
}

impl<'b> ExportCandidates<'b> {
    /// Collects the candidates of a pack.
    pub fn new(target: Provider, blocks: &'b [Block<'b>]) -> Self {
        let sidechains = tagged(blocks, annotation_keys::SIDECHAIN);
        let along: BTreeSet<_> = (0..blocks.len())
            .filter(|at| !sidechains.contains(at) && comes_along(&blocks[*at]))
            .collect();
        let all: Vec<_> = blocks
            .iter()
            .enumerate()
            .map(|(at, block)| {
                let shown = if sidechains.contains(&at) {
                    ExportDetail::Omitted
                } else {
                    ExportDetail::Full
                };
                ExportBlock { block, detail: shown }
            })
            .collect();
        let whole = lcp_transcripts::export(target, &all, None);
        let planned = whole.messages.iter().flat_map(|message| message.blocks.iter().copied());
        let planned = planned.collect();
        Self {
            target,
            blocks,
            planned,
            always_included: along,
            sidechains: sidechains.len(),
            full_export: whole,
        }
    }

    /// Returns whether no block can be part of a message.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// Returns the blocks of the newest user message: first all of them, then only the last.
    fn newest(&self) -> Vec<BTreeSet<usize>> {
        self.last_of_user(&|block| match &block.content {
            BlockContent::Conversation(turn) => turn.role == Role::User,
            BlockContent::ToolResult(_) => false,
            _ => true,
        })
    }

    /// Returns the same for the newest user message with text.
    fn question(&self) -> Vec<BTreeSet<usize>> {
        self.last_of_user(&|block| {
            matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::User)
        })
    }

    fn last_of_user(&self, is_said: &dyn Fn(&Block<'_>) -> bool) -> Vec<BTreeSet<usize>> {
        let metas = lcp_types::BlockMeta::resolve_all(self.blocks, &mut |_, _| {});
        let is_said = |at: &usize| {
            let block = &self.blocks[*at];
            let is_turn = matches!(block.content, BlockContent::Conversation(_));
            (is_turn || metas[*at].tool_call_id.is_none()) && is_said(block)
        };
        let of_user =
            self.full_export.messages.iter().rev().filter(|message| message.role == "user");
        let mut said = of_user.map(|message| -> BTreeSet<_> {
            message.blocks.iter().copied().filter(is_said).collect()
        });
        let Some(newest) = said.find(|newest| !newest.is_empty()) else { return Vec::new() };
        let last = newest.last().copied().into_iter().collect();
        if newest.len() == 1 { vec![newest] } else { vec![newest, last] }
    }

    /// Returns the blocks with placeholders for those that no message can contain. A placeholder is
    /// an annotation without tokens, so that all other blocks keep their indices.
    fn to_plan(&self) -> Vec<Block<'b>> {
        let nothing =
            |at: usize| Block::new(Annotation::tag(at as u64, &Tag::from_key("unexported")));
        let block = |(at, block): (usize, &Block<'b>)| {
            let is_kept = block.content.is_metadata() || self.planned.contains(&at);
            if is_kept { block.clone() } else { nothing(at) }
        };
        self.blocks.iter().enumerate().map(block).collect()
    }

    /// Returns the blocks that are missing from these messages, except for those that the plan
    /// omits.
    fn unseen(&self, plan: &Plan, exported: &ExportResult) -> Vec<usize> {
        let seen: BTreeSet<_> =
            exported.messages.iter().flat_map(|message| message.blocks.iter().copied()).collect();
        let is_told = |at: &usize| plan.items[*at].decision != RenderDecision::Omit;
        self.planned.difference(&seen).copied().filter(is_told).collect()
    }

    /// Exports the messages of a plan without the blocks in `dropped`.
    fn export(&self, plan: &Plan, texts: &BlockTexts, dropped: &BTreeSet<usize>) -> ExportResult {
        let mut blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|block| ExportBlock { block, detail: ExportDetail::Omitted })
            .collect();
        let metas = lcp_types::BlockMeta::resolve_all(self.blocks, &mut |_, _| {});
        let forms = tagged(self.blocks, annotation_keys::FORM);
        for text in &texts.shown {
            let at = text.index;
            if dropped.contains(&at) || !self.planned.contains(&at) {
                continue;
            }
            let is_answer = metas[at].tool_call_id.is_some() && forms.contains(&at);
            let decision = &plan.items[at].decision;
            blocks[at].detail = exported_content(&self.blocks[at], decision, text, is_answer);
        }
        for at in &self.always_included {
            blocks[*at].detail = ExportDetail::Full;
        }
        let note = texts.roll_up.as_deref().map(str::trim_end);
        lcp_transcripts::export(self.target, &blocks, note)
    }
}

/// Counts the tokens of a request: those of the texts of its messages
/// ([`ExportedMessage::text`](lcp_transcripts::ExportedMessage::text)), 4 for each message, 3 for
/// the request, and those of its other parts, such as tools.
pub fn count(exported: &ExportResult, estimator: &dyn TokenEstimator) -> u64 {
    let texts = exported.messages.iter().map(|message| message.text.as_str());
    let tokens = texts.map(|text| u64::from(estimator.estimate(text)) + MESSAGE_TOKENS);
    tokens.sum::<u64>() + HISTORY_TOKENS + request_extra_tokens(exported, estimator)
}

/// Counts the tokens of the parts of a request other than messages, such as tools, in their written
/// form ([`ExportResult::request_extras`]).
fn request_extra_tokens(exported: &ExportResult, estimator: &dyn TokenEstimator) -> u64 {
    exported.request_extras().map_or(0, |json| estimator.estimate(&json).into())
}

/// Returns whether a block holds a part of a request other than its messages.
fn comes_along(block: &Block<'_>) -> bool {
    block.as_extension().is_some_and(|extension| {
        Format::from_name(&extension.namespace).is_some() && extension.type_name == "request"
    })
}

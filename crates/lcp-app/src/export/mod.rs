//! Messages of a pack within a budget (RFC 0010 §5.3).

mod exported_content;
mod fit;
mod fit_error;
mod message_counts;
mod options;

use std::collections::BTreeSet;

use lcp_driver::{BlockTexts, Plan, RenderDecision};
use lcp_transcripts::{
    ExportBlock, ExportDetail, ExportResult, ExportedMessage, Format, Provider, annotation_keys,
};
use lcp_types::{Annotation, Block, BlockContent, BlockMeta, Priority, Role, Tag};

use crate::find_block::tagged;
use crate::rank::SessionRanking;
use exported_content::exported_content;
pub(crate) use fit::FitRules;
pub use fit::{FittedMessages, fit};
pub use fit_error::FitError;
pub use message_counts::count;
pub use options::{ExportOptions, ExportedPack};

/// The order in which a budget shows the older tool results and files of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultOrder {
    /// By what the newest request of the user needs.
    #[default]
    Relevance,
    /// By the ranks of the pack. Imports rank newer messages higher.
    Rank,
}

impl ResultOrder {
    /// Returns the annotations that give blocks this order.
    fn annotations(self, blocks: &[Block<'_>]) -> Vec<Block<'static>> {
        match self {
            Self::Relevance => SessionRanking::new(blocks).annotations(),
            Self::Rank => Vec::new(),
        }
    }
}

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
    /// The order of older results and files. [`ExportCandidates::new`] sets the ranks of the pack.
    pub order: ResultOrder,
    /// The annotations of the order, if they are known.
    order_annotations: Option<Vec<Block<'static>>>,
    /// The tokens of an image. [`ExportCandidates::new`] sets none.
    pub image_tokens: u32,
    /// The results of tools that can be written in their original form.
    answers: BTreeSet<usize>,
    /// The blocks of the newest user message: first all of them, then only the last.
    newest: Vec<BTreeSet<usize>>,
    /// The same for the newest user message with text.
    question: Vec<BTreeSet<usize>>,
    /// The blocks of the newest turn that are shown with the rest of their message.
    companions: Vec<Companions>,
}

/// Blocks of a message that are shown wherever another one of its blocks is. These are images and
/// other parts of the newest question that only the provider understands, and the thinking after it.
/// Without it, Anthropic rejects the calls, and the models of `OpenAI` think again.
#[derive(Debug)]
struct Companions {
    blocks: Vec<usize>,
    /// The other blocks of the message, or of the items that follow.
    rest: Vec<usize>,
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
        let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
        let last_of_user = |is_wanted: &dyn Fn(&Block<'_>) -> bool| {
            last_of_user(&whole, |at| {
                let block = &blocks[at];
                let is_turn = matches!(block.content, BlockContent::Conversation(_));
                (is_turn || metas[at].tool_call_id.is_none()) && is_wanted(block)
            })
        };
        let is_user = |block: &Block<'_>| matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::User);
        let newest = last_of_user(&|block| match &block.content {
            BlockContent::Conversation(_) => is_user(block),
            BlockContent::ToolResult(_) => false,
            _ => true,
        });
        let question = last_of_user(&is_user);
        let mut answers = tagged(blocks, annotation_keys::FORM);
        answers.retain(|at| metas[*at].tool_call_id.is_some());
        let companions = companions(&whole, &question, blocks);
        Self {
            target,
            blocks,
            planned,
            always_included: along,
            sidechains: sidechains.len(),
            full_export: whole,
            order: ResultOrder::Rank,
            order_annotations: None,
            image_tokens: 0,
            answers,
            newest,
            question,
            companions,
        }
    }

    /// Shows blocks with the rest of their message.
    fn show_companions(&self, plan: &mut Plan) {
        for Companions { blocks, rest } in &self.companions {
            if rest.iter().any(|at| plan.items[*at].decision.is_shown()) {
                for at in blocks {
                    plan.items[*at].decision = RenderDecision::Full;
                }
            }
        }
    }

    /// Returns the thinking after the newest question, by message, oldest first.
    fn thinking(&self) -> impl Iterator<Item = &Companions> {
        let is_thought = |of: &&Companions| of.blocks.iter().all(|at| self.is_thought(*at));
        self.companions.iter().rev().filter(is_thought)
    }

    fn is_thought(&self, at: usize) -> bool {
        is_thought(&self.blocks[at])
    }

    /// Returns whether a plan shows every message in full.
    fn is_complete(&self, plan: &Plan) -> bool {
        let is_full = |at: &usize| plan.items[*at].decision == RenderDecision::Full;
        plan.rolled_up.is_none() && self.planned.iter().all(is_full)
    }

    /// Returns the dropped blocks, and the rest of each message that lost a companion.
    fn with_rest<'d>(&self, dropped: impl Iterator<Item = &'d usize>) -> BTreeSet<usize> {
        let mut dropped: BTreeSet<usize> = dropped.copied().collect();
        for Companions { blocks, rest } in &self.companions {
            if blocks.iter().any(|at| dropped.contains(at)) {
                dropped.extend(rest);
            }
        }
        dropped
    }

    /// Counts the tokens of the images that are `shown` in messages. The others are placeholders.
    fn image_tokens(&self, exported: &ExportResult, shown: impl Fn(usize) -> bool) -> u64 {
        if self.image_tokens == 0 {
            return 0;
        }
        let blocks = exported.messages.iter().flat_map(|message| &message.blocks);
        let images = blocks.filter(|at| is_image(&self.blocks[**at]) && shown(**at));
        images.count() as u64 * u64::from(self.image_tokens)
    }

    /// Returns the oldest images, without which the others have at most this many tokens. Critical
    /// and pinned images and those of the newest message of the user stay.
    fn excess_images(&self, limit: u64) -> BTreeSet<usize> {
        if self.image_tokens == 0 {
            return BTreeSet::new();
        }
        let images = self.planned.iter().rev().filter(|at| is_image(&self.blocks[**at]));
        let mut tokens = 0;
        let mut excess: BTreeSet<usize> = images
            .filter(|_| {
                tokens += u64::from(self.image_tokens);
                tokens > limit
            })
            .copied()
            .collect();
        if !excess.is_empty() {
            let metas = BlockMeta::resolve_all(self.blocks, &mut |_, _| {});
            let is_fixed =
                |at: &usize| metas[*at].pinned || metas[*at].priority == Priority::Critical;
            let is_companion = |at: &usize| self.companions.iter().any(|of| of.blocks.contains(at));
            let newest = self.newest.first();
            let is_newest = |at: &usize| newest.is_some_and(|blocks| blocks.contains(at));
            excess.retain(|at| !is_fixed(at) && !is_companion(at) && !is_newest(at));
        }
        excess
    }

    /// Returns whether no block can be part of a message.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// Returns the blocks with placeholders for those that no message can contain. A placeholder is
    /// an annotation without tokens, so that all other blocks keep their indices. The annotations of
    /// the order follow.
    fn to_plan(&self, order: Vec<Block<'static>>) -> Vec<Block<'b>> {
        let nothing =
            |at: usize| Block::new(Annotation::tag(at as u64, &Tag::from_key("unexported")));
        let block = |(at, block): (usize, &Block<'b>)| {
            let is_kept = block.content.is_metadata() || self.planned.contains(&at);
            if is_kept { block.clone() } else { nothing(at) }
        };
        self.blocks.iter().enumerate().map(block).chain(order).collect()
    }

    /// Returns the annotations that give the blocks their order.
    fn order_annotations(&self) -> Vec<Block<'static>> {
        let known = self.order_annotations.clone();
        known.unwrap_or_else(|| self.order.annotations(self.blocks))
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
        for text in &texts.shown {
            let at = text.index;
            if dropped.contains(&at) || !self.planned.contains(&at) {
                continue;
            }
            let decision = &plan.items[at].decision;
            let is_answer = self.answers.contains(&at);
            blocks[at].detail = exported_content(&self.blocks[at], decision, text, is_answer);
        }
        for at in &self.always_included {
            blocks[*at].detail = ExportDetail::Full;
        }
        let note = texts.roll_up.as_deref().map(str::trim_end);
        lcp_transcripts::export(self.target, &blocks, note)
    }
}

/// Returns the wanted blocks of the newest user message that has any: first all of them, then only
/// the last.
fn last_of_user(export: &ExportResult, is_wanted: impl Fn(usize) -> bool) -> Vec<BTreeSet<usize>> {
    let of_user = export.messages.iter().rev().filter(|message| message.role == "user");
    let mut wanted = of_user.map(|message| -> BTreeSet<_> {
        message.blocks.iter().copied().filter(|at| is_wanted(*at)).collect()
    });
    let Some(newest) = wanted.find(|newest| !newest.is_empty()) else { return Vec::new() };
    let last = newest.last().copied().into_iter().collect();
    if newest.len() == 1 { vec![newest] } else { vec![newest, last] }
}

/// Returns the companions in the newest question and after it.
fn companions(
    export: &ExportResult,
    question: &[BTreeSet<usize>],
    blocks: &[Block<'_>],
) -> Vec<Companions> {
    let last = question.last().and_then(|last| last.last().copied());
    let mut all = Vec::new();
    for (at, message) in export.messages.iter().enumerate().rev() {
        let is_question = last.is_some_and(|last| message.blocks.contains(&last));
        let (companions, mut rest): (Vec<_>, Vec<_>) = message.blocks.iter().partition(|at| {
            is_thought(&blocks[**at]) || is_question && is_attachment(&blocks[**at])
        });
        if rest.is_empty() {
            // The items of OpenAI's responses are messages of their own.
            let thinks =
                |next: &&ExportedMessage| next.blocks.iter().any(|at| is_thought(&blocks[*at]));
            let next = export.messages[at + 1..].iter();
            let next = next.take_while(|next| next.role == "assistant").skip_while(thinks);
            rest.extend(next.take_while(|next| !thinks(next)).flat_map(|next| &next.blocks));
        }
        if !companions.is_empty() {
            all.push(Companions { blocks: companions, rest });
        }
        if is_question {
            break;
        }
    }
    all
}

/// Returns whether a block is thinking of a model.
pub(crate) fn is_thought(block: &Block<'_>) -> bool {
    block.as_extension().is_some_and(|extension| {
        matches!(&*extension.type_name, "thinking" | "redacted_thinking" | "reasoning")
    })
}

/// Returns whether a block is a part of a message other than text.
fn is_attachment(block: &Block<'_>) -> bool {
    matches!(block.content, BlockContent::Image(_) | BlockContent::Extension(_))
}

/// Returns whether a block is an image, with its data or by its address.
fn is_image(block: &Block<'_>) -> bool {
    let BlockContent::Extension(extension) = &block.content else {
        return matches!(block.content, BlockContent::Image(_));
    };
    let is_of_image = || extension.content.to_str_lossy().contains(r#""image/"#);
    Format::from_name(&extension.namespace).is_some()
        && match &*extension.type_name {
            "image" | "image_url" | "input_image" => true,
            // Parts of Gemini.
            "fileData" | "file_data" | "inlineData" | "inline_data" => is_of_image(),
            _ => false,
        }
}

/// Returns whether a block holds a part of a request other than its messages.
fn comes_along(block: &Block<'_>) -> bool {
    block.as_extension().is_some_and(|extension| {
        Format::from_name(&extension.namespace).is_some() && extension.type_name == "request"
    })
}

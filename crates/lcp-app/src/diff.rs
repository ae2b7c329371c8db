//! The differences of two packs, with their tokens.

use std::sync::Arc;

use lcp_driver::{OutputMode, Plan};
use lcp_packfile::{BlockPair, Change, DiffSide};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockType, Priority};
use serde::Serialize;

use crate::costs;
use crate::error::{Error, ErrorKind, Result};
use crate::names::serialize_label;

/// The differences of two packs; serialized, the report `lcp.diff.v1`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "schema", rename = "lcp.diff.v1")]
pub struct PackDiff {
    /// The name of the encoding that counts.
    pub encoding: String,
    /// `true` if its counts are exact.
    pub exact: bool,
    /// `true` if the packs differ.
    pub differs: bool,
    /// The number of blocks only in the second pack.
    pub added: u64,
    /// The number of blocks only in the first pack.
    pub removed: u64,
    /// The number of blocks in both packs that have changed.
    pub changed: u64,
    /// The number of blocks in both packs whose position differs.
    pub moved: u64,
    /// The number of blocks in both packs that are equal.
    pub same: u64,
    /// Tokens of content that the second pack has in addition.
    pub tokens_added: u64,
    /// Tokens of content that the second pack lacks.
    pub tokens_removed: u64,
    /// The blocks that differ, in the order of the second pack; removed blocks follow their
    /// predecessor.
    pub blocks: Vec<BlockDiff>,
}

/// A block that differs.
#[derive(Clone, Debug, Serialize)]
pub struct BlockDiff {
    /// The kind of the difference.
    #[serde(rename = "fate")]
    pub kind: DiffKind,
    /// Its type.
    #[serde(rename = "type", serialize_with = "serialize_label")]
    pub block_type: BlockType,
    /// Its label in the second pack, else in the first.
    pub label: String,
    /// Its index in the first pack.
    pub a: Option<usize>,
    /// Its index in the second pack.
    pub b: Option<usize>,
    /// The names of parts that differ.
    pub changed: Vec<&'static str>,
    /// `true` if its position among the blocks in both packs differs.
    pub moved: bool,
    /// Tokens of its content.
    pub tokens: TokenPair,
    /// Its priorities in both packs, if it is in both.
    #[serde(skip)]
    pub priorities: Option<(Priority, Priority)>,
}

/// A kind of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// The block is in the second pack alone.
    Added,
    /// The block is in the first pack alone.
    Removed,
    /// The block is in both, with changes.
    Changed,
    /// The block is in both at a different position, without changes.
    Moved,
}

/// Tokens of a block in two packs; `None` where it is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TokenPair {
    /// Tokens in the first pack.
    pub a: Option<u64>,
    /// Tokens in the second pack.
    pub b: Option<u64>,
}

impl PackDiff {
    /// Compares the blocks of two packs.
    ///
    /// # Errors
    ///
    /// Returns an error if the blocks cannot be planned.
    pub fn new(
        a: &[Block<'_>],
        b: &[Block<'_>],
        estimator: &Arc<dyn TokenEstimator>,
    ) -> Result<Self> {
        let plan = |blocks: &[Block<'_>]| {
            let mut plans = costs::full_costs(blocks, &[OutputMode::Minimal], estimator)?;
            plans.pop().ok_or_else(|| Error::new(ErrorKind::Usage, "the mode has no plan"))
        };
        let (plan_a, plan_b) = (plan(a)?, plan(b)?);
        let (a, b) = (DiffSide::new(a), DiffSide::new(b));
        let mut diff =
            Self { encoding: plan_a.encoding.clone(), exact: plan_a.exact, ..Self::default() };
        for pair in lcp_packfile::diff(&a, &b) {
            let tokens = TokenPair { a: tokens(&plan_a, pair.a), b: tokens(&plan_b, pair.b) };
            diff.add(pair, tokens, &a, &b);
        }
        diff.differs = !diff.blocks.is_empty();
        Ok(diff)
    }

    fn add(&mut self, pair: BlockPair, tokens: TokenPair, a: &DiffSide<'_>, b: &DiffSide<'_>) {
        let (before, after) = (tokens.a.unwrap_or_default(), tokens.b.unwrap_or_default());
        self.tokens_added += after.saturating_sub(before);
        self.tokens_removed += before.saturating_sub(after);
        let (kind, count) = match pair.change() {
            Change::Added => (DiffKind::Added, &mut self.added),
            Change::Removed => (DiffKind::Removed, &mut self.removed),
            Change::Common if !pair.has_changed() => {
                self.same += 1;
                return;
            }
            Change::Common if pair.changed.is_empty() => (DiffKind::Moved, &mut self.moved),
            Change::Common => {
                self.moved += u64::from(pair.moved);
                (DiffKind::Changed, &mut self.changed)
            }
        };
        *count += 1;
        let of = |side: &DiffSide<'_>, at: usize| {
            (side.blocks[at].block_type(), side.metas[at].label(&side.blocks[at]).into_owned())
        };
        let newest = pair.b.map(|at| of(b, at)).or_else(|| pair.a.map(|at| of(a, at)));
        let Some((block_type, label)) = newest else { return };
        let both = pair.a.zip(pair.b);
        self.blocks.push(BlockDiff {
            kind,
            block_type,
            label,
            a: pair.a,
            b: pair.b,
            changed: pair.changed,
            moved: pair.moved,
            tokens,
            priorities: both.map(|(old, new)| (a.metas[old].priority, b.metas[new].priority)),
        });
    }
}

/// Returns the tokens of a block's content, if the pack has the block.
fn tokens(plan: &Plan, index: Option<usize>) -> Option<u64> {
    index.map(|index| plan.items.get(index).map_or(0, |item| item.content_tokens.into()))
}

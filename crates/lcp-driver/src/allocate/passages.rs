//! The passages of a tier, chosen across its blocks by score (RFC 0014).
//!
//! Passages are first taken by approximate costs. Then each block is paid for by the exact cost of
//! its excerpt. Tokens that remain are spent in the same way, a few times.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::Passage;

use super::{
    AllocationInput, BudgetLedger, Candidate, Eligibility, Excerpter, PassageCosts, Selection,
};

/// The part of the budget that passages leave to blocks without content, if there are any: one in
/// this number of tokens. They are named with it.
pub(super) const NAMED_PART: u64 = 32;

/// The number of successive passages that do not fit after which no more are tried.
const MISSES_MAX: usize = 64;

/// The minimum tokens left for which passages are tried.
const LEFT_MIN: u64 = 32;

/// The number of times that left tokens are spent on passages.
const ROUNDS: usize = 3;

/// The maximum number of attempts at an excerpt that can be paid for.
const TRIES_MAX: usize = 24;

/// The passages that are shown of each candidate.
pub(super) type ShownPassages = BTreeMap<usize, Vec<usize>>;

/// A candidate whose passages compete.
struct Block {
    i: usize,
    costs: PassageCosts,
    /// The passages that are shown, ascending.
    shown: Vec<usize>,
    /// The approximate cost of its part, which is exact after it was paid for.
    cost: u64,
    is_full: bool,
    /// `true` if passages were taken that are not paid for.
    owes: bool,
}

/// A passage that competes: its score, its block and its index there. There can be many millions.
type Entry = (Reverse<u16>, u32, u32);

/// Spends tokens on the best passages of a tier. Returns `false` if it has none.
pub(super) fn show_passages(
    input: AllocationInput<'_>,
    ledger: &mut BudgetLedger<'_>,
    excerpter: &mut dyn Excerpter,
    tier: &[usize],
    shown: &mut ShownPassages,
) -> bool {
    let candidates = input.candidates;
    let mut blocks = Vec::new();
    for &i in tier.iter().filter(|&&i| may_show_passages(&candidates[i])) {
        let before = shown.remove(&i);
        let has_content =
            ledger.chosen(i).is_some_and(|selection| selection.has_content(&candidates[i]));
        // A level or another excerpt shows it.
        if has_content && before.is_none() {
            continue;
        }
        let costs = excerpter.passages(i);
        if !costs.passages.is_empty() {
            let cost = ledger.chosen(i).map_or(0, |selection| selection.cost(&candidates[i]));
            let is_full = ledger.chosen(i) == Some(Selection::Level(0));
            let shown = before.unwrap_or_default();
            blocks.push(Block { i, costs, shown, cost, is_full, owes: false });
        }
    }
    if blocks.is_empty() {
        return false;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (at, block) in (0..).zip(&blocks) {
        let passages = (0..).zip(&block.costs.passages);
        entries.extend(passages.map(|(passage, (score, _))| (Reverse(*score), at, passage)));
    }
    entries.sort_unstable();
    let reserve = named_tokens(input, ledger, tier, &blocks);
    for _ in 0..ROUNDS {
        if !take(input, ledger, &mut blocks, &entries, reserve) {
            break;
        }
        // Passages of the highest score are certainly needed, so their blocks are paid for first.
        let mut order: Vec<_> = (0..blocks.len()).filter(|&at| blocks[at].owes).collect();
        order.sort_by_key(|&at| !blocks[at].has_best());
        for at in order {
            blocks[at].pay(candidates, ledger, excerpter);
        }
    }
    let served = blocks.into_iter().filter(|block| !block.shown.is_empty());
    shown.extend(served.map(|block| (block.i, block.shown)));
    true
}

fn may_show_passages(candidate: &Candidate) -> bool {
    candidate.has_passages
        && candidate.may_be_cut
        && candidate.ceiling == 0
        && candidate.eligibility == Eligibility::Competes
}

/// Returns the tokens that passages leave to the other blocks of a tier.
fn named_tokens(
    input: AllocationInput<'_>,
    ledger: &BudgetLedger<'_>,
    tier: &[usize],
    blocks: &[Block],
) -> u64 {
    let most = input.budget / NAMED_PART;
    let mut with_passages = blocks.iter().map(|block| block.i).peekable();
    let mut wanted = 0;
    // Both lists are in the order of service.
    for &i in tier {
        if with_passages.next_if_eq(&i).is_some() {
            continue;
        }
        let candidate = &input.candidates[i];
        if ledger.chosen(i).is_none_or(|selection| !selection.has_content(candidate)) {
            wanted += candidate.costs[candidate.ceiling];
        }
        if wanted >= most {
            return most;
        }
    }
    wanted
}

/// Takes the best passages that fit by their approximate costs. Returns whether there are any.
fn take(
    input: AllocationInput<'_>,
    ledger: &BudgetLedger<'_>,
    blocks: &mut [Block],
    entries: &[Entry],
    reserve: u64,
) -> bool {
    let mut spent = 0;
    let mut spent_of_share = vec![0; input.shares.len()];
    let (mut misses, mut any) = (0, false);
    for &(Reverse(score), at, passage) in entries {
        let (block, passage) = (&mut blocks[at as usize], passage as usize);
        let share = input.candidates[block.i].share;
        // Passages of the highest score may use the tokens that name other blocks.
        let is_best = score == Passage::SCORE_MAX;
        let reserve = if is_best { 0 } else { reserve };
        let left = ledger.left().saturating_sub(spent + reserve);
        if !is_best && (left < LEFT_MIN || misses >= MISSES_MAX) {
            break;
        }
        let Err(place) = block.shown.binary_search(&passage) else { continue };
        if block.is_full {
            continue;
        }
        let tokens = u64::from(block.costs.passages[passage].1);
        let first = block.shown.is_empty();
        let frame = if first { u64::from(block.costs.frame).saturating_sub(block.cost) } else { 0 };
        let extra = tokens + frame;
        let of_share = spent_of_share.get(share).copied().unwrap_or_default();
        if extra > left {
            misses += 1;
            continue;
        }
        // A full share does not end the walk for the others.
        if extra > ledger.share_left(share).saturating_sub(of_share) {
            continue;
        }
        misses = 0;
        any = true;
        spent += extra;
        if let Some(of_share) = spent_of_share.get_mut(share) {
            *of_share += extra;
        }
        block.cost += extra;
        block.shown.insert(place, passage);
        block.owes = true;
    }
    any
}

impl Block {
    /// Returns whether it shows a passage of the highest score.
    fn has_best(&self) -> bool {
        self.shown.iter().any(|&at| self.costs.passages[at].0 == Passage::SCORE_MAX)
    }

    /// Pays for the excerpt of the passages that were taken, without those that cannot be paid for.
    fn pay(
        &mut self,
        candidates: &[Candidate],
        ledger: &mut BudgetLedger<'_>,
        excerpter: &mut dyn Excerpter,
    ) {
        let (i, full) = (self.i, candidates[self.i].costs[0]);
        self.owes = false;
        for _ in 0..TRIES_MAX {
            if self.shown.is_empty() {
                break;
            }
            let affordable = ledger.affordable(i);
            let made = excerpter.show_passages(i, &self.shown);
            let excess = match made.filter(|(_, cost)| *cost < full) {
                Some((key, cost)) if cost <= affordable => {
                    ledger.choose_passages(i, key, cost);
                    break;
                }
                Some((_, cost)) => cost - affordable,
                None if full <= affordable => {
                    ledger.upgrade(i, 0, 1);
                    self.is_full = true;
                    break;
                }
                // Without its lowest passage, it is not shown in full.
                None => 1,
            };
            self.costs.drop_lowest(&mut self.shown, excess);
        }
        self.cost = ledger.chosen(i).map_or(0, |selection| selection.cost(&candidates[i]));
    }
}

//! Plans that keep what stands before (RFC 0005 §6).

use std::collections::{HashMap, VecDeque};

use lcp_types::{BlockMeta, Priority, escape_for_display};

use super::decide::Decided;
use super::scan::Scan;
use super::sharing::Sharing;
use super::{Made, Settled};
use crate::block_view::Head;
use crate::budget::RenderDecision;
use crate::budget::cost::Detail;
use crate::budget::walk::{Item, Standing, fixed};
use crate::config::Objective;
use crate::error::DriverError;
use crate::facts::RENDERER_REVISION;
use crate::prompt_cache::{
    Hash, Old, PreviousPlan, RepackReason, SavedPart, StableOptions, StableOutcome, TextReuse,
    hash_of,
};
use crate::render::envelope;
use crate::text::{self, Layout, Metas, Piece, Text};
use crate::warning::{Warning, WarningCode};

/// What stands as in the text before.
#[derive(Debug)]
pub(super) struct Kept<'k> {
    pub(super) parts: &'k [SavedPart],
    /// The places of their blocks among those that can be shown, in the order
    /// of the text.
    pub(super) order: Vec<usize>,
    /// What was said of them, by their index in the pack.
    pub(super) metas: HashMap<usize, BlockMeta<'k>>,
    /// The part of each block, by its place among those that can be shown.
    part_of: HashMap<usize, usize>,
    /// The places of old blocks without a part.
    out: Vec<usize>,
    /// Tokens of the text before, up to the end of its last part.
    tokens: u32,
}

impl Kept<'_> {
    /// What the text before shows of the block at this place.
    pub(super) fn part(&self, at: usize) -> Option<&SavedPart> {
        self.part_of.get(&at).map(|&part| &self.parts[part])
    }
}

/// The tokens of a budget between which a text grows.
#[derive(Clone, Copy)]
struct Marks {
    budget: u32,
    high: u32,
    low: u32,
}

/// A plan that stands.
struct Stands {
    turn: TextReuse,
    cause: Option<RepackReason>,
    settled: Settled,
    sharing: Sharing,
}

impl<'c> Scan<'_, 'c> {
    /// Keeps what stands in the text before, or packs anew.
    pub(super) fn stable(
        &mut self,
        budget: u32,
        stable: &'c StableOptions,
        warnings: &mut Vec<Warning>,
    ) -> Result<Made, DriverError> {
        let hashes: Vec<_> = self.shown.iter().map(|(i, _)| hash_of(&self.blocks[*i])).collect();
        let (high, low) = stable.watermarks.tokens(budget);
        let marks = Marks { budget, high, low };
        let mut previous = stable.previous.as_deref();
        let mut kept = None;
        if let Some(plan) = previous {
            match self.recognise(plan, &hashes) {
                Ok(recognised) => kept = Some(recognised),
                Err(reason) => {
                    let message =
                        format!("the previous plan is not used, a fresh one is made: {reason}");
                    warnings.push(Warning::new(WarningCode::PreviousRefused, None, message));
                    previous = None;
                }
            }
        }
        let previous_tokens = kept.as_ref().map_or(0, |kept| kept.tokens);
        let stands = match kept {
            Some(kept) => self.carry_on(kept, marks, warnings)?,
            None => self.pack(TextReuse::Fresh, None, marks, warnings)?,
        };
        let stable = self.stable_use(&stands, marks, &hashes, previous, previous_tokens);
        let Stands { settled, sharing, .. } = stands;
        Ok(Made { settled, sharing, stable: Some(stable) })
    }

    /// Finds the blocks of a saved plan, and checks that their parts can be
    /// rendered as they were; else says why not.
    fn recognise(&self, plan: &'c PreviousPlan, hashes: &[Hash]) -> Result<Kept<'c>, String> {
        if plan.renderer != RENDERER_REVISION {
            return Err(format!(
                "it is of version {} of the text's forms, this is version {RENDERER_REVISION}",
                plan.renderer
            ));
        }
        if plan.encoding != self.estimator.name() {
            let (its, this) = (escape_for_display(plan.encoding.as_bytes()), self.estimator.name());
            return Err(format!("its tokens are those of {its}, not of {this:?}"));
        }
        if plan.mode != self.config.mode {
            let (its, this) = (plan.mode.name(), self.config.mode.name());
            return Err(format!("its mode is {its}, not {this}"));
        }
        let (order, out) = find(plan, hashes)?;
        let index = |at: usize| self.shown[at].0;
        let metas = order.iter().zip(&plan.parts).map(|(&at, part)| (index(at), part.meta()));
        let part_of = order.iter().enumerate().map(|(part, &at)| (at, part)).collect();
        let metas: HashMap<_, _> = metas.collect();
        let shown = order.iter().zip(&plan.parts);
        let shown = shown.map(|(&at, part)| (index(at), part.piece, self.shown[at].1.content));
        let layout = Layout { shown: shown.collect(), rolled_up: None };
        let metas_in_force = Metas { own: self.metas, kept: Some(&metas) };
        let text = text::render(self.blocks, metas_in_force, self.config.mode, &layout);
        for (number, (text, part)) in text.parts(self.config.mode).zip(&plan.parts).enumerate() {
            if Hash::of(text.as_bytes()) != part.text {
                return Err(format!("its part {number} is not what the block renders to"));
            }
        }
        let tokens = self.prefix_tokens(&plan.parts, &text);
        Ok(Kept { parts: &plan.parts, order, metas, part_of, out, tokens })
    }

    /// Appends to the text before, where that can be; else packs anew.
    fn carry_on(
        &mut self,
        kept: Kept<'c>,
        marks: Marks,
        warnings: &mut Vec<Warning>,
    ) -> Result<Stands, DriverError> {
        let is_whole = |piece: Piece| piece == Piece::Detail(Detail::Full);
        let lowered = kept.order.iter().zip(kept.parts);
        let lowered = lowered.filter(|(_, part)| !is_whole(part.piece)).map(|(&at, _)| at);
        let became = lowered.chain(kept.out.iter().copied()).any(|at| self.items[at].is_fixed());
        if became {
            return self.pack(
                TextReuse::Repacked,
                Some(RepackReason::BecameCritical),
                marks,
                warnings,
            );
        }
        if self.lacks_question(&kept, marks.budget) {
            return self.pack(TextReuse::Repacked, Some(RepackReason::Question), marks, warnings);
        }
        if self.holds_back(&kept, marks.low) {
            return self.pack(TextReuse::Repacked, Some(RepackReason::Pair), marks, warnings);
        }
        let musts = self.musts();
        let before = self.items.clone();
        freeze(&mut self.items, &kept);
        let is_new = |item: &&Item| item.standing == Standing::Free;
        let standing = self.envelope + fixed_kept(&self.items);
        let turn: u64 = self.items.iter().filter(is_new).map(|item| self.demand(item)).sum();
        let is_out = |item: &Item| item.standing == Standing::Out && item.is_rest();
        let line = if self.items.iter().any(is_out) { self.roll_up_bound() } else { 0 };
        let needed = standing + turn + line;
        let (high, low) = (u64::from(marks.high), u64::from(marks.low));
        let (target, cause) = if needed <= high {
            (Some(marks.high), None)
        } else if musts >= low {
            (Some(marks.budget), Some(RepackReason::CriticalAboveLow))
        } else if turn == 0 {
            // Of what adds nothing the text itself says whether it fits: parts
            // may count more by themselves.
            (Some(marks.high), None)
        } else if turn > high - low && needed <= u64::from(marks.budget) {
            (Some(marks.budget), Some(RepackReason::TurnAboveGap))
        } else {
            (None, Some(RepackReason::HighWatermark))
        };
        self.kept = Some(kept);
        let why = match target.map(|target| self.within(target)) {
            Some(Ok((settled, sharing, own))) => {
                warnings.extend(own);
                // What was reckoned can be more than what came of it.
                if let Some(cause) = cause.filter(|_| settled.used > marks.high) {
                    warnings.push(above(cause, settled.used, marks));
                }
                return Ok(Stands { turn: TextReuse::Appended, cause, settled, sharing });
            }
            Some(Err(why)) => Some(why),
            None => cause,
        };
        self.items = before;
        self.kept = None;
        self.pack(TextReuse::Repacked, why, marks, warnings)
    }

    /// Tokens that no plan can do without: those of Critical and pinned blocks,
    /// and of the newest user turn.
    fn musts(&self) -> u64 {
        let question = self.first().map_or(0, |first| {
            let item = &self.items[first];
            item.costs[item.ceiling]
        });
        self.envelope + fixed(&self.items) + question
    }

    /// What a plan made anew within so many tokens decides for each block.
    fn anew(&self, budget: u32) -> Vec<Decided> {
        let mut sharing = Sharing::new(self, budget, &mut Vec::new());
        let anew = self.adaptive(budget, &mut sharing, &mut Vec::new());
        anew.map(|anew| anew.decided).unwrap_or_default()
    }

    /// Whether the newest user turn is old and has no part, or less than all,
    /// though a plan made anew would show more of it.
    fn lacks_question(&self, kept: &Kept<'_>, budget: u32) -> bool {
        let Some(newest) = self.first() else { return false };
        let is_out = kept.out.contains(&newest);
        let shown = match kept.part(newest).map(|part| part.piece) {
            None if !is_out => return false,
            Some(Piece::Detail(Detail::Full)) => return false,
            piece => piece,
        };
        let anew = self.anew(budget);
        anew.get(newest).is_some_and(|(decision, ..)| match shown {
            None => decision.is_shown(),
            Some(Piece::Detail(Detail::Placeholder)) => decision.shows_content(),
            Some(_) => *decision == RenderDecision::Full,
        })
    }

    /// Whether a new block cannot be shown since others of its tool call have
    /// no part of the text, though a plan made anew would show it.
    fn holds_back(&self, kept: &Kept<'_>, low: u32) -> bool {
        let groups = &self.relations.groups;
        if groups.is_empty() || kept.out.is_empty() {
            return false;
        }
        let mut is_out = vec![false; self.items.len()];
        let mut is_new = vec![true; self.items.len()];
        kept.out.iter().for_each(|&at| (is_out[at], is_new[at]) = (true, false));
        kept.order.iter().for_each(|&at| is_new[at] = false);
        let is_rest = |at: usize| is_new[at] && self.items[at].is_rest();
        let is_held = |group: &&Vec<usize>| {
            group.iter().any(|&at| is_rest(at)) && group.iter().any(|&at| is_out[at])
        };
        let held: Vec<_> = groups.iter().filter(is_held).collect();
        if held.is_empty() {
            return false;
        }
        let anew = self.anew(low);
        let is_shown = |at: &usize| anew.get(*at).is_some_and(|(decision, ..)| decision.is_shown());
        held.into_iter().any(|group| group.iter().any(is_shown))
    }

    /// Whether a share has more than its cap allows, and that is not for its
    /// Critical blocks.
    fn exceeds_a_cap(&self, settled: &Settled, sharing: &Sharing) -> bool {
        let tokens: Vec<_> = settled.decided.iter().map(|(_, _, tokens)| *tokens).collect();
        sharing.excess(&self.items, &tokens).iter().any(|over| *over > 0)
    }
}

/// What has a part keeps it, at its cost; what has none gets none.
fn freeze(items: &mut [Item], kept: &Kept<'_>) {
    for (&at, part) in kept.order.iter().zip(kept.parts) {
        let item = &mut items[at];
        item.standing = Standing::Kept;
        item.costs = [u64::from(part.cost)].into_iter().collect();
        item.ceiling = 0;
        item.telling = usize::from(part.piece != Piece::Detail(Detail::Placeholder));
    }
    for &at in &kept.out {
        items[at].standing = Standing::Out;
    }
}

/// An append or a pack that can stand, and what it warns of; else why not.
type Within = Result<(Settled, Sharing, Vec<Warning>), RepackReason>;

impl Scan<'_, '_> {
    /// A plan within `target`, if nothing is missing that must not be.
    fn within(&self, target: u32) -> Within {
        let mut warnings = Vec::new();
        let mut sharing = Sharing::new(self, target, &mut warnings);
        let Ok(settled) = self.adaptive(target, &mut sharing, &mut warnings) else {
            return Err(RepackReason::HighWatermark);
        };
        if !settled.fits || settled.used > target || self.exceeds_a_cap(&settled, &sharing) {
            return Err(RepackReason::HighWatermark);
        }
        let is_shown = |&&at: &&usize| settled.decided[at].0.is_shown();
        let is_torn = |group: &Vec<usize>| {
            let shown = group.iter().filter(is_shown).count();
            shown > 0 && shown < group.len()
        };
        if self.relations.groups.iter().any(is_torn) {
            return Err(RepackReason::Pair);
        }
        let lacks = |newest: usize| {
            let item = &self.items[newest];
            u64::from(settled.decided[newest].2) < item.costs[item.ceiling]
        };
        if self.first().is_some_and(lacks) {
            return Err(RepackReason::HighWatermark);
        }
        Ok((settled, sharing, warnings))
    }

    /// What a block is to have where all can be had. Under tiers, Background
    /// takes nothing from others; by value it may.
    fn demand(&self, item: &Item) -> u64 {
        let waits = self.config.objective == Objective::Strict;
        if item.priority == Priority::Background && waits { 0 } else { item.costs[item.ceiling] }
    }

    /// Packs everything anew: below the high watermark if that holds all, else
    /// down to the low one.
    fn pack(
        &mut self,
        turn: TextReuse,
        cause: Option<RepackReason>,
        marks: Marks,
        warnings: &mut Vec<Warning>,
    ) -> Result<Stands, DriverError> {
        let fixed = self.envelope + fixed(&self.items);
        let rest = self.items.iter().filter(|item| !item.is_fixed());
        let whole = fixed + rest.map(|item| self.demand(item)).sum::<u64>();
        let target = if whole <= marks.high.into() {
            marks.high
        } else if self.musts() >= marks.low.into() {
            // Half of what they leave is left for the turns to come.
            let middle = u64::midpoint(self.musts(), marks.budget.into());
            u32::try_from(middle).map_or(marks.budget, |middle| middle.min(marks.budget))
        } else {
            marks.low
        };
        let is_empty = |warning: &Warning| warning.code == WarningCode::EmptyResult;
        if let Ok((settled, sharing, own)) = self.within(target)
            && !own.iter().any(is_empty)
        {
            warnings.extend(own);
            return Ok(Stands { turn, cause, settled, sharing });
        }
        let mut sharing = Sharing::new(self, marks.budget, warnings);
        let settled = self.adaptive(marks.budget, &mut sharing, warnings)?;
        Ok(Stands { turn, cause, settled, sharing })
    }

    /// Tokens of a text up to the end of these parts, its first ones.
    fn prefix_tokens(&self, parts: &[SavedPart], text: &Text) -> u32 {
        let Some(last) = parts.len().checked_sub(1) else { return 0 };
        if !self.estimator.is_additive() {
            return self.estimator.estimate(&text.text[..text.ends[last].1]);
        }
        let opening = self.estimator.estimate(envelope(self.config.mode).0);
        parts.iter().fold(opening, |sum, part| sum.saturating_add(part.cost))
    }

    /// What became of the text before, which had so many tokens, and what the
    /// next one needs.
    fn stable_use(
        &self,
        stands: &Stands,
        marks: Marks,
        hashes: &[Hash],
        previous: Option<&PreviousPlan>,
        previous_tokens: u32,
    ) -> StableOutcome {
        let settled = &stands.settled;
        let mode = self.config.mode;
        let order = self.text_order(&settled.decided);
        let mut parts = Vec::with_capacity(order.len());
        for (&at, text) in order.iter().zip(settled.text.parts(mode)) {
            let kept = self.kept.as_ref().and_then(|kept| kept.part(at));
            parts.push(match kept {
                Some(part) => SavedPart { place: at, ..part.clone() },
                None => self.saved_part(at, hashes[at], &settled.decided[at], text),
            });
        }
        let is_unshown = |at: &usize| !settled.decided[*at].0.is_shown();
        let unshown = (0..self.shown.len()).filter(is_unshown).map(|at| hashes[at]).collect();
        let before = previous.map_or(&[][..], |previous| &previous.parts);
        let same = parts.iter().zip(before).take_while(|(part, before)| part.text == before.text);
        let same = same.count();
        let end = |parts: usize| parts.checked_sub(1).map_or(0, |last| settled.text.ends[last].1);
        StableOutcome {
            turn: stands.turn,
            cause: stands.cause,
            high_tokens: marks.high,
            low_tokens: marks.low,
            prefix_bytes: end(parts.len()),
            prefix_tokens: self.prefix_tokens(&parts, &settled.text),
            previous_tokens,
            kept_bytes: end(same),
            kept_tokens: self.prefix_tokens(&parts[..same], &settled.text),
            order: order.iter().map(|&at| self.shown[at].0).collect(),
            next: PreviousPlan {
                renderer: RENDERER_REVISION,
                encoding: self.estimator.name().to_owned(),
                mode,
                parts,
                unshown,
            },
        }
    }

    fn saved_part(&self, at: usize, block: Hash, decided: &Decided, text: &str) -> SavedPart {
        let index = self.shown[at].0;
        let (meta, (decision, _, cost)) = (&self.metas[index], decided);
        let level = match decision {
            RenderDecision::Detailed => meta.detailed.as_deref(),
            RenderDecision::Summary => meta.summary.as_deref(),
            RenderDecision::Tags => meta.tags.as_deref(),
            _ => None,
        };
        SavedPart {
            place: at,
            block,
            piece: Piece::of(decision).unwrap_or(Piece::Detail(Detail::Full)),
            cost: *cost,
            text: Hash::of(text.as_bytes()),
            priority: Head::new(&self.blocks[index], Some(meta)).priority,
            tool_call_id: meta.tool_call_id.as_deref().map(str::to_owned),
            level: level.map(str::to_owned),
        }
    }
}

/// The places, among blocks with these hashes, of those of a saved plan: of its
/// parts, in their order, and of blocks without. Equal blocks are told by their
/// order in the pack.
fn find(plan: &PreviousPlan, hashes: &[Hash]) -> Result<(Vec<usize>, Vec<usize>), String> {
    let mut found: HashMap<Hash, VecDeque<usize>> = HashMap::new();
    for (at, hash) in hashes.iter().enumerate() {
        found.entry(*hash).or_default().push_back(at);
    }
    let mut wanted: HashMap<Hash, usize> = HashMap::new();
    for part in &plan.parts {
        *wanted.entry(part.block).or_default() += 1;
    }
    let (mut order, mut out) = (vec![None; plan.parts.len()], Vec::new());
    for old in plan.blocks() {
        match old {
            Old::Part(number, part) => {
                order[number] = found.get_mut(&part.block).and_then(VecDeque::pop_front);
                wanted.entry(part.block).and_modify(|wanted| *wanted -= 1);
            }
            Old::Unshown(hash) => {
                let wanted = wanted.get(hash).copied().unwrap_or_default();
                // Where one is gone, it is one that was not shown.
                let spare = found.get_mut(hash).filter(|places| places.len() > wanted);
                out.extend(spare.and_then(VecDeque::pop_front));
            }
        }
    }
    let missing = |number: usize| {
        format!("the block of its part {number} is not in this pack, or not asked for")
    };
    let order = order.into_iter().enumerate();
    let order = order.map(|(number, place)| place.ok_or_else(|| missing(number)));
    Ok((order.collect::<Result<_, _>>()?, out))
}

/// Tokens of what stands.
fn fixed_kept(items: &[Item]) -> u64 {
    let kept = items.iter().filter(|item| item.standing == Standing::Kept);
    kept.map(|item| item.costs[0]).sum()
}

fn above(cause: RepackReason, used: u32, marks: Marks) -> Warning {
    let why = match cause {
        RepackReason::CriticalAboveLow => {
            "critical and pinned blocks and the newest question alone reach the low one"
        }
        _ => "the turn is larger than what lies between the watermarks",
    };
    let message = format!(
        "the text has {used} tokens, above its high watermark of {}: packing anew would not help, {why}",
        marks.high,
    );
    Warning::new(WarningCode::AboveWatermark, None, message)
}

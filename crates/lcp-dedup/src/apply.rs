//! Applies detected duplicates to blocks: builds new texts and a smaller pack, and counts the saved
//! tokens.

use std::collections::{BTreeMap, HashMap};

use lcp_tokens::TokenEstimator;
use lcp_types::{
    Annotation, AnnotationKind, Block, BlockContent, BlockMeta, DuplicateKind, Replacement,
    Replacements, Tag,
};

use crate::detect::{Detected, tokens};
use crate::state::{Lines, Outcome, StubKind};
use crate::stub::StubTarget;

/// The result of deduplication.
#[derive(Clone, Debug)]
pub struct DedupResult<'a> {
    /// The covered blocks and the tokens that each saves, for the driver.
    pub duplicates: Replacements,
    /// The blocks with a new text, by index.
    pub changed_blocks: BTreeMap<usize, Block<'a>>,
}

impl Detected {
    /// Returns whether no block changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.iter().all(Option::is_none)
    }

    /// Returns whether a block has other lines than in the pack.
    fn changes_lines(&self) -> bool {
        let changed =
            |outcome: &Outcome| matches!(outcome, Outcome::Grown(_) | Outcome::Cut { .. });
        self.outcomes.iter().flatten().any(changed)
    }

    /// Builds the new texts and counts the tokens that they save. `blocks` must be the blocks that
    /// were passed to [`detect`](crate::detect()).
    #[must_use]
    pub fn apply<'a>(
        &self,
        blocks: &[Block<'a>],
        estimator: &dyn TokenEstimator,
    ) -> DedupResult<'a> {
        let mut duplicates = Replacements::default();
        let mut replaced = BTreeMap::new();
        let mut counts = TokenCounts { blocks, estimator, known: HashMap::new() };
        let mut merged: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let metas = self.changes_lines().then(|| BlockMeta::resolve_all(blocks, &mut |_, _| {}));
        let summary = |index: usize| metas.as_ref()?.get(index)?.summary.as_deref();
        // A merged block does not need the summaries of contained chunks.
        let adds_lines = |index: &usize| {
            let outcome = &self.outcomes[*index];
            !matches!(outcome, Some(Outcome::Covered { relation: DuplicateKind::Contained, .. }))
        };
        let annotated = BlockMeta::resolve_annotated(blocks);
        // Line ranges come first, because references name them.
        for (index, outcome) in self.outcomes.iter().enumerate() {
            if let Some(Outcome::Grown(lines) | Outcome::Cut { lines, .. }) = outcome
                && let Some(block) = blocks.get(index)
            {
                let members = lines.members.iter().copied().filter(adds_lines);
                let summaries: Option<Vec<&str>> = members.map(summary).collect();
                replaced.insert(index, with_lines(block, lines, summaries));
            }
        }
        for (index, outcome) in self.outcomes.iter().enumerate() {
            let Some((outcome, block)) = outcome.as_ref().zip(blocks.get(index)) else { continue };
            let (by, relation, in_place, tokens_saved) = match outcome {
                Outcome::Grown(_) => continue,
                Outcome::Cut { by, lines } => {
                    let saved = counts.of_block(index).saturating_sub(counts.text(&lines.text));
                    (*by, DuplicateKind::Overlapping, true, saved)
                }
                Outcome::Covered { by, relation, stub } => {
                    // Equal contents have equal token counts.
                    let same = if *relation == DuplicateKind::Equal { *by } else { index };
                    let before = counts.of_block(same);
                    let target = replaced.get(by).or(blocks.get(*by));
                    let is_cut = matches!(self.outcomes.get(*by), Some(Some(Outcome::Cut { .. })));
                    let target = target.map(|block| StubTarget::new(block, annotated.get(by)));
                    let target = target.map(|by| if is_cut { by.cut() } else { by });
                    let above = by < &index;
                    // An extended block contains the equal content and more.
                    let has_more = matches!(self.outcomes.get(*by), Some(Some(Outcome::Grown(_))));
                    let said = match relation {
                        DuplicateKind::Equal if has_more => DuplicateKind::Contained,
                        relation => *relation,
                    };
                    let text = match stub {
                        StubKind::None => None,
                        StubKind::Reference => {
                            let line = target.map(|by| by.line(above, said));
                            let is_outdated = said == DuplicateKind::Superseded;
                            let shorten =
                                |line| if is_outdated { shorten(line, block) } else { line };
                            line.map(|line| shorten(line).into_bytes())
                        }
                        StubKind::Changes(changes) => target.map(|by| by.changes(above, changes)),
                    };
                    let after = text.as_deref().map_or(0, |text| counts.text(text));
                    let in_place = text.is_some();
                    if let Some(text) = text {
                        replaced.insert(index, with_text(block, text));
                    }
                    if matches!(self.outcomes.get(*by), Some(Some(Outcome::Grown(_)))) {
                        merged.entry(*by).or_default().push(index);
                    }
                    (*by, *relation, in_place, before.saturating_sub(after))
                }
            };
            duplicates.covered.insert(index, Replacement { by, relation, in_place, tokens_saved });
        }
        // Lines that moved to another block save no tokens.
        for (index, mut members) in merged {
            let Some(Some(Outcome::Grown(lines))) = self.outcomes.get(index) else { continue };
            let mut growth = counts.text(&lines.text).saturating_sub(counts.of_block(index));
            // The growth is charged first to the blocks that lines moved from.
            let is_copy = |member: &usize| {
                let covered = duplicates.covered.get(member);
                !covered.is_some_and(|it| {
                    matches!(it.relation, DuplicateKind::Overlapping | DuplicateKind::Adjacent)
                })
            };
            members.sort_by_key(is_copy);
            for member in members {
                if let Some(covered) = duplicates.covered.get_mut(&member) {
                    let paid = growth.min(covered.tokens_saved);
                    covered.tokens_saved -= paid;
                    growth -= paid;
                }
            }
        }
        duplicates.changed = replaced.keys().copied().collect();
        duplicates.shared.clone_from(&self.shared);
        DedupResult { duplicates, changed_blocks: replaced }
    }
}

/// A cache of the token counts of contents.
struct TokenCounts<'b, 'a, 'e> {
    blocks: &'b [Block<'a>],
    estimator: &'e dyn TokenEstimator,
    known: HashMap<usize, u64>,
}

impl TokenCounts<'_, '_, '_> {
    fn of_block(&mut self, index: usize) -> u64 {
        let Some(block) = self.blocks.get(index) else { return 0 };
        *self.known.entry(index).or_insert_with(|| content_tokens(self.estimator, block))
    }

    fn text(&self, text: &[u8]) -> u64 {
        tokens(self.estimator, text)
    }
}

/// Counts the tokens of the text of a block. A block without text counts its hunks, names or
/// alternative text.
fn content_tokens(estimator: &dyn TokenEstimator, block: &Block<'_>) -> u64 {
    match &block.content {
        BlockContent::Diff(diff) => {
            diff.hunks.iter().map(|hunk| tokens(estimator, hunk.lines.as_slice())).sum()
        }
        BlockContent::FileTree(tree) => {
            let mut names = String::new();
            let mut left: Vec<_> = tree.entries.iter().collect();
            while let Some(entry) = left.pop() {
                names.push_str(&entry.name);
                names.push('\n');
                left.extend(&entry.children);
            }
            tokens(estimator, names.as_bytes())
        }
        BlockContent::Image(image) => tokens(estimator, image.alt_text.as_bytes()),
        content => content.text().map_or(0, |text| tokens(estimator, text.as_slice())),
    }
}

/// Returns the reference to a newer block, or a short one if the content is shorter than the
/// reference. Outdated content is always replaced, even if it is short.
fn shorten(line: String, block: &Block<'_>) -> String {
    let is_longer = block.content.text().is_some_and(|text| text.len() < line.len());
    if is_longer { "[outdated: see below]".to_owned() } else { line }
}

/// Returns the block with another text.
fn with_text<'a>(block: &Block<'a>, text: Vec<u8>) -> Block<'a> {
    let mut block = block.clone();
    block.summary = None;
    if let BlockContent::Code(code) = &mut block.content {
        (code.line_start, code.line_end) = (None, None);
    }
    if let Some(content) = block.content.text_mut() {
        *content = text.into();
    }
    block
}

/// Returns the block with other lines. Merged lines get the summaries of their source chunks if all
/// of these have one.
fn with_lines<'a>(block: &Block<'a>, lines: &Lines, summaries: Option<Vec<&str>>) -> Block<'a> {
    let mut block = with_text(block, lines.text.clone());
    if let BlockContent::Code(code) = &mut block.content {
        (code.line_start, code.line_end) = (Some(lines.first), Some(lines.last));
    }
    // The summary of a cut chunk describes lines that it lost, so it is dropped.
    block.summary = summaries.filter(|_| lines.members.len() > 1).map(|mut summaries| {
        summaries.dedup();
        summaries.join("\n").into()
    });
    block
}

impl<'a> DedupResult<'a> {
    /// Returns all blocks, with the new texts at their indices and removed blocks unchanged. Pass
    /// them with [`Self::duplicates`] to a driver.
    #[must_use]
    pub fn blocks_with_stubs(&self, mut blocks: Vec<Block<'a>>) -> Vec<Block<'a>> {
        for (&index, block) in &self.changed_blocks {
            if let Some(place) = blocks.get_mut(index) {
                place.clone_from(block);
            }
        }
        blocks
    }

    /// Returns the blocks of a pack without the removed ones. Annotations and levels refer to the
    /// new indices, and covering blocks inherit priorities, ranks and pins.
    #[must_use]
    pub fn to_pack_blocks(&self, blocks: &[Block<'a>]) -> Vec<Block<'a>> {
        let all = self.blocks_with_stubs(blocks.to_vec());
        let mut keeps: Vec<_> =
            all.iter().enumerate().map(|(index, block)| self.keeps(index, block)).collect();
        // Blocks that refer to removed blocks are removed too, transitively.
        loop {
            let is_lost = |index: &usize| {
                let target =
                    all[*index].target_index().and_then(|target| usize::try_from(target).ok());
                keeps[*index] && target.is_some_and(|target| keeps.get(target) == Some(&false))
            };
            let lost: Vec<_> = (0..all.len()).filter(is_lost).collect();
            if lost.is_empty() {
                break;
            }
            for index in lost {
                keeps[index] = false;
            }
        }
        let kept: Vec<_> = (0..all.len()).filter(|&index| keeps[index]).collect();
        let new_indices: HashMap<u64, u64> =
            (0u64..).zip(&kept).map(|(new, &old)| (old as u64, new)).collect();
        let new_index = |target| new_indices.get(&target).copied().unwrap_or(target);
        let mut pack: Vec<_> =
            kept.iter().map(|&old| all[old].clone().with_target(new_index)).collect();
        let before = BlockMeta::resolve_all(&all, &mut |_, _| {});
        let mut after = before.clone();
        self.duplicates.inherit_metadata(&all, &mut after);
        for (new, &old) in (0u64..).zip(&kept) {
            let (before, after) = (&before[old], &after[old]);
            if before.priority != after.priority {
                pack.push(Block::new(Annotation::priority(new, after.priority)));
            }
            if let Some(rank) = after.rank.filter(|rank| before.rank != Some(*rank)) {
                let tag = Tag::new(Tag::RANK, rank.to_string());
                pack.push(Block::new(Annotation::tag(new, &tag)));
            }
            if after.pinned && !before.pinned {
                pack.push(Block::new(Annotation::tag(new, &Tag::from_key(Tag::PINNED))));
            }
        }
        pack
    }

    /// Returns whether a block remains: it is not removed, and does not refer to a removed block or
    /// a replaced text.
    fn keeps(&self, index: usize, block: &Block<'_>) -> bool {
        let of_content = match &block.content {
            BlockContent::Annotation(annotation) => annotation.kind == AnnotationKind::Summary,
            _ => true,
        };
        let gone = block
            .target_index()
            .and_then(|target| usize::try_from(target).ok())
            .is_some_and(|target| {
                self.duplicates.is_removed(target)
                    || (of_content && self.duplicates.changed.contains(&target))
            });
        !self.duplicates.is_removed(index) && !gone
    }
}

//! What was found, as blocks: in their places, or as a pack of its own.

use std::collections::{BTreeMap, HashMap};

use lcp_tokens::TokenEstimator;
use lcp_types::{
    Annotation, AnnotationKind, Block, BlockContent, BlockMeta, DuplicateKind, Replacement,
    Replacements, Tag,
};

use crate::find::{Found, tokens};
use crate::reference::Target;
use crate::work::{Fate, Lines, Place};

/// What deduplication makes of a pack.
#[derive(Clone, Debug)]
pub struct Deduplicated<'a> {
    /// Which blocks others cover, and the tokens that this saves: what a driver
    /// needs.
    pub duplicates: Replacements,
    /// The blocks that have another text, by their index.
    pub replaced: BTreeMap<usize, Block<'a>>,
}

impl Found {
    /// How many blocks are covered or have another text.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fates.iter().flatten().count()
    }

    /// Whether every block stays as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fates.iter().all(Option::is_none)
    }

    /// Whether a block has other lines than in the pack.
    fn changes_lines(&self) -> bool {
        let changed = |fate: &Fate| matches!(fate, Fate::Grown(_) | Fate::Cut { .. });
        self.fates.iter().flatten().any(changed)
    }

    /// Makes the new texts and counts what they save. `blocks` are those that
    /// this was found in.
    #[must_use]
    pub fn apply<'a>(
        &self,
        blocks: &[Block<'a>],
        estimator: &dyn TokenEstimator,
    ) -> Deduplicated<'a> {
        let mut duplicates = Replacements::default();
        let mut replaced = BTreeMap::new();
        let mut counts = Counts { blocks, estimator, known: HashMap::new() };
        let mut merged: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let metas = self.changes_lines().then(|| BlockMeta::resolve_all(blocks, &mut |_, _| {}));
        let summary = |index: usize| metas.as_ref()?.get(index)?.summary.as_deref();
        // What adds no line has nothing to say of them.
        let adds_lines = |index: &usize| {
            let fate = &self.fates[*index];
            !matches!(fate, Some(Fate::Covered { relation: DuplicateKind::Contained, .. }))
        };
        let annotated = BlockMeta::resolve_annotated(blocks);
        // Ranges first, for the lines that refer to what grew.
        for (index, fate) in self.fates.iter().enumerate() {
            if let Some(Fate::Grown(lines) | Fate::Cut { lines, .. }) = fate
                && let Some(block) = blocks.get(index)
            {
                let members = lines.members.iter().copied().filter(adds_lines);
                let summaries: Option<Vec<&str>> = members.map(summary).collect();
                replaced.insert(index, with_lines(block, lines, summaries));
            }
        }
        for (index, fate) in self.fates.iter().enumerate() {
            let Some((fate, block)) = fate.as_ref().zip(blocks.get(index)) else { continue };
            let (by, relation, in_place, tokens_saved) = match fate {
                Fate::Grown(_) => continue,
                Fate::Cut { by, lines } => {
                    let saved = counts.of(index).saturating_sub(counts.text(&lines.text));
                    (*by, DuplicateKind::Overlapping, true, saved)
                }
                Fate::Covered { by, relation, place } => {
                    // What is equal has as many tokens.
                    let same = if *relation == DuplicateKind::Equal { *by } else { index };
                    let before = counts.of(same);
                    let target = replaced.get(by).or(blocks.get(*by));
                    let is_cut = matches!(self.fates.get(*by), Some(Some(Fate::Cut { .. })));
                    let target = target.map(|block| Target::new(block, annotated.get(by)));
                    let target = target.map(|by| if is_cut { by.cut() } else { by });
                    let above = by < &index;
                    // What grew has it, and more.
                    let has_more = matches!(self.fates.get(*by), Some(Some(Fate::Grown(_))));
                    let said = match relation {
                        DuplicateKind::Equal if has_more => DuplicateKind::Contained,
                        relation => *relation,
                    };
                    let text = match place {
                        Place::Nothing => None,
                        Place::Reference => {
                            target.map(|by| short(by.line(above, said), block).into_bytes())
                        }
                        Place::Hunks(hunks) => target.map(|by| by.diff(above, hunks)),
                    };
                    let after = text.as_deref().map_or(0, |text| counts.text(text));
                    let in_place = text.is_some();
                    if let Some(text) = text {
                        replaced.insert(index, with_text(block, text));
                    }
                    if matches!(self.fates.get(*by), Some(Some(Fate::Grown(_)))) {
                        merged.entry(*by).or_default().push(index);
                    }
                    (*by, *relation, in_place, before.saturating_sub(after))
                }
            };
            duplicates.covered.insert(index, Replacement { by, relation, in_place, tokens_saved });
        }
        // What a block grew by is not saved.
        for (index, mut members) in merged {
            let Some(Some(Fate::Grown(lines))) = self.fates.get(index) else { continue };
            let mut growth = counts.text(&lines.text).saturating_sub(counts.of(index));
            // Those that it grew by come first.
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
        Deduplicated { duplicates, replaced }
    }
}

/// Tokens of contents, each counted once.
struct Counts<'b, 'a, 'e> {
    blocks: &'b [Block<'a>],
    estimator: &'e dyn TokenEstimator,
    known: HashMap<usize, u64>,
}

impl Counts<'_, '_, '_> {
    fn of(&mut self, index: usize) -> u64 {
        let Some(block) = self.blocks.get(index) else { return 0 };
        *self.known.entry(index).or_insert_with(|| content_tokens(self.estimator, block))
    }

    fn text(&self, text: &[u8]) -> u64 {
        tokens(self.estimator, text)
    }
}

/// The tokens of what a block holds: its text, else its names and lines.
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

/// The line, or a short one where the content is shorter than that: what is outdated
/// misleads whatever its length.
fn short(line: String, block: &Block<'_>) -> String {
    let is_longer = block.content.text().is_some_and(|text| text.len() < line.len());
    if is_longer { "[outdated: see below]".to_owned() } else { line }
}

/// The block with this text in place of its own.
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

/// The block with these lines, and the summaries of all that they come from, if all
/// have one.
fn with_lines<'a>(block: &Block<'a>, lines: &Lines, summaries: Option<Vec<&str>>) -> Block<'a> {
    let mut block = with_text(block, lines.text.clone());
    if let BlockContent::Code(code) = &mut block.content {
        (code.line_start, code.line_end) = (Some(lines.first), Some(lines.last));
    }
    // A chunk that was cut has lost some of what its own says.
    block.summary = summaries.filter(|_| lines.members.len() > 1).map(|mut summaries| {
        summaries.dedup();
        summaries.join("\n").into()
    });
    block
}

impl<'a> Deduplicated<'a> {
    /// The blocks in their places, removed ones as they were: what a driver
    /// renders with [`Self::duplicates`].
    #[must_use]
    pub fn in_place(&self, mut blocks: Vec<Block<'a>>) -> Vec<Block<'a>> {
        for (&index, block) in &self.replaced {
            if let Some(place) = blocks.get_mut(index) {
                place.clone_from(block);
            }
        }
        blocks
    }

    /// A pack without the removed blocks: what annotations and levels say of the
    /// others, with new indices, and what those took over of what they cover.
    #[must_use]
    pub fn pack(&self, blocks: &[Block<'a>]) -> Vec<Block<'a>> {
        let all = self.in_place(blocks.to_vec());
        let mut keeps: Vec<_> =
            all.iter().enumerate().map(|(index, block)| self.keeps(index, block)).collect();
        // What speaks of what goes, goes; so does what speaks of that.
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
        let places: HashMap<u64, u64> =
            (0u64..).zip(&kept).map(|(new, &old)| (old as u64, new)).collect();
        let place = |target| places.get(&target).copied().unwrap_or(target);
        let mut pack: Vec<_> =
            kept.iter().map(|&old| all[old].clone().with_target(place)).collect();
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
                pack.push(Block::new(Annotation::tag(new, &Tag::bare(Tag::PINNED))));
            }
        }
        pack
    }

    /// Whether a block is still there: not removed, and nothing that speaks of a
    /// removed block or of a text that is no more.
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

//! Which duplicates a plan goes by.

use std::borrow::Cow;

use lcp_types::{Block, DuplicateKind, Replacements};

use crate::config::DriverConfig;

/// What the configuration says of duplicates, as far as it can hold: a block is
/// covered by another of the pack that is asked for and not removed itself. What
/// does not hold would take away content that stands nowhere else, so such a
/// block is planned as if nothing covered it (RFC 0006 §2).
pub(super) fn sound<'c>(
    blocks: &[Block<'_>],
    config: &'c DriverConfig,
) -> Option<Cow<'c, Replacements>> {
    let all = config.duplicates.as_ref()?;
    let is_there = |i: usize| {
        blocks.get(i).is_some_and(|block| !block.content.is_metadata() && config.asks_for(block))
    };
    // A line that refers to another block has nothing of what it stands for.
    let has_its_own = |by: usize| {
        all.covered.get(&by).is_none_or(|covered| {
            let own = matches!(covered.relation, DuplicateKind::Overlapping | DuplicateKind::Near);
            covered.in_place && own
        })
    };
    let holds =
        |index: usize, by: usize| index != by && is_there(index) && is_there(by) && has_its_own(by);
    let named = all.covered.iter().map(|(&index, covered)| (index, covered.by));
    if named.chain(all.shared.iter().copied()).all(|(index, by)| holds(index, by)) {
        return Some(Cow::Borrowed(all));
    }
    let mut sound = all.clone();
    sound.covered.retain(|&index, covered| holds(index, covered.by));
    sound.shared.retain(|&(index, by)| holds(index, by));
    Some(Cow::Owned(sound))
}

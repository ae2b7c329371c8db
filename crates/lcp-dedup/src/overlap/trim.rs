//! Trimming without merging: contained chunks are covered; of two other chunks that share many
//! lines, the lower ranked one is cut.

use lcp_types::DuplicateKind;

use super::intervals::{LineIntervals, Remainder, SharedLines};
use super::lines::{Lines, agree};
use super::range::{contains, overlap, shares};
use super::{Chunk, ChunkOutcome, OverlapOptions, Resolved, TRIED_MAX};

/// `sorted` are all chunks, in the order of lines.
pub(super) fn resolve(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    options: &OverlapOptions,
) -> Resolved {
    let lines = Lines::new(chunks);
    // A large chunk is not raised in priority for a few lines; a fixed one is shown in any case.
    let may = |by: usize, chunk: usize| {
        let (by, chunk) = (&chunks[by], &chunks[chunk]);
        by.fixed || by.text.len() <= options.merged_bytes || chunk.priority >= by.priority
    };
    let containers = containers(chunks, sorted, &lines, may);
    let mut ranked: Vec<_> = sorted.iter().copied().filter(|&i| containers[i].is_none()).collect();
    ranked.sort_unstable_by_key(|chunk| chunks[*chunk].order);
    let mut resolved = Resolved::all_stay(chunks);
    let mut shown = LineIntervals::new(chunks, &lines);
    let mut rests: Vec<Option<Remainder>> = vec![None; chunks.len()];
    // Fixed chunks stay, whatever their rank.
    for &chunk in ranked.iter().filter(|chunk| chunks[**chunk].fixed) {
        shown.add(chunk, chunks[chunk].range());
    }
    for &chunk in ranked.iter().filter(|chunk| !chunks[**chunk].fixed) {
        let range = chunks[chunk].range();
        let rest = shown
            .rest(chunk, |by, held| overlap(held, range) >= options.threshold && may(by, chunk));
        resolved.set_remainder(chunk, &rest, chunks, &lines);
        if let Some(range) = rest.range {
            shown.add(chunk, range);
        }
        rests[chunk] = Some(rest);
    }
    for (chunk, by) in containers.iter().enumerate() {
        if let Some(by) = *by {
            resolve_contained(&mut resolved, chunk, by, rests[by].as_mut(), chunks);
        }
    }
    resolved
}

/// Returns, for each chunk, an outermost one that has all of its lines.
fn containers(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    lines: &Lines<'_, '_>,
    may: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let mut containers = vec![None; chunks.len()];
    // The chunks with the greatest last lines, in descending order.
    let mut open: Vec<usize> = Vec::with_capacity(TRIED_MAX + 1);
    for &chunk in sorted {
        let Chunk { first, last, text, fixed, .. } = chunks[chunk];
        open.retain(|by| chunks[*by].last >= first);
        let has = |by: &usize| {
            let by = *by;
            chunks[by].last >= last
                && may(by, chunk)
                && agree(&chunks[by].text[lines.start(by, first)..], text)
        };
        containers[chunk] = open.iter().copied().find(has).filter(|_| !fixed);
        if containers[chunk].is_none() {
            let at = open.partition_point(|by| chunks[*by].last >= last);
            open.insert(at, chunk);
            open.truncate(TRIED_MAX);
        }
    }
    containers
}

/// Decides the outcome of a chunk within `by`, which was reduced to `rest`.
fn resolve_contained(
    resolved: &mut Resolved,
    chunk: usize,
    by: usize,
    rest: Option<&mut Remainder>,
    chunks: &[Chunk<'_>],
) {
    let range = chunks[chunk].range();
    let covered = |by, relation| ChunkOutcome::Covered { by, relation };
    let Some(rest) = rest.filter(|rest| !rest.given.is_empty()) else {
        resolved.outcomes[chunk] = covered(by, DuplicateKind::Contained);
        return;
    };
    rest.given.sort_unstable_by_key(|given| given.first);
    let at = rest.given.partition_point(|given| given.last < range.0);
    let given = rest.given[at..].iter().take_while(|given| given.first <= range.1);
    let own = rest.range.filter(|own| shares(*own, range));
    let own = own.map(|own| SharedLines { first: own.0, last: own.1, by, has: own });
    let holders: Vec<SharedLines> = own.into_iter().chain(given.copied()).collect();
    let container = holders.iter().find(|holder| contains(holder.has, range));
    if let Some(container) = container {
        resolved.outcomes[chunk] = covered(container.by, DuplicateKind::Contained);
    } else if let Some((best, others)) = holders.split_first() {
        resolved.outcomes[chunk] = covered(best.by, DuplicateKind::Overlapping);
        resolved.shared.extend(others.iter().map(|other| (chunk, other.by)));
    }
}

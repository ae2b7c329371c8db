//! Trims chunks without merging. Contained chunks are covered. If two other chunks share many
//! lines, the lower ranked or later one is cut.

use super::intervals::{LineIntervals, Remainder, SharedLines};
use super::lines::{Lines, agree, contains, overlap, shares};
use super::{Chunk, ChunkOutcome, OverlapOptions, Resolved, TRIED_MAX, relation};

/// Resolves overlaps in favor of the better ranked chunk. `sorted` lists all chunks in line order.
pub(super) fn keep_best(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    options: &OverlapOptions,
) -> Resolved {
    let lines = Lines::new(chunks);
    // A large chunk must not be raised in priority for a few lines. A fixed chunk is shown in any
    // case.
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
    // Fixed chunks remain regardless of their rank.
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

/// Returns, for each chunk, an outermost chunk that has all of its lines.
fn containers(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    lines: &Lines<'_, '_>,
    may: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let mut containers = vec![None; chunks.len()];
    // The chunks that end last, in descending order of the last line.
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

/// Decides the outcome of a chunk that was contained in `by` before `by` was reduced to `rest`.
fn resolve_contained(
    resolved: &mut Resolved,
    chunk: usize,
    by: usize,
    rest: Option<&mut Remainder>,
    chunks: &[Chunk<'_>],
) {
    let range = chunks[chunk].range();
    let covered = |by, is_within_one| {
        let relation = relation(is_within_one);
        ChunkOutcome::Covered { by, relation }
    };
    let Some(rest) = rest.filter(|rest| !rest.shared_lines.is_empty()) else {
        resolved.outcomes[chunk] = covered(by, true);
        return;
    };
    rest.shared_lines.sort_unstable_by_key(|given| given.first);
    let at = rest.shared_lines.partition_point(|given| given.last < range.0);
    let given = rest.shared_lines[at..].iter().take_while(|given| given.first <= range.1);
    let own = rest.range.filter(|own| shares(*own, range));
    let own = own.map(|own| SharedLines { first: own.0, last: own.1, by, has: own });
    let holders: Vec<SharedLines> = own.into_iter().chain(given.copied()).collect();
    let container = holders.iter().find(|holder| contains(holder.has, range));
    if let Some(container) = container {
        resolved.outcomes[chunk] = covered(container.by, true);
    } else if let Some((best, others)) = holders.split_first() {
        resolved.outcomes[chunk] = covered(best.by, false);
        resolved.shared.extend(others.iter().map(|other| (chunk, other.by)));
    }
}

/// Resolves overlaps in favor of the earlier chunk. The outcome of a chunk depends only on earlier
/// chunks.
pub(super) fn keep_earliest(chunks: &[Chunk<'_>], options: &OverlapOptions) -> Resolved {
    let lines = Lines::new(chunks);
    let mut shown = LineIntervals::new(chunks, &lines);
    let mut resolved = Resolved::all_stay(chunks);
    let mut stream: Vec<_> = (0..chunks.len()).collect();
    stream.sort_unstable_by_key(|chunk| chunks[*chunk].position);
    for chunk in stream {
        let range = chunks[chunk].range();
        if chunks[chunk].fixed {
            shown.add(chunk, range);
            continue;
        }
        // If an earlier chunk has another version of these lines, the chunks before it must not
        // cover this one, even if their lines are the same again.
        let other = shown.newest_other(chunk);
        let rest = shown.rest(chunk, |held, of| {
            other.is_none_or(|other| chunks[held].position > other)
                && (options.merge || overlap(of, range) >= options.threshold)
        });
        resolved.set_remainder(chunk, &rest, chunks, &lines);
        if let Some(range) = rest.range {
            shown.add(chunk, range);
        }
    }
    resolved
}

/// Subtracts the lines of the first `held` chunks from both ends of each other chunk.
pub(super) fn subtract(
    chunks: &[Chunk<'_>],
    held: usize,
    options: &OverlapOptions,
) -> Vec<Remainder> {
    let lines = Lines::new(chunks);
    let mut shown = LineIntervals::new(chunks, &lines);
    for (at, chunk) in chunks.iter().enumerate().take(held) {
        shown.add(at, chunk.range());
    }
    let rest = |at: usize| {
        let range = chunks[at].range();
        let may = |_, of| options.merge || overlap(of, range) >= options.threshold;
        shown.rest(at, may)
    };
    (held..chunks.len()).map(rest).collect()
}

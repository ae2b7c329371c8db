//! Without merging: what lies within another chunk goes, of two others that share
//! much the lower ranked is cut.

use lcp_types::DuplicateKind;

use super::kept::{Given, Kept, Rest};
use super::lines::{Lines, agree};
use super::range::{contains, overlap, shares};
use super::{Chunk, Fate, Resolved, TRIED_MAX, Terms};

/// `sorted` are all chunks, in the order of lines.
pub(super) fn resolve(chunks: &[Chunk<'_>], sorted: &[usize], terms: &Terms) -> Resolved {
    let lines = Lines::new(chunks);
    // A large one is not raised for a few lines; a fixed one is shown anyway.
    let may = |by: usize, chunk: usize| {
        let (by, chunk) = (&chunks[by], &chunks[chunk]);
        by.fixed || by.text.len() <= terms.merged_bytes || chunk.priority >= by.priority
    };
    let containers = containers(chunks, sorted, &lines, may);
    let mut ranked: Vec<_> = sorted.iter().copied().filter(|&i| containers[i].is_none()).collect();
    ranked.sort_unstable_by_key(|chunk| chunks[*chunk].order);
    let mut resolved = Resolved::all_stay(chunks);
    let mut kept = Kept::new(chunks, &lines);
    let mut rests: Vec<Option<Rest>> = vec![None; chunks.len()];
    // What is fixed is there, whatever its rank.
    for &chunk in ranked.iter().filter(|chunk| chunks[**chunk].fixed) {
        kept.hold(chunk, chunks[chunk].range());
    }
    for &chunk in ranked.iter().filter(|chunk| !chunks[**chunk].fixed) {
        let range = chunks[chunk].range();
        let rest =
            kept.rest(chunk, |by, held| overlap(held, range) >= terms.threshold && may(by, chunk));
        resolved.settle(chunk, &rest, chunks, &lines);
        if let Some(range) = rest.range {
            kept.hold(chunk, range);
        }
        rests[chunk] = Some(rest);
    }
    for (chunk, by) in containers.iter().enumerate() {
        if let Some(by) = *by {
            within(&mut resolved, chunk, by, rests[by].as_mut(), chunks);
        }
    }
    resolved
}

/// For each chunk, one that has all of its lines and lies within none itself.
fn containers(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    lines: &Lines<'_, '_>,
    may: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let mut containers = vec![None; chunks.len()];
    // Those that reach furthest, the furthest first.
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

/// A chunk lies within `by`, of which `rest` is left, if anything was taken.
fn within(
    resolved: &mut Resolved,
    chunk: usize,
    by: usize,
    rest: Option<&mut Rest>,
    chunks: &[Chunk<'_>],
) {
    let range = chunks[chunk].range();
    let covered = |by, relation| Fate::Covered { by, relation };
    let Some(rest) = rest.filter(|rest| !rest.given.is_empty()) else {
        resolved.fates[chunk] = covered(by, DuplicateKind::Contained);
        return;
    };
    rest.given.sort_unstable_by_key(|given| given.first);
    let at = rest.given.partition_point(|given| given.last < range.0);
    let given = rest.given[at..].iter().take_while(|given| given.first <= range.1);
    let own = rest.range.filter(|own| shares(*own, range));
    let own = own.map(|own| Given { first: own.0, last: own.1, by, has: own });
    let holders: Vec<Given> = own.into_iter().chain(given.copied()).collect();
    let whole = holders.iter().find(|holder| contains(holder.has, range));
    if let Some(whole) = whole {
        resolved.fates[chunk] = covered(whole.by, DuplicateKind::Contained);
    } else if let Some((best, others)) = holders.split_first() {
        resolved.fates[chunk] = covered(best.by, DuplicateKind::Overlapping);
        resolved.shared.extend(others.iter().map(|other| (chunk, other.by)));
    }
}

//! Resolves overlapping chunks of each path (RFC 0006 §6).

use lcp_types::{BlockContent, CowBytes, DuplicateKind, Priority};

use crate::options::Survivor;
use crate::overlap::{self, Chunk};
use crate::paths::{Member, Paths};
use crate::state::{DedupState, Lines, Outcome, StubKind};

/// Resolves overlaps of the chunks of each path, one priority at a time, the most important first.
/// This way only chunks of equal priority are merged, and lines of another chunk do not raise the
/// priority of a chunk.
pub(crate) fn resolve_overlaps(state: &mut DedupState<'_, '_>, paths: &Paths) {
    let options = state.options;
    let options = overlap::OverlapOptions {
        merge: options.merge_overlapping,
        threshold: options.overlap_threshold,
        merged_bytes: options.merged_bytes,
        first: options.survivor == Survivor::First,
    };
    for members in paths.with_several_blocks() {
        for chunks in versions(state, members) {
            resolve(state, chunks, &options);
        }
    }
}

/// Returns the unresolved chunks of a path, split into versions. A version ends where the file was
/// edited or read with other content. Only chunks of one version are compared.
fn versions(state: &DedupState<'_, '_>, members: &[Member]) -> Vec<Vec<(usize, (u32, u32))>> {
    // Data has no fields for a range of lines, so it is neither cut nor merged.
    let is_code = |index: usize| matches!(state.blocks[index].content, BlockContent::Code(_));
    let left = members.iter().filter(|member| state.outcomes[member.index].is_none());
    let left = left.filter(|member| is_code(member.index));
    let left = left.filter_map(|member| Some((member.index, member.range?)));
    let left: Vec<_> = left.collect();
    let mut ranges: Vec<_> = left.iter().map(|(_, range)| *range).collect();
    ranges.sort_unstable();
    // Most chunks are disjoint, which is quick to check.
    if !ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1.saturating_add(1)) {
        return Vec::new();
    }
    let mut ranges: Vec<_> = members.iter().filter_map(|member| member.range).collect();
    ranges.sort_unstable();
    let is_edited = members.len() > ranges.len();
    if !is_edited && !ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1) {
        // The chunks touch but have no common lines.
        return vec![left];
    }
    let text = |index: usize| state.blocks[index].content.text().map(CowBytes::as_slice);
    let chunk = |member: &Member| {
        let (range, text) = member.range.zip(text(member.index))?;
        Some(Chunk::new(range, text))
    };
    let chunks: Vec<_> = members.iter().filter_map(chunk).collect();
    let lines = overlap::Lines::new(&chunks);
    let mut version = overlap::Version::new(&lines);
    let mut versions = vec![Vec::new()];
    let mut at = 0;
    for member in members {
        let Some(range) = member.range else {
            let is_edit = matches!(state.blocks[member.index].content, BlockContent::Diff(_));
            if is_edit {
                version = overlap::Version::new(&lines);
                versions.push(Vec::new());
            }
            continue;
        };
        // Resolved chunks still belong to a version, but are not returned.
        if !version.add(at, range) {
            version = overlap::Version::new(&lines);
            version.add(at, range);
            versions.push(Vec::new());
        }
        at += 1;
        if let Some(last) = versions.last_mut().filter(|_| state.outcomes[member.index].is_none()) {
            last.push((member.index, range));
        }
    }
    versions.retain(|chunks| chunks.len() > 1);
    versions
}

/// Resolves chunks of one version of a path.
fn resolve(
    state: &mut DedupState<'_, '_>,
    mut left: Vec<(usize, (u32, u32))>,
    options: &overlap::OverlapOptions,
) {
    let first = options.first;
    let mut resolved_chunks: Vec<ResolvedChunk> = Vec::new();
    while !left.is_empty() {
        let priority = |index: usize| state.ranks[index].priority;
        // With `first`, the earlier chunk survives regardless of priority, so all chunks are
        // resolved together.
        let most = left.iter().map(|(index, _)| priority(*index)).min();
        let now = left.extract_if(.., |(index, _)| first || Some(priority(*index)) == most);
        let now: Vec<_> = now.collect();
        let outcomes = resolve_priority(state, &now, &resolved_chunks, options);
        for ((index, range), outcome) in now.into_iter().zip(outcomes) {
            match &outcome {
                None => resolved_chunks.push(ResolvedChunk { index, range, text: None }),
                Some(Outcome::Grown(lines) | Outcome::Cut { lines, .. }) if !left.is_empty() => {
                    let (range, text) = ((lines.first, lines.last), Some(lines.text.clone()));
                    resolved_chunks.push(ResolvedChunk { index, range, text });
                }
                Some(_) => {}
            }
            state.outcomes[index] = outcome;
        }
    }
}

/// A resolved chunk that remains, with its text if it changed.
struct ResolvedChunk {
    index: usize,
    range: (u32, u32),
    text: Option<Vec<u8>>,
}

/// Resolves chunks of one priority against the resolved ones.
fn resolve_priority(
    state: &mut DedupState<'_, '_>,
    chunks: &[(usize, (u32, u32))],
    resolved_chunks: &[ResolvedChunk],
    options: &overlap::OverlapOptions,
) -> Vec<Option<Outcome>> {
    let blocks = state.blocks;
    let own =
        |index: usize| blocks[index].content.text().map(CowBytes::as_slice).unwrap_or_default();
    let chunk = |index: usize, range, text, fixed| {
        let priority = state.ranks[index].priority;
        Chunk { position: index, priority, fixed, ..Chunk::new(range, text) }
    };
    let stand = resolved_chunks.iter().map(|ResolvedChunk { index, range, text }| {
        chunk(*index, *range, text.as_deref().unwrap_or_else(|| own(*index)), true)
    });
    let now = chunks.iter().map(|&(index, range)| {
        let rank = state.ranks[index];
        // With `first`, a Critical chunk is not covered by others.
        let fixed = rank.fixed || (options.first && rank.priority == Priority::Critical);
        chunk(index, range, own(index), fixed)
    });
    let mut all: Vec<_> = stand.chain(now).collect();
    let index = |at: usize| all[at].position;
    // First, remove the lines that more important chunks have.
    let mut outcomes: Vec<Option<Outcome>> = vec![None; chunks.len()];
    let mut shared = Vec::new();
    let mut left = Vec::with_capacity(chunks.len());
    if resolved_chunks.is_empty() {
        left.extend(0..chunks.len());
    } else {
        let subtract = overlap::subtract(&all, resolved_chunks.len(), options);
        let mut ranges = Vec::with_capacity(chunks.len());
        for (at, rest) in subtract.into_iter().enumerate() {
            let this = index(resolved_chunks.len() + at);
            let is_fixed = all[resolved_chunks.len() + at].fixed;
            match (rest.by.first().filter(|_| !is_fixed), rest.own) {
                (None, _) => left.push(at),
                (Some(&by), None) => {
                    let relation = overlap::relation(rest.is_within_one);
                    let stub = StubKind::None;
                    outcomes[at] = Some(Outcome::Covered { by: index(by), relation, stub });
                }
                (Some(&by), Some(own)) => {
                    left.push(at);
                    ranges.push((at, own, index(by)));
                }
            }
            if !is_fixed {
                shared.extend(rest.by.iter().skip(1).map(|by| (this, index(*by))));
            }
        }
        for (at, ((first, last), text), by) in ranges {
            let this = &mut all[resolved_chunks.len() + at];
            (this.first, this.last, this.text) = (first, last, text);
            let (text, members) = (text.to_vec(), vec![this.position]);
            let lines = Box::new(Lines { first, last, text, members });
            outcomes[at] = Some(Outcome::Cut { by, lines });
        }
    }
    // Then resolve the common lines of the remaining chunks.
    let mut peers: Vec<_> = left.iter().map(|at| all[resolved_chunks.len() + at]).collect();
    let mut ranked: Vec<_> = (0..peers.len()).collect();
    ranked.sort_by(|&a, &b| {
        let rank = |at: usize| &state.ranks[peers[at].position];
        rank(a).cmp(rank(b)).then(peers[a].position.cmp(&peers[b].position))
    });
    for (order, at) in ranked.into_iter().enumerate() {
        peers[at].order = order;
    }
    let resolved = overlap::resolve_all(&peers, options);
    let index = |at: usize| peers[at].position;
    shared.extend(resolved.shared.iter().map(|(a, b)| (index(*a), index(*b))));
    for (peer, outcome) in resolved.outcomes.into_iter().enumerate() {
        let at = left[peer];
        let outcome = match outcome {
            overlap::ChunkOutcome::Stays => continue,
            overlap::ChunkOutcome::Grown { first, last, text, members } => {
                let members = members.into_iter().map(index).collect();
                Outcome::Grown(Box::new(Lines { first, last, text, members }))
            }
            overlap::ChunkOutcome::Cut { by, first, last, text } => {
                let lines = Box::new(Lines { first, last, text, members: vec![index(peer)] });
                Outcome::Cut { by: index(by), lines }
            }
            overlap::ChunkOutcome::Covered { by, relation } => {
                Outcome::Covered { by: index(by), relation, stub: StubKind::None }
            }
        };
        // The chunk lost lines in both steps, so no single chunk has all of them.
        let outcome = match (&outcomes[at], outcome) {
            (Some(Outcome::Cut { by: before, .. }), outcome) => {
                shared.push((index(peer), *before));
                match outcome {
                    Outcome::Covered { by, stub, .. } => {
                        Outcome::Covered { by, relation: DuplicateKind::Overlapping, stub }
                    }
                    outcome => outcome,
                }
            }
            (_, outcome) => outcome,
        };
        outcomes[at] = Some(outcome);
    }
    state.shared.extend(shared);
    outcomes
}

//! Properties of any chunks.

use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Priority};
use proptest::prelude::*;

use super::MERGE;
use crate::overlap::lines::{COMPARED, contains, range_of};
use crate::overlap::{Chunk, ChunkOutcome, OverlapOptions, Resolved, TRIED_MAX, resolve_all};

/// A chunk that owns its text.
#[derive(Clone, Debug)]
struct Cut {
    first: u32,
    last: u32,
    version: u8,
    text: String,
    priority: Priority,
    fixed: bool,
}

/// Chunks in stream order, and their positions by rank.
#[derive(Clone, Debug)]
struct Path {
    cuts: Vec<Cut>,
    order: Vec<usize>,
}

impl Path {
    fn chunks(&self) -> Vec<Chunk<'_>> {
        let chunks = self.cuts.iter().zip(&self.order).enumerate();
        let chunk = |(position, (cut, &order)): (usize, (&'_ Cut, &usize))| {
            let &Cut { first, last, priority, fixed, .. } = cut;
            (first, last, order, position, priority, fixed)
        };
        let texts = self.cuts.iter().map(|cut| cut.text.as_bytes());
        let all = chunks.map(chunk).zip(texts);
        all.map(|((first, last, order, position, priority, fixed), text)| Chunk {
            first,
            last,
            text,
            order,
            position,
            priority,
            fixed,
        })
        .collect()
    }
}

/// Returns a line of a version. Versions differ in every `every`th line.
fn line(version: u8, number: u32, every: u32) -> String {
    let version = if number.is_multiple_of(every) { version } else { 0 };
    format!("v{version}.{}\n", "x".repeat(number as usize % 5))
}

fn cut(versions: u8, every: u32, plain: bool) -> impl Strategy<Value = Cut> {
    let priority = proptest::sample::select(&Priority::ALL[..3]);
    (1..40_u32, 0..16_u32, 0..versions, any::<bool>(), priority, 0..8_u8).prop_map(
        move |(first, more, version, newline, priority, fixed)| {
            let mut text: String =
                (first..=first + more).map(|n| line(version, n, every)).collect();
            if !newline {
                text.pop();
            }
            let priority = if plain { Priority::Normal } else { priority };
            Cut { first, last: first + more, version, text, priority, fixed: !plain && fixed == 0 }
        },
    )
}

/// Generates random chunks of versions of a file. Plain chunks all have the same priority, and are
/// not fixed.
fn path(versions: u8, every: u32, plain: bool) -> impl Strategy<Value = Path> {
    proptest::collection::vec(cut(versions, every, plain), 1..14).prop_flat_map(|cuts| {
        let order = Just((0..cuts.len()).collect::<Vec<_>>()).prop_shuffle();
        (Just(cuts), order).prop_map(|(cuts, order)| Path { cuts, order })
    })
}

fn any_path() -> impl Strategy<Value = Path> {
    prop_oneof![path(1, 1, false), path(2, 1, false), path(2, 7, false), path(3, 11, true)]
}

fn any_terms() -> impl Strategy<Value = OverlapOptions> {
    let bytes = proptest::sample::select(vec![1_usize, 30, 90, 16 << 10]);
    let threshold = proptest::sample::select(vec![0.0, 0.3, 0.8, 1.0]);
    (any::<bool>(), threshold, bytes, any::<bool>()).prop_map(
        |(merge, threshold, merged_bytes, first)| OverlapOptions {
            merge,
            threshold,
            merged_bytes,
            first,
        },
    )
}

/// Returns the remaining lines of a chunk; `None` if it is not shown.
fn left<'r>(chunk: &Chunk<'r>, outcome: &'r ChunkOutcome) -> Option<(u32, u32, &'r [u8])> {
    match outcome {
        ChunkOutcome::Stays => Some((chunk.first, chunk.last, chunk.text)),
        ChunkOutcome::Grown { first, last, text, .. }
        | ChunkOutcome::Cut { first, last, text, .. } => Some((*first, *last, text)),
        ChunkOutcome::Covered { .. } => None,
    }
}

/// Returns the lines of a text with their numbers, without newlines.
fn numbered(first: u32, text: &[u8]) -> Vec<(u32, &[u8])> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    (first..).zip(text.split(|byte| *byte == b'\n')).collect()
}

/// Returns the chunks that the result names as holders of a chunk's lines, including itself.
fn named(resolved: &Resolved, chunk: usize) -> Vec<usize> {
    let by = match resolved.outcomes[chunk] {
        ChunkOutcome::Cut { by, .. } | ChunkOutcome::Covered { by, .. } => Some(by),
        _ => None,
    };
    let shared = resolved.shared.iter().filter(|(of, _)| *of == chunk);
    std::iter::once(chunk).chain(by).chain(shared.map(|(_, other)| *other)).collect()
}

proptest! {
    #[test]
    fn every_line_is_in_a_referenced_chunk(path in any_path(), options in any_terms()) {
        let chunks = path.chunks();
        let resolved = resolve_all(&chunks, &options);
        for (at, chunk) in chunks.iter().enumerate() {
            let mut standing = Vec::new();
            for other in named(&resolved, at) {
                let left = left(&chunks[other], &resolved.outcomes[other]);
                prop_assert!(other == at || left.is_some(), "{other} is covered itself");
                standing.extend(left.into_iter().flat_map(|(first, _, text)| numbered(first, text)));
            }
            for line in numbered(chunk.first, chunk.text) {
                prop_assert!(standing.contains(&line), "{line:?} of {at}: {resolved:?}");
            }
        }
    }

    #[test]
    fn remaining_chunks_never_mix_versions(mut path in path(2, 1, false), options in any_terms()) {
        // These chunks show that there are two versions. Otherwise chunks that only touch could
        // belong to one version.
        for version in [0, 1] {
            let text = line(version, 99, 1);
            path.cuts.push(Cut { first: 99, last: 99, version, text, ..path.cuts[0].clone() });
            path.order.push(path.order.len());
        }
        let chunks = path.chunks();
        let resolved = resolve_all(&chunks, &options);
        for ((chunk, outcome), cut) in chunks.iter().zip(&resolved.outcomes).zip(&path.cuts) {
            if let Some((first, last, text)) = left(chunk, outcome) {
                prop_assert_eq!(range_of(Some(first), Some(last), text), Ok((first, last)));
                for (number, found) in numbered(first, text) {
                    let line = line(cut.version, number, 1);
                    prop_assert_eq!(found, line.trim_end().as_bytes());
                }
            }
        }
    }

    #[test]
    fn contained_chunk_lies_within_its_cover(path in any_path(), options in any_terms()) {
        let chunks = path.chunks();
        let resolved = resolve_all(&chunks, &options);
        for (at, outcome) in resolved.outcomes.iter().enumerate() {
            if let ChunkOutcome::Covered { by, relation: DuplicateKind::Contained } = *outcome {
                let (first, last, _) = left(&chunks[by], &resolved.outcomes[by]).unwrap();
                prop_assert!(contains((first, last), chunks[at].range()));
                prop_assert!(resolved.shared.iter().all(|(of, _)| *of != at));
            }
        }
    }

    #[test]
    fn fixed_chunks_always_stay(path in any_path(), options in any_terms()) {
        let chunks = path.chunks();
        let outcomes = resolve_all(&chunks, &options).outcomes;
        for (chunk, outcome) in chunks.iter().zip(&outcomes) {
            prop_assert!(!chunk.fixed || *outcome == ChunkOutcome::Stays);
        }
    }

    #[test]
    fn merging_shows_each_line_once(path in path(1, 1, true), bytes in 1..200_usize) {
        let chunks = path.chunks();
        let outcomes = resolve_all(&chunks, &OverlapOptions { merged_bytes: bytes, ..MERGE }).outcomes;
        let mut times: BTreeMap<u32, usize> = BTreeMap::new();
        let left = chunks.iter().zip(&outcomes).filter_map(|(chunk, outcome)| left(chunk, outcome));
        for (first, last, _) in left {
            (first..=last).for_each(|line| *times.entry(line).or_default() += 1);
        }
        prop_assert!(times.values().all(|times| *times == 1), "{outcomes:?}");
        // Without a size limit, chunks that touch are always merged.
        let outcomes = resolve_all(&chunks, &MERGE).outcomes;
        let shown = outcomes.iter().filter(|outcome| !matches!(outcome, ChunkOutcome::Covered { .. })).count();
        let ends = times.keys().filter(|line| !times.contains_key(&(*line + 1))).count();
        prop_assert_eq!(shown, ends);
    }

    #[test]
    fn merging_is_idempotent(path in prop_oneof![path(2, 1, true), path(3, 7, true)]) {
        let chunks = path.chunks();
        let outcomes = resolve_all(&chunks, &MERGE).outcomes;
        let again: Vec<_> = chunks.iter().zip(&outcomes).filter_map(|(chunk, outcome)| {
            left(chunk, outcome).map(|(first, last, text)| Chunk { first, last, text, ..*chunk })
        }).collect();
        let outcomes = resolve_all(&again, &MERGE).outcomes;
        prop_assert!(outcomes.iter().all(|outcome| *outcome == ChunkOutcome::Stays), "{outcomes:?}");
    }

    #[test]
    fn merged_chunks_respect_the_size_limit(path in any_path(), bytes in 1..200_usize) {
        let chunks = path.chunks();
        let outcomes = resolve_all(&chunks, &OverlapOptions { merged_bytes: bytes, ..MERGE }).outcomes;
        for outcome in &outcomes {
            if let ChunkOutcome::Grown { text, members, .. } = outcome {
                let largest = members.iter().map(|member| chunks[*member].text.len()).max();
                prop_assert!(text.len() <= bytes.max(largest.unwrap()));
            }
        }
    }

    #[test]
    fn result_is_independent_from_input_order(
        (path, shuffled) in any_path().prop_flat_map(|path| {
            let places = Just((0..path.cuts.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(path), places)
        }),
        options in any_terms(),
    ) {
        let chunks = path.chunks();
        let mut expected = resolve_all(&chunks, &options);
        let moved: Vec<_> = shuffled.iter().map(|old| chunks[*old]).collect();
        let found = resolve_all(&moved, &options);
        let back = |index: usize| shuffled[index];
        for (new, outcome) in found.outcomes.into_iter().enumerate() {
            let outcome = match outcome {
                ChunkOutcome::Stays => ChunkOutcome::Stays,
                ChunkOutcome::Grown { first, last, text, members } => {
                    let members = members.into_iter().map(back).collect();
                    ChunkOutcome::Grown { first, last, text, members }
                }
                ChunkOutcome::Cut { by, first, last, text } => ChunkOutcome::Cut { by: back(by), first, last, text },
                ChunkOutcome::Covered { by, relation } => ChunkOutcome::Covered { by: back(by), relation },
            };
            prop_assert_eq!(outcome, expected.outcomes[back(new)].clone());
        }
        let mut shared: Vec<_> =
            found.shared.into_iter().map(|(of, other)| (back(of), back(other))).collect();
        shared.sort_unstable();
        expected.shared.sort_unstable();
        prop_assert_eq!(shared, expected.shared);
    }

    #[test]
    fn prefix_result_is_stable_when_first_survives(path in any_path(), options in any_terms(), at in 0..14_usize) {
        let options = OverlapOptions { first: true, ..options };
        let chunks = path.chunks();
        let at = at.min(chunks.len());
        let (all, prefix) = (resolve_all(&chunks, &options), resolve_all(&chunks[..at], &options));
        prop_assert_eq!(&all.outcomes[..at], &prefix.outcomes[..]);
    }
}

/// Counts the comparisons of a call.
fn compared(chunks: &[Chunk<'_>], options: &OverlapOptions) -> usize {
    COMPARED.set(0);
    resolve_all(chunks, options);
    COMPARED.get()
}

/// Returns chunks whose order in the stream is their order of rank.
fn in_order(texts: &[(u32, u32, String)]) -> Vec<Chunk<'_>> {
    let chunks = texts.iter().enumerate().map(|(order, (first, last, text))| Chunk {
        first: *first,
        last: *last,
        order,
        position: order,
        ..Chunk::from_text(text.as_bytes())
    });
    chunks.collect()
}

#[test]
fn many_versions_take_bounded_comparisons() {
    let texts: Vec<_> = (0..3000).map(|n| (1, 3, format!("same\nsame\nversion {n}\n"))).collect();
    let chunks = in_order(&texts);
    for options in [
        MERGE,
        OverlapOptions { merge: false, threshold: 0.1, ..MERGE },
        OverlapOptions { first: true, ..MERGE },
    ] {
        assert!(compared(&chunks, &options) <= 2 * TRIED_MAX * chunks.len(), "{options:?}");
    }
}

#[test]
fn long_chain_takes_linear_comparisons() {
    let text = |first| format!("line {first}\nline {}\nline {}\n", first + 1, first + 2);
    let texts: Vec<_> = (1..4000).map(|first| (first, first + 2, text(first))).collect();
    let chunks = in_order(&texts);
    for merged_bytes in [100, usize::MAX] {
        assert!(compared(&chunks, &OverlapOptions { merged_bytes, ..MERGE }) <= 3 * chunks.len());
    }
}

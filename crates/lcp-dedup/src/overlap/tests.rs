//! Tests of the cases of Task 016.c, and of sizes, priorities, pins, versions and final newlines.

mod properties;

use expect_test::{Expect, expect};
use lcp_types::{DuplicateKind, Priority};

use super::{Chunk, ChunkOutcome, OverlapOptions, resolve_all};

impl<'t> Chunk<'t> {
    /// Creates a chunk with this text. The caller must set its range.
    pub(super) const fn from_text(text: &'t [u8]) -> Self {
        let priority = Priority::Normal;
        Self { first: 1, last: 1, text, order: 0, position: 0, priority, fixed: false }
    }
}

pub(super) const MERGE: OverlapOptions =
    OverlapOptions { merge: true, threshold: 0.8, merged_bytes: 16 << 10, first: false };
pub(super) const TRIM: OverlapOptions = OverlapOptions { merge: false, ..MERGE };
pub(super) const FIRST: OverlapOptions = OverlapOptions { first: true, ..MERGE };

/// Returns lines of a version of a file. The version is a letter: `a25` is line 25 of version `a`.
fn text(version: char, first: u32, last: u32) -> String {
    let lines: Vec<_> = (first..=last).map(|line| format!("{version}{line}\n")).collect();
    lines.concat()
}

/// Checks the outcomes for chunks such as `a1-50`, best ranked first. `!` marks a pinned chunk, `^`
/// a high and `_` a low priority.
pub(super) fn check(options: OverlapOptions, specs: &str, expected: &Expect) {
    let specs: Vec<&str> = specs.split_whitespace().collect();
    let parsed: Vec<_> = specs.iter().map(|spec| parse(spec)).collect();
    let mut chunks = Vec::new();
    for (position, (spec, (text, first, last))) in specs.iter().zip(&parsed).enumerate() {
        let priority = match () {
            () if spec.contains('^') => Priority::High,
            () if spec.contains('_') => Priority::Low,
            () => Priority::Normal,
        };
        let (first, last, fixed) = (*first, *last, spec.contains('!'));
        let text = text.as_bytes();
        chunks.push(Chunk { first, last, text, order: position, position, priority, fixed });
    }
    let resolved = resolve_all(&chunks, &options);
    let name = |at: usize| specs[at];
    let mut shown = Vec::new();
    for (at, outcome) in resolved.outcomes.iter().enumerate() {
        let outcome = match outcome {
            ChunkOutcome::Stays => "stays".to_owned(),
            ChunkOutcome::Grown { first, last, text, members } => {
                let members: Vec<_> = members.iter().copied().map(name).collect();
                format!("grows to {} of {}", in_short(*first, *last, text), members.join(" "))
            }
            ChunkOutcome::Cut { by, first, last, text } => {
                format!("cut to {} by {}", in_short(*first, *last, text), name(*by))
            }
            ChunkOutcome::Covered { by, relation } => format!("{relation}: {}", name(*by)),
        };
        let parts = resolved.shared.iter().filter(|(chunk, _)| *chunk == at);
        let parts: Vec<_> = parts.map(|(_, other)| format!(", part in {}", name(*other))).collect();
        shown.push(format!("{} {outcome}{}\n", name(at), parts.concat()));
    }
    expected.assert_eq(&shown.concat());
}

fn parse(spec: &str) -> (String, u32, u32) {
    let version = spec.chars().next().unwrap();
    let mut numbers = spec[1..].split(|c: char| !c.is_ascii_digit()).filter(|s| !s.is_empty());
    let mut number = || numbers.next().unwrap().parse().unwrap();
    let (first, last) = (number(), number());
    (text(version, first, last), first, last)
}

/// Returns a short name of the range. Panics if the text is not these lines of one version.
fn in_short(first: u32, last: u32, found: &[u8]) -> String {
    let version = char::from(found[0]);
    assert_eq!(std::str::from_utf8(found), Ok(&*text(version, first, last)));
    format!("{version}{first}-{last}")
}

#[test]
fn detect_overlap_by_lines() {
    check(
        MERGE,
        "a1-10 a5-20",
        &expect![[r"
        a1-10 grows to a1-20 of a1-10 a5-20
        a5-20 overlapping: a1-10
    "]],
    );
    check(
        MERGE,
        "a1-10 b5-20",
        &expect![[r"
        a1-10 stays
        b5-20 stays
    "]],
    );
    check(
        TRIM,
        "a1-10 a2-11",
        &expect![[r"
        a1-10 stays
        a2-11 cut to a11-11 by a1-10
    "]],
    );
}

#[test]
fn merge_overlapping_chunks() {
    check(
        MERGE,
        "a1-50 a25-75",
        &expect![[r"
        a1-50 grows to a1-75 of a1-50 a25-75
        a25-75 overlapping: a1-50
    "]],
    );
    check(
        MERGE,
        "a25-75 a1-50",
        &expect![[r"
        a25-75 grows to a1-75 of a1-50 a25-75
        a1-50 overlapping: a25-75
    "]],
    );
    check(
        MERGE,
        "a30-60 a1-20 a50-90 a15-35",
        &expect![[r"
        a30-60 grows to a1-90 of a1-20 a15-35 a30-60 a50-90
        a1-20 overlapping: a30-60
        a50-90 overlapping: a30-60
        a15-35 overlapping: a30-60
    "]],
    );
}

#[test]
fn handle_adjacent_chunks() {
    check(
        MERGE,
        "a11-20 a1-10 a21-30",
        &expect![[r"
        a11-20 grows to a1-30 of a1-10 a11-20 a21-30
        a1-10 adjacent: a11-20
        a21-30 adjacent: a11-20
    "]],
    );
    check(
        MERGE,
        "a1-10 a12-20",
        &expect![[r"
        a1-10 stays
        a12-20 stays
    "]],
    );
    check(
        TRIM,
        "a1-10 a11-20",
        &expect![[r"
        a1-10 stays
        a11-20 stays
    "]],
    );
    check(
        FIRST,
        "a1-10 a11-20",
        &expect![[r"
        a1-10 stays
        a11-20 stays
    "]],
    );
}

#[test]
fn adjacent_chunks_stay_apart_if_versions_differ() {
    check(
        MERGE,
        "a1-10 a11-20 a30-40 b35-45",
        &expect![[r"
        a1-10 stays
        a11-20 stays
        a30-40 stays
        b35-45 stays
    "]],
    );
    check(
        MERGE,
        "a1-10 a11-20 a15-30 a40-50 b42-43",
        &expect![[r"
        a1-10 stays
        a11-20 grows to a11-30 of a11-20 a15-30
        a15-30 overlapping: a11-20
        a40-50 stays
        b42-43 stays
    "]],
    );
}

#[test]
fn handle_contained_chunk() {
    check(
        MERGE,
        "a1-50 a10-20",
        &expect![[r"
        a1-50 stays
        a10-20 contained: a1-50
    "]],
    );
    check(
        MERGE,
        "a10-20 a1-50",
        &expect![[r"
        a10-20 grows to a1-50 of a1-50 a10-20
        a1-50 overlapping: a10-20
    "]],
    );
    check(
        MERGE,
        "a1-20 a10-30 a5-25",
        &expect![[r"
        a1-20 grows to a1-30 of a1-20 a5-25 a10-30
        a10-30 overlapping: a1-20
        a5-25 overlapping: a1-20
    "]],
    );
    check(
        TRIM,
        "a10-20 a1-50",
        &expect![[r"
        a10-20 contained: a1-50
        a1-50 stays
    "]],
    );
    check(
        FIRST,
        "a1-50 a10-20",
        &expect![[r"
        a1-50 stays
        a10-20 contained: a1-50
    "]],
    );
}

#[test]
fn respect_threshold() {
    // The chunks share 8 of 10 lines, then 7.
    check(
        TRIM,
        "a1-10 a3-14",
        &expect![[r"
        a1-10 stays
        a3-14 cut to a11-14 by a1-10
    "]],
    );
    check(
        TRIM,
        "a1-10 a4-14",
        &expect![[r"
        a1-10 stays
        a4-14 stays
    "]],
    );
    check(
        TRIM,
        "a3-14 a1-10",
        &expect![[r"
        a3-14 stays
        a1-10 cut to a1-2 by a3-14
    "]],
    );
    check(
        OverlapOptions { threshold: 0.7, ..TRIM },
        "a1-10 a4-14",
        &expect![[r"
        a1-10 stays
        a4-14 cut to a11-14 by a1-10
    "]],
    );
    check(
        OverlapOptions { threshold: 0.7, ..TRIM },
        "a1-10 b4-14",
        &expect![[r"
        a1-10 stays
        b4-14 stays
    "]],
    );
    check(
        OverlapOptions { merge: false, ..FIRST },
        "a1-10 a3-14 a12-20",
        &expect![[r"
        a1-10 stays
        a3-14 cut to a11-14 by a1-10
        a12-20 stays
    "]],
    );
}

#[test]
fn handle_no_overlap() {
    for options in [MERGE, TRIM, FIRST] {
        let stay = &expect![[r"
            a1-10 stays
            a20-30 stays
        "]];
        check(options, "a1-10 a20-30", stay);
    }
    assert!(resolve_all(&[], &MERGE).outcomes.is_empty());
}

#[test]
fn oversized_run_is_split_at_a_line() {
    let small = OverlapOptions { merged_bytes: 100, ..MERGE };
    check(
        small,
        "a10-30 a25-50 a45-60 a28-48 a55-56",
        &expect![[r"
            a10-30 stays
            a25-50 cut to a31-50 by a10-30
            a45-60 cut to a51-60 by a25-50
            a28-48 overlapping: a25-50, part in a10-30
            a55-56 contained: a45-60
        "]],
    );
    // A single chunk that is larger than the limit remains complete.
    check(
        small,
        "a10-80 a70-90 a85-95",
        &expect![[r"
        a10-80 stays
        a70-90 grows to a81-95 of a70-90 a85-95, part in a10-80
        a85-95 overlapping: a70-90
    "]],
    );
    check(
        small,
        "a10-40 a41-70",
        &expect![[r"
        a10-40 stays
        a41-70 stays
    "]],
    );
    // The lines of one chunk end up in three runs.
    check(
        small,
        "a10-80 a70-90 a75-130",
        &expect![[r"
        a10-80 stays
        a70-90 cut to a81-90 by a10-80
        a75-130 cut to a91-130 by a70-90, part in a10-80
    "]],
    );
}

#[test]
fn large_low_priority_chunk_is_not_raised_for_a_few_lines() {
    let small = OverlapOptions { merged_bytes: 100, ..MERGE };
    check(
        small,
        "a10-80_ a20-30^ a25-28^ a40-50_ a70-85",
        &expect![[r"
        a10-80_ stays
        a20-30^ stays
        a25-28^ contained: a20-30^
        a40-50_ contained: a10-80_
        a70-85 stays
    "]],
    );
    check(
        small,
        "a10-80^ a20-30_",
        &expect![[r"
        a10-80^ stays
        a20-30_ contained: a10-80^
    "]],
    );
    check(
        OverlapOptions { merge: false, ..small },
        "a10-80_ a20-30^ a40-50_",
        &expect![[r"
        a10-80_ stays
        a20-30^ stays
        a40-50_ contained: a10-80_
    "]],
    );
    check(
        MERGE,
        "a10-80_ a20-30^",
        &expect![[r"
        a10-80_ stays
        a20-30^ contained: a10-80_
    "]],
    );
}

#[test]
fn fixed_chunk_is_unchanged_and_covers_others() {
    check(
        MERGE,
        "a30-60! a1-40 a50-80 a35-45 a81-90",
        &expect![[r"
        a30-60! stays
        a1-40 stays
        a50-80 grows to a61-90 of a50-80 a81-90, part in a30-60!
        a35-45 contained: a30-60!
        a81-90 adjacent: a50-80
    "]],
    );
    check(
        MERGE,
        "a1-50 a10-20! a15-18 b16-19",
        &expect![[r"
        a1-50 stays
        a10-20! stays
        a15-18 contained: a1-50
        b16-19 stays
    "]],
    );
    check(
        TRIM,
        "a1-50 a10-20! a2-52! a3-53",
        &expect![[r"
        a1-50 cut to a1-1 by a2-52!
        a10-20! stays
        a2-52! stays
        a3-53 cut to a53-53 by a2-52!
    "]],
    );
    check(
        FIRST,
        "a1-50 a10-20! a5-8 a49-60",
        &expect![[r"
        a1-50 stays
        a10-20! stays
        a5-8 contained: a1-50
        a49-60 cut to a51-60 by a1-50
    "]],
    );
}

#[test]
fn versions_are_never_mixed() {
    check(
        MERGE,
        "a1-20 b10-30 a15-40 b25-50",
        &expect![[r"
        a1-20 grows to a1-40 of a1-20 a15-40
        b10-30 grows to b10-50 of b10-30 b25-50
        a15-40 overlapping: a1-20
        b25-50 overlapping: b10-30
    "]],
    );
    check(
        FIRST,
        "a1-20 b10-30 a15-40 b25-50 b1-20",
        &expect![[r"
            a1-20 stays
            b10-30 stays
            a15-40 stays
            b25-50 stays
            b1-20 stays
        "]],
    );
    check(
        OverlapOptions { threshold: 0.1, ..TRIM },
        "a1-20 b10-30 a15-40 b25-50",
        &expect![[r"
        a1-20 stays
        b10-30 stays
        a15-40 cut to a21-40 by a1-20
        b25-50 cut to b31-50 by b10-30
    "]],
    );
}

#[test]
fn earlier_chunk_stays_and_later_one_is_cut() {
    check(
        FIRST,
        "a1-10 a31-40 a5-35 a8-33",
        &expect![[r"
        a1-10 stays
        a31-40 stays
        a5-35 cut to a11-30 by a1-10, part in a31-40
        a8-33 overlapping: a1-10, part in a5-35, part in a31-40
    "]],
    );
    check(
        FIRST,
        "a10-20 a1-50 a5-25",
        &expect![[r"
        a10-20 stays
        a1-50 stays
        a5-25 contained: a1-50
    "]],
    );
    // A chunk with all of the lines is preferred to one with only the first lines, and an earlier
    // chunk to a later one.
    check(
        FIRST,
        "a10-20 a1-50 a15-25 a12-18",
        &expect![[r"
        a10-20 stays
        a1-50 stays
        a15-25 contained: a1-50
        a12-18 contained: a10-20
    "]],
    );
    check(
        FIRST,
        "a30-40 a25-50 a10-35",
        &expect![[r"
        a30-40 stays
        a25-50 stays
        a10-35 cut to a10-24 by a25-50
    "]],
    );
    check(
        FIRST,
        "a1-10 a11-20 a5-15",
        &expect![[r"
        a1-10 stays
        a11-20 stays
        a5-15 overlapping: a1-10, part in a11-20
    "]],
    );
}

#[test]
fn chunk_within_cut_lines_is_covered_by_their_holder() {
    // a5-7 is within a2-20, but a1-15 has these lines of a2-20.
    let options = OverlapOptions { threshold: 0.5, ..TRIM };
    check(
        options,
        "a1-15 a2-20 a5-7 a14-18 a17-19",
        &expect![[r"
        a1-15 stays
        a2-20 cut to a16-20 by a1-15
        a5-7 contained: a1-15
        a14-18 overlapping: a2-20, part in a1-15
        a17-19 contained: a2-20
    "]],
    );
}

#[test]
fn merged_text_ends_like_its_last_line() {
    let chunk = |first, last, text: &'static str, order| {
        let position = order;
        Chunk { first, last, order, position, ..Chunk::from_text(text.as_bytes()) }
    };
    let merged = |chunks: &[Chunk<'_>]| match &resolve_all(chunks, &MERGE).outcomes[0] {
        ChunkOutcome::Grown { text, .. } => String::from_utf8(text.clone()).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(merged(&[chunk(1, 2, "a\nb", 0), chunk(2, 3, "b\nc", 1)]), "a\nb\nc");
    assert_eq!(merged(&[chunk(1, 2, "a\nb", 0), chunk(3, 3, "c\n", 1)]), "a\nb\nc\n");
    assert_eq!(merged(&[chunk(1, 1, "a\r\n", 0), chunk(2, 3, "\n\n", 1)]), "a\r\n\n\n");
    let equal = [chunk(1, 2, "a\nb\n", 1), chunk(1, 2, "a\nb", 0)];
    let by = ChunkOutcome::Covered { by: 1, relation: DuplicateKind::Contained };
    assert_eq!(resolve_all(&equal, &MERGE).outcomes, [by, ChunkOutcome::Stays]);
    let other_end_of_line = [chunk(1, 2, "a\r\nb\n", 0), chunk(1, 2, "a\nb\n", 1)];
    assert_eq!(
        resolve_all(&other_end_of_line, &MERGE).outcomes,
        [ChunkOutcome::Stays, ChunkOutcome::Stays]
    );
}

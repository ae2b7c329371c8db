//! The cases of Task 016.c.

use expect_test::{Expect, expect};
use lcp_types::Priority;

use super::{Chunk, Fate, Terms, resolve_all};

impl<'t> Chunk<'t> {
    /// A chunk with this text; its range is to be set.
    pub(super) const fn of(text: &'t [u8]) -> Self {
        let priority = Priority::Normal;
        Self { first: 1, last: 1, text, order: 0, position: 0, priority, fixed: false }
    }
}

pub(super) const MERGE: Terms =
    Terms { merge: true, threshold: 0.8, merged_bytes: 16 << 10, first: false };
pub(super) const TRIM: Terms = Terms { merge: false, ..MERGE };
pub(super) const FIRST: Terms = Terms { first: true, ..MERGE };

/// Lines of a file, one version a letter: `a25` is its line 25.
fn text(version: char, first: u32, last: u32) -> String {
    let lines: Vec<_> = (first..=last).map(|line| format!("{version}{line}\n")).collect();
    lines.concat()
}

/// A chunk in short: `a1-50`, with `!` pinned, `^` of high priority, `_` of low; the
/// best ranked first.
pub(super) fn check(terms: Terms, specs: &str, expected: &Expect) {
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
    let resolved = resolve_all(&chunks, &terms);
    let name = |at: usize| specs[at];
    let mut shown = Vec::new();
    for (at, fate) in resolved.fates.iter().enumerate() {
        let fate = match fate {
            Fate::Stays => "stays".to_owned(),
            Fate::Grown { first, last, text, members } => {
                let members: Vec<_> = members.iter().copied().map(name).collect();
                format!("grows to {} of {}", in_short(*first, *last, text), members.join(" "))
            }
            Fate::Cut { by, first, last, text } => {
                format!("cut to {} by {}", in_short(*first, *last, text), name(*by))
            }
            Fate::Covered { by, relation } => format!("{relation}: {}", name(*by)),
        };
        let parts = resolved.shared.iter().filter(|(chunk, _)| *chunk == at);
        let parts: Vec<_> = parts.map(|(_, other)| format!(", part in {}", name(*other))).collect();
        shown.push(format!("{} {fate}{}\n", name(at), parts.concat()));
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

/// The range, having checked that the text is its lines, of one version.
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
fn what_only_touches_stays_apart_where_any_two_chunks_differ() {
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
    // 8 of 10 lines, then 7.
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
        Terms { threshold: 0.7, ..TRIM },
        "a1-10 a4-14",
        &expect![[r"
        a1-10 stays
        a4-14 cut to a11-14 by a1-10
    "]],
    );
    check(
        Terms { threshold: 0.7, ..TRIM },
        "a1-10 b4-14",
        &expect![[r"
        a1-10 stays
        b4-14 stays
    "]],
    );
    check(
        Terms { merge: false, ..FIRST },
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
    for terms in [MERGE, TRIM, FIRST] {
        let stay = &expect![[r"
            a1-10 stays
            a20-30 stays
        "]];
        check(terms, "a1-10 a20-30", stay);
    }
    assert!(resolve_all(&[], &MERGE).fates.is_empty());
}

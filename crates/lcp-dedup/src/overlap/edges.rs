//! Sizes, priorities, pins, versions and ends of texts, case by case.

use expect_test::expect;
use lcp_types::DuplicateKind;

use super::tests::{FIRST, MERGE, TRIM, check};
use super::{Chunk, Fate, Terms, resolve_all};

#[test]
fn a_run_is_split_at_a_line_where_it_is_too_large() {
    let small = Terms { merged_bytes: 100, ..MERGE };
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
    // One chunk that is larger by itself stays whole.
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
    // Lines of one chunk in three runs.
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
fn a_large_run_is_not_raised_for_a_few_lines() {
    let small = Terms { merged_bytes: 100, ..MERGE };
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
        Terms { merge: false, ..small },
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
fn what_is_fixed_never_changes_and_covers() {
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
        Terms { threshold: 0.1, ..TRIM },
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
fn the_earlier_chunk_stays_and_the_later_gives_its_lines() {
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
    // One that has all of its lines goes before one that has the first of them,
    // the earlier one before the later.
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
fn without_merging_what_was_cut_away_is_found_where_it_stands() {
    // a5-7 lies within a2-20, whose lines a1-15 has.
    let terms = Terms { threshold: 0.5, ..TRIM };
    check(
        terms,
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
fn the_final_newline_is_that_of_the_last_line() {
    let chunk = |first, last, text: &'static str, order| {
        let position = order;
        Chunk { first, last, order, position, ..Chunk::of(text.as_bytes()) }
    };
    let merged = |chunks: &[Chunk<'_>]| match &resolve_all(chunks, &MERGE).fates[0] {
        Fate::Grown { text, .. } => String::from_utf8(text.clone()).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(merged(&[chunk(1, 2, "a\nb", 0), chunk(2, 3, "b\nc", 1)]), "a\nb\nc");
    assert_eq!(merged(&[chunk(1, 2, "a\nb", 0), chunk(3, 3, "c\n", 1)]), "a\nb\nc\n");
    assert_eq!(merged(&[chunk(1, 1, "a\r\n", 0), chunk(2, 3, "\n\n", 1)]), "a\r\n\n\n");
    let equal = [chunk(1, 2, "a\nb\n", 1), chunk(1, 2, "a\nb", 0)];
    let by = Fate::Covered { by: 1, relation: DuplicateKind::Contained };
    assert_eq!(resolve_all(&equal, &MERGE).fates, [by, Fate::Stays]);
    let other_end_of_line = [chunk(1, 2, "a\r\nb\n", 0), chunk(1, 2, "a\nb\n", 1)];
    assert_eq!(resolve_all(&other_end_of_line, &MERGE).fates, [Fate::Stays, Fate::Stays]);
}

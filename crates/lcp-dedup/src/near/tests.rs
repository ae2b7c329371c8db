//! Properties of any texts, and limits of work for hostile ones.

use std::collections::BTreeSet;

use lcp_testkit::SplitMix64;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::changes::{Changes, Comparison, compare};
use super::comments::CommentSyntax;
use super::delta::{Diff, diff};
use super::line_sets::{Document, Form};
use super::similarity_join::{JoinLimits, Match, Matches, join, run};
use super::{RestoreError, restore};

const UNBOUNDED: JoinLimits =
    JoinLimits { threshold: 0.8, postings_max: usize::MAX, verifications_max: usize::MAX };
const BOUNDED: JoinLimits = JoinLimits { threshold: 0.8, postings_max: 512, verifications_max: 64 };

/// Lines that are equal, or equal except for white space or numbers.
const LINES: [&[u8]; 16] = [
    b"a first line, long enough that a diff without it is shorter than the text",
    b"b",
    b"}",
    b"a second line, as long as the first or longer, so that the same is true",
    b"e",
    b"",
    b"b ",
    b"  b",
    b"   1\tb",
    b"   2\t",
    b"e\r",
    b"\xff\xfe",
    b"\tb",
    b"b // one",
    b"b // two",
    b"# three",
];

fn any_line() -> impl Strategy<Value = &'static [u8]> {
    // The first lines are more frequent, so that many sets are near.
    prop_oneof![4 => select(&LINES[..6]), 1 => select(&LINES[..])]
}

/// Generates texts with and without a final newline. They may begin or end with empty lines.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    (vec(any_line(), 0..12), any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = lines.join(&b'\n');
        if newline {
            text.push(b'\n');
        }
        text
    })
}

#[derive(Clone, Debug)]
struct Owned {
    bytes: Vec<u8>,
    exact: bool,
    comments: CommentSyntax,
    fixed: bool,
}

fn any_texts() -> impl Strategy<Value = Vec<Owned>> {
    let flags = (prop::bool::weighted(0.3), prop::bool::weighted(0.1));
    let syntaxes = vec![CommentSyntax::SLASHES, CommentSyntax::HASH];
    let one = (any_text(), flags, select(syntaxes))
        .prop_map(|(bytes, (exact, fixed), comments)| Owned { bytes, exact, comments, fixed });
    vec(one, 0..16)
}

fn borrowed(texts: &[Owned]) -> Vec<Document<'_>> {
    let mut borrowed = Vec::new();
    for Owned { bytes, exact, comments, fixed } in texts {
        borrowed.push(Document { bytes, exact: *exact, comments: *comments, fixed: *fixed });
    }
    borrowed
}

/// Splits a text into lines without newlines.
fn split(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Returns whether `kept` has the lines of `text` in order. Tries every possibility.
fn is_subsequence(text: &[&[u8]], kept: &[&[u8]]) -> bool {
    match (text, kept) {
        ([], _) => true,
        (_, []) => false,
        ([first, rest @ ..], [other, others @ ..]) => {
            (first == other && is_subsequence(rest, others)) || is_subsequence(text, others)
        }
    }
}

/// Computes the expected covers by comparing all pairs.
fn brute_force(
    texts: &[Document<'_>],
    thousandths: usize,
    accept: &dyn Fn(usize, usize, &Changes) -> bool,
) -> Vec<Option<Match>> {
    let mut kept: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for text in 0..texts.len() {
        let mut tried = Vec::new();
        let one = Form::ALL.into_iter().filter(|_| !texts[text].fixed).find_map(|form| {
            let mut near = near(texts, form, text, &kept, thousandths);
            near.retain(|by| !tried.contains(by));
            tried.extend_from_slice(&near);
            cover(texts, form, text, &near, accept)
        });
        if one.is_none() {
            kept.push(text);
        }
        found.push(one);
    }
    found
}

/// Returns the texts of `kept` that are near in one form, the nearest first.
fn near(
    texts: &[Document<'_>],
    form: Form,
    text: usize,
    kept: &[usize],
    thousandths: usize,
) -> Vec<usize> {
    let set = |text: usize| -> BTreeSet<&[u8]> {
        let is_blank = texts[text].bytes.trim_ascii().is_empty();
        let set: BTreeSet<_> = texts[text].keys(form).map(|(_, key)| key).collect();
        if is_blank || set.len() < 2 { BTreeSet::new() } else { set }
    };
    let own = set(text);
    let mut near: Vec<_> = kept
        .iter()
        .map(|by| {
            let other = set(*by);
            let common = own.intersection(&other).count();
            (*by, common, own.len() + other.len() - common)
        })
        .filter(|(_, common, union)| *common > 0 && common * 1000 >= union * thousandths)
        .collect();
    // The sort is stable, so equally near texts remain in order of rank.
    near.sort_by(|(_, a, all), (_, b, both)| (b * all).cmp(&(a * both)));
    near.into_iter().map(|(by, ..)| by).collect()
}

fn cover(
    texts: &[Document<'_>],
    form: Form,
    text: usize,
    near: &[usize],
    accept: &dyn Fn(usize, usize, &Changes) -> bool,
) -> Option<Match> {
    let keys = |text: usize| texts[text].keys(form).map(|(_, key)| key);
    let contains = |by: &&usize| {
        // In other states of a block comment, equal lines have different keys.
        let has_keys = texts[text].comments != texts[**by].comments
            || form == Form::Lines
            || is_subsequence(&keys(text).collect::<Vec<_>>(), &keys(**by).collect::<Vec<_>>());
        has_keys && is_subsequence(&split(texts[text].bytes), &split(texts[**by].bytes))
    };
    if let Some(by) = near.iter().find(contains) {
        return Some(Match::Contained { by: *by });
    }
    near.iter().take(3).find_map(|by| match compare(texts[*by].bytes, texts[text].bytes) {
        Comparison::Changes(changes) if accept(text, *by, &changes) => {
            Some(Match::Changed { by: *by, changes })
        }
        _ => None,
    })
}

/// Accepts about half of the diffs, deterministically.
fn is_even(text: usize, by: usize, changes: &Changes) -> bool {
    (text + by + changes.to_stub("").len()).is_multiple_of(2)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn join_matches_brute_force(
        texts in any_texts(),
        thousandths in select(vec![500_usize, 600, 667, 800, 1000]),
    ) {
        let texts = borrowed(&texts);
        let threshold = f64::from(u32::try_from(thousandths).unwrap()) / 1000.0;
        let matches = join(&texts, &JoinLimits { threshold, ..UNBOUNDED }, &mut is_even);
        prop_assert_eq!(matches.covers, brute_force(&texts, thousandths, &is_even));
        prop_assert!(matches.capped.is_empty());
    }

    #[test]
    fn covering_text_remains_and_restores_covered_text(texts in any_texts(), bounded: bool) {
        let texts = borrowed(&texts);
        let few = JoinLimits { threshold: 0.5, postings_max: 2, verifications_max: 1 };
        let limits = if bounded { few } else { JoinLimits { threshold: 0.5, ..UNBOUNDED } };
        let matches = join(&texts, &limits, &mut |_, _, _| true);
        prop_assert_eq!(matches.covers.len(), texts.len());
        for (text, found) in matches.covers.iter().enumerate() {
            let by = match found {
                None => continue,
                Some(Match::Contained { by }) => {
                    prop_assert!(is_subsequence(&split(texts[text].bytes), &split(texts[*by].bytes)));
                    *by
                }
                Some(Match::Changed { by, changes }) => {
                    let again = restore(texts[*by].bytes, &changes.to_stub("a above"));
                    prop_assert_eq!(again.as_deref(), Ok(texts[text].bytes));
                    *by
                }
            };
            prop_assert!(by < text && matches.covers[by].is_none() && !texts[text].fixed);
        }
        for capped in matches.capped {
            prop_assert!(matches.covers[capped].is_none() && !texts[capped].fixed);
        }
    }

    #[test]
    fn join_is_deterministic(texts in any_texts()) {
        let texts = borrowed(&texts);
        let limits = JoinLimits { threshold: 0.5, postings_max: 3, verifications_max: 2 };
        let matches = join(&texts, &limits, &mut is_even);
        prop_assert_eq!(matches, join(&texts, &limits, &mut is_even));
    }

    #[test]
    fn diff_restores_the_text(kept in any_text(), text in any_text()) {
        if let Diff::Hunks(hunks) = diff(&kept, &text) {
            prop_assert!(hunks.is_empty() || hunks.len() < text.len() + 64);
            prop_assert_eq!(restore(&kept, &hunks), Ok(text));
        }
    }

    #[test]
    fn few_edits_yield_a_diff_that_restores_the_text(
        lines in vec(0..20_u32, 40..80),
        edits in vec((0..40_usize, 0..3_u8), 1..5),
        ends in any::<(bool, bool)>(),
    ) {
        let write = |lines: &[u32], end: bool| {
            let lines: Vec<_> = lines.iter().map(|n| format!("a line of the text: {n}")).collect();
            (lines.join("\n") + if end { "\n" } else { "" }).into_bytes()
        };
        let mut edited = lines.clone();
        for (at, edit) in edits {
            let at = at % edited.len();
            match edit {
                0 => { edited.remove(at); }
                1 => edited.insert(at, 99),
                _ => edited[at] = 77,
            }
        }
        let (kept, text) = (write(&lines, ends.0), write(&edited, ends.1));
        let Diff::Hunks(hunks) = diff(&kept, &text) else {
            return Err(TestCaseError::fail("it is not short"));
        };
        prop_assert_eq!(restore(&kept, &hunks), Ok(text));
    }

    #[test]
    fn restore_from_arbitrary_hunks_is_bounded(
        kept in any_text(),
        hunks in vec(
            prop_oneof![
                (any::<u64>(), any::<u64>()).prop_map(|(a, b)| format!("@@ -{a},{b} +1 @@\n").into_bytes()),
                (0..4_u8, 0..3_u8, 0..4_u8).prop_map(|(a, b, c)| format!("@@ -{a},{b} +{c} @@\n").into_bytes()),
                select(&LINES[..]).prop_map(|line| [b"-", line, b"\n"].concat()),
                select(&LINES[..]).prop_map(|line| [b"+", line, b"\n"].concat()),
                Just(super::lines::NO_NEWLINE.to_vec()),
                vec(any::<u8>(), 0..6),
            ],
            0..6,
        ),
    ) {
        let hunks = hunks.concat();
        if let Ok(text) = restore(&kept, &hunks) {
            prop_assert!(text.len() <= kept.len() + hunks.len());
        }
    }
}

#[test]
fn mismatched_or_malformed_hunks_are_errors() {
    let hunks = b"@@ -2 +2 @@\n-b\n+x\n";
    assert_eq!(restore(b"a\nb\nc", hunks).unwrap(), b"a\nx\nc");
    for (kept, hunks, error) in [
        ("a\nc\n", "@@ -2 +2 @@\n-b\n+x\n", RestoreError::OtherText { line: 2 }),
        ("a\n", "@@ -2 +2 @@\n-b\n+x\n", RestoreError::OtherText { line: 2 }),
        ("a\n", "@@ -1 +2 @@\n-a\n+x\n", RestoreError::Malformed { line: 1 }),
        ("a\n", "@@ -1 +1 @@\n-a\n", RestoreError::Malformed { line: 2 }),
        ("a\n", "@@ -1 +1 @@\n-a\n+x", RestoreError::Malformed { line: 3 }),
        (
            "a\nb\n",
            "@@ -2 +2 @@\n-b\n+x\n@@ -1 +3 @@\n-a\n+x\n",
            RestoreError::Malformed { line: 4 },
        ),
        // The added line would become part of the previous one, which has no newline.
        ("a", "@@ -1,0 +2 @@\n+b\n", RestoreError::Malformed { line: 2 }),
        ("a\n", "text\n", RestoreError::Malformed { line: 1 }),
    ] {
        assert_eq!(restore(kept.as_bytes(), hunks.as_bytes()), Err(error), "{hunks}");
    }
}

/// Shuffles `lines` with a seed.
fn shuffled(lines: &[String], seed: u64) -> Vec<u8> {
    let mut lines = lines.to_vec();
    let mut rng = SplitMix64::new(seed);
    for at in (1..lines.len()).rev() {
        lines.swap(at, rng.below(at + 1));
    }
    lines.concat().into_bytes()
}

fn document(bytes: &[u8], exact: bool) -> Document<'_> {
    Document { bytes, exact, comments: CommentSyntax::NONE, fixed: false }
}

fn plain(texts: &[Vec<u8>]) -> Vec<Document<'_>> {
    texts.iter().map(|bytes| document(bytes, true)).collect()
}

#[test]
fn texts_with_shuffled_lines_take_bounded_work() {
    let lines: Vec<_> = (0..12).map(|n| format!("a line {n}\n")).collect();
    let texts: Vec<_> = (0..10_000).map(|seed| shuffled(&lines, seed)).collect();
    let texts = plain(&texts);
    let (matches, stats) = run(&texts, &BOUNDED, &mut |_, _, _| false);
    assert!(matches.covers.iter().all(Option::is_none));
    // Each limit applies to both forms.
    assert!(stats.compared <= 2 * 64 * texts.len(), "{stats:?}");
    assert!(stats.scanned <= 2 * 64 * texts.len() * lines.len(), "{stats:?}");
    assert!(stats.diffs <= 2 * 3 * texts.len(), "{stats:?}");
    // All texts are capped, except the first ones, which could be compared with every earlier text.
    assert!(matches.capped.len() > 9_900, "{}", matches.capped.len());
}

#[test]
fn long_text_is_not_scanned_for_each_small_text() {
    let long = b"a\nb\nc\n".repeat(300_000);
    let mut texts = vec![long];
    texts.extend((0..500).map(|_| b"c\nb\na\nc\nb\na\nc\nb\na\nq\n".to_vec()));
    for (at, text) in texts.iter_mut().enumerate().skip(1) {
        text.extend_from_slice(format!("{at}\n").as_bytes());
    }
    let texts = plain(&texts);
    let (_, stats) = run(&texts, &JoinLimits { threshold: 0.5, ..BOUNDED }, &mut |_, _, _| true);
    assert!(stats.scanned <= texts.len() * 64 * (2 * 11 + 64), "{stats:?}");

    // The container does not have the last line of the text after the others, so the search would
    // read all of it.
    let texts = [b"a\nb\nc\n".repeat(300_000), b"c\nb\na\n".repeat(2)];
    let few = JoinLimits { verifications_max: 1, ..BOUNDED };
    let (matches, stats) = run(&plain(&texts), &few, &mut |_, _, _| true);
    assert_eq!(matches.covers, [None, Some(Match::Contained { by: 0 })]);
    assert!(stats.scanned < 20, "{stats:?}");
}

#[test]
fn text_over_scan_limit_is_capped_and_not_covered() {
    let long = [b"a\nb\n".repeat(1_000), b"c\n".to_vec()].concat();
    let texts = [long, b"a\nb\nc\n".to_vec()];
    let few = JoinLimits { verifications_max: 1, ..BOUNDED };
    let capped = Matches { covers: vec![None, None], capped: vec![1], alike: vec![(1, 0)] };
    assert_eq!(join(&plain(&texts), &few, &mut |_, _, _| true), capped);
    let found = join(&plain(&texts), &BOUNDED, &mut |_, _, _| true).covers;
    assert_eq!(found[1], Some(Match::Contained { by: 0 }));
}

#[test]
fn oversized_diff_is_abandoned() {
    let lines: Vec<_> = (0..80_000).map(|n| format!("{n}\n")).collect();
    let (kept, text) = (lines.concat().into_bytes(), shuffled(&lines, 1));
    assert_eq!(diff(&kept, &text), Diff::Bound);
    let texts = [kept, text];
    let matches = join(&plain(&texts), &BOUNDED, &mut |_, _, _| true);
    assert_eq!(matches, Matches { covers: vec![None, None], capped: vec![1], alike: vec![(1, 0)] });

    // Repetitions of one line need no search, so the limit does not apply.
    let (kept, text) = (b"x\n".repeat(1_000_000), b"x\n".repeat(999_990));
    let Diff::Hunks(hunks) = diff(&kept, &text) else { panic!("it is short") };
    assert_eq!(restore(&kept, &hunks), Ok(text));
}

#[test]
fn blank_and_single_line_texts_are_never_covered() {
    let texts = [" \n  \n", " \n  \n", "a\na\n", "a\n", "", "\n"];
    let texts: Vec<_> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let matches = join(&plain(&texts), &UNBOUNDED, &mut |_, _, _| true);
    assert_eq!(matches, Matches { covers: vec![None; 6], ..Matches::default() });
}

#[test]
fn fixed_text_covers_and_is_not_covered() {
    let mut texts = plain(&[]);
    for fixed in [true, true, false] {
        texts.push(Document { fixed, ..document(b"a\nb\n", false) });
    }
    let matches = join(&texts, &UNBOUNDED, &mut |_, _, _| true);
    assert_eq!(matches.covers, [None, None, Some(Match::Contained { by: 0 })]);
}

#[test]
fn exact_and_normalized_texts_are_compared_by_bytes() {
    // One text is compared without the number in its first line, the other with it.
    let texts = [true, false].map(|exact| document(b"  1\tx\nb\nc\n", exact));
    let matches = join(&texts, &JoinLimits { threshold: 0.5, ..UNBOUNDED }, &mut |_, _, _| true);
    assert_eq!(matches.covers, [None, Some(Match::Contained { by: 0 })]);
}

#[test]
fn numbered_copy_is_alike_but_not_covered() {
    let code = "fn a() {}\nfn b() {}\nfn c() {}\n";
    let numbered = "     1\tfn a() {}\n     2\tfn b() {}\n     3\tfn c() {}\n";
    let texts = [code, numbered].map(str::as_bytes);
    let texts = texts.map(|bytes| document(bytes, false));
    let matches = join(&texts, &UNBOUNDED, &mut |_, _, _| true);
    assert_eq!(matches.covers, [None, None]);
    assert_eq!((matches.capped, matches.alike), (vec![], vec![(1, 0)]));
}

#[test]
fn diff_uses_the_unified_hunk_format() {
    // The line must be long, because hunks that are not shorter than the text are not made.
    let both = "a line that both have ".repeat(5);
    let [kept, text] = [
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight",
        "one\n2\nthree\nfour\nfour and a half\nfive\nsix\neight\n",
    ]
    .map(|lines| format!("{both}\n{lines}").into_bytes());
    let Diff::Hunks(hunks) = diff(&kept, &text) else { panic!("it is short") };
    expect_test::expect![[r"
        @@ -3 +3 @@
        -two
        +2
        @@ -5,0 +6 @@
        +four and a half
        @@ -8,2 +9 @@
        -seven
        -eight
        \ No newline at end of file
        +eight
    "]]
    .assert_eq(&String::from_utf8(hunks).unwrap());
}

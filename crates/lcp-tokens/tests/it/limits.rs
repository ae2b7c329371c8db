//! What budgets ask: counts up to a limit, truncation, growing texts, token
//! boundaries, batches.

use lcp_testkit::SplitMix64;
use lcp_tokens::{
    CodeAwareEstimator, Encoding, HeuristicEstimator, IncrementalCounter, Tiktoken, TokenEstimator,
    count_batch,
};
use proptest::prelude::*;

const PIECES: &[&str] = &[
    "a", " b", "\n", "\n\n", "\r\n", "\t", "  ", "/", "//", "!", "...", "}", "});", "<", "é",
    "漢字", "漢A", "🦀", "'s", "'ſ", "'l", "l", "\u{85}", "\u{a0}", "12345", "1", "½", "İ", "ǅ",
    "ʰ", "ABC", "Word", "getElementById", "\u{301}", "_", "    ", "=====",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
        1 => (prop::sample::select(PIECES), 0usize..120, any::<char>())
            .prop_map(|(piece, times, last)| piece.repeat(times) + &last.to_string()),
    ]
}

fn any_encoding() -> impl Strategy<Value = Tiktoken> {
    prop::sample::select(Encoding::ALL).prop_map(Tiktoken::new)
}

fn boundaries(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    (0..=text.len()).filter(|at| text.is_char_boundary(*at))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn count_up_to_matches_the_count_within_the_limit(text in any_text(), limit in 0u32..60, by in any_encoding()) {
        let count = by.estimate(&text);
        prop_assert_eq!(by.count_up_to(&text, limit), (count <= limit).then_some(count));
    }

    /// The longest of all, found by trying every place.
    #[test]
    fn truncate_to_returns_the_longest_fitting_prefix(text in any_text(), most in 0u32..40, by in any_encoding()) {
        let fits = |end: &usize| by.estimate(&text[..*end]) <= most;
        let longest = boundaries(&text).rev().find(fits).unwrap();
        prop_assert_eq!(by.truncate_to(&text, most), &text[..longest]);
    }

    #[test]
    fn truncate_front_to_returns_the_longest_fitting_suffix(text in any_text(), most in 0u32..40, by in any_encoding()) {
        let fits = |start: &usize| by.estimate(&text[*start..]) <= most;
        let longest = boundaries(&text).find(fits).unwrap();
        prop_assert_eq!(by.truncate_front_to(&text, most), &text[longest..]);
    }

    /// Whatever counts, what is left never counts more, and is not short by
    /// more than a character where counts grow with the text.
    #[test]
    fn heuristic_truncation_fits_the_limit(text in any_text(), most in 0u32..40) {
        let estimators: [&dyn TokenEstimator; 2] = [&HeuristicEstimator, &CodeAwareEstimator];
        for by in estimators {
            let (start, end) = (by.truncate_to(&text, most), by.truncate_front_to(&text, most));
            prop_assert!(text.starts_with(start) && by.estimate(start) <= most);
            prop_assert!(text.ends_with(end) && by.estimate(end) <= most);
            prop_assert!(by.estimate(&text) > most || (start.len(), end.len()) == (text.len(), text.len()));
        }
        let start = HeuristicEstimator.truncate_to(&text, most);
        if let Some(next) = text[start.len()..].chars().next() {
            let longer = &text[..start.len() + next.len_utf8()];
            prop_assert!(HeuristicEstimator.estimate(longer) > most);
        }
    }

    /// At every moment the count of what there is so far.
    #[test]
    fn incremental_count_matches_the_full_count(parts in prop::collection::vec(any_text(), 0..12), by in any_encoding()) {
        let (mut counter, mut whole) = (IncrementalCounter::new(by), String::new());
        for part in parts {
            // In pieces of a few characters, too: they can end anywhere.
            for few in part.chars().collect::<Vec<_>>().chunks(3) {
                let few: String = few.iter().collect();
                counter.push(&few);
                whole += &few;
            }
            prop_assert_eq!(counter.count(), by.estimate(&whole));
        }
    }

    /// Whatever comes behind what is settled.
    #[test]
    fn stable_prefix_counts_independently(text in any_text(), more in any_text(), by in any_encoding()) {
        let (bytes, tokens) = by.stable_prefix(&text);
        let whole = format!("{text}{more}");
        prop_assert_eq!(by.estimate(&whole), tokens + by.estimate(&whole[bytes..]));
    }

    #[test]
    fn token_ends_match_the_token_count(text in any_text(), by in any_encoding()) {
        let ends: Vec<usize> = by.token_ends(&text).collect();
        prop_assert_eq!(ends.len(), by.estimate(&text) as usize);
        prop_assert!(ends.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(ends.last().copied().unwrap_or(0), text.len());
    }
}

/// The tokens themselves, not only how many: against the tokenizer of OpenAI.
#[test]
fn token_ends_match_tiktoken() {
    let cores = [
        (Encoding::O200kBase, tiktoken_rs::o200k_base_singleton()),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton()),
        (Encoding::P50kBase, tiktoken_rs::p50k_base_singleton()),
    ];
    let mut random = SplitMix64::new(20);
    for i in 0..600 {
        let len = if i % 40 == 0 { 900 } else { 30 };
        let text: String = (0..len).map(|_| random.choose(PIECES)).collect();
        let text = if i % 50 == 0 { text.replace(|c: char| !c.is_alphabetic(), "") } else { text };
        for (encoding, core) in cores {
            let mut at = 0;
            let ends: Vec<usize> = core
                .encode_ordinary(&text)
                .into_iter()
                .map(|token| {
                    at += core.decode_bytes(&[token]).unwrap().len();
                    at
                })
                .collect();
            let found: Vec<usize> = Tiktoken::new(encoding).token_ends(&text).collect();
            assert_eq!(found, ends, "{encoding} {text:?}");
        }
    }
}

/// Long pieces, where cuts are searched: never over, and nearly the longest.
#[test]
fn truncation_within_long_pieces_nearly_fills_the_limit() {
    let mut random = SplitMix64::new(21);
    for alphabet in ["abcdefghij", "漢字かな", "=", "aB"] {
        let letters: Vec<char> = alphabet.chars().collect();
        let text: String = (0..9_000).map(|_| random.choose(&letters)).collect();
        for encoding in Encoding::ALL {
            let by = Tiktoken::new(*encoding);
            for most in [0, 1, 2, 50, 500, 1_500] {
                let (start, end) = (by.truncate_to(&text, most), by.truncate_front_to(&text, most));
                for part in [start, end] {
                    let count = by.estimate(part);
                    assert!(count <= most, "{encoding} {most}: {count}");
                    assert!(
                        part.len() == text.len() || count + 2 >= most,
                        "{encoding} {most}: only {count}"
                    );
                }
            }
        }
    }
}

/// With limits far below the length, from either end.
#[test]
fn low_limits_on_long_text_are_respected() {
    let words = "a word and then another, in 1 line;\n".repeat(300_000);
    let letters = "x".repeat(10_000_000);
    for text in [words, letters] {
        for encoding in Encoding::ALL {
            let by = Tiktoken::new(*encoding);
            for limit in 0..200 {
                assert_eq!(by.count_up_to(&text, limit), None);
                assert!(by.estimate(by.truncate_to(&text, limit)) <= limit);
                assert!(by.estimate(by.truncate_front_to(&text, limit)) <= limit);
            }
        }
    }
}

/// A reply without a space keeps what is not settled, and still grows in linear
/// time.
#[test]
fn incremental_count_handles_one_long_piece() {
    let by = Tiktoken::new(Encoding::O200kBase);
    let mut counter = IncrementalCounter::new(by);
    for _ in 0..100_000 {
        counter.push("letters");
    }
    assert_eq!(counter.count(), by.estimate(&"letters".repeat(100_000)));
    counter.clear();
    assert_eq!(counter.count(), 0);
}

/// What comes can reach back over the last piece into the one before it.
#[test]
fn incremental_count_revises_the_previous_piece() {
    let cases =
        [("don'", "t"), ("I'", "ll"), ("a\n  ", "\n"), ("漢AB", "b"), ("x  ", "y"), ("!", "\n/")];
    for (text, more) in cases {
        for by in Encoding::ALL.iter().copied().map(Tiktoken::new) {
            let (bytes, tokens) = by.stable_prefix(text);
            let whole = format!("{text}{more}");
            let name = by.name();
            assert_eq!(
                by.estimate(&whole),
                tokens + by.estimate(&whole[bytes..]),
                "{name} {whole:?}"
            );
            let before = "word ".repeat(60);
            let mut counter = IncrementalCounter::new(by);
            for part in [&before, text, more] {
                counter.push(part);
            }
            assert_eq!(
                counter.count(),
                by.estimate(&format!("{before}{whole}")),
                "{name} {whole:?}"
            );
        }
    }
}

/// One piece that is longer than the limit, and nearly as long.
#[test]
fn count_up_to_is_exact_within_a_long_piece() {
    let mut random = SplitMix64::new(23);
    for alphabet in ["ab", " ", "漢字かな", "=-"] {
        let letters: Vec<char> = alphabet.chars().collect();
        let text: String = (0..3_000).map(|_| random.choose(&letters)).collect();
        for by in Encoding::ALL.iter().copied().map(Tiktoken::new) {
            let count = by.estimate(&text);
            for limit in [0, 1, count / 2, count - 1, count, count + 1, u32::MAX] {
                let expected = (count <= limit).then_some(count);
                assert_eq!(by.count_up_to(&text, limit), expected, "{} {limit}", by.name());
            }
        }
    }
}

/// Whoever points to an estimator, or wraps it, answers as it does.
#[test]
fn pointers_delegate_to_the_estimator() {
    struct Odd;
    impl TokenEstimator for Odd {
        fn estimate(&self, _: &str) -> u32 {
            1
        }
        fn is_exact(&self) -> bool {
            true
        }
        fn is_additive(&self) -> bool {
            true
        }
        fn name(&self) -> &'static str {
            "odd"
        }
        fn caveat(&self) -> Option<&str> {
            Some("odd")
        }
        fn count_up_to(&self, _: &str, _: u32) -> Option<u32> {
            Some(2)
        }
        fn truncate_to<'t>(&self, text: &'t str, _: u32) -> &'t str {
            &text[..1]
        }
        fn truncate_front_to<'t>(&self, text: &'t str, _: u32) -> &'t str {
            &text[1..]
        }
        fn stable_prefix(&self, _: &str) -> (usize, u32) {
            (3, 4)
        }
        fn recount(&self, _: &str) -> u32 {
            5
        }
        fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
            write(b"odd");
            true
        }
    }
    fn check(by: &impl TokenEstimator) {
        let mut told = Vec::new();
        assert!(by.write_cache_key(&mut |part| told.extend_from_slice(part)));
        assert_eq!(told, b"odd");
        assert_eq!((by.estimate("text"), by.is_exact(), by.is_additive()), (1, true, true));
        assert_eq!((by.name(), by.caveat()), ("odd", Some("odd")));
        assert_eq!(by.count_up_to("text", 9), Some(2));
        assert_eq!((by.truncate_to("text", 9), by.truncate_front_to("text", 9)), ("t", "ext"));
        assert_eq!((by.stable_prefix("text"), by.recount("text")), ((3, 4), 5));
    }
    check(&&Odd);
    check(&std::sync::Arc::new(Odd));
    let boxed: Box<dyn TokenEstimator> = Box::new(Odd);
    check(&boxed);
    #[cfg(feature = "cache")]
    check(&lcp_tokens::CachedEstimator::new(
        Odd,
        std::sync::Arc::new(lcp_tokens::CountCache::new(0)),
    ));
}

/// An estimator that breaks its promise about the empty text does no harm.
#[test]
fn truncation_handles_nonzero_count_for_empty_text() {
    struct WithStart;
    impl TokenEstimator for WithStart {
        fn estimate(&self, text: &str) -> u32 {
            HeuristicEstimator.estimate(text) + 1
        }
    }
    assert_eq!((WithStart.truncate_to("", 0), WithStart.truncate_front_to("", 0)), ("", ""));
    assert_eq!(WithStart.truncate_to("text", 0), "");
}

#[test]
fn empty_batch_returns_empty_counts() {
    assert!(count_batch::<_, &str>(&HeuristicEstimator, &[]).is_empty());
}

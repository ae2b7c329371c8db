//! Exact counts: known figures, hostile text, and the rule of joins.

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator, is_additive_boundary, split_at_boundary};
use proptest::prelude::*;

const ADDITIVE: [Encoding; 3] = [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::O200kHarmony];

fn count(encoding: Encoding, text: &str) -> usize {
    Tiktoken::new(encoding).estimate(text) as usize
}

#[test]
fn known_texts_have_expected_counts() {
    use Encoding::{Cl100kBase, O200kBase, P50kBase, R50kBase};
    let cases = [
        ("", [0, 0, 0, 0]),
        ("hello world", [2, 2, 2, 2]),
        ("tiktoken is great!", [6, 6, 6, 6]),
        ("    indented", [3, 3, 3, 5]),
    ];
    for (text, expected) in cases {
        let counts =
            [O200kBase, Cl100kBase, P50kBase, R50kBase].map(|encoding| count(encoding, text));
        assert_eq!(counts, expected, "{text:?}");
    }
}

/// Text that names special tokens is ordinary text.
#[test]
fn special_tokens_count_as_ordinary_text() {
    for encoding in Encoding::ALL.iter().copied() {
        assert!(count(encoding, "<|endoftext|>") > 1, "{encoding}");
    }
}

/// Long runs of white space make the regex of `tiktoken-rs` panic from about a
/// million characters on. Below that it can be asked whether the way around
/// them counts the same.
#[test]
fn long_white_space_runs_count_like_tiktoken() {
    use tiktoken_rs::{cl100k_base_singleton, o200k_base_singleton, r50k_base_singleton};
    let around = [("end.", "\tx"), ("{\n\n", "/x"), ("a\r\n", "")];
    let cores = [
        (Encoding::O200kBase, o200k_base_singleton()),
        (Encoding::Cl100kBase, cl100k_base_singleton()),
        (Encoding::R50kBase, r50k_base_singleton()),
    ];
    for (encoding, core) in cores {
        for run in ["\n".repeat(9) + &"\t ".repeat(200_005), "\u{a0} ".repeat(200_001)] {
            for (before, after) in around {
                let text = format!("{before}{run}{after}");
                let expected = core.count_ordinary(&text);
                assert_eq!(count(encoding, &text), expected, "{encoding} {before:?} {after:?}");
            }
        }
    }
}

#[test]
fn hostile_text_does_not_panic() {
    let spaces = " ".repeat(1_100_000);
    for text in [
        format!(
            "{spaces}
{spaces}x{spaces}"
        ),
        "
"
        .repeat(1_100_000)
            + "x",
        "A".repeat(300_000),
    ] {
        for encoding in [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::P50kBase] {
            let tokens = count(encoding, &text);
            assert!(tokens > 0 && tokens <= text.len(), "{encoding}");
        }
    }
}

#[test]
fn only_newline_splitting_encodings_are_additive() {
    for encoding in Encoding::ALL.iter().copied() {
        let additive = Tiktoken::new(encoding).is_additive();
        assert_eq!(additive, ADDITIVE.contains(&encoding), "{encoding}");
    }
    // Why p50k is not: the newlines go together with what follows.
    let (a, b) = ("\"}\n\n", "<");
    let p50k = |text: &str| count(Encoding::P50kBase, text);
    assert_ne!(p50k(&format!("{a}{b}")), p50k(a) + p50k(b));
}

const PIECES: &[&str] = &[
    "a", " b", "\n", "\n\n", "\r\n", "\t", "  ", "/", "//", "!", "...", "}", "});", "<", "é",
    "漢字", "🦀", "'s", "'ſ", "\u{85}", "\u{2028}", "\u{a0}", "\u{3000}", "12345", "İ", "ǅ", "ʰ",
    "\u{301}", "_", "#", "[", "```",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    /// The guarantee that the budget engine rests on (RFC 0002 §2).
    #[test]
    fn counts_add_up_at_newline_joins(a in any_text(), b in any_text(), which in 0usize..3) {
        let (a, encoding) = (a + "
", ADDITIVE[which]);
        let b = b.trim_start_matches(|first| !is_additive_boundary('\n', first));
        prop_assert_eq!(count(encoding, &format!("{a}{b}")), count(encoding, &a) + count(encoding, b));
    }

    /// What is in front of the first join does not change what is behind it.
    #[test]
    fn text_after_a_boundary_counts_independently(head in any_text(), text in any_text(), which in 0usize..3) {
        let (first, rest) = split_at_boundary(&text);
        prop_assert_eq!(format!("{first}{rest}"), text.clone());
        let encoding = ADDITIVE[which];
        let whole = count(encoding, &format!("{head}{text}"));
        prop_assert_eq!(whole, count(encoding, &format!("{head}{first}")) + count(encoding, rest));
    }
}

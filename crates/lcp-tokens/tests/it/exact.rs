//! Our counts and ids against those of `tiktoken-rs`: every character of
//! Unicode, text that was made to hurt, and real files.

use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use tiktoken_rs::CoreBPE;

pub(crate) fn oracle(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    }
}

#[track_caller]
fn same(encoding: Encoding, text: &str) {
    let tokenizer = Tiktoken::new(encoding);
    let expected = oracle(encoding).encode_ordinary(text);
    assert_eq!(tokenizer.estimate(text) as usize, expected.len(), "{encoding} {text:?}");
    assert_eq!(tokenizer.encode(text), expected, "{encoding} {text:?}");
    let decoded = tokenizer.decode(&expected);
    assert_eq!(decoded.as_deref(), Ok(text.as_bytes()), "{encoding} {text:?}");
}

/// Each character between what can pull it into a piece: letters of either
/// case, numbers, punctuation, white space, apostrophes.
#[test]
fn every_character_counts_like_tiktoken() {
    let chars: Vec<char> = ('\0'..=char::MAX).collect();
    // Most of Unicode is not assigned; a choice of that is enough.
    let is_dense = |c: &char| u32::from(*c) < 0x3_4000 || u32::from(*c) % 64 == 0;
    let chars: Vec<char> = chars.into_iter().filter(is_dense).collect();
    // The other encodings have the patterns of these.
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::R50kBase] {
        for chunk in chars.chunks(64) {
            let mut text = String::new();
            for c in chunk {
                text.extend(
                    ["a", "A", " ", "!", "1", "\n", "'"]
                        .iter()
                        .flat_map(|next| [c.to_string(), (*next).to_owned()]),
                );
                text.extend(["aA", " x"].iter().map(|next| format!("{c}{c}{next}")));
            }
            same(encoding, &text);
        }
    }
}

/// What engines were wrong about before, and what joins in surprising ways.
const PIECES: &[&str] = &[
    "'s", "'S", "'ſ", "'ll", "'LL", "'lL", "'re", "'x", "''", "don't", "<|endoftext|>", "\r\n",
    "\n", "\r", "\n\n ", " ", "  ", "\t", "\u{a0}", "\u{3000}", "\u{85}", "\u{2028}", "a", "B",
    "Ab", "aB", "ABC", "é", "e\u{301}", "ß", "İ", "ǅ", "ʰ", "ª", "漢", "字かな", "한글", "ไทย",
    "עברית", "العربية", "🦀", "👩‍👩‍👧", "\u{301}", "\u{200d}", "1", "12", "123456", "٣", "½", "Ⅷ", "/",
    "//", "!", "...", "});", "=====", "_", "-", "#", "\u{0}", "\u{7f}", "\u{fffd}", "\u{10ffff}",
    "\\n", "http://x.y/z?q=1", "getElementById", "snake_case_name", "    return None\n", "0x1F600",
    "aGVsbG8gd29ybGQ=",
];

fn random_text(random: &mut SplitMix64, longest: usize) -> String {
    (0..=random.below(longest)).map(|_| random.choose(PIECES)).collect::<Vec<_>>().concat()
}

#[test]
fn adversarial_text_counts_like_tiktoken() {
    let mut random = SplitMix64::new(16);
    for i in 0..25_000 {
        let text = random_text(&mut random, if i % 100 == 0 { 200 } else { 12 });
        for encoding in Encoding::ALL.iter().copied() {
            same(encoding, &text);
        }
    }
}

#[test]
fn lossy_bytes_count_like_tiktoken() {
    let mut random = SplitMix64::new(17);
    for _ in 0..3_000 {
        let len = random.below(60);
        let text = String::from_utf8_lossy(&random.bytes(len)).into_owned();
        for encoding in Encoding::ALL.iter().copied() {
            same(encoding, &text);
        }
    }
}

/// Pieces of every length around the limits of the cache and of the two ways
/// to merge.
#[test]
fn pieces_at_length_limits_count_like_tiktoken() {
    let mut random = SplitMix64::new(18);
    for len in (1..40).chain(120..140).chain([1_000, 5_000]) {
        for alphabet in ["a", "ab", "abcdefghijklmnopqrstuvwxyz", "é漢x", "=-"] {
            let letters: Vec<char> = alphabet.chars().collect();
            let text: String = (0..len).map(|_| random.choose(&letters)).collect();
            for encoding in Encoding::ALL.iter().copied() {
                same(encoding, &text);
            }
        }
    }
}

/// Long pieces that repeat, and stop repeating somewhere.
#[test]
fn long_repetitions_count_like_tiktoken() {
    let mut random = SplitMix64::new(19);
    for unit in ["a", "A", " ", "\n", "=", "ab", "\n ", "abc", "-+", "漢", "漢字", "é"] {
        let whole = unit.repeat(1_500);
        for _ in 0..6 {
            let cut = random.below(whole.len());
            let cut = (0..=cut).rev().find(|cut| whole.is_char_boundary(*cut)).unwrap();
            let (first, second) = whole.split_at(cut);
            let between = random.choose(&["", "a", "Q", "=", " "]);
            let after = random.choose(&["", "x", "\n"]);
            let text = [first, between, second, after].concat();
            for encoding in Encoding::ALL.iter().copied() {
                same(encoding, &text);
            }
        }
    }
}

#[test]
fn real_files_count_like_tiktoken() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in
        ["samples/session.json", "rfcs/0001-block-stream.md", "Cargo.lock", "LICENSE-APACHE"]
    {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        for encoding in Encoding::ALL.iter().copied() {
            same(encoding, &text);
        }
    }
}

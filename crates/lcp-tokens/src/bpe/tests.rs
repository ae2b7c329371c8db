use std::ops::ControlFlow;

use lcp_testkit::SplitMix64;

use super::piece_cache::{LONG_SLOT_BITS, PieceCache};
use super::pretokenize::{Pattern, simd};
use super::trie::Direction;
use super::vocabulary::{self, Data, Vocabulary};
use super::{linear, merge, pretokenize};

const PARTS: &[&str] = &[
    "'s", "'S", "'ſ", "'ll", "'x", "''", "'", "don't", "\r\n", "\n", "\r", "\n\n ", " ", "  ",
    "\t", "\u{a0}", "a", "B", "Ab", "aB", "ABC", "é", "漢", "1", "12", "123456", "/", "//", "!",
    "...", "});", "_", "\0", "\u{7f}", "\u{b}", "word", "Bar", "{", "( ", "\n/", "\n  \n", "    ",
    "        ", "=====", "`", "@", "[", ":", "z", "A", "Z",
];

fn cl100k() -> Vocabulary {
    Vocabulary::new(Data::new(include_bytes!("../../data/cl100k_base.bpe")))
}

#[track_caller]
fn assert_same_pieces(pattern: Pattern, text: &str) {
    let text = text.as_bytes();
    let mut expected = 0;
    let done = pretokenize::for_each_piece(pattern, text, |start, end| {
        let shown = || String::from_utf8_lossy(text).into_owned();
        assert_eq!(start, expected, "{pattern:?} {:?}", shown());
        expected = pattern.piece_end(text, start);
        assert_eq!(end, expected, "{pattern:?} at {start} of {:?}", shown());
        ControlFlow::<()>::Continue(())
    });
    assert!(done.is_continue());
    assert_eq!(expected, text.len());
}

/// Checks that windows split any text like the patterns, one by one.
#[test]
fn windowed_split_matches_the_patterns() {
    let mut random = SplitMix64::new(64);
    for i in 0..60_000 {
        // A few parts come again and again: runs, and edges of windows.
        let few = if i % 3 == 0 { 4 } else { PARTS.len() };
        let from = random.below(PARTS.len());
        let len = 20 + random.below(60);
        let parts = (0..len).map(|_| PARTS[(from + random.below(few)) % PARTS.len()]);
        let text: String = parts.collect();
        for pattern in [Pattern::O200k, Pattern::Cl100k, Pattern::Gpt2] {
            assert_same_pieces(pattern, &text);
        }
    }
}

/// Every pair of ASCII bytes at every place of a window.
#[test]
fn byte_pairs_split_correctly_at_every_window_offset() {
    for before in 0..128u8 {
        for after in 0..128u8 {
            let pair = [before, after, b'q', b' '];
            let text = String::from_utf8_lossy(&pair).repeat(20) + &" ".repeat(simd::WINDOW);
            for pattern in [Pattern::O200k, Pattern::Cl100k] {
                assert_same_pieces(pattern, &text);
                assert_same_pieces(pattern, &text[1..]);
            }
        }
    }
}

/// Counts without an index rely on this.
#[test]
fn bytes_of_each_token_merge_to_it() {
    for packed in [
        include_bytes!("../../data/o200k_base.bpe") as &[u8],
        include_bytes!("../../data/cl100k_base.bpe"),
        include_bytes!("../../data/p50k_base.bpe"),
        include_bytes!("../../data/r50k_base.bpe"),
    ] {
        let data = Data::new(packed);
        let vocabulary = Vocabulary::new(data);
        for token in 0..vocabulary.len() {
            let bytes = vocabulary.spelling(token);
            if !bytes.is_empty() {
                assert_eq!(vocabulary.find(bytes), Some(token));
                // A new vocabulary has no index, so it merges.
                let mut tokens = Vec::new();
                merge::append_tokens(&Vocabulary::new(data), bytes, &mut tokens);
                assert_eq!(tokens, [token], "{bytes:?}");
            }
        }
    }
}

/// `scalar::white_space` relies on this for cl100k.
#[test]
fn tokens_with_newlines_end_with_a_newline() {
    let vocabulary = cl100k();
    let is_newline = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let with_newline = (0..vocabulary.len())
        .map(|token| vocabulary.spelling(token))
        .filter(|bytes| bytes.iter().any(is_newline))
        .inspect(|bytes| assert!(is_newline(&bytes[bytes.len() - 1]), "{bytes:?}"))
        .count();
    assert!(with_newline > 100, "{with_newline} tokens have newlines");
}

/// Pieces that share a slot do not share a count, also where one begins with the other.
#[test]
fn pieces_in_one_cache_slot_count_correctly() {
    let vocabulary = cl100k();
    let mut cache = PieceCache::new();
    let slot = |piece: &[u8]| vocabulary::hash(piece) >> (u64::BITS - LONG_SLOT_BITS);
    let texts: Vec<String> =
        (0..40_000).map(|i| format!("longer than fifteen bytes {i}")).collect();
    let mut shared = 0;
    for long in &texts {
        let long = long.as_bytes();
        for len in 16..long.len() {
            let short = &long[..len];
            if slot(short) == slot(long) {
                shared += 1;
                for piece in [long, short, long] {
                    let expected = merge::count(&vocabulary, piece);
                    assert_eq!(cache.count(&vocabulary, piece, 0, piece.len()), expected);
                }
            }
        }
    }
    assert!(shared > 10, "{shared} pairs share a slot");
}

/// The linear algorithm, in both directions, gives the tokens that merging gives.
#[test]
fn linear_algorithm_matches_merging() {
    let vocabulary = cl100k();
    let mut random = SplitMix64::new(512);
    for alphabet in [&b"a"[..], b"ab", b" ", b" \n", b"=-", b"etaoin", b"\xE6\xBC\xA2\x97"] {
        for len in (2..40).chain([63, 64, 65, 200, 511, 512]) {
            let piece: Vec<u8> = (0..len).map(|_| random.choose(alphabet)).collect();
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            merge::append_tokens(&vocabulary, &piece, &mut expected);
            linear::append_tokens(&vocabulary, &piece, &mut found);
            assert_eq!(found, expected, "{piece:?}");
            assert_eq!(linear::count(&vocabulary, &piece), expected.len(), "{piece:?}");
            let mut forward = 0;
            let all = linear::each_segment(&vocabulary, &piece, Direction::Forward, |segment| {
                forward = segment.tokens;
                ControlFlow::<()>::Continue(())
            });
            assert!(all.is_continue());
            assert_eq!(forward, expected.len(), "{piece:?} from its start");
        }
    }
}

//! The short way through plain blocks gives what the parser gives: the same
//! blocks, warnings and errors, whatever is odd, wrong or limited.

use lcp_decoder::{DecodeOptions, blocks};
use lcp_encoder::EncodeOptions;
use lcp_testkit::{SplitMix64, any_pack};
use lcp_types::{Block, Lang, Role};
use proptest::prelude::*;

use crate::support::{bytes, frame, hi, nested, number, pack, varint};
use crate::walk::{Cuts, assert_same_however_cut};

/// The walk is the parser's, and [`blocks`] is compared with it.
fn assert_same(pack: &[u8], options: DecodeOptions<'_>) {
    assert_same_however_cut(pack, options, Cuts::Every(usize::MAX));
}

fn limited(rng: &mut SplitMix64) -> DecodeOptions<'static> {
    let mut options = DecodeOptions { strict: rng.below(2) == 0, ..DecodeOptions::default() };
    let limit = |rng: &mut SplitMix64, max: &mut u64, below: usize| {
        if rng.below(3) == 0 {
            *max = rng.below(below) as u64;
        }
    };
    limit(rng, &mut options.blocks_max, 12);
    limit(rng, &mut options.fields_max, 12);
    limit(rng, &mut options.body_bytes_max, 200);
    limit(rng, &mut options.block_memory_bytes_max, 12 * 384);
    limit(rng, &mut options.block_memory_per_byte, 200);
    options
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn fast_path_matches_parser_on_any_pack(blocks in any_pack(), seed in any::<u64>()) {
        let whole = lcp_encoder::encode(&blocks, EncodeOptions::default()).expect("within the limits");
        for block in &blocks {
            prop_assert_eq!(&block.to_static(), block);
        }
        let mut rng = SplitMix64::new(seed);
        assert_same(&whole, limited(&mut rng));
        for _ in 0..20 {
            let mut changed = whole.clone();
            for _ in 0..rng.below(3) {
                let place = rng.below(changed.len());
                changed[place] = rng.bytes(1)[0];
            }
            changed.truncate(whole.len() - rng.below(2) * rng.below(whole.len()));
            let options = limited(&mut rng);
            assert_same(&changed, options);
        }
    }
}

/// Plain blocks around one that is not, each seen by the same iterator.
#[test]
fn fast_path_matches_parser_on_irregular_blocks() {
    let overlong = |value: u8| vec![value | 0x80, 0x80, 0];
    let bodies = [
        // As written, and without what may be missing.
        vec![number(1, 2), bytes(2, "hi"), bytes(3, "c1")],
        vec![number(1, 2), bytes(2, "")],
        // In another order, twice, unknown, with long and overlong varints.
        vec![bytes(2, "hi"), number(1, 2)],
        vec![number(1, 2), number(1, 3), bytes(2, "a"), bytes(2, "b")],
        vec![number(1, 2), bytes(2, "hi"), number(4, 1 << 40)],
        vec![number(1, 2), bytes(2, "hi"), nested(130, &[number(1, 1)])],
        vec![vec![0x81, 0], vec![0], varint(2), bytes(2, "hi")],
        vec![vec![1, 0], overlong(2), bytes(2, "hi")],
        vec![number(1, 2), vec![2, 1], overlong(2), b"hi".to_vec()],
        vec![number(1, 2), bytes(2, "x".repeat(130)), bytes(3, "y".repeat(20_000))],
        // Wrong: too large, missing, other wire types, not UTF-8, cut short.
        vec![number(1, 256), bytes(2, "hi")],
        vec![number(1, u64::MAX), bytes(2, "hi")],
        vec![number(1, 2)],
        vec![bytes(2, "hi")],
        vec![],
        vec![bytes(1, "2"), bytes(2, "hi")],
        vec![number(1, 2), nested(2, &[])],
        vec![number(1, 2), vec![2, 3, 1, 1]],
        vec![number(1, 2), bytes(2, "hi"), bytes(3, [0xC3])],
        vec![number(1, 2), vec![2, 1, 3], b"hi".to_vec()],
        vec![number(1, 2), bytes(2, "hi"), vec![3]],
    ];
    for body in bodies {
        for (block_type, flags) in
            [(2, 0), (2, 1), (2, 2), (2, 4), (2, 8), (2, 0x80), (4, 0), (9, 0)]
        {
            let odd = frame(block_type, flags, body.concat());
            let stream = pack(&[hi(), hi(), odd, hi()]);
            assert_same(&stream, DecodeOptions::default());
            for fields_max in 0..9 {
                assert_same(&stream, DecodeOptions { fields_max, ..DecodeOptions::default() });
            }
            for len in stream.len().saturating_sub(40)..stream.len() {
                assert_same(&stream[..len], DecodeOptions::default());
            }
        }
    }
}

/// Summaries are looked at by the short way too.
#[test]
fn fast_path_matches_parser_on_summaries() {
    let hi = [number(1, 2), bytes(2, "hi")].concat();
    let prefixed =
        |summary: &[u8]| [varint(summary.len() as u64), summary.to_vec(), hi.clone()].concat();
    for body in [
        prefixed(b"short"),
        prefixed(b""),
        prefixed(&[0xFF]),
        prefixed("long".repeat(40_000).as_bytes()),
        [varint(400), hi.clone()].concat(),
        vec![0x85],
        vec![],
    ] {
        assert_same(&pack(&[frame(2, 0, &hi), frame(2, 1, body)]), DecodeOptions::default());
    }
}

/// Nothing that is plain is copied.
#[test]
fn fast_path_borrows_texts() {
    let written = [
        Block::conversation(Role::User, "hi"),
        Block::conversation(Role::User, "hi").with_summary("greeting"),
        Block::code(Lang::Rust, "a.rs", "fn a() {}"),
    ];
    let stream =
        lcp_encoder::encode(&written, EncodeOptions::default()).expect("within the limits");
    for (block, written) in blocks(&stream, DecodeOptions::default()).zip(&written) {
        let block = block.expect("as written");
        assert_eq!(&block, written);
        assert!(block.content.text().is_some_and(lcp_types::CowBytes::is_borrowed));
        assert!(!matches!(block.summary, Some(std::borrow::Cow::Owned(_))));
    }
}

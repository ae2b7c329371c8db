//! Payloads that are compressed as one.

use expect_test::expect;
use lcp_decoder::{DecodeOptions, Event, Parser, Warning, decode};
use lcp_encoder::{Compression, EncodeOptions};
use lcp_testkit::SplitMix64;
use lcp_types::{Block, Lang, Role};

use super::{COMPRESSED, hi_body, payload, zeros, zstd};
use crate::support::{END, bytes, check, check_error, check_with, frame, header, hi, number, pack};
use crate::walk::{Cuts, assert_same_however_cut};

#[test]
fn decompression_bomb_in_payload_is_rejected() {
    let options = |payload_decompressed_bytes_max| DecodeOptions {
        payload_decompressed_bytes_max,
        ..DecodeOptions::default()
    };
    let input = payload(&[hi(), hi()]);
    decode(&input, options(26)).expect("two blocks and END");
    check_with(
        &input,
        options(25),
        &expect![[r#"
        too_large: input exceeds PAYLOAD_DECOMPRESSED_BYTES_MAX: got 26, maximum 25 (byte 8)
    "#]],
    );
    let bomb = [header(1), zeros(&hi(), 1 << 30)].concat();
    check_with(
        &bomb,
        options(1 << 18),
        &expect![[r#"
        too_large: input exceeds PAYLOAD_DECOMPRESSED_BYTES_MAX: got 278528, maximum 262144 (byte 8)
    "#]],
    );
}

/// Payload and bodies count towards one total, and neither twice.
#[test]
fn total_limit_counts_payload_and_blocks() {
    let total = |total_decompressed_bytes_max| DecodeOptions {
        total_decompressed_bytes_max,
        ..DecodeOptions::default()
    };
    let block = frame(2, COMPRESSED, zstd(&hi_body()));
    let stream = block.len() as u64 + 4;
    let input = payload(&[block]);
    decode(&input, total(stream + 8)).expect("the payload, and eight bytes of body");
    check_with(
        &input,
        total(stream),
        &expect![[r#"
        too_large: input exceeds TOTAL_DECOMPRESSED_BYTES_MAX: got 25, maximum 24 (block 0, byte 11)
    "#]],
    );
}

#[test]
fn invalid_or_truncated_payload_is_an_error() {
    check(
        &[header(1), hi(), END.to_vec()].concat(),
        &expect![[r#"
        bad_compression: cannot decompress: Unknown frame descriptor (byte 8)
    "#]],
    );
    check(
        &header(1),
        &expect![[r#"
        missing_end: missing END block at the end of the input (byte 8)
    "#]],
    );
    let whole = payload(&[hi()]);
    check(
        &whole[..whole.len() - 1],
        &expect![[r#"
            unexpected_eof: unexpected end of input in compressed payload, missing bytes: 1 (byte 31)
        "#]],
    );
    check(
        &whole[..9],
        &expect![[r#"
            unexpected_eof: unexpected end of input in compressed payload, missing bytes: 1 (byte 9)
        "#]],
    );
    check(
        &[&whole[..], b"more"].concat(),
        &expect![[r#"
        bad_compression: cannot decompress: Unknown frame descriptor (byte 8)
    "#]],
    );
    // A zstd stream that ends without END.
    check(
        &[header(1), zstd(&hi())].concat(),
        &expect![[r#"
        missing_end: missing END block at the end of the input (byte 19)
    "#]],
    );
    check(
        &[header(1), zstd(&hi()[..7])].concat(),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block body, missing bytes: 4 (block 0, byte 15)
        "#]],
    );
}

/// Offsets count what comes after the header as if it were not compressed.
#[test]
fn payload_offsets_count_decompressed_bytes() {
    let bad = frame(2, 0, [number(1, 2), bytes(3, b"ab\xFF")].concat());
    check(
        &payload(&[hi(), bad.clone()]),
        &expect![[r#"
        not_utf8: tool_call_id is not UTF-8 (block 1, byte 30)
    "#]],
    );
    let same = decode(&pack(&[hi(), bad]), DecodeOptions::default()).expect_err("not UTF-8");
    assert_eq!((same.offset(), same.block(), same.inner_offset()), (30, Some(1), None));
}

/// Behind END means behind its decompressed bytes.
#[test]
fn bytes_after_payload_end_are_a_warning() {
    let stream = [hi(), END.to_vec(), b"more".to_vec()].concat();
    let input = [header(1), zstd(&stream)].concat();
    let pack = decode(&input, DecodeOptions::default()).expect("odd, not wrong");
    assert_eq!(pack.warnings, [Warning::TrailingData { offset: 23 }]);
    assert_same_however_cut(&input, DecodeOptions::default(), Cuts::EveryByte);
    let strict = DecodeOptions { strict: true, ..DecodeOptions::default() };
    check_with(
        &input,
        strict,
        &expect![[r#"
        trailing_data: unexpected bytes after END (byte 23)
    "#]],
    );
    let announced = [header(0b11), zstd(&stream)].concat();
    let pack = decode(&announced, strict).expect("an index is no error");
    assert_eq!((pack.blocks.len(), pack.warnings), (1, vec![]));
    assert_same_however_cut(&announced, strict, Cuts::EveryByte);
}

const WINDOW: usize = 64 * 1024;

/// Noise, so that a payload is as long as what it holds.
fn noise(seed: u64, len: usize) -> Block<'static> {
    Block::code(Lang::Unknown, "noise", SplitMix64::new(seed).bytes(len))
}

fn encode_payload(blocks: &[Block<'_>]) -> Vec<u8> {
    let compression = Compression::Payload;
    let options = EncodeOptions { compression, ..EncodeOptions::default() };
    lcp_encoder::encode(blocks, options).expect("within the limits")
}

/// What comes before broken zstd is still given.
#[test]
fn blocks_before_payload_damage_are_returned() {
    let blocks = [Block::conversation(Role::User, "hi"), noise(1, 200_000)];
    let mut input = encode_payload(&blocks);
    input.truncate(8 + 2 * WINDOW + 1000);
    let mut iter = lcp_decoder::blocks(&input, DecodeOptions::default());
    assert_eq!(iter.next(), Some(Ok(blocks[0].clone())));
    let error = iter.next().expect("an error").expect_err("truncated");
    check_error(
        &error,
        &expect![[r#"
            unexpected_eof: unexpected end of input in compressed payload, missing bytes: 1 (byte 132080)
        "#]],
    );
}

/// Broken zstd stands where the window begins in which it was noticed.
#[test]
fn payload_damage_is_reported_at_its_window() {
    let input = encode_payload(&[noise(1, 300_000)]);
    // zstd stores noise in pieces of 128 KiB. The second one begins within the
    // third window; type 3 of its three bytes of header is no type.
    let place = (2 * WINDOW..3 * WINDOW)
        .find(|place| {
            let mut changed = input.clone();
            changed[*place] |= 0b110;
            decode(&changed, DecodeOptions::default()).is_err()
        })
        .expect("the header of a piece");
    let mut changed = input;
    changed[place] |= 0b110;
    check(
        &changed,
        &expect![[r#"
        bad_compression: cannot decompress: Data corruption detected (byte 131080)
    "#]],
    );
}

/// Blocks are given as soon as their window is there, not at the end.
#[test]
fn payload_blocks_arrive_with_their_window() {
    let blocks = [Block::conversation(Role::User, "hi"), noise(1, 300_000)];
    let input = encode_payload(&blocks);
    let mut parser = Parser::new(DecodeOptions::default());
    let mut frames = Vec::new();
    for piece in input[..8 + 3 * WINDOW].chunks(1000) {
        let mut data = piece;
        // Headers are eight bytes, and here they come in one piece.
        while let step = parser.parse(data, false).expect("nothing is wrong yet")
            && (step.event.is_some() || step.consumed > 0)
        {
            data = &data[step.consumed..];
            if let Some(Event::Frame(frame)) = step.event {
                frames.push(parser.decode(frame));
            }
        }
        assert_eq!(data, b"", "a payload is taken as it comes");
    }
    assert_eq!(frames, [Ok(blocks[0].clone())]);
}

/// A few bytes that become many, in a single window.
#[test]
fn highly_compressible_payload_decodes() {
    let steps: Vec<u8> = (0..2_000_000_u32).map(|n| n.to_be_bytes()[1]).collect();
    let blocks = [
        Block::code(Lang::Unknown, "zeros", vec![0; 3_000_000]),
        // Long, and no part of it like another.
        Block::code(Lang::Unknown, "steps", steps),
        Block::conversation(Role::User, "hi"),
    ];
    let input = encode_payload(&blocks);
    assert!(input.len() < 2_000, "5 MB in {} bytes", input.len());
    let pack = decode(&input, DecodeOptions::default()).expect("as written");
    assert!(pack.blocks == blocks, "the same blocks");
    for cuts in [Cuts::Every(100), Cuts::Seeded(1)] {
        assert_same_however_cut(&input, DecodeOptions::default(), cuts);
    }
}

//! Bodies that are compressed.

use std::io::Write as _;

use expect_test::expect;
use lcp_decoder::{DecodeOptions, decode};
use lcp_types::{Block, BlockContent, Role, limits};

use super::{COMPRESSED, hi_body, zeros, zstd};
use crate::support::{END, bytes, check, check_error, check_with, frame, header, hi, number, pack};
use crate::walk::{Cuts, assert_same_however_cut};

const SUMMARY: u8 = 0b001;

#[test]
fn compressed_blocks_own_their_content() {
    let body = [b"\x01S".to_vec(), hi_body()].concat();
    let input = pack(&[frame(2, COMPRESSED | SUMMARY, zstd(&body))]);
    let pack = decode(&input, DecodeOptions::default()).expect("legal zstd");
    assert_eq!(pack.blocks, [Block::conversation(Role::User, "hi").with_summary("S")]);
    let BlockContent::Conversation(turn) = &pack.blocks[0].content else {
        panic!("{:?}", pack.blocks);
    };
    assert!(!turn.content.is_borrowed());
}

/// Several frames, a skippable one, a checksum, no content size, any level.
#[test]
fn any_valid_zstd_encoding_is_accepted() {
    let body = hi_body();
    let (head, tail) = body.split_at(4);
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 0xAA, 0xBB];
    let streamed = {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 19).expect("zstd starts");
        encoder.include_checksum(true).expect("it knows checksums");
        encoder.write_all(&body).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let forms = [
        [zstd(head), zstd(tail)].concat(),
        [&skippable[..], &zstd(&body)].concat(),
        [&zstd(&body)[..], &skippable].concat(),
        streamed,
    ];
    for form in forms {
        let block = pack(&[frame(2, COMPRESSED, &form)]);
        assert_eq!(decode(&block, DecodeOptions::default()).expect("legal").blocks.len(), 1);
    }
    let stream = [hi(), hi(), END.to_vec()].concat();
    let (head, tail) = stream.split_at(12);
    let forms = [
        [zstd(head), zstd(tail)].concat(),
        [&skippable[..], &zstd(&stream)].concat(),
        [&zstd(&stream)[..], &skippable].concat(),
    ];
    for form in forms {
        let input = [header(1), form].concat();
        let pack = decode(&input, DecodeOptions::default()).expect("legal");
        assert_eq!((pack.blocks.len(), pack.warnings.len()), (2, 0));
        assert_same_however_cut(&input, DecodeOptions::default(), Cuts::EveryByte);
    }
}

#[test]
fn invalid_zstd_body_is_an_error() {
    check(
        &pack(&[hi(), frame(2, COMPRESSED, hi_body())]),
        &expect![[r#"
        bad_compression: cannot decompress: Unknown frame descriptor (block 1, byte 22)
    "#]],
    );
    let whole = zstd(&[b'a'; 1000]);
    check(
        &pack(&[frame(2, COMPRESSED, &whole[..whole.len() - 1])]),
        &expect![[r#"
        bad_compression: cannot decompress: incomplete frame (block 0, byte 11)
    "#]],
    );
    check(
        &pack(&[frame(2, COMPRESSED, [&whole[..], b"more"].concat())]),
        &expect![[r#"
        bad_compression: cannot decompress: Unknown frame descriptor (block 0, byte 11)
    "#]],
    );
    // Nothing at all is no frame, and so no field.
    check(
        &pack(&[frame(2, COMPRESSED, b"")]),
        &expect![[r#"
        bad_compression: cannot decompress: incomplete frame (block 0, byte 11)
    "#]],
    );
}

#[test]
fn errors_in_compressed_body_give_both_offsets() {
    let body = [number(1, 2), bytes(3, b"ab\xFF")].concat();
    check(
        &pack(&[hi(), frame(2, COMPRESSED, zstd(&body))]),
        &expect![[r#"
        not_utf8: tool_call_id is not UTF-8 (block 1, byte 22, byte 8 of the body)
    "#]],
    );
    check(
        &pack(&[frame(2, COMPRESSED, zstd(b"\x01"))]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 1 (block 0, byte 11, byte 1 of the body)
        "#]],
    );
}

#[test]
fn decompression_bomb_in_block_is_rejected() {
    let max = limits::BODY_DECOMPRESSED_BYTES_MAX;
    let head = [number(1, 2), b"\x02\x01".to_vec()].concat();
    // The length of the content takes four bytes of varint.
    let content = max - head.len() as u64 - 4;
    let head = [head, crate::support::varint(content)].concat();
    let largest = pack(&[frame(2, COMPRESSED, zeros(&head, content))]);
    assert_eq!(decode(&largest, DecodeOptions::default()).expect("just fits").blocks.len(), 1);
    let bomb = pack(&[hi(), frame(2, COMPRESSED, zeros(&head, content + 1))]);
    let error = decode(&bomb, DecodeOptions::default()).expect_err("a bomb");
    check_error(
        &error,
        &expect![[r#"
        too_large: input exceeds BODY_DECOMPRESSED_BYTES_MAX: got 16777217, maximum 16777216 (block 1, byte 23)
    "#]],
    );
    assert!(error.is_limit());
}

/// A frame header that claims more than it holds costs nothing either.
#[test]
fn overstated_zstd_frame_size_is_an_error() {
    // One segment of 2^64 - 1 bytes: the window would be as large.
    let claim = [&b"\x28\xB5\x2F\xFD\xE0"[..], &[0xFF; 8], b"\x01\0\0"].concat();
    check(
        &pack(&[frame(2, COMPRESSED, claim)]),
        &expect![[r#"
        bad_compression: cannot decompress: Frame requires too much memory for decoding (block 0, byte 11)
    "#]],
    );
    // A window of 1 KiB, a content size of 2^40, and one byte of it.
    let size = (1u64 << 40).to_le_bytes();
    let claim = [&b"\x28\xB5\x2F\xFD\xC0\0"[..], &size, b"\x09\0\0a"].concat();
    check(
        &pack(&[frame(2, COMPRESSED, &claim)]),
        &expect![[r#"
        bad_compression: cannot decompress: Data corruption detected (block 0, byte 11)
    "#]],
    );
    check(
        &[header(1), claim].concat(),
        &expect![[r#"
        bad_compression: cannot decompress: Data corruption detected (byte 8)
    "#]],
    );
}

#[test]
fn total_decompressed_size_is_limited() {
    let total = |total_decompressed_bytes_max| DecodeOptions {
        total_decompressed_bytes_max,
        ..DecodeOptions::default()
    };
    let block = frame(2, COMPRESSED, zstd(&hi_body()));
    let input = pack(&[block.clone(), hi(), block]);
    decode(&input, total(16)).expect("twice eight; what is stored as it is costs nothing");
    check_with(
        &input,
        total(15),
        &expect![[r#"
        too_large: input exceeds TOTAL_DECOMPRESSED_BYTES_MAX: got 16, maximum 15 (block 2, byte 42)
    "#]],
    );
}

#[test]
fn default_total_limit_is_enforced() {
    let block = frame(0x42, COMPRESSED, zeros(b"", limits::BODY_DECOMPRESSED_BYTES_MAX));
    let input = pack(&vec![block; 17]);
    let error = decode(&input, DecodeOptions::default()).expect_err("272 MiB");
    check_error(
        &error,
        &expect![[r#"
        too_large: input exceeds TOTAL_DECOMPRESSED_BYTES_MAX: got 268435457, maximum 268435456 (block 16, byte 8556)
    "#]],
    );
}

//! The memory that blocks may take beside their contents: as much as the input has earned.

use expect_test::expect;
use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::EncodeOptions;
use lcp_testkit::any_pack;
use lcp_types::limits;
use proptest::prelude::*;

use crate::support::{bytes, check_with, frame, hi, nested, number, pack};

fn memory(block_memory_bytes_max: u64, block_memory_per_byte: u64) -> DecodeOptions<'static> {
    DecodeOptions { block_memory_bytes_max, block_memory_per_byte, ..DecodeOptions::default() }
}

/// A DIFF of two hunks, of which one has an unknown field.
fn diff() -> Vec<u8> {
    let hunk = [number(1, 1), number(2, 1), bytes(3, "+a\n")];
    let newer = [&hunk[..], &[number(9, 9)]].concat();
    [bytes(1, "p"), nested(2, &hunk), nested(2, &newer)].concat()
}

/// What it takes: the block, two hunks, a field.
const DIFF: u64 = 3 * limits::RECORD_MEMORY_BYTES + limits::UNKNOWN_FIELD_MEMORY_BYTES; // as block, and two hunks

proptest! {
    /// What stands in a pack as it is earns what it takes.
    #[test]
    fn uncompressed_pack_decodes_with_zero_allowance(blocks in any_pack()) {
        let pack = lcp_encoder::encode(&blocks, EncodeOptions::default()).expect("within the limits");
        let found = decode(&pack, memory(0, limits::BLOCK_MEMORY_PER_BYTE)).expect("it earns it");
        prop_assert_eq!(found.blocks, blocks);
    }
}

#[test]
fn smallest_frames_and_fields_fit_zero_allowance() {
    let options = memory(0, limits::BLOCK_MEMORY_PER_BYTE);
    decode(&pack(&vec![frame(0x42, 0, []); 1000]), options).expect("three bytes each");
    let fields = [vec![number(2, 2)], vec![bytes(9, ""); 1000]].concat().concat();
    let turn = frame(2, 0, [number(1, 2), bytes(2, "hi"), fields[3..].to_vec()].concat());
    decode(&pack(&[turn]), options).expect("three bytes each");
    let tree = [vec![bytes(1, "")], vec![diff_entry(); 1000]].concat().concat();
    decode(&pack(&[frame(3, 0, tree)]), options).expect("twelve bytes each");
}

fn diff_entry() -> Vec<u8> {
    nested(2, &[bytes(1, ""), number(2, 0), number(3, 0)])
}

#[test]
fn block_memory_is_charged_at_each_frame() {
    let input = pack(&[hi(), hi(), hi()]);
    decode(&input, memory(3 * 384, 0)).expect("three blocks");
    check_with(
        &input,
        memory(3 * 384 - 1, 0),
        &expect![[r#"
            too_large: input exceeds BLOCK_MEMORY_BYTES_MAX: got 1152, maximum 1151 (block 2, byte 30)
        "#]],
    );
    // Of a frame its bytes are counted, and those before.
    decode(&input, memory(384 - 19, 35)).expect("8 bytes of header, 11 of each block");
    check_with(
        &input,
        memory(3 * 384 - 1 - 41 * 20, 20),
        &expect![[r#"
            too_large: input exceeds BLOCK_MEMORY_BYTES_MAX: got 1152, maximum 1151 (block 2, byte 30)
        "#]],
    );
}

#[test]
fn record_and_field_memory_is_charged_at_its_offset() {
    let input = pack(&[hi(), frame(7, 0, diff()), hi()]);
    decode(&input, memory(DIFF + 2 * 384, 0)).expect("all of it");
    for (less, expected) in [
        (
            1,
            expect![[r#"
                too_large: input exceeds BLOCK_MEMORY_BYTES_MAX: got 2112, maximum 2111 (block 2, byte 59)
            "#]],
        ),
        (
            385,
            expect![[r#"
                too_large: input exceeds BLOCK_MEMORY_BYTES_MAX: got 1728, maximum 1727 (block 1, byte 56)
            "#]],
        ),
        (
            385 + 192,
            expect![[r#"
                too_large: input exceeds BLOCK_MEMORY_BYTES_MAX: got 1536, maximum 1535 (block 1, byte 41)
            "#]],
        ),
        (
            385 + 192 + 384,
            expect![[r#"
                too_large: input exceeds BLOCK_MEMORY_BYTES_MAX: got 1152, maximum 1151 (block 1, byte 26)
            "#]],
        ),
    ] {
        check_with(&input, memory(DIFF + 2 * 384 - less, 0), &expected);
    }
}

/// A body that cannot be read takes nothing, and the blocks behind it go on.
#[test]
fn malformed_body_releases_its_record_memory() {
    let broken = frame(7, 0, [diff(), number(1, 1)].concat());
    let input = pack(&[broken, frame(7, 0, diff())]);
    let mut events = lcp_decoder::EventIter::new(&input, memory(DIFF + 384, 0));
    let mut found = Vec::new();
    while let Some(event) = events.next() {
        if let Ok(lcp_decoder::Event::Frame(frame)) = event {
            found.push(events.decode(frame).map_err(|error| error.code()));
        }
    }
    assert_eq!(found[0].as_ref().err(), Some(&"wrong_wire_type"));
    assert!(found[1].is_ok());
}

#[cfg(feature = "zstd")]
mod compressed {
    use std::io::Write as _;

    use lcp_decoder::{ErrorKind, PackReader};
    use lcp_testkit::SplitMix64;
    use lcp_types::BlockSource;

    use super::*;
    use crate::support::{END, header};
    use crate::walk::{Cuts, assert_same_however_cut};

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(bytes, 3).expect("zstd takes any bytes")
    }

    /// A compressed payload counts with the windows that were read, not with what they give.
    #[test]
    fn compressed_payload_earns_memory_by_stored_bytes() {
        let mut rng = SplitMix64::new(1);
        let frames: Vec<_> = (0..3000).map(|_| frame(0x42, 0, rng.bytes(100))).collect();
        let input = [header(1), zstd(&[frames.concat(), END.to_vec()].concat())].concat();
        assert!(input.len() > 4 * (64 << 10), "{} bytes", input.len());
        for per_byte in [0, 3] {
            for allowance in [0, 300_000, 1_200_000] {
                let options = memory(allowance, per_byte);
                for cuts in [Cuts::Seeded(1), Cuts::Every(1 << 16)] {
                    assert_same_however_cut(&input, options, cuts);
                    crate::stream::assert_same_when_read(&input, options, cuts);
                }
                #[cfg(feature = "rayon")]
                crate::parallel::assert_same_in_parallel(&input, options);
            }
        }
        decode(&input, memory(0, 4)).expect("a hundred bytes each");
        let error = decode(&input, memory(0, 3)).expect_err("of three, 384 are not earned");
        // The first window is 64 KiB, header and all.
        let first = (8 + (64 << 10)) * 3 / 384;
        assert_eq!((error.code(), error.block()), ("too_large", Some(first)), "{error}");
    }

    /// Bodies that are compressed one by one, on any number of threads.
    #[test]
    fn compressed_bodies_are_charged_in_stream_order() {
        let mut rng = SplitMix64::new(2);
        let mut input = header(0);
        for i in 0..200 {
            let many = [bytes(1, "p"), vec![nested_hunk(); i % 7].concat()].concat();
            let body = [many, bytes(77, rng.bytes(1000))].concat();
            input.extend(frame(7, 0b010, zstd(&body)));
        }
        input.extend(END);
        let least = (0..2_000_000)
            .step_by(384)
            .find(|max| decode(&input, memory(*max, 0)).is_ok())
            .expect("less than two million bytes");
        for max in [0, least / 3, least / 2, least - 384, least - 192, least - 1, least] {
            let options = memory(max, 0);
            #[cfg(feature = "rayon")]
            crate::parallel::assert_same_in_parallel(&input, options);
            assert_same_however_cut(&input, options, Cuts::Seeded(max));
            crate::stream::assert_same_when_read(&input, options, Cuts::Seeded(max));
        }
    }

    fn nested_hunk() -> Vec<u8> {
        nested(2, &[number(1, 1), number(2, 1), bytes(3, "+a\n")])
    }

    /// As many blocks as a pack may have, in a few kilobytes.
    #[test]
    fn empty_block_bomb_exceeds_the_memory_limit() {
        let mut encoder = zstd::stream::write::Encoder::new(header(1), 1).expect("zstd starts");
        let some = frame(0x42, 0, []).repeat(1 << 16);
        for _ in 0..1 << 8 {
            encoder.write_all(&some).expect("memory takes it");
        }
        encoder.write_all(&END).expect("memory takes it");
        let bomb = encoder.finish().expect("memory takes it");
        assert!(bomb.len() < 16 << 10, "{} bytes", bomb.len());
        let error = decode(&bomb, DecodeOptions::default()).expect_err("two gigabytes");
        let ErrorKind::TooLarge { limit, found, max } = *error.kind() else {
            panic!("{error}");
        };
        assert_eq!(limit, "BLOCK_MEMORY_BYTES_MAX");
        let allowed =
            limits::BLOCK_MEMORY_BYTES_MAX + limits::BLOCK_MEMORY_PER_BYTE * bomb.len() as u64;
        assert_eq!(max, allowed);
        assert_eq!(error.block().map(|block| (block + 1) * 384), Some(found));
    }

    /// By an index: what is read counts with its place in the pack.
    #[test]
    fn indexed_read_respects_the_block_memory_limit() {
        let many = [bytes(1, "p"), vec![nested_hunk(); 100].concat()].concat();
        let frames = [hi(), frame(7, 0b010, zstd(&many)), hi()];
        let blocks = decode(&pack(&frames), DecodeOptions::default())
            .expect("well formed")
            .blocks
            .into_iter()
            .map(lcp_types::Block::into_owned)
            .collect::<Vec<_>>();
        let mut builder = lcp_encoder::PackWriter::default();
        for (frame, block) in frames.iter().zip(&blocks) {
            builder.add_raw_frame(frame, 0, Ok(block)).expect("within the limits");
        }
        let input = builder.finish().expect("within the limits");
        let options = memory(102 * 384, 0);
        let reader = PackReader::open(&input[..], options).expect("a header");
        assert!(reader.index().is_some_and(|index| index.is_ok()));
        assert_eq!(reader.read(&[1]).expect("two blocks and a hundred hunks"), &blocks[1..2]);
        let reader = PackReader::open(&input[..], memory(102 * 384 - 1, 0)).expect("a header");
        let error = reader.read(&[1]).expect_err("one hunk too many");
        assert!(error.to_string().contains("BLOCK_MEMORY_BYTES_MAX"), "{error}");
        assert_eq!(reader.decode().expect_err("as there").to_string(), error_of(&input));
    }

    fn error_of(input: &[u8]) -> String {
        decode(input, memory(102 * 384 - 1, 0)).expect_err("one hunk too many").to_string()
    }
}

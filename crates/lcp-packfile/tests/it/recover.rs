//! Recovery saves every undamaged block, and nothing else.

use std::ops::Range;

use lcp_decoder::{DecodeOptions, PackIndex, decode};
use lcp_encoder::{Compression, EncodeOptions, Magic, PackWriter, encode};
use lcp_packfile::{PackScan, Recovery, recover};
use lcp_testkit::{SplitMix64, any_pack};
use lcp_types::wire::{END_FRAME, FOOTER_BYTES, FOOTER_MAGIC, TYPE_INDEX};
use lcp_types::{
    Annotation, Block, CarriedLevel, FormatHint, Lang, MemoryContentStore, Priority, Role, Tag,
};
use proptest::prelude::*;

/// A pack of a few blocks, and what is said of them.
fn small() -> Vec<Block<'static>> {
    vec![
        Block::conversation(Role::User, "first"),
        Block::new(Annotation::priority(0, Priority::High)),
        Block::code(Lang::Rust, "a.rs", "fn a() {}").with_summary("a"),
        Block::new(Annotation::tag(2, &Tag::from_key("pinned"))),
        Block::new(CarriedLevel::Detailed.to_extension(2, "fn a()")),
        Block::conversation(Role::Assistant, "last"),
        Block::new(Annotation::priority(5, Priority::Low)),
        // Of an annotation.
        Block::new(Annotation::tag(6, &Tag::from_key("odd"))),
    ]
}

fn plain(index: bool) -> EncodeOptions {
    EncodeOptions { index, ..EncodeOptions::default() }
}

fn blocks(pack: &[u8]) -> Vec<Block<'_>> {
    decode(pack, DecodeOptions::default()).unwrap().blocks
}

/// Where the frames of a pack stand.
fn places(pack: &[u8]) -> Vec<Range<u64>> {
    PackScan::new(pack).frames.into_iter().map(|frame| frame.range).collect()
}

/// What speaks of blocks, and those: both as if they spoke of the first one.
fn annotated<'b>(blocks: &[Block<'b>]) -> Vec<(Block<'b>, Block<'b>)> {
    let plain = |block: &Block<'b>| block.clone().with_target(|_| 0);
    let of = |block: &Block<'_>| blocks.get(usize::try_from(block.target_index()?).ok()?);
    blocks.iter().filter_map(|block| Some((plain(block), plain(of(block)?)))).collect()
}

/// What is left must be whole itself.
fn check(recovered: &Recovery) {
    assert_eq!(recover(&recovered.pack).unwrap().lost, []);
    assert_eq!(blocks(&recovered.pack).len() as u64, recovered.blocks);
}

#[test]
fn truncation_preserves_every_complete_block() {
    for compression in [Compression::None, Compression::Block, Compression::Payload] {
        for (magic, index) in [(Magic::Lcp, true), (Magic::Lcp, false), (Magic::Bcp, false)] {
            let all = small();
            let pack = encode(&all, EncodeOptions { magic, compression, index }).unwrap();
            let places = places(&pack);
            for len in 8..pack.len() {
                let recovered = recover(&pack[..len]).unwrap();
                check(&recovered);
                assert_ne!(recovered.lost, []);
                if compression == Compression::Payload {
                    continue;
                }
                let whole = places.iter().filter(|place| place.end <= len as u64).count();
                let found = blocks(&recovered.pack);
                // No block speaks of a later one.
                assert_eq!(found, all[..whole], "{len}");
                assert_eq!(recovered.dropped, 0);
            }
            for len in 0..8 {
                assert!(recover(&pack[..len]).is_err());
            }
            let whole = recover(&pack).unwrap();
            assert_eq!((whole.pack, whole.lost, whole.missing), (pack, vec![], Some(0)));
        }
    }
}

/// Of a compressed payload all that can be decompressed is saved.
#[test]
fn truncated_payload_is_recovered_up_to_the_damage() {
    let mut random = SplitMix64::new(5);
    let text: String =
        (0..600_000).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap())).collect();
    let all: Vec<_> = text
        .as_bytes()
        .chunks(1000)
        .map(|text| Block::document("", text, FormatHint::Plain))
        .collect();
    let compression = Compression::Payload;
    let pack = encode(&all, EncodeOptions { compression, ..plain(false) }).unwrap();
    let recovered = recover(&pack[..pack.len() / 2]).unwrap();
    check(&recovered);
    assert!(recovered.blocks > 0 && recovered.blocks < 600, "{}", recovered.blocks);
    assert_eq!(blocks(&recovered.pack), all[..usize::try_from(recovered.blocks).unwrap()]);
    assert_eq!(recovered.missing, None);
}

/// With an index any one bit costs one block at most, and what speaks of it.
#[test]
fn flipped_bit_is_detected_and_loses_at_most_one_block() {
    let all = small();
    let mut pack = encode(&all, plain(true)).unwrap();
    let places = places(&pack);
    let end = places.last().unwrap().end;
    for bit in 0..pack.len() * 8 {
        pack[bit / 8] ^= 1 << (bit % 8);
        let recovered = recover(&pack).unwrap();
        pack[bit / 8] ^= 1 << (bit % 8);
        check(&recovered);
        assert_ne!(recovered.lost, [], "bit {bit}");
        let at = (bit / 8) as u64;
        let hit = places.iter().position(|place| place.contains(&at));
        let Some(hit) = hit else {
            assert_eq!(blocks(&recovered.pack), all, "bit {bit} (end {end})");
            assert_eq!((recovered.missing, recovered.dropped), (Some(0), 0));
            continue;
        };
        let lost: Vec<_> = recovered.lost.iter().map(|lost| (lost.block, &lost.bytes)).collect();
        assert_eq!(lost, [(Some(hit as u64), &places[hit])], "bit {bit}");
        assert_eq!(recovered.missing, Some(1));
        let speaks =
            |index: u64| all.iter().filter(move |block| block.target_index() == Some(index));
        let dropped = match hit {
            5 => 2, // the annotation, and the one of it
            hit => speaks(hit as u64).count(),
        };
        assert_eq!(recovered.dropped, dropped as u64, "bit {bit}");
        let expected =
            all.iter().enumerate().filter(|(at, of)| *at != hit && of.target_index().is_none());
        let found = blocks(&recovered.pack);
        let found = found.iter().filter(|block| block.target_index().is_none());
        assert!(found.eq(expected.map(|(_, block)| block)), "bit {bit}");
    }
}

#[test]
fn annotations_are_renumbered_after_a_lost_block() {
    let all = small();
    let mut pack = encode(&all, plain(true)).unwrap();
    let first = places(&pack)[0].clone();
    pack[usize::try_from(first.end).unwrap() - 1] ^= 0xFF;
    let recovered = recover(&pack).unwrap();
    assert_eq!((recovered.blocks, recovered.missing, recovered.dropped), (6, Some(1), 1));
    let targets: Vec<_> = blocks(&recovered.pack).iter().map(Block::target_index).collect();
    assert_eq!(targets, [None, Some(0), Some(0), None, Some(3), Some(4)]);
}

/// Without an index a block that cannot be read does not hide those behind it.
#[test]
fn malformed_body_loses_only_its_block() {
    let all = small();
    let mut pack = encode(&all, plain(false)).unwrap();
    let place = places(&pack)[2].clone();
    // The first field of the body; behind type, flags, length and the summary.
    let field = usize::try_from(place.start).unwrap() + 3 + 2;
    pack[field + 1] = 0x7F;
    let recovered = recover(&pack).unwrap();
    check(&recovered);
    assert_eq!((recovered.blocks, recovered.missing, recovered.dropped), (5, Some(1), 2));
    assert_eq!((recovered.lost[0].block, &recovered.lost[0].bytes), (Some(2), &place));
}

#[test]
fn references_are_preserved_unresolved() {
    let mut builder = PackWriter::default();
    builder.add(&Block::conversation(Role::User, "lost")).unwrap();
    let elsewhere = Block::document("", "elsewhere", FormatHint::Plain);
    builder.add_reference(&elsewhere, &mut MemoryContentStore::default()).unwrap();
    builder.add(&Block::conversation(Role::User, "here")).unwrap().priority(Priority::Low).unwrap();
    let pack = builder.finish().unwrap();
    assert_eq!(recover(&pack).unwrap().lost, []);
    let mut damaged = pack.clone();
    damaged[12] ^= 1;
    let recovered = recover(&damaged).unwrap();
    assert_eq!((recovered.blocks, recovered.missing, recovered.dropped), (3, Some(1), 0));
    let (before, after) = (PackScan::with_bytes(&pack), PackScan::with_bytes(&recovered.pack));
    assert_eq!(after.frames[0].bytes, before.frames[1].bytes);
    assert_eq!(after.readable(2).unwrap().target_index(), Some(1));
}

/// Bytes behind END that nothing announces, and a hand-off whose blocks are gone.
#[test]
fn trailing_bytes_are_lost_and_missing_end_is_restored() {
    let pack = encode(&small(), plain(false)).unwrap();
    let longer = [&pack[..], b"more"].concat();
    let recovered = recover(&longer).unwrap();
    assert_eq!(recovered.pack, pack);
    let size = pack.len() as u64;
    assert_eq!(recovered.lost[0].bytes, size..size + 4);
    // Where only END is missing, no block is known to be.
    let cut = recover(&pack[..pack.len() - END_FRAME.len()]).unwrap();
    assert_eq!((cut.pack, cut.blocks, cut.missing), (pack, 8, None));
    assert!(recover(b"no pack at all, and long enough for a footer that is none of them").is_err());
}

/// Many turns, of which each is another.
fn many() -> Vec<Block<'static>> {
    let turn = |n: u32| Block::conversation(Role::User, format!("turn {n}: {}", "x".repeat(300)));
    (0..60).map(turn).collect()
}

/// A pack of `many` whose block 30 has so many bytes less, or more: all others are saved.
#[track_caller]
fn saves_all_but_one(pack: &[u8], damaged: &[u8], place: &Range<u64>) {
    let recovered = recover(damaged).unwrap();
    check(&recovered);
    let shift = |at: u64| at + damaged.len() as u64 - pack.len() as u64;
    let [lost] = &recovered.lost[..] else { panic!("{:?}", recovered.lost) };
    assert_eq!((lost.block, lost.bytes.clone()), (Some(30), place.start..shift(place.end)));
    assert_eq!((recovered.blocks, recovered.missing), (59, Some(1)));
    let mut rest = many();
    rest.remove(30);
    assert_eq!(blocks(&recovered.pack), rest);
}

#[test]
fn deleted_or_inserted_bytes_lose_at_most_one_block() {
    let pack = encode(&many(), plain(true)).unwrap();
    let place = places(&pack)[30].clone();
    let at = usize::try_from(place.start).unwrap();
    for from in [at, at + 1, at + 3, at + 150] {
        let less = [&pack[..from], &pack[from + 100..]].concat();
        saves_all_but_one(&pack, &less, &place);
    }
    for (from, bytes) in [(at + 1, &b"1"[..]), (at + 150, &[0xFF; 1000])] {
        let more = [&pack[..from], bytes, &pack[from..]].concat();
        saves_all_but_one(&pack, &more, &place);
    }
    // Between two blocks, before the first of them and behind the last.
    let end = usize::try_from(places(&pack)[59].end).unwrap();
    for from in [8, at, end] {
        let more = [&pack[..from], b"more", &pack[from..]].concat();
        let recovered = recover(&more).unwrap();
        assert_eq!((&recovered.pack, recovered.missing), (&pack, Some(0)));
        let [lost] = &recovered.lost[..] else { panic!("{:?}", recovered.lost) };
        assert_eq!(lost.bytes, from as u64..from as u64 + 4);
    }
}

/// Nothing but the index tells that a whole block is missing, and which.
#[test]
fn missing_block_is_identified_by_the_index() {
    let all = small();
    let pack = encode(&all, plain(true)).unwrap();
    let place = places(&pack)[0].clone();
    let (start, end) = (place.start, usize::try_from(place.end).unwrap());
    let recovered = recover(&[&pack[..8], &pack[end..]].concat()).unwrap();
    check(&recovered);
    assert_eq!((recovered.blocks, recovered.missing, recovered.dropped), (6, Some(1), 1));
    assert_eq!((recovered.lost[0].block, &recovered.lost[0].bytes), (Some(0), &(start..start)));
    let targets: Vec<_> = blocks(&recovered.pack).iter().map(Block::target_index).collect();
    assert_eq!(targets, [None, Some(0), Some(0), None, Some(3), Some(4)]);
}

/// A header that is cut off, or stands behind something else, is made anew; of two packs the
/// first is saved, which is the one that readers see.
#[test]
fn pack_is_recovered_after_damaged_header_or_prefix() {
    let (all, other) = (small(), many());
    let [pack, other] = [&all, &other].map(|blocks| encode(blocks, plain(true)).unwrap());
    for damaged in
        [pack[8..].to_vec(), pack[3..].to_vec(), [b"HTTP/1.1 200 OK", &pack[..]].concat()]
    {
        let recovered = recover(&damaged).unwrap();
        assert_eq!((&recovered.pack, recovered.missing), (&pack, Some(0)));
        assert_ne!(recovered.lost, []);
    }
    assert_eq!(recover(&[&pack[..], &other].concat()).unwrap().pack, pack);
    assert_eq!(recover(&[&other[..], &pack].concat()).unwrap().pack, other);
}

/// The index of a pack without the checksums of its frames.
#[test]
fn recovery_works_without_block_checksums() {
    let pack = without_checks(&encode(&many(), plain(true)).unwrap());
    assert_eq!(recover(&pack).unwrap().lost, []);
    let place = places(&pack)[30].clone();
    let at = usize::try_from(place.start).unwrap();
    for from in [at, at + 1, at + 150] {
        let less = [&pack[..from], &pack[from + 100..]].concat();
        saves_all_but_one(&pack, &less, &place);
        let more = [&pack[..=from], b"more", &pack[from + 1..]].concat();
        saves_all_but_one(&pack, &more, &place);
    }
}

/// The same pack, but for column 4 of its index.
fn without_checks(pack: &[u8]) -> Vec<u8> {
    let footer = *PackIndex::find(pack).unwrap().unwrap().footer();
    let at = usize::try_from(footer.index_offset).unwrap();
    let (blocks, index) = (&pack[..at], &pack[at..pack.len() - FOOTER_BYTES]);
    // Type (of two bytes), flags and length come before the fields.
    let mut rest = &index[3..];
    varint(&mut rest);
    let mut body = Vec::new();
    while !rest.is_empty() {
        let field = rest;
        let id = varint(&mut rest);
        // Its wire type: all have a length.
        rest = &rest[1..];
        let len = usize::try_from(varint(&mut rest)).unwrap();
        rest = &rest[len..];
        if id != 4 {
            body.extend(&field[..field.len() - rest.len()]);
        }
    }
    let index = lcp_encoder::encode_raw_frame(TYPE_INDEX, 0, &body);
    let mut said = pack[pack.len() - FOOTER_BYTES..pack.len() - 12].to_vec();
    said[16..24].copy_from_slice(&(index.len() as u64).to_le_bytes());
    said[36..40].copy_from_slice(&crc32c::crc32c(&index).to_le_bytes());
    let check = crc32c::crc32c_append(crc32c::crc32c(&said), &FOOTER_MAGIC).to_le_bytes();
    [blocks, &index, &said, &check, &FOOTER_MAGIC].concat()
}

fn varint(rest: &mut &[u8]) -> u64 {
    let len = rest.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let (bytes, behind) = rest.split_at(len);
    *rest = behind;
    bytes.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7F))
}

proptest! {
    #[test]
    fn undamaged_pack_is_recovered_unchanged(
        all in any_pack(), index in any::<bool>(), block in any::<bool>(),
    ) {
        let compression = if block { Compression::Block } else { Compression::None };
        let pack = encode(&all, EncodeOptions { compression, ..plain(index) }).unwrap();
        let recovered = recover(&pack).unwrap();
        prop_assert_eq!((recovered.pack, recovered.blocks), (pack, all.len() as u64));
    }

    /// Whatever becomes of the bytes of some blocks, the others are there with what was
    /// said of them, as far as that is there.
    #[test]
    fn bit_damage_loses_only_the_blocks_hit(
        all in any_pack(), seed in any::<u64>(), count in 1usize..4, block in any::<bool>(),
    ) {
        let compression = if block { Compression::Block } else { Compression::None };
        let pack = encode(&all, EncodeOptions { compression, ..plain(true) }).unwrap();
        let places = places(&pack);
        prop_assume!(!places.is_empty());
        let (mut damaged, mut random) = (pack.clone(), SplitMix64::new(seed));
        let end = usize::try_from(places.last().unwrap().end).unwrap();
        for _ in 0..count {
            damaged[8 + random.below(end - 8)] ^= 1 << random.below(8);
        }
        prop_assume!(damaged != pack);
        let recovered = recover(&damaged).unwrap();
        check(&recovered);
        let is_hit = |place: &Range<u64>| {
            let range = usize::try_from(place.start).unwrap()..usize::try_from(place.end).unwrap();
            damaged[range.clone()] != pack[range]
        };
        let hit = places.iter().filter(|place| is_hit(place)).count() as u64;
        prop_assert_eq!(recovered.missing, Some(hit));
        prop_assert_eq!(recovered.blocks + recovered.dropped + hit, all.len() as u64);
        let found = blocks(&recovered.pack);
        let (before, mut after) = (annotated(&all), annotated(&found).into_iter());
        prop_assert!(after.all(|pair| before.contains(&pair)));
        let kept = all.iter().zip(&places).filter(|(_, place)| !is_hit(place)).map(|(of, _)| of);
        let plain = |block: &&Block<'_>| block.target_index().is_none();
        prop_assert!(found.iter().filter(plain).eq(kept.filter(plain)));
    }

    /// Wherever bytes are missing or too many, every block is saved that is whole.
    #[test]
    fn displaced_blocks_are_recovered(
        all in any_pack(), seed in any::<u64>(), count in 1usize..300, is_less in any::<bool>(),
    ) {
        let pack = encode(&all, plain(true)).unwrap();
        let places = places(&pack);
        prop_assume!(!places.is_empty());
        let end = usize::try_from(places.last().unwrap().end).unwrap();
        let mut random = SplitMix64::new(seed);
        let at = 8 + random.below(end - 8);
        let behind = if is_less { end.min(at + count) } else { at };
        let more = if is_less { Vec::new() } else { (0..count).map(|_| u8::try_from(random.below(256)).unwrap()).collect() };
        let damaged = [&pack[..at], &more, &pack[behind..]].concat();
        let recovered = recover(&damaged).unwrap();
        check(&recovered);
        let is_whole =
            |place: &&Range<u64>| place.end <= at as u64 || place.start >= behind as u64;
        let whole = places.iter().filter(is_whole).count();
        let missing = recovered.missing.unwrap();
        // One that has its like beside it may be put together from both.
        prop_assert!(missing <= (places.len() - whole) as u64);
        prop_assert_eq!(recovered.blocks + recovered.dropped + missing, all.len() as u64);
        let found = blocks(&recovered.pack);
        let (before, mut after) = (annotated(&all), annotated(&found).into_iter());
        prop_assert!(after.all(|pair| before.contains(&pair)));
        let plain = |block: &&Block<'_>| block.target_index().is_none();
        let mut found = found.iter().filter(plain);
        let kept = all.iter().zip(&places).filter(|(_, place)| is_whole(place)).map(|(of, _)| of);
        prop_assert!(kept.filter(plain).all(|block| found.any(|found| found == block)));
    }

    #[test]
    fn recover_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = recover(&[b"LCP\0\x01\0\x02\0", &bytes[..]].concat());
        let _ = recover(&bytes);
    }
}

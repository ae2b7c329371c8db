//! The index (RFC 0003 §1 to §5): what is accepted, what is refused, and that no
//! changed bit goes unnoticed.

use lcp_decoder::{DecodeOptions, IndexErrorKind, IndexFooter, PackIndex, PackReader, decode};
use lcp_encoder::{Compression, EncodeOptions, Magic, PackWriter, encode, encode_with_costs};
use lcp_testkit::{SplitMix64, any_pack};
use lcp_types::wire::END_FRAME;
use lcp_types::{
    AlternateCost, AlternateLevel, Annotation, Block, BlockIndex, BlockSource, CarriedLevel,
    EncodingCosts, FormatHint, Lang, MemoryContentStore, ModeCosts, Priority, Role, Tag,
};
use proptest::prelude::*;

/// A pack of a little of everything that an index speaks of.
fn pack_of_all() -> (Vec<Block<'static>>, Vec<u8>) {
    let mut pack = PackWriter::default();
    let code = "fn main() {}\n".repeat(40);
    let mut added = pack.add(&Block::code(Lang::Rust, "src/main.rs", code)).expect("fits");
    added.priority(Priority::High).expect("fits");
    added.tag(&Tag::new("rank", "0.5")).expect("fits");
    added.tag(&Tag::new("category", "code")).expect("fits");
    added.level(CarriedLevel::Tags, "main").expect("fits");
    for turn in 0..40 {
        let text = format!("turn {turn}: {}", "what is said. ".repeat(turn));
        let role = if turn % 2 == 0 { Role::User } else { Role::Assistant };
        pack.add(&Block::conversation(role, text)).expect("fits");
    }
    pack.add(&Block::conversation_with_call(Role::Assistant, "call", "c1")).expect("fits");
    pack.add(&Block::conversation_with_call(Role::Tool, "result", "c1")).expect("fits");
    let document = Block::code(Lang::Toml, "Cargo.toml", "[package]\n").with_summary("manifest");
    pack.add(&document).expect("fits").tag(&Tag::from_key("pinned")).expect("fits");
    let bytes = pack.finish().expect("fits");
    (decode(&bytes, DecodeOptions::default()).expect("as written").blocks_owned(), bytes)
}

trait Owned {
    fn blocks_owned(self) -> Vec<Block<'static>>;
}

impl Owned for lcp_decoder::Pack<'_> {
    fn blocks_owned(self) -> Vec<Block<'static>> {
        self.blocks.into_iter().map(Block::into_owned).collect()
    }
}

fn index_of(pack: &[u8]) -> PackIndex {
    PackIndex::find(pack).expect("announced").expect("as written")
}

fn refused(pack: &[u8]) -> IndexErrorKind {
    PackIndex::find(pack).expect("announced").expect_err("refused").kind().clone()
}

#[test]
fn written_index_matches_the_blocks() {
    let (blocks, pack) = pack_of_all();
    let index = index_of(&pack);
    assert_eq!(index.block_index(), &BlockIndex::from_blocks(&blocks));
    assert_eq!(index.block_index().priorities, [(0, Priority::High)]);
    assert_eq!(index.block_index().ranks, [(0, 0.5)]);
    assert_eq!(index.block_index().category_names, ["code"]);
    assert_eq!(index.block_index().annotations.len(), 5);
    assert_eq!(index.block_index().calls.len(), 2);
    assert_eq!(index.footer().blocks, blocks.len() as u64);
    let reader = PackReader::open(pack, DecodeOptions::default()).expect("a pack");
    assert_eq!(reader.verify().expect("readable"), []);
}

#[test]
fn token_costs_round_trip() {
    let blocks = [
        Block::code(Lang::Rust, "a.rs", "fn a() {}").with_summary("a"),
        Block::new(Annotation::priority(0, Priority::Low)),
        Block::conversation(Role::User, "hi"),
    ];
    let level = |block, level, tokens| AlternateCost { block, level, tokens };
    let mode = |mode: &str| ModeCosts {
        mode: mode.into(),
        full: vec![12, 0, 300],
        line: vec![9, 0, 1],
        levels: vec![
            level(0, AlternateLevel::Detailed, 7),
            level(0, AlternateLevel::Summary, 700),
            level(2, AlternateLevel::Tags, 3),
        ],
    };
    let costs = |encoding: &str| EncodingCosts {
        encoding: encoding.into(),
        revision: 3,
        contents: vec![5, 0, 299],
        joins: vec![0b101],
        modes: vec![mode("xml"), mode("minimal")],
    };
    let costs = [costs("o200k_base"), costs("cl100k_base")];
    let pack = encode_with_costs(&blocks, EncodeOptions::default(), &costs).expect("fits");
    assert_eq!(index_of(&pack).block_index().costs, costs);
    assert!(index_of(&pack).block_index().costs_in("o200k_base", 4).is_none());
    // Of other blocks.
    let error = encode_with_costs(&blocks[..2], EncodeOptions::default(), &costs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "token costs in o200k_base do not match the number of blocks: expected 2, got 3"
    );
}

/// The writer refuses what readers would.
#[test]
fn writer_rejects_invalid_token_costs() {
    let blocks = [Block::conversation(Role::User, "hi"), Block::conversation(Role::User, "ho")];
    let mode = |mode: &str| ModeCosts {
        mode: mode.into(),
        full: vec![4, 4],
        line: vec![9, 9],
        levels: Vec::new(),
    };
    let costs = |revision, modes| EncodingCosts {
        encoding: "e".into(),
        revision,
        contents: vec![2, 2],
        joins: vec![0],
        modes,
    };
    let level = |block| AlternateCost { block, level: AlternateLevel::Summary, tokens: 1 };
    let levels = |blocks: [u32; 2]| ModeCosts { levels: blocks.map(level).into(), ..mode("xml") };
    let numbered = |count: u32| (0..count).map(|of| mode(&of.to_string())).collect::<Vec<_>>();
    for (all, why) in [
        (vec![costs(1, vec![]), costs(1, vec![])], "duplicate encoding"),
        (vec![costs(1, vec![mode("xml"), mode("xml")])], "duplicate mode"),
        (vec![costs(1, vec![levels([1, 0])])], "levels are not in ascending order"),
        (vec![costs(1, vec![levels([1, 1])])], "levels are not in ascending order"),
        (vec![costs(1, numbered(17))], "too many encodings or modes"),
        ((0..33).map(|revision| costs(revision, vec![])).collect(), "too many encodings or modes"),
    ] {
        let error = encode_with_costs(&blocks, EncodeOptions::default(), &all).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot store token costs in e: {why}"));
    }
    let most: Vec<_> = (0..32).map(|revision| costs(revision, numbered(16))).collect();
    let pack = encode_with_costs(&blocks, EncodeOptions::default(), &most).expect("fits");
    assert_eq!(index_of(&pack).block_index().costs, most);
}

/// A footer that nobody parsed.
#[test]
fn hand_built_footer_with_bad_offsets_is_rejected() {
    let (_, pack) = pack_of_all();
    let footer = *index_of(&pack).footer();
    for (end_offset, index_offset) in [(9, 8), (u64::MAX, 0), (0, u64::MAX)] {
        let made = IndexFooter { end_offset, index_offset, ..footer };
        assert!(made.pack_bytes() >= index_offset);
        let error = PackIndex::parse(made, &pack);
        assert_eq!(*error.unwrap_err().kind(), IndexErrorKind::Offsets);
    }
}

#[test]
fn index_is_omitted_when_disabled_or_unsupported() {
    let blocks = [Block::conversation(Role::User, "hi")];
    let mut options = vec![
        EncodeOptions { index: false, ..EncodeOptions::default() },
        EncodeOptions { magic: Magic::Bcp, ..EncodeOptions::default() },
    ];
    if cfg!(feature = "zstd") {
        let compression = Compression::Payload;
        options.push(EncodeOptions { compression, ..EncodeOptions::default() });
    }
    for options in options {
        let pack = encode(&blocks, options).expect("fits");
        assert_eq!(PackIndex::find(&pack), None);
        assert_eq!(decode(&pack, DecodeOptions::default()).expect("as written").warnings, []);
    }
    // The same blocks, and no byte more, but for the flag.
    let with = encode(&blocks, EncodeOptions::default()).expect("fits");
    let without = encode(&blocks, EncodeOptions { index: false, ..EncodeOptions::default() });
    let without = without.expect("fits");
    assert_eq!(with[6], 2);
    assert_eq!(with[7..without.len()], without[7..]);
}

/// Whether anything is wrong with a pack, for who looks at all of it.
fn is_noticed(pack: &[u8]) -> bool {
    let Ok(decoded) = decode(pack, DecodeOptions::default()) else { return true };
    if !decoded.warnings.is_empty() {
        return true;
    }
    let reader = PackReader::open(pack.to_vec(), DecodeOptions::default()).expect("decodes");
    // A pack that was written with an index, and has none.
    reader.index().is_none() || reader.verify().map_or(true, |wrong| !wrong.is_empty())
}

#[test]
fn every_changed_bit_is_detected() {
    let (_, mut pack) = pack_of_all();
    assert!(pack.len() > 5_000, "{} bytes", pack.len());
    assert!(!is_noticed(&pack));
    let mut unnoticed = Vec::new();
    for bit in 0..pack.len() * 8 {
        pack[bit / 8] ^= 1 << (bit % 8);
        if !is_noticed(&pack) {
            unnoticed.push(bit);
        }
        pack[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(unnoticed.is_empty(), "bits {unnoticed:?} of {} bytes", pack.len());
}

#[test]
fn every_truncation_is_detected() {
    let (_, pack) = pack_of_all();
    for len in 0..pack.len() {
        assert!(is_noticed(&pack[..len]), "{len} of {} bytes", pack.len());
    }
}

#[test]
fn mismatched_footer_is_rejected() {
    let (_, pack) = pack_of_all();
    let other = encode(&[Block::conversation(Role::User, "hi")], EncodeOptions::default());
    let other = other.expect("fits");
    let end = index_of(&other).footer().index_offset;
    let tail = &other[usize::try_from(end).expect("small")..];
    // Behind the pack's own, in place of it, and its own twice.
    assert_eq!(refused(&[&pack[..], tail].concat()), IndexErrorKind::Offsets);
    let own_at = usize::try_from(index_of(&pack).footer().index_offset).expect("small");
    assert_eq!(refused(&[&pack[..own_at], tail].concat()), IndexErrorKind::Offsets);
    assert_eq!(refused(&[&pack[..], &pack[own_at..]].concat()), IndexErrorKind::Offsets);
    assert_eq!(refused(&[&pack[..], b"more"].concat()), IndexErrorKind::NoFooter);
    assert_eq!(refused(&pack[..own_at]), IndexErrorKind::NoFooter);
    // Blocks before it that are not those that it was made for.
    let mut longer = pack[..own_at - 4].to_vec();
    longer.extend_from_slice(&[0x42, 0, 0, 0xFF, 1, 0, 0]);
    longer.extend_from_slice(&pack[own_at..]);
    assert_eq!(refused(&longer), IndexErrorKind::Offsets);
}

/// Of a pack that has more or fewer bytes than it had, the footer is still read.
#[test]
fn displaced_footer_is_parsed() {
    let (_, pack) = pack_of_all();
    let (rest, footer) = pack.split_at(pack.len() - 56);
    let parsed = IndexFooter::parse_at_unknown_offset(footer).expect("its own checksum holds");
    assert_eq!(IndexFooter::parse(footer, pack.len() as u64), Ok(parsed));
    assert_eq!(parsed.pack_bytes(), pack.len() as u64);
    let (header, rest) = rest.split_at(8);
    for rest in [&rest[1..], &[b"more", rest].concat()] {
        let damaged = [header, rest, footer].concat();
        assert_eq!(refused(&damaged), IndexErrorKind::Offsets);
        // INDEX is right before it.
        let end = damaged.len() - 56;
        let index = &damaged[end - usize::try_from(parsed.index_len).expect("small")..end];
        let found = PackIndex::parse(parsed, &[&END_FRAME, index].concat());
        assert_eq!(found.as_ref(), Ok(&index_of(&pack)));
    }
    let mut flipped = footer.to_vec();
    for bit in 0..footer.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(IndexFooter::parse_at_unknown_offset(&flipped).is_err(), "bit {bit}");
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(IndexFooter::parse_at_unknown_offset(&footer[1..]).is_err());
}

/// The pack, its index with another body, and checks that hold.
fn with_body(pack: &[u8], change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let footer = *index_of(pack).footer();
    let at = usize::try_from(footer.index_offset).expect("small");
    let index = &pack[at..pack.len() - 56];
    let head = index.len() - body_len(index);
    let mut body = index[head..].to_vec();
    change(&mut body);
    let mut changed = pack[..at].to_vec();
    changed.extend([0xFD, 1, 0]);
    changed.extend(crate::support::varint(body.len() as u64));
    changed.extend(body);
    let index_len = (changed.len() - at) as u64;
    let mut said = pack[pack.len() - 56..pack.len() - 12].to_vec();
    said[16..24].copy_from_slice(&index_len.to_le_bytes());
    said[36..40].copy_from_slice(&crc32c::crc32c(&changed[at..]).to_le_bytes());
    let check = crc32c::crc32c_append(crc32c::crc32c(&said), b"LCPINDEX");
    changed.extend(said);
    changed.extend(check.to_le_bytes());
    changed.extend(b"LCPINDEX");
    changed
}

/// Bytes of the body of an INDEX frame, behind its type, flags and length.
fn body_len(index: &[u8]) -> usize {
    let varint = index[3..].iter().position(|byte| byte & 0x80 == 0).expect("a length") + 1;
    index.len() - 3 - varint
}

/// Whether the facts of a reader are those of the blocks.
fn is_true(reader: &PackReader<'_, Vec<u8>>, blocks: &[Block<'_>]) -> bool {
    let mut said = reader.block_index().expect("accepted").clone();
    let mut found = BlockIndex::from_blocks(blocks);
    let same_labels = said.labels.iter().eq(found.labels.iter());
    said.labels = lcp_types::LabelColumn::default();
    found.labels = lcp_types::LabelColumn::default();
    same_labels && said == found
}

#[test]
fn corrupt_index_is_rejected_or_reported_by_verify() {
    let (blocks, pack) = pack_of_all();
    assert_eq!(with_body(&pack, |_| {}), pack);
    // Columns that are not known are passed over.
    let more = with_body(&pack, |body| body.extend([99, 1, 2, 0, 0]));
    assert_eq!(index_of(&more).block_index(), &BlockIndex::from_blocks(&blocks));
    let missing = with_body(&pack, Vec::clear);
    assert_eq!(refused(&missing), IndexErrorKind::Column { column: "types" });
    let mut rng = SplitMix64::new(7);
    let (mut unusable, mut found_out) = (0, 0);
    for _ in 0..2_000 {
        let place = rng.below(usize::MAX);
        let lie = with_body(&pack, |body| {
            let place = place % body.len();
            body[place] ^= 1 << (place % 8);
        });
        let reader = PackReader::open(lie, DecodeOptions::default()).expect("blocks are whole");
        match reader.index() {
            Some(Err(_)) => unusable += 1,
            Some(Ok(_)) => {
                let wrong = reader.verify().expect("blocks are whole");
                // An optional column may have become one that is not known, and the same
                // labels may be written in another way.
                assert!(!wrong.is_empty() || is_true(&reader, &blocks), "nobody notices a lie");
                found_out += usize::from(!wrong.is_empty());
                // What is read is what there is, or nothing.
                let all: Vec<_> = (0..u32::try_from(blocks.len()).expect("few")).collect();
                if let Ok(read) = reader.read(&all) {
                    assert_eq!(read, blocks);
                }
            }
            None => panic!("the header was not changed"),
        }
    }
    assert!(unusable > 100 && found_out > 100, "{unusable} unusable, {found_out} found out");
}

/// Costs of one block in an encoding of this name, as a field of the index.
fn costs_field(name: &str) -> Vec<u8> {
    use crate::support::{bytes, nested, number};
    nested(17, &[bytes(1, name), number(2, 1), bytes(3, [1]), bytes(4, [1])])
}

/// Costs of one block in so many modes, as a field of the index.
fn costs_of_modes(count: usize) -> Vec<u8> {
    use crate::support::{bytes, nested, number};
    let mut fields = vec![bytes(1, "e"), number(2, 1), bytes(3, [1]), bytes(4, [1])];
    fields.extend(
        (0..count)
            .map(|mode| nested(5, &[bytes(1, format!("m{mode}")), bytes(2, [0]), bytes(3, [1])])),
    );
    nested(17, &fields)
}

#[test]
fn duplicate_and_excess_index_entries_are_rejected() {
    let pack = encode(&[Block::conversation(Role::User, "hi")], EncodeOptions::default());
    let pack = pack.expect("fits");
    let with = |more: &[Vec<u8>]| with_body(&pack, |body| body.extend(more.concat()));
    let (one, other) = (costs_field("o200k_base"), costs_field("cl100k_base"));
    assert_eq!(index_of(&with(&[one.clone(), other])).block_index().costs.len(), 2);
    assert_eq!(refused(&with(&[one.clone(), one])), IndexErrorKind::Column { column: "costs" });
    // As many encodings and modes as an index has, and one more.
    let mut encodings: Vec<_> = (0..32).map(|name| costs_field(&format!("e{name}"))).collect();
    assert_eq!(index_of(&with(&encodings)).block_index().costs.len(), 32);
    encodings.push(costs_field("one more"));
    assert_eq!(refused(&with(&encodings)), IndexErrorKind::Column { column: "costs" });
    let modes = |count| vec![costs_of_modes(count)];
    assert_eq!(index_of(&with(&modes(16))).block_index().costs[0].modes.len(), 16);
    assert_eq!(refused(&with(&modes(17))), IndexErrorKind::Column { column: "modes" });
    // More names than blocks that could have them.
    let names = crate::support::bytes(9, [1, b'a', 1, b'b']);
    assert_eq!(refused(&with(&[names])), IndexErrorKind::Column { column: "category_names" });
    // Frames that are none.
    for len in [0, 2] {
        let lengths = crate::support::bytes(3, [len]);
        assert_eq!(refused(&with(&[lengths])), IndexErrorKind::Column { column: "lengths" });
    }
}

#[test]
fn wrong_end_offset_in_footer_is_rejected() {
    let (_, pack) = pack_of_all();
    let footer = &pack[pack.len() - 56..];
    let mut lie = footer[..44].to_vec();
    lie[..8].copy_from_slice(&8u64.to_le_bytes());
    let check = crc32c::crc32c_append(crc32c::crc32c(&lie), b"LCPINDEX");
    let lie = [&pack[..pack.len() - 56], &lie, &check.to_le_bytes()[..], b"LCPINDEX"].concat();
    assert_eq!(refused(&lie), IndexErrorKind::Offsets);
}

#[test]
fn renumbered_call_ids_pass_verification() {
    let (_, pack) = pack_of_all();
    let calls = index_of(&pack).block_index().calls.clone();
    let numbered = |id: u64| {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for call in &calls {
            bytes.extend(crate::support::varint(u64::from(call.block - before)));
            before = call.block;
            let of = (u64::from(call.id) + id) << 1 | u64::from(call.is_result);
            bytes.extend(crate::support::varint(of));
        }
        crate::support::bytes(11, bytes)
    };
    // Of a column that comes twice the last one counts.
    let other = with_body(&pack, |body| body.extend(numbered(70)));
    assert_eq!(index_of(&other).block_index().calls[0].id, 70);
    let reader = PackReader::open(other, DecodeOptions::default()).expect("a pack");
    assert_eq!(reader.verify().expect("readable"), []);
}

/// A body that is stored elsewhere keeps nobody from comparing what annotations say.
#[test]
fn verify_compares_annotations_despite_references() {
    let mut pack = PackWriter::default();
    let elsewhere = Block::document("", "elsewhere", FormatHint::Plain);
    pack.add_reference(&elsewhere, &mut MemoryContentStore::default()).expect("fits");
    let mut added = pack.add(&Block::conversation(Role::User, "hi")).expect("fits");
    added.priority(Priority::High).expect("fits");
    let pack = pack.finish().expect("fits");
    let wrong = |pack: &[u8]| {
        let reader = PackReader::open(pack, DecodeOptions::default()).expect("a pack");
        let wrong = reader.verify().expect("readable");
        wrong.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(wrong(&pack), Vec::<String>::new());
    // Block 1 is Critical.
    let lie = with_body(&pack, |body| body.extend(crate::support::bytes(5, [1, 1])));
    let wrong = wrong(&lie);
    assert!(wrong.len() == 1 && wrong[0].contains("priorities"), "{wrong:?}");
}

/// Returns the indices of about half of the blocks, and these blocks.
fn choose(blocks: &[Block<'static>], seed: u64) -> (Vec<u32>, Vec<Block<'static>>) {
    let mut rng = SplitMix64::new(seed);
    (0..).zip(blocks).filter(|_| rng.below(2) == 0).map(|(at, block)| (at, block.clone())).unzip()
}

proptest! {
    #[test]
    fn any_pack_is_read_block_by_block(blocks in any_pack(), seed in any::<u64>()) {
        let pack = encode(&blocks, EncodeOptions::default()).expect("within the limits");
        let reader = PackReader::open(pack, DecodeOptions::default()).expect("as written");
        prop_assert_eq!(reader.block_index(), Some(&BlockIndex::from_blocks(&blocks)));
        let (some, wanted) = choose(&blocks, seed);
        prop_assert_eq!(reader.read(&some).expect("as written"), wanted);
        prop_assert_eq!(reader.verify().expect("as written"), vec![]);
        let all = reader.read_all().expect("as written");
        prop_assert_eq!(&all[..], &blocks[..]);
    }

    #[test]
    fn scan_of_any_pack_gives_the_index_of_its_blocks(
        blocks in any_pack(),
        is_compressed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let compression = if is_compressed { Compression::Block } else { Compression::None };
        let options = EncodeOptions { index: false, compression, ..EncodeOptions::default() };
        let pack = encode(&blocks, options).expect("within the limits");
        let mut reader = PackReader::open(pack, DecodeOptions::default()).expect("as written");
        let mut visited = Vec::new();
        let visit = |batch: &[Block<'_>]| {
            visited.extend(batch.iter().cloned().map(Block::into_owned));
        };
        prop_assert!(reader.scan(visit).expect("as written"));
        prop_assert_eq!(&visited, &blocks);
        prop_assert_eq!(reader.block_index(), Some(&BlockIndex::from_blocks(&blocks)));
        let (some, wanted) = choose(&blocks, seed);
        prop_assert_eq!(reader.read(&some).expect("as written"), wanted);
    }
}

/// The windows of a scan have 4 MiB, and its batches 4096 blocks.
#[test]
fn scan_reads_blocks_longer_than_a_window() {
    let text = |bytes: usize| Block::document("", vec![b'x'; bytes], FormatHint::Plain);
    let turn = |at: usize| Block::conversation(Role::User, format!("turn {at}"));
    let mut blocks: Vec<_> = (0..5_000).map(turn).collect();
    blocks.extend([text(9 << 20), text((4 << 20) - 20), text(1), text(5 << 20)]);
    blocks.extend((0..5_000).map(turn));
    let options = EncodeOptions { index: false, ..EncodeOptions::default() };
    let pack = encode(&blocks, options).expect("fits");
    let mut reader = PackReader::open(pack, DecodeOptions::default()).expect("a pack");
    let mut count = 0;
    assert!(reader.scan(|batch| count += batch.len()).expect("as written"));
    assert_eq!(count, blocks.len());
    assert_eq!(reader.block_index(), Some(&BlockIndex::from_blocks(&blocks)));
    for at in [0, 4_999, 5_000, 5_001, 5_002, 5_003, 5_004, 10_003] {
        assert!(reader.read(&[at]).expect("as written") == blocks[at as usize..=at as usize]);
    }
    assert!(reader.read(&[10_004]).is_err());
}

#[test]
fn scan_refuses_packs_that_it_cannot_index_and_reports_errors() {
    let blocks = [Block::conversation(Role::User, "hi")];
    let options = EncodeOptions { index: false, ..EncodeOptions::default() };
    let pack = encode(&blocks, options).expect("fits");
    let scan = |pack: &[u8]| {
        let mut reader = PackReader::open(pack, DecodeOptions::default()).expect("a pack");
        let scanned = reader.scan(|_| ()).map_err(|error| error.to_string());
        assert_eq!(reader.block_index().is_some(), scanned == Ok(true));
        scanned
    };
    assert_eq!(scan(&pack), Ok(true));
    assert_eq!(scan(&[&pack[..], b"more"].concat()), Ok(false));
    let payload = EncodeOptions { compression: Compression::Payload, ..options };
    assert_eq!(scan(&encode(&blocks, payload).expect("fits")), Ok(false));
    for len in 8..pack.len() {
        let error = decode(&pack[..len], DecodeOptions::default()).unwrap_err().to_string();
        assert_eq!(scan(&pack[..len]), Err(error));
    }
}

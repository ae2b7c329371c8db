//! Over packs of every kind, whole and broken: never a panic, and the same
//! however the input is cut.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{Compression, EncodeOptions, PackWriter};
use lcp_testkit::{SplitMix64, any_pack};
use lcp_types::{
    Block, BlockContent, CowBytes, DiffHunk, FileEntry, Lang, MemoryContentStore, Priority, Role,
    Tag, UnknownField, UnknownValue,
};
use proptest::prelude::*;

use crate::stream::assert_same_when_read;
use crate::support::header;
use crate::walk::{Cuts, assert_same_however_cut, decode_at_once};

#[cfg(feature = "zstd")]
pub(crate) const COMPRESSIONS: [Compression; 3] =
    [Compression::None, Compression::Block, Compression::Payload];
#[cfg(not(feature = "zstd"))]
pub(crate) const COMPRESSIONS: [Compression; 1] = [Compression::None];

pub(crate) fn encode(blocks: &[Block<'_>], compression: Compression) -> Vec<u8> {
    let options = EncodeOptions { compression, ..EncodeOptions::default() };
    lcp_encoder::encode(blocks, options).expect("within the limits")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn valid_pack_decodes_the_same_in_pieces(blocks in any_pack(), seed in any::<u64>()) {
        for compression in COMPRESSIONS {
            let pack = encode(&blocks, compression);
            let found = decode(&pack, DecodeOptions::default()).expect("as written");
            prop_assert_eq!(&found.blocks, &blocks);
            prop_assert_eq!(&found.warnings, &[]);
            let cuts = if pack.len() < 8_000 { Cuts::EveryByte } else { Cuts::Every(97) };
            for cuts in [cuts, Cuts::Seeded(seed)] {
                assert_same_however_cut(&pack, DecodeOptions::default(), cuts);
            }
        }
    }

    #[test]
    fn damaged_pack_decodes_the_same_in_pieces(blocks in any_pack(), seed in any::<u64>(), strict in any::<bool>()) {
        let options = DecodeOptions { strict, ..DecodeOptions::default() };
        let mut rng = SplitMix64::new(seed);
        for compression in COMPRESSIONS {
            let mut pack = encode(&blocks, compression);
            for _ in 0..=rng.below(3) {
                let place = rng.below(pack.len());
                pack[place] = rng.bytes(1)[0];
            }
            assert_same_however_cut(&pack, options, Cuts::Every(1 + rng.below(40)));
            assert_same_however_cut(&pack, options, Cuts::Seeded(seed));
        }
    }

    #[test]
    fn random_bytes_decode_the_same_in_pieces(bytes in proptest::collection::vec(any::<u8>(), 0..300), flags in 0u8..8) {
        for input in [bytes.clone(), [header(flags), bytes].concat()] {
            assert_same_however_cut(&input, DecodeOptions::default(), Cuts::EveryByte);
        }
    }
}

/// A pack of everything: nesting, unknown things, annotations, a reference, and
/// in the compressed forms a body that is compressed.
fn sampler(compression: Compression, store: &mut MemoryContentStore) -> Vec<u8> {
    let options = EncodeOptions { compression, index: false, ..EncodeOptions::default() };
    let mut code = Block::code_lines(Lang::Rust, "a.rs", "fn a() {}\n".repeat(30), 3, 300);
    code.reserved_flags = 0x80;
    if let BlockContent::Code(code) = &mut code.content {
        code.unknown = vec![
            UnknownField { id: 9, value: UnknownValue::Varint(1 << 40) },
            UnknownField { id: 300, value: UnknownValue::Nested(CowBytes::from("\u{1}\0\u{1}")) },
        ]
        .into();
    }
    let tree = vec![FileEntry::directory("d", vec![FileEntry::file("f", 3)])];
    let mut pack = PackWriter::new(options);
    let mut add = |block: &Block<'_>| {
        let mut added = pack.add(block).expect("within the limits");
        added.priority(Priority::High).expect("within the limits");
        added.tag(&Tag::from_key("pinned")).expect("within the limits");
    };
    add(&code.with_summary("naïve"));
    add(&Block::file_tree("/", tree));
    add(&Block::diff("p", vec![DiffHunk::new(1, 2, "+a\n-b\n")]));
    add(&Block::raw(0x42, "body"));
    let turn = Block::conversation_with_call(Role::Tool, "hi", "c1");
    pack.add_reference(&turn, store).expect("within the limits");
    pack.finish().expect("within the limits")
}

/// Every sampler, and what is needed to decode it.
fn for_each_sampler(check: impl Fn(&[u8], DecodeOptions<'_>)) {
    for compression in COMPRESSIONS {
        let mut store = MemoryContentStore::default();
        let pack = sampler(compression, &mut store);
        let options = DecodeOptions { store: Some(&store), ..DecodeOptions::default() };
        decode(&pack, options).expect("as written");
        check(&pack, options);
    }
}

#[test]
fn truncation_at_every_byte_is_an_error() {
    for_each_sampler(|pack, options| {
        for len in 0..pack.len() {
            let cut = &pack[..len];
            let error = decode(cut, options).expect_err("END is missing");
            assert!(matches!(error.code(), "unexpected_eof" | "missing_end"), "{len}: {error}");
            assert_same_however_cut(cut, options, Cuts::EveryByte);
            assert_same_however_cut(cut, options, Cuts::Seeded(len as u64));
            assert_same_when_read(cut, options, Cuts::Seeded(len as u64));
        }
    });
}

#[test]
fn changed_byte_decodes_the_same_in_pieces() {
    for_each_sampler(|pack, options| {
        let mut changed = pack.to_vec();
        for place in 0..pack.len() {
            let byte = pack[place];
            for value in [0, 0xFF, byte ^ 0x01, byte ^ 0x80, byte.wrapping_add(1), !byte] {
                changed[place] = value;
                assert_same_however_cut(&changed, options, Cuts::EveryByte);
                assert_same_however_cut(&changed, options, Cuts::Seeded(place as u64));
            }
            changed[place] = byte;
        }
        assert_eq!(changed, pack);
    });
}

/// Payloads of several of the windows in which zstd is fed, because their
/// content does not compress.
#[cfg(feature = "zstd")]
#[test]
fn multi_window_payload_decodes_the_same_in_pieces() {
    const WINDOW: usize = 64 * 1024;
    let mut rng = SplitMix64::new(7);
    let noise = |rng: &mut SplitMix64, len| Block::code(Lang::Unknown, "noise", rng.bytes(len));
    let blocks = [
        noise(&mut rng, 50_000),
        Block::conversation(Role::User, "hi"),
        noise(&mut rng, 90_000),
        noise(&mut rng, 300),
    ];
    let pack = encode(&blocks, Compression::Payload);
    assert!(pack.len() > 2 * WINDOW, "the noise was compressed to {}", pack.len());
    let options = DecodeOptions::default();
    assert_eq!(decode(&pack, options).expect("as written").blocks, blocks);
    for cuts in [
        Cuts::EveryByte,
        Cuts::Every(WINDOW),
        Cuts::Every(WINDOW + 8),
        Cuts::Every(WINDOW - 1),
        Cuts::Every(1000),
        Cuts::Seeded(1),
    ] {
        assert_same_however_cut(&pack, options, cuts);
    }
    let edges = [WINDOW, 2 * WINDOW].map(|edge| [edge + 7, edge + 8, edge + 9]).concat();
    let places = edges.into_iter().chain((0..60).map(|_| rng.below(pack.len())));
    for (i, place) in places.enumerate() {
        let cuts = [Cuts::Every(WINDOW / 3), Cuts::Seeded(i as u64)];
        let mut changed = pack.clone();
        changed[place] ^= 1 << (i % 8);
        for cuts in cuts {
            assert_same_however_cut(&pack[..place], options, cuts);
            assert_same_however_cut(&changed, options, cuts);
        }
    }
}

/// The walks are not empty: they see every kind of thing there is.
#[test]
fn sampler_pack_yields_the_expected_event_count() {
    for_each_sampler(|pack, options| {
        let seen = decode_at_once(pack, options);
        // Header, 13 frames and their blocks, END, Done.
        assert_eq!(seen.len(), 1 + 2 * 13 + 2);
    });
}

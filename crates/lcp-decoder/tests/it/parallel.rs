//! `decode_parallel` is `decode`, on any number of threads.

use std::borrow::Cow;
use std::cell::RefCell;

use lcp_decoder::{DecodeOptions, decode, decode_parallel};
use lcp_encoder::{Compression, EncodeOptions, PackWriter};
use lcp_testkit::{SplitMix64, any_pack};
use lcp_types::{Block, ContentHash, ContentStore, Lang, MemoryContentStore, Role, StoreError};
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::laws::encode;
use crate::support::{END, frame, header, hi, pack};

const COMPRESSED: u8 = 0b010;

/// Compressed blocks that are worth to be shared: 96 KiB of noise.
fn load(seed: u64) -> Vec<u8> {
    let mut rng = SplitMix64::new(seed);
    let mut block = || {
        let body = zstd::bulk::compress(&rng.bytes(8 << 10), 1).expect("zstd takes any bytes");
        frame(0x42, COMPRESSED, body)
    };
    (0..12).flat_map(|_| block()).collect()
}

/// The pack with blocks before its own, so that those are not decoded alone.
fn loaded(pack: &[u8]) -> Vec<u8> {
    let (header, rest) = pack.split_at_checked(8).unwrap_or((pack, &[]));
    [header, &load(1), rest].concat()
}

#[track_caller]
fn assert_same(pack: &[u8], options: DecodeOptions<'_>) {
    let (found, expected) = (decode_parallel(pack, options), decode(pack, options));
    // Not `assert_eq`: packs are long.
    match (&found, &expected) {
        (Ok(found), Ok(expected)) => assert!(found == expected, "other blocks"),
        _ => assert_eq!(found.as_ref().err(), expected.as_ref().err()),
    }
}

/// Fails if a pack, and the same with more in it, is not the same in parallel.
#[track_caller]
pub(crate) fn assert_same_in_parallel(pack: &[u8], options: DecodeOptions<'_>) {
    assert_same(pack, options);
    assert_same(&loaded(pack), options);
    // What is counted, and what may yet come, is the same.
    let total = options.total_decompressed_bytes_max.saturating_add(12 * (8 << 10));
    assert_same(&loaded(pack), DecodeOptions { total_decompressed_bytes_max: total, ..options });
}

fn pools() -> [ThreadPool; 3] {
    [1, 2, 8].map(|threads| {
        ThreadPoolBuilder::new().num_threads(threads).build().expect("the system has threads")
    })
}

fn total(total_decompressed_bytes_max: u64) -> DecodeOptions<'static> {
    DecodeOptions { total_decompressed_bytes_max, ..DecodeOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn parallel_decode_matches_decode_on_any_pack(blocks in any_pack(), seed in any::<u64>()) {
        let mut rng = SplitMix64::new(seed);
        let pools = pools();
        for compression in [Compression::None, Compression::Block, Compression::Payload] {
            let pack = encode(&blocks, compression);
            for pack in [loaded(&pack), pack] {
                let sum = 12 * (8 << 10) + 2000;
                let limit = rng.below(sum) as u64;
                let mut changed = pack.clone();
                for _ in 0..=rng.below(3) {
                    let place = rng.below(pack.len());
                    changed[place] = rng.bytes(1)[0];
                }
                let cut = rng.below(pack.len());
                for pool in &pools {
                    pool.install(|| {
                        assert_same(&pack, DecodeOptions::default());
                        assert_same(&pack, total(limit));
                        assert_same(&changed, DecodeOptions::default());
                        assert_same(&changed[..cut], total(limit));
                    });
                }
            }
        }
    }
}

/// Every total that a pack can be held to, at a block and beside it.
#[test]
fn parallel_total_limit_follows_stream_order() {
    let plain = [hi(), load(2), hi(), load(3)].concat();
    let payload = [
        &header(1)[..],
        &zstd::bulk::compress(&[&plain, &END[..]].concat(), 1).expect("any bytes"),
    ]
    .concat();
    for pack in [pack(&[plain]), payload] {
        for pool in &pools() {
            pool.install(|| {
                for blocks in 0..=40_u64 {
                    for beside in [-1_i64, 0, 1] {
                        let limit = (blocks * (8 << 10)).saturating_add_signed(beside);
                        assert_same(&pack, total(limit));
                    }
                }
            });
        }
    }
}

/// Of many errors in a batch and behind it, the first counts.
#[test]
fn parallel_decode_returns_the_first_error() {
    let good = load(4);
    let bad = frame(0x42, COMPRESSED, b"no zstd");
    let malformed = frame(2, 0, b"\x02");
    let nowhere = frame(2, 0b100, [7; 32]);
    let cut = vec![0x42, 0, 100];
    let parts = [good, bad, malformed, nowhere, cut];
    let mut errors = Vec::new();
    for pool in &pools() {
        pool.install(|| {
            for order in 0..parts.len().pow(4) {
                let part = |place: u32| &parts[order / parts.len().pow(place) % parts.len()][..];
                let pack = [&header(0)[..], &parts[0], part(0), part(1), part(2), part(3)].concat();
                assert_same(&pack, DecodeOptions::default());
            }
        });
        let pack = [&header(0)[..], &parts[0], &parts[1], &parts[2]].concat();
        errors.push(decode_parallel(&pack, DecodeOptions::default()).expect_err("no zstd"));
    }
    assert!(errors.iter().all(|error| error.code() == "bad_compression"), "{errors:?}");
}

/// More than one batch, by their number and by their bytes, and what is wrong at the
/// edges of them.
#[test]
fn parallel_batches_match_decode() {
    let mut rng = SplitMix64::new(5);
    // Most of them are not compressed: zstd takes a while to start.
    let block = |i| {
        let bytes = rng.bytes(200);
        match i % 8 {
            0 => frame(0x42, COMPRESSED, zstd::bulk::compress(&bytes, 1).expect("any bytes")),
            _ => frame(0x42, 0, bytes),
        }
    };
    let small: Vec<_> = (0..5000).map(block).collect();
    let noise = SplitMix64::new(6).bytes(3 << 20);
    let large = frame(0x42, COMPRESSED, zstd::bulk::compress(&noise, 1).expect("any bytes"));
    let bad = frame(0x42, COMPRESSED, b"no zstd");
    for pool in &pools() {
        pool.install(|| {
            assert_same(&pack(&vec![large.clone(); 14]), DecodeOptions::default());
            assert_same(&pack(&vec![large.clone(); 14]), total(30 << 20));
            assert_same(&pack(&small), DecodeOptions::default());
            for at in [0, 4095, 4096, 4999] {
                let mut changed = small.clone();
                changed[at].clone_from(&bad);
                assert_same(&pack(&changed), DecodeOptions::default());
                assert_same(&pack(&small[..=at]), total(20 * at as u64));
                let cut = [&header(0)[..], &small[..at].concat(), &[0x42, 0, 9]].concat();
                assert_same(&cut, DecodeOptions::default());
            }
        });
    }
}

/// 4000 bodies of 16 MiB, of which the limit takes sixteen: that all of the others
/// are not decompressed is why this ends.
#[test]
fn parallel_decode_stops_at_the_total_limit() {
    let zeros = zstd::bulk::compress(&vec![0; 16 << 20], 1).expect("zstd takes any bytes");
    let bombs = pack(&vec![frame(0x42, COMPRESSED, zeros); 4000]);
    let error = decode_parallel(&bombs, total(64 << 20)).expect_err("64 GB");
    assert_eq!((error.code(), error.block()), ("too_large", Some(4)));
    assert_eq!(Err(error), decode(&bombs, total(64 << 20)));
}

/// A store that is not for other threads, and remembers what it was asked.
struct Asked {
    bodies: MemoryContentStore,
    asked: RefCell<Vec<ContentHash>>,
}

impl ContentStore for Asked {
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        self.asked.borrow_mut().push(*hash);
        self.bodies.get(hash)
    }

    fn put(&mut self, hash: ContentHash, body: &[u8]) -> Result<(), StoreError> {
        self.bodies.put(hash, body)
    }
}

#[test]
fn parallel_decode_queries_the_store_like_decode() {
    let mut bodies = MemoryContentStore::default();
    let options = EncodeOptions { compression: Compression::Block, ..EncodeOptions::default() };
    let mut builder = PackWriter::new(options);
    for i in 0..40 {
        let turn = Block::conversation(Role::User, format!("turn {i}"));
        builder.add_reference(&turn, &mut bodies).expect("within the limits");
        let code = Block::code(Lang::Rust, "a.rs", SplitMix64::new(i).bytes(4000));
        builder.add(&code).expect("within the limits");
    }
    let pack = loaded(&builder.finish().expect("within the limits"));
    let mut broken = pack.clone();
    let place = broken.len() - 3000;
    broken[place] ^= 0xFF;
    let ask = |pack: &[u8], parallel: bool, total_decompressed_bytes_max| {
        let store = Asked { bodies: bodies.clone(), asked: RefCell::default() };
        let options = DecodeOptions {
            store: Some(&store),
            total_decompressed_bytes_max,
            ..DecodeOptions::default()
        };
        let blocks = if parallel { decode_parallel(pack, options) } else { decode(pack, options) };
        let blocks = blocks.map(|pack| pack.blocks.into_iter().map(Block::into_owned).collect());
        (blocks, store.asked.into_inner())
    };
    for total in [u64::MAX, 12 * (8 << 10) + 80_000] {
        for pack in [&pack, &broken] {
            let expected: (Result<Vec<_>, _>, _) = ask(pack, false, total);
            assert!(ask(pack, true, total) == expected, "not what `decode` gives");
            assert!(expected.1.len() > 10, "{} references", expected.1.len());
        }
    }
    assert_eq!(ask(&pack, true, u64::MAX).0.expect("as written").len(), 92);
}

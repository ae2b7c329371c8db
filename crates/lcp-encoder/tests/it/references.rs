//! References: written into a store, and read from it.

use std::borrow::Cow;

use lcp_decoder::{DecodeOptions, Event, EventIter, decode};
use lcp_encoder::{EncodeOptions, Error, PackWriter, encode};
use lcp_testkit::any_pack;
use lcp_types::{
    Block, ContentHash, ContentStore, MemoryContentStore, Priority, Role, StoreError, limits,
};
use proptest::prelude::*;

fn hi() -> Block<'static> {
    Block::conversation(Role::User, "hi")
}

proptest! {
    #[test]
    fn any_block_round_trips_through_a_store(blocks in any_pack()) {
        let mut store = MemoryContentStore::default();
        let mut pack = PackWriter::default();
        for block in &blocks {
            pack.add_reference(block, &mut store).expect("within the limits");
        }
        let bytes = pack.finish().expect("within the limits");
        let with_store = DecodeOptions { store: Some(&store), ..DecodeOptions::default() };
        prop_assert_eq!(&decode(&bytes, with_store).expect("as written").blocks, &blocks);
        let without = decode(&bytes, DecodeOptions::default());
        prop_assert_eq!(without.is_err(), !blocks.is_empty());
    }
}

#[test]
fn reference_hashes_summary_and_fields() -> Result<(), Error> {
    let mut store = MemoryContentStore::default();
    let mut pack = PackWriter::default();
    let block = hi().with_summary("S");
    pack.add_reference(&block, &mut store)?.priority(Priority::High)?;
    let bytes = pack.finish()?;
    let mut frames =
        EventIter::new(&bytes, DecodeOptions::default()).filter_map(|event| {
            match event.expect("the frames are whole") {
                Event::Frame(frame) => Some(frame),
                _ => None,
            }
        });
    let frame = frames.next().expect("the reference");
    // A summary of one byte, role user, content of two bytes.
    let body = b"\x01S\x01\0\x02\x02\x01\x02hi";
    assert_eq!(frame.flags, 0b101);
    assert_eq!(&frame.body[..], blake3::hash(body).as_bytes());
    let hash = *blake3::hash(body).as_bytes();
    assert_eq!(store.get(&hash).expect("memory").as_deref(), Some(&body[..]));
    assert_eq!(frames.next().map(|frame| frame.flags), Some(0), "its priority is no reference");
    let error = decode(&bytes, DecodeOptions::default()).expect_err("no store");
    assert_eq!((error.code(), error.block()), ("no_store", Some(0)));
    Ok(())
}

struct Full;

impl ContentStore for Full {
    fn get(&self, _: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        Ok(None)
    }

    fn put(&mut self, _: ContentHash, _: &[u8]) -> Result<(), StoreError> {
        Err(StoreError { message: "the disk is full".into() })
    }
}

#[test]
fn store_failure_leaves_the_pack_unchanged() -> Result<(), Error> {
    let mut pack = PackWriter::default();
    pack.add(&hi())?;
    let error = pack.add_reference(&hi(), &mut Full).expect_err("full");
    assert_eq!(error.to_string(), "content store error: the disk is full");
    assert!(!error.is_limit());
    assert_eq!(pack.finish()?, encode(&[hi()], EncodeOptions::default())?);
    Ok(())
}

fn largest() -> Vec<u8> {
    vec![0; usize::try_from(limits::BODY_DECOMPRESSED_BYTES_MAX).expect("a small number")]
}

#[test]
fn reference_over_the_body_limit_is_rejected() {
    let mut store = MemoryContentStore::default();
    let mut body = largest();
    body.push(0);
    let error = PackWriter::default()
        .add_reference(&Block::raw(0x42, body), &mut store)
        .expect_err("one byte too many");
    let expected =
        "referenced block exceeds BODY_DECOMPRESSED_BYTES_MAX: got 16777217, maximum 16777216";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn references_over_the_total_limit_are_rejected() -> Result<(), Error> {
    let mut store = MemoryContentStore::default();
    let mut pack = PackWriter::default();
    let block = Block::raw(0x42, largest());
    for _ in 0..16 {
        pack.add_reference(&block, &mut store)?;
    }
    let error = pack.add_reference(&hi(), &mut store).expect_err("256 MiB are there");
    let expected = "pack exceeds TOTAL_DECOMPRESSED_BYTES_MAX: got 268435464, maximum 268435456";
    assert_eq!(error.to_string(), expected);
    let bytes = pack.finish()?;
    let options = DecodeOptions { store: Some(&store), ..DecodeOptions::default() };
    for block in lcp_decoder::blocks(&bytes, options) {
        assert!(block.is_ok(), "what is written is read");
    }
    Ok(())
}

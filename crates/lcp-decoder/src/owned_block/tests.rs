use lcp_encoder::{EncodeOptions, encode};
use lcp_testkit::any_block;
use lcp_types::Lang;
use proptest::prelude::*;

use super::*;
use crate::decode;

/// Decodes the block of a pack. The pack takes the place of a body, because the block borrows from
/// both in the same way.
fn read(pack: &[u8]) -> Result<Block<'_>> {
    Ok(decode(pack, crate::DecodeOptions::default())?.blocks.remove(0))
}

fn encoded(block: &Block<'_>) -> Vec<u8> {
    encode(std::slice::from_ref(block), EncodeOptions::default()).expect("it fits")
}

proptest! {
    #[test]
    fn take_apart_round_trips_any_block(block in any_block()) {
        prop_assert_eq!(take_apart(encoded(&block), read).expect("it was written"), block);
    }
}

#[test]
fn take_apart_preserves_long_and_empty_content() {
    let lines = (0..100_000_u32).flat_map(u32::to_be_bytes).collect::<Vec<_>>();
    let long = Block::code(Lang::Rust, "", lines).with_summary("");
    assert_eq!(take_apart(encoded(&long), read).expect("it was written"), long);
    let empty = Block::code(Lang::Rust, "", "").with_summary("");
    assert_eq!(take_apart(encoded(&empty), read).expect("it was written"), empty);
}

#[test]
fn content_outside_the_body_is_unchanged() {
    let elsewhere = || Block::code(Lang::Rust, "a.rs", "fn a() {}");
    let block = take_apart(vec![0; 100], |_| Ok(elsewhere())).expect("nothing is read");
    assert_eq!(block, elsewhere());
}

#[test]
fn split_off_releases_excess_capacity() {
    let mut body = vec![1; 1 << 20];
    let piece = split_off(&mut body, 1 << 10);
    assert_eq!((piece.len(), body.len()), ((1 << 20) - (1 << 10), 1 << 10));
    assert!(body.capacity() < (1 << 10) + (1 << 15), "{}", body.capacity());
    assert_eq!(piece.capacity(), piece.len());
}

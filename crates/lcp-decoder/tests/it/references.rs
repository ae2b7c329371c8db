//! Bodies that are stored elsewhere.

use std::borrow::Cow;

use expect_test::expect;
use lcp_decoder::{DecodeOptions, decode};
use lcp_types::{Block, ContentHash, ContentStore, MemoryContentStore, Role, StoreError};

use crate::support::{bytes, check, check_with, frame, hi, number, pack};

const REFERENCE: u8 = 0b100;
const SUMMARY: u8 = 0b001;
const COMPRESSED: u8 = 0b010;

/// A store that holds `body`, and the hash that names it.
fn store_of(body: &[u8]) -> (MemoryContentStore, ContentHash) {
    let mut store = MemoryContentStore::default();
    let hash = *blake3::hash(body).as_bytes();
    store.put(hash, body).expect("memory takes it");
    (store, hash)
}

fn with(store: &dyn ContentStore) -> DecodeOptions<'_> {
    DecodeOptions { store: Some(store), ..DecodeOptions::default() }
}

fn hi_body() -> Vec<u8> {
    [number(1, 2), bytes(2, "hi")].concat()
}

#[test]
fn reference_resolves_to_its_block() {
    let (store, hash) = store_of(&hi_body());
    let input = pack(&[hi(), frame(2, REFERENCE, hash)]);
    let pack = decode(&input, with(&store)).expect("it is in the store");
    let hi = Block::conversation(Role::User, "hi");
    assert_eq!(pack.blocks, [hi.clone(), hi]);
}

#[test]
fn stored_body_includes_the_summary() {
    let (store, hash) = store_of(&[b"\x01S".to_vec(), hi_body()].concat());
    let input = pack(&[frame(2, REFERENCE | SUMMARY, hash)]);
    let pack = decode(&input, with(&store)).expect("it is in the store");
    assert_eq!(pack.blocks, [Block::conversation(Role::User, "hi").with_summary("S")]);
}

#[test]
fn reference_without_store_is_an_error() {
    let (_, hash) = store_of(&hi_body());
    check(
        &pack(&[hi(), frame(2, REFERENCE, hash)]),
        &expect![[r#"
        no_store: cannot resolve a content reference without a content store (block 1, byte 22)
    "#]],
    );
}

#[test]
fn unresolved_reference_is_an_error() {
    let input = pack(&[frame(2, REFERENCE, [7; 32])]);
    check_with(
        &input,
        with(&MemoryContentStore::default()),
        &expect![[r#"
        unresolved_reference: referenced content is not in the content store (block 0, byte 11)
    "#]],
    );
}

#[test]
fn wrong_content_from_store_is_a_hash_mismatch() {
    let mut store = MemoryContentStore::default();
    let hash = *blake3::hash(&hi_body()).as_bytes();
    store.put(hash, b"something else").expect("memory takes it");
    check_with(
        &pack(&[frame(2, REFERENCE, hash)]),
        with(&store),
        &expect![[r#"
        hash_mismatch: content from the store does not match the hash of the reference (block 0, byte 11)
    "#]],
    );
}

struct Broken;

impl ContentStore for Broken {
    fn get(&self, _: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        let message = "no connection".into();
        Err(StoreError { message })
    }

    fn put(&mut self, _: ContentHash, _: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }
}

#[test]
fn store_failure_is_an_error() {
    check_with(
        &pack(&[frame(2, REFERENCE, [7; 32])]),
        with(&Broken),
        &expect![[r#"
        store: content store error: no connection (block 0, byte 11)
    "#]],
    );
}

#[test]
fn malformed_reference_is_an_error() {
    let (store, hash) = store_of(&hi_body());
    let check = |body: &[u8], flags, expected| {
        check_with(&pack(&[frame(2, flags, body)]), with(&store), expected);
    };
    check(
        &hash[..31],
        REFERENCE,
        &expect![[r#"
        bad_reference: reference must be an uncompressed 32-byte hash (block 0, byte 11)
    "#]],
    );
    check(
        &[&hash[..], &[0]].concat(),
        REFERENCE,
        &expect![[r#"
        bad_reference: reference must be an uncompressed 32-byte hash (block 0, byte 11)
    "#]],
    );
    check(
        &[],
        REFERENCE,
        &expect![[r#"
        bad_reference: reference must be an uncompressed 32-byte hash (block 0, byte 11)
    "#]],
    );
    check(
        &hash,
        REFERENCE | COMPRESSED,
        &expect![[r#"
        bad_reference: reference must be an uncompressed 32-byte hash (block 0, byte 11)
    "#]],
    );
}

/// The place is that of the hash in the pack, and the byte in what it names.
#[test]
fn malformed_stored_body_is_an_error() {
    let (store, hash) = store_of(&[number(1, 2), bytes(3, b"ab\xFF")].concat());
    check_with(
        &pack(&[hi(), frame(2, REFERENCE, hash)]),
        with(&store),
        &expect![[r#"
        not_utf8: tool_call_id is not UTF-8 (block 1, byte 22, byte 8 of the body)
    "#]],
    );
}

#[test]
fn stored_bodies_count_as_decompressed_bytes() {
    let (store, hash) = store_of(&hi_body());
    let input = pack(&[frame(2, REFERENCE, hash), frame(2, REFERENCE, hash)]);
    let body = DecodeOptions { body_decompressed_bytes_max: 7, ..with(&store) };
    check_with(
        &input,
        body,
        &expect![[r#"
        too_large: input exceeds BODY_DECOMPRESSED_BYTES_MAX: got 8, maximum 7 (block 0, byte 11)
    "#]],
    );
    let total = |total_decompressed_bytes_max| DecodeOptions {
        total_decompressed_bytes_max,
        ..with(&store)
    };
    decode(&input, total(16)).expect("twice eight");
    check_with(
        &input,
        total(15),
        &expect![[r#"
        too_large: input exceeds TOTAL_DECOMPRESSED_BYTES_MAX: got 16, maximum 15 (block 1, byte 46)
    "#]],
    );
}

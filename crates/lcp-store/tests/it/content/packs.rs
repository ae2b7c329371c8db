//! Packs with references: read with the store, and only then.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::PackWriter;
use lcp_store::content::{BatchStore, ContentAddressedStore, MemoryBackend, PutMode, TenantKey};
use lcp_types::{Block, ContentStore, Lang, Role};

use crate::content::support::{every_store, hash};

fn blocks() -> [Block<'static>; 3] {
    [
        Block::code(Lang::Rust, "src/main.rs", "fn main() {}\n".repeat(100)).with_summary("S"),
        Block::conversation(Role::User, "hi"),
        Block::conversation(Role::User, "hi"),
    ]
}

fn pack_into(store: &mut dyn ContentStore) -> Vec<u8> {
    let mut pack = PackWriter::default();
    for block in &blocks() {
        pack.add_reference(block, store).expect("a reference");
    }
    pack.finish().expect("a pack")
}

fn code(pack: &[u8], store: Option<&dyn ContentStore>) -> &'static str {
    let options = DecodeOptions { store, ..DecodeOptions::default() };
    decode(pack, options).expect_err("no body").code()
}

#[test]
fn pack_with_references_needs_its_store() {
    for key in [None, Some([7; 32])] {
        let empty = every_store(key);
        for (mut tested, empty) in every_store(key).into_iter().zip(empty) {
            let pack = pack_into(&mut *tested.store);
            let options = DecodeOptions { store: Some(&*tested.store), ..DecodeOptions::default() };
            let decoded = decode(&pack, options).expect(tested.kind);
            assert_eq!(decoded.blocks, blocks(), "{}", tested.kind);
            assert_eq!(code(&pack, None), "no_store", "{}", tested.kind);
            assert_eq!(code(&pack, Some(&*empty.store)), "unresolved_reference");
        }
    }
}

#[test]
fn other_tenant_cannot_resolve_pack_references() {
    let mut memory =
        ContentAddressedStore::new(MemoryBackend::default()).with_tenant(TenantKey::new([1; 32]));
    let pack = pack_into(&mut memory);
    let other = memory.clone().with_tenant(TenantKey::new([2; 32]));
    assert_eq!(code(&pack, Some(&other)), "unresolved_reference");
    let nobody = memory.with_tenant(TenantKey::new([0; 32]));
    assert_eq!(code(&pack, Some(&nobody)), "unresolved_reference");
}

#[test]
fn damaged_body_error_names_its_hash() {
    use lcp_store::content::Backend;

    let mut pack = PackWriter::default();
    let mut store = ContentAddressedStore::new(MemoryBackend::default());
    pack.add_reference(&Block::conversation(Role::User, "hi"), &mut store).expect("a reference");
    let pack = pack.finish().expect("a pack");
    let hash = hash(b"\x01\0\x02\x02\x01\x02hi");
    assert_eq!(store.has_many(&[hash]), Ok(vec![true]), "role user, content of two bytes");

    let mut memory = MemoryBackend::default();
    memory.put(&[(hash, b"something else")], PutMode::Keep).expect("memory");
    let damaged = ContentAddressedStore::new(memory);
    let options = DecodeOptions { store: Some(&damaged), ..DecodeOptions::default() };
    let error = decode(&pack, options).expect_err("damaged");
    assert_eq!(error.code(), "store");
    assert!(error.to_string().contains(&blake3::Hash::from_bytes(hash).to_string()), "{error}");
}

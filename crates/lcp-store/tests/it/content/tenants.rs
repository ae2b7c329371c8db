//! What one tenant put, another cannot find.

use lcp_store::content::{
    Backend, BatchStore, ContentAddressedStore, MemoryBackend, PutMode, TenantKey,
};

use crate::content::support::{every_store, hash};

#[test]
fn tenant_reads_its_own_bodies() {
    for mut tested in every_store(Some([1; 32])) {
        let hashes = tested.store.put_many(&[b"mine"]).expect(tested.kind);
        assert_eq!(hashes, [hash(b"mine")], "the hash stays that of the body");
        assert_eq!(tested.store.get_many(&hashes), Ok(vec![Some(b"mine".to_vec())]));
    }
}

/// The memory behind a store of the tenant with this key, that has `mine`.
fn memory_of(key: [u8; 32]) -> MemoryBackend {
    let mut memory = MemoryBackend::default();
    let name = *blake3::keyed_hash(&key, &hash(b"mine")).as_bytes();
    memory.put(&[(name, b"mine")], PutMode::Keep).expect("memory");
    memory
}

#[test]
fn stored_name_is_keyed_hash_of_body_hash() {
    let store = ContentAddressedStore::new(memory_of([1; 32])).with_tenant(TenantKey::new([1; 32]));
    assert_eq!(store.get_many(&[hash(b"mine")]), Ok(vec![Some(b"mine".to_vec())]));
}

#[test]
fn other_tenants_cannot_read_bodies() {
    let other = ContentAddressedStore::new(memory_of([1; 32])).with_tenant(TenantKey::new([2; 32]));
    assert_eq!(other.has_many(&[hash(b"mine")]), Ok(vec![false]));
    assert_eq!(other.get_many(&[hash(b"mine")]), Ok(vec![None]));
    let nobody = ContentAddressedStore::new(memory_of([1; 32]));
    assert_eq!(nobody.has_many(&[hash(b"mine")]), Ok(vec![false]));
    // Who knows the name, but not the key, is given no body either.
    let name = *blake3::keyed_hash(&[1; 32], &hash(b"mine")).as_bytes();
    nobody.get_many(&[name]).expect_err("it is not the hash of the body");
}

#[test]
fn debug_hides_the_tenant_key() {
    let key = TenantKey::new([0xAB; 32]);
    assert_eq!(format!("{key:?}"), "TenantKey(..)");
    let store =
        format!("{:?}", ContentAddressedStore::new(MemoryBackend::default()).with_tenant(key));
    assert!(!store.contains("171") && !store.to_lowercase().contains("abab"), "{store}");
}

#[cfg(feature = "content-sqlite")]
#[test]
fn tenants_in_one_file_are_isolated() {
    use crate::content::support::{folder, quick_sqlite};

    let folder = folder();
    let path = folder.path().join("bodies.db");
    let tenant = |key| quick_sqlite(&path).with_tenant(TenantKey::new(key));
    let (mut first, second) = (tenant([1; 32]), tenant([2; 32]));
    first.put_many(&[b"mine"]).expect("a put");
    assert_eq!(second.has_many(&[hash(b"mine")]), Ok(vec![false]));
    drop((first, second));
    let file = std::fs::read(&path).expect("the file");
    let hash = hash(b"mine");
    assert!(!file.windows(hash.len()).any(|bytes| bytes == hash), "the hash is not in the file");
}

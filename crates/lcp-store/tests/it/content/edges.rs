//! The smallest and largest bodies, batches with gaps and copies, wrong hashes.

use lcp_store::content::{BODY_BYTES_MAX, BatchStore, ContentAddressedStore, Error, MemoryBackend};

use crate::content::support::{every_store, hash, noise};

fn largest() -> usize {
    usize::try_from(BODY_BYTES_MAX).expect("16 MiB")
}

#[test]
fn empty_body_is_stored() {
    for mut tested in every_store(None) {
        let hashes = tested.store.put_many(&[b""]).expect(tested.kind);
        assert_eq!(hashes, [hash(b"")], "{}", tested.kind);
        assert_eq!(tested.store.get_many(&hashes), Ok(vec![Some(vec![])]), "{}", tested.kind);
    }
}

#[test]
fn empty_batch_gives_empty_results() {
    for mut tested in every_store(None) {
        assert_eq!(tested.store.put_many(&[]), Ok(vec![]), "{}", tested.kind);
        assert_eq!(tested.store.get_many(&[]), Ok(vec![]), "{}", tested.kind);
        assert_eq!(tested.store.has_many(&[]), Ok(vec![]), "{}", tested.kind);
    }
}

#[test]
fn body_at_the_limit_is_stored() {
    let (zeros, noise) = (vec![0; largest()], noise(1, largest()));
    for mut tested in every_store(None) {
        let hashes = tested.store.put_many(&[&zeros, &noise]).expect(tested.kind);
        let bodies = tested.store.get_many(&hashes).expect(tested.kind);
        assert!(bodies == [Some(zeros.clone()), Some(noise.clone())], "{}", tested.kind);
    }
}

#[test]
fn body_beyond_the_limit_is_rejected() {
    let body = vec![0; largest() + 1];
    for mut tested in every_store(None) {
        let error = tested.store.put_many(&[b"small", &body]).expect_err(tested.kind);
        let expected =
            "body exceeds BODY_DECOMPRESSED_BYTES_MAX: got 16777217 bytes, maximum 16777216";
        assert_eq!(error.to_string(), expected, "{}", tested.kind);
        assert_eq!(tested.store.has_many(&[hash(b"small")]), Ok(vec![false]), "{}", tested.kind);
        let error = tested.store.put(hash(&body), &body).expect_err(tested.kind);
        assert_eq!(error.message, expected, "{}", tested.kind);
    }
}

#[test]
fn duplicate_bodies_in_a_batch_are_accepted() {
    for mut tested in every_store(None) {
        let hashes = tested.store.put_many(&[b"a", b"b", b"a", b"a"]).expect(tested.kind);
        assert_eq!(hashes, [hash(b"a"), hash(b"b"), hash(b"a"), hash(b"a")], "{}", tested.kind);
        let bodies = tested.store.get_many(&hashes).expect(tested.kind);
        assert_eq!(bodies.concat_known(), b"abaa", "{}", tested.kind);
    }
}

#[test]
fn batch_with_missing_bodies_preserves_order() {
    let bodies: Vec<_> = (0..100).map(|seed| noise(seed, 300)).collect();
    let even: Vec<_> = bodies.iter().step_by(2).map(Vec::as_slice).collect();
    let hashes: Vec<_> = bodies.iter().rev().map(|body| hash(body)).collect();
    let expected: Vec<_> = bodies
        .iter()
        .enumerate()
        .rev()
        .map(|(number, body)| (number % 2 == 0).then(|| body.clone()))
        .collect();
    for mut tested in every_store(None) {
        tested.store.put_many(&even).expect(tested.kind);
        assert_eq!(tested.store.get_many(&hashes).expect(tested.kind), expected, "{}", tested.kind);
        let has = tested.store.has_many(&hashes).expect(tested.kind);
        assert!(has.iter().zip(&expected).all(|(has, body)| *has == body.is_some()));
    }
}

#[test]
fn put_with_wrong_hash_is_rejected() {
    let (given, actual) = (hash(b"b"), hash(b"a"));
    let expected = Error::WrongHash { given, actual };
    for mut tested in every_store(None) {
        let error = tested.store.put(given, b"a").expect_err(tested.kind);
        assert_eq!(error.message, expected.to_string(), "{}", tested.kind);
        assert_eq!(tested.store.has_many(&[given, actual]), Ok(vec![false; 2]), "{}", tested.kind);
    }
}

#[test]
fn memory_store_debug_hides_bodies() {
    let mut store = ContentAddressedStore::new(MemoryBackend::default());
    store.put_many(&[b"secret", b"another"]).expect("memory");
    assert_eq!(
        format!("{store:?}"),
        "ContentAddressedStore { backend: MemoryBackend { bodies: 2 }, tenant: None }"
    );
}

trait Known {
    /// The bodies that are there, one after the other.
    fn concat_known(self) -> Vec<u8>;
}

impl Known for Vec<Option<Vec<u8>>> {
    fn concat_known(self) -> Vec<u8> {
        self.into_iter().flatten().flatten().collect()
    }
}

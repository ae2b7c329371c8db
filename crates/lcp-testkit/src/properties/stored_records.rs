//! Records from stores and files next to packs, read from untrusted bytes.

use lcp_continuity::store::StoredMessage;
use lcp_continuity::{SessionHandoff, Timestamp};
use lcp_driver::prompt_cache::PreviousPlan;
use lcp_packfile::journal::{Journal, rolled_back};
use lcp_store::content::{Backend, BodyKey, ContentAddressedStore, Lookup, PutMode, Result};
use lcp_types::ContentStore;

/// Checks that accepted records survive a round trip, and that a body with a wrong hash is
/// detected.
pub fn stored_records(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    match choice & 7 {
        0 | 1 => handoff(bytes),
        2 => message(bytes),
        3 | 4 => saved_plan(bytes),
        5 | 6 => journal(bytes),
        _ => body(bytes),
    }
}

fn handoff(bytes: &[u8]) {
    let Ok(handoff) = SessionHandoff::from_pack(bytes) else { return };
    // The hand-off of a foreign pack may exceed the limits of the encoder.
    let Ok(pack) = handoff.to_pack() else { return };
    let again = SessionHandoff::from_pack(&pack).expect("as written");
    assert_eq!(again.to_pack().as_ref().ok(), Some(&pack));
}

fn message(bytes: &[u8]) {
    let body = bytes.to_vec();
    let stored = StoredMessage { position: 0, epoch: 0, body, tokens: 0, recorded: Timestamp(0) };
    let Ok(message) = stored.message() else { return };
    assert!(!message.block.content.is_metadata());
}

fn saved_plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(plan) = PreviousPlan::from_json(text) else { return };
    let json = plan.to_json();
    assert_eq!(PreviousPlan::from_json(&json).expect("as written").to_json(), json);
}

/// Checks a pack and its journal, whose checksum is correct and whose content may be anything.
fn journal(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    let (pack, beside) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let mut sealed = beside.to_vec();
    sealed.extend_from_slice(&crc32c::crc32c(beside).to_le_bytes());
    if let Some(journal) = Journal::from_bytes(&sealed) {
        assert_eq!(Journal::from_bytes(&journal.to_bytes()), Some(journal));
    }
    let (before, _) = rolled_back(pack.to_vec(), Some(&sealed));
    assert!(before.len() <= pack.len() + sealed.len());
    // A correct journal restores the old pack.
    if let Some(journal) = Journal::new(pack, cut.into(), bytes.len() as u64).unwrap() {
        let new = [pack.get(..cut.into()).unwrap_or_default(), beside].concat();
        if journal.is_of_pack(&new) {
            assert_eq!(journal.restore(new), pack);
        }
    }
}

/// A store backend that returns the same bytes for every key.
struct FixedBackend<'b>(&'b [u8]);

impl Backend for FixedBackend<'_> {
    fn contains(&self, keys: &[BodyKey]) -> Result<Vec<bool>> {
        Ok(vec![true; keys.len()])
    }

    fn get(&self, keys: &[BodyKey]) -> Result<Vec<Lookup>> {
        Ok(vec![Lookup::Body(self.0.to_vec()); keys.len()])
    }

    fn put(&mut self, _: &[(BodyKey, &[u8])], _: PutMode) -> Result<()> {
        Ok(())
    }
}

fn body(bytes: &[u8]) {
    let Some((hash, body)) = bytes.split_first_chunk() else { return };
    let store = ContentAddressedStore::new(FixedBackend(body));
    let given = store.get(hash);
    let is_right = blake3::hash(body).as_bytes() == hash;
    assert_eq!(given.is_ok_and(|given| given.is_some()), is_right);
}

//! Packs that are kept in memory, by their ids.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault::{Fault, Outcome};

/// Packs that are kept at most.
pub(super) const PACKS_MAX: usize = 64;

/// Bytes that they may have together.
pub(super) const PACKS_BYTES_MAX: usize = 256 << 20;

/// What the address of a pack begins with.
pub(super) const ADDRESS: &str = "lcp://pack/";

/// Hex digits of an id.
const ID_DIGITS: usize = 16;

/// A pack that is kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// The first digits of its hash.
    pub(super) id: String,
    /// What it was made of, for people.
    pub(super) title: String,
    /// The pack.
    pub(super) bytes: Arc<[u8]>,
}

impl Kept {
    /// Its address as a resource.
    pub(super) fn address(&self) -> String {
        format!("{ADDRESS}{}", self.id)
    }
}

/// Packs, the newest last. Of too many the oldest go.
#[derive(Debug)]
pub(super) struct Packs {
    kept: Mutex<VecDeque<Kept>>,
    count: usize,
    bytes: usize,
}

impl Default for Packs {
    fn default() -> Self {
        Self::within(PACKS_MAX, PACKS_BYTES_MAX)
    }
}

impl Packs {
    fn within(count: usize, bytes: usize) -> Self {
        Self { kept: Mutex::default(), count, bytes }
    }

    /// Keeps a pack, as the newest.
    pub(super) fn keep(&self, title: String, bytes: Vec<u8>) -> Outcome<Kept> {
        if bytes.len() > self.bytes {
            let message = format!("the pack has more than {} bytes", self.bytes);
            return Err(Fault::limit(message).hint("pack less, or use `lcp pack`"));
        }
        let mut id = blake3::hash(&bytes).to_hex().to_string();
        id.truncate(ID_DIGITS);
        let new = Kept { id, title, bytes: bytes.into() };
        let mut kept = self.locked();
        kept.retain(|old| old.id != new.id);
        kept.push_back(new.clone());
        let mut total: usize = kept.iter().map(|kept| kept.bytes.len()).sum();
        while kept.len() > self.count || total > self.bytes {
            let Some(oldest) = kept.pop_front() else { break };
            total -= oldest.bytes.len();
        }
        Ok(new)
    }

    /// The pack of this id.
    pub(super) fn find(&self, id: &str) -> Option<Kept> {
        self.locked().iter().find(|kept| kept.id == id).cloned()
    }

    /// All of them, the newest first.
    pub(super) fn all(&self) -> Vec<Kept> {
        self.locked().iter().rev().cloned().collect()
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether this is the id of a pack, or could be.
pub(super) fn is_id(said: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    said.len() == ID_DIGITS && said.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(packs: &Packs) -> Vec<String> {
        packs.all().into_iter().map(|kept| kept.title).collect()
    }

    #[test]
    fn the_oldest_go() {
        let packs = Packs::within(2, 10);
        let keep = |title: &str, bytes: &[u8]| packs.keep(title.into(), bytes.to_vec());
        let first = keep("a", b"1").unwrap();
        assert!(is_id(&first.id));
        keep("b", b"2").unwrap();
        // What is made again is new.
        assert_eq!(keep("c", b"1").unwrap().id, first.id);
        assert_eq!(titles(&packs), ["c", "b"]);
        keep("d", b"3").unwrap();
        assert_eq!(titles(&packs), ["d", "c"]);
        keep("e", b"123456789").unwrap();
        assert_eq!(titles(&packs), ["e", "d"]);
        keep("f", b"1234567890").unwrap();
        assert_eq!(titles(&packs), ["f"]);
        assert_eq!(keep("g", b"12345678901").unwrap_err().code, "limit");
        assert!(packs.find(&first.id).is_none());
    }

    #[test]
    fn ids_are_digits() {
        for no in
            ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdefa", "../../../../etc/"]
        {
            assert!(!is_id(no), "{no}");
        }
    }
}

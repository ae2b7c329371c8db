//! Eviction of packs.

use super::*;

fn titles(packs: &PackCache) -> Vec<String> {
    packs.list().into_iter().map(|pack| pack.title).collect()
}

#[test]
fn oldest_packs_are_evicted() {
    let packs = PackCache::with_limits(2, 10);
    let keep = |title: &str, bytes: &[u8]| packs.insert(title.into(), bytes.to_vec());
    let first = keep("a", b"1").unwrap();
    assert!(is_id(&first.id));
    keep("b", b"2").unwrap();
    // A pack that is added again is the newest.
    assert_eq!(keep("c", b"1").unwrap().id, first.id);
    assert_eq!(titles(&packs), ["c", "b"]);
    keep("d", b"3").unwrap();
    assert_eq!(titles(&packs), ["d", "c"]);
    keep("e", b"123456789").unwrap();
    assert_eq!(titles(&packs), ["e", "d"]);
    keep("f", b"1234567890").unwrap();
    assert_eq!(titles(&packs), ["f"]);
    assert_eq!(keep("g", b"12345678901").unwrap_err().code, "limit");
    assert!(packs.get(&first.id).is_none());
}

#[test]
fn malformed_ids_are_rejected() {
    for no in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdefa", "../../../../etc/"] {
        assert!(!is_id(no), "{no}");
    }
}

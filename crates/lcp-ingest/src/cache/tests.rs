//! Tests of damaged files and of the removal of old answers.

use super::*;

#[test]
fn cache_returns_stored_answers_but_not_damaged_ones() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("a/b"), 100);
    let key = Cache::key(&[b"cmd", b"path", b"text"]);
    assert_eq!(cache.get(&key), None);
    cache.put(&key, b"An answer.\nTwo lines.");
    assert_eq!(cache.get(&key).as_deref(), Some(&b"An answer.\nTwo lines."[..]));
    let path = cache.folder.join(&key);
    let bytes = std::fs::read(&path).unwrap();
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert_eq!(cache.get(&key), None, "cut at {cut}");
    }
}

#[test]
fn key_separates_its_parts() {
    assert_ne!(Cache::key(&[b"ab", b"c"]), Cache::key(&[b"a", b"bc"]));
    assert!(is_key(&Cache::key(&[])));
}

#[test]
fn shrink_removes_only_the_oldest_cache_files() {
    let folder = tempfile::tempdir().unwrap();
    let keys = ["1", "2", "3", "4"].map(|part| Cache::key(&[part.as_bytes()]));
    for (age, key) in keys.iter().enumerate() {
        let path = folder.path().join(key);
        std::fs::write(&path, [0; 100]).unwrap();
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(age as u64);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let mine = blake3::hash(b"mine").to_string();
    std::fs::write(folder.path().join(&mine), [0; 1000]).unwrap();
    let left = || keys.clone().map(|key| folder.path().join(key).exists());
    shrink(folder.path(), 400);
    assert_eq!(left(), [true; 4]);
    shrink(folder.path(), 399);
    assert_eq!(left(), [false, false, false, true]);
    assert!(folder.path().join(mine).exists());
}

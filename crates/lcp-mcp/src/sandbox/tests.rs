//! Paths inside and outside of the roots.

use super::*;

fn roots() -> (tempfile::TempDir, Roots) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("a")).unwrap();
    std::fs::write(root.join("a/b"), "inside").unwrap();
    std::fs::write(folder.path().join("secret"), "outside").unwrap();
    std::fs::create_dir(folder.path().join("root2")).unwrap();
    std::fs::write(folder.path().join("root2/c"), "outside").unwrap();
    let roots = Roots::new(&[root]).unwrap();
    (folder, roots)
}

#[test]
fn files_below_a_root_are_read() {
    let (folder, roots) = roots();
    let full = folder.path().join("root/a/b").display().to_string();
    for given in ["a/b", "./a/./b", "a//b", &full] {
        assert_eq!(roots.read(given, 6).unwrap(), b"inside", "{given}");
    }
    assert_eq!(roots.resolve(".").unwrap().below, Path::new(""));
    assert_eq!(roots.read("a/b", 5).unwrap_err().code, "limit");
    assert_eq!(roots.read("a", 5).unwrap_err().code, "usage");
    assert_eq!(roots.read("a/c", 5).unwrap_err().code, "io");
    assert_eq!(roots.read("a/b/c", 5).unwrap_err().code, "io");
}

#[test]
fn interrupted_append_is_rolled_back_in_memory() {
    let (folder, roots) = roots();
    let pack = folder.path().join("root/pack.lcp");
    let (old, new) = (b"LCP\0\x01\0\x02\0kept, old", b"LCP\0\x01\0\x02\0kept, and new");
    let journal_state = |given: &str| roots.read_with_journal(given, 99).unwrap().1;
    let journal =
        journal::Journal::new(&old[..], 12, new.len() as u64).unwrap().unwrap().to_bytes();
    std::fs::write(&pack, new).unwrap();
    assert_eq!(roots.read("pack.lcp", 21).unwrap(), new);
    assert_eq!(roots.read("pack.lcp", 20).unwrap_err().code, "limit");
    std::fs::write(journal::journal_path(&pack), &journal).unwrap();
    assert_eq!(roots.read("pack.lcp", 99).unwrap(), old);
    assert_eq!(journal_state("pack.lcp"), JournalState::RolledBack);
    std::fs::write(journal::journal_path(&pack), &journal[1..]).unwrap();
    assert_eq!(roots.read("pack.lcp", 99).unwrap(), new);
    assert_eq!(journal_state("pack.lcp"), JournalState::Unknown);
}

#[test]
fn paths_outside_the_roots_are_refused() {
    let (folder, roots) = roots();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let outside = [at("secret"), at("nothing"), at("root2/c"), "/".into(), "/etc/passwd".into()];
    let up = ["..", "../secret", "a/../../secret", "a/../a/b", "./..", "a/.."];
    for given in outside.into_iter().chain(up.map(str::to_owned)) {
        assert_eq!(roots.resolve(&given).unwrap_err().code, REFUSED, "{given}");
    }
    for given in ["", "a\0b"] {
        assert_eq!(roots.resolve(given).unwrap_err().code, "usage");
    }
}

#[cfg(unix)]
#[test]
fn links_outside_the_roots_are_refused() {
    use std::os::unix::fs::symlink;

    let (folder, roots) = roots();
    let at = |name: &str| folder.path().join("root").join(name);
    symlink(folder.path().join("secret"), at("file")).unwrap();
    symlink(folder.path(), at("folder")).unwrap();
    symlink("a", at("fine")).unwrap();
    symlink("loop", at("loop")).unwrap();
    for given in ["file", "folder", "folder/secret", "folder/root2/c"] {
        assert_eq!(roots.resolve(given).unwrap_err().code, REFUSED, "{given}");
    }
    assert_eq!(roots.read("fine/b", 6).unwrap(), b"inside");
    assert_eq!(roots.resolve("loop").unwrap_err().code, "io");
}

#[cfg(unix)]
#[test]
fn link_created_after_the_check_is_not_followed() {
    use std::os::unix::fs::symlink;

    let (folder, roots) = roots();
    let resolved = roots.resolve("a/b").unwrap().path();
    let swapped = folder.path().join("root/a");
    std::fs::rename(&swapped, folder.path().join("root/old")).unwrap();
    std::fs::create_dir(folder.path().join("evil")).unwrap();
    std::fs::write(folder.path().join("evil/b"), "outside").unwrap();
    symlink(folder.path().join("evil"), &swapped).unwrap();
    assert!(roots.open(&resolved).is_err());
    // A folder that replaces the root is not read either.
    std::fs::remove_file(&swapped).unwrap();
    std::fs::rename(folder.path().join("root"), folder.path().join("was")).unwrap();
    std::fs::create_dir_all(folder.path().join("root/a")).unwrap();
    std::fs::write(&resolved, "outside").unwrap();
    assert!(roots.open(&resolved).is_err());
}

//! The file, pipe or standard output that gets the pack.

use super::{Folder, blocks, decoded, labels};
use crate::command::{LCP, stderr};

/// The names of all files in the folder.
fn names(folder: &Folder) -> Vec<String> {
    let names = std::fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The tree has other files than expected, because a pack is only found when it is read.
#[test]
fn file_and_standard_output_get_the_same_pack() {
    let folder = Folder::new(&[("a.rs", "a"), ("b.rs", "b")]);
    let pack = folder.run(&["-o", "c.lcp"]);
    assert!(pack.status.success(), "{}", stderr(&pack));
    // The temporary file of the pack is next to it, and is not packed.
    for flags in [&["--hidden"][..], &["--hidden", "--compress", "block"], &["--no-index"]] {
        let printed = folder.run(flags);
        assert_eq!(labels(&blocks(&printed)), ["rust a.rs", "rust b.rs"]);
        let written = folder.run(&[flags, &["-o", "d.pack"]].concat());
        assert!(written.status.success(), "{}", stderr(&written));
        assert_eq!(std::fs::read(folder.path("d.pack")).unwrap(), printed.stdout, "{flags:?}");
        assert_eq!(names(&folder), ["a.rs", "b.rs", "c.lcp", "d.pack"]);
        std::fs::remove_file(folder.path("d.pack")).unwrap();
    }
}

#[test]
fn failed_pack_leaves_the_old_one_and_no_temporary_file() {
    let folder = Folder::new(&[("a.rs", "a"), ("old", "old")]);
    folder.fails(&["a.rs", "--max-total-size", "1", "b.rs", "-o", "old"], 1, "b.rs");
    folder.fails(&["--exclude", "*", "--no-tree", "-o", "old"], 2, "no files to pack");
    assert_eq!(std::fs::read_to_string(folder.path("old")).unwrap(), "old");
    assert_eq!(names(&folder), ["a.rs", "old"]);
}

/// A pipe cannot be replaced, so the pack is copied to it.
#[cfg(unix)]
#[test]
fn pipe_gets_the_pack() {
    let folder = Folder::new(&[("a.rs", "a")]);
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap());
    assert!(folder.run(&["a.rs", "-o", "pipe"]).status.success());
    assert_eq!(labels(&decoded(&reader.join().unwrap())), ["rust a.rs"]);
    assert_eq!(names(&folder), ["a.rs", "pipe"]);
}

/// Ctrl-C while a file is summarized.
#[cfg(unix)]
#[test]
fn interrupted_pack_leaves_no_temporary_file() {
    let folder = Folder::new(&[("a.rs", "fn a() {}\n")]);
    let slow = ["pack", "--no-config", "-o", "a.lcp", "--summarizer-cmd", "sleep 60"];
    let mut child = LCP.command(&folder.path(""), &slow).spawn().unwrap();
    while !names(&folder)[0].starts_with(".lcp-") {
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(child.try_wait().unwrap(), None);
    }
    let number = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &number]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(&folder), ["a.rs"]);
}

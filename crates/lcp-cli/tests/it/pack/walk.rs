//! Which files are found, and what they are called.

use super::{Folder, blocks, labels, tree};
use crate::command::{LCP, stderr};

const HIDDEN: &[(&str, &str)] = &[
    (".gitignore", "*.log\n/build/\n"),
    (".ignore", "i.rs\n"),
    (".lcpignore", "l.rs\n"),
    (".hidden/h.rs", "h\n"),
    (".git/config", "g\n"),
    ("a.log", "a\n"),
    ("build/b.rs", "b\n"),
    ("i.rs", "i\n"),
    ("l.rs", "l\n"),
    ("sub/.gitignore", "!c.log\nd.rs\n"),
    ("sub/c.log", "c\n"),
    ("sub/d.rs", "d\n"),
    ("z.rs", "z\n"),
];

#[test]
fn ignore_files_apply_outside_a_repository() {
    let folder = Folder::new(&HIDDEN[..4]);
    for (name, text) in HIDDEN.iter().filter(|(name, _)| !name.starts_with(".git/")) {
        folder.write(name, text);
    }
    assert_eq!(labels(&folder.pack(&[])), ["unknown sub/c.log", "rust z.rs"]);
    let all = ["rust build/b.rs", "rust i.rs", "rust l.rs", "rust z.rs"];
    let wanted = ["--no-ignore", "--exclude", "*.log", "--exclude", "sub/"];
    assert_eq!(labels(&folder.pack(&wanted)), all);
}

#[test]
fn hidden_flag_packs_hidden_files_except_git() {
    let folder = Folder::new(HIDDEN);
    let hidden = [
        "unknown .gitignore", "rust .hidden/h.rs", "unknown .ignore", "unknown .lcpignore",
        "unknown sub/.gitignore", "unknown sub/c.log", "rust z.rs",
    ];
    assert_eq!(labels(&folder.pack(&["--hidden"])), hidden);
    assert_eq!(labels(&folder.pack(&["--hidden=off"])), ["unknown sub/c.log", "rust z.rs"]);
}

#[test]
fn explicit_path_is_packed_even_if_hidden_or_ignored() {
    let folder = Folder::new(HIDDEN);
    assert_eq!(labels(&folder.pack(&["build"])), ["rust build/b.rs"]);
    assert_eq!(labels(&folder.pack(&["a.log", ".hidden"])), ["rust .hidden/h.rs", "unknown a.log"]);
}

#[test]
fn labels_are_relative_to_the_given_paths() {
    let folder = Folder::new(&[("x/src/a.rs", "a\n"), ("x/b.rs", "b\n"), ("y/c.rs", "c\n")]);
    let of = |arguments: &[&str]| {
        let arguments = [&["pack", "--no-config", "--no-tree"], arguments].concat();
        labels(&blocks(&LCP.run_in(&folder.path("x"), &arguments, &[])))
    };
    assert_eq!(of(&["./src/../src"]), ["rust src/a.rs"]);
    assert_eq!(of(&[".."]), ["rust x/b.rs", "rust x/src/a.rs", "rust y/c.rs"]);
    assert_eq!(of(&["../y"]), ["rust c.rs"]);
    assert_eq!(of(&["../y", "src"]), ["rust src/a.rs", "rust y/c.rs"]);
    assert_eq!(of(&["../y/c.rs"]), ["rust c.rs"]);
    let absolute = folder.path("y");
    assert_eq!(of(&[absolute.to_str().unwrap()]), ["rust c.rs"]);
    assert_eq!(of(&[".", "src", "b.rs", "./b.rs"]), ["rust b.rs", "rust src/a.rs"]);
}

#[test]
fn files_with_the_same_label_are_both_packed() {
    let folder = Folder::new(&[("here/.keep", ""), ("x/s/a.rs", "1\n"), ("y/s/a.rs", "2\n")]);
    let arguments = ["pack", "--no-config", "../y/s", "../x/s"];
    let output = LCP.run_in(&folder.path("here"), &arguments, &[]);
    let said = stderr(&output);
    assert!(said.contains("1 file has the same path as another one"), "{said}");
    let blocks = blocks(&output);
    assert_eq!(labels(&blocks), ["rust s/a.rs", "rust s/a.rs"]);
    // In the order of the PATHs.
    assert_eq!(blocks[1].content.text().unwrap().as_str(), Some("2\n"));
}

#[test]
fn include_and_exclude_globs_select_files() {
    let folder = Folder::new(&[
        ("a.rs", "a\n"),
        ("b.md", "b\n"),
        ("src/c.rs", "c\n"),
        ("src/gen/d.rs", "d\n"),
    ]);
    let of = |arguments: &[&str]| labels(&folder.pack(&[&["--no-tree"], arguments].concat()));
    assert_eq!(of(&["--include", "*.rs", "--exclude", "gen"]), ["rust a.rs", "rust src/c.rs"]);
    assert_eq!(of(&["--include", "src/*.rs"]), ["rust src/c.rs"]);
    assert_eq!(of(&["--include", "src/"]), ["rust src/c.rs", "rust src/gen/d.rs"]);
    assert_eq!(of(&["--exclude", "/src/gen/**", "--exclude", "*.md", "src"]), ["rust src/c.rs"]);
    let tree = tree(&folder.pack(&["--exclude", "src"]));
    assert_eq!(tree, ["a.rs 2", "b.md 2"], "the tree has no more than was chosen");
    folder.fails(&["--exclude", "a["], 2, "invalid glob \"a[\"");
}

#[cfg(unix)]
#[test]
fn links_are_skipped_or_followed_without_loops() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new(&[("a/b.rs", "b\n"), ("c.rs", "c\n")]);
    symlink("../c.rs", folder.path("a/to_c.rs")).unwrap();
    symlink("..", folder.path("a/up")).unwrap();
    symlink("nowhere", folder.path("broken")).unwrap();
    symlink("itself", folder.path("itself")).unwrap();
    let reasons = |arguments: &[&str]| {
        let report = folder.report(arguments);
        let skipped = report["skipped"].as_array().unwrap();
        let line = |of: &serde_json::Value| {
            format!("{} {}", of["path"].as_str().unwrap(), of["reason"].as_str().unwrap())
        };
        skipped.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(labels(&folder.pack(&[])), ["rust a/b.rs", "rust c.rs"]);
    assert_eq!(reasons(&[]), ["a/to_c.rs link", "a/up link", "broken link", "itself link"]);
    let followed = ["rust a/b.rs", "rust a/to_c.rs", "rust c.rs"];
    assert_eq!(labels(&folder.pack(&["--follow"])), followed);
    assert_eq!(reasons(&["--follow"]), ["a/up loop", "broken broken_link", "itself loop"]);
    // A PATH that is a link was meant.
    assert_eq!(labels(&folder.pack(&["a/to_c.rs"])), ["rust a/to_c.rs"]);
    folder.fails(&["broken"], 1, "cannot read broken");
}

#[cfg(target_os = "linux")]
#[test]
fn non_utf8_name_is_packed_with_a_warning() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new(&[("a.rs", "a\n")]);
    std::fs::write(folder.path("").join(OsStr::from_bytes(b"\xff\n.rs")), "b\n").unwrap();
    let output = folder.run(&[]);
    assert_eq!(labels(&blocks(&output)), ["rust a.rs", "rust \u{fffd}\n.rs"]);
    let said = stderr(&output);
    assert!(said.contains(r"the name of �\n.rs is not UTF-8"), "{said}");
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_never_opened() {
    let folder = Folder::new(&[("a.rs", "a\n")]);
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    let report = folder.report(&[]);
    assert_eq!(report["totals"]["skipped_by_reason"]["special"], 2);
    assert_eq!(labels(&folder.pack(&["pipe", "a.rs"])), ["rust a.rs"]);
    folder.fails(&["pipe"], 2, "1 file left out: 1 special");
}

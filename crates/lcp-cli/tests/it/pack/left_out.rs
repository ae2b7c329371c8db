//! What has no block, and where it is told of.

use super::{Folder, blocks, labels, tree};
use crate::command::{LCP, sample, stderr};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn folder() -> Folder {
    let folder = Folder::new(&[("a.rs", "a\n"), ("empty.rs", ""), ("logo.svg", "<svg/>\n")]);
    folder.write("b.bin", b"text\0more");
    folder.write("large.rs", "x".repeat((1 << 20) + 1));
    folder.write("picture.png", PNG);
    folder.write("wrong.png", b"no picture");
    folder.write("late.rs", [&b"x".repeat(8 << 10)[..], b"\0\n"].concat());
    folder.write("latin.rs", b"// caf\xe9\n");
    folder
}

#[test]
fn skipped_files_are_listed_in_the_tree_and_counted() {
    let folder = folder();
    let output = folder.run(&[]);
    let blocks = blocks(&output);
    // A NUL behind the first 8 KiB makes no binary file, nor does what is not UTF-8.
    // SVG is text.
    assert_eq!(labels(&blocks), ["rust a.rs", "rust late.rs", "rust latin.rs", "unknown logo.svg"]);
    let lines = [
        "a.rs 2", "b.bin 9", "empty.rs 0", "large.rs 1048577", "late.rs 8194", "latin.rs 8",
        "logo.svg 7", "picture.png 16", "wrong.png 10",
    ];
    assert_eq!(tree(&blocks), lines);
    let said = "packed 4 files: 8,212 bytes, ~2,053 tokens\n\
                largest: late.rs (~2,049 tokens), latin.rs (~3 tokens), logo.svg (~2 tokens), a.rs (~1 token)\n\
                5 files left out: 1 empty, 1 binary, 2 image, 1 too large\n";
    assert_eq!(stderr(&output), said);
    assert_eq!(stderr(&folder.run(&["-q"])), "");
}

#[test]
fn named_pack_is_left_out_with_a_warning() {
    let folder = folder();
    folder.write("a.lcp", std::fs::read(sample("chat.lcp")).unwrap());
    let warning = "warning: left out a.lcp: it is a pack, and `lcp merge` joins packs\n";
    let output = folder.run(&["a.lcp", "a.rs"]);
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
}

#[test]
fn packs_in_a_folder_are_left_out_with_their_own_reason() {
    let folder = folder();
    folder.write("a.lcp", std::fs::read(sample("chat.lcp")).unwrap());
    folder.write("b.old", std::fs::read(sample("bcp.lcp")).unwrap());
    let output = folder.run(&[]);
    let left_out = "\n7 files left out: 1 empty, 1 binary, 2 pack, 2 image, 1 too large\n";
    assert!(stderr(&output).ends_with(left_out), "{}", stderr(&output));
    let listed = tree(&blocks(&output));
    assert!(
        !listed.iter().any(|line| line.contains(".lcp") || line.contains(".old")),
        "{listed:?}"
    );
}

#[test]
fn max_file_size_excludes_larger_files() {
    let folder = folder();
    let of = |size| labels(&folder.pack(&["--max-file-size", size, "--include", "*.rs"]));
    assert_eq!(of("2M"), ["rust a.rs", "rust large.rs", "rust late.rs", "rust latin.rs"]);
    assert_eq!(of("1k"), ["rust a.rs", "rust latin.rs"]);
    assert_eq!(of("2"), ["rust a.rs"]);
    folder.fails(&["--max-file-size", "2X"], 2, "expected a number of bytes");
}

#[test]
fn total_size_is_limited_and_the_largest_folders_are_named() {
    let folder = Folder::new(&[("README.md", "x"), ("a/b.rs", "b"), ("lib/c.rs", "c")]);
    folder.write("lib/large.rs", "x".repeat(5_000));
    folder.write("lib/other.rs", "x".repeat(3_000));
    // It is not packed, so it does not count.
    folder.write("a/too_large.rs", "x".repeat(1 << 20 | 1));
    folder.write("a/binary", [0; 9_000]);
    let fits = ["--max-total-size", "8003"];
    assert_eq!(labels(&folder.pack(&fits)).len(), 5);
    let says =
        "the files have more than 8002 bytes in total (max_total_size); largest folders: lib/";
    folder.fails(&["--max-total-size", "8002"], 5, says);
    folder.fails(&["--max-total-size", "8002"], 5, "raise --max-total-size");
    folder.fails(&["--max-total-size", "8002", "-o", "a.lcp"], 5, says);
    assert!(!folder.path("a.lcp").exists());
    folder.fails(&["--max-total-size", "0"], 2, "expected a number of bytes");
    folder.write("lcp.toml", "[pack]\nmax_total_size = \"4k\"\nexclude = [\"lcp.toml\"]\n");
    let run = |flags: &[&str]| LCP.run_in(&folder.path(""), &[&["pack"], flags].concat(), &[]);
    assert_eq!(run(&[]).status.code(), Some(5));
    assert!(run(&fits).status.success());
}

#[test]
fn images_flag_packs_images() {
    let folder = folder();
    let blocks = folder.pack(&["--images", "--exclude", "*.rs"]);
    assert_eq!(labels(&blocks), ["svg logo.svg", "png picture.png"]);
    let reasons = folder.report(&["--images"])["totals"]["skipped_by_reason"].clone();
    let wanted = serde_json::json!({ "binary": 2, "empty": 1, "too_large": 1 });
    assert_eq!(reasons, wanted);
}

#[cfg(unix)]
#[test]
fn unreadable_files_give_warnings_and_the_rest_is_packed() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new(&[("a.rs", "a\n"), ("locked/b.rs", "b\n")]);
    for number in 0..12 {
        folder.write(&format!("c{number:02}.rs"), "c\n");
    }
    let lock = |name: &str, mode| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    (0..12).for_each(|number| lock(&format!("c{number:02}.rs"), 0));
    lock("locked", 0);
    if std::fs::read(folder.path("c00.rs")).is_ok() {
        // Nothing is locked for this user.
        return lock("locked", 0o700);
    }
    let output = folder.run(&["-o", "out.lcp"]);
    lock("locked", 0o700);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("warning: cannot read c").count(), 10, "{said}");
    assert!(said.contains("warning: and 3 more that are unreadable"), "{said}");
    assert!(
        said.contains("error: cannot read 13 files; the pack is written without them"),
        "{said}"
    );
    let blocks = super::decoded(&std::fs::read(folder.path("out.lcp")).unwrap());
    assert_eq!(labels(&blocks), ["rust a.rs"]);
    assert_eq!(tree(&blocks).len(), 14);
    assert!(tree(&blocks).contains(&"locked/".to_owned()));
}

/// What is read to know what is left out must be a file that can be read.
#[test]
#[cfg(unix)]
fn device_link_as_ignore_file_excludes_its_folder() {
    let folder = Folder::new(&[("a.rs", "a\n"), ("sub/b.rs", "b\n"), ("linked/c.rs", "c\n")]);
    folder.write("rules", b"c.rs\n");
    std::os::unix::fs::symlink("/dev/zero", folder.path("sub/.gitignore")).unwrap();
    std::os::unix::fs::symlink("../rules", folder.path("linked/.ignore")).unwrap();
    let output = folder.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("sub/.gitignore"), "{}", stderr(&output));
    // A link to a file is somebody's own set of rules.
    let labels = labels(&super::decoded(&output.stdout));
    assert!(labels.contains(&"rust a.rs".to_owned()), "{labels:?}");
    assert!(!labels.iter().any(|label| label.ends_with("b.rs") || label.ends_with("c.rs")));
}

/// That there is nothing else to pack is not what is wrong.
#[cfg(target_os = "linux")]
#[test]
fn unreadable_single_file_exits_with_1() {
    let folder = Folder::new(&[]);
    folder.fails(&["/proc/self/mem", "--no-tree"], 1, "no files to pack");
}

#[test]
fn file_given_by_two_paths_is_packed_once() {
    let (one, other) = (Folder::new(&[("src/a.rs", "a\n")]), Folder::new(&[("src/a.rs", "b\n")]));
    let paths = [one.path("src"), other.path("src"), one.path("src/../src")];
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let arguments = [&["--no-tree"][..], &paths].concat();
    assert_eq!(labels(&one.pack(&arguments)), ["rust src/a.rs"; 2]);
}

/// They would be read for what lies below them.
#[cfg(unix)]
#[test]
fn special_ignore_file_of_a_parent_or_repository_fails() {
    let pipe = |folder: &Folder, name: &str| {
        let made = std::process::Command::new("mkfifo").arg(folder.path(name)).status().unwrap();
        assert!(made.success());
    };
    for name in [".gitignore", ".ignore", ".lcpignore"] {
        let folder = Folder::new(&[("sub/a.rs", "a\n")]);
        pipe(&folder, name);
        folder.fails(&["sub"], 1, name);
        assert_eq!(labels(&folder.pack(&["sub", "--no-ignore"])), ["rust sub/a.rs"]);
    }
    let folder = Folder::new(&[("sub/a.rs", "a\n"), (".git/info/x", "")]);
    pipe(&folder, ".git/info/exclude");
    folder.fails(&["."], 1, ".git/info/exclude");
    folder.fails(&["sub"], 1, ".git/info/exclude");
}

#[test]
fn stdin_with_the_label_of_a_file_warns() {
    let folder = Folder::new(&[("a.rs", "a\n")]);
    let output = folder.run_with(&["-", "a.rs", "--stdin-name", "a.rs"], b"other\n");
    assert_eq!(labels(&super::blocks(&output)), ["rust a.rs"; 2]);
    assert!(stderr(&output).contains("1 text has the same path as another one in the pack"));
}

#[cfg(target_os = "linux")]
#[test]
fn distinct_non_utf8_names_with_one_label_are_all_packed() {
    use std::os::unix::ffi::OsStringExt as _;
    let folder = Folder::new(&[]);
    for byte in 0x80..0x90 {
        let name = std::ffi::OsString::from_vec(vec![byte, b'.', b'r', b's']);
        std::fs::write(folder.path("").join(name), [byte & 0x0f | 0x60]).unwrap();
    }
    assert_eq!(labels(&folder.pack(&["--no-tree"])), ["rust \u{fffd}.rs"; 16]);
}

/// A rule that says nothing of any file is most likely a slip.
#[test]
fn unmatched_globs_of_flags_give_a_warning() {
    let folder = Folder::new(&[("a.rs", "a\n"), ("b.bin", "\0")]);
    let flags = ["--pin", "a.rs", "--priority", "nope.rs=low", "--category", "*.bin=x"];
    let output = folder.run(&[&flags[..], &["--include", "*", "--include", "typo/**"]].concat());
    let wanted = "no file matches --include \"typo/**\", --priority \"nope.rs\"\n";
    assert!(stderr(&output).contains(wanted), "{}", stderr(&output));
}

/// A PATH that cannot be read is called what it was called.
#[cfg(unix)]
#[test]
fn unreadable_path_is_named_as_given() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = Folder::new(&[("locked/b.rs", "b\n")]);
    let locked = folder.path("locked");
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&folder.path(""), 0o755);
    mode(&locked, 0);
    let mut command = LCP.command(&folder.path(""), &["pack", "--no-config"]);
    command.arg(&locked);
    if locked.metadata().unwrap().uid() == 0 {
        // Nothing is locked for root.
        command.uid(65_534);
    }
    let output = command.output();
    mode(&locked, 0o700);
    // Somebody else may not even run it.
    let Ok(output) = output else { return };
    let said = stderr(&output);
    // Packs hold no paths of a machine.
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    assert!(
        said.contains(&format!("cannot read {}/: Permission denied", locked.display())),
        "{said}"
    );
}

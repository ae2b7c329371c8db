//! `--since` and `--diff`, with repositories that are made here.

use lcp_types::{BlockContent, Priority};

use super::{Folder, blocks, labels, meta_of, tree};
use crate::command::{self, LCP, printed, run_with, stderr};

pub(super) fn git(folder: &Folder, arguments: &[&str]) {
    command::git(&folder.path(""), arguments);
}

/// A repository in which something of each sort has changed since `base`.
pub(super) fn repository() -> Folder {
    let folder = Folder::new(&[
        (".gitignore", "*.log\n"),
        ("Cargo.lock", "1\n"),
        ("gone.rs", "gone\n"),
        ("kept.rs", "kept\n"),
        ("sub/a.rs", "one\ntwo\nthree\n"),
        ("sub/ü \"q\".rs", "u\n"),
    ]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    git(&folder, &["tag", "base"]);
    folder.write("sub/a.rs", "one\n2\nthree\n");
    git(&folder, &["commit", "-q", "-a", "-m", "second"]);
    folder.write("Cargo.lock", "2\n");
    folder.write("sub/ü \"q\".rs", "v\n");
    folder.write("new.rs", "new\n");
    folder.write("new.log", "ignored\n");
    std::fs::remove_file(folder.path("gone.rs")).unwrap();
    folder
}

#[test]
fn since_packs_only_changed_files() {
    let folder = repository();
    let blocks = folder.pack(&["--since", "base"]);
    let wanted = ["toml Cargo.lock", "rust new.rs", "rust sub/a.rs", "rust sub/ü \"q\".rs"];
    assert_eq!(labels(&blocks), wanted);
    assert_eq!(
        tree(&blocks),
        ["Cargo.lock 2", "new.rs 4", "sub/", "sub/a.rs 12", "sub/ü \"q\".rs 2"]
    );
    assert_eq!(meta_of(&blocks, "rust sub/a.rs").priority, Priority::High);
    assert_eq!(meta_of(&blocks, "toml Cargo.lock").priority, Priority::Background);
    let blocks = folder.pack(&["--since", "HEAD", "sub"]);
    assert_eq!(labels(&blocks), ["rust sub/ü \"q\".rs"]);
    assert_eq!(labels(&folder.pack(&["--since", "base", "sub/a.rs"])), ["rust sub/a.rs"]);
    folder.fails(&["--since", "base", "kept.rs"], 2, "no file below the PATHs differs");
    let unchanged = folder.pack(&["--since", "base", "--no-default-rules"]);
    assert_eq!(meta_of(&unchanged, "rust sub/a.rs").priority, Priority::Normal);
}

#[test]
fn diff_adds_a_block_for_each_change() {
    let folder = repository();
    // What would change the text, if it were heard.
    for (key, value) in [
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("color.ui", "always"),
        ("core.pager", "false"),
        ("diff.context", "0"),
        ("core.fsmonitor", "false"),
    ] {
        git(&folder, &["config", key, value]);
    }
    let blocks = folder.pack(&["--diff=base"]);
    let diffs: Vec<_> = labels(&blocks).into_iter().filter(|of| of.starts_with("diff")).collect();
    let wanted = ["diff Cargo.lock", "diff gone.rs", "diff sub/a.rs", "diff sub/ü \"q\".rs"];
    assert_eq!(diffs, wanted);
    assert_eq!(meta_of(&blocks, "diff sub/a.rs").priority, Priority::High);
    assert_eq!(meta_of(&blocks, "rust new.rs").priority, Priority::High);
    assert_eq!(meta_of(&blocks, "rust kept.rs").priority, Priority::Normal);
    let lines = |path| {
        let diff = blocks.iter().find_map(|block| match &block.content {
            BlockContent::Diff(diff) if diff.path == path => Some(diff),
            _ => None,
        });
        diff.unwrap().hunks[0].lines.as_str().unwrap().to_owned()
    };
    assert_eq!(lines("sub/a.rs"), " one\n-two\n+2\n three\n");
    assert_eq!(lines("gone.rs"), "-gone\n");
    // HEAD, and below a folder, from elsewhere.
    let head = folder.pack(&["--diff", "sub", "--exclude", "*.rs", "--no-tree", "Cargo.lock"]);
    assert_eq!(labels(&head), ["toml Cargo.lock", "diff Cargo.lock"]);
    let sub = folder.path("sub");
    let arguments = ["pack", "--no-config", "--diff=base", "--since=HEAD", sub.to_str().unwrap()];
    let output = LCP.run_in(std::env::temp_dir().as_path(), &arguments, &[]);
    let wanted = ["rust ü \"q\".rs", "diff a.rs", "diff ü \"q\".rs"];
    assert_eq!(labels(&super::blocks(&output)), wanted);
}

/// One call for each file would take minutes for the files of a large repository.
#[cfg(unix)]
#[test]
fn git_runs_once_for_all_named_files_of_a_repository() {
    use std::os::unix::fs::PermissionsExt;

    let folder = repository();
    for number in 0..40 {
        folder.write(&format!("many/{number}.rs"), "// new\n");
    }
    let bin = tempfile::tempdir().unwrap();
    let (script, log) = (bin.path().join("git"), bin.path().join("log"));
    let text = "#!/bin/sh\necho \"$*\" >> \"$GIT_LOG\"\nPATH=${PATH#*:} exec git \"$@\"\n";
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::iter::once(bin.path().to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    let pack = |paths: &[&str]| {
        let flags = ["pack", "--no-config", "--since", "base", "--diff=base"];
        let mut command = LCP.command(&folder.path(""), &[&flags[..], paths].concat());
        let output = command.env("PATH", &path).env("GIT_LOG", &log).output().unwrap();
        blocks(&output)
    };
    let mut of_folder = labels(&pack(&["."]));
    std::fs::remove_file(&log).unwrap();
    let many: Vec<_> = (0..40).map(|number| format!("many/{number}.rs")).collect();
    let files = ["Cargo.lock", "./kept.rs", "new.rs", "sub/a.rs", "sub/../sub/ü \"q\".rs"];
    let files: Vec<_> = many.iter().map(String::as_str).chain(files).collect();
    // Only the folder has the removed file.
    of_folder.retain(|label| label != "diff gone.rs");
    assert_eq!(labels(&pack(&files)), of_folder);
    let calls = std::fs::read_to_string(&log).unwrap();
    assert!(calls.lines().count() <= 13, "{calls}");
    // The files of another repository are passed to git apart.
    folder.write("nested/b.rs", "// nested\n");
    let nested = ["init", "-q", "nested"];
    git(&folder, &nested);
    for arguments in [&["add", "-A"][..], &["commit", "-q", "-m", "b"], &["tag", "base"]] {
        git(&folder, &[&["-C", "nested"], arguments].concat());
    }
    folder.write("nested/b.rs", "// changed\n");
    let wanted = ["rust nested/b.rs", "rust sub/a.rs", "diff nested/b.rs", "diff sub/a.rs"];
    assert_eq!(labels(&pack(&["sub/a.rs", "nested/b.rs"])), wanted);
}

#[test]
fn unknown_revision_is_rejected() {
    let folder = repository();
    for revision in ["nothing", "--output=x", "-p", "", "HEAD:sub/a.rs", "a..b"] {
        let flag = format!("--since={revision}");
        folder.fails(&[&flag], 2, &format!("unknown git revision {revision:?}"));
        assert!(!folder.path("x").exists());
    }
}

#[test]
fn missing_repository_or_git_is_an_error_with_a_hint() {
    let folder = Folder::new(&[("a.rs", "a\n")]);
    folder.fails(&["--since", "HEAD"], 1, "hint: --since and --diff need a PATH in a git");
    let mut command = LCP.command(&folder.path(""), &["pack", "--no-config", "--diff"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("cannot run git")
            && message.contains("hint: install git, or omit --since, --diff and --commits")
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn renamed_files_have_their_old_path_in_the_text() {
    let folder = Folder::new(&[
        ("old name.rs", &"fn same() {}\n".repeat(30)),
        ("moved.md", &"# Same\n".repeat(30)),
        ("a.csv", &"id,name\n1,2\n".repeat(30)),
        ("kept.rs", "fn kept() {}\n"),
    ]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    for (from, to) in [("old name.rs", "new.rs"), ("moved.md", "b.md"), ("a.csv", "b.csv")] {
        git(&folder, &["mv", from, to]);
    }
    folder.write("new.rs", format!("{}fn more() {{}}\n", "fn same() {}\n".repeat(30)));
    let output = folder.run(&["--diff", "--no-tree"]);
    assert!(!stderr(&output).contains("rename"), "{}", stderr(&output));
    let wanted = [
        "csv data", "markdown b.md", "rust kept.rs", "rust new.rs", "diff b.csv", "diff b.md",
        "diff new.rs",
    ];
    assert_eq!(labels(&blocks(&output)), wanted);
    let render =
        |pack: &[u8], mode: &str| printed(&run_with(&["render", "-", "-q", "--mode", mode], pack));
    let text = render(&output.stdout, "xml");
    for head in [
        "<data format=\"csv\" path=\"b.csv\" renamed_from=\"a.csv\" priority=\"high\">",
        "<document title=\"b.md\" renamed_from=\"moved.md\" priority=\"high\">",
        "<code lang=\"rust\" path=\"new.rs\" renamed_from=\"old name.rs\" priority=\"high\">",
        "<diff path=\"b.md\" renamed_from=\"moved.md\" priority=\"high\">",
        "<diff path=\"new.rs\" renamed_from=\"old name.rs\" priority=\"high\">",
    ] {
        assert!(text.contains(head), "{head}\n{text}");
    }
    // Only the new line is in the diff.
    assert_eq!(text.matches("+fn more() {}").count(), 1);
    assert!(!text.contains("-fn same() {}") && !text.contains("+fn same() {}"), "{text}");
    let text = render(&folder.run(&["--since", "HEAD", "--no-tree"]).stdout, "minimal");
    assert!(text.contains("[code new.rs from \"old name.rs\"]"), "{text}");
    assert!(!text.contains("kept.rs"), "{text}");
}

#[test]
fn binary_changes_are_reported() {
    let folder = repository();
    folder.write("b.bin", b"\0");
    git(&folder, &["add", "-A"]);
    let output = folder.run(&["--diff"]);
    let message = stderr(&output);
    assert!(message.contains("b.bin: Binary files"), "{message}");
}

/// git names a repository within another, and nothing of what is in it.
#[test]
fn files_of_nested_repositories_count_as_changed() {
    let folder = Folder::new(&[("a.rs", "a\n"), ("sub/inner/b.rs", "b\n")]);
    git(&folder, &["-C", "sub/inner", "init", "-q"]);
    git(&folder, &["-C", "sub/inner", "add", "-A"]);
    git(&folder, &["-C", "sub/inner", "commit", "-q", "-m", "inner"]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "a.rs"]);
    git(&folder, &["commit", "-q", "-m", "outer"]);
    let packed = || labels(&folder.pack(&["--since", "HEAD", "--no-tree"]));
    assert_eq!(packed(), ["rust sub/inner/b.rs"]);
    // As a submodule of which another commit is checked out.
    let submodule = ["-c", "protocol.file.allow=always", "submodule", "-q", "add", "./sub/inner"];
    git(&folder, &[&submodule[..], &["sub/inner"]].concat());
    git(&folder, &["commit", "-q", "-a", "-m", "with a submodule"]);
    folder.fails(&["--since", "HEAD"], 2, "no file below the PATHs differs");
    folder.write("sub/inner/c.rs", "c\n");
    git(&folder, &["-C", "sub/inner", "add", "-A"]);
    git(&folder, &["-C", "sub/inner", "commit", "-q", "-m", "more"]);
    assert_eq!(packed(), ["rust sub/inner/b.rs", "rust sub/inner/c.rs"]);
}

/// Nobody knows what has changed there.
#[cfg(unix)]
#[test]
fn since_fails_for_an_unreadable_ignore_file() {
    let folder = repository();
    std::os::unix::fs::symlink("/dev/null", folder.path("sub/.gitignore")).unwrap();
    let output = folder.run(&["--since", "base"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot read sub/.gitignore"), "{}", stderr(&output));
}

#[test]
fn overlapping_paths_pack_each_change_once() {
    let (one, other) = (repository(), repository());
    other.write("sub/a.rs", "ONE\ntwo\nthree\n");
    let paths = [one.path("sub"), other.path("sub"), one.path("sub/../sub")];
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let arguments = [&["--diff=base", "--no-tree", "--include", "a.rs"][..], &paths].concat();
    let output = one.run(&arguments);
    let wanted = ["rust sub/a.rs", "rust sub/a.rs", "diff sub/a.rs", "diff sub/a.rs"];
    assert_eq!(labels(&blocks(&output)), wanted);
    let message = stderr(&output);
    assert!(message.contains("1 file has the same path as another one"), "{message}");
    assert!(message.contains("1 change has the same path as another one"), "{message}");
}

/// What a walk leaves out is not shown by its changes either.
#[test]
fn diff_omits_changes_to_ignored_files() {
    let files = [".env", "secret/k", "gone/k", "large.txt", "a.rs", "old.rs"];
    let folder = Folder::new(&files.map(|name| (name, "1\n")));
    folder.write(".lcpignore", ".env\nsecret/\n/gone\n");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A", "-f"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    for name in [".env", "secret/k", "a.rs"] {
        folder.write(name, "2\n");
    }
    folder.write("large.txt", "2\n".repeat(1000));
    std::fs::remove_file(folder.path("gone/k")).unwrap();
    std::fs::remove_file(folder.path("old.rs")).unwrap();
    let packed = |flags: &[&str]| {
        let flags = [&["--diff", "--no-tree", "--max-file-size", "1000"][..], flags].concat();
        let output = folder.run(&flags);
        let diffs = labels(&blocks(&output)).into_iter().filter(|of| of.starts_with("diff "));
        diffs.map(|of| of["diff ".len()..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(packed(&[]), ["a.rs", "old.rs"]);
    assert_eq!(packed(&["--hidden"]), ["a.rs", "old.rs"]);
    let all = [".env", "a.rs", "gone/k", "old.rs", "secret/k"];
    assert_eq!(packed(&["--hidden", "--no-ignore"]), all);
    let report = folder.report(&["--diff", "--max-file-size", "1000"]);
    assert_eq!(report["totals"]["skipped_by_reason"]["change"], 4);
}

#[test]
fn since_and_diff_need_a_path_and_a_commit() {
    let folder = Folder::new(&[]);
    for flag in ["--since=HEAD", "--diff"] {
        let output = folder.run_with(&["-", flag], b"text");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("hint: pass a PATH in addition to `-`"));
    }
    git(&folder, &["init", "-q"]);
    folder.write("a.rs", "a\n");
    folder.fails(&["--diff"], 2, "the repository has no commits yet");
}

/// What differs and is left out is counted, by `--since` as by `--diff`.
#[test]
fn changed_but_ignored_files_are_counted() {
    let folder = Folder::new(&[(".env", "1\n"), ("a.log", "1\n"), ("a.rs", "1\n")]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    folder.write(".ignore", "*.log\n");
    git(&folder, &["add", ".ignore"]);
    git(&folder, &["commit", "-q", "-m", "second"]);
    folder.fails(&["--since", "HEAD"], 2, "no file below the PATHs differs");
    folder.write(".env", "2\n");
    folder.write("a.log", "2\n");
    folder.fails(
        &["--since", "HEAD"],
        2,
        "hint: 2 files left out: 2 change; the changes are hidden",
    );
    folder.fails(&["--since", "HEAD", "--exclude", ".*"], 2, "1 file left out: 1 change");
    folder.write("a.rs", "2\n");
    let skipped = |flags: &[&str]| {
        let report = folder.report(&[&["--no-tree"], flags].concat());
        report["totals"]["skipped_by_reason"]["change"].clone()
    };
    assert_eq!(skipped(&["--since", "HEAD"]), 2);
    assert_eq!(skipped(&["--since", "HEAD", "--diff"]), 2);
    assert_eq!(skipped(&["--since", "HEAD", "--hidden"]), 1);
    assert!(skipped(&["--since", "HEAD", "--hidden", "--no-ignore"]).is_null());
    // What is gone cannot be packed, and neither can what is written.
    std::fs::remove_file(folder.path(".env")).unwrap();
    folder.fails(&["--since", "HEAD", "--exclude", "a.*", "-o", ".out.lcp"], 2, "no file below");
}

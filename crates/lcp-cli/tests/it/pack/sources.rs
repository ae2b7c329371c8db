//! `--files-from`, `--commits`, `--instructions`, and repositories as PATHs.

use std::path::Path;

use lcp_types::{BlockContent, Priority};

use super::changes::{git, repository};
use super::{Folder, decoded, labels, meta_of};
use crate::command::{LCP, printed, stderr};

#[test]
fn files_from_packs_the_files_of_a_list() {
    let folder = Folder::new(&[("a.rs", "a\n"), ("b c.rs", "b\n"), ("d.rs", "d\n")]);
    folder.write(".hidden.rs", "h\n");
    folder.write("list", "a.rs\r\n\nb c.rs\n.hidden.rs\nd.rs\nd.rs\ngone.rs");
    let output = folder.run(&["--no-tree", "--files-from", "list"]);
    let wanted = ["rust .hidden.rs", "rust a.rs", "rust b c.rs", "rust d.rs"];
    assert_eq!(labels(&decoded(&output.stdout)), wanted);
    let warning =
        "warning: left out 1 path of the list that do not exist or are links to folders: gone.rs\n";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    assert!(output.status.success());

    // The list adds to the PATHs, and may come from standard input with NUL as separator.
    let output = folder.run_with(&["--no-tree", "d.rs", "--files-from", "-", "-0"], b"b c.rs\0");
    assert_eq!(labels(&decoded(&output.stdout)), ["rust b c.rs", "rust d.rs"]);
    let output = folder.run_with(&["--files-from", "-"], b"b c.rs\0");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: pass -0"), "{}", stderr(&output));
    // An empty list is not the current folder.
    for list in ["", "\n\n", "gone.rs\n"] {
        let output = folder.run_with(&["--files-from", "-"], list.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{list:?}");
        let error = "the list of files has no path that exists (standard input)";
        assert!(stderr(&output).contains(error), "{}", stderr(&output));
    }
    folder.fails(&["-", "--files-from", "-"], 2, "standard input can be only one of");
    folder.fails(&["-", "--instructions", "-"], 2, "standard input can be only one of");
}

#[cfg(unix)]
#[test]
fn links_to_nothing_and_to_folders_are_left_out_of_a_list() {
    let folder = Folder::new(&[("a.rs", "a\n"), ("sub/b.rs", "b\n")]);
    for (target, link) in [("gone", "dangling"), ("sub", "folder"), ("a.rs", "file.rs")] {
        std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
    }
    let list = b"a.rs\ndangling\nfolder\nfile.rs\n";
    let output = folder.run_with(&["--no-tree", "--files-from", "-"], list);
    assert_eq!(labels(&decoded(&output.stdout)), ["rust a.rs", "rust file.rs"]);
    let warning =
        "left out 2 paths of the list that do not exist or are links to folders: dangling";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
}

#[test]
fn files_from_takes_a_long_list() {
    let folder = Folder::new(&[]);
    let mut list = String::new();
    for number in 0..5_000 {
        let name = format!("{}/{number}.txt", number % 50);
        folder.write(&name, "text\n");
        list += &(name + "\n");
    }
    let output = folder.run_with(&["--no-tree", "--files-from", "-"], list.as_bytes());
    let all = folder.pack(&["--no-tree", "."]);
    assert_eq!(labels(&decoded(&output.stdout)).len(), 5_000);
    assert_eq!(labels(&decoded(&output.stdout)), labels(&all));
}

#[test]
fn commits_flag_adds_the_newest_commits_and_their_files() {
    let folder = repository();
    git(&folder, &["mv", "kept.rs", "sub/moved.rs"]);
    git(&folder, &["commit", "-q", "-m", "move it\n\nBecause of\n\n  reasons."]);
    let log = |flags: &[&str]| {
        let blocks = folder.pack(flags);
        let block = blocks.iter().find(|block| block.label() == "git log").expect("a log");
        let BlockContent::Document(log) = &block.content else { panic!() };
        log.content.as_str().unwrap().to_owned()
    };
    let text = log(&["--commits", "."]);
    let commits: Vec<_> = text.split("\n\n").filter(|commit| !commit.is_empty()).collect();
    assert_eq!(commits.len(), 3, "{text}");
    let lines: Vec<_> = commits[0].lines().collect();
    assert!(lines[0].len() > 10 && lines[0].ends_with(" a"), "{text}");
    assert_eq!(
        lines[1..],
        ["    move it", "    Because of", "      reasons.", "R kept.rs -> sub/moved.rs"]
    );
    assert!(commits[1].ends_with("    second\nM sub/a.rs"), "{text}");
    assert_eq!(log(&["--commits=1", "."]), format!("{}\n", commits[0]));
    // Only commits of the PATHs count.
    assert!(!log(&["--commits", "Cargo.lock"]).contains("second"));

    let outside = Folder::new(&[("a.rs", "a\n")]);
    outside.fails(&["--commits", "."], 2, "not in a git repository");
    folder.fails(&["--commits=0", "."], 2, "--commits");
}

#[test]
fn log_names_files_relative_to_the_current_folder() {
    let folder = repository();
    let output =
        LCP.run_in(&folder.path("sub"), &["pack", "--no-config", "--commits", ".", ".."], &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = printed(&LCP.run_in(Path::new("."), &["render", "-"], &output.stdout));
    assert!(text.contains("\nM a.rs\n") && text.contains("\nA ../kept.rs\n"), "{text}");
    assert!(text.contains("\nA \"ü \\\"q\\\".rs\"\n"), "{text}");
}

#[test]
fn instructions_are_the_last_block_and_critical() {
    let folder = Folder::new(&[("a.rs", "a\n"), ("TASK.md", "# Task\n\nReview it.\n")]);
    let blocks = folder.pack(&["--instructions", "TASK.md", "--no-tree", "."]);
    assert_eq!(labels(&blocks), ["rust a.rs", "markdown TASK.md"]);
    assert_eq!(meta_of(&blocks, "markdown TASK.md").priority, Priority::Critical);
    let pack = folder.run(&["--instructions", "TASK.md", "."]).stdout;
    let flags = ["render", "-", "--budget", "60", "--mode", "markdown"];
    let text = printed(&LCP.run_in(Path::new("."), &flags, &pack));
    assert!(text.ends_with("# Task\n\nReview it.\n\n") || text.ends_with("Review it.\n"), "{text}");
    folder.fails(&["--instructions", "gone.md", "."], 1, "gone.md");
}

#[test]
fn secrets_of_logs_and_instructions_are_replaced() {
    let token = format!("gh{}_wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx", 'p');
    let folder = repository();
    git(&folder, &["commit", "-q", "-a", "-m", &format!("use {token}")]);
    folder.write("TASK.md", format!("Log in with {token}.\n"));
    let output = folder.run(&["--commits", "--instructions", "TASK.md", "."]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains(&token));
    let text = printed(&LCP.run_in(Path::new("."), &["render", "-"], &output.stdout));
    assert!(text.contains("    use [secret github-token 1]\n"), "{text}");
    assert!(text.contains("Log in with [secret github-token 1]."), "{text}");
    assert!(stderr(&output).contains("replaced a secret: TASK.md:1: github-token"));
    let flags = ["--commits", "--instructions", "TASK.md", "--secrets", "exclude", "."];
    let output = folder.run(&flags);
    assert!(!String::from_utf8_lossy(&output.stdout).contains(&token));
    assert!(stderr(&output).contains("2 files left out: 2 secret"), "{}", stderr(&output));
}

#[test]
fn address_of_a_repository_is_fetched_and_packed() {
    let folder = repository();
    let cache = tempfile::tempdir().unwrap();
    let url = format!("file://{}", folder.path("").canonicalize().unwrap().display());
    let pack = |path: &str, flags: &[&str]| {
        let arguments = [&["pack", "--no-config", "--no-tree", path], flags].concat();
        let mut command = LCP.command(&folder.path("sub"), &arguments);
        command.envs([("XDG_CACHE_HOME", cache.path()), ("HOME", cache.path())]);
        command.env("LOCALAPPDATA", cache.path()).output().unwrap()
    };
    // The newest commit, not the files of the working tree.
    let wanted =
        ["plain .gitignore", "toml Cargo.lock", "rust gone.rs", "rust kept.rs", "rust sub/a.rs"];
    let text = |path: &str| {
        let output = pack(path, &["--hidden"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let labels = labels(&decoded(&output.stdout));
        (labels, printed(&LCP.run_in(Path::new("."), &["render", "-"], &output.stdout)))
    };
    let (labels, newest) = text(&url);
    assert_eq!(labels[1..5], wanted[1..], "{labels:?}");
    assert!(newest.contains("one\n2\nthree"), "{newest}");
    assert!(text(&format!("{url}@base")).1.contains("one\ntwo\nthree"));
    // A second run fetches what is new.
    git(&folder, &["rm", "-q", "-r", "-f", "sub"]);
    git(&folder, &["commit", "-q", "-m", "remove"]);
    std::fs::create_dir_all(folder.path("sub")).unwrap();
    assert!(!text(&url).0.iter().any(|label| label.contains("sub/")));
    let output = pack(&url, &["--commits=1"]);
    let text = printed(&LCP.run_in(Path::new("."), &["render", "-"], &output.stdout));
    // The oldest commit of a shallow clone would add all files.
    assert!(text.contains("    remove\nD sub/a.rs\n") && !text.contains("    second\n"), "{text}");

    // An interrupted run leaves a lock.
    let caches = if cfg!(target_os = "macos") { "Library/Caches" } else { "" };
    let clones = cache.path().join(caches).join("lcp/repositories");
    for clone in std::fs::read_dir(&clones).unwrap() {
        let repository = std::fs::read_dir(clone.unwrap().path()).unwrap().next().unwrap();
        std::fs::write(repository.unwrap().path().join(".git/index.lock"), "").unwrap();
    }
    assert!(pack(&url, &[]).status.success());

    for wrong in [format!("{url}@nothing"), format!("{url}-gone")] {
        let output = pack(&wrong, &[]);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(stderr(&output).contains("cannot fetch"), "{}", stderr(&output));
    }
    let output = pack("https://user:pass-word@127.0.0.1:9/a.git", &["-v"]);
    let error = stderr(&output);
    assert!(error.contains("cannot fetch https://127.0.0.1:9/a.git: "), "{error}");
    assert!(!error.contains("pass-word"), "{error}");
}

//! `--summarizer-cmd`: how many run at once, what is kept, what is stopped.

use std::process::Command;

use super::{Folder, blocks, labels};
use crate::command::{LCP, stderr};

fn folder(files: usize) -> Folder {
    let folder = Folder::new(&[]);
    for number in 0..files {
        folder.write(&format!("src/a{number}.rs"), format!("fn a{number}() {{ {number} }}\n"));
    }
    folder
}

/// More than there are processors, as most of them wait for somebody else.
#[test]
fn summarizer_runs_as_many_programs_as_jobs() {
    let folder = folder(9);
    std::fs::create_dir(folder.path("started")).unwrap();
    // Each waits until all are there.
    let line = "touch \"started/$(basename \"$LCP_PATH\")\"
        until [ \"$(ls started | wc -l)\" -ge 9 ]; do sleep 0.02; done; echo short";
    let flags =
        ["src", "--no-tree", "--no-summary-cache", "--jobs", "9", "--summarizer-timeout", "20"];
    let output = folder.run(&[&flags[..], &["--summarizer-cmd", line]].concat());
    assert!(!stderr(&output).contains("the program failed"), "{}", stderr(&output));
    let summaries = blocks(&output).into_iter().filter_map(|block| block.summary);
    assert_eq!(summaries.collect::<Vec<_>>(), ["short"; 9]);
    for jobs in ["0", "257"] {
        folder.fails(&["--jobs", jobs, "--summarizer-cmd", "cat"], 2, "256");
    }
}

#[test]
fn cache_files_are_not_packed() {
    let folder = folder(2);
    let flags = ["--summary-cache", "cache/of", "--count-cache", "counts", "--dedup", "near"];
    let run = || folder.run(&[&flags[..], &["--summarizer-cmd", "echo short"]].concat());
    let first = run();
    assert!(folder.path("cache/of").is_dir() && folder.path("counts").is_file());
    assert_eq!(labels(&blocks(&first)), ["rust src/a0.rs", "rust src/a1.rs"]);
    let second = run();
    assert_eq!(first.stdout, second.stdout, "{}", stderr(&second));
    // What else lies in that folder is packed.
    let flags = ["src", "--no-tree", "--summary-cache", "src", "--summarizer-cmd", "echo short"];
    for _ in 0..2 {
        assert_eq!(labels(&folder.pack(&flags)), ["rust src/a0.rs", "rust src/a1.rs"]);
    }
    folder.fails(&["--summarizer-cmd", " "], 2, "--summarizer-cmd must not be empty");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_running_summarizer_programs() {
    use std::io::Read as _;

    let folder = folder(1);
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    // What outlives the command says so.
    let line = "exec 3>pipe; echo begun >&3; (sleep 20; echo late >&3) & wait";
    let arguments = ["pack", "--no-config", "src", "--no-summary-cache", "-o", "out.lcp"];
    let arguments = [&arguments[..], &["--summarizer-cmd", line]].concat();
    let mut child = LCP.command(&folder.path(""), &arguments).spawn().unwrap();
    let mut pipe = std::fs::File::open(folder.path("pipe")).unwrap();
    let mut begun = [0; 6];
    pipe.read_exact(&mut begun).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut rest = String::new();
    pipe.read_to_string(&mut rest).unwrap();
    assert_eq!((&begun[..], rest.as_str()), (&b"begun\n"[..], ""));
}

//! Secrets in packed files.

use std::path::Path;

use super::{Folder, blocks};
use crate::command::{LCP, printed, stderr};

/// Returns a token with the shape of GitHub's. It is put together here, so that no scanner reports
/// this file.
fn token() -> String {
    format!("gh{}_wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx", 'p')
}

fn folder() -> Folder {
    let folder = Folder::new(&[]);
    folder.write("a.py", format!("a = 1\nb = '{}'\n", token()));
    folder.write("tests/b.py", format!("c = '{}'\n", token()));
    folder
}

#[test]
fn secrets_are_replaced_by_default_and_reported_without_their_values() {
    let folder = folder();
    let output = folder.run(&["--report", "report.json", "-v"]);
    let report = std::fs::read_to_string(folder.path("report.json")).unwrap();
    let warnings = "warning: replaced a secret: a.py:2: github-token\n\
                    warning: replaced a secret: tests/b.py:1: github-token\n";
    assert!(stderr(&output).contains(warnings), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(json["totals"]["secrets"], 2);
    let first = serde_json::json!({ "path": "a.py", "line": 2, "kind": "github-token" });
    assert_eq!(json["secrets"][0], first);
    let text = printed(&LCP.run_in(Path::new("."), &["render", "-"], &output.stdout));
    assert_eq!(text.matches("'[secret github-token 1]'").count(), 2, "{text}");
    for written in [&output.stdout, stderr(&output).as_bytes(), report.as_bytes()] {
        assert!(!written.windows(40).any(|part| part == token().as_bytes()));
    }
    assert_eq!(stderr(&folder.run(&["-q"])), "");
}

#[test]
fn secrets_flag_and_settings_change_the_treatment() {
    let folder = folder();
    let warn = folder.run(&["--secrets", "warn"]);
    assert!(stderr(&warn).contains("warning: packed a secret: a.py:2: github-token\n"));
    let off = folder.run(&["--secrets", "off"]);
    assert!(!stderr(&off).contains("secret"));
    assert_eq!(warn.stdout, off.stdout);
    let excluded = folder.run(&["--secrets", "exclude"]);
    assert!(stderr(&excluded).contains("2 files left out: 2 secret\n"), "{}", stderr(&excluded));
    assert_eq!(blocks(&excluded).len(), 1, "the tree alone");

    folder.write("lcp.toml", "[[pack.allow_secret]]\nglob = \"tests/\"\nkind = \"github-token\"\n");
    let packed = LCP.run_in(&folder.path(""), &["pack", "."], &[]);
    assert!(stderr(&packed).contains("a.py:2") && !stderr(&packed).contains("b.py:1"));
    let wrong = "[[pack.allow_secret]]\nkind = \"github\"\n";
    folder.write("lcp.toml", wrong);
    let failed = LCP.run_in(&folder.path(""), &["pack", "."], &[]);
    let error = "pack.allow_secret.kind is not a kind of secret, got \"github\"";
    assert_eq!(failed.status.code(), Some(2));
    assert!(stderr(&failed).contains(error), "{}", stderr(&failed));
}

#[test]
fn charset_and_notebooks_flags_select_the_conversion() {
    let folder = Folder::new(&[]);
    folder.write("a.txt", b"\xe1\xe2\xe3\n");
    folder.write("b.ipynb", r#"{"cells": [{"cell_type": "code", "source": "print(1)"}]}"#);
    let text = |flags: &[&str]| {
        printed(&LCP.run_in(Path::new("."), &["render", "-"], &folder.run(flags).stdout))
    };
    assert!(text(&["--charset", "*.txt=iso-8859-7"]).contains("αβγ"));
    assert!(text(&[]).contains("# %%\nprint(1)\n"));
    assert!(text(&["--notebooks", "raw"]).contains("\"cell_type\""));
    let unknown = folder.run(&["--charset", "*.txt=klingon"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("unknown character set \"klingon\""));
}

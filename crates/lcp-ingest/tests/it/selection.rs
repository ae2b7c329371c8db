//! The files of a folder that are packed by default, and their attributes.

use std::path::Path;

use lcp_ingest::{
    FileType, Globs, IngestOptions, IngestReport, Pattern, Rules, SkipReason, WalkOptions, ingest,
};
use lcp_types::{Lang, Priority};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn options(folder: &Path) -> IngestOptions<'static> {
    IngestOptions { paths: vec![folder.into()], ..IngestOptions::default() }
}

fn paths(report: &IngestReport) -> Vec<&str> {
    report.files.iter().map(|file| file.path.as_str()).collect()
}

const UNWANTED: &[(&str, &str)] = &[
    ("node_modules/a/index.js", "a\n"),
    ("src/__pycache__/b.py", "b\n"),
    ("Cargo.toml", "[package]\n"),
    ("target/debug/c.rs", "c\n"),
    ("src/main.rs", "fn main() {}\n"),
];

#[test]
fn folders_of_dependencies_and_build_output_are_left_out() {
    let folder = folder(UNWANTED);
    let report = ingest(&options(folder.path())).unwrap().report;
    assert_eq!(paths(&report), ["Cargo.toml", "src/main.rs"]);
    let unwanted = report.skipped_by(SkipReason::UnwantedFolder);
    let unwanted: Vec<_> = unwanted.map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(unwanted, ["node_modules/", "src/__pycache__/", "target/"]);
}

#[test]
fn ignore_files_and_include_bring_unwanted_folders_back() {
    let folder = folder(UNWANTED);
    let all = ingest(&IngestOptions {
        walk: WalkOptions { ignored: true, ..WalkOptions::default() },
        ..options(folder.path())
    });
    assert_eq!(all.unwrap().report.files.len(), 5);
    let include = Globs::new(&[Pattern::parse("node_modules/").unwrap()]).unwrap();
    let included = ingest(&IngestOptions { include, ..options(folder.path()) }).unwrap();
    assert_eq!(paths(&included.report), ["node_modules/a/index.js"]);
    std::fs::write(folder.path().join(".lcpignore"), "!target/\n").unwrap();
    let report = ingest(&options(folder.path())).unwrap().report;
    assert_eq!(paths(&report), ["Cargo.toml", "src/main.rs", "target/debug/c.rs"]);
}

#[test]
fn hidden_files_that_describe_the_project_are_packed() {
    let folder = folder(&[
        (".github/workflows/ci.yml", "on: push\n"),
        (".editorconfig", "root = true\n"),
        (".env", "A=1\n"),
        (".github/.env", "A=1\n"),
        (".secret/a.txt", "a\n"),
        (".asked", "a\n"),
        (".gitignore", "!.asked\n!.env\n"),
        ("a.rs", "//\n"),
    ]);
    let report = ingest(&options(folder.path())).unwrap().report;
    assert_eq!(paths(&report), [".asked", ".editorconfig", ".github/workflows/ci.yml", "a.rs"]);
    let walk = WalkOptions { hidden: true, ..WalkOptions::default() };
    let hidden = ingest(&IngestOptions { walk, ..options(folder.path()) }).unwrap();
    assert_eq!(hidden.report.files.len(), 8);
}

#[test]
fn gitattributes_set_priorities_and_languages() {
    let folder = folder(&[
        (
            ".gitattributes",
            "lib/* linguist-vendored\nmade.rs linguist-generated\nguide.rs linguist-documentation\n\
             *.inc linguist-language=C++\nCargo.lock -linguist-generated\n",
        ),
        ("lib/a.rs", "//\n"),
        ("made.rs", "//\n"),
        ("guide.rs", "//\n"),
        ("a.inc", "//\n"),
        ("Cargo.lock", "a = 1\n"),
    ]);
    let rules = Rules::new(Vec::new(), true).unwrap();
    let report = ingest(&IngestOptions { rules, ..options(folder.path()) }).unwrap().report;
    let file = |path: &str| report.files.iter().find(|file| file.path == path).unwrap();
    let priority = |path: &str| file(path).attributes.priority;
    assert_eq!(priority("lib/a.rs"), Some(Priority::Background));
    assert_eq!(priority("made.rs"), Some(Priority::Background));
    assert_eq!(priority("guide.rs"), Some(Priority::Low));
    assert_eq!(priority("a.inc"), None);
    assert_eq!(file("a.inc").file_type, FileType::Code(Lang::Cpp));
    assert_ne!(priority("Cargo.lock"), Some(Priority::Background));
}

#[test]
fn notebook_is_a_script_and_a_broken_one_stays_as_it_is() {
    let notebook = r#"{"cells": [{"cell_type": "code", "source": ["print(1)"], "outputs": []}]}"#;
    let folder = folder(&[("a.ipynb", notebook), ("b.ipynb", "{\"cells\": [")]);
    let result = ingest(&options(folder.path())).unwrap();
    let [script, broken] = &result.report.files[..] else { panic!("{:?}", result.report) };
    assert_eq!((script.file_type, script.is_notebook), (FileType::Code(Lang::Python), true));
    assert_eq!((broken.file_type, broken.is_notebook), (FileType::Code(Lang::Json), false));
    assert_eq!(result.report.warnings.len(), 1);
    let warning = &result.report.warnings[0];
    assert!(warning.starts_with("b.ipynb: packed as it is: not valid JSON"), "{warning}");
    let raw = IngestOptions { raw_notebooks: true, ..options(folder.path()) };
    assert!(!ingest(&raw).unwrap().report.files[0].is_notebook);
}

//! The documents: what they tell people to type is typed, every page of the book is
//! there, and every command and flag is written of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_testkit::cli_harness::root;

use crate::command::LCP;

/// The pages whose snippets are run.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", "docs/crates", "docs/schemas"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The fenced blocks of a language, in order. `sh` is run; what needs more than a
/// checkout is `bash`.
fn snippets(page: &str, language: &str) -> Vec<String> {
    let mut snippets = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        let text: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        if fence == language {
            snippets.push(text.join("\n"));
        }
    }
    snippets
}

/// A small project with a history, beside the samples.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("src")).unwrap();
    fs::create_dir_all(at("samples")).unwrap();
    for entry in fs::read_dir(root().join("samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, at("samples").join(path.file_name().unwrap())).unwrap();
        }
    }
    let main = "//! Retries what fails.\n\nmod retry;\n\nfn main() {\n    retry::run(3);\n}\n";
    let retry = "/// Runs it so many times.\npub fn run(times: u32) {\n    let _ = times;\n}\n";
    for (name, text) in [
        ("README.md", "# Retry\n\nRetries what fails.\n"),
        ("Cargo.toml", "[package]\nname = \"retry\"\n"),
        ("src/main.rs", main),
        ("src/retry.rs", retry),
        ("ARCHITECTURE.md", "# Architecture\n\nOne module.\n"),
    ] {
        fs::write(at(name), text).unwrap();
    }
    folder
}

pub(crate) fn run(folder: &Path, script: &str) -> std::process::Output {
    let programs = Path::new(LCP.0).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path)),
    );
    Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .env("HOME", folder)
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME")
        .output()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn shell_snippets_in_the_docs_run() {
    let (mut ran, mut failed) = (0, Vec::new());
    for page in pages() {
        let scripts = snippets(&fs::read_to_string(&page).unwrap(), "sh");
        if scripts.is_empty() {
            continue;
        }
        let folder = folder();
        let repository = "git init -q . && git add -A && git commit -qm first";
        assert!(run(folder.path(), repository).status.success(), "git is needed");
        for script in scripts {
            let output = run(folder.path(), &script);
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                failed.push(format!("{}:\n{script}\n{said}", page.display()));
            }
            ran += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(ran >= 5, "only {ran} snippets");
}

/// Settings to copy are at least settings.
#[test]
fn json_and_toml_snippets_in_the_docs_parse() {
    let mut read = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for json in snippets(&text, "json") {
            let parsed = serde_json::from_str::<serde_json::Value>(&json);
            assert!(parsed.is_ok(), "{}: {parsed:?}\n{json}", page.display());
            read += 1;
        }
        for toml in snippets(&text, "toml") {
            let parsed = toml.parse::<toml::Table>();
            assert!(parsed.is_ok(), "{}: {parsed:?}\n{toml}", page.display());
            read += 1;
        }
    }
    assert!(read >= 5, "only {read}");
}

#[test]
fn book_summary_lists_exactly_the_existing_pages() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut named: Vec<_> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(page, _)| docs.join(page))
        .collect();
    named.push(docs.join("SUMMARY.md"));
    named.sort();
    let mut there = pages();
    there.retain(|page| page.starts_with(&docs));
    assert_eq!(named, there);
}

/// Every subcommand has a section, and every flag of it that is not everywhere stands
/// in the page.
#[test]
fn cli_page_documents_every_command_and_flag() {
    use clap::CommandFactory;
    let page = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    let mut cli = lcp_cli::Cli::command();
    cli.build();
    let mut missing = Vec::new();
    let is_documented =
        |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
    for command in cli.get_subcommands().filter(is_documented) {
        let name = command.get_name();
        let has_section = page
            .lines()
            .any(|line| line.starts_with("## ") && line.split([' ', ',', '`']).any(|w| w == name));
        if !has_section {
            missing.push(format!("## {name}"));
        }
    }
    let mut left: Vec<_> = cli.get_subcommands().filter(is_documented).collect();
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(is_documented));
        for flag in command.get_arguments().filter_map(|argument| argument.get_long()) {
            if !page.contains(&format!("--{flag}")) {
                missing.push(format!("{} --{flag}", command.get_name()));
            }
        }
    }
    assert!(missing.is_empty(), "docs/cli.md says nothing of {missing:#?}");
}

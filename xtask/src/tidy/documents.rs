//! Checks that documents, including the module documentation of crates, name only files that exist,
//! and that sources cite only RFCs that exist.

use std::path::{Path, PathBuf};

use super::{read, tracked};
use anyhow::Result;

/// The beginnings of paths from the root. Words in backticks that begin like this must exist.
const PATHS: &[&str] =
    &["crates/", "xtask/", "samples/", "docs/", "rfcs/", "bench/", ".ci/", ".cargo/", "fuzz/"];

/// A document that also names files by the ends of their paths, as the front pages of crates do.
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The rendering that the README shows.
const SHOWN_IN_README: &str = "samples/rendered/priorities.100.txt";

pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let paths = tracked("*")?;
    let mut documents = tracked("*.md")?;
    documents.extend(tracked("crates/*.rs")?);
    for document in documents {
        let text = read(&document)?;
        let is_source = document.extension().is_some_and(|extension| extension == "rs");
        let names_files = document == Path::new(ARCHITECTURE) || document.ends_with("src/lib.rs");
        for (number, line) in text.lines().enumerate() {
            // Of a source, only the documentation of its module.
            if is_source && !line.starts_with("//!") {
                continue;
            }
            for word in line.split('`').skip(1).step_by(2).flat_map(str::split_whitespace) {
                if names_nothing(word) || names_files && ends_no_path(word, &paths) {
                    let place = format!("{}:{}", document.display(), number + 1);
                    problems.push(format!("{place}: {word} does not exist"));
                }
            }
        }
    }
    // The README must show the current rendering of a sample.
    if !read(Path::new("README.md"))?.contains(&read(Path::new(SHOWN_IN_README))?) {
        problems.push(format!("README.md does not show {SHOWN_IN_README}"));
    }
    for (number, path) in rfcs_named()? {
        if !rfc_exists(number)? {
            problems.push(format!("{path}: RFC {number:04} does not exist"));
        }
    }
    Ok(problems)
}

fn names_nothing(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', ';']);
    let path = word.split_once("::").map_or(word, |(path, _)| path);
    let is_pattern = path.contains(['*', '{', '<', '…']) || path.contains("NAME");
    PATHS.iter().any(|start| path.starts_with(start))
        && !is_pattern
        && !crate::workspace().join(path).exists()
}

/// Returns whether a word names a source file or a folder, but is not the end of any of `paths` or
/// of their folders.
fn ends_no_path(word: &str, paths: &[PathBuf]) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', ';']);
    let is_folder = word.ends_with('/');
    let is_end = |path: &PathBuf| {
        if is_folder {
            path.ancestors().skip(1).any(|folder| folder.ends_with(word))
        } else {
            path.ends_with(word)
        }
    };
    let is_source = Path::new(word).extension().is_some_and(|extension| extension == "rs");
    (is_folder || is_source) && !paths.iter().any(is_end)
}

/// Returns the RFCs that source files cite, each with one of these files.
fn rfcs_named() -> Result<Vec<(u32, String)>> {
    let mut named: Vec<(u32, String)> = Vec::new();
    for path in tracked("crates/*.rs")? {
        for (at, mark) in read(&path)?.match_indices("RFC ") {
            let text = read(&path)?;
            let digits = text.get(at + mark.len()..at + mark.len() + 4).unwrap_or_default();
            if let Ok(number) = digits.parse()
                && !named.iter().any(|(known, _)| *known == number)
            {
                named.push((number, path.display().to_string()));
            }
        }
    }
    Ok(named)
}

fn rfc_exists(number: u32) -> Result<bool> {
    let start = format!("{number:04}-");
    let rfcs = tracked("rfcs/*.md")?;
    Ok(rfcs
        .iter()
        .filter_map(|path| path.file_name()?.to_str())
        .any(|name| name.starts_with(&start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_must_be_a_suffix_of_a_tracked_path() {
        let paths = ["crates/x/src/parse/mod.rs", "crates/x/src/usage.rs"].map(PathBuf::from);
        let missing = |word| ends_no_path(word, &paths);
        for word in ["usage.rs", "src/usage.rs,", "parse/mod.rs", "parse/", "x/src/"] {
            assert!(!missing(word), "{word}");
        }
        for word in ["usage/", "age.rs", "parse/usage.rs", "src/parse.rs", "rates/x/"] {
            assert!(missing(word), "{word}");
        }
        // Neither a source file nor a folder.
        for word in ["usage", "lcp.toml", "--budget"] {
            assert!(!missing(word), "{word}");
        }
    }
}

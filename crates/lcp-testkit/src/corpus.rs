//! Texts for tests: strings that look like block boundaries, and code, prose and comments from the
//! sources of crates.

use std::path::{Path, PathBuf};
use std::{fs, io};

use lcp_types::{Block, Lang};

use crate::cli_harness;

/// Returns the files in a folder and its subfolders, sorted by path. Files larger than `bytes_max`
/// are left out, because they are usually generated.
pub fn files_in(folder: &Path, bytes_max: u64) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                open.push(entry.path());
            } else if metadata.is_file() && metadata.len() <= bytes_max {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the Rust files of this workspace as CODE blocks, sorted by path.
pub fn source_blocks() -> io::Result<Vec<Block<'static>>> {
    let root = cli_harness::root();
    let files = files_in(&root.join("crates"), u64::MAX)?;
    let code = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let block = |path: &PathBuf| {
        let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        Ok(Block::code(Lang::Rust, name, fs::read_to_string(path)?))
    };
    code.map(block).collect()
}

/// Returns whether a file is Markdown or a license.
#[must_use]
pub fn is_prose(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.extension().is_some_and(|ending| ending == "md") || name.starts_with("LICENSE")
}

/// Returns the text of the documentation comments in a Rust file.
///
/// ```
/// assert_eq!(lcp_testkit::comments("/// Says it.\nfn f() {} // not this\n"), "Says it.\n");
/// ```
#[must_use]
pub fn comments(code: &str) -> String {
    let lines = code.lines().map(str::trim_start);
    let text = lines.filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    text.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

/// Strings that look like the output of renderers, or that tokenizers join in surprising ways.
#[rustfmt::skip]
pub const DELIMITERS: &[&str] = &[
    "fn main() {}", "\n", "\n\n", "\r\n", "    indented", "\t", " ", "  ", "/", "// comment",
    "/* */", "</code>", "<code path=\"x\">", "</context>", "<context>", "</conversation>",
    "</code.2>", "</code.3>\n", "<omitted type=\"code\" path=\"a\" tokens=\"3\" />", "```",
    "````\n", "```rust", "~~~", "### code src/a.rs", "### user", "\n### assistant\n",
    "_[Omitted: code a, ~3 tokens]_", "[user] hi", "\n[code src/a.rs]\n",
    "[omitted: code a ~3tok]", "[omitted: 4 blocks ~3tok]", "EOF", "\nEOF\n", "\nEOF2\n", "<<EOF]",
    "]", "[", "hello world", "The quick brown fox.", "漢字かな", "🦀🚀", "e\u{301}", "'s", "'ſ",
    "1234567", "<|endoftext|>", "\u{85}", "\u{2028}", "\u{a0}", "\u{feff}", "!!!", "=====", "a",
    "}", "});\n", "\"", "&amp;", "@@ -1 +1 @@",
];

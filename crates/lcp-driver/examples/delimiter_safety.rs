//! Measures the cost of delimiter safety in XML on real files, for several approaches (RFC 0008 §1):
//!
//! ```text
//! cargo run -p lcp-driver --example delimiter_safety -- [FOLDER…]
//! ```
//!
//! The default folder has the sources of this crate. Every UTF-8 file up to 1 MiB is one block. For
//! each approach, the example prints the tokens that it adds to an element without any protection,
//! and the number of files whose bytes it changes.

#![allow(clippy::print_stdout, reason = "the example prints the costs")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use lcp_driver::{DefaultDriver, DriverConfig};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{Block, Lang};

const FILE_BYTES_MAX: usize = 1 << 20;

/// The cost of one approach.
#[derive(Default)]
struct Cost {
    tokens: u64,
    files: u64,
    changed: u64,
}

impl Cost {
    fn add(&mut self, tokens: u64, bare: u64, is_changed: bool) {
        self.tokens += tokens.saturating_sub(bare);
        self.files += u64::from(tokens != bare);
        self.changed += u64::from(is_changed);
    }
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            files(&entry.path(), into)?;
        } else if kind.is_file() {
            into.push(entry.path());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut folders: Vec<_> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    }
    measure(&folders)
}

pub(crate) fn measure(folders: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    for folder in folders {
        files(folder, &mut paths)?;
    }
    let counter = Tiktoken::new(Encoding::O200kBase);
    let driver = DefaultDriver::new(counter);
    let (mut all, mut bytes, mut content) = (0u64, 0, 0);
    let (mut escaped, mut nonce, mut number) = (Cost::default(), Cost::default(), Cost::default());
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if text.len() > FILE_BYTES_MAX {
            continue;
        }
        let name = path.to_string_lossy();
        let count = |text: &str| u64::from(counter.estimate(text));
        let part = |tag: &str, text: &str| format!("<{tag} path=\"{name}\">\n{text}\n</{tag}>\n");
        let bare = count(&part("code", &text));
        let marks = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        escaped.add(count(&part("code", &marks)), bare, marks != text);
        // Eight digits that the author of a file cannot know.
        let digits = digits_of(&name);
        nonce.add(count(&part(&format!("code-{digits:08x}"), &text)), bare, false);
        // The rendered text without the envelope, which is counted once per text.
        let block = Block::code(Lang::Unknown, name.as_ref(), text.as_str());
        let rendered = driver.render(&[block], &DriverConfig::default())?;
        let rendered = rendered.strip_prefix("<context>\n").unwrap_or(&rendered);
        let rendered = rendered.strip_suffix("</context>\n").unwrap_or(rendered);
        number.add(count(rendered), bare, false);
        (all, bytes, content) = (all + 1, bytes + text.len(), content + bare);
    }
    println!("{all} files, {bytes} bytes, {content} tokens");
    for (name, cost) in [("escape", escaped), ("nonce", nonce), ("number", number)] {
        let Cost { tokens, files, changed } = cost;
        println!("{name}: {tokens} tokens more, in {files} files; {changed} files changed");
    }
    Ok(())
}

/// Returns digits for a name, the same in every run (FNV-1a).
fn digits_of(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

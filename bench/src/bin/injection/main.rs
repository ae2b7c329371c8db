//! Compares how well programs that pack a folder keep files apart whose contents forge the
//! boundaries between files (RFC 0008 §1). Prints a Markdown table, and fails where LCP does not
//! give back every file.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs, reason = "a program of tables")]

mod peers;
mod readers;
mod repository;

use std::collections::BTreeMap;
use std::path::Path;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, parse};
use lcp_ingest::{IngestOptions, ingest};
use lcp_types::{BlockContent, BlockType, CowBytes};

use repository::File;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Files that were read back from a text: the path and the content of each, in their order.
type Entries = Vec<(String, String)>;

/// What became of the files in one form of one program.
#[derive(Debug)]
struct Row {
    program: String,
    form: &'static str,
    /// Counts of the files, or why there is no text.
    counts: Result<Counts, String>,
}

#[derive(Debug, PartialEq)]
struct Counts {
    /// Files that came back, but for white space at their ends and the ends of their lines.
    back: usize,
    /// Of those, the ones that came back byte for byte.
    exact: usize,
    /// Files that were read and are not there.
    forged: usize,
}

impl Row {
    fn new(program: &str, form: &'static str, read: Result<Entries, String>, all: &[File]) -> Self {
        let counts = read.map(|entries| Counts::new(&entries, all));
        Self { program: program.to_owned(), form, counts }
    }

    /// Returns the row as one of a Markdown table.
    fn to_markdown(&self, all: usize) -> String {
        let figures = match &self.counts {
            Ok(Counts { back, exact, forged }) => format!("{back} of {all} | {exact} | {forged}"),
            Err(why) => format!("{why} |  | "),
        };
        format!("| {} | {} | {figures} |\n", self.program, self.form)
    }
}

impl Counts {
    fn new(entries: &Entries, all: &[File]) -> Self {
        let wanted: BTreeMap<_, _> =
            all.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        // Whether any entry of a path is like its file, and whether any is equal to it.
        let mut found = BTreeMap::<&str, (bool, bool)>::new();
        for (path, text) in entries {
            if let Some(wanted) = wanted.get(path.as_str()) {
                let (is_back, is_exact) = found.entry(path).or_default();
                *is_back |= plain(text) == plain(wanted);
                *is_exact |= text == wanted;
            }
        }
        Self {
            back: found.values().filter(|(is_back, _)| *is_back).count(),
            exact: found.values().filter(|(_, is_exact)| *is_exact).count(),
            // One entry of each path is that of the file.
            forged: entries.len() - found.len(),
        }
    }
}

/// A text as programs give it back that trim it, and end lines in their own way.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

fn main() -> Result {
    let temporary = tempfile::tempdir()?;
    let folder = temporary.path().join(repository::NAME);
    let all = repository::files();
    repository::write(&folder, &all)?;
    let mut rows = lcp(&folder, &all)?;
    rows.extend(peers::rows(&folder, &all));
    println!("| program | form | files read back | byte for byte | forged |");
    println!("|---|---|--:|--:|--:|");
    for row in &rows {
        print!("{}", row.to_markdown(all.len()));
    }
    let complete = Counts { back: all.len(), exact: all.len(), forged: 0 };
    let mut ours = rows.iter().filter(|row| row.program == OURS);
    match ours.find(|row| row.counts.as_ref() != Ok(&complete)) {
        None => Ok(()),
        Some(row) => Err(format!("the boundaries of {} were not all read back", row.form).into()),
    }
}

/// What our own rows are called.
const OURS: &str = "lcp";

/// The rows of LCP: packed as `lcp pack` does it, rendered, and split.
fn lcp(folder: &Path, all: &[File]) -> Result<Vec<Row>> {
    let paths = vec![".".into()];
    let options = IngestOptions { base: folder.to_owned(), paths, ..IngestOptions::default() };
    let packed = ingest(&options)?;
    let row = |(mode, form): (OutputMode, &'static str)| {
        let config = DriverConfig { mode, ..DriverConfig::default() };
        let text = DefaultDriver::default().render(&packed.blocks, &config);
        let found = text
            .map_err(|error| error.to_string())
            .and_then(|text| parse::parse_blocks(&text, mode).map_err(|error| error.to_string()));
        // The tree of the folder is a block, too.
        let is_tree = |shown: &parse::ParsedBlock| {
            shown.block_type == BlockType::FileTree
                && packed.blocks.iter().any(|block| block.content == shown.block.content)
        };
        let entries = found.map(|found| {
            found.blocks.into_iter().filter(|shown| !is_tree(shown)).map(entry).collect()
        });
        Row::new(OURS, form, entries, all)
    };
    let modes = [
        (OutputMode::Xml, "xml (default)"),
        (OutputMode::Markdown, "markdown"),
        (OutputMode::Minimal, "minimal"),
    ];
    Ok(modes.into_iter().map(row).collect())
}

/// The file that a block is; of any other, which is forged, a name that no file has.
fn entry(shown: parse::ParsedBlock) -> (String, String) {
    let text = |bytes: CowBytes<'_>| bytes.to_str_lossy().into_owned();
    match shown.block.content {
        BlockContent::Code(code) => (code.path.into_owned(), text(code.content)),
        BlockContent::Document(document) => (document.title.into_owned(), text(document.content)),
        _ => (format!("{}:", shown.block_type.label()), String::new()),
    }
}

#[cfg(test)]
mod tests;

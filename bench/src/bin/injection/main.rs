//! Compares programs that pack a folder: can the files still be separated if their contents forge
//! file boundaries (RFC 0008 §1)? Prints a Markdown table. Fails unless every file can be read back
//! from LCP's text.
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

/// The files that a reader finds in a text: the path and the content of each, in order.
type Entries = Vec<(String, String)>;

/// The result for one output form of one program.
#[derive(Debug)]
struct Row {
    program: String,
    form: &'static str,
    /// The counts, or the reason why the program wrote no text.
    counts: Result<Counts, String>,
}

#[derive(Debug, PartialEq)]
struct Counts {
    /// Files that were read back, ignoring line endings and white space at both ends of the text.
    back: usize,
    /// Files that were read back byte for byte. `back` includes them.
    exact: usize,
    /// Entries that are not files of the folder: unknown paths, and further entries of a known
    /// path.
    forged: usize,
}

impl Row {
    fn new(program: &str, form: &'static str, read: Result<Entries, String>, all: &[File]) -> Self {
        let counts = read.map(|entries| Counts::new(&entries, all));
        Self { program: program.to_owned(), form, counts }
    }

    /// Formats the row as a line of a Markdown table. `all` is the number of files.
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
        // For each path: whether an entry matches the file loosely, and whether one equals it.
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
            // One entry of each path counts as the file itself.
            forged: entries.len() - found.len(),
        }
    }
}

/// Normalizes a text for comparison, because programs trim texts and change line endings.
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

/// The program name in LCP's own rows.
const OURS: &str = "lcp";

/// Returns the rows of LCP: packs the folder as `lcp pack` does, renders it in each mode, and
/// parses the text.
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
        // The folder's tree is also a block, but not a file.
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

/// Returns the path and the content of a file block. Any other block is forged, and gets a path
/// that no file has.
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

//! Compares how well programs that pack a folder keep files apart whose contents forge the
//! boundaries between files (RFC 0008 §1). Prints a Markdown table, and fails where LCP does not
//! give back every file.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs, reason = "a program of tables")]

mod peers;
mod readers;
mod repository;

use std::collections::{BTreeMap, BTreeSet};
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
    /// Why there is no text.
    missing: Option<String>,
    /// Files that came back, but for white space at their ends and the ends of their lines.
    back: usize,
    /// Of those, the ones that came back byte for byte.
    exact: usize,
    /// Files that were read and are not there.
    forged: usize,
}

impl Row {
    fn new(program: &str, form: &'static str, read: Result<Entries, String>, all: &[File]) -> Self {
        let row = |missing| Self {
            program: program.to_owned(),
            form,
            missing,
            back: 0,
            exact: 0,
            forged: 0,
        };
        let entries = match read {
            Ok(entries) => entries,
            Err(why) => return row(Some(why)),
        };
        let wanted: BTreeMap<_, _> =
            all.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        let known = |path: &str| wanted.contains_key(path);
        let named: BTreeSet<_> =
            entries.iter().map(|(path, _)| path.as_str()).filter(|path| known(path)).collect();
        let found = |is_it: &dyn Fn(&str, &str) -> bool| {
            let same = |path: &&str| {
                let mut of_path = entries.iter().filter(|(other, _)| other == path);
                of_path.any(|(_, text)| is_it(text, wanted[*path]))
            };
            named.iter().filter(|path| same(path)).count()
        };
        Self {
            back: found(&|read, text| plain(read) == plain(text)),
            exact: found(&|read, text| read == text),
            // One entry of each path is that of the file.
            forged: entries.len() - named.len(),
            ..row(None)
        }
    }

    /// A cell for each heading.
    fn cells(&self, all: usize) -> Vec<String> {
        let figures = match &self.missing {
            Some(why) => [why.clone(), String::new(), String::new()],
            None => {
                [format!("{} of {all}", self.back), self.exact.to_string(), self.forged.to_string()]
            }
        };
        [vec![self.program.clone(), self.form.to_owned()], figures.to_vec()].concat()
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
    print!("{}", table(&rows, all.len()));
    let holds = |row: &&Row| row.exact == all.len() && row.forged == 0;
    match rows.iter().filter(|row| row.program == OURS).find(|row| !holds(row)) {
        None => Ok(()),
        Some(row) => Err(format!("the boundaries of {} were not all read back", row.form).into()),
    }
}

const HEADINGS: [&str; 5] = ["program", "form", "files read back", "byte for byte", "forged"];

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

/// Returns the rows as a Markdown table.
fn table(rows: &[Row], all: usize) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut lines = line(&HEADINGS.map(str::to_owned));
    lines += "|---|---|--:|--:|--:|\n";
    lines.extend(rows.iter().map(|row| line(&row.cells(all))));
    lines
}

#[cfg(test)]
mod tests;

//! Runs `lcp` as a user would, and reads what it shows.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_driver::OutputMode;
use lcp_driver::parse::parse;
use lcp_testkit::python::output;
use serde::Deserialize;

use super::fill::share;
use super::hunks::{self, Shown};
use super::lines;
use super::metrics::{Figures, Metric};
use super::queries::Query;
use super::repository::Checkout;
use crate::harness::{Result, at};

/// The budgets of the texts, in tokens.
const BUDGETS: [&str; 2] = ["8000", "16000"];

/// The program, with folders for its files.
pub(super) struct Lcp {
    program: PathBuf,
    folder: PathBuf,
}

/// The answer to a query.
pub(super) struct Answer {
    /// The labels of the blocks, the most relevant one first.
    pub(super) order: Vec<String>,
    /// The texts, by budget.
    texts: [Text; BUDGETS.len()],
}

/// The output of `lcp rank --json`.
#[derive(Deserialize)]
struct Ranks {
    blocks: Vec<Ranked>,
}

#[derive(Deserialize)]
struct Ranked {
    label: String,
}

impl Lcp {
    /// `folder` gets the files that the program writes.
    pub(super) fn new(program: PathBuf, folder: PathBuf) -> Self {
        Self { program, folder }
    }

    /// Packs a working tree, ranked for a query, and renders the pack within the budgets.
    pub(super) fn ask(&self, checkout: &Checkout, query: &str) -> Result<Answer> {
        let pack = self.folder.join("pack.lcp");
        let pack = pack.to_string_lossy();
        self.pack(checkout, &self.cache("shared"), Some(query))?;
        let ranks: Ranks = serde_json::from_slice(&self.run(&["rank", &pack, "--json"])?)?;
        let text = |budget| -> Result<Text> {
            let text = self.run(&["render", &pack, "--budget", budget])?;
            Text::new(&String::from_utf8_lossy(&text))
        };
        let order = ranks.blocks.into_iter().map(|block| block.label).collect();
        Ok(Answer { order, texts: [text(BUDGETS[0])?, text(BUDGETS[1])?] })
    }

    /// Packs a working tree with a cache folder, for a query or without one.
    pub(super) fn pack(&self, checkout: &Checkout, cache: &Path, query: Option<&str>) -> Result {
        let mut command = self.command(cache);
        command.current_dir(&checkout.root).args(["pack", ".", "-o"]);
        command.arg(self.folder.join("pack.lcp"));
        if let Some(query) = query {
            let file = self.folder.join("query.txt");
            std::fs::write(&file, query).map_err(at(&file))?;
            command.arg("--query-file").arg(file);
        }
        output(&mut command)?;
        Ok(())
    }

    /// Returns the folder of a cache.
    pub(super) fn cache(&self, name: &str) -> PathBuf {
        self.folder.join("caches").join(name)
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        Ok(output(self.command(&self.cache("shared")).args(arguments))?)
    }

    /// Returns a command that neither reads the settings of the user nor writes to their cache.
    fn command(&self, cache: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-q").env("XDG_CACHE_HOME", cache);
        command.env("XDG_CONFIG_HOME", self.folder.join("config")).current_dir(&self.folder);
        command
    }
}

impl Answer {
    /// Returns the figures of the texts.
    pub(super) fn figures(&self, query: &Query, checkout: &Checkout) -> Figures {
        let recall = |text: &Text| {
            hunks::recall(&query.hunks, |path| text.shown(path, &checkout.read(path)))
        };
        let any = share(&query.gold, |path| self.texts[0].bodies.contains_key(path));
        Figures::from_iter([
            (Metric::C8, recall(&self.texts[0])),
            (Metric::C16, recall(&self.texts[1])),
            (Metric::Any, any),
        ])
    }
}

/// A rendered text: the contents of its parts, by path.
struct Text {
    bodies: HashMap<String, Vec<String>>,
}

impl Text {
    /// Reads a text in XML. A part that shows no content, such as a placeholder, does not count.
    fn new(text: &str) -> Result<Self> {
        let mut bodies: HashMap<String, Vec<String>> = HashMap::new();
        for part in parse(text, OutputMode::Xml)? {
            if let (Some(path), Some(body)) = (part.words.into_iter().next(), part.body) {
                bodies.entry(path).or_default().push(body);
            }
        }
        Ok(Self { bodies })
    }

    /// Returns the lines of a file that the text shows in the parts of this file.
    fn shown(&self, path: &str, file: &str) -> Option<Shown> {
        let bodies = self.bodies.get(path)?;
        let lines: HashSet<usize> =
            bodies.iter().flat_map(|body| lines::shown(file, body)).collect();
        Some(Shown::Lines(lines))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use lcp_driver::{DefaultDriver, DriverConfig, Excerpts};
    use lcp_types::{Block, FormatHint, Lang};

    use super::{Shown, Text};

    const FILE: &str = "fn a() {}\n\nfn b() {\n    1\n}\n";

    #[test]
    fn lines_count_only_in_the_part_of_their_file() {
        let blocks = [
            Block::code(Lang::Rust, "src/a.rs", "…\nfn b() {\n    1\n}\n"),
            Block::code(Lang::Rust, "src/other.rs", FILE),
            Block::document("Notes", FILE, FormatHint::Plain),
        ];
        let text = DefaultDriver::default().render(&blocks, &DriverConfig::default()).unwrap();
        let text = Text::new(&text).unwrap();
        let Some(Shown::Lines(lines)) = text.shown("src/a.rs", FILE) else { panic!("not shown") };
        assert_eq!(lines, HashSet::from([3, 4, 5]));
        assert!(text.shown("src/missing.rs", FILE).is_none());
    }

    #[test]
    fn placeholders_show_nothing() {
        let long = "fn a() {}\n".repeat(2_000);
        let blocks = [
            Block::code(Lang::Rust, "src/a.rs", FILE),
            Block::code(Lang::Rust, "src/long.rs", long),
        ];
        let config = DriverConfig {
            token_budget: Some(100),
            excerpts: Excerpts::Off,
            ..DriverConfig::default()
        };
        let text = DefaultDriver::default().render(&blocks, &config).unwrap();
        assert!(text.contains("src/long.rs"), "{text}");
        let text = Text::new(&text).unwrap();
        assert!(text.bodies.contains_key("src/a.rs"));
        assert!(!text.bodies.contains_key("src/long.rs"));
    }
}

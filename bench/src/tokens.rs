//! `tokens`: what a project costs as text, and how long it takes to make the text,
//! beside naive Markdown and beside programs that do the same job.
//!
//! `docs/benchmarks.md` tells what the rows mean.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use crate::error::Error;
use crate::programs::output;
use crate::programs::{self, Times};
use crate::registry::{crates, named};
use crate::table::{Better, Report, Row, Wanted};

/// Its name.
pub const NAME: &str = "tokens";

/// The crate that is packed: some 5 MB of code.
const PROJECT: &str = "tokio";

/// The peers, and their versions.
const REPOMIX: &str = "1.18.1";
const YEK: &str = "0.25.5";

/// Tokens of the text that is wanted.
const BUDGET: u32 = 16_000;

/// Rounds of each program, interleaved.
const ROUNDS: usize = 7;

/// Measures it.
///
/// # Errors
///
/// Where the project or `lcp` cannot be had. A peer that cannot be had is told of,
/// and has no row.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
    let all = crates()?;
    let project = named(&all, &[PROJECT])?[0].folder().to_owned();
    let folder =
        tempfile::tempdir().map_err(|error| Error::io("make", &std::env::temp_dir(), error))?;
    let mut bench = Bench {
        lcp: programs::lcp(progress)?,
        project,
        folder: folder.path().to_owned(),
        counter: Tiktoken::new(Encoding::O200kBase),
        rows: Vec::new(),
    };
    let mut peer = |name: &str, found: Result<PathBuf, String>| match found {
        Ok(program) => Some(program),
        Err(why) => {
            progress(format!("{name} cannot be had: {why}"));
            None
        }
    };
    let mut quiet = |_: String| {};
    let repomix = peer("repomix", programs::of_npm("repomix", REPOMIX, &mut quiet));
    let yek = peer("yek", programs::of_cargo("yek", YEK, &mut quiet));
    bench.add_full_texts(repomix.as_deref())?;
    progress("the whole project is counted".to_owned());
    bench.speed(repomix.as_deref(), yek.as_deref())?;
    Ok(Report { bench: NAME, rows: bench.rows })
}

struct Bench {
    lcp: PathBuf,
    project: PathBuf,
    folder: PathBuf,
    counter: Tiktoken,
    rows: Vec<Row>,
}

impl Bench {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn count(&self, text: &[u8]) -> u32 {
        self.counter.estimate(&String::from_utf8_lossy(text))
    }

    /// Runs `lcp` in the project.
    fn lcp(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = Command::new(&self.lcp);
        output(command.arg("-q").args(arguments).current_dir(&self.project))
            .map_err(|message| Error::Command { command: "lcp".to_owned(), message })
    }

    /// What the same files cost, whole: without a tree, a summary or a heading of the
    /// whole, so that files alone are compared.
    fn add_full_texts(&mut self, repomix: Option<&Path>) -> Result<(), Error> {
        let pack = self.at("whole.lcp");
        let pack = pack.to_string_lossy().into_owned();
        self.lcp(&["pack", ".", "--no-tree", "-o", &pack])?;
        let bytes =
            std::fs::read(&pack).map_err(|error| Error::io("read", Path::new(&pack), error))?;
        let decoded = lcp_decoder::decode(&bytes, lcp_decoder::DecodeOptions::default())
            .map_err(|error| Error::Worker { message: error.to_string() })?;
        let mut files: Vec<_> = decoded
            .blocks
            .iter()
            .filter(|block| block.content.text().is_some())
            .map(|block| block.label().into_owned())
            .collect();
        files.sort_unstable();
        let naive = self.count(lcp_cli::naive::markdown(&decoded.blocks).as_bytes());
        let mut own = [0; 3];
        for (tokens, mode) in own.iter_mut().zip(["minimal", "markdown", "xml"]) {
            *tokens = self.count(&self.lcp(&["render", &pack, "--mode", mode])?);
        }
        let repomix = repomix.map(|program| self.repomix_whole(program, &files)).transpose()?;
        let note = Some(format!("{} files", files.len()));
        for (tokens, mode) in own.into_iter().zip(["minimal", "markdown", "xml"]) {
            let row = |peer: &str, figure: u32| {
                let what = format!("{PROJECT} whole, {mode}");
                Row::named(what, Better::Lower, "tokens").figures(
                    tokens.into(),
                    peer,
                    figure.into(),
                )
            };
            let wants = |row: Row| {
                if mode == "minimal" { row.wants(Wanted::RatioAtLeast(1.0)) } else { row }
            };
            self.rows.push(wants(row("naive Markdown", naive)).notes(note.clone()));
            if let Some(peer) = repomix {
                self.rows.push(wants(row("repomix, XML", peer)).notes(note.clone()));
            }
        }
        Ok(())
    }

    /// The tokens of repomix's text of the same files: by itself it leaves out some
    /// that `lcp` packs, and takes hidden ones.
    fn repomix_whole(&self, program: &Path, files: &[String]) -> Result<u32, Error> {
        let more = ["--no-file-summary", "--no-directory-structure"];
        let same = ["--no-default-patterns", "--ignore", ".*"];
        let text = self.repomix(program, &[more.as_slice(), &same].concat())?;
        let shown = String::from_utf8_lossy(&text);
        let mut its: Vec<_> = shown
            .lines()
            .filter_map(|line| line.strip_prefix("<file path=\"")?.strip_suffix("\">"))
            .collect();
        its.sort_unstable();
        if its != files {
            let message = format!("{} files are packed, {} by lcp", its.len(), files.len());
            return Err(Error::Peer { name: "repomix", message });
        }
        Ok(self.count(&text))
    }

    fn repomix(&self, program: &Path, more: &[&str]) -> Result<Vec<u8>, Error> {
        let out = self.at("repomix.xml");
        let mut command = Command::new(program);
        command.args(["--quiet", "--style", "xml", "-o"]).arg(&out).args(more);
        let failed = |message| Error::Peer { name: "repomix", message };
        output(command.arg(".").current_dir(&self.project)).map_err(failed)?;
        std::fs::read(&out).map_err(|error| Error::io("read", &out, error))
    }

    fn yek(&self, program: &Path) -> Result<Vec<u8>, Error> {
        let mut command = Command::new(program);
        command.args(["--tokens", &BUDGET.to_string()]).arg(".").current_dir(&self.project);
        output(&mut command).map_err(|message| Error::Peer { name: "yek", message })
    }

    /// From the folder to a text within a budget, by the two commands of the README.
    fn within(&self) -> Result<Vec<u8>, Error> {
        let failed = |message| Error::Command { command: "lcp".to_owned(), message };
        let spawned = Command::new(&self.lcp)
            .args(["-q", "pack", "."])
            .current_dir(&self.project)
            .stdout(Stdio::piped())
            .spawn();
        let mut packs = spawned.map_err(|error| failed(error.to_string()))?;
        let mut renders = Command::new(&self.lcp);
        renders.args(["-q", "render", "-", "--budget", &BUDGET.to_string()]);
        renders
            .current_dir(&self.project)
            .stdin(packs.stdout.take().map_or_else(Stdio::null, Stdio::from));
        let text = renders.output().map_err(|error| failed(error.to_string()))?;
        let packed = packs.wait().map_err(|error| failed(error.to_string()))?;
        if packed.success() && text.status.success() {
            return Ok(text.stdout);
        }
        Err(failed(String::from_utf8_lossy(&text.stderr).into_owned()))
    }

    /// The programs in turn, on files that the system has in memory.
    fn speed(&mut self, repomix: Option<&Path>, yek: Option<&Path>) -> Result<(), Error> {
        let (mut own, mut of_repomix, mut of_yek) =
            (Times::default(), Times::default(), Times::default());
        let (mut text, mut yeks) = (self.within()?, None);
        for _ in 0..ROUNDS {
            text = own.time(|| self.within())?;
            if let Some(program) = repomix {
                of_repomix.time(|| self.repomix(program, &[]))?;
            }
            if let Some(program) = yek {
                yeks = Some(of_yek.time(|| self.yek(program))?);
            }
        }
        let what = format!("{PROJECT} packed and rendered within {BUDGET}");
        let tokens = self.count(&text);
        for (name, times, is_there) in
            [("repomix", &of_repomix, repomix.is_some()), ("yek", &of_yek, yek.is_some())]
        {
            if is_there {
                let row = Row::named(what.clone(), Better::Lower, "ms");
                let row = row.figures(own.best(), name, times.best());
                let row = row.worst(own.worst(), times.worst());
                self.rows.push(row.wants(Wanted::RatioAtLeast(1.0)));
            }
        }
        let what = format!("tokens of a text of {BUDGET}");
        let row = Row::named(what, Better::Lower, "tokens");
        let peer = yeks.map_or(f64::NAN, |text| self.count(&text).into());
        let row = row.figures(tokens.into(), "yek --tokens", peer);
        self.rows.push(row.wants(Wanted::OwnAtMost(BUDGET.into())));
        Ok(())
    }
}

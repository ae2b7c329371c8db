//! `tokens`: the tokens of a project as text, and the time to create the text, compared with naive
//! Markdown and with programs that do the same job.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use crate::harness::{Contender, Progress, Result, Times, race, wall_timed};
use crate::programs::{self, REPOMIX, YEK, output};
use crate::registry::{crates, named};
use crate::table::{Better, Row, Wanted};

/// The crate that is packed, with about 5 MB of code.
const PROJECT: &str = "tokio";

/// The budget of the text, in tokens.
const BUDGET: u32 = 16_000;

/// The number of rounds. Programs take turns.
const ROUNDS: usize = 7;

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let all = crates()?;
    let project = named(&all, &[PROJECT])?[0].folder.clone();
    let folder = tempfile::tempdir()?;
    let bench = Bench {
        lcp: programs::lcp(progress)?,
        project,
        folder: folder.path().to_owned(),
        counter: Tiktoken::new(Encoding::O200kBase),
    };
    // A peer that cannot be installed gets no row.
    let mut peer = |name: &str, program: Result<PathBuf, String>| {
        program.inspect_err(|why| progress(format!("{name} cannot be had: {why}"))).ok()
    };
    let repomix = peer("repomix", programs::npm_program("repomix", REPOMIX));
    let yek = peer("yek", programs::cargo_program("yek", YEK));
    let mut rows = bench.full_texts(repomix.as_deref())?;
    progress("the full project is counted".to_owned());
    rows.extend(bench.speed(repomix.as_deref(), yek.as_deref())?);
    Ok(rows)
}

struct Bench {
    lcp: PathBuf,
    project: PathBuf,
    folder: PathBuf,
    counter: Tiktoken,
}

impl Bench {
    fn count(&self, text: &[u8]) -> u32 {
        self.counter.estimate(&String::from_utf8_lossy(text))
    }

    /// Returns a command that runs `lcp` in the folder of the project.
    fn lcp(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.lcp);
        command.arg("-q").args(arguments).current_dir(&self.project);
        command
    }

    /// Compares full texts of the same files, without trees and summaries.
    fn full_texts(&self, repomix: Option<&Path>) -> Result<Vec<Row>> {
        let pack = self.folder.join("whole.lcp");
        let pack = pack.to_string_lossy().into_owned();
        output(&mut self.lcp(&["pack", ".", "--no-tree", "-o", &pack]))?;
        let bytes = std::fs::read(&pack)?;
        let decoded = lcp_decoder::decode(&bytes, lcp_decoder::DecodeOptions::default())?;
        let mut files: Vec<_> = decoded
            .blocks
            .iter()
            .filter(|block| block.content.text().is_some())
            .map(|block| block.label().into_owned())
            .collect();
        files.sort_unstable();
        let naive =
            self.count(lcp_app::naive_markdown::pack_to_markdown(&decoded.blocks).as_bytes());
        let mut peers = vec![("naive Markdown", naive)];
        if let Some(program) = repomix {
            peers.push(("repomix, XML", self.repomix_full(program, &files)?));
        }
        let mut rows = Vec::new();
        for mode in ["minimal", "markdown", "xml"] {
            let text = output(&mut self.lcp(&["render", &pack, "--mode", mode]))?;
            let tokens = self.count(&text);
            let what = format!("{PROJECT} whole, {mode}");
            for (peer, figure) in &peers {
                let (own, figure) = (tokens.into(), (*figure).into());
                let wanted = (mode == "minimal").then_some(Wanted::RatioAtLeast(1.0));
                let row = Row::new(&what, Better::Lower, "tokens", own, *peer, figure);
                rows.push(row.notes(format!("{} files", files.len())).wants(wanted));
            }
        }
        Ok(rows)
    }

    /// Returns the number of tokens of repomix's text. Fails unless it has the same files as the
    /// pack.
    fn repomix_full(&self, program: &Path, files: &[String]) -> Result<u32> {
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
            let (its, own) = (its.len(), files.len());
            return Err(format!("repomix packs {its} files, lcp {own}").into());
        }
        Ok(self.count(&text))
    }

    fn repomix(&self, program: &Path, more: &[&str]) -> Result<Vec<u8>> {
        let out = self.folder.join("repomix.xml");
        let mut command = Command::new(program);
        command.args(["--quiet", "--style", "xml", "-o"]).arg(&out).args(more);
        output(command.arg(".").current_dir(&self.project))?;
        Ok(std::fs::read(&out)?)
    }

    fn yek(&self, program: &Path) -> Result<Vec<u8>> {
        let mut command = Command::new(program);
        command.args(["--tokens", &BUDGET.to_string()]).arg(".").current_dir(&self.project);
        Ok(output(&mut command)?)
    }

    /// Renders the folder within the budget, with the two commands of the README.
    fn within(&self) -> Result<Vec<u8>> {
        let mut packs = self.lcp(&["pack", "."]).stdout(Stdio::piped()).spawn()?;
        let mut renders = self.lcp(&["render", "-", "--budget", &BUDGET.to_string()]);
        renders.stdin(packs.stdout.take().map_or_else(Stdio::null, Stdio::from));
        let text = renders.output()?;
        if packs.wait()?.success() && text.status.success() {
            return Ok(text.stdout);
        }
        Err(format!("lcp failed: {}", String::from_utf8_lossy(&text.stderr)).into())
    }

    /// Compares the speed of the programs, which take turns on files in the system's page cache,
    /// and counts the tokens of their texts.
    fn speed(&self, repomix: Option<&Path>, yek: Option<&Path>) -> Result<Vec<Row>> {
        let mut contenders = vec![Contender::new("lcp", || wall_timed(|| self.within()))];
        if let Some(program) = repomix {
            let run = move || wall_timed(|| self.repomix(program, &[]));
            contenders.push(Contender::new("repomix", run));
        }
        if let Some(program) = yek {
            contenders.push(Contender::new("yek", move || wall_timed(|| self.yek(program))));
        }
        let times = race(&mut contenders, ROUNDS, 1)?;
        let what = format!("{PROJECT} packed and rendered within {BUDGET}");
        let row = |(peer, contender): (&Times, &Contender<'_>)| {
            let (own, other) = (times[0].best(), peer.best());
            Row::new(&what, Better::Lower, "ms", own, &contender.name, other)
                .worst(times[0].worst(), peer.worst())
                .wants(Wanted::RatioAtLeast(1.0))
        };
        let mut rows: Vec<_> = times.iter().zip(&contenders).skip(1).map(row).collect();
        let what = format!("tokens of a text of {BUDGET}");
        let own = self.count(&self.within()?).into();
        let peer = yek.map(|program| self.yek(program)).transpose()?;
        let peer = peer.map_or(f64::NAN, |text| self.count(&text).into());
        let row = Row::new(what, Better::Lower, "tokens", own, "yek --tokens", peer);
        rows.push(row.wants(Wanted::OwnAtMost(BUDGET.into())));
        Ok(rows)
    }
}

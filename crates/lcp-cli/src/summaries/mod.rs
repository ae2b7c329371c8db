//! Summaries of files: outlines, or what any program makes of them (RFC 0010 §4).

mod blocks;
mod cache;
mod slots;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use lcp_continuity::command::{CommandError, CommandFilter, CommandOptions};
use lcp_outline::{Kind, outline};
use lcp_types::Lang;
use lcp_types::limits::SUMMARY_BYTES_MAX;

use crate::Result;
use crate::config::SUMMARIZER_SECONDS_MAX;
use crate::failure::{Code, Failure, Output};
use crate::interrupt::{self, Hook};
pub use blocks::summarise;
use cache::Cache;
use slots::Slots;

/// Seconds that a program has for a summary.
const SECONDS: u32 = 60;

/// Programs that run at once: each has a thread that waits for it.
const JOBS_MAX: i64 = 256;

/// How texts get summaries
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Summarizing {
    /// Give texts summaries: `outline` keeps declarations of code, headings of
    /// documents, first and last lines of others [default: off]
    #[arg(long, value_name = "HOW")]
    summarize: Option<How>,
    /// Let the shell run CMD for each text: it is on standard input, `LCP_PATH`
    /// and `LCP_LANG` in the environment, the summary on standard output. Where it fails,
    /// the outline is taken. Never read from an lcp.toml
    #[arg(long, value_name = "CMD")]
    summarizer_cmd: Option<String>,
    /// How many of them run at once, up to 256 [default: the number of processors]
    #[arg(
        long,
        value_name = "N",
        requires = "summarizer_cmd",
        value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX)
    )]
    jobs: Option<u16>,
    /// Seconds that each has [default: 60]
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "summarizer_cmd",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUMMARIZER_SECONDS_MAX))
    )]
    summarizer_timeout: Option<u32>,
    /// Keep its answers there [default: lcp/summaries in the user's cache folder]
    #[arg(long, value_name = "DIR", requires = "summarizer_cmd")]
    summary_cache: Option<PathBuf>,
    /// Ask again for each file, and keep no answers
    #[arg(long, requires = "summarizer_cmd", conflicts_with = "summary_cache")]
    no_summary_cache: bool,
}

/// Where summaries come from without a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// There are none
    Off,
    /// lcp-outline makes them
    Outline,
}

impl Summarizing {
    /// What summarises, if anything does; `default`: where no flag says it.
    ///
    /// # Errors
    ///
    /// A program beside `--summarize off`.
    pub fn summaries(&self, default: How) -> Result<Option<Summaries>> {
        let Some(line) = &self.summarizer_cmd else {
            let is_on = self.summarize.unwrap_or(default) == How::Outline;
            return Ok(is_on.then(Summaries::outlines));
        };
        if self.summarize == Some(How::Off) {
            let message = "--summarizer-cmd has nothing to do with --summarize off";
            return Err(Failure::new(Code::Usage, message).hint("leave one of them out"));
        }
        if line.trim().is_empty() {
            return Err(Failure::new(Code::Usage, "--summarizer-cmd is empty"));
        }
        let cache = match &self.summary_cache {
            _ if self.no_summary_cache => None,
            Some(folder) => Some(folder.clone()),
            None => cache::of_user(|name| std::env::var_os(name)),
        };
        let seconds = self.summarizer_timeout.unwrap_or(SECONDS);
        let options = CommandOptions {
            timeout: Duration::from_secs(u64::from(seconds)),
            max_output_bytes: usize::try_from(SUMMARY_BYTES_MAX).unwrap_or(usize::MAX),
        };
        let jobs = self.jobs().or_else(|| std::thread::available_parallelism().ok());
        let filter = CommandFilter::shell(line).with_options(options);
        let stopping = filter.clone();
        Ok(Some(Summaries {
            asked: Some(Asked {
                line: line.clone(),
                _stop: interrupt::on_interrupt(move || stopping.stop()),
                filter,
                slots: Slots::new(jobs.map_or(1, NonZeroUsize::get)),
                cache: cache.map(Cache::new),
            }),
            failures: Mutex::default(),
        }))
    }

    /// How many programs are to run at once, where that is said.
    pub fn jobs(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(self.jobs?.into())
    }

    /// The files with answers of the folder that is named, if one is.
    pub fn kept(&self) -> Vec<PathBuf> {
        self.summary_cache.as_deref().map(cache::entries).unwrap_or_default()
    }
}

/// What summarises files; any number of threads may ask at once.
#[derive(Debug)]
pub struct Summaries {
    asked: Option<Asked>,
    failures: Mutex<Failures>,
}

/// A program that is asked for summaries.
#[derive(Debug)]
struct Asked {
    line: String,
    filter: CommandFilter,
    /// Ctrl-C stops what runs.
    _stop: Hook,
    slots: Slots,
    cache: Option<Cache>,
}

/// What the program did not answer.
#[derive(Clone, Debug, Default)]
struct Failures {
    count: usize,
    /// The first by path, so that it is the same in each run: the path and the reason.
    first: Option<(String, String)>,
}

impl Summaries {
    /// Without a program.
    pub fn outlines() -> Self {
        Self { asked: None, failures: Mutex::default() }
    }

    /// The summary of a file by its label and its text; `None` where it would not be
    /// smaller.
    pub fn summary(&self, path: &str, kind: Kind, text: &str) -> Option<String> {
        let own = || outline(kind, text, &lcp_outline::Options::default());
        let Some(asked) = &self.asked else { return own() };
        match asked.answer(path, language(kind), text) {
            Ok(answer) => (answer.len() < text.len()).then_some(answer),
            Err(error) => {
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.count += 1;
                if failures.first.as_ref().is_none_or(|(first, _)| path < first.as_str()) {
                    failures.first = Some((path.to_owned(), error.to_string()));
                }
                drop(failures);
                own()
            }
        }
    }

    /// Warns of what the program did not answer, in one line, if anything.
    pub fn warn(&self, output: &Output) {
        if let Some(warning) = self.warning() {
            output.warn(warning);
        }
    }

    /// What the program did not answer, in one line.
    pub fn warning(&self) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (path, reason) = failures.first?;
        let (count, path) = (failures.count, path.escape_debug());
        let plural = if count == 1 { "" } else { "s" };
        Some(format!("{count} text{plural} not summarised by the program; {path}: {reason}"))
    }
}

impl Asked {
    /// What was kept of this text, else what the program says.
    fn answer(&self, path: &str, lang: &str, text: &str) -> Result<String, CommandError> {
        let key = cache::key(&[&self.line, path, lang, text]);
        if let Some(answer) = self.cache.as_ref().and_then(|cache| cache.get(&key)) {
            return Ok(answer);
        }
        let answer = {
            let _slot = self.slots.take();
            self.filter.run(text.to_owned(), &[("LCP_PATH", path), ("LCP_LANG", lang)])?
        };
        let answer = answer.trim();
        if answer.is_empty() {
            return Err(CommandError::Empty { program: self.filter.name().to_owned() });
        }
        if let Some(cache) = &self.cache {
            cache.put(&key, answer);
        }
        Ok(answer.to_owned())
    }
}

/// What a program is told of the language; empty where it is none.
fn language(kind: Kind) -> &'static str {
    match kind {
        Kind::Code(lang) => lang.name().unwrap_or_default(),
        Kind::Document => Lang::Markdown.name().unwrap_or_default(),
        Kind::Text => "",
    }
}

#[cfg(all(test, unix))]
mod tests;

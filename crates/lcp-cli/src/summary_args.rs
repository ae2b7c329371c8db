//! The flags of summaries.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use lcp_continuity::command::CommandOptions;
use lcp_ingest::{FileSummarizer, cached_answers};
use lcp_types::limits::SUMMARY_BYTES_MAX;

use crate::Result;
use lcp_app::config::SUMMARIZER_SECONDS_MAX;
use lcp_app::folders;
use lcp_app::interrupt::{self, Hook};
use lcp_app::{Error, ErrorKind};

/// Seconds that a program has for a summary.
const SECONDS: u32 = 60;

/// Programs that run at once: each has a thread that waits for it.
const JOBS_MAX: i64 = 256;

/// How texts get summaries
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SummaryArgs {
    /// Give texts summaries: `outline` keeps declarations of code, headings of
    /// documents, first and last lines of others [default: off]
    #[arg(long, value_name = "HOW")]
    summarize: Option<SummaryMethod>,
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

/// A method of summaries that needs no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryMethod {
    /// There are none
    Off,
    /// Outlines, without a model
    Outline,
}

impl SummaryArgs {
    /// Returns the summarizer that the flags select, if any, and a hook that stops it on
    /// Ctrl-C; `default` is the method without flags.
    ///
    /// # Errors
    ///
    /// A program together with `--summarize off`.
    pub fn summarizer(&self, default: SummaryMethod) -> Result<Option<(FileSummarizer, Hook)>> {
        let Some(line) = &self.summarizer_cmd else {
            let is_on = self.summarize.unwrap_or(default) == SummaryMethod::Outline;
            return Ok(is_on.then(|| with_hook(FileSummarizer::default())));
        };
        if self.summarize == Some(SummaryMethod::Off) {
            let message = "--summarizer-cmd has nothing to do with --summarize off";
            return Err(Error::new(ErrorKind::Usage, message).with_hint("leave one of them out"));
        }
        if line.trim().is_empty() {
            return Err(Error::new(ErrorKind::Usage, "--summarizer-cmd is empty"));
        }
        let cache = match &self.summary_cache {
            _ if self.no_summary_cache => None,
            Some(folder) => Some(folder.clone()),
            None => default_cache(|name| std::env::var_os(name)),
        };
        let seconds = self.summarizer_timeout.unwrap_or(SECONDS);
        let options = CommandOptions {
            timeout: Duration::from_secs(u64::from(seconds)),
            max_output_bytes: usize::try_from(SUMMARY_BYTES_MAX).unwrap_or(usize::MAX),
        };
        let jobs = self.jobs().or_else(|| std::thread::available_parallelism().ok());
        let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
        Ok(Some(with_hook(FileSummarizer::with_command(line, options, jobs, cache))))
    }

    fn jobs(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(self.jobs?.into())
    }

    /// Returns the cached answers of the folder that a flag names.
    pub fn cached_answers(&self) -> Vec<PathBuf> {
        self.summary_cache.as_deref().map(cached_answers).unwrap_or_default()
    }

    /// Runs `work` with as many rayon threads as there are processors, or with `--jobs` if
    /// that is more: most of them wait for programs.
    ///
    /// # Errors
    ///
    /// The system has no more threads.
    pub fn run_in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let more = |jobs: &NonZeroUsize| jobs.get() > rayon::current_num_threads();
        let Some(jobs) = self.jobs().filter(more) else {
            return Ok(work());
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build();
        let pool = pool.map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot start {jobs} threads: {error}"))
                .with_hint("--jobs says how many programs run at once")
        })?;
        Ok(pool.install(work))
    }
}

fn with_hook(summarizer: FileSummarizer) -> (FileSummarizer, Hook) {
    let hook = interrupt::on_interrupt(summarizer.stop_handle());
    (summarizer, hook)
}

/// Returns the folder `lcp/summaries` of the caches of this user.
fn default_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    folders::cache_dir(variable).map(|folder| folder.join("lcp").join("summaries"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: SummaryArgs,
    }

    fn parse(args: &[&str]) -> Result<SummaryArgs, String> {
        let cli = Cli::try_parse_from(std::iter::once(&"lcp").chain(args));
        cli.map(|cli| cli.args).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_without_a_flag() {
        use SummaryMethod::{Off, Outline};
        assert!(parse(&[]).unwrap().summarizer(Off).unwrap().is_none());
        assert!(parse(&[]).unwrap().summarizer(Outline).unwrap().is_some());
        let off = parse(&["--summarize", "off"]).unwrap();
        assert!(off.summarizer(Outline).unwrap().is_none());
    }

    #[test]
    fn flags_that_cannot_be() {
        for args in [
            &["--jobs", "2"][..],
            &["--summarizer-cmd", "cat", "--jobs", "0"],
            &["--summarizer-cmd", "cat", "--summarizer-timeout", "0"],
            &["--summarizer-cmd", "cat", "--summary-cache", "x", "--no-summary-cache"],
            &["--summarize", "often"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
        let both = parse(&["--summarize", "off", "--summarizer-cmd", "cat"]).unwrap();
        let failure = both.summarizer(SummaryMethod::Off).unwrap_err();
        assert!(failure.message.contains("--summarize off"));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn the_folder_of_a_user() {
        let folder = |given: &'static [(&str, &str)]| {
            default_cache(|name| {
                given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            })
        };
        assert_eq!(
            folder(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]),
            Some("/c/lcp/summaries".into())
        );
        let home = Some("/h/.cache/lcp/summaries".into());
        assert_eq!(folder(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]), home);
        assert_eq!(folder(&[]), None);
    }
}

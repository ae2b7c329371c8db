//! Options of summaries: outlines, or the output of a program (RFC 0010 §4).

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use lcp_continuity::command::CommandOptions;
use lcp_ingest::{FileSummarizer, cached_answers};
use lcp_types::limits::SUMMARY_BYTES_MAX;

use crate::error::{Error, ErrorKind, Result};
use crate::folders;
use crate::interrupt::{self, Hook};

/// The default timeout of a program in seconds.
const SECONDS: u32 = 60;

/// The options of summaries.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// `true` if texts get outlines as summaries. For packs of files, `None` means the setting of
    /// `lcp.toml`; for transcripts, it means no outlines.
    pub outlines: Option<bool>,
    /// The shell command that summarizes each text. If it fails, the outline is used.
    pub command: Option<String>,
    /// The number of commands that run at once. The default is the number of processors.
    pub jobs: Option<NonZeroUsize>,
    /// The timeout of a command in seconds. The default is 60.
    pub timeout: Option<u32>,
    /// The cache of its answers.
    pub cache: SummaryCache,
}

/// A place for the answers of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SummaryCache {
    /// `lcp/summaries` in the user's cache folder, if there is one.
    #[default]
    User,
    /// A folder.
    Folder(PathBuf),
    /// No cache; the command runs for each text.
    Off,
}

impl SummaryOptions {
    /// Returns the summarizer, if any, and a hook that stops it if the process is interrupted.
    /// `default` is `true` if outlines are on by default.
    ///
    /// # Errors
    ///
    /// Returns an error if the command is empty, or given although outlines are off.
    pub(crate) fn summarizer(&self, default: bool) -> Result<Option<(FileSummarizer, Hook)>> {
        let Some(line) = &self.command else {
            let is_on = self.outlines.unwrap_or(default);
            return Ok(is_on.then(|| with_hook(FileSummarizer::default())));
        };
        if self.outlines == Some(false) {
            let message = "--summarizer-cmd cannot be used with --summarize off";
            return Err(Error::new(ErrorKind::Usage, message).with_hint("omit one of them"));
        }
        if line.trim().is_empty() {
            return Err(Error::new(ErrorKind::Usage, "--summarizer-cmd must not be empty"));
        }
        let cache = match &self.cache {
            SummaryCache::User => default_cache(|name| std::env::var_os(name)),
            SummaryCache::Folder(folder) => Some(folder.clone()),
            SummaryCache::Off => None,
        };
        let options = CommandOptions {
            timeout: Duration::from_secs(u64::from(self.timeout.unwrap_or(SECONDS))),
            max_output_bytes: usize::try_from(SUMMARY_BYTES_MAX).unwrap_or(usize::MAX),
        };
        let jobs = self.jobs.or_else(|| std::thread::available_parallelism().ok());
        let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
        Ok(Some(with_hook(FileSummarizer::with_command(line, options, jobs, cache))))
    }

    /// Returns the cached answers in the folder that the options name.
    pub(crate) fn cached_answers(&self) -> Vec<PathBuf> {
        match &self.cache {
            SummaryCache::Folder(folder) => cached_answers(folder),
            SummaryCache::User | SummaryCache::Off => Vec::new(),
        }
    }
}

/// Runs `work` in a rayon pool with one thread per processor, or per job if there are more jobs,
/// because most threads wait for commands.
///
/// # Errors
///
/// Returns an error if the threads cannot be started.
pub(crate) fn run_in_pool<T: Send>(
    jobs: Option<NonZeroUsize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T> {
    let more = |jobs: &NonZeroUsize| jobs.get() > rayon::current_num_threads();
    let Some(jobs) = jobs.filter(more) else {
        return Ok(work());
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build();
    let pool = pool.map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot start {jobs} threads: {error}"))
            .with_hint("lower the number of jobs")
    })?;
    Ok(pool.install(work))
}

fn with_hook(summarizer: FileSummarizer) -> (FileSummarizer, Hook) {
    let hook = interrupt::on_interrupt(summarizer.stop_handle());
    (summarizer, hook)
}

/// Returns the folder `lcp/summaries` in the user's cache folder.
fn default_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    folders::cache_dir(variable).map(|folder| folder.join("lcp").join("summaries"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_option_overrides_the_default() {
        let is_some = |outlines, default| {
            let options = SummaryOptions { outlines, ..SummaryOptions::default() };
            options.summarizer(default).unwrap().is_some()
        };
        assert!(!is_some(None, false) && is_some(None, true));
        assert!(!is_some(Some(false), true) && is_some(Some(true), false));
    }

    #[test]
    fn command_with_summaries_off_or_empty_is_an_error() {
        let command = |line: &str, outlines| {
            let options = SummaryOptions {
                command: Some(line.to_owned()),
                outlines,
                ..SummaryOptions::default()
            };
            options.summarizer(false).unwrap_err().message
        };
        assert!(command("cat", Some(false)).contains("--summarize off"));
        assert!(command(" ", None).contains("empty"));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn default_cache_is_below_the_user_cache_folder() {
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

//! The flags of summaries.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use lcp_app::config::SUMMARIZER_SECONDS_MAX;
use lcp_app::summaries::{SummaryCache, SummaryOptions};

/// The maximum number of programs that run at once. Each has a thread that waits for it.
pub const JOBS_MAX: i64 = 256;

/// The flags of summaries
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SummaryArgs {
    /// Add a summary to each text [default: off]
    ///
    /// An outline consists of the declarations of code, the headings of documents, or the first
    /// and last lines of other texts.
    #[arg(long, value_name = "METHOD")]
    summarize: Option<SummaryMethod>,
    /// Shell command that writes the summary of each text
    ///
    /// CMD reads the text from standard input and writes the summary to standard output. The
    /// environment variables `LCP_PATH` and `LCP_LANG` hold the path and the language. If CMD
    /// fails, the outline is used. An lcp.toml cannot set this.
    #[arg(long, value_name = "CMD")]
    summarizer_cmd: Option<String>,
    /// Summarizer commands to run at once, up to 256 [default: number of processors]
    #[arg(
        long,
        value_name = "N",
        requires = "summarizer_cmd",
        value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX)
    )]
    jobs: Option<u16>,
    /// Time limit for each summarizer command, in seconds [default: 60]
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "summarizer_cmd",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUMMARIZER_SECONDS_MAX))
    )]
    summarizer_timeout: Option<u32>,
    /// Folder to cache summaries in [default: lcp/summaries in the user's cache]
    #[arg(long, value_name = "DIR", requires = "summarizer_cmd")]
    summary_cache: Option<PathBuf>,
    /// Run the summarizer for every text, and cache no summaries
    #[arg(long, requires = "summarizer_cmd", conflicts_with = "summary_cache")]
    no_summary_cache: bool,
}

/// A method of summarizing that needs no external command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryMethod {
    /// No summaries
    Off,
    /// Outlines, made without a model
    Outline,
}

impl SummaryArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> SummaryOptions {
        SummaryOptions {
            outlines: self.summarize.map(|method| method == SummaryMethod::Outline),
            command: self.summarizer_cmd.clone(),
            jobs: self.jobs.and_then(|jobs| NonZeroUsize::new(jobs.into())),
            timeout: self.summarizer_timeout,
            cache: match &self.summary_cache {
                _ if self.no_summary_cache => SummaryCache::Off,
                Some(folder) => SummaryCache::Folder(folder.clone()),
                None => SummaryCache::User,
            },
        }
    }
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
    fn invalid_summary_flags_are_rejected() {
        for args in [
            &["--jobs", "2"][..],
            &["--summarizer-cmd", "cat", "--jobs", "0"],
            &["--summarizer-cmd", "cat", "--summarizer-timeout", "0"],
            &["--summarizer-cmd", "cat", "--summary-cache", "x", "--no-summary-cache"],
            &["--summarize", "often"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}

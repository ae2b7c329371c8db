//! The flags of summaries.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use lcp_app::config::SUMMARIZER_SECONDS_MAX;
use lcp_app::summaries::{SummaryCache, SummaryOptions};

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
    }
}

//! The flags of converters.

use std::num::NonZeroUsize;

use lcp_app::config::SUMMARIZER_SECONDS_MAX;
use lcp_app::converters::ConverterOptions;
use lcp_ingest::{ConvertCommand, Pattern};

use crate::summary_args::JOBS_MAX;

/// The flags of converters
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConverterArgs {
    /// Shell command that converts matching files to text, such as `*.pdf=pdftotext -layout {} -`;
    /// repeatable
    ///
    /// `{}` is replaced by the path of the file, already quoted. A command without `{}` reads the file
    /// from standard input. If several globs match, the last one wins. If a command fails, a text of
    /// at most --max-file-size is packed as it is, and any other file is left out. `[[pack.convert]]` of lcp/config.toml in your settings
    /// folder adds converters. An lcp.toml cannot set them.
    #[arg(long, value_name = "GLOB=COMMAND", value_parser = command)]
    convert: Vec<ConvertCommand>,
    /// Converters to run at once, up to 256 [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX))]
    convert_jobs: Option<u16>,
    /// Time limit for each converter, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUMMARIZER_SECONDS_MAX)))]
    convert_timeout: Option<u32>,
    /// Convert every file again, and store no texts
    #[arg(long)]
    no_convert_cache: bool,
}

impl ConverterArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> ConverterOptions {
        ConverterOptions {
            commands: self.convert.clone(),
            jobs: self.convert_jobs.and_then(|jobs| NonZeroUsize::new(jobs.into())),
            timeout: self.convert_timeout,
            no_cache: self.no_convert_cache,
        }
    }
}

/// Parses a glob and a command. Commands often have an `=`, globs hardly ever.
fn command(value: &str) -> Result<ConvertCommand, String> {
    let (glob, command) = value.split_once('=').ok_or("expected GLOB=COMMAND")?;
    ConvertCommand::new(Pattern::parse(glob)?, command)
}

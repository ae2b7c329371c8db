//! The command `parse`: converts rendered text to a manifest of its blocks (RFC 0008 §2).

use std::path::PathBuf;

use lcp_app::names::MODES;
use lcp_app::parse::ParsedText;
use lcp_driver::OutputMode;

use crate::Result;
use crate::arguments::by_name;
use crate::files;
use crate::output::Output;

/// The name of the text in errors.
const TEXT: &str = "the text";

/// Parse rendered text back into a JSON manifest of its blocks
///
/// Contents are exact, and so are labels of up to 200 characters. Data that the mode does not show
/// is absent. Warnings report blocks that the text shows only in part or as a placeholder. The exit
/// code is 3 if `render` did not write the text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp render samples/every-type.lcp -o /tmp/text.xml
  lcp parse /tmp/text.xml | lcp encode - -o /tmp/again.lcp
  lcp render samples/chat.lcp --mode minimal | lcp parse - --mode minimal")]
pub struct Args {
    /// Rendered text to read; `-` for standard input
    text: PathBuf,
    /// Format of the text
    #[arg(long, value_parser = by_name(MODES), default_value = "xml")]
    mode: OutputMode,
    /// Write the manifest to this file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Prints the manifest.
pub fn run(args: &Args, output: &Output) -> Result {
    let out = args.output.as_deref().map(|path| ("-o", path));
    files::check_distinct_paths(&[(TEXT, &args.text)], out.as_slice(), |_, _| false)?;
    let bytes = files::read(&args.text, output)?;
    let parsed = ParsedText::new(&args.text, &bytes, args.mode)?;
    for warning in &parsed.warnings {
        output.warn(warning);
    }
    files::write(args.output.as_deref(), parsed.manifest.to_json().as_bytes())
}

//! `parse`: a rendered text in, the manifest of its blocks out (RFC 0008 §2).

use std::path::PathBuf;

use lcp_app::names::MODES;
use lcp_app::parse::ParsedText;
use lcp_driver::OutputMode;

use crate::Result;
use crate::arguments::by_name;
use crate::files;
use crate::output::Output;

/// What errors call the text.
const TEXT: &str = "the text";

/// Print the JSON manifest of the blocks of a rendered text
///
/// Contents are exact, and so are labels of up to 200 characters; what the mode does
/// not show is absent. What stands in the text only by a placeholder or in part is
/// warned of. A text that `render` did not write ends with 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  lcp render samples/every-type.lcp -o /tmp/text.xml
  lcp parse /tmp/text.xml | lcp encode - -o /tmp/again.lcp
  lcp render samples/chat.lcp --mode minimal | lcp parse - --mode minimal")]
pub struct Args {
    /// The text; `-` for standard input
    text: PathBuf,
    /// The format that it was rendered in
    #[arg(long, value_parser = by_name(MODES), default_value = "xml")]
    mode: OutputMode,
    /// Write the manifest there; standard output by default
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

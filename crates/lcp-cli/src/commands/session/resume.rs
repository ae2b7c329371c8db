//! The command `session resume`: resumes from a hand-off, exactly once.

use crate::Result;
use crate::arguments::parse_tokens;
use crate::files::{self, StdoutResult};
use crate::output::Output;
use crate::session_args::SessionArgs;
use lcp_app::sessions::{HandoffSettings, WindowOptions, resume_json, resume_text, warning_lines};
use lcp_app::special_tokens;

/// Resume from a hand-off and print the prompt for the new session
///
/// If several processes try to resume the same hand-off, exactly one succeeds. Messages that were
/// recorded after the hand-off follow the prompt. If the output was lost, --repeat prints it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session resume h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 > prompt.txt
  lcp session resume h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --as parser-2 --json
  lcp session resume h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --repeat > prompt.txt")]
pub struct Args {
    /// ID of the hand-off
    handoff: String,
    /// ID of the new session [default: derived from the ID of the hand-off]
    #[arg(long = "as", value_name = "ID")]
    conversation: Option<String>,
    /// Tokens of the context window [default: that of the previous session]
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    window: Option<u32>,
    /// Tokens of the window reserved for the model's output [default: as before]
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    output_reserve: Option<u32>,
    /// Print the output of a resumed hand-off again, and resume nothing
    #[arg(long, alias = "again", conflicts_with_all = ["conversation", "window", "output_reserve"])]
    repeat: bool,
    #[command(flatten)]
    session: SessionArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Resumes the hand-off and prints the prompt.
pub fn run(args: &Args, output: &Output) -> Result {
    let session = args.session.to_options();
    let config = args.session.read_config()?;
    let model = session.find_model(&config, true, output)?;
    let window = WindowOptions { window: args.window, output_reserve: args.output_reserve };
    let options = window.to_resume_options(args.conversation.clone())?;
    let settings = HandoffSettings::default();
    let (sessions, counter) = session.open(&config, model.as_ref(), &settings, false, output)?;
    let resumed = if args.repeat {
        sessions.resumed(&args.handoff)?
    } else {
        sessions.resume(&args.handoff, &options, |resumed| resume_text(resumed).map(drop))?
    };
    counter.save_cache(output);
    let id = resumed.new_conversation_id.escape_debug();
    let tokens = lcp_driver::plural(resumed.directive.tokens, "token");
    output.progress(format!("continued as {id}: {tokens}"));
    for warning in warning_lines(&resumed.directive.warnings, output.verbose) {
        output.warn(lcp_driver::escape_control(&warning));
    }
    let text = resume_text(&resumed)?;
    if let Some(warning) = special_tokens::warning_about(&text) {
        output.warn(warning);
    }
    let text = if args.json { files::json(&resume_json(&resumed)) } else { text };
    let repeat = format!("lcp session resume --repeat {}", args.handoff.escape_debug());
    match files::write_stdout(text.as_bytes()) {
        // The hand-off is resumed, so a second `resume` would not print this text.
        Ok(StdoutResult::Closed) => {
            output.warn(format!(
                "the output was not read to its end: run `{repeat}` to print it again"
            ));
            Ok(())
        }
        written => written.map(drop).map_err(|failure| {
            failure.with_hint(format!(
                "the hand-off is resumed; run `{repeat}` to print the text again"
            ))
        }),
    }
}

//! `session resume`: a hand-off is taken up, once.

use crate::Result;
use crate::arguments::parse_tokens;
use crate::files::{self, StdoutResult};
use crate::output::Output;
use crate::session_args::SessionArgs;
use lcp_app::sessions::{HandoffSettings, WindowOptions, resume_json, resume_text};
use lcp_app::special_tokens;

/// Take up a hand-off, and print what the next session is to be told first
///
/// Of all that try, one succeeds. The messages that came after the hand-off follow the
/// directive. Where the output was lost, --repeat prints it once more.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session resume h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 > prompt.txt
  lcp session resume h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --as parser-2 --json
  lcp session resume h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --repeat > prompt.txt")]
pub struct Args {
    /// The hand-off's id
    handoff: String,
    /// The id of the conversation that begins; made of the hand-off's without it
    #[arg(long = "as", value_name = "ID")]
    conversation: Option<String>,
    /// Tokens of the window of the model that goes on; those of the one before without it
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    window: Option<u32>,
    /// Tokens of it that the model's output needs; likewise
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    output_reserve: Option<u32>,
    /// Print what a hand-off gave that was resumed, and resume nothing
    #[arg(long, alias = "again", conflicts_with_all = ["conversation", "window", "output_reserve"])]
    repeat: bool,
    #[command(flatten)]
    session: SessionArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Takes it up.
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
    output.progress(format!("goes on as {id}: {} tokens", resumed.directive.tokens));
    for warning in &resumed.directive.warnings {
        output.warn(warning.escape_debug());
    }
    let text = resume_text(&resumed)?;
    if let Some(warning) = special_tokens::warning_about(&text) {
        output.warn(warning);
    }
    let text = if args.json { files::json(&resume_json(&resumed)) } else { text };
    let repeat = format!("lcp session resume --repeat {}", args.handoff.escape_debug());
    match files::write_stdout(text.as_bytes()) {
        // It is resumed, and no other try gives this text.
        Ok(StdoutResult::Closed) => {
            output.warn(format!("not all of it was read: `{repeat}` prints it once more"));
            Ok(())
        }
        written => written.map(drop).map_err(|failure| {
            failure.with_hint(format!("the hand-off is resumed: `{repeat}` prints this once more"))
        }),
    }
}

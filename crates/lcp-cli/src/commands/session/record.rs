//! `session record`: what is new of a conversation is recorded, and what it uses is told.

use std::path::PathBuf;

use lcp_continuity::ReportedUsage;

use crate::output::Output;
use crate::session_args::{SessionArgs, WindowArgs};
use crate::{Result, files};
use lcp_app::sessions::{HandoffSettings, NewMessages, input, reported_usage};

/// Record what is new of a conversation, and say whether it should be handed over
///
/// FILE has the conversation from its beginning; what it has beyond what is recorded is
/// recorded. Without FILE and --usage nothing is. A conversation that is not there is
/// begun.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session record parser session.lcp --window 200000
  lcp session record parser session.jsonl --model claude-sonnet-4-5
  lcp session record parser .aider.chat.history.md
  lcp session record parser --usage 151200,148000,900 --json
  lcp session record parser")]
pub struct Args {
    /// The conversation's id
    id: String,
    /// A pack, or a transcript that `import` knows by itself: messages of OpenAI or Anthropic,
    /// sessions of Claude Code or Codex, results of MCP tools, chats in Markdown; `-` for
    /// standard input
    file: Option<PathBuf>,
    /// Leave out the first N messages of FILE: those of sessions before
    #[arg(long, value_name = "N", default_value_t = 0, requires = "file")]
    skip: usize,
    /// What the provider reported of the newest request: tokens of its input, how many of
    /// these came from a cache, tokens of its output
    #[arg(long, value_name = "INPUT[,CACHED[,OUTPUT]]", value_parser = usage)]
    usage: Option<ReportedUsage>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Records, and says what is used.
pub fn run(args: &Args, output: &Output) -> Result {
    let WindowArgs { window, output_reserve } = args.window;
    let session = args.session.to_options();
    let config = args.session.read_config()?;
    let model = session.find_model(&config, window.is_some(), output)?;
    let resolved = args.window.to_options().resolve(&config, model.as_ref())?;
    let messages = match &args.file {
        Some(file) => {
            let mut messages = input::messages(file, output)?;
            messages.drain(..args.skip.min(messages.len()));
            NewMessages::Transcript(messages)
        }
        None => NewMessages::None,
    };
    let is_query = args.file.is_none() && args.usage.is_none();
    // An id that was mistyped begins nothing.
    let may_begin = !is_query || window.is_some() || output_reserve.is_some();
    let settings = HandoffSettings::default();
    let (sessions, counter) =
        session.open(&config, model.as_ref(), &settings, may_begin, output)?;
    let window = may_begin.then_some(&resolved);
    let tracked = sessions.record_usage(&args.id, messages, args.usage, window)?;
    counter.save_cache(output);
    let text = if args.json { files::json(&tracked.to_json()) } else { tracked.to_lines() };
    files::print(&text)
}

/// `INPUT[,CACHED[,OUTPUT]]`
fn usage(value: &str) -> Result<ReportedUsage, String> {
    let wrong = || "INPUT, INPUT,CACHED or INPUT,CACHED,OUTPUT is wanted, in tokens".to_owned();
    let numbers: Vec<u32> = value
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    let (input, cached, output) = match numbers[..] {
        [input] => (input, 0, 0),
        [input, cached] => (input, cached, 0),
        [input, cached, output] => (input, cached, output),
        _ => return Err(wrong()),
    };
    reported_usage(input, cached, output)
        .ok_or_else(|| "CACHED is a part of INPUT, and cannot be more".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_provider_reports() {
        let is = |value, input_tokens, cached_input_tokens, output_tokens| {
            let reported = ReportedUsage { input_tokens, cached_input_tokens, output_tokens };
            assert_eq!(usage(value), Ok(reported));
        };
        is("7", 7, 0, 0);
        is("7,7", 7, 7, 0);
        is(" 7, 0 ,9", 7, 0, 9);
        for wrong in ["", ",", "7,", "7,1,2,3", "-1", "1.5", "7,8", "4294967296"] {
            assert!(usage(wrong).is_err(), "{wrong}");
        }
    }
}

//! The command `session record`: records new messages and reports context usage.

use std::path::PathBuf;

use lcp_continuity::ReportedUsage;
use lcp_ingest::SecretPolicy;

use crate::arguments::block_secrets;
use crate::output::Output;
use crate::session_args::{SessionArgs, WindowArgs};
use crate::{Result, files};
use lcp_app::config::Origin;
use lcp_app::secrets::{MessageSecrets, REDACT};
use lcp_app::sessions::{HandoffSettings, NewMessages, input, reported_usage};

/// Record new messages and report context usage
///
/// FILE contains the session from its beginning, and only new messages are recorded; with --append, it
/// contains only new ones. The report
/// says whether a hand-off is due. Without FILE and --usage, the command only prints the report. A
/// session that does not exist is created if FILE, --usage or the window is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session record parser session.lcp --window 200000
  lcp session record parser session.jsonl --model claude-sonnet-4-5
  lcp session record parser .aider.chat.history.md
  lcp session record parser new-messages.json --append
  lcp session record parser --usage 151200,148000,900 --json
  lcp session record parser")]
pub struct Args {
    /// ID of the session
    id: String,
    /// Pack or transcript of the session; `-` for standard input
    ///
    /// `lcp import --help` lists the formats of transcripts.
    file: Option<PathBuf>,
    /// Skip the first N messages of FILE, which belong to earlier sessions
    #[arg(long, value_name = "N", default_value_t = 0, requires = "file")]
    skip: usize,
    /// Record all messages of FILE, which follow those of the session
    #[arg(long, requires = "file")]
    append: bool,
    /// Token usage that the provider reported for the newest request
    ///
    /// CACHED is the part of INPUT that came from a cache. Reported numbers replace counted ones.
    #[arg(long, value_name = "INPUT[,CACHED[,OUTPUT]]", value_parser = usage)]
    usage: Option<ReportedUsage>,
    /// Treatment of private keys, tokens and passwords: redact, warn or off [default: warn]
    ///
    /// `redact` replaces each secret by a marker such as `[secret github-token 1]`. `off` does not
    /// search for them. Hand-offs never have secrets. Exceptions are those of `lcp pack`.
    #[arg(long, value_name = "POLICY", value_parser = block_secrets())]
    secrets: Option<SecretPolicy>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Records the messages and prints the usage.
pub fn run(args: &Args, output: &Output) -> Result {
    let WindowArgs { window, output_reserve } = args.window;
    let session = args.session.to_options();
    let config = args.session.read_config()?;
    let model = session.find_model(&config, window.is_some(), output)?;
    let resolved = args.window.to_options().resolve(&config, model.as_ref())?;
    let mut secrets = None;
    let messages = match &args.file {
        Some(file) => {
            let mut messages = input::messages(file, output)?;
            let count = messages.len();
            if args.skip > count {
                let has = lcp_driver::plural(count as u64, "message");
                output.warn(format!(
                    "--skip {} leaves nothing to record: the file has {has}",
                    args.skip
                ));
            }
            messages.drain(..args.skip.min(count));
            let policy = args.secrets.unwrap_or(SecretPolicy::Warn);
            secrets = Some(MessageSecrets::apply(&mut messages, policy, &config)?);
            if args.append {
                NewMessages::Append(messages)
            } else {
                NewMessages::Transcript(messages)
            }
        }
        None => NewMessages::None,
    };
    let is_query = args.file.is_none() && args.usage.is_none();
    // A query must not create a conversation for a mistyped id.
    let may_begin = !is_query || window.is_some() || output_reserve.is_some();
    let settings = HandoffSettings::default();
    let (sessions, counter) =
        session.open(&config, model.as_ref(), &settings, may_begin, output)?;
    let names_model = model.is_some_and(|model| matches!(model.origin, Origin::Flag(_)));
    let window = (may_begin || names_model).then_some(&resolved);
    let mut tracked = sessions.record_usage(&args.id, messages, args.usage, window, may_begin)?;
    counter.save_cache(output);
    if let Some(warning) = secrets.and_then(|secrets| secrets.warning(tracked.recorded)) {
        let is_redacted = args.secrets == Some(SecretPolicy::Redact);
        let warning = if is_redacted { warning } else { format!("{warning}; {REDACT}") };
        tracked.warnings.push(warning);
    }
    for warning in &tracked.warnings {
        output.warn(warning);
    }
    output.debug_budget(&tracked.budget.debug_lines());
    let text = if args.json { files::json(&tracked.to_json()) } else { tracked.to_lines() };
    files::print(&text)
}

/// Parses `INPUT[,CACHED[,OUTPUT]]`.
fn usage(value: &str) -> Result<ReportedUsage, String> {
    let wrong = || "expected INPUT, INPUT,CACHED or INPUT,CACHED,OUTPUT in tokens".to_owned();
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
        .ok_or_else(|| "CACHED is a part of INPUT and must not exceed it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_flag_parses_up_to_three_token_counts() {
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

//! The command `session handoff`: prepares a hand-off of a session.

use std::path::PathBuf;

use crate::output::Output;
use crate::output_args::is_pack_on_stdout;
use crate::session_args::{HandoffArgs, SessionArgs};
use crate::{Result, files};
use lcp_app::sessions::{HandoffCondition, HandoffOutcome, in_line, store_files, warning_lines};

/// Prepare a hand-off of a session if it is due, and print its ID
///
/// If it is not due, nothing is printed to standard output, and the exit code is 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session handoff parser
  lcp session handoff parser --force --target 8000 -o parser.lcp
  lcp session handoff parser --force -o - | lcp render - --budget 4000
  id=$(lcp session handoff parser --if-due -q) && [ -n \"$id\" ] && lcp session resume \"$id\"")]
pub struct Args {
    /// ID of the session
    id: String,
    /// Prepare a hand-off even if it is not due
    #[arg(long, conflicts_with = "if_due")]
    force: bool,
    /// Prepare a hand-off at most once per epoch, and not if it would be futile
    ///
    /// Use this for a hook that runs after each turn.
    #[arg(long)]
    if_due: bool,
    /// Write the hand-off to this file, as a pack
    ///
    /// With `-`, the pack goes to standard output and the ID to standard error.
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    handoff: HandoffArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prepares the hand-off.
pub fn run(args: &Args, output: &Output) -> Result {
    let target = args.output.as_deref();
    let to_stdout = is_pack_on_stdout(target, args.json)?;
    // The conversation has its own window, so the window of the model is not needed.
    let session = args.session.to_options();
    let config = args.session.read_config()?;
    let model = session.find_model(&config, true, output)?;
    // Check the paths before anything is stored.
    let store = store_files(session.store.as_deref(), &config)?;
    let store: Vec<_> = store.iter().map(|path| ("the store", path.as_path())).collect();
    files::check_distinct_paths(&store, target.map(|path| ("-o", path)).as_slice(), |_, _| false)?;
    let settings = args.handoff.to_options();
    let (sessions, counter) = session.open(&config, model.as_ref(), &settings, false, output)?;
    let when = match (args.force, args.if_due) {
        (true, _) => HandoffCondition::Always,
        (_, true) => HandoffCondition::Once,
        _ => HandoffCondition::Due,
    };
    let prepared = sessions.handoff(&args.id, when)?;
    counter.save_cache(output);
    print_outcome(&prepared, output);
    let id = prepared.handoff.as_ref().map(|(handoff, _)| handoff.handoff_id.as_str());
    let printed = match id {
        _ if args.json => files::json(&prepared.to_json()),
        Some(id) => format!("{id}\n"),
        None => String::new(),
    };
    if to_stdout {
        output.progress(printed.trim_end());
    } else {
        // Print the id first: the hand-off is stored even if writing the file fails.
        files::write(None, printed.as_bytes())?;
    }
    match (&prepared.handoff, target) {
        (Some((_, pack)), Some(path)) => files::write(Some(path), pack),
        _ => Ok(()),
    }
}

/// Prints the outcome to standard error.
fn print_outcome(prepared: &HandoffOutcome, output: &Output) {
    let status = &prepared.status;
    let Some((handoff, _)) = &prepared.handoff else {
        let reason = prepared.skip_reason.as_ref().unwrap_or(&status.decision.reason);
        return output.progress(format!(
            "no hand-off: {} ({}%); pass --force to prepare one",
            in_line(reason),
            status.percent()
        ));
    };
    if !prepared.is_new {
        return output.progress("the hand-off already exists and is waiting to be resumed");
    }
    let metadata = &handoff.metadata;
    for warning in warning_lines(&metadata.warnings, output.verbose) {
        output.warn(lcp_driver::escape_control(&warning));
    }
    output.progress(format!(
        "prepared a hand-off of {} ({} tokens); the resume prompt has {} tokens; reason: {}",
        lcp_driver::plural(metadata.messages, "message"),
        metadata.tokens_before,
        metadata.tokens_after,
        in_line(&metadata.reason)
    ));
}

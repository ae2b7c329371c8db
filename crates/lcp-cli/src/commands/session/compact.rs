//! The command `session compact`: compacts a session, or the messages of a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_continuity::compact::{Compaction, CompactionOptions};
use lcp_driver::{group_thousands, plural};

use crate::output::Output;
use crate::output_args::is_pack_on_stdout;
use crate::session_args::{SessionArgs, SummarizerArgs, WindowArgs};
use crate::table::{self, Column, TableStyle};
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{
    CompactOptions, CompactionOutcome, SessionOptions, compact_messages, input, open_store,
    store_files,
};
use lcp_app::{Error, ErrorKind};

/// Replace old messages of a session or a file by a short memory
///
/// The newest messages stay as they are. All others become a system message that begins with
/// `[Persistent Memory]`: decisions, promises and other binding statements verbatim, then a
/// summary. All messages of a session remain in the store. A file is not changed. Messages that
/// fit the target are not compacted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session compact parser -o context.lcp
  lcp session compact parser --if-due -o context.lcp
  lcp session compact parser --dry-run --json
  lcp session compact chat.jsonl --window 8000 -o - | lcp export - --to openai")]
pub(super) struct Args {
    /// ID of a session, or a pack or transcript; `-` for standard input
    ///
    /// If both a session and a file have this name, the session is compacted.
    #[arg(value_name = "ID|FILE")]
    source: String,
    /// Compact only if less than 20% of the budget is left
    ///
    /// The budget is 80% of the window minus the output reserve.
    #[arg(long)]
    if_due: bool,
    /// Print the result, but change nothing
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Part of the window that the messages may fill afterwards, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    target_percent: u32,
    /// Part of the target that the memory may fill, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    memory_percent: u32,
    /// Write a pack to this file, with the messages that the window then shows
    ///
    /// The pack is written even if no compaction is due or needed. With `-`, it goes to standard
    /// output and the report to standard error.
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    summarizer: SummarizerArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Compacts the session or the file, and prints a report.
pub(super) fn run(args: &Args, output: &Output) -> Result {
    let target = args.output.as_deref();
    let to_stdout = is_pack_on_stdout(target, args.json)?;
    let config = args.session.read_config()?;
    let session = args.session.to_options();
    let outcome = if is_file(args, &session, &config) {
        compact_file(args, &session, &config, output)?
    } else {
        compact_session(args, &session, &config, output)?
    };
    warn(&outcome, output);
    let report = match &outcome.compaction {
        _ if args.json => files::json(&outcome.to_json()),
        Some(compaction) => lines(compaction),
        None => String::new(),
    };
    if to_stdout {
        for line in report.lines() {
            output.progress(line);
        }
    } else {
        // The session is compacted even if writing the file fails.
        files::print(&report)?;
    }
    match target {
        Some(path) => files::write(Some(path), &outcome.to_pack()?),
        None => Ok(()),
    }
}

/// Returns whether the source is a file and not a session.
fn is_file(args: &Args, session: &SessionOptions, config: &Config) -> bool {
    let path = Path::new(&args.source);
    let is_session = || {
        let store = open_store(session.store.as_deref(), config, false);
        store.is_ok_and(|store| store.conversation(&args.source).is_ok())
    };
    args.source == files::STANDARD || path.exists() && !path.is_dir() && !is_session()
}

fn compact_file(
    args: &Args,
    session: &SessionOptions,
    config: &Config,
    output: &Output,
) -> Result<CompactionOutcome> {
    let path = Path::new(&args.source);
    // A file can be compacted without a store, but `-o` must not replace one.
    let store = store_files(session.store.as_deref(), config).unwrap_or_default();
    let mut inputs = vec![("the messages", path)];
    inputs.extend(store.iter().map(|path| ("the store", path.as_path())));
    let target = args.output.as_deref().map(|path| ("-o", path));
    files::check_distinct_paths(&inputs, target.as_slice(), |_, _| false)?;
    let model = session.find_model(config, args.window.window.is_some(), output)?;
    let window = args.window.to_options().resolve(config, model.as_ref())?;
    let messages = input::messages(path, output)?;
    if let Some(warning) = &window.warning {
        output.warn(warning);
    }
    let counter = session.tokenizer.load(config, model.as_ref(), false, output)?;
    let estimator = Arc::clone(&counter.estimator);
    let settings = args.summarizer.to_options();
    let outcome =
        compact_messages(messages, &window, estimator, &settings, config, &args.options())?;
    counter.save_cache(output);
    Ok(outcome)
}

fn compact_session(
    args: &Args,
    session: &SessionOptions,
    config: &Config,
    output: &Output,
) -> Result<CompactionOutcome> {
    let WindowArgs { window, output_reserve } = args.window;
    if window.is_some() || output_reserve.is_some() {
        let name = args.source.escape_debug();
        let message = format!(
            "no file is named {name}, and --window and --output-reserve are only for files"
        );
        return Err(Error::new(ErrorKind::Usage, message).with_hint(
            "to change the window of a session, run `lcp session record ID --window N`",
        ));
    }
    let model = session.find_model(config, true, output)?;
    // Check the paths before anything is stored.
    let store = store_files(session.store.as_deref(), config)?;
    let store: Vec<_> = store.iter().map(|path| ("the store", path.as_path())).collect();
    let target = args.output.as_deref().map(|path| ("-o", path));
    files::check_distinct_paths(&store, target.as_slice(), |_, _| false)?;
    let outcome = session
        .open(config, model.as_ref(), &args.summarizer.to_options(), false, output)
        .and_then(|(sessions, counter)| {
            let outcome = sessions.compact(&args.source, &args.options())?;
            counter.save_cache(output);
            Ok(outcome)
        });
    // The source may be a mistyped path.
    outcome.map_err(|error| {
        let has_no_store = store.first().is_some_and(|(_, path)| !path.exists());
        if has_no_store || error.code == Some("unknown_conversation") {
            let name = args.source.escape_debug();
            let message = format!("no file is named {name}, and {}", error.message);
            return Error { message, ..error };
        }
        error
    })
}

impl Args {
    fn options(&self) -> CompactOptions {
        let (target_percent, memory_percent) = (self.target_percent, self.memory_percent);
        CompactOptions {
            sizes: CompactionOptions { target_percent, memory_percent, ..Default::default() },
            only_if_due: self.if_due,
            is_dry_run: self.dry_run,
        }
    }
}

/// Reports items that the memory lacks, and calls that change nothing, to standard error.
fn warn(outcome: &CompactionOutcome, output: &Output) {
    let warnings = outcome.warnings();
    if warnings.len() > 1 && !output.verbose {
        output.warn(format!(
            "the memory lacks {}; pass -v to list them [memory]",
            plural(warnings.len(), "item")
        ));
    } else {
        for warning in warnings {
            output.warn(format!("{warning} [memory]"));
        }
    }
    if let Some(reason) = &outcome.skip_reason {
        output.progress(reason);
    } else if outcome.is_dry_run {
        output.progress("dry run: nothing was changed");
    }
}

/// Returns the report for people.
fn lines(compaction: &Compaction) -> String {
    let memory = compaction.memory.as_ref().map_or_else(
        || "no memory".to_owned(),
        |memory| format!("a memory of {}", plural(memory.tokens, "token")),
    );
    let archived: u32 = compaction.archived.iter().map(|chunk| chunk.messages).sum();
    let kept = format!(
        "kept: {}, {memory}, {}; archived: {}; target: {} tokens",
        plural(compaction.system.len(), "system message"),
        plural(compaction.recent.len(), "other message"),
        plural(archived, "message"),
        group_thousands(compaction.target_tokens.into()),
    );
    let mut lines = compaction.lines();
    lines.push(kept);
    if !compaction.archived.is_empty() {
        lines.extend([String::new(), archived_table(compaction).trim_end().to_owned()]);
    }
    lines.join("\n") + "\n"
}

fn archived_table(compaction: &Compaction) -> String {
    const COLUMNS: [Column; 4] = [
        Column::Right("archived messages"),
        Column::Right("number"),
        Column::Right("tokens"),
        Column::Left("in the memory"),
    ];
    let rows: Vec<_> = compaction
        .archived
        .iter()
        .map(|chunk| {
            let range = if chunk.first == chunk.last {
                chunk.first.to_string()
            } else {
                format!("{} to {}", chunk.first, chunk.last)
            };
            let is_summarized = if chunk.is_summarized { "summarized" } else { "-" };
            vec![
                range,
                chunk.messages.to_string(),
                group_thousands(chunk.tokens.into()),
                is_summarized.to_owned(),
            ]
        })
        .collect();
    table::render(&COLUMNS, &rows, TableStyle::default())
}

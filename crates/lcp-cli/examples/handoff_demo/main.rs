//! Records a long conversation turn by turn, hands it over where that is due, resumes it, and
//! checks what every hand-off kept (RFC 0007).

mod checks;
mod drive;
mod input;
mod report;
mod settings;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use lcp_continuity::SessionContinuityService;
use lcp_continuity::store::ExpiryStats;

use lcp_app::sessions::failed;
use lcp_app::{Error, ErrorKind};
use lcp_cli::output::Output;
use lcp_cli::session_args::{HandoffArgs, WindowArgs};
use lcp_cli::tokenizer_args::TokenizerArgs;
use lcp_cli::{Result, arguments, files};
use settings::Settings;

/// Record a conversation, hand it off before its window is full, and resume it
///
/// Records every message in a store. When a hand-off is due, it is prepared and resumed, and the
/// conversation continues until its input ends. Prints a row for each hand-off, and checks all of
/// them against the messages. Without FILE, a long real conversation is downloaded once: aider's
/// own, from its Python package.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask handoff", bin_name = "cargo xtask handoff", version)]
#[command(after_help = "Examples:
  cargo xtask handoff --window 64000
  cargo xtask handoff samples/session.lcp --window 4000 --show last
  cargo xtask handoff history.md --pack /tmp/packs && cargo xtask report /tmp/packs/001-*.lcp
  cargo xtask handoff --summarizer-cmd 'llm -s \"Summarise.\"' --limit 500
  cargo xtask handoff --compact --window 32000")]
struct Args {
    /// Pack or chat history in Markdown, such as aider's; `-` for standard input
    file: Option<PathBuf>,
    /// Session store [default: that of lcp.toml, else a temporary file]
    ///
    /// A SQLite file, or a postgres:// URL if support for it is built in.
    #[arg(long, value_name = "PATH|URL")]
    store: Option<String>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    handoff: HandoffArgs,
    /// Only report when a hand-off is due
    #[arg(long)]
    manual: bool,
    /// Compact within the session instead of handing off
    #[arg(long, conflicts_with = "manual")]
    compact: bool,
    /// Resume prompts to print
    #[arg(long, value_name = "SELECTION", default_value = "none")]
    show: Show,
    /// Maximum number of messages to use [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Write each hand-off to this folder, as a pack
    #[arg(long, value_name = "DIR")]
    pack: Option<PathBuf>,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    counting: TokenizerArgs,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Show {
    None,
    Last,
    All,
}

fn main() -> ExitCode {
    let args: Args = match arguments::parse(std::env::args_os().collect()) {
        Ok(args) => args,
        Err((failure, output)) => return output.fail(&failure).into(),
    };
    match run(&args, &args.output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => args.output.fail(&failure).into(),
    }
}

fn run(args: &Args, output: &Output) -> Result {
    let config = args.counting.read_config()?;
    let (model, unknown) =
        args.counting.to_options().find_model(&config, args.window.window.is_some())?;
    if let Some(warning) = unknown {
        output.warn(warning);
    }
    let settings = Settings::resolve(args, &config, model.as_ref(), output)?;
    let mut messages = input::messages(args.file.as_deref(), output)?;
    messages.truncate(args.limit.unwrap_or(usize::MAX));
    if messages.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "--limit 0 leaves no messages"));
    }
    let counter = args.counting.to_options().load(&config, model.as_ref(), false, output)?;
    let (demo, service) = settings.open(Arc::clone(&counter.estimator))?;
    let start = Instant::now();
    let story = drive::run(&service, &settings, &demo.conversation, messages, output)?;
    output.progress(format!("{:.1} s", start.elapsed().as_secs_f64()));
    let checks = checks::check(&story, &*counter.estimator)?;
    if let Some(folder) = &args.pack {
        write_packs(folder, &story)?;
    }
    let shown = shown(args.show, &story);
    let text = if args.json {
        let json = report::json(&settings, &story, &checks, &*counter.estimator, shown);
        format!("{json:#}\n")
    } else {
        let directives = shown.iter().map(table::directive);
        directives.collect::<String>() + &table::table(&settings, &story, &checks)
    };
    files::write(None, text.as_bytes())?;
    counter.save_cache(output);
    if settings.is_kept() {
        expire(&service, output)?;
    }
    checks.result()
}

/// Deletes expired conversations and hand-offs of earlier runs.
fn expire(service: &SessionContinuityService, output: &Output) -> Result {
    let ExpiryStats { conversations, handoffs, bodies } =
        service.store().expire().map_err(failed)?;
    if conversations + handoffs + bodies > 0 {
        output.progress(format!(
            "expired: {}, {}, {bodies} {}",
            lcp_driver::plural(conversations, "conversation"),
            lcp_driver::plural(handoffs, "hand-off"),
            if bodies == 1 { "body" } else { "bodies" },
        ));
    }
    Ok(())
}

/// Returns the hand-offs whose resume prompts are printed.
fn shown(show: Show, story: &drive::Story) -> &[drive::HandedOver] {
    let all = &story.handed_over;
    match show {
        Show::None => &[],
        Show::Last => &all[all.len().saturating_sub(1)..],
        Show::All => all,
    }
}

fn write_packs(folder: &Path, story: &drive::Story) -> Result {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::io("create", folder.display(), &error))?;
    for (at, handed) in story.handed_over.iter().enumerate() {
        let name = format!("{:03}-{}.lcp", at + 1, handed.handoff.handoff_id);
        files::write(Some(&folder.join(name)), &handed.pack)?;
    }
    Ok(())
}

//! The command `render`: renders a pack to text within a budget.

use std::path::{Path, PathBuf};

use lcp_driver::usage::{UsageMonitor, section_line};
use lcp_driver::{Plan, escape_control_json, plural, report};

use crate::Result;
use crate::clipboard::{self, Copied};
use crate::files::{self, PACK};
use crate::output::Output;
use crate::render_args::RenderArgs;
use lcp_app::prompt_cache::{PLAN, PREVIOUS};
use lcp_app::render::{RenderJob, RenderSetup, RenderedPack};
use lcp_app::{Error, ErrorKind};

/// Render a pack within a token budget
///
/// Writes only the text to standard output, and warnings to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp render samples/session.lcp --budget 8000
  lcp render samples/session.lcp --budget 2000 --mode minimal --report -
  lcp render samples/session.lcp --model gpt-4 --shares agent --html report.html
  cat pack.lcp | lcp render - --mode markdown --types code,diff
  lcp render project.lcp --budget 30000 --copy

  In every turn of a session, so that the prompt cache stays valid:
  lcp render turn.lcp --budget 100000 --previous plan.json --plan plan.json
  Give newer blocks a higher rank (in a manifest \"tags\": [\"rank=12\"]). Without ranks, a
  repacked text keeps the oldest blocks of a priority

Environment:
  LCP_DEBUG_BUDGET  print the tokens used, and those of each share, to standard error, unless
                    empty, 0 or false (DEBUG_BUDGET works too). With -q, nothing else is printed
  NO_COLOR          disable colors, unless --color is given")]
pub struct Args {
    #[command(flatten)]
    choices: RenderArgs,
    /// Write a JSON report to this file; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write an HTML report to this file, with a slider over budgets
    #[arg(long, value_name = "PATH")]
    html: Option<PathBuf>,
    /// Write the plan of this turn to this file, for --previous of the next turn
    ///
    /// It may be the same file as that of --previous.
    #[arg(long, value_name = "PATH")]
    plan: Option<PathBuf>,
    /// Read all blocks and warn about wrong index entries
    ///
    /// By default, a render may read only the blocks that the index selects.
    #[arg(long)]
    verify: bool,
    /// Write the text to this file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Copy the text to the clipboard instead of printing it
    ///
    /// Runs pbcopy, wl-copy, xclip, xsel or clip.exe, the first that works. Over SSH, the terminal
    /// copies the text (OSC 52).
    #[arg(long, conflicts_with = "output")]
    copy: bool,
}

/// Writes the text.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    for (flag, path) in [("--html", &args.html), (PLAN, &args.plan)] {
        if path.as_deref() == Some(standard) {
            let message = format!("{flag} requires a file: standard output is for the text");
            return Err(Error::new(ErrorKind::Usage, message));
        }
    }
    args.outputs()?;
    let choices = &args.choices;
    let (config, mut options) = (choices.read_config()?, choices.to_options()?);
    options.saves_plan = args.plan.is_some();
    options.verify_index = args.verify;
    let setup = RenderSetup::new(&choices.pack, &options, &config, output)?;
    // A report covers every block, so all blocks must be read.
    let needs_plan = args.report.is_some() || args.html.is_some();
    let mut buffer = Vec::new();
    let rendered = setup.render(needs_plan, &mut buffer, output)?;
    if let Some((plan, run)) = rendered.planned() {
        write_reports(args, plan, run, output)?;
    }
    if args.copy {
        copy(&rendered, output)?;
    } else {
        files::write(args.output.as_deref(), rendered.text().as_bytes())?;
    }
    // The plan is written last: if the text could not be written, the plan must not describe it.
    let stable = rendered.planned().and_then(|(plan, _)| plan.stable.as_ref());
    if let Some((path, stable)) = args.plan.as_deref().zip(stable) {
        files::write(Some(path), stable.next_plan.to_json().as_bytes())?;
    }
    debug_budget(&rendered, output);
    rendered.save_cache(output);
    Ok(())
}

/// Copies the text to the clipboard, and prints its size.
fn copy(rendered: &RenderedPack<'_>, output: &Output) -> Result {
    let copied = clipboard::copy(rendered.text())?;
    let tokens = plural(rendered.used_tokens(), "token");
    match copied {
        Copied::ByCommand(name) => {
            output.progress(format!("copied {tokens} to the clipboard ({name})"));
        }
        Copied::ByTerminal { is_long } => {
            output.progress(format!("sent {tokens} to the clipboard of the terminal (OSC 52)"));
            if is_long {
                output.warn("some terminals ignore a text of this size; check the clipboard");
            }
        }
    }
    Ok(())
}

/// Writes the requested reports.
fn write_reports(args: &Args, plan: &Plan, run: &RenderJob<'_>, output: &Output) -> Result {
    if let Some(path) = &args.report {
        let json = report::to_json(plan);
        let json = escape_control_json(&json);
        if path == Path::new(files::STANDARD) {
            output.print(json.trim_end());
        } else {
            files::write(Some(path), json.as_bytes())?;
        }
    }
    if let Some(path) = &args.html {
        files::write(Some(path), run.html_report(plan)?.as_bytes())?;
    }
    Ok(())
}

/// Prints the tokens used, and those of each share, if an environment variable enables this.
fn debug_budget(rendered: &RenderedPack<'_>, output: &Output) {
    let Some(budget) = rendered.budget() else { return };
    let usage = UsageMonitor::default().record(rendered.used_tokens(), budget);
    let shares = rendered.planned().and_then(|(plan, _)| section_line(&plan.shares));
    let lines: Vec<_> = std::iter::once(usage.debug_line).chain(shares).collect();
    output.debug_budget(&lines);
}

impl Args {
    /// Checks that no output file is also another output or an input. Only the plan may overwrite
    /// the previous plan.
    fn outputs(&self) -> Result {
        let outputs = [
            (PLAN, &self.plan),
            ("--report", &self.report),
            ("--html", &self.html),
            ("-o", &self.output),
        ];
        let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
        let previous = self.choices.previous().map(|path| (PREVIOUS, path));
        let inputs: Vec<_> =
            std::iter::once((PACK, self.choices.pack.as_path())).chain(previous).collect();
        let is_turn = |from: &str, to: &str| from == PREVIOUS && to == PLAN;
        files::check_distinct_paths(&inputs, &outputs.collect::<Vec<_>>(), is_turn)
    }
}

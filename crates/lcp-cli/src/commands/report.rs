//! The command `report`: shows how a render would spend its tokens, as a table.

use lcp_driver::escape_control_json;
use lcp_driver::report::{TableOptions, to_json, to_table};

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::render_args::RenderArgs;
use lcp_app::render::RenderJob;

/// Show how a render spends its tokens, as a table
///
/// Takes the flags of `render` and reports the same plan, but does not print the text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp report samples/session.lcp --budget 8000
  lcp report samples/session.lcp --model gpt-4 --shares agent
  lcp report samples/session.lcp --budget 8000 --objective value
  lcp pack . --query 'retry loop' | lcp report - --budget 8000 --explain
  lcp report samples/session.lcp --budget 2000 --json")]
pub struct Args {
    #[command(flatten)]
    choices: RenderArgs,
    /// Also list the reasons for the blocks that are shown, if the pack has ranks
    #[arg(long)]
    explain: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the table.
pub fn run(args: &Args, output: &Output) -> Result {
    let choices = &args.choices;
    let (config, options) = (choices.read_config()?, choices.to_options()?);
    let bytes = choices.read(output)?;
    let run = RenderJob::new(&choices.pack, &bytes, &options, &config, output)?;
    let plan = run.plan(output)?;
    let text = if args.json {
        escape_control_json(&to_json(&plan)).into_owned()
    } else {
        let color = output.is_colored(&std::io::stdout());
        let (explain, window) = (args.explain, run.window());
        to_table(&plan, &TableOptions { color, explain, window, ..TableOptions::default() })
    };
    files::write(None, text.as_bytes())?;
    run.save_cache(output);
    Ok(())
}

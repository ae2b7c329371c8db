//! The command `import`: converts a transcript to a pack.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use lcp_app::import::{ImportOptions, ImportedTranscript};
use lcp_app::{Error, ErrorKind};
use lcp_ingest::SecretPolicy;
use lcp_transcripts::{Format, ImportReport};

use crate::Result;
use crate::arguments::block_secrets;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::property_args::PropertyArgs;
use crate::summary_args::SummaryArgs;
use crate::tokenizer_args::TokenizerArgs;

/// The name of the transcript in errors.
const TRANSCRIPT: &str = "the transcript";

/// Convert a transcript of an agent or a chat to a pack
///
/// Reads messages, requests and responses of OpenAI, Anthropic and Gemini; sessions and JSON output
/// of Claude Code, Codex, Gemini CLI and opencode; results of MCP tools; and Markdown. Input that no
/// block type fits becomes an EXTENSION block. Newer messages get higher ranks, so that a budget
/// drops the oldest messages first. The results of search tools get the category `search_results`;
/// `search_tools` of `[import]` of lcp.toml adds tools.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp import chat.json -o chat.lcp
  lcp import session.jsonl --from claude-code | lcp render - --budget 8000
  lcp import session.jsonl --summarize outline | lcp render - --budget 8000 --objective value
  cat history.md | lcp import - -o history.lcp --report -")]
pub struct Args {
    /// Transcript to read; `-` for standard input
    file: PathBuf,
    /// Format of the transcript [default: detected]
    #[arg(long, value_name = "FORMAT",
        value_parser = PossibleValuesParser::new(Format::ALL.map(Format::name)))]
    from: Option<String>,
    /// Title of the document, for Markdown that is not a chat
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// Include side conversations of Claude Code
    ///
    /// They get the priority low and the tag `sidechain=ID`.
    #[arg(long)]
    sidechains: bool,
    /// Treatment of private keys, tokens and passwords: redact, warn or off [default: warn]
    ///
    /// `redact` replaces each secret by a marker such as `[secret github-token 1]`. `off` does not
    /// search for them. Summaries never have secrets. Exceptions are those of `lcp pack`.
    #[arg(long, value_name = "POLICY", value_parser = block_secrets())]
    secrets: Option<SecretPolicy>,
    #[command(flatten)]
    properties: PropertyArgs,
    /// The flags of summaries of code, documents and tool results.
    #[command(flatten)]
    summaries: SummaryArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// The flags of the settings, and of the tokenizer for --index-costs.
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Write a JSON report to this file; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print a JSON report to standard output; the pack goes to the file of -o
    #[arg(long, requires = "output")]
    json: bool,
    /// Write the pack to this file [default: standard output]
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Writes the pack.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.json && args.output.as_deref() == Some(standard) {
        return Err(Error::new(
            ErrorKind::Usage,
            "--json requires a file for the pack: pass -o FILE",
        ));
    }
    refuse_terminal(args.output.as_deref())?;
    let outputs = [("--report", &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs = [(TRANSCRIPT, args.file.as_path())];
    files::check_distinct_paths(&inputs, &outputs.collect::<Vec<_>>(), |_, _| false)?;
    let tokenizer = args.counting.to_options();
    let config = args.counting.read_config()?;
    let writer = args.form.encoder_alone(&args.counting, &tokenizer, Some(&config), output)?;
    let bytes = files::read(&args.file, output)?;
    let options = ImportOptions {
        format: args.from.as_deref().and_then(Format::from_name),
        title: args.title.clone(),
        sidechains: args.sidechains,
        summaries: args.summaries.to_options(),
        properties: args.properties.to_properties(),
        secrets: args.secrets,
    };
    let imported = options.import(&args.file, &bytes, &config, output)?;
    let what = format!("the pack of {}", files::display_name(&args.file));
    let pack = writer.encode(&imported.blocks, &what, output)?;
    output.progress(line(&imported));
    let report = imported.to_json();
    if let Some(path) = &args.report {
        files::write_report(path, &report, output)?;
    }
    files::write(args.output.as_deref(), &pack)?;
    if args.json {
        files::print(&files::json(&report))?;
    }
    Ok(())
}

/// Returns a line that summarizes a transcript.
fn line(imported: &ImportedTranscript) -> String {
    let ImportedTranscript { format, report, .. } = imported;
    let ImportReport { messages, calls, results, images: pictures, .. } = report;
    let mut parts = vec![format!(
        "{format}: {}, {}, {}, {}",
        lcp_driver::plural(*messages, "message"),
        lcp_driver::plural(*calls, "tool call"),
        lcp_driver::plural(*results, "result"),
        lcp_driver::plural(*pictures, "image"),
    )];
    let kinds = [
        ("imported as an extension", "imported as extensions", &report.unknown),
        ("session record", "session records", &report.records),
        ("left out", "left out", &report.skipped),
    ];
    for (one, many, counts) in kinds {
        let count: u64 = counts.values().sum();
        if count > 0 {
            let what = if count == 1 { one } else { many };
            let kinds = counts.iter().map(|(kind, count)| match kind.as_str() {
                // A number after "line" would look like the number of a line.
                "line" => format!("unreadable line {count}"),
                kind => format!("{} {count}", kind.escape_debug()),
            });
            parts.push(format!("{count} {what} ({})", kinds.collect::<Vec<_>>().join(", ")));
        }
    }
    parts.join("; ")
}

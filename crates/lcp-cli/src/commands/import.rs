//! `import`: a transcript in, a pack out.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use lcp_app::{Error, ErrorKind};
use lcp_ingest::FileType;
use lcp_transcripts::{Format, ImportReport, ImportResult, Options};
use lcp_types::{Block, BlockContent, Lang};
use serde_json::{Value, json};

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::summary_args::{SummaryArgs, SummaryMethod};
use crate::tokenizer_args::TokenizerArgs;

/// What errors call the transcript.
const TRANSCRIPT: &str = "the transcript";

/// Make a pack of a transcript of an agent or a chat
///
/// Reads messages of OpenAI and Anthropic, requests and responses with them, sessions of
/// Claude Code, rollouts of Codex, results of MCP tools, and Markdown. What has no block
/// of its own becomes an EXTENSION and is counted. Newer messages get higher ranks, so that
/// within a budget the beginning of a conversation goes first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp import chat.json -o chat.lcp
  lcp import session.jsonl --from claude-code | lcp render - --budget 8000
  lcp import session.jsonl --summarize outline | lcp render - --budget 8000 --objective value
  cat history.md | lcp import - -o history.lcp --report -")]
pub struct Args {
    /// The transcript; `-` for standard input
    file: PathBuf,
    /// Its format; without it what it looks like
    #[arg(long, value_name = "FORMAT",
        value_parser = PossibleValuesParser::new(Format::ALL.map(Format::name)))]
    from: Option<String>,
    /// What it is called: the title of Markdown that is no chat
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// Keep side conversations of Claude Code, of Low priority and tagged `sidechain=ID`
    #[arg(long)]
    sidechains: bool,
    /// How code, documents and results of tools get summaries.
    #[command(flatten)]
    summaries: SummaryArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// What counts for --index-costs.
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Write what was found as JSON there; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print what was found as JSON; the pack goes to the file of -o
    #[arg(long, requires = "output")]
    json: bool,
    /// Write the pack there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Writes the pack.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.json && args.output.as_deref() == Some(standard) {
        return Err(Error::new(
            ErrorKind::Usage,
            "--json needs a file: the pack goes there with -o",
        ));
    }
    refuse_terminal(args.output.as_deref())?;
    let outputs = [("--report", &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs = [(TRANSCRIPT, args.file.as_path())];
    files::check_distinct_paths(&inputs, &outputs.collect::<Vec<_>>(), |_, _| false)?;
    let tokenizer = args.counting.options();
    let writer = args.form.encoder_alone(&args.counting, &tokenizer, output)?;
    let bytes = files::read(&args.file, output)?;
    let summarizer = args.summaries.summarizer(SummaryMethod::Off)?;
    let (format, mut imported) = args.import(&bytes)?;
    if let Some((summarizer, _stop_on_interrupt)) = &summarizer {
        let bar = output.bar("summarising");
        bar.expect(imported.blocks.len());
        let (blocks, progress) = (&mut imported.blocks, || bar.step());
        args.summaries.run_in_pool(|| {
            summarizer.summarize_blocks(blocks, &progress);
        })?;
        drop(bar);
        summarizer.warning().into_iter().for_each(|warning| output.warn(warning));
    }
    let report = &imported.report;
    for warning in &report.warnings {
        output.warn(warning);
    }
    if report.more_warnings > 0 {
        output.warn(format!("{} more warnings like these", report.more_warnings));
    }
    let what = format!("the pack of {}", files::display_name(&args.file));
    let pack = writer.encode(&imported.blocks, &what, output)?;
    output.progress(line(format, report));
    let json = files::json(&facts(format, &imported));
    if let Some(path) = &args.report {
        if path == standard {
            output.print(json.trim_end());
        } else {
            files::write(Some(path), json.as_bytes())?;
        }
    }
    files::write(args.output.as_deref(), &pack)?;
    if args.json {
        files::print(&json)?;
    }
    Ok(())
}

impl Args {
    fn import(&self, bytes: &[u8]) -> Result<(Format, ImportResult)> {
        let mut options = Options::default();
        options.name.clone_from(&self.title);
        options.sidechains = self.sidechains;
        import(&self.file, bytes, self.from.as_deref(), &options)
    }
}

/// The blocks of a transcript that was read from `path`; `from` names its format.
pub fn import(
    path: &Path,
    bytes: &[u8],
    from: Option<&str>,
    options: &Options,
) -> Result<(Format, ImportResult)> {
    let named = from.and_then(Format::from_name);
    let Some(format) = named.or_else(|| lcp_transcripts::detect(bytes)) else {
        return Err(unknown(path, bytes));
    };
    let mut imported =
        lcp_transcripts::import(format, bytes, options).map_err(|error| malformed(path, &error))?;
    for block in &mut imported.blocks {
        name_language(block);
    }
    Ok((format, imported))
}

/// Gives a file that a tool has shown the language that `pack` gives it.
fn name_language(block: &mut Block<'_>) {
    if let BlockContent::Code(code) = &mut block.content
        && code.lang == Lang::Unknown
    {
        // Only a file that begins here says on its first line what it is.
        let is_beginning = code.line_start.is_none_or(|line| line == 1);
        let beginning = if is_beginning { code.content.as_slice() } else { &[] };
        code.lang = FileType::detect(&code.path, beginning).lang();
    }
}

/// What cannot be told to be a transcript.
fn unknown(path: &Path, bytes: &[u8]) -> Error {
    let is_pack = bytes.starts_with(b"LCP\0") || bytes.starts_with(b"BCP\0");
    if is_pack {
        let message = format!("this is a pack, no transcript ({})", files::display_name(path));
        return Error::new(ErrorKind::Malformed, message).with_hint("`lcp render` shows it");
    }
    // What begins as JSON has a place where it is none.
    let as_chat = lcp_transcripts::import(Format::OpenAiChat, bytes, &Options::default());
    match as_chat {
        Err(error) if !matches!(error.kind, lcp_transcripts::ErrorKind::NotATranscript { .. }) => {
            malformed(path, &error)
        }
        _ => {
            let message =
                format!("no transcript of a format that is known ({})", files::display_name(path));
            Error::new(ErrorKind::Malformed, message)
                .with_hint("--from says which format it is in; `lcp import --help` names them")
        }
    }
}

fn malformed(path: &Path, error: &lcp_transcripts::Error) -> Error {
    let code = match error.kind {
        lcp_transcripts::ErrorKind::TooDeep { .. } => ErrorKind::Limit,
        _ => ErrorKind::Malformed,
    };
    let failure =
        Error::new(code, format!("{error} [{}] ({})", error.code(), files::display_name(path)));
    match error.kind {
        lcp_transcripts::ErrorKind::NotJson(_) => failure.with_hint(
            "the file may be cut; sessions with a message on each line are read up to there: \
             --from claude-code, codex; text that only begins like JSON is read with --from markdown",
        ),
        lcp_transcripts::ErrorKind::NotATranscript { .. } => {
            failure.with_hint("without --from the format is what the file looks like")
        }
        _ => failure,
    }
}

/// What was found, for people.
fn line(format: Format, report: &ImportReport) -> String {
    let ImportReport { messages, calls, results, images: pictures, .. } = report;
    let mut parts = vec![format!(
        "{format}: {messages} messages, {calls} tool calls, {results} results, {pictures} pictures"
    )];
    for (what, counts) in [("kept as extensions", &report.unknown), ("left out", &report.skipped)] {
        let count: u64 = counts.values().sum();
        if count > 0 {
            let kinds =
                counts.iter().map(|(kind, count)| format!("{} {count}", kind.escape_debug()));
            parts.push(format!("{count} {what} ({})", kinds.collect::<Vec<_>>().join(", ")));
        }
    }
    parts.join("; ")
}

/// What was found, for programs.
fn facts(format: Format, imported: &ImportResult) -> Value {
    let report = &imported.report;
    let warnings = report.warnings.iter();
    let warnings = warnings.map(|of| json!({ "line": of.line, "message": of.message }));
    json!({
        "schema": "lcp.import.v1",
        "format": format.name(),
        "blocks": imported.blocks.len(),
        "messages": report.messages,
        "calls": report.calls,
        "results": report.results,
        "pictures": report.images,
        "unanswered": report.unanswered,
        "orphans": report.orphans,
        "unknown": report.unknown,
        "skipped": report.skipped,
        "warnings": warnings.collect::<Vec<_>>(),
        "more_warnings": report.more_warnings,
    })
}

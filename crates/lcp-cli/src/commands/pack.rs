//! `pack`: files in, a pack out.

use std::path::PathBuf;

use lcp_app::pack::PackOptions;
use lcp_app::{Error, ErrorKind, parse_size};
use lcp_ingest::{BlockAttributes, IngestReport, Pattern, Rule};
use lcp_types::Priority;

use crate::Result;
use crate::arguments::on_off;
use crate::dedup_args::DedupArgs;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::summary_args::SummaryArgs;
use crate::tokenizer_args::TokenizerArgs;

/// The flag of a report.
const REPORT: &str = "--report";

/// Make a pack of files: folders, a change, standard input
///
/// Folders are walked as ripgrep does: what .gitignore, .ignore and .lcpignore files exclude
/// is left out, and so are hidden files, binary ones, and those above --max-file-size. The same
/// files give the same bytes. Exit codes: 0 done, 1 a file could not be read (the pack is
/// written all the same), 2 wrong usage, 5 limit exceeded.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:
  lcp pack . | lcp render - --budget 8000
  lcp pack src docs -o project.lcp --exclude '*.svg' --pin src/main.rs
  lcp pack . --summarize outline | lcp render - --budget 8000 --objective value
  lcp pack . --since main --diff=main -o change.lcp
  git log -5 | lcp pack - src --stdin-name log.txt -o pack.lcp

Globs match paths as they stand in the pack: `*.md` and `tests` anywhere, `src/*.rs` from the
top, `docs/` a folder. Of rules that match, the last wins: the built-in ones, then [[pack.rule]]
of lcp.toml, then flags")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Args {
    /// Files and folders; the current folder without any; `-` for standard input
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What standard input is called, and so what it is
    #[arg(long, value_name = "NAME")]
    pub stdin_name: Option<String>,
    /// Pack hidden files too
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "on", value_parser = on_off())]
    pub hidden: Option<bool>,
    /// Pack what ignore files exclude, too
    #[arg(long)]
    pub no_ignore: bool,
    /// Follow links
    #[arg(long)]
    pub follow: bool,
    /// Stay out of folders that are other file systems
    #[arg(long)]
    pub one_file_system: bool,
    /// Pack only files that one of these matches
    #[arg(long, value_name = "GLOB", value_parser = Pattern::parse)]
    pub include: Vec<Pattern>,
    /// Leave out what one of these matches
    #[arg(long, value_name = "GLOB", value_parser = Pattern::parse)]
    pub exclude: Vec<Pattern>,
    /// Leave out larger files: bytes, or as in 500k and 2M; 1M unless lcp.toml says otherwise
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_file_size: Option<u64>,
    /// Write no tree of the files
    #[arg(long)]
    pub no_tree: bool,
    /// Pack pictures too
    #[arg(long)]
    pub images: bool,
    /// How much files matter: critical, high, normal, low or background
    #[arg(long, value_name = "GLOB=LEVEL", value_parser = priority)]
    pub priority: Vec<Rule>,
    /// Which share of a budget pays for files
    #[arg(long, value_name = "GLOB=NAME", value_parser = category)]
    pub category: Vec<Rule>,
    /// Files that a budget never cuts
    #[arg(long, value_name = "GLOB", value_parser = pin)]
    pub pin: Vec<Rule>,
    /// Treat lock files, tests, READMEs and changes like all others
    #[arg(long)]
    pub no_default_rules: bool,
    /// Pack only files that differ from this revision, and new ones
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Add the changes to this revision; HEAD if none is named
    #[arg(long, value_name = "REV", num_args = 0..=1, require_equals = true,
        default_missing_value = "HEAD")]
    pub diff: Option<String>,
    /// What stands twice.
    #[command(flatten)]
    pub dedup: DedupArgs,
    /// How files get summaries.
    #[command(flatten)]
    pub summaries: SummaryArgs,
    /// What counts.
    #[command(flatten)]
    pub counting: TokenizerArgs,
    /// How it is written.
    #[command(flatten)]
    pub form: PackOutputArgs,
    /// Write what was packed and what was left out as JSON there; `-` for standard error
    #[arg(long, value_name = "PATH")]
    pub report: Option<PathBuf>,
    /// Write the pack there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    pub output: Option<PathBuf>,
}

/// Writes the pack.
pub fn run(args: &Args, output: &Output) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let outputs = [(REPORT, &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let outputs: Vec<_> = outputs.collect();
    files::check_distinct_paths(&[], &outputs, |_, _| false)?;
    let config = args.counting.read_config()?;
    let mut options = args.to_options();
    options.outputs = outputs.iter().map(|(_, path)| path.to_path_buf()).collect();
    let packed = options.pack(&config, output)?;
    if let Some(path) = &args.report {
        files::write_report(path, &packed.to_json(), output)?;
    }
    files::write(args.output.as_deref(), &packed.bytes)?;
    unreadable(&packed.report)
}

impl Args {
    /// Returns the options that these flags ask for.
    fn to_options(&self) -> PackOptions<'static> {
        let rules = [&self.priority, &self.category, &self.pin].into_iter().flatten();
        PackOptions {
            paths: self.paths.clone(),
            stdin_name: self.stdin_name.clone(),
            hidden: self.hidden,
            ignored: self.no_ignore,
            follow: self.follow,
            one_file_system: self.one_file_system,
            no_tree: self.no_tree,
            images: self.images,
            since: self.since.clone(),
            diff: self.diff.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            max_file_bytes: self.max_file_size,
            rules: rules.cloned().collect(),
            no_default_rules: self.no_default_rules,
            summaries: self.summaries.to_options(),
            dedup: self.dedup.to_options(),
            tokenizer: self.counting.to_options(),
            output: self.form.to_options(),
            ..PackOptions::default()
        }
    }
}

/// The pack is there, and lacks something.
fn unreadable(report: &IngestReport) -> Result {
    match report.skipped.iter().filter(|skipped| skipped.reason.is_failure()).count() {
        0 => Ok(()),
        count => {
            let files = if count == 1 { "file" } else { "files" };
            let message = format!("{count} {files} could not be read; the pack lacks them");
            Err(Error::new(ErrorKind::Io, message))
        }
    }
}

/// The two sides of the last `=`.
fn sides(value: &str, wanted: &str) -> Result<(Pattern, String), String> {
    let (glob, says) = value.rsplit_once('=').ok_or_else(|| format!("{wanted} is wanted"))?;
    Ok((Pattern::parse(glob)?, says.to_owned()))
}

fn priority(value: &str) -> Result<Rule, String> {
    let (pattern, level) = sides(value, "GLOB=LEVEL")?;
    let levels = || Priority::ALL.map(Priority::name).join(", ");
    let priority = Priority::from_name(&level)
        .ok_or_else(|| format!("{level:?} is no priority; it may be {}", levels()))?;
    Ok(Rule { pattern, attributes: BlockAttributes::with_priority(priority) })
}

fn category(value: &str) -> Result<Rule, String> {
    let (pattern, name) = sides(value, "GLOB=NAME")?;
    if name.is_empty() {
        return Err("the name of a category is empty".to_owned());
    }
    let attributes = BlockAttributes { category: Some(name), ..BlockAttributes::default() };
    Ok(Rule { pattern, attributes })
}

fn pin(value: &str) -> Result<Rule, String> {
    let attributes = BlockAttributes { pinned: Some(true), ..BlockAttributes::default() };
    Ok(Rule { pattern: Pattern::parse(value)?, attributes })
}

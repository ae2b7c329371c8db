//! `pack`: files in, a pack out.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lcp_app::pack::{EncodedPack, PackOptions};
use lcp_app::{Error, ErrorKind, parse_size};
use lcp_ingest::{
    BlockAttributes, FileToSummarize, Globs, IngestOptions, IngestReport, Input, Pattern, Progress,
    Rule, SkipReason, ingest,
};
use lcp_types::{Priority, limits};
use serde_json::Value;

use crate::Result;
use crate::arguments::on_off;
use crate::dedup_args::DedupArgs;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::summary_args::{SummaryArgs, SummaryMethod};
use crate::tokenizer_args::TokenizerArgs;

/// The flag of a report.
const REPORT: &str = "--report";

/// Files that could not be read which are named one by one.
const NAMED_MAX: usize = 10;

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
    let config = args.counting.config()?;
    if let Some(warning) = args.dedup.options().ineffective(&config.dedup) {
        output.warn(warning);
    }
    let tokenizer = args.counting.options();
    let writer = args.form.encoder(&tokenizer, &config)?;
    let method = if config.pack.summarize { SummaryMethod::Outline } else { SummaryMethod::Off };
    let summarizer = args.summaries.summarizer(method)?;
    let summarize = |file: &FileToSummarize<'_>| {
        let (summarizer, _) = summarizer.as_ref()?;
        summarizer.summarize(file.path, file.file_type.input_kind(), file.text)
    };
    let written = outputs.iter().map(|(_, path)| *path).chain(args.counting.cache());
    let written = written.map(Path::to_path_buf).chain(args.summaries.cached_answers());
    let bar = output.bar("packing");
    let progress = |progress| match progress {
        Progress::FilesFound(files) => bar.expect(files),
        Progress::Read => bar.step(),
    };
    let pack_options = args.options();
    let options = IngestOptions {
        input: args.input()?,
        outputs: written.collect(),
        progress: &progress,
        summarize: summarizer.is_some().then_some(&summarize),
        ..pack_options.to_ingest_options(&config.pack)?
    };
    let packed = args.summaries.run_in_pool(|| ingest(&options))?.map_err(Error::from)?;
    drop(bar);
    print_warnings(&packed.report, output);
    if let Some(warning) = args.unmatched(&packed.report)? {
        output.warn(warning);
    }
    if let Some(warning) = summarizer.and_then(|(summarizer, _)| summarizer.warning()) {
        output.warn(warning);
    }
    let EncodedPack { bytes, blocks, warnings } =
        pack_options.encode(&packed, &config, &writer, output)?;
    for warning in warnings {
        output.warn(warning);
    }
    let report = &packed.report;
    output.note(format!(
        "{} files of {} bytes and {} diffs became {blocks} blocks, annotations counted, in {} bytes",
        report.files.len(),
        report.bytes(),
        report.diffs.len(),
        bytes.len(),
    ));
    if let Some(path) = &args.report {
        write_report(path, report, blocks, bytes.len(), output)?;
    }
    files::write(args.output.as_deref(), &bytes)?;
    unreadable(report)
}

impl Args {
    /// Returns the options that these flags ask for.
    fn options(&self) -> PackOptions {
        let rules = [&self.priority, &self.category, &self.pin].into_iter().flatten();
        PackOptions {
            paths: self.paths.clone(),
            hidden: self.hidden,
            ignored: self.no_ignore,
            follow: self.follow,
            one_file_system: self.one_file_system,
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            max_file_bytes: self.max_file_size,
            tree: !self.no_tree,
            images: self.images,
            rules: rules.cloned().collect(),
            default_rules: !self.no_default_rules,
            since: self.since.clone(),
            diff: self.diff.clone(),
            dedup: self.dedup.options(),
            tokenizer: self.counting.options(),
        }
    }

    /// The globs of flags that say something of files and match none, in one line.
    fn unmatched(&self, report: &IngestReport) -> Result<Option<String>> {
        let said = [("--priority", &self.priority), ("--category", &self.category)];
        let said = said.into_iter().chain([("--pin", &self.pin)]);
        let said = said.flat_map(|(flag, rules)| rules.iter().map(move |of| (flag, &of.pattern)));
        let include = self.include.iter().map(|pattern| ("--include", pattern));
        let flags: Vec<_> = include.chain(said).collect();
        let globs = Globs::new(flags.iter().map(|(_, pattern)| *pattern));
        let globs = globs.map_err(|what| Error::new(ErrorKind::Usage, what))?;
        let mut is_matched = vec![false; flags.len()];
        let files = report.files.iter().map(|file| &file.path);
        let others = report.skipped.iter().map(|skipped| &skipped.path);
        for label in files.chain(report.diffs.iter().map(|(path, ..)| path)).chain(others) {
            globs.matches(label).into_iter().for_each(|at| is_matched[at] = true);
        }
        let names = flags.iter().zip(&is_matched).filter(|(_, is_matched)| !**is_matched);
        let names: Vec<_> =
            names.map(|((flag, pattern), _)| format!("{flag} {:?}", pattern.text())).collect();
        Ok((!names.is_empty()).then(|| format!("no file matches {}", names.join(", "))))
    }

    /// What standard input holds, where it is asked for.
    fn input(&self) -> Result<Option<Input>> {
        let usage = |what: &str| Err(Error::new(ErrorKind::Usage, what));
        let is_input = |path: &&PathBuf| path.as_os_str() == OsStr::new(files::STANDARD);
        match self.paths.iter().filter(is_input).count() {
            0 if self.stdin_name.is_some() => {
                return usage("--stdin-name needs `-` among the PATHs");
            }
            0 => return Ok(None),
            1 => {}
            _ => return usage("`-` stands twice among the PATHs"),
        }
        if self.stdin_name.as_deref() == Some("") {
            return usage("--stdin-name is empty");
        }
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", "standard input", &error))?;
        Ok(Some(Input { name: self.stdin_name.clone(), bytes }))
    }
}

/// Prints warnings, and how much was left out.
fn print_warnings(report: &IngestReport, output: &Output) {
    for warning in &report.warnings {
        output.warn(warning);
    }
    for reason in [SkipReason::Unreadable, SkipReason::IgnoreFile, SkipReason::Vanished] {
        for skipped in report.skipped_by(reason).take(NAMED_MAX) {
            let message = skipped.message.as_deref().unwrap_or(reason.name());
            output.warn(format!("cannot read {}: {message}", skipped.path.escape_debug()));
        }
        let more = report.skipped_by(reason).count().saturating_sub(NAMED_MAX);
        if more > 0 {
            output.warn(format!("and {more} more that are {}", reason.name()));
        }
    }
    if let Some(left_out) = report.skipped_summary() {
        output.progress(left_out);
    }
}

fn write_report(
    path: &Path,
    report: &IngestReport,
    blocks: usize,
    pack_bytes: usize,
    output: &Output,
) -> Result {
    let mut json = report.to_json();
    let totals = &mut json["totals"];
    totals["blocks"] = Value::from(blocks);
    totals["pack_bytes"] = Value::from(pack_bytes);
    let json = files::json(&json);
    if path.as_os_str() == OsStr::new(files::STANDARD) {
        output.print(json.trim_end());
        return Ok(());
    }
    files::write(Some(path), json.as_bytes())
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

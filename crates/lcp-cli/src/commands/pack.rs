//! The command `pack`: makes a pack from files.

use std::path::{Path, PathBuf};

use lcp_app::config::UserSettings;
use lcp_app::file_list::read_file_list;
use lcp_app::git_source::check_out_all;
use lcp_app::pack::{FileOrder, PackOptions};
use lcp_app::pack_file::PackOutput;
use lcp_app::{Error, ErrorKind, parse_size};
use lcp_ingest::{BlockAttributes, Charset, IngestReport, Pattern, Rule, SecretPolicy};
use lcp_types::Priority;

use crate::Result;
use crate::arguments::{by_name, on_off};
use crate::converter_args::ConverterArgs;
use crate::dedup_args::DedupArgs;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::property_args;
use crate::query_args::QueryArgs;
use crate::summary_args::SummaryArgs;
use crate::tokenizer_args::TokenizerArgs;

/// The flag of the report.
const REPORT: &str = "--report";

/// Create a pack from files, folders, git changes or standard input
///
/// Folders are traversed as by ripgrep: files that .gitignore, .ignore or .lcpignore exclude,
/// hidden files, binary files, and files above --max-file-size are left out. The same files give
/// the same bytes. If a file cannot be read, the pack is still written, and the exit code is 1.
/// `summarize` and further keys of `[pack]` of lcp.toml change defaults.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:
  lcp pack . | lcp render - --budget 8000
  lcp pack src docs -o project.lcp --exclude '*.svg' --pin src/main.rs
  lcp pack . --summarize outline | lcp render - --budget 8000 --objective value
  lcp pack . --since main --diff=main -o change.lcp
  git ls-files -z '*.rs' | lcp pack --files-from - -0 --commits=5 -o rust.lcp
  lcp pack gh:tokio-rs/tokio@master -o tokio.lcp
  git log -5 | lcp pack - src --stdin-name log.txt -o pack.lcp

Globs match paths as they appear in the pack: `*.md` and `tests` match at any depth, `src/*.rs`
from the top, `docs/` a folder. If several rules match, the last one wins: the order is built-in
rules, [[pack.rule]] of lcp.toml, flags")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Args {
    /// Files and folders; `-` for standard input [default: the current folder]
    ///
    /// `gh:OWNER/REPO[@REVISION]` and addresses of git repositories are fetched into the cache
    /// folder by git.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Also pack the files and folders of this list; `-` for standard input
    ///
    /// Each line is a path, as `git ls-files`, `fd` and `fzf -m` print them. Paths that do not exist
    /// and links to folders are left out with a warning.
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// Paths of --files-from end with NUL, as `git ls-files -z` and `fd -0` print them
    #[arg(short = '0', long, requires = "files_from")]
    pub null: bool,
    /// File name for standard input; its extension selects the type
    #[arg(long, value_name = "NAME")]
    pub stdin_name: Option<String>,
    /// Include hidden files [default: off]
    ///
    /// `hidden` of lcp.toml changes the default.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "on", value_parser = on_off())]
    pub hidden: Option<bool>,
    /// Include files that ignore files exclude
    #[arg(long)]
    pub no_ignore: bool,
    /// Follow symbolic links
    #[arg(long)]
    pub follow: bool,
    /// Do not enter folders on other file systems
    #[arg(long)]
    pub one_file_system: bool,
    /// Include only files that match this glob; repeatable
    #[arg(long, value_name = "GLOB", value_parser = Pattern::parse)]
    pub include: Vec<Pattern>,
    /// Leave out files that match this glob; repeatable
    #[arg(long, value_name = "GLOB", value_parser = Pattern::parse)]
    pub exclude: Vec<Pattern>,
    /// Leave out larger files; bytes, or units as in 500k and 2M [default: 1M]
    ///
    /// `max_file_size` of lcp.toml changes the default.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_file_size: Option<u64>,
    /// Limit the total size of the packed files; a larger total is an error [default: 8G]
    ///
    /// `max_total_size` of lcp.toml changes the default.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_total_size: Option<u64>,
    /// Omit the file tree
    #[arg(long)]
    pub no_tree: bool,
    /// Include images
    #[arg(long)]
    pub images: bool,
    /// Priority of matching files: critical, high, normal, low or background
    #[arg(long, value_name = "GLOB=LEVEL", value_parser = priority)]
    pub priority: Vec<Rule>,
    /// Category of matching files, which selects their share of the budget
    #[arg(long, value_name = "GLOB=NAME", value_parser = category)]
    pub category: Vec<Rule>,
    /// Pin matching files, so that a budget never cuts them
    #[arg(long, value_name = "GLOB", value_parser = pin)]
    pub pin: Vec<Rule>,
    /// Disable the built-in rules for lock files, tests, READMEs and changed files
    #[arg(long)]
    pub no_default_rules: bool,
    /// Include only files that differ from this git revision, and new files
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Add the changes since this git revision, or since HEAD without a value
    #[arg(long, value_name = "REV", num_args = 0..=1, require_equals = true,
        default_missing_value = "HEAD")]
    pub diff: Option<String>,
    /// Add the last N commits and the names of their files, or 20 without a value
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub commits: Option<u32>,
    /// Add the text of this file at the end, with the priority critical
    #[arg(long, value_name = "FILE")]
    pub instructions: Option<PathBuf>,
    /// The flags of the question.
    #[command(flatten)]
    pub query: QueryArgs,
    /// Order in which a budget shows files without a question: overview or path [default: overview]
    ///
    /// `overview` shows the beginning of the README, the entry point of each package, and the
    /// signatures that most files use. `path` shows files by priority and path.
    #[arg(long, value_name = "ORDER", conflicts_with_all = ["query", "query_file", "mention"],
        value_parser = by_name([("overview", FileOrder::Overview), ("path", FileOrder::Path)]))]
    pub order: Option<FileOrder>,
    /// Character set of matching files, such as `*.txt=gbk` [default: detected]
    #[arg(long, value_name = "GLOB=NAME", value_parser = charset)]
    pub charset: Vec<(Pattern, Charset)>,
    /// Form of Jupyter notebooks: cells (a script with `# %%` before each cell) or raw
    /// [default: cells]
    #[arg(long, value_name = "FORM", value_parser = by_name([("cells", false), ("raw", true)]))]
    pub notebooks: Option<bool>,
    /// The flags of converters.
    #[command(flatten)]
    pub converters: ConverterArgs,
    /// Treatment of private keys, tokens and passwords: redact, exclude, warn or off
    /// [default: redact]
    ///
    /// `redact` replaces each secret by a marker such as `[secret github-token 1]`. `exclude`
    /// leaves out files with secrets. `warn` packs secrets. `off` does not search for them. Secrets
    /// on a line with the comment `lcp: allow-secret` are allowed. `[[pack.allow_secret]]` of
    /// lcp.toml makes other exceptions, and `secrets` changes the default.
    #[arg(long, value_name = "POLICY", value_parser = by_name(SecretPolicy::ALL.map(|it| (it.name(), it))))]
    pub secrets: Option<SecretPolicy>,
    /// The flags of deduplication.
    #[command(flatten)]
    pub dedup: DedupArgs,
    /// The flags of summaries.
    #[command(flatten)]
    pub summaries: SummaryArgs,
    /// The flags of the tokenizer.
    #[command(flatten)]
    pub counting: TokenizerArgs,
    /// The flags of the encoding.
    #[command(flatten)]
    pub form: PackOutputArgs,
    /// Write a JSON report of packed and omitted files; `-` for standard error
    #[arg(long, value_name = "PATH")]
    pub report: Option<PathBuf>,
    /// Write the pack to this file [default: standard output]
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
    if !args.counting.file.is_off() {
        // Those of the flags come last, so they win.
        options.converters.commands.splice(0..0, UserSettings::read()?.converters);
    }
    let standard = Path::new(files::STANDARD);
    let is_packed = args.paths.iter().any(|path| path == standard);
    let others = args.files_from.iter().chain(&args.instructions);
    let readers = others.filter(|path| *path == standard).count()
        + usize::from(is_packed)
        + usize::from(args.query.reads_stdin());
    if readers > 1 {
        let message = "standard input can be only one of PATH, --files-from, --instructions and \
                       --query";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if let Some(list) = &args.files_from {
        options.paths.extend(read_file_list(list, args.null, output)?);
    }
    options.query = args.query.to_options(output)?;
    check_out_all(&mut options.paths, args.commits.unwrap_or(0), output)?;
    options.outputs = outputs.iter().map(|(_, path)| path.to_path_buf()).collect();
    let mut pack = PackOutput::create(args.output.as_deref())?;
    options.outputs.extend(pack.temporary_path().map(Path::to_owned));
    let packed = options.pack_into(pack.storage(), &config, output)?;
    if let Some(path) = &args.report {
        files::write_report(path, &packed.to_json(), output)?;
    }
    if let Some(mut pack) = pack.commit()? {
        files::copy_to_stdout(&mut pack)?;
    }
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
            commits: self.commits,
            instructions: self.instructions.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            max_file_bytes: self.max_file_size,
            max_total_bytes: self.max_total_size,
            rules: rules.cloned().collect(),
            raw_notebooks: self.notebooks,
            charsets: self.charset.clone(),
            converters: self.converters.to_options(),
            order: self.order.unwrap_or_default(),
            secrets: self.secrets,
            no_default_rules: self.no_default_rules,
            summaries: self.summaries.to_options(),
            dedup: self.dedup.to_options(),
            tokenizer: self.counting.to_options(),
            output: self.form.to_options(),
            ..PackOptions::default()
        }
    }
}

/// Returns an error if files could not be read. The pack is written without them.
fn unreadable(report: &IngestReport) -> Result {
    match report.skipped.iter().filter(|skipped| skipped.reason.is_failure()).count() {
        0 => Ok(()),
        count => {
            let files = if count == 1 { "file" } else { "files" };
            let them = if count == 1 { "it" } else { "them" };
            let message =
                format!("cannot read {count} {files}; the pack is written without {them}");
            Err(Error::new(ErrorKind::Io, message))
        }
    }
}

/// Splits a value at the last `=` into a glob and a text. `wanted` is the form for errors.
fn sides(value: &str, wanted: &str) -> Result<(Pattern, String), String> {
    let (glob, says) = value.rsplit_once('=').ok_or_else(|| format!("expected {wanted}"))?;
    Ok((Pattern::parse(glob)?, says.to_owned()))
}

fn priority(value: &str) -> Result<Rule, String> {
    let (pattern, level) = sides(value, "GLOB=LEVEL")?;
    let levels = || Priority::ALL.map(Priority::name).join(", ");
    let priority = Priority::from_name(&level)
        .ok_or_else(|| format!("unknown priority {level:?}; expected one of {}", levels()))?;
    Ok(Rule { pattern, attributes: BlockAttributes::with_priority(priority) })
}

fn category(value: &str) -> Result<Rule, String> {
    let (pattern, name) = sides(value, "GLOB=NAME")?;
    let category = Some(property_args::category(&name)?);
    let attributes = BlockAttributes { category, ..BlockAttributes::default() };
    Ok(Rule { pattern, attributes })
}

fn charset(value: &str) -> Result<(Pattern, Charset), String> {
    let (pattern, name) = sides(value, "GLOB=NAME")?;
    let charset = Charset::from_name(&name);
    Ok((pattern, charset.ok_or_else(|| format!("unknown character set {name:?}"))?))
}

fn pin(value: &str) -> Result<Rule, String> {
    let attributes = BlockAttributes { pinned: Some(true), ..BlockAttributes::default() };
    Ok(Rule { pattern: Pattern::parse(value)?, attributes })
}

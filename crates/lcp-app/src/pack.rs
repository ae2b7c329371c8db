//! Packs of folders, git changes and standard input.

use std::ffi::OsStr;
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lcp_dedup::Options;
use lcp_ingest::{
    BlockSink, Charset, ConvertFiles, FILE_BYTES_MAX, FileToSummarize, Globs, IngestOptions,
    IngestReport, Input, OpenFile, Pattern, Progress, Rule, Rules, SecretPolicy, SkipReason,
    TOTAL_BYTES_MAX, WalkOptions, ingest, ingest_into,
};
use lcp_types::{Block, limits};
use serde_json::Value;

use crate::config::Config;
use crate::converters::ConverterOptions;
use crate::dedup::{self, DedupOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::pack_file::{PackFileWriter, PackStorage};
use crate::pack_output::{PackEncoder, PackOutputOptions};
use crate::rank::{HistorySource, PackRanking, QueryOptions, QueryRanker};
use crate::reporter::{Reporter, Warnings};
use crate::summaries::{SummaryOptions, run_in_pool};
use crate::tokenizer::TokenizerOptions;

/// The maximum number of unreadable files in warnings.
const NAMED_MAX: usize = 10;

/// The number of the largest files in the summary.
const LARGEST: usize = 5;

/// The options of a pack of files. `None` means the setting of `lcp.toml`, or the default.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub struct PackOptions<'a> {
    /// Files and folders; if empty, the current folder. `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The folder for relative paths; if empty, the current folder.
    pub base: PathBuf,
    /// The name of standard input.
    pub stdin_name: Option<String>,
    /// Files that are in memory, each with the path that it has in the pack. With files and without
    /// `paths`, only they are packed.
    pub inputs: Vec<Input>,
    /// `true` if hidden files are packed.
    pub hidden: Option<bool>,
    /// `true` if files excluded by ignore files are packed.
    pub ignored: bool,
    /// `true` if symbolic links are followed.
    pub follow: bool,
    /// `true` if folders of other file systems are left out.
    pub one_file_system: bool,
    /// If not empty, only files that match one are packed. They replace those of `lcp.toml`.
    pub include: Vec<Pattern>,
    /// Files that match one are left out.
    pub exclude: Vec<Pattern>,
    /// The maximum size of a packed file in bytes.
    pub max_file_bytes: Option<u64>,
    /// The maximum total size of the packed files in bytes.
    pub max_total_bytes: Option<u64>,
    /// `true` if the file tree is left out.
    pub no_tree: bool,
    /// `true` if images are packed.
    pub images: bool,
    /// Packs only files that differ from this git revision.
    pub since: Option<String>,
    /// Adds the changes since this git revision.
    pub diff: Option<String>,
    /// The number of commits to add as a log of each repository, if it should be packed.
    pub commits: Option<u32>,
    /// A file whose text becomes the last block, with the priority critical.
    pub instructions: Option<PathBuf>,
    /// The files that this run writes. They are never packed.
    pub outputs: Vec<PathBuf>,
    /// Opens files if not all readable files may be read. Several threads call it at once.
    pub open: Option<OpenFile<'a>>,
    /// Priorities, categories, ranks and pins of files; the last match wins.
    pub rules: Vec<Rule>,
    /// `true` if the built-in rules, which apply first, are left out.
    pub no_default_rules: bool,
    /// `true` if notebooks are packed as they are, not as scripts.
    pub raw_notebooks: Option<bool>,
    /// The character sets of files, instead of those that are detected; the last match wins.
    pub charsets: Vec<(Pattern, Charset)>,
    /// The converters of files of other formats. They cannot be used with `open`.
    pub converters: ConverterOptions,
    /// The question that decides the order of the files. If it is not empty, ranks replace the
    /// priorities high and low of the built-in rules.
    pub query: QueryOptions,
    /// The order of the files without a question.
    pub order: FileOrder,
    /// The treatment of secrets.
    pub secrets: Option<SecretPolicy>,
    /// The summaries of files.
    pub summaries: SummaryOptions,
    /// The options of deduplication.
    pub dedup: DedupOptions,
    /// The tokenizer that counts duplicates and the costs in the index.
    pub tokenizer: TokenizerOptions,
    /// The format of the pack.
    pub output: PackOutputOptions,
}

/// The order in which a budget shows files without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileOrder {
    /// An overview: the README, the tree, entry points, and the signatures that most files use.
    #[default]
    Overview,
    /// By priority and path.
    Path,
}

/// The minimum size of the files for an overview, in bytes. Fewer fit in most budgets.
const OVERVIEW_BYTES_MIN: u64 = 32 << 10;

/// A pack of files.
#[derive(Debug)]
pub struct PackedFiles {
    /// The size of the pack in bytes.
    pub pack_bytes: u64,
    /// The number of blocks, annotations included.
    pub blocks: u64,
    /// The files that were packed, and those that were left out.
    pub report: IngestReport,
    /// Warnings of deduplication, of its tokenizer, and of the ranking.
    pub warnings: Vec<String>,
}

impl PackOptions<'_> {
    /// Packs the files in memory. Warnings and progress go to the reporter as well.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::pack_into`].
    pub fn pack(self, config: &Config, reporter: &dyn Reporter) -> Result<(Vec<u8>, PackedFiles)> {
        let mut pack = Cursor::new(Vec::new());
        let packed = self.pack_into(&mut pack, config, reporter)?;
        Ok((pack.into_inner(), packed))
    }

    /// Packs the files into a storage, which must be empty. Only a few megabytes of files, or the
    /// largest file, are in memory at a time, unless duplicates are removed. Warnings and progress
    /// go to the reporter as well.
    ///
    /// # Errors
    ///
    /// Returns an error if options contradict each other, if there is nothing to pack, if the
    /// tokenizer cannot be loaded, if a limit of packs is exceeded, or if git fails. A file that
    /// cannot be read is not an error. It is listed in the report.
    pub fn pack_into(
        self,
        storage: &mut dyn PackStorage,
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<PackedFiles> {
        if let Some(warning) = self.dedup.ineffective(&config.dedup) {
            reporter.warn(&warning);
        }
        let encoder = PackEncoder::new(&self.output, &self.tokenizer, config)?;
        let summarizer = self.summaries.summarizer(config.pack.summarize)?;
        let summarize = |file: &FileToSummarize<'_>| {
            let (summarizer, _) = summarizer.as_ref()?;
            summarizer.summarize(file.path, file.input_kind(), file.text)
        };
        let max_file_bytes = self.max_file_bytes(config);
        let converter = self.converters.converter(max_file_bytes)?;
        let bar = OnceLock::new();
        let progress = |progress| match progress {
            Progress::FilesFound(files) => drop(bar.set(reporter.begin("packing", files))),
            Progress::Read => drop(bar.get().map(|bar| bar.step())),
        };
        let project = self.project();
        let secrets = self.secrets.unwrap_or(config.pack.secrets);
        let query = self.question(&project, secrets);
        let (order, has_diff) = (self.order, self.diff.is_some());
        let stdin = self.read_input(reporter)?;
        let instructions = self.read_instructions(reporter)?;
        let outputs = self.all_outputs();
        let named = self.paths.clone();
        let settings = &config.pack;
        let include = if self.include.is_empty() { &settings.include } else { &self.include };
        let rules = settings.rules.iter().chain(&self.rules).cloned().collect();
        let options = IngestOptions {
            paths: self.walked_paths(),
            base: self.base,
            inputs: self.inputs.into_iter().chain(stdin).collect(),
            walk: WalkOptions {
                hidden: self.hidden.unwrap_or(settings.hidden),
                ignored: self.ignored,
                follow: self.follow,
            },
            one_file_system: self.one_file_system,
            include: globs(include)?,
            exclude: globs(settings.exclude.iter().chain(&self.exclude))?,
            max_file_bytes,
            max_total_bytes: self
                .max_total_bytes
                .or(settings.max_total_size)
                .unwrap_or(TOTAL_BYTES_MAX),
            rules: Rules::new(rules, !self.no_default_rules).map_err(usage_error)?,
            raw_notebooks: self.raw_notebooks.unwrap_or(settings.raw_notebooks),
            charsets: settings.charsets.iter().chain(&self.charsets).cloned().collect(),
            converter: converter.as_ref().map(|(converter, _)| converter as &dyn ConvertFiles),
            secrets,
            secret_exceptions: settings.secret_exceptions.clone(),
            tree: !self.no_tree,
            images: self.images,
            since: self.since,
            diff: self.diff,
            commits: self.commits,
            instructions,
            outputs,
            open: self.open,
            summarize: summarizer.is_some().then_some(&summarize),
            progress: &progress,
        };
        let pack = PackFileWriter::new(storage, self.output.encode);
        let question = (!query.is_empty()).then(|| query.query()).transpose()?;
        let ranker = question.as_ref().map(|question| QueryRanker::new(&query, question, &project));
        let mut sink = RankingSink { pack, ranker };
        // Duplicates can only be found among all blocks.
        let dedup = self.dedup.effective(&config.dedup, false);
        let jobs = self.summaries.jobs.max(self.converters.jobs);
        let (blocks, report) = run_in_pool(jobs, || {
            if dedup.is_some() {
                return ingest(&options).map(|all| (all.blocks, all.report)).map_err(Error::from);
            }
            ingest_into(&options, &mut sink).map(|report| (Vec::new(), report))
        })??;
        drop(options);
        drop(bar);
        report_problems(&report, secrets, &named, reporter);
        if let Some(warning) = unmatched(&self.include, &self.rules, &report)? {
            reporter.warn(&warning);
        }
        if let Some(warning) = summarizer.and_then(|(summarizer, _)| summarizer.warning()) {
            reporter.warn(&warning);
        }
        let mut warnings = Vec::new();
        if let Some(options) = dedup {
            let (blocks, of_dedup) =
                deduplicated(&blocks, &options, &self.tokenizer, config, reporter)?;
            blocks.into_iter().try_for_each(|block| sink.add(block))?;
            warnings = of_dedup;
        }
        let has_overview = order == FileOrder::Overview && report.bytes() >= OVERVIEW_BYTES_MIN;
        let (mut pack, of_ranking) = sink.finish(has_overview, has_diff.then_some(&report))?;
        warnings.extend(of_ranking);
        let blocks = pack.blocks();
        let pack_bytes = encoder.finish(&mut pack, reporter)?;
        for warning in &warnings {
            reporter.warn(warning);
        }
        let packed = PackedFiles { pack_bytes, blocks, report, warnings };
        packed.report_totals(reporter);
        Ok(packed)
    }

    /// Returns the folder that labels are relative to: a single folder outside of the base, and
    /// otherwise the base.
    fn project(&self) -> PathBuf {
        let base = if self.base.as_os_str().is_empty() { Path::new(".") } else { &self.base };
        match &self.paths[..] {
            [path] if path.is_absolute() && !is_below(path, base) || path.starts_with("..") => {
                base.join(path)
            }
            _ => base.to_owned(),
        }
    }

    /// Returns the paths whose files are packed. Without a path, that would be the current folder,
    /// also if there are files in memory.
    fn walked_paths(&self) -> Vec<PathBuf> {
        let has_only_inputs = self.paths.is_empty() && !self.inputs.is_empty();
        if has_only_inputs { vec![files::STANDARD.into()] } else { self.paths.clone() }
    }

    /// Returns the question, for the commits of the project.
    fn question(&self, project: &Path, secrets: SecretPolicy) -> QueryOptions {
        let mut query = self.query.clone();
        if query.history == HistorySource::Nearest {
            query.history = HistorySource::Folder(project.to_owned());
        }
        // The cache of words must have no secret.
        query.no_cache |= matches!(secrets, SecretPolicy::Warn | SecretPolicy::Off);
        query
    }

    /// Returns the files that are never packed as files: those that this run writes, and the
    /// instructions, whose text is packed once.
    fn all_outputs(&self) -> Vec<PathBuf> {
        let mut outputs = self.outputs.clone();
        outputs.extend(self.tokenizer.count_cache.clone());
        outputs.extend(self.summaries.cached_answers());
        outputs.extend(self.instructions.clone());
        outputs
    }

    fn max_file_bytes(&self, config: &Config) -> u64 {
        self.max_file_bytes.or(config.pack.max_file_size).unwrap_or(FILE_BYTES_MAX)
    }

    fn read_instructions(&self, reporter: &dyn Reporter) -> Result<Option<Input>> {
        let Some(path) = &self.instructions else { return Ok(None) };
        let bytes = files::read(path, reporter)?;
        let name = path.file_name().filter(|name| *name != OsStr::new(files::STANDARD));
        let name = name.map(|name| name.to_string_lossy().into_owned());
        Ok(Some(Input { name, bytes }))
    }

    /// Reads standard input, if it is among the paths.
    fn read_input(&self, reporter: &dyn Reporter) -> Result<Option<Input>> {
        let usage = |message: &str| Err(Error::new(ErrorKind::Usage, message));
        let is_input = |path: &&PathBuf| path.as_os_str() == OsStr::new(files::STANDARD);
        match self.paths.iter().filter(is_input).count() {
            0 if self.stdin_name.is_some() => {
                return usage("--stdin-name needs `-` as one of the PATHs");
            }
            0 => return Ok(None),
            1 => {}
            _ => return usage("`-` must not be given more than once"),
        }
        if self.stdin_name.as_deref() == Some("") {
            return usage("--stdin-name must not be empty");
        }
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        files::announce_terminal(reporter);
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", "standard input", &error))?;
        Ok(Some(Input { name: self.stdin_name.clone(), bytes }))
    }
}

impl PackedFiles {
    fn report_totals(&self, reporter: &dyn Reporter) {
        let report = &self.report;
        for line in summary(report) {
            reporter.summary(&line);
        }
        reporter.note(&format!(
            "packed {} ({}) and {} into {} ({}), including annotations",
            lcp_driver::plural(report.files.len(), "file"),
            lcp_driver::plural(report.bytes(), "byte"),
            lcp_driver::plural(report.diffs.len(), "diff"),
            lcp_driver::plural(self.blocks, "block"),
            lcp_driver::plural(self.pack_bytes, "byte"),
        ));
    }

    /// Returns the report as JSON, with the blocks and bytes of the pack.
    pub fn to_json(&self) -> Value {
        let mut json = self.report.to_json();
        let totals = &mut json["totals"];
        totals["blocks"] = Value::from(self.blocks);
        totals["pack_bytes"] = Value::from(self.pack_bytes);
        json
    }
}

/// Reports what users should know about the packed files.
fn report_problems(
    report: &IngestReport,
    secrets: SecretPolicy,
    named: &[PathBuf],
    reporter: &dyn Reporter,
) {
    report_warnings(report, reporter);
    report_secrets(report, secrets, reporter);
    report_packs(named, report, reporter);
}

fn is_below(path: &Path, base: &Path) -> bool {
    base.canonicalize().is_ok_and(|base| path.starts_with(base))
}

fn globs<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Result<Globs> {
    Globs::new(patterns).map_err(usage_error)
}

fn usage_error(message: String) -> Error {
    Error::new(ErrorKind::Usage, message)
}

/// A pack that is being written, and the ranking of its blocks for a question.
struct RankingSink<'p, 'q> {
    pack: PackFileWriter<'p>,
    ranker: Option<QueryRanker<'q>>,
}

impl<'p> RankingSink<'p, '_> {
    /// Adds the ranks to the pack: for a question, or else those of an overview.
    /// Changed files of `changes` count as mentioned. Returns the pack and warnings.
    fn finish(
        self,
        has_overview: bool,
        changes: Option<&IngestReport>,
    ) -> Result<(PackFileWriter<'p>, Vec<String>)> {
        let Self { mut pack, ranker } = self;
        if ranker.is_none() && !has_overview {
            return Ok((pack, Vec::new()));
        }
        let warnings = Warnings::default();
        let files = changes.map_or(&[][..], |report| &report.files);
        let changing = files.iter().filter(|file| file.changed).map(|file| file.path.as_str());
        let changing = changing.collect();
        pack.finish(&[])?;
        let (path, written) = (Path::new("the pack"), pack.written());
        let ranking = match ranker {
            Some(ranker) => ranker.finish(path, &written, &changing, &warnings)?,
            None => PackRanking::overview(path, &written)?,
        };
        ranking.annotations().into_iter().try_for_each(|it| pack.add(&Block::new(it)))?;
        Ok((pack, warnings.take()))
    }
}

impl BlockSink for RankingSink<'_, '_> {
    type Error = Error;

    fn reserve_tree(&mut self, expected: Block<'static>) -> Result {
        self.pack.reserve_first(&expected)
    }

    fn add(&mut self, block: Block<'static>) -> Result {
        let index = self.pack.blocks();
        self.pack.add(&block)?;
        if let Some(ranker) = &mut self.ranker {
            ranker.add(usize::try_from(index).unwrap_or(usize::MAX), block);
        }
        Ok(())
    }

    fn set_tree(&mut self, tree: Block<'static>) -> Result {
        self.pack.replace_first(&tree)
    }

    fn cancel_tree(&mut self) -> Result {
        self.pack.remove_first();
        Ok(())
    }
}

/// Removes duplicates from the blocks. Returns the blocks and warnings.
fn deduplicated<'b>(
    blocks: &[Block<'b>],
    options: &Options,
    tokenizer: &TokenizerOptions,
    config: &Config,
    reporter: &dyn Reporter,
) -> Result<(Vec<Block<'b>>, Vec<String>)> {
    let (model, unknown) = tokenizer.find_model(config, true)?;
    let counter = tokenizer.load(config, model.as_ref(), false, reporter)?;
    let deduped = dedup::pack(blocks, options, &counter.estimator)?;
    let warnings = unknown.iter().chain(&deduped.warnings).map(ToString::to_string).collect();
    let (covered, saved) = (deduped.duplicates.covered.len(), deduped.duplicates.tokens_saved());
    reporter.note(&format!(
        "{}; saved {}",
        lcp_driver::plural(covered, "duplicate"),
        lcp_driver::plural(saved, "token")
    ));
    counter.save_cache(reporter);
    Ok((deduped.blocks, warnings))
}

/// Returns a warning if patterns of the options match no file.
fn unmatched(include: &[Pattern], rules: &[Rule], report: &IngestReport) -> Result<Option<String>> {
    let flag = |rule: &Rule| match &rule.attributes {
        attributes if attributes.priority.is_some() => "--priority",
        attributes if attributes.category.is_some() => "--category",
        _ => "--pin",
    };
    let include = include.iter().map(|pattern| ("--include", pattern));
    let patterns: Vec<_> =
        include.chain(rules.iter().map(|rule| (flag(rule), &rule.pattern))).collect();
    let globs = globs(patterns.iter().map(|(_, pattern)| *pattern))?;
    let mut is_matched = vec![false; patterns.len()];
    let files = report.files.iter().map(|file| &file.path);
    let others = report.skipped.iter().map(|skipped| &skipped.path);
    for label in files.chain(report.diffs.iter().map(|(path, ..)| path)).chain(others) {
        globs.matches(label).into_iter().for_each(|at| is_matched[at] = true);
    }
    let names = patterns.iter().zip(&is_matched).filter(|(_, is_matched)| !**is_matched);
    let names: Vec<_> =
        names.map(|((flag, pattern), _)| format!("{flag} {:?}", pattern.text())).collect();
    Ok((!names.is_empty()).then(|| format!("no file matches {}", names.join(", "))))
}

/// Warns about paths that are packs.
fn report_packs(named: &[PathBuf], report: &IngestReport, reporter: &dyn Reporter) {
    let is_left_out =
        |path: &&PathBuf| report.skipped_by(SkipReason::Pack).any(|of| path.ends_with(&of.path));
    for path in named.iter().filter(is_left_out) {
        reporter.warn(&format!(
            "left out {}: it is a pack, and `lcp merge` joins packs",
            path.display()
        ));
    }
}

/// Reports the place and kind of each secret, and what happened to it.
fn report_secrets(report: &IngestReport, policy: SecretPolicy, reporter: &dyn Reporter) {
    let action = match policy {
        SecretPolicy::Redact => "replaced",
        SecretPolicy::Exclude => "left out the file of",
        SecretPolicy::Warn => "packed",
        SecretPolicy::Off => return,
    };
    for secret in report.secrets.iter().take(NAMED_MAX) {
        let path = secret.path.escape_debug();
        reporter.warn(&format!("{action} a secret: {path}:{}: {}", secret.line, secret.kind));
    }
    let more = report.secrets.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        let more = lcp_driver::plural(more, "more secret");
        reporter.warn(&format!("{action} {more}; --report lists all"));
    }
}

/// Reports the warnings of ingestion, and a summary of the files that were left out.
fn report_warnings(report: &IngestReport, reporter: &dyn Reporter) {
    for warning in &report.warnings {
        reporter.warn(warning);
    }
    for reason in [SkipReason::Unreadable, SkipReason::IgnoreFile, SkipReason::Vanished] {
        for skipped in report.skipped_by(reason).take(NAMED_MAX) {
            let message = skipped.message.as_deref().unwrap_or(reason.name());
            reporter.warn(&format!("cannot read {}: {message}", skipped.path.escape_debug()));
        }
        let more = report.skipped_by(reason).count().saturating_sub(NAMED_MAX);
        if more > 0 {
            let more = lcp_driver::plural(more, "more file");
            reporter.warn(&format!("cannot read {more} ({})", reason.name()));
        }
    }
}

/// Returns lines with the number and size of the files, the largest ones, and the reasons why
/// others are left out. Tokens are estimated as a quarter of the bytes.
fn summary(report: &IngestReport) -> Vec<String> {
    let tokens = |bytes: u64| format!("~{}", lcp_driver::plural(bytes.div_ceil(4), "token"));
    let files = lcp_driver::plural(report.files.len(), "file");
    let bytes = lcp_driver::plural(report.bytes(), "byte");
    let mut lines = vec![format!("packed {files}: {bytes}, {}", tokens(report.bytes()))];
    if report.files.len() > 1 {
        let mut largest: Vec<_> = report.files.iter().collect();
        largest.sort_by_key(|file| std::cmp::Reverse(file.bytes));
        let largest = largest
            .iter()
            .take(LARGEST)
            .map(|file| format!("{} ({})", file.path.escape_debug(), tokens(file.bytes)));
        lines.push(format!("largest: {}", largest.collect::<Vec<_>>().join(", ")));
    }
    lines.extend(report.skipped_summary());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::Silent;

    #[test]
    fn files_in_memory_are_packed_like_those_of_a_folder() {
        let files: [(&str, &[u8]); 3] =
            [("b/a.rs", b"fn a() {}\n"), ("a.csv", b"a,b\n1,2\n3,4\n"), ("c.bin", b"\0\0")];
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let pack = |options: PackOptions<'_>| options.pack(&Config::default(), &Silent).unwrap().0;
        let input = |(name, bytes): (&str, &[u8])| Input {
            name: Some(name.to_owned()),
            bytes: bytes.to_vec(),
        };
        let inputs = files.map(input).to_vec();
        let paths = vec![folder.path().to_owned()];
        assert_eq!(
            pack(PackOptions { inputs, ..PackOptions::default() }),
            pack(PackOptions { paths, ..PackOptions::default() })
        );
    }
}

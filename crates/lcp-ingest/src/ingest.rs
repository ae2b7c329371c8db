//! Conversion of files and changes into blocks (RFC 0010 §3).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_types::{Annotation, Block, Diff, FormatHint, Lang, Priority, Tag};
use rayon::prelude::*;

use crate::attributes_file::AttributeFiles;
use crate::changes::{self, Changes, Renames};
use crate::commit_log;
use crate::error::{Error, ErrorKind, Result};
use crate::file_tree;
use crate::file_type::FileType;
use crate::folder_sizes;
use crate::options::{IngestOptions, Input, Progress};
use crate::paths::{self, Root, escape};
use crate::read::{Converted, ReadOutcome, Reader, summarize};
use crate::report::{IngestReport, IngestedFile, SkipReason, SkippedFile};
use crate::rules::{BlockAttributes, FileInfo};
use crate::secrets::{SecretCollector, SecretFilter, SecretPolicy};
use crate::sink::BlockSink;
use crate::submodules;
use crate::walk::{self, FoundFile};

/// The label of standard input without a name.
const INPUT_LABEL: &str = "standard input";

/// The title of instructions without a name.
const INSTRUCTIONS: &str = "instructions";

/// The maximum number of warnings about converters that failed.
const NOT_CONVERTED_MAX: usize = 10;

/// The minimum size of the files that are read together, in bytes. The files of two batches are in
/// memory at once: one is read while the other is packed.
const BATCH_BYTES: u64 = 8 << 20;

/// The maximum number of files that are read together.
const BATCH_FILES: usize = 4096;

/// The blocks of a pack, and a report of all files that were found.
#[derive(Debug)]
pub struct IngestResult {
    /// The blocks, each followed by its annotations.
    pub blocks: Vec<Block<'static>>,
    /// The files that were packed, and those that were left out.
    pub report: IngestReport,
}

/// Converts files, changes and standard input into blocks.
///
/// The same files give the same blocks for any number of threads. Files are read and summarized in
/// the current rayon pool. To use another pool, call this function within `pool.install`.
///
/// All blocks are in memory. [`ingest_into`] needs memory only for some of them.
///
/// # Errors
///
/// Returns an [`Error`] if:
///
/// - a path does not exist or cannot be read,
/// - there is nothing to pack,
/// - the content exceeds the limits of a pack, or [`IngestOptions::max_total_bytes`],
/// - `git` fails, prints a malformed diff, or does not know the revision,
/// - `since` or `diff` is set and `-` is the only path,
/// - both a converter and a function that opens files are set.
///
/// A file that cannot be read is not an error. It is listed in the report.
pub fn ingest(options: &IngestOptions<'_>) -> Result<IngestResult> {
    let mut blocks = Vec::new();
    let report = ingest_into(options, &mut blocks)?;
    Ok(IngestResult { blocks, report })
}

/// Converts files, changes and standard input into blocks like [`ingest`], and passes them to a
/// sink. The blocks of at most a few megabytes of files, or of the largest file, are in memory.
///
/// # Errors
///
/// Returns the errors of [`ingest`], and those of the sink.
pub fn ingest_into<S: BlockSink>(
    options: &IngestOptions<'_>,
    sink: &mut S,
) -> Result<IngestReport, S::Error> {
    if options.converter.is_some() && options.open.is_some() {
        // A command would open files that the caller does not allow.
        return Err(Error::invalid("files cannot be converted if access is restricted").into());
    }
    let roots = paths::roots(&options.paths, &options.base)?;
    if roots.is_empty()
        && (options.since.is_some() || options.diff.is_some() || options.commits.is_some())
    {
        let message = "--since, --diff and --commits cannot be used with standard input alone";
        return Err(Error::invalid(message).with_hint("pass a PATH in addition to `-`").into());
    }
    let mut walked = walk::walk(&roots, options)?;
    let submodules = roots.iter().flat_map(|root| submodules::not_checked_out(root, options));
    walked.skipped.extend(submodules);
    let mut changes = changes::collect(&roots, options, &walked)?;
    walked.skipped.append(&mut changes.skipped);
    if let Some(only) = &changes.allowed {
        walked.files.retain(|file| only.contains(&file.label));
        // If a folder cannot be read, its changes are unknown, so its failure stays in the report.
        walked.skipped.retain(|skipped| {
            skipped.reason.is_failure()
                || skipped.reason == SkipReason::Change
                || only.contains(&skipped.path)
        });
    }
    (options.progress)(Progress::FilesFound(walked.files.len()));
    let filter = SecretFilter::new(options.secrets, &options.secret_exceptions)?;
    let reader = Reader::new(options, &filter)?;
    let attributes = attribute_files(&roots, options);
    let mut sources: Vec<_> = walked.files.into_iter().map(Source::File).collect();
    let inputs = add_inputs(&mut sources, &reader, &options.inputs)?;
    walked.warnings.extend(inputs);
    let report = IngestReport {
        skipped: walked.skipped,
        warnings: [walked.warnings, std::mem::take(&mut changes.warnings)].concat(),
        ..IngestReport::default()
    };
    let sizes = sources.iter().map(|source| (source.label().to_owned(), source.size()));
    let mut pack = PackInProgress {
        options,
        secrets: SecretCollector::new(&filter),
        sink,
        blocks: 0,
        sizes: sizes.collect(),
        files_done: 0,
        bytes: 0,
        in_tree: Vec::new(),
        not_converted: Vec::new(),
        report,
    };
    pack.reserve_tree()?;
    let mut sources = sources.into_iter().peekable();
    let mut next = || {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && batch.len() < BATCH_FILES {
            let Some(source) = sources.next() else { break };
            bytes = bytes.saturating_add(source.size());
            batch.push(source);
        }
        batch
    };
    let read = |source| match source {
        Source::Input(label, outcome) => (label, *outcome),
        Source::File(file) => {
            let outcome = reader.read_file(&file, &attributes);
            (file.label, outcome)
        }
    };
    let read = |batch: Vec<Source>| batch.into_par_iter().map(read).collect::<Vec<_>>();
    let mut batch = read(next());
    while !batch.is_empty() {
        let later = next();
        let (later, added) = rayon::join(|| read(later), || pack.add_files(batch, &changes));
        added?;
        batch = later;
    }
    pack.set_tree()?;
    for diff in std::mem::take(&mut changes.diffs) {
        pack.add_diff(diff, &changes.renamed)?;
    }
    pack.add_texts(&roots)?;
    let PackInProgress { blocks, mut report, secrets, not_converted, .. } = pack;
    report.secrets = secrets.findings;
    // If a program is not installed, all of its conversions fail.
    let more = not_converted.len().saturating_sub(NOT_CONVERTED_MAX);
    report.warnings.extend(not_converted.into_iter().take(NOT_CONVERTED_MAX));
    if more > 0 {
        let files = if more == 1 { "file" } else { "files" };
        report.warnings.push(format!("could not convert {more} more {files}"));
    }
    report
        .skipped
        .sort_by(|a, b| paths::compare_labels(&a.path, &b.path).then(a.reason.cmp(&b.reason)));
    if blocks == 0 {
        return Err(nothing_to_pack(&report, options).into());
    }
    Ok(report)
}

/// Returns the `.gitattributes` of each root. Roots in one repository share them.
fn attribute_files<'o>(
    roots: &[Root],
    options: &IngestOptions<'o>,
) -> Vec<Option<Arc<AttributeFiles<'o>>>> {
    let mut tops: HashMap<&Path, PathBuf> = HashMap::new();
    let mut shared: HashMap<PathBuf, Arc<AttributeFiles<'o>>> = HashMap::new();
    let attributes = roots.iter().map(|root| {
        let folder = if root.is_folder { root.path.as_path() } else { root.path.parent()? };
        let top = tops.entry(folder).or_insert_with(|| {
            // The path may be relative, and the repository above the current folder.
            let repository = options.open.is_none().then(|| paths::repository(folder)).flatten();
            repository.unwrap_or_else(|| folder.to_owned())
        });
        let new = || Arc::new(AttributeFiles::new(top, options.open));
        Some(Arc::clone(shared.entry(top.clone()).or_insert_with(new)))
    });
    attributes.collect()
}

/// A text to pack.
enum Source {
    File(FoundFile),
    /// Standard input, which was read already, and its label.
    Input(String, Box<ReadOutcome>),
}

impl Source {
    fn label(&self) -> &str {
        match self {
            Self::File(file) => &file.label,
            Self::Input(label, _) => label,
        }
    }

    /// Returns the size in bytes when the source was found.
    fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.size,
            Self::Input(_, outcome) => match &**outcome {
                Ok(read) => read.file_bytes,
                Err(skipped) => skipped.bytes.unwrap_or_default(),
            },
        }
    }
}

/// Adds texts that are in memory. Returns a warning about those with the label of another source.
fn add_inputs(
    sources: &mut Vec<Source>,
    reader: &Reader<'_>,
    inputs: &[Input],
) -> Result<Option<String>> {
    let mut labels: HashSet<_> = sources.iter().map(|source| source.label().to_owned()).collect();
    let mut shared = 0;
    for input in inputs {
        let (label, outcome) = read_input(reader, input)?;
        shared += usize::from(!labels.insert(label.clone()));
        sources.push(Source::Input(label, Box::new(outcome)));
    }
    if !inputs.is_empty() {
        sources.sort_by(|a, b| paths::compare_labels(a.label(), b.label()));
    }
    Ok((shared > 0).then(|| paths::shared_labels(shared, "text")))
}

fn read_input(reader: &Reader<'_>, input: &Input) -> Result<(String, ReadOutcome)> {
    let label = input.name.clone().unwrap_or_else(|| INPUT_LABEL.to_owned());
    let mut outcome = reader.read_input(&label, input.bytes.clone())?;
    if let (None, Ok(read)) = (&input.name, &mut outcome)
        && read.file_type == FileType::Code(Lang::Unknown)
    {
        // Without a name, text of an unknown type counts as prose.
        read.file_type = FileType::Document(FormatHint::Plain);
    }
    Ok((label, outcome))
}

/// The pack and the report so far.
struct PackInProgress<'o, S> {
    options: &'o IngestOptions<'o>,
    secrets: SecretCollector<'o>,
    sink: &'o mut S,
    /// The number of blocks so far.
    blocks: u64,
    /// The labels of all files, and their sizes when they were found.
    sizes: Vec<(String, u64)>,
    /// The number of files in the batches so far.
    files_done: usize,
    /// The total size of the packed files.
    bytes: u64,
    /// The labels and sizes of the files so far that belong in the tree.
    in_tree: Vec<(String, u64)>,
    /// The warnings about converters that failed.
    not_converted: Vec<String>,
    report: IngestReport,
}

impl<S: BlockSink> PackInProgress<'_, S> {
    /// Reserves the first block for the tree, which is known after all files have been read.
    fn reserve_tree(&mut self) -> Result<(), S::Error> {
        if !self.options.tree {
            return Ok(());
        }
        let is_in_tree =
            |skipped: &&SkippedFile| skipped.reason.is_in_tree() && !skipped.is_unlabelled;
        let unread = self.report.skipped.iter().filter(is_in_tree);
        self.in_tree.extend(unread.map(|it| (it.path.clone(), it.bytes.unwrap_or_default())));
        let expected = [&self.in_tree[..], &self.sizes].concat();
        if expected.is_empty() {
            return Ok(());
        }
        self.blocks = 1;
        self.sink.reserve_tree(tree(expected))
    }

    /// Sets the tree of all files, including skipped files that belong in the tree.
    fn set_tree(&mut self) -> Result<(), S::Error> {
        if !self.options.tree || self.blocks == 0 {
            return Ok(());
        }
        let files = std::mem::take(&mut self.in_tree);
        if files.is_empty() {
            // Each file with a block is in the tree, so there is only the reserved block.
            self.blocks = 0;
            return self.sink.cancel_tree();
        }
        self.sink.set_tree(tree(files))
    }

    /// Adds the next files in the order of the pack.
    fn add_files(
        &mut self,
        mut files: Vec<(String, ReadOutcome)>,
        changes: &Changes,
    ) -> Result<(), S::Error> {
        let count = files.len();
        self.bytes += files.iter().map(|(_, outcome)| packed_bytes(outcome)).sum::<u64>();
        if self.bytes > self.options.max_total_bytes {
            return Err(self.total_too_large(&files).into());
        }
        for (label, outcome) in &mut files {
            let Ok(read) = outcome else { continue };
            if !self.secrets.apply(label, &mut read.bytes, &read.secrets) {
                let bytes = Some(read.file_bytes);
                let skipped = SkippedFile::new(label.as_str(), SkipReason::Secret);
                *outcome = Err(SkippedFile { bytes, ..skipped });
            }
        }
        // A summary must not have a secret, and a program that summarizes must not see one.
        let summaries: Vec<_> = files
            .par_iter()
            .map(|(label, outcome)| summarize(self.options, label, outcome.as_ref().ok()?))
            .collect();
        for ((label, outcome), summary) in files.into_iter().zip(summaries) {
            self.add_file(label, outcome, summary, changes)?;
        }
        self.files_done += count;
        Ok(())
    }

    fn add_file(
        &mut self,
        label: String,
        outcome: ReadOutcome,
        summary: Option<String>,
        changes: &Changes,
    ) -> Result<(), S::Error> {
        let read = match outcome {
            Ok(read) => read,
            Err(skipped) => {
                if skipped.reason == SkipReason::NotConverted {
                    let reason = skipped.message.as_deref().unwrap_or_default();
                    self.not_converted.push(format!("{}: left out: {reason}", escape(&label)));
                }
                if skipped.reason.is_in_tree() {
                    self.in_tree.push((label, skipped.bytes.unwrap_or_default()));
                }
                self.report.skipped.push(skipped);
                return Ok(());
            }
        };
        self.in_tree.push((label.clone(), read.file_bytes));
        let is_changed = changes.changed.contains(&label);
        let linguist = &read.linguist;
        let info = FileInfo {
            changed: is_changed,
            generated: linguist.generated.or(read.is_generated.then_some(true)),
            vendored: linguist.vendored == Some(true),
            documentation: linguist.documentation == Some(true),
        };
        let attributes = self.options.rules.attributes(&label, info);
        self.report.files.push(IngestedFile {
            path: label.clone(),
            file_type: read.file_type,
            bytes: read.bytes.len() as u64,
            charset: read.charset,
            is_notebook: read.converted == Some(Converted::Notebook),
            converted: read.converted.as_ref().map(|converted| converted.format().to_owned()),
            attributes: attributes.clone(),
            changed: is_changed,
            summary_bytes: summary.as_ref().map(|summary| summary.len() as u64),
        });
        if let Some(warning) = read.warning.as_ref() {
            self.report.warnings.push(format!("{}: {warning}", escape(&label)));
        }
        if let Some(reason) = &read.not_converted {
            self.not_converted.push(format!("{}: packed as it is: {reason}", escape(&label)));
        }
        let redacted = if self.secrets.redacts() { read.secrets.len() } else { 0 };
        let is_data = matches!(read.file_type, FileType::Data(_));
        let lang = read.file_type.tagged_lang(&label);
        let tags = [
            is_data.then(|| Tag::new(Tag::PATH, label.clone())),
            renamed_from(&changes.renamed, &label),
            lang.map(|lang| Tag::new(Tag::LANG, lang)),
            read.charset.map(|charset| Tag::new(Tag::CHARSET, charset)),
            read.converted.map(|it| Tag::new(Tag::CONVERTED, it.format().to_owned())),
        ];
        let mut block = read.file_type.into_block(label, read.bytes);
        block.summary = summary.map(Into::into);
        let target = self.blocks;
        self.add(block, &attributes)?;
        self.add_tags(target, tags)?;
        self.tag_redacted(target, redacted)
    }

    fn add_diff(&mut self, mut diff: Diff<'static>, renamed: &Renames) -> Result<(), S::Error> {
        let excluded = self.report.skipped_by(SkipReason::Secret).any(|it| it.path == diff.path);
        let redacted = self.secrets.apply_to_diff(&mut diff).filter(|_| !excluded);
        let Some(redacted) = redacted else {
            let message = Some("its changes have a secret".to_owned());
            let skipped = SkippedFile::new(diff.path.into_owned(), SkipReason::Change);
            self.report.skipped.push(SkippedFile { message, ..skipped });
            return Ok(());
        };
        let target = self.blocks;
        let info = FileInfo { changed: true, ..FileInfo::default() };
        let attributes = self.options.rules.attributes(&diff.path, info);
        let path = diff.path.clone().into_owned();
        self.report.diffs.push((path, attributes.clone(), diff.hunks.len()));
        let renamed = renamed_from(renamed, &diff.path);
        self.add(Block::new(diff), &attributes)?;
        self.add_tags(target, [renamed])?;
        self.tag_redacted(target, redacted)
    }

    /// Adds the logs of the repositories, then the instructions.
    fn add_texts(&mut self, roots: &[Root]) -> Result<(), S::Error> {
        if let Some(count) = self.options.commits {
            for (title, text) in commit_log::logs(roots, &self.options.base, count)? {
                if text.is_empty() {
                    let warning = format!("{title} has no commits: the clone has no history");
                    self.report.warnings.push(warning);
                    continue;
                }
                let log = Block::document(title, text, FormatHint::Plain);
                self.add_text(log, &BlockAttributes::default())?;
            }
        }
        if let Some(instructions) = &self.options.instructions {
            let name = instructions.name.as_deref().unwrap_or(INSTRUCTIONS);
            let text = String::from_utf8_lossy(&instructions.bytes).into_owned();
            let format = match FileType::detect(name, &[]) {
                FileType::Document(format) => format,
                _ => FormatHint::Plain,
            };
            let block = Block::document(name.to_owned(), text, format);
            self.add_text(block, &BlockAttributes::with_priority(Priority::Critical))?;
        }
        Ok(())
    }

    /// Adds a text that is not a file.
    fn add_text(
        &mut self,
        mut block: Block<'static>,
        attributes: &BlockAttributes,
    ) -> Result<(), S::Error> {
        let name = block.label().into_owned();
        let before = self.secrets.findings.len();
        let redacted = self.secrets.apply_to_block(&name, &name, &mut block);
        let has_secret = self.secrets.findings.len() > before;
        if has_secret && self.options.secrets == SecretPolicy::Exclude {
            self.report.skipped.push(SkippedFile::new(name, SkipReason::Secret));
            return Ok(());
        }
        let target = self.blocks;
        self.add(block, attributes)?;
        self.tag_redacted(target, redacted)
    }

    fn add_tags(
        &mut self,
        target: u64,
        tags: impl IntoIterator<Item = Option<Tag<'static>>>,
    ) -> Result<(), S::Error> {
        let mut tags = tags.into_iter().flatten();
        tags.try_for_each(|tag| self.push(Block::new(Annotation::tag(target, &tag))))
    }

    /// Tags a block with the number of its replaced secrets.
    fn tag_redacted(&mut self, target: u64, secrets: usize) -> Result<(), S::Error> {
        let tag = (secrets > 0).then(|| Tag::new(Tag::REDACTED, secrets.to_string()));
        self.add_tags(target, [tag])
    }

    fn add(&mut self, block: Block<'static>, attributes: &BlockAttributes) -> Result<(), S::Error> {
        let target = self.blocks;
        self.push(block)?;
        attributes
            .to_annotations(target)
            .into_iter()
            .try_for_each(|annotation| self.push(Block::new(annotation)))
    }

    fn push(&mut self, block: Block<'static>) -> Result<(), S::Error> {
        self.blocks += 1;
        self.sink.add(block)
    }

    /// Returns the error that names the largest folders, by the sizes of packed files, of a batch,
    /// and of later files as they were found.
    fn total_too_large(&self, batch: &[(String, ReadOutcome)]) -> Error {
        let (options, packed) = (self.options, &self.report.files);
        let packed = packed.iter().map(|file| (file.path.as_str(), file.bytes));
        let batch_sizes =
            batch.iter().map(|(label, outcome)| (label.as_str(), packed_bytes(outcome)));
        let packed = packed.chain(batch_sizes);
        let later = self.sizes.iter().skip(self.files_done + batch.len());
        let later = later.filter(|(_, size)| *size <= options.max_file_bytes);
        let files = packed.chain(later.map(|(label, size)| (label.as_str(), *size)));
        Error::total_too_large(options.max_total_bytes, &folder_sizes::largest(files))
    }
}

/// Returns the size of the text that is packed, in bytes.
fn packed_bytes(outcome: &ReadOutcome) -> u64 {
    outcome.as_ref().map_or(0, |read| read.bytes.len() as u64)
}

/// Returns the block of the tree of these files.
fn tree(mut files: Vec<(String, u64)>) -> Block<'static> {
    files.sort_by(|a, b| paths::compare_labels(&a.0, &b.0));
    file_tree::block(&files)
}

/// Returns the tag with the old path of a renamed file.
fn renamed_from(renamed: &Renames, label: &str) -> Option<Tag<'static>> {
    renamed.get(label).map(|old| Tag::new(Tag::RENAMED_FROM, old.clone()))
}

/// Returns the error for a pack without blocks.
fn nothing_to_pack(report: &IngestReport, options: &IngestOptions<'_>) -> Error {
    let error = match report.skipped.iter().find(|skipped| skipped.reason.is_failure()) {
        None => Error::invalid("no files to pack"),
        Some(unread) => {
            let why = unread.message.as_deref().unwrap_or(unread.reason.name());
            let path = escape(&unread.path);
            let message = format!("no files to pack: cannot read {path}: {why}");
            Error::new(ErrorKind::Io, message)
        }
    };
    if options.since.is_some() && report.skipped_by(SkipReason::Change).next().is_some() {
        let left_out = report.skipped_summary().unwrap_or_default();
        return error.with_hint(format!(
            "{left_out}; the changes are hidden or ignored; pass --hidden or --no-ignore to \
             include them"
        ));
    }
    if let Some(left_out) = report.skipped_summary() {
        return error
            .with_hint(format!("{left_out}; pass --report - and omit --no-tree to list them"));
    }
    if let Some(since) = &options.since {
        return error.with_hint(format!(
            "pass an older revision: no file below the PATHs differs from {since:?}"
        ));
    }
    error.with_hint(
        "pass --no-ignore or --hidden to include ignored or hidden files; check --include and \
         --exclude",
    )
}

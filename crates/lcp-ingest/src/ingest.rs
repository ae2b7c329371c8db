//! Conversion of files and changes into blocks (RFC 0010 §3).

use std::path::Path;

use lcp_types::{Annotation, Block, Diff, FormatHint, Lang, Tag};
use rayon::prelude::*;

use crate::attributes_file::AttributeFiles;
use crate::changes::{self, Labels};
use crate::error::{Error, ErrorKind, Result};
use crate::file_tree;
use crate::file_type::FileType;
use crate::options::{IngestOptions, Input, Progress};
use crate::paths::{self, escape};
use crate::read::{NOTEBOOK, ReadOutcome, Reader, summarize};
use crate::report::{IngestReport, IngestedFile, SkipReason, SkippedFile};
use crate::rules::{BlockAttributes, FileInfo};
use crate::secrets::SecretFilter;
use crate::submodules;
use crate::walk;

/// The label of standard input without a name.
const INPUT_LABEL: &str = "standard input";

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
/// # Errors
///
/// Returns an [`Error`] if:
///
/// - a path does not exist or cannot be read,
/// - there is nothing to pack,
/// - the content exceeds the limits of a pack,
/// - `git` fails, prints a malformed diff, or does not know the revision,
/// - `since` or `diff` is set and `-` is the only path.
///
/// A file that cannot be read is not an error. It is listed in the report.
pub fn ingest(options: &IngestOptions<'_>) -> Result<IngestResult> {
    let roots = paths::roots(&options.paths, &options.base)?;
    if roots.is_empty() && (options.since.is_some() || options.diff.is_some()) {
        return Err(Error::invalid("--since and --diff cannot be used with standard input alone")
            .with_hint("pass a PATH in addition to `-`"));
    }
    let mut walked = walk::walk(&roots, options)?;
    let submodules = roots.iter().flat_map(|root| submodules::not_checked_out(root, options));
    walked.skipped.extend(submodules);
    let changes = changes::collect(&roots, options, &walked)?;
    walked.skipped.extend(changes.skipped);
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
    let mut secrets = SecretFilter::new(options.secrets, &options.secret_exceptions)?;
    let reader = Reader::new(options, &secrets)?;
    let attributes = roots.iter().map(|root| {
        let folder = if root.is_folder { Some(root.path.as_path()) } else { root.path.parent() };
        // The path may be relative, and the repository above the current folder.
        let top = folder.filter(|_| options.open.is_none()).and_then(paths::repository);
        let top = top.or_else(|| folder.map(Path::to_owned))?;
        Some(AttributeFiles::new(&top, options.open))
    });
    let attributes: Vec<_> = attributes.collect();
    let outcomes: Result<Vec<ReadOutcome>> =
        walked.files.par_iter().map(|file| reader.read_file(file, &attributes)).collect();
    let labels = walked.files.into_iter().map(|file| file.label);
    let mut outcomes: Vec<_> = labels.zip(outcomes?).collect();
    if let Some(input) = &options.input {
        let (label, outcome) = read_input(&reader, input)?;
        if outcomes.iter().any(|(other, _)| *other == label) {
            walked.warnings.push(paths::shared_labels(1, "text"));
        }
        outcomes.push((label, outcome));
        outcomes.sort_by(|a, b| paths::compare_labels(&a.0, &b.0));
    }
    for (label, outcome) in &mut outcomes {
        let Ok(read) = outcome else { continue };
        if !secrets.apply(label, &mut read.bytes, &read.secrets) {
            let bytes = Some(read.file_bytes);
            let skipped = SkippedFile::new(label.as_str(), SkipReason::Secret);
            *outcome = Err(SkippedFile { bytes, ..skipped });
        }
    }
    // A summary must not have a secret, and a program that summarizes must not see one.
    let summaries: Vec<_> = outcomes
        .par_iter()
        .map(|(label, outcome)| summarize(options, label, outcome.as_ref().ok()?))
        .collect();
    let report = IngestReport {
        skipped: walked.skipped,
        warnings: [walked.warnings, changes.warnings].concat(),
        ..IngestReport::default()
    };
    let mut pack = PackInProgress { options, secrets, blocks: Vec::new(), report };
    if options.tree {
        pack.add_tree(&outcomes);
    }
    for ((label, outcome), summary) in outcomes.into_iter().zip(summaries) {
        pack.add_file(label, outcome, summary, &changes.changed);
    }
    for diff in changes.diffs {
        pack.add_diff(diff);
    }
    let PackInProgress { blocks, mut report, secrets, .. } = pack;
    report.secrets = secrets.findings;
    report
        .skipped
        .sort_by(|a, b| paths::compare_labels(&a.path, &b.path).then(a.reason.cmp(&b.reason)));
    if blocks.is_empty() {
        return Err(nothing_to_pack(&report, options));
    }
    Ok(IngestResult { blocks, report })
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

/// The blocks and the report collected so far.
struct PackInProgress<'o> {
    options: &'o IngestOptions<'o>,
    secrets: SecretFilter<'o>,
    blocks: Vec<Block<'static>>,
    report: IngestReport,
}

impl PackInProgress<'_> {
    /// Adds the tree of all files, including skipped files that belong in the tree.
    fn add_tree(&mut self, outcomes: &[(String, ReadOutcome)]) {
        let entry = |(label, outcome): &'_ (String, ReadOutcome)| match outcome {
            Ok(read) => Some((label.clone(), read.file_bytes)),
            Err(skipped) => Some((label.clone(), skipped.bytes.unwrap_or_default()))
                .filter(|_| skipped.reason.is_in_tree()),
        };
        let is_in_tree =
            |skipped: &&SkippedFile| skipped.reason.is_in_tree() && !skipped.is_unlabelled;
        let unread = self.report.skipped.iter().filter(is_in_tree);
        let unread =
            unread.map(|skipped| (skipped.path.clone(), skipped.bytes.unwrap_or_default()));
        let mut files: Vec<_> = unread.chain(outcomes.iter().filter_map(entry)).collect();
        files.sort_by(|a, b| paths::compare_labels(&a.0, &b.0));
        if !files.is_empty() {
            self.blocks.push(file_tree::block(&files));
        }
    }

    fn add_file(
        &mut self,
        label: String,
        outcome: ReadOutcome,
        summary: Option<String>,
        changed: &Labels,
    ) {
        let read = match outcome {
            Ok(read) => read,
            Err(skipped) => return self.report.skipped.push(skipped),
        };
        let changed = changed.contains(&label);
        let linguist = &read.linguist;
        let info = FileInfo {
            changed,
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
            is_notebook: read.converted == Some(NOTEBOOK),
            attributes: attributes.clone(),
            changed,
            summary_bytes: summary.as_ref().map(|summary| summary.len() as u64),
        });
        let lang = read.file_type.tagged_lang(&label);
        if let Some(warning) = read.warning.as_ref() {
            self.report.warnings.push(format!("{}: {warning}", escape(&label)));
        }
        let redacted = if self.secrets.redacts() { read.secrets.len() } else { 0 };
        let charset = read.charset.map(|charset| Tag::new(Tag::CHARSET, charset));
        let converted = read.converted.map(|format| Tag::new(Tag::CONVERTED, format));
        let path = matches!(read.file_type, FileType::Data(_));
        let path = path.then(|| Tag::new(Tag::PATH, label.clone()));
        let mut block = read.file_type.into_block(label, read.bytes);
        block.summary = summary.map(Into::into);
        let target = self.blocks.len() as u64;
        self.add(block, &attributes);
        let tags = lang.map(|lang| Tag::new(Tag::LANG, lang)).into_iter().chain(charset);
        let tags = path
            .into_iter()
            .chain(tags)
            .chain(converted)
            .map(|tag| Block::new(Annotation::tag(target, &tag)));
        self.blocks.extend(tags);
        self.tag_redacted(target, redacted);
    }

    fn add_diff(&mut self, mut diff: Diff<'static>) {
        let excluded = self.report.skipped_by(SkipReason::Secret).any(|it| it.path == diff.path);
        let redacted = self.secrets.apply_to_diff(&mut diff).filter(|_| !excluded);
        let Some(redacted) = redacted else {
            let message = Some("its changes have a secret".to_owned());
            let skipped = SkippedFile::new(diff.path.into_owned(), SkipReason::Change);
            return self.report.skipped.push(SkippedFile { message, ..skipped });
        };
        let target = self.blocks.len() as u64;
        let info = FileInfo { changed: true, ..FileInfo::default() };
        let attributes = self.options.rules.attributes(&diff.path, info);
        let path = diff.path.clone().into_owned();
        self.report.diffs.push((path, attributes.clone(), diff.hunks.len()));
        self.add(Block::new(diff), &attributes);
        self.tag_redacted(target, redacted);
    }

    /// Tags a block with the number of its replaced secrets.
    fn tag_redacted(&mut self, target: u64, secrets: usize) {
        if secrets > 0 {
            let tag = Tag::new(Tag::REDACTED, secrets.to_string());
            self.blocks.push(Block::new(Annotation::tag(target, &tag)));
        }
    }

    fn add(&mut self, block: Block<'static>, attributes: &BlockAttributes) {
        let target = self.blocks.len() as u64;
        self.blocks.push(block);
        self.blocks.extend(attributes.to_annotations(target).into_iter().map(Block::new));
    }
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

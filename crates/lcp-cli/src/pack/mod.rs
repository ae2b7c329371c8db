//! A directory, files and changes to blocks (RFC 0010 §3): what `lcp pack` does, and any
//! other program that makes packs of files. Nothing is printed here.

mod changes;
mod generated;
mod git;
pub mod globs;
mod ignores;
mod kinds;
mod outputs;
mod read;
mod report;
mod roots;
pub mod rules;
mod skipped;
mod tree;
mod walk;

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lcp_types::{Block, Diff, FormatHint};
use rayon::prelude::*;

pub use kinds::Kind;
pub use report::{PackedFile, Report};
pub use skipped::{Reason, Skipped};

use crate::Result;
use crate::failure::{Code, Failure};
use changes::Labels;
use globs::Globs;
use read::{Outcome, Reader};
use rules::{Known, Rules, Says};

use crate::threads;
use walk::said;

/// Bytes that a file may have, unless more are allowed.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// What a text from standard input is called where nobody says it.
const INPUT: &str = "standard input";

/// What is packed, and how.
pub struct Options<'a> {
    /// Files and folders; the current folder where there is none. `-` is passed over: what
    /// it holds is `input`.
    pub paths: Vec<PathBuf>,
    /// Where relative PATHs begin; the current folder if it is empty.
    pub base: PathBuf,
    /// What standard input held, if it is to be packed.
    pub input: Option<Input>,
    /// What of a folder is found.
    pub walking: Walking,
    /// Whether folders of other file systems are left out.
    pub one_file_system: bool,
    /// If there are any: nothing else is packed.
    pub include: Globs,
    /// What is not packed.
    pub exclude: Globs,
    /// Bytes of a file that is not left out.
    pub max_file_bytes: u64,
    /// Whether the pack begins with a FILE_TREE.
    pub tree: bool,
    /// Whether pictures are packed.
    pub images: bool,
    /// What is said of files.
    pub rules: Rules,
    /// Pack only what differs from this revision.
    pub since: Option<String>,
    /// Add the changes to this revision.
    pub diff: Option<String>,
    /// Files that are written at the same time, and so never packed.
    pub outputs: Vec<PathBuf>,
    /// How many files are to be read and summarised at once: as many as there are
    /// processors, or so many if that is more.
    pub jobs: Option<NonZeroUsize>,
    /// Opens files where not all that can be read may be; called by several threads at once.
    pub open: Option<Open<'a>>,
    /// Summarises a file; called by several threads at once.
    pub summary: Option<Summarise<'a>>,
    /// Told how far the work is; called by several threads at once.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            base: PathBuf::new(),
            input: None,
            walking: Walking::default(),
            one_file_system: false,
            include: Globs::default(),
            exclude: Globs::default(),
            max_file_bytes: FILE_BYTES_MAX,
            tree: true,
            images: false,
            rules: Rules::default(),
            since: None,
            diff: None,
            outputs: Vec::new(),
            jobs: None,
            open: None,
            summary: None,
            progress: &|_| {},
        }
    }
}

/// What of a folder is found: by default what ripgrep finds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walking {
    /// Hidden files too.
    pub hidden: bool,
    /// What ignore files exclude, too.
    pub ignored: bool,
    /// What links lead to.
    pub follow: bool,
}

/// What standard input held.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// What it is called, and known by.
    pub name: Option<String>,
    /// The text.
    pub bytes: Vec<u8>,
}

/// A file that may get a summary.
#[derive(Clone, Copy, Debug)]
pub struct FileForSummary<'f> {
    /// Its label.
    pub path: &'f str,
    /// What it is; [`Kind::lang`] is its language.
    pub kind: Kind,
    /// All of it.
    pub text: &'f str,
}

/// Summarises a file. What is no smaller than the file is not used.
pub type Summarise<'a> = &'a (dyn Fn(&FileForSummary<'_>) -> Option<String> + Sync);

/// Opens a file that was found, or refuses to. Then warnings quote no ignore file.
pub type Open<'a> = &'a (dyn Fn(&Path) -> std::io::Result<File> + Sync);

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many files were found.
    Found(usize),
    /// One of them was read.
    Read,
}

/// The blocks of a pack, and what became of all that was found.
#[derive(Debug)]
pub struct Packed {
    /// The blocks, with their annotations right behind them.
    pub blocks: Vec<Block<'static>>,
    /// What was packed and what was not.
    pub report: Report,
}

/// Makes blocks of files. The same files give the same blocks, however many threads work.
///
/// # Errors
///
/// A PATH that is not there, nothing to pack, more than a pack can hold, and what is wrong
/// with git. A file that cannot be read is no error: it is in the report.
pub fn pack(options: &Options<'_>) -> Result<Packed> {
    let roots = roots::all(&options.paths, &options.base)?;
    if roots.is_empty() && (options.since.is_some() || options.diff.is_some()) {
        let message = "--since and --diff say nothing of standard input";
        return Err(Failure::new(Code::Usage, message).hint("name a PATH beside `-`"));
    }
    let mut found = walk::all(&roots, options)?;
    let changes = changes::all(&roots, options, &found)?;
    found.skipped.extend(changes.skipped);
    if let Some(only) = &changes.only {
        found.files.retain(|file| only.contains(&file.label));
        // Nobody knows what has changed in a folder that cannot be read.
        let is_told = |of: &Skipped| of.reason.is_failure() || of.reason == Reason::Change;
        found.skipped.retain(|skipped| is_told(skipped) || only.contains(&skipped.path));
    }
    (options.progress)(Progress::Found(found.files.len()));
    let reader = Reader::new(options);
    let read = || found.files.par_iter().map(|file| reader.file(file)).collect();
    let outcomes: Result<Vec<Outcome>> = threads::with(options.jobs, read)?;
    let labels = found.files.into_iter().map(|file| file.label);
    let mut outcomes: Vec<_> = labels.zip(outcomes?).collect();
    if let Some(input) = &options.input {
        let (label, outcome) = from_input(&reader, input)?;
        if outcomes.iter().any(|(other, _)| *other == label) {
            found.warnings.push(walk::shares(1, "text"));
        }
        outcomes.push((label, outcome));
        outcomes.sort_by(|a, b| roots::order(&a.0, &b.0));
    }
    let mut making = Making { options, blocks: Vec::new(), report: Report::default() };
    making.report.skipped = found.skipped;
    making.report.warnings = [found.warnings, changes.warnings].concat();
    if options.tree {
        making.tree(&outcomes);
    }
    for (label, outcome) in outcomes {
        making.file(label, outcome, &changes.changed);
    }
    for diff in changes.diffs {
        making.diff(diff);
    }
    let Making { blocks, mut report, .. } = making;
    report.skipped.sort_by(|a, b| roots::order(&a.path, &b.path).then(a.reason.cmp(&b.reason)));
    if blocks.is_empty() {
        return Err(nothing(&report, options));
    }
    Ok(Packed { blocks, report })
}

fn from_input(reader: &Reader<'_>, input: &Input) -> Result<(String, Outcome)> {
    let label = input.name.clone().unwrap_or_else(|| INPUT.to_owned());
    let mut outcome = reader.input(&label, input.bytes.clone())?;
    if let (None, Ok(read)) = (&input.name, &mut outcome)
        && read.kind == Kind::Code(lcp_types::Lang::Unknown)
    {
        // Text that nothing is known of is read as prose.
        read.kind = Kind::Document(FormatHint::Plain);
    }
    Ok((label, outcome))
}

/// A pack in the making.
struct Making<'o> {
    options: &'o Options<'o>,
    blocks: Vec<Block<'static>>,
    report: Report,
}

impl Making<'_> {
    /// The tree of all files, with a block or without.
    fn tree(&mut self, outcomes: &[(String, Outcome)]) {
        let entry = |(label, outcome): &'_ (String, Outcome)| match outcome {
            Ok(read) => Some((label.clone(), read.bytes.len() as u64)),
            Err(skipped) => Some((label.clone(), skipped.bytes.unwrap_or_default()))
                .filter(|_| skipped.reason.is_in_tree()),
        };
        let is_in_tree = |of: &&Skipped| of.reason.is_in_tree() && !of.is_unlabelled;
        let unread = self.report.skipped.iter().filter(is_in_tree);
        let unread = unread.map(|of| (of.path.clone(), of.bytes.unwrap_or_default()));
        let mut files: Vec<_> = unread.chain(outcomes.iter().filter_map(entry)).collect();
        files.sort_by(|a, b| roots::order(&a.0, &b.0));
        if !files.is_empty() {
            self.blocks.push(tree::block(&files));
        }
    }

    fn file(&mut self, label: String, outcome: Outcome, changed: &Labels) {
        let read = match outcome {
            Ok(read) => read,
            Err(skipped) => return self.report.skipped.push(skipped),
        };
        let changed = changed.contains(&label);
        let known = Known { changed, generated: read.is_generated };
        let says = self.options.rules.of(&label, known);
        self.report.files.push(PackedFile {
            path: label.clone(),
            kind: read.kind,
            bytes: read.bytes.len() as u64,
            says: says.clone(),
            changed,
            summary_bytes: read.summary.as_ref().map(|summary| summary.len() as u64),
        });
        let mut block = read.kind.block(label, read.bytes);
        block.summary = read.summary.map(Into::into);
        self.add(block, &says);
    }

    fn diff(&mut self, diff: Diff<'static>) {
        let known = Known { changed: true, generated: false };
        let says = self.options.rules.of(&diff.path, known);
        let path = diff.path.clone().into_owned();
        self.report.diffs.push((path, says.clone(), diff.hunks.len()));
        self.add(Block::new(diff), &says);
    }

    fn add(&mut self, block: Block<'static>, says: &Says) {
        let target = self.blocks.len() as u64;
        self.blocks.push(block);
        self.blocks.extend(says.annotations(target).into_iter().map(Block::new));
    }
}

/// A limit of packs that is exceeded.
fn limit(what: &str, name: &str, max: u64) -> Failure {
    Failure::new(Code::Limit, format!("{what} than {name} allows, which is {max}"))
}

fn nothing(report: &Report, options: &Options<'_>) -> Failure {
    let failure = match report.skipped.iter().find(|skipped| skipped.reason.is_failure()) {
        None => Failure::new(Code::Usage, "there is nothing to pack"),
        Some(unread) => {
            let why = unread.message.as_deref().unwrap_or(unread.reason.name());
            let path = said(&unread.path);
            Failure::new(Code::Io, format!("there is nothing to pack: cannot read {path}: {why}"))
        }
    };
    if options.since.is_some() && report.skipped_by(Reason::Change).next().is_some() {
        let left_out = report.left_out().unwrap_or_default();
        return failure.hint(format!(
            "{left_out}; what differs is hidden or ignored: --hidden and --no-ignore pack that too"
        ));
    }
    if let Some(left_out) = report.left_out() {
        return failure.hint(format!("{left_out}; --report - says which, without --no-tree"));
    }
    if let Some(since) = &options.since {
        return failure.hint(format!("no file below the PATHs differs from {since:?}"));
    }
    failure.hint(
        "is all of it ignored or hidden? --no-ignore and --hidden pack that too; --include and \
         --exclude choose",
    )
}

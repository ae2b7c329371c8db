//! `pack`: files below the roots become a pack that is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lcp_ingest::{
    BlockAttributes, FileSummarizer, FileToSummarize, IngestOptions, Pattern, Rule, ingest,
};
use lcp_types::Priority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget_args::OnOff;
use crate::commands::pack::{Args, Encoded};
use crate::dedup_args::DedupArgs;
use crate::failure::Failure;
use crate::files;
use crate::mcp::choices::DedupLevel;
use crate::mcp::desk::{Desk, first, shown};
use crate::mcp::fault::{Fault, Outcome};
use crate::mcp::roots::Inside;
use crate::mcp::tool::{self, Answer, Changes};

/// Things that are listed because they were left out.
const SKIPPED_MAX: usize = 100;

/// Warnings that are listed.
const WARNINGS_MAX: usize = 50;

/// Characters of a title.
const TITLE_MAX: usize = 120;

pub(super) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Files and folders below the roots; the roots themselves without any.
    #[serde(default)]
    paths: Vec<String>,
    /// Pack only files that one of these globs matches, such as `src/**/*.rs`.
    #[serde(default)]
    include: Vec<String>,
    /// Leave out what one of these globs matches.
    #[serde(default)]
    exclude: Vec<String>,
    /// Pack hidden files too.
    hidden: Option<bool>,
    /// Leave out files of more bytes: 1,048,576 unless it is said.
    max_file_bytes: Option<u64>,
    /// Begin with a tree of the files: true unless it is said.
    tree: Option<bool>,
    /// Pack pictures too.
    #[serde(default)]
    images: bool,
    /// What is said of files; of rules that match, the last wins.
    #[serde(default)]
    rules: Vec<RuleInput>,
    /// Give files outlines as summaries, which texts fall back to: declarations of code,
    /// headings of documents. Not unless it is said here, or in the settings of the server.
    outlines: Option<bool>,
    /// Pack only files that differ from this revision of git, and new ones.
    since: Option<String>,
    /// Add the changes to this revision of git, such as HEAD.
    diff: Option<String>,
    /// Leave out what stands twice: off, exact, overlap or near.
    dedup: Option<DedupLevel>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct RuleInput {
    /// Which files.
    glob: String,
    /// How much they matter: critical, high, normal, low or background.
    priority: Option<String>,
    /// Which share of a budget pays for them.
    category: Option<String>,
    /// Their order within a priority, highest first.
    rank: Option<f64>,
    /// Whether a budget never cuts them.
    pinned: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Facts {
    /// The id of the pack, for `render` and `expand`.
    pack: String,
    /// Its address as a resource; `?budget=8000&mode=xml` at its end is a rendering.
    uri: String,
    /// Blocks, annotations counted.
    blocks: usize,
    /// Files that have a block.
    files: usize,
    /// Their bytes.
    bytes: u64,
    /// Changes that have a block.
    diffs: usize,
    /// Bytes of the pack.
    pack_bytes: usize,
    /// How many were left out, by why.
    skipped_by_reason: BTreeMap<&'static str, usize>,
    /// What was left out, the first 100.
    skipped: Vec<Skipped>,
    /// What is odd.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Skipped {
    path: String,
    reason: &'static str,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "pack";
    const TITLE: &'static str = "Pack files";
    const DESCRIPTION: &'static str = "Makes a pack of files and folders below the roots, as \
        .gitignore says, and keeps it in memory: `render` shows it within a budget of tokens, \
        `expand` a block of it in full. Links are not followed.";
    const CHANGES: Changes = Changes::Nothing;
    type Input = Input;
    type Facts = Facts;

    fn call(desk: &Desk, input: Input) -> Outcome<Answer<Facts>> {
        if (input.since.is_some() || input.diff.is_some()) && !desk.setup.git {
            let message = "this server does not run git, so there is no `since` and no `diff`";
            return Err(Fault::usage(message).hint("it must be started with `lcp mcp --git`"));
        }
        let (base, paths) = places(desk, &input.paths)?;
        let title = title(&input.paths);
        let config = &desk.setup.config;
        let outlines = input
            .outlines
            .unwrap_or_else(|| config.pack.summarize.as_ref().is_some_and(|found| found.value));
        let summarizer = outlines.then(FileSummarizer::outlines);
        let summarize = |file: &FileToSummarize<'_>| {
            summarizer.as_ref()?.summarize(file.path, file.file_type.input_kind(), file.text)
        };
        let args = arguments(input)?;
        let roots = &desk.setup.roots;
        let options = IngestOptions {
            paths,
            base,
            open: Some(&|path| roots.open(path)),
            summarize: summarizer.is_some().then_some(&summarize),
            ..args.options(&config.pack)?
        };
        let packed = ingest(&options).map_err(Failure::from)?;
        let tokenizer = args.counting.options();
        let writer = args.form.encoder(&tokenizer, config)?;
        let Encoded { bytes, blocks, warnings } =
            args.encode(&packed, config, &writer, &desk.quiet)?;
        let kept = desk.packs.keep(title, bytes)?;
        let mut report = packed.report;
        report.warnings.extend(warnings);
        let skipped = report
            .skipped
            .iter()
            .map(|skipped| Skipped { path: skipped.path.clone(), reason: skipped.reason.name() });
        let reasons = report.skipped_by_reason().into_iter();
        Ok(Answer::facts(Facts {
            uri: kept.address(),
            blocks,
            files: report.files.len(),
            bytes: report.bytes(),
            diffs: report.diffs.len(),
            pack_bytes: kept.bytes.len(),
            skipped_by_reason: reasons.map(|(reason, count)| (reason.name(), count)).collect(),
            skipped: first(skipped.collect(), SKIPPED_MAX).0,
            warnings: first(report.warnings, WARNINGS_MAX).0,
            pack: kept.id,
        }))
    }
}

/// Where relative paths begin, and the paths: so that labels begin there as well.
fn places(desk: &Desk, said: &[String]) -> Outcome<(PathBuf, Vec<PathBuf>)> {
    if said.iter().any(|path| path == files::STANDARD) {
        let message = "standard input cannot be packed: the protocol is spoken there";
        return Err(Fault::usage(message).hint("a file that is called `-` is `./-`"));
    }
    let found: Vec<_> = if said.is_empty() {
        let whole = |root: &Path| Inside { root: root.into(), below: PathBuf::new() };
        desk.setup.roots.paths().map(whole).collect()
    } else {
        said.iter().map(|path| desk.setup.roots.find(path)).collect::<Outcome<_>>()?
    };
    let base = found.first().map(|first| first.root.clone()).unwrap_or_default();
    let path = |inside: &Inside| match &inside.below {
        _ if inside.root != base => inside.path(),
        below if below.as_os_str().is_empty() => PathBuf::from("."),
        // Alone it would be standard input.
        below if below.as_os_str() == files::STANDARD => Path::new(".").join(below),
        below => below.clone(),
    };
    let paths = found.iter().map(path).collect();
    Ok((base, paths))
}

/// What a pack is called among others.
fn title(said: &[String]) -> String {
    if said.is_empty() {
        return "everything below the roots".to_owned();
    }
    let all = said.join(", ");
    let mut title: String = all.chars().take(TITLE_MAX).collect();
    if title.len() < all.len() {
        title.push('…');
    }
    shown(&title).into_owned()
}

fn arguments(input: Input) -> Outcome<Args> {
    let patterns =
        |globs: &[String]| globs.iter().map(|glob| pattern(glob)).collect::<Outcome<Vec<_>>>();
    if input.max_file_bytes == Some(0) {
        return Err(Fault::usage("max_file_bytes must be more than 0"));
    }
    let switch = |on| if on { OnOff::On } else { OnOff::Off };
    Ok(Args {
        include: patterns(&input.include)?,
        exclude: patterns(&input.exclude)?,
        hidden: input.hidden.map(switch),
        max_file_size: input.max_file_bytes,
        no_tree: input.tree == Some(false),
        images: input.images,
        // The same as flags: they stand behind those of lcp.toml.
        priority: input.rules.into_iter().map(rule).collect::<Outcome<_>>()?,
        since: input.since,
        diff: input.diff,
        deduping: DedupArgs::at_level(input.dedup.map(Into::into)),
        ..Args::default()
    })
}

fn pattern(glob: &str) -> Outcome<Pattern> {
    Pattern::parse(glob).map_err(Fault::usage)
}

fn rule(input: RuleInput) -> Outcome<Rule> {
    let priority = input.priority.as_deref().map(|name| {
        Priority::from_name(name).ok_or_else(|| {
            let levels = Priority::ALL.map(Priority::name).join(", ");
            Fault::usage(format!("{name:?} is no priority")).hint(format!("it may be {levels}"))
        })
    });
    let attributes = BlockAttributes {
        priority: priority.transpose()?,
        category: input.category.filter(|category| !category.is_empty()),
        rank: input.rank.filter(|rank| rank.is_finite()),
        pinned: input.pinned,
    };
    Ok(Rule { pattern: pattern(&input.glob)?, attributes })
}

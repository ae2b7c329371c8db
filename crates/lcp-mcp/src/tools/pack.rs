//! The tool `pack`, which packs files below the roots and keeps the pack in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lcp_app::dedup::DedupOptions;
use lcp_app::files;
use lcp_app::pack::{PackOptions, PackedFiles};
use lcp_app::summaries::SummaryOptions;
use lcp_dedup::DedupLevel;
use lcp_ingest::{BlockAttributes, Pattern, Rule};
use lcp_types::Priority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choices::Named;
use crate::error::{ToolError, ToolResult};
use crate::pack_cache::PACKS_BYTES_MAX;
use crate::question::{Texts, question};
use crate::sandbox::SandboxedPath;
use crate::state::ServerState;
use crate::text::{escape, truncate_list};
use crate::tool::{self, SideEffect, ToolOutput};

/// The maximum number of skipped files in the result.
const SKIPPED_MAX: usize = 100;

/// The maximum total size of the packed files in bytes.
const TOTAL_MAX: u64 = PACKS_BYTES_MAX as u64;

/// The maximum number of warnings in the result.
const WARNINGS_MAX: usize = 50;

/// The maximum length of a title in characters.
const TITLE_MAX: usize = 120;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Default: all roots.
    #[serde(default)]
    paths: Vec<String>,
    /// Task or error to rank files for.
    #[serde(default)]
    query: Texts,
    #[serde(default)]
    #[schemars(skip)]
    mention: Vec<String>,
    /// Globs.
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    hidden: Option<bool>,
    max_file_bytes: Option<u64>,
    max_total_bytes: Option<u64>,
    /// Default: true.
    tree: Option<bool>,
    #[serde(default)]
    images: bool,
    #[serde(default)]
    rules: Vec<RuleInput>,
    /// Outlines as summaries.
    outlines: Option<bool>,
    /// Git revision: only changed files.
    since: Option<String>,
    /// Git revision: add the changes.
    diff: Option<String>,
    dedup: Option<Named<Option<DedupLevel>>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct RuleInput {
    glob: String,
    /// critical, high, normal, low or background.
    priority: Option<String>,
    category: Option<String>,
    /// Highest first.
    rank: Option<f64>,
    pinned: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    /// The id of the pack, for `render` and `expand`.
    pack: String,
    /// The URI of the pack as a resource. Append `?budget=8000&mode=xml` to read it as text.
    uri: String,
    /// The number of blocks, including annotations.
    blocks: u64,
    /// The number of files in the pack.
    files: usize,
    /// The size of these files in bytes.
    bytes: u64,
    /// The number of diffs in the pack.
    diffs: usize,
    /// The size of the pack in bytes.
    pack_bytes: usize,
    /// The number of skipped files, by reason.
    skipped_by_reason: BTreeMap<&'static str, usize>,
    /// The first 100 skipped files.
    skipped: Vec<SkippedFile>,
    /// The first 50 warnings.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SkippedFile {
    /// The path.
    path: String,
    /// The reason.
    reason: &'static str,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "pack";
    const DESCRIPTION: &'static str =
        "Packs files and folders for `render`. Skips files that .gitignore excludes.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        if (input.since.is_some() || input.diff.is_some()) && !state.config.git {
            let message = "`since` and `diff` need git, which this server may not run";
            return Err(
                ToolError::usage(message).with_hint("start the server with `lcp mcp --git`")
            );
        }
        let (base, paths) = resolve_paths(state, &input.paths)?;
        let title = title(&input.paths);
        let open = |path: &Path| state.config.roots.open(path);
        let mut options = pack_options(state, input)?;
        options.paths = paths;
        options.base = base;
        options.open = Some(&open);
        // The pack is in memory.
        let total = options.max_total_bytes.or(state.config.settings.pack.max_total_size);
        options.max_total_bytes = Some(total.unwrap_or(TOTAL_MAX).min(TOTAL_MAX));
        let (bytes, PackedFiles { blocks, mut report, warnings, .. }) =
            options.pack(&state.config.settings, &state.quiet)?;
        let cached = state.packs.insert(title, bytes)?;
        report.warnings.extend(warnings);
        let skipped = report.skipped.iter().map(|skipped| SkippedFile {
            path: skipped.path.clone(),
            reason: skipped.reason.name(),
        });
        let reasons = report.skipped_by_reason().into_iter();
        Ok(ToolOutput::from_facts(Facts {
            uri: cached.uri(),
            blocks,
            files: report.files.len(),
            bytes: report.bytes(),
            diffs: report.diffs.len(),
            pack_bytes: cached.bytes.len(),
            skipped_by_reason: reasons.map(|(reason, count)| (reason.name(), count)).collect(),
            skipped: truncate_list(skipped.collect(), SKIPPED_MAX).0,
            warnings: truncate_list(report.warnings, WARNINGS_MAX).0,
            pack: cached.id,
        }))
    }
}

/// Resolves paths below the roots. Returns the base folder of the relative paths, and all paths.
fn resolve_paths(state: &ServerState, given: &[String]) -> ToolResult<(PathBuf, Vec<PathBuf>)> {
    if given.iter().any(|path| path == files::STANDARD) {
        let message = "cannot pack standard input: the server uses it for the protocol";
        return Err(ToolError::usage(message).with_hint("pass `./-` for a file named `-`"));
    }
    let resolved: Vec<_> = if given.is_empty() {
        let all_of = |root: &Path| SandboxedPath { root: root.into(), below: PathBuf::new() };
        state.config.roots.paths().map(all_of).collect()
    } else {
        given.iter().map(|path| state.config.roots.resolve(path)).collect::<ToolResult<_>>()?
    };
    let base = resolved.first().map(|first| first.root.clone()).unwrap_or_default();
    let path = |path: &SandboxedPath| match &path.below {
        _ if path.root != base => path.path(),
        below if below.as_os_str().is_empty() => PathBuf::from("."),
        // The path `-` alone would mean standard input.
        below if below.as_os_str() == files::STANDARD => Path::new(".").join(below),
        below => below.clone(),
    };
    let paths = resolved.iter().map(path).collect();
    Ok((base, paths))
}

/// Returns the title of a pack with these paths.
fn title(paths: &[String]) -> String {
    if paths.is_empty() {
        return "all files below the roots".to_owned();
    }
    let all = paths.join(", ");
    let mut title: String = all.chars().take(TITLE_MAX).collect();
    if title.len() < all.len() {
        title.push('…');
    }
    escape(&title).into_owned()
}

fn pack_options<'a>(state: &ServerState, input: Input) -> ToolResult<PackOptions<'a>> {
    let patterns =
        |globs: &[String]| globs.iter().map(|glob| pattern(glob)).collect::<ToolResult<Vec<_>>>();
    if input.max_file_bytes == Some(0) {
        return Err(ToolError::usage("max_file_bytes must be greater than 0"));
    }
    if input.max_total_bytes == Some(0) {
        return Err(ToolError::usage("max_total_bytes must be greater than 0"));
    }
    Ok(PackOptions {
        include: patterns(&input.include)?,
        exclude: patterns(&input.exclude)?,
        no_tree: input.tree == Some(false),
        images: input.images,
        since: input.since,
        diff: input.diff,
        hidden: input.hidden,
        max_file_bytes: input.max_file_bytes,
        max_total_bytes: input.max_total_bytes,
        // These rules follow the rules of `lcp.toml`, as rules from command-line flags do.
        rules: input.rules.into_iter().map(rule).collect::<ToolResult<_>>()?,
        query: question(state, input.query, input.mention),
        summaries: SummaryOptions { outlines: input.outlines, ..SummaryOptions::default() },
        dedup: DedupOptions { level: input.dedup.map(|level| level.0), ..DedupOptions::default() },
        ..PackOptions::default()
    })
}

fn pattern(glob: &str) -> ToolResult<Pattern> {
    Pattern::parse(glob).map_err(ToolError::usage)
}

fn rule(input: RuleInput) -> ToolResult<Rule> {
    let priority = input.priority.as_deref().map(|name| {
        Priority::from_name(name).ok_or_else(|| {
            let levels = Priority::ALL.map(Priority::name).join(", ");
            ToolError::usage(format!("unknown priority {name:?}"))
                .with_hint(format!("use one of {levels}"))
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

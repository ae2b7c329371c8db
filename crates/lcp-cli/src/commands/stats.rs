//! The command `stats`: prints token and byte statistics of a pack.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lcp_app::stats::{BlockStats, DuplicateStats, Stats};
use lcp_app::{TreeEntry, render};
use lcp_driver::{OutputMode, escape_control, group_thousands};
use lcp_packfile::PackScan;

use crate::output::Output;
use crate::table::{self, Column, TableStyle};
use crate::tokenizer_args::TokenizerArgs;
use crate::{Result, files};

/// Print statistics of a pack: tokens by type, mode and folder, bytes, duplicates
///
/// The tokens of each mode are those of `render` without a budget. Naive Markdown is a heading and
/// a fence for each block, and `**role:** text` for each turn.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp stats samples/session.lcp
  lcp stats samples/session.lcp --model gpt-4
  lcp stats project.lcp --tree --depth 1
  lcp stats samples/duplicates.lcp --json")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Print the tokens of each folder and file instead, largest first
    ///
    /// Blocks with a path count: code, documents, diffs, and data with a path.
    #[arg(long)]
    tree: bool,
    /// List only this number of levels; 1 lists the files and folders at the top
    #[arg(long, value_name = "N", requires = "tree")]
    depth: Option<NonZeroUsize>,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the statistics.
pub fn run(args: &Args, output: &Output) -> Result {
    let bytes = files::read(&args.pack, output)?;
    let pack = PackScan::new(&bytes);
    if let Some(error) = pack.problems().next() {
        return Err(files::malformed(&args.pack, &bytes, error));
    }
    for warning in &pack.warnings {
        output.warn(format!("{warning} [{}]", warning.code()));
    }
    if let Some(warning) = render::index_warning(&bytes) {
        output.warn(warning);
    }
    if pack.references().next().is_some() {
        let references = pack.references().count();
        let (verb, blocks) =
            (if references == 1 { "is" } else { "are" }, lcp_driver::plural(references, "block"));
        output.warn(format!("{blocks} in a content store {verb} not counted"));
    }
    let counter = args.counting.load_without_budget(false, output)?;
    let levels = args.tree.then(|| args.depth.map_or(usize::MAX, NonZeroUsize::get));
    let stats = Stats::new(&pack, bytes.len() as u64, &counter.estimator, levels)?;
    let style = TableStyle::for_stdout(output);
    let text = match &stats.tree {
        _ if args.json => files::json(&stats),
        Some(tree) => tree_table(tree, &stats.encoding, style),
        None => table(&stats, style),
    };
    files::write(None, text.as_bytes())?;
    counter.save_cache(output);
    Ok(())
}

/// Returns the statistics as a table, followed by lines about the whole pack.
fn table(stats: &Stats, style: TableStyle) -> String {
    const COLUMNS: [Column; 7] = [
        Column::Left("type"),
        Column::Right("blocks"),
        Column::Right("content"),
        Column::Right("xml"),
        Column::Right("markdown"),
        Column::Right("minimal"),
        Column::Right("naive"),
    ];
    let row = |name: &str, row: &BlockStats| {
        let modes = OutputMode::ALL.map(|mode| row.tokens(mode));
        let numbers = [row.blocks, row.content_tokens].into_iter().chain(modes);
        let numbers = numbers.chain([row.naive_markdown_tokens]);
        std::iter::once(name.to_owned()).chain(numbers.map(group_thousands)).collect()
    };
    let by_type = stats.by_type.iter().map(|(name, stats)| row(name, stats));
    let rows: Vec<Vec<_>> = by_type.chain([row("all", &stats.total)]).collect();
    let naive = stats.total.naive_markdown_tokens;
    let compared = OutputMode::ALL.iter().map(|&mode| {
        format!("{} {}", mode.name(), compared_to_naive(stats.total.tokens(mode), naive))
    });
    let (stored, unpacked) = (group_thousands(stats.bytes), group_thousands(stats.unpacked_bytes));
    let ratio = ratio(stats.unpacked_bytes, stats.bytes);
    format!(
        "{}\nTokens: {}, including the final newline of each content\n\
         Compared with naive Markdown: {}\n\
         Bytes: {stored} stored, {unpacked} uncompressed (ratio {ratio:.2}), compression {}\n\
         Metadata: {} {}\n\
         Duplicates: {}\n",
        table::render(&COLUMNS, &rows, style),
        escape_control(&stats.encoding),
        compared.collect::<Vec<_>>().join(", "),
        stats.compression,
        group_thousands(stats.metadata_blocks),
        if stats.metadata_blocks == 1 { "block" } else { "blocks" },
        duplicates(&stats.duplicates),
    )
}

/// Returns the tokens of folders and files as a table, with the whole tree last.
fn tree_table(tree: &[TreeEntry], encoding: &str, style: TableStyle) -> String {
    const COLUMNS: [Column; 3] =
        [Column::Label("path"), Column::Right("blocks"), Column::Right("content")];
    let row = |entry: &TreeEntry| {
        let is_whole = entry.path.is_empty();
        let name = if is_whole { "all" } else { entry.name() };
        let [blocks, tokens] = [entry.blocks, entry.content_tokens].map(group_thousands);
        vec![format!("{:indent$}{name}", "", indent = 2 * entry.depth), blocks, tokens]
    };
    let rows: Vec<_> = tree.iter().skip(1).chain(tree.first()).map(row).collect();
    let encoding = escape_control(encoding);
    let table = table::render(&COLUMNS, &rows, style);
    format!("{table}\nTokens: {encoding}, including the final newline of each content\n")
}

/// Returns the value of the line about duplicates.
fn duplicates(stats: &DuplicateStats) -> String {
    if stats.blocks == 0 {
        return "0 blocks (--dedup overlap)".to_owned();
    }
    let (blocks, tokens) =
        (group_thousands(stats.blocks as u64), group_thousands(stats.tokens_saved));
    let kinds = stats.by_relation.iter().filter(|(_, stats)| stats.blocks > 0);
    let kinds: Vec<_> = kinds.map(|(name, stats)| format!("{} {name}", stats.blocks)).collect();
    let noun = if stats.blocks == 1 { "block" } else { "blocks" };
    format!("--dedup overlap saves {tokens} tokens of {blocks} {noun} ({})", kinds.join(", "))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people, to two decimals")]
fn ratio(unpacked: u64, stored: u64) -> f64 {
    unpacked as f64 / stored.max(1) as f64
}

/// Returns the difference from naive Markdown in percent, with a sign.
fn compared_to_naive(tokens: u64, naive: u64) -> String {
    if naive == 0 {
        return "–".to_owned();
    }
    let percent = format!("{:+.1}%", (ratio(tokens, naive) - 1.0) * 100.0);
    // A rounded zero has no sign.
    if percent.ends_with("0.0%") && percent.len() == 5 { "0.0%".to_owned() } else { percent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_zero_has_no_sign() {
        let compared = [9_999, 10_000, 10_001, 11_000, 10_010, 9_000];
        let compared = compared.map(|tokens| compared_to_naive(tokens, 10_000));
        assert_eq!(compared, ["0.0%", "0.0%", "0.0%", "+10.0%", "+0.1%", "-10.0%"]);
    }
}

//! `stats`: what a pack holds, in tokens and bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lcp_driver::{OutputMode, Plan, escape_control, group_thousands};
use lcp_tokens::TokenEstimator;
use lcp_types::DuplicateKind;
use serde_json::{Value, json};

use crate::output::Output;
use crate::table::{self, Column, TableStyle};
use crate::tokenizer_args::TokenizerArgs;
use crate::{Result, costs, files, naive_markdown};
use lcp_app::dedup;
use lcp_app::render;
use lcp_packfile::PackScan;

/// Tell what a pack holds: tokens by type and mode, bytes, what stands twice
///
/// Each mode is counted as `render` without a budget would write it; naive Markdown is a heading and
/// a fence for each block, and `**role:** text` for each turn.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp stats samples/session.lcp
  lcp stats samples/session.lcp --model gpt-4
  lcp stats samples/duplicates.lcp --json")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the figures.
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
        output.warn(format!("{references} blocks are in a content store; they are not counted"));
    }
    let counter = args.counting.load_without_budget(false, output)?;
    let stats = Stats::new(&pack, bytes.len() as u64, &counter.estimator)?;
    let text = if args.json {
        files::json(&stats.json(&pack))
    } else {
        stats.table(&pack, TableStyle::for_stdout(output))
    };
    files::write(None, text.as_bytes())?;
    counter.save_cache(output);
    Ok(())
}

struct Stats {
    encoding: String,
    exact: bool,
    bytes: u64,
    unpacked: u64,
    metadata: u64,
    /// In the order of the type codes.
    by_type: BTreeMap<u8, Row>,
    /// The same of the whole text of each mode, and of naive Markdown.
    whole: Row,
    duplicates: Saved,
}

/// Blocks, and the tokens that they are.
#[derive(Default)]
struct Row {
    name: String,
    blocks: u64,
    content: u64,
    modes: [u64; OutputMode::ALL.len()],
    naive: u64,
}

/// What `--dedup overlap` would save.
struct Saved {
    blocks: u64,
    tokens: u64,
    by_relation: Vec<(&'static str, u64, u64)>,
}

impl Stats {
    fn new(pack: &PackScan<'_>, bytes: u64, estimator: &Arc<dyn TokenEstimator>) -> Result<Self> {
        let plans = costs::full_costs(&pack.blocks, &OutputMode::ALL, estimator)?;
        let mut whole = Row { name: "all".to_owned(), ..Row::default() };
        let mut by_type: BTreeMap<u8, Row> = BTreeMap::new();
        let mut markdown = String::new();
        let mut metadata = 0;
        for (index, (block, frame)) in pack.blocks.iter().zip(&pack.frames).enumerate() {
            if block.content.is_metadata() {
                metadata += u64::from(frame.problem.is_none());
                continue;
            }
            let text = naive_markdown::block_to_markdown(block);
            let row = by_type.entry(frame.block_type.code()).or_default();
            row.name = frame.block_type.to_string();
            row.blocks += 1;
            row.naive += u64::from(estimator.estimate(&text));
            markdown += &text;
            row.content += tokens(&plans[0], index);
            for (sum, plan) in row.modes.iter_mut().zip(&plans) {
                *sum += plan.items.get(index).map_or(0, |item| u64::from(item.tokens));
            }
        }
        whole.naive = estimator.estimate(&markdown).into();
        for (sum, plan) in whole.modes.iter_mut().zip(&plans) {
            *sum = plan.used_tokens.into();
        }
        for row in by_type.values() {
            whole.blocks += row.blocks;
            whole.content += row.content;
        }
        let (encoding, exact) = (plans[0].encoding.clone(), plans[0].exact);
        // The index is not compressed.
        let behind = (bytes - pack.unpacked_len().min(bytes))
            * u64::from(pack.compression_name() != "payload");
        let unpacked = unpacked(pack) + behind;
        let duplicates = saved(pack, estimator)?;
        Ok(Self { encoding, exact, bytes, unpacked, metadata, by_type, whole, duplicates })
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.by_type.values().chain(std::iter::once(&self.whole))
    }

    fn table(&self, pack: &PackScan<'_>, style: TableStyle) -> String {
        const COLUMNS: [Column; 7] = [
            Column::Left("type"),
            Column::Right("blocks"),
            Column::Right("content"),
            Column::Right("xml"),
            Column::Right("markdown"),
            Column::Right("minimal"),
            Column::Right("naive"),
        ];
        let row = |row: &Row| {
            let numbers = [row.blocks, row.content].into_iter().chain(row.modes).chain([row.naive]);
            std::iter::once(row.name.clone()).chain(numbers.map(group_thousands)).collect()
        };
        let rows: Vec<Vec<_>> = self.rows().map(row).collect();
        let beside = OutputMode::ALL.iter().zip(self.whole.modes).map(|(mode, tokens)| {
            format!("{} {}", mode.name(), compared_to_naive(tokens, self.whole.naive))
        });
        let (stored, unpacked) = (group_thousands(self.bytes), group_thousands(self.unpacked));
        let ratio = ratio(self.unpacked, self.bytes);
        format!(
            "{}\nTokens: {}, the final newline of contents counted\n\
             Beside naive Markdown: {}\n\
             Bytes: {stored} stored, {unpacked} unpacked ({ratio:.2} times as many), compression {}\n\
             Metadata: {} blocks\n\
             Twice: {}\n",
            table::render(&COLUMNS, &rows, style),
            escape_control(&self.encoding),
            beside.collect::<Vec<_>>().join(", "),
            pack.compression_name(),
            group_thousands(self.metadata),
            self.duplicates.line(),
        )
    }

    fn json(&self, pack: &PackScan<'_>) -> Value {
        let row = |row: &Row| {
            let mut all = json!({
                "blocks": row.blocks,
                "content_tokens": row.content,
                "naive_markdown_tokens": row.naive,
            });
            for (mode, tokens) in OutputMode::ALL.iter().zip(row.modes) {
                all[format!("{}_tokens", mode.name())] = tokens.into();
            }
            all
        };
        let mut by_type = json!({});
        for of_type in self.by_type.values() {
            by_type[&of_type.name] = row(of_type);
        }
        let relations = self.duplicates.by_relation.iter();
        let relations = relations.map(|(name, blocks, tokens)| {
            ((*name).to_owned(), json!({ "blocks": blocks, "tokens": tokens }))
        });
        json!({
            "schema": "lcp.stats.v1",
            "encoding": self.encoding,
            "exact": self.exact,
            "bytes": self.bytes,
            "unpacked_bytes": self.unpacked,
            "compression": pack.compression_name(),
            "compression_ratio": (ratio(self.unpacked, self.bytes) * 1e4).round() / 1e4,
            "metadata_blocks": self.metadata,
            "references": pack.references().count(),
            "by_type": by_type,
            "whole": row(&self.whole),
            "duplicates": {
                "blocks": self.duplicates.blocks,
                "tokens_saved": self.duplicates.tokens,
                "by_relation": Value::Object(relations.collect()),
            },
        })
    }
}

impl Saved {
    fn line(&self) -> String {
        if self.blocks == 0 {
            return "nothing (--dedup overlap)".to_owned();
        }
        let (blocks, tokens) = (group_thousands(self.blocks), group_thousands(self.tokens));
        let of = self.by_relation.iter().filter(|(_, blocks, _)| *blocks > 0);
        let of: Vec<_> = of.map(|(name, blocks, _)| format!("{blocks} {name}")).collect();
        format!("--dedup overlap saves {tokens} tokens of {blocks} blocks ({})", of.join(", "))
    }
}

fn tokens(plan: &Plan, index: usize) -> u64 {
    plan.items.get(index).map_or(0, |item| item.content_tokens.into())
}

/// The bytes that the pack has without compression.
fn unpacked(pack: &PackScan<'_>) -> u64 {
    let mut bytes = pack.unpacked_len();
    for (block, frame) in pack.blocks.iter().zip(&pack.frames).filter(|(_, of)| of.is_compressed) {
        // Header and END, which a pack of one block has as well.
        const AROUND: u64 = 12;
        let of_frame = varint_bytes(frame.body_len) + frame.body_len;
        let head = varint_bytes(frame.block_type.code().into()) + 1;
        let alone = lcp_encoder::encode(
            [block],
            lcp_encoder::EncodeOptions { index: false, ..Default::default() },
        );
        let alone =
            alone.map_or(of_frame, |pack| (pack.len() as u64).saturating_sub(AROUND + head));
        bytes = (bytes + alone).saturating_sub(of_frame);
    }
    bytes
}

fn varint_bytes(number: u64) -> u64 {
    u64::from((u64::BITS - number.leading_zeros()).div_ceil(7).max(1))
}

fn saved(pack: &PackScan<'_>, estimator: &Arc<dyn TokenEstimator>) -> Result<Saved> {
    let options = lcp_dedup::Options::new(lcp_dedup::DedupLevel::Overlap);
    let found = dedup::apply(pack.blocks.clone(), &options, estimator)?.duplicates;
    let by_relation = DuplicateKind::ALL.map(|relation| {
        let (blocks, tokens) = found.count(relation);
        (relation.name(), blocks as u64, tokens)
    });
    Ok(Saved {
        blocks: found.covered.len() as u64,
        tokens: found.tokens_saved(),
        by_relation: by_relation.to_vec(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people, to two decimals")]
fn ratio(unpacked: u64, stored: u64) -> f64 {
    unpacked as f64 / stored.max(1) as f64
}

/// How many percent more or fewer.
fn compared_to_naive(tokens: u64, naive: u64) -> String {
    if naive == 0 {
        return "–".to_owned();
    }
    let percent = (ratio(tokens, naive) - 1.0) * 100.0;
    format!("{percent:+.1} %")
}

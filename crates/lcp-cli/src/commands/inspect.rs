//! `inspect`: the blocks of a pack, a row each.

use std::path::PathBuf;

use lcp_decoder::{IndexError, PackIndex};
use lcp_driver::{OutputMode, Plan, WarningCode, escape_control, group_thousands};
use lcp_types::BlockMeta;
use lcp_types::wire::{BLOCK_HAS_SUMMARY, BLOCK_RESERVED, FOOTER_BYTES};
use serde_json::{Value, json};

use crate::output::Output;
use crate::table::{self, Column, TableStyle};
use crate::tokenizer_args::TokenizerArgs;
use crate::{Result, costs, files};
use lcp_packfile::{PackScan, ScannedFrame, is_reference};

/// List the blocks of a pack: where each stands, what it is, what it costs
///
/// Of a pack that is truncated or malformed, what can be seen is listed, then the error
/// ends the command (3). Bytes are those of a block's body as stored, tokens those of its
/// content. Offsets in a compressed payload are those of what it unpacks to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp inspect samples/session.lcp
  lcp inspect samples/session.lcp --no-tokens
  lcp inspect samples/session.lcp --json | jq '.blocks[] | select(.priority == \"high\")'")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Count no tokens, which is faster
    #[arg(long)]
    no_tokens: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the list.
pub fn run(args: &Args, output: &Output) -> Result {
    let bytes = files::read(&args.pack, output)?;
    let pack = PackScan::new(&bytes);
    if pack.header.is_none() {
        return pack
            .error
            .map_or(Ok(()), |error| Err(files::malformed(&args.pack, &bytes, &error)));
    }
    for warning in &pack.warnings {
        output.warn(format!("{warning} [{}]", warning.code()));
    }
    let index = PackIndex::find(&bytes);
    if let Some(Err(error)) = &index {
        output.warn(format!("{error} [{BAD_INDEX}]"));
    }
    let counter =
        if args.no_tokens { None } else { Some(args.counting.load_without_budget(false, output)?) };
    // One mode is enough for the figures that a table has.
    let modes = if args.json { &OutputMode::ALL[..] } else { &[OutputMode::Minimal] };
    let plans = match &counter {
        Some(counter) => costs::full_costs(&pack.blocks, modes, &counter.estimator)?,
        None => Vec::new(),
    };
    let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
    let summaries: Vec<_> = metas
        .iter()
        .map(|meta| {
            let summary = meta.summary.as_deref().filter(|_| args.json)?;
            Some(counter.as_ref()?.estimator.estimate(summary))
        })
        .collect();
    let inspected =
        InspectedPack { pack: &pack, bytes: bytes.len(), index, metas, plans, summaries };
    let text = if args.json {
        files::json(&inspected.json())
    } else {
        inspected.table(TableStyle::for_stdout(output))
    };
    files::write(None, text.as_bytes())?;
    if let Some(counter) = &counter {
        counter.save_cache(output);
    }
    match pack.problems().next() {
        Some(error) => Err(files::malformed(&args.pack, &bytes, error)),
        None => Ok(()),
    }
}

/// The warning of an index that is announced and not accepted (RFC 0003 §2).
const BAD_INDEX: &str = WarningCode::BadIndex.name();

/// A pack, and all that is said of its blocks.
struct InspectedPack<'b> {
    pack: &'b PackScan<'b>,
    bytes: usize,
    /// Its index, if it is to have one, or why it is not used.
    index: Option<Result<PackIndex, IndexError>>,
    metas: Vec<BlockMeta<'b>>,
    /// None, one, or one for each mode.
    plans: Vec<Plan>,
    /// Tokens of the summaries, where they are asked for.
    summaries: Vec<Option<u32>>,
}

impl InspectedPack<'_> {
    fn rows(&self) -> impl Iterator<Item = (usize, &ScannedFrame<'_>)> {
        self.pack.frames.iter().enumerate()
    }

    fn label(&self, index: usize, frame: &ScannedFrame<'_>) -> String {
        let is_read = frame.problem.is_none();
        if is_read { self.pack.blocks[index].label().into_owned() } else { String::new() }
    }

    /// The priority, of what has one.
    fn priority(&self, index: usize) -> Option<&'static str> {
        let has_one = !self.pack.blocks[index].content.is_metadata()
            || self.pack.frames[index].problem.is_some();
        has_one.then(|| self.metas[index].priority.name())
    }

    fn has_summary(&self, index: usize, frame: &ScannedFrame<'_>) -> bool {
        frame.flags & BLOCK_HAS_SUMMARY != 0 || self.metas[index].summary.is_some()
    }

    /// Tokens of the content, where it is known and shown.
    fn content(&self, index: usize) -> Option<u32> {
        let is_shown = !self.pack.blocks[index].content.is_metadata();
        let item = self.plans.first()?.items.get(index)?;
        is_shown.then_some(item.content_tokens)
    }

    fn table(&self, style: TableStyle) -> String {
        const COLUMNS: [Column; 8] = [
            Column::Right("index"),
            Column::Left("type"),
            Column::Label("label"),
            Column::Right("offset"),
            Column::Right("bytes"),
            Column::Right("tokens"),
            Column::Left("priority"),
            Column::Left("flags"),
        ];
        let row = |(index, frame): (usize, &ScannedFrame<'_>)| {
            let tokens = self.content(index).map(|tokens| group_thousands(tokens.into()));
            vec![
                index.to_string(),
                frame.block_type.to_string(),
                self.label(index, frame),
                frame.range.start.to_string(),
                group_thousands(frame.body_len),
                tokens.unwrap_or_default(),
                self.priority(index).unwrap_or_default().to_owned(),
                self.flags(index, frame),
            ]
        };
        let rows: Vec<_> = self.rows().map(row).collect();
        let (table, sums) = (table::render(&COLUMNS, &rows, style), self.sums());
        format!("{table}\n{sums}\n{}\n", self.behind())
    }

    fn flags(&self, index: usize, frame: &ScannedFrame<'_>) -> String {
        let meta = &self.metas[index];
        let flags = [
            (self.has_summary(index, frame), "summary"),
            (meta.detailed.is_some(), "detailed"),
            (meta.tags.is_some(), "tags"),
            (meta.pinned, "pinned"),
            (frame.is_compressed, "compressed"),
            (frame.is_reference, "reference"),
            (frame.flags & BLOCK_RESERVED != 0, "reserved"),
            (frame.problem.as_ref().is_some_and(|error| !is_reference(error)), "malformed"),
        ];
        let set: Vec<_> = flags.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
        set.join(" ")
    }

    /// The line below the table.
    fn sums(&self) -> String {
        let (blocks, pack) = (&self.pack.blocks, self.pack);
        let metadata = blocks.iter().zip(&pack.frames);
        let metadata =
            metadata.filter(|(block, of)| block.content.is_metadata() && of.problem.is_none());
        let mut sums = format!(
            "{} blocks ({} of metadata), {} bytes, magic {}, compression {}",
            group_thousands(blocks.len() as u64),
            group_thousands(metadata.count() as u64),
            group_thousands(self.bytes as u64),
            pack.magic_name().unwrap_or("unknown"),
            pack.compression_name(),
        );
        if pack.compression_name() != "none" {
            sums.extend([format!(", {} bytes of frames", group_thousands(pack.unpacked_len()))]);
        }
        if let Some(plan) = self.plans.first() {
            let tokens: u64 = plan.items.iter().map(|item| u64::from(item.content_tokens)).sum();
            sums.extend([format!(
                ", {} tokens of content ({})",
                group_thousands(tokens),
                escape_control(&plan.encoding)
            )]);
        }
        sums
    }

    /// The line that tells of the index.
    fn behind(&self) -> String {
        let bytes = group_thousands(self.index_bytes());
        match &self.index {
            None => "no index".to_owned(),
            Some(Err(_)) => format!("index of {bytes} bytes, not accepted"),
            Some(Ok(index)) => {
                let costs: Vec<_> = index
                    .block_index()
                    .costs
                    .iter()
                    .map(|of| escape_control(&of.encoding))
                    .collect();
                let of = if costs.is_empty() { "none".to_owned() } else { costs.join(", ") };
                format!("index of {bytes} bytes, accepted, costs of {of}")
            }
        }
    }

    /// Bytes of the index with its footer; of one that is not accepted those behind END.
    fn index_bytes(&self) -> u64 {
        match &self.index {
            Some(Ok(index)) => index.footer().index_len + FOOTER_BYTES as u64,
            Some(Err(_)) if self.pack.compression_name() != "payload" => {
                (self.bytes as u64).saturating_sub(self.pack.unpacked_len())
            }
            _ => 0,
        }
    }

    fn index_json(&self) -> Value {
        let Some(index) = &self.index else { return Value::Null };
        let costs = index.iter().flat_map(|index| &index.block_index().costs);
        let costs = costs.map(|of| json!({ "encoding": of.encoding, "revision": of.revision }));
        json!({
            "accepted": index.is_ok(),
            "bytes": self.index_bytes(),
            "costs": costs.collect::<Vec<_>>(),
            "problem": index.as_ref().err().map(|error| {
                json!({ "message": error.kind().to_string(), "offset": error.offset() })
            }),
        })
    }

    fn json(&self) -> Value {
        let pack = self.pack;
        let blocks: Vec<_> = self.rows().map(|(index, frame)| self.row(index, frame)).collect();
        let warnings = pack
            .warnings
            .iter()
            .map(|warning| json!({ "code": warning.code(), "message": warning.to_string() }));
        let unused = self.index.iter().filter_map(|index| index.as_ref().err());
        let unused = unused.map(|error| json!({ "code": BAD_INDEX, "message": error.to_string() }));
        let errors = pack.problems().map(|error| {
            json!({
                "code": error.code(),
                "message": error.kind().to_string(),
                "block": error.block(),
                "offset": error.offset(),
            })
        });
        let counted = self.plans.first();
        json!({
            "schema": "lcp.inspect.v1",
            "magic": pack.magic_name(),
            "version": pack.header.map(|header| format!("1.{}", header.minor)),
            "compression": pack.compression_name(),
            "bytes": self.bytes,
            "unpacked_bytes": pack.unpacked_len(),
            "encoding": counted.map(|plan| &plan.encoding),
            "exact": counted.map(|plan| plan.exact),
            "blocks": blocks,
            "trailer": self.index_json(),
            "warnings": warnings.chain(unused).collect::<Vec<_>>(),
            "errors": errors.collect::<Vec<_>>(),
        })
    }

    fn row(&self, index: usize, frame: &ScannedFrame<'_>) -> Value {
        let mut tokens = Value::Null;
        if let Some(content) = self.content(index) {
            tokens = json!({ "content": content, "summary": self.summaries[index] });
            for plan in &self.plans {
                tokens[plan.mode.name()] = plan.items[index].tokens.into();
            }
        }
        json!({
            "index": index,
            "type": frame.block_type.label(),
            "label": self.label(index, frame),
            "offset": frame.range.start,
            "length": frame.body_len,
            "flags": frame.flags,
            "compressed": frame.is_compressed,
            "reference": frame.is_reference,
            "priority": self.priority(index),
            "summary": self.has_summary(index, frame),
            "tokens": tokens,
        })
    }
}

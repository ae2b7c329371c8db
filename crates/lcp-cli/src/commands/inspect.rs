//! The command `inspect`: lists the blocks of a pack.

use std::path::PathBuf;

use lcp_app::inspect::{InspectedBlock, InspectedIndex, Inspection, LargePack};
use lcp_app::tokenizer::LoadedTokenizer;
use lcp_driver::{escape_control, group_thousands};
use lcp_packfile::PackScan;

use crate::output::Output;
use crate::table::{self, Column, TableStyle};
use crate::tokenizer_args::TokenizerArgs;
use crate::{Result, files};

/// List the blocks of a pack with their offsets, types and token counts
///
/// If a pack is truncated or malformed, the readable part is listed, and the exit code is 3. Bytes
/// are those of the stored body of a block, tokens those of its content. In a compressed payload,
/// offsets are those in the decompressed payload.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp inspect samples/session.lcp
  lcp inspect samples/session.lcp --no-tokens
  lcp inspect samples/session.lcp --json | jq '.blocks[] | select(.priority == \"high\")'")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Do not count tokens, which is faster
    #[arg(long)]
    no_tokens: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the list.
pub fn run(args: &Args, output: &Output) -> Result {
    let mut counter = None;
    if let Some(large) = LargePack::open(&args.pack)? {
        counter = load(args, output)?;
        let mut inspection = large.inspect();
        // Only JSON has the tokens in each mode.
        let count = |counter: &LoadedTokenizer| {
            large.count_tokens(&mut inspection, &counter.estimator, args.json)
        };
        if counter.as_ref().map_or(Ok(true), count)? {
            warn(&inspection, output);
            return print(&inspection, counter.as_ref(), args, output);
        }
    }
    let bytes = files::read(&args.pack, output)?;
    let pack = PackScan::new(&bytes);
    if pack.header.is_none() {
        return pack
            .error
            .map_or(Ok(()), |error| Err(files::malformed(&args.pack, &bytes, &error)));
    }
    let mut inspection = Inspection::new(&pack, &bytes);
    warn(&inspection, output);
    if counter.is_none() {
        counter = load(args, output)?;
    }
    if let Some(counter) = &counter {
        inspection.count_tokens(&pack, &counter.estimator, args.json)?;
    }
    print(&inspection, counter.as_ref(), args, output)?;
    match pack.problems().next() {
        Some(error) => Err(files::malformed(&args.pack, &bytes, error)),
        None => Ok(()),
    }
}

/// Loads the tokenizer, if tokens are counted.
fn load(args: &Args, output: &Output) -> Result<Option<LoadedTokenizer>> {
    (!args.no_tokens).then(|| args.counting.load_without_budget(false, output)).transpose()
}

fn warn(inspection: &Inspection, output: &Output) {
    for warning in &inspection.warnings {
        output.warn(format!("{} [{}]", warning.message, warning.code));
    }
}

fn print(
    inspection: &Inspection,
    counter: Option<&LoadedTokenizer>,
    args: &Args,
    output: &Output,
) -> Result {
    let text = if args.json {
        files::json(inspection)
    } else {
        table(inspection, TableStyle::for_stdout(output))
    };
    files::write(None, text.as_bytes())?;
    if let Some(counter) = counter {
        counter.save_cache(output);
    }
    Ok(())
}

/// Returns the table of blocks, followed by two lines about the pack.
fn table(inspection: &Inspection, style: TableStyle) -> String {
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
    let row = |block: &InspectedBlock| {
        let tokens = block.tokens.as_ref().map(|tokens| group_thousands(tokens.content.into()));
        vec![
            block.index.to_string(),
            block.block_type.to_string(),
            block.label.clone(),
            block.offset.to_string(),
            group_thousands(block.length),
            tokens.unwrap_or_default(),
            block.priority.unwrap_or_default().to_owned(),
            block.properties.join(" "),
        ]
    };
    let rows: Vec<_> = inspection.blocks.iter().map(row).collect();
    let table = table::render(&COLUMNS, &rows, style);
    format!("{table}\n{}\n{}\n", sums(inspection), index_line(inspection.index.as_ref()))
}

/// Returns the line with the totals.
fn sums(inspection: &Inspection) -> String {
    let blocks = &inspection.blocks;
    let metadata = blocks.iter().filter(|block| block.priority.is_none());
    let mut sums = format!(
        "{} {} ({} of metadata), {} bytes, magic {}, compression {}",
        group_thousands(blocks.len() as u64),
        if blocks.len() == 1 { "block" } else { "blocks" },
        group_thousands(metadata.count() as u64),
        group_thousands(inspection.bytes),
        inspection.magic.unwrap_or("unknown"),
        inspection.compression,
    );
    if inspection.compression != "none" {
        let bytes = group_thousands(inspection.unpacked_bytes);
        sums.extend([format!(", {bytes} bytes uncompressed")]);
    }
    if let (Some(tokens), Some(encoding)) = (inspection.content_tokens, &inspection.encoding) {
        let (tokens, encoding) = (group_thousands(tokens), escape_control(encoding));
        sums.extend([format!(", {tokens} tokens of content ({encoding})")]);
    }
    sums
}

/// Returns the line about the index.
fn index_line(index: Option<&InspectedIndex>) -> String {
    let Some(index) = index else { return "no index".to_owned() };
    let bytes = group_thousands(index.bytes);
    if !index.accepted {
        return format!("index of {bytes} bytes, rejected");
    }
    let costs: Vec<_> = index.costs.iter().map(|costs| escape_control(&costs.encoding)).collect();
    let costs = match &costs[..] {
        [] => "no token costs".to_owned(),
        costs => format!("token costs for {}", costs.join(", ")),
    };
    format!("index of {bytes} bytes, accepted, {costs}")
}

//! `diff`: what is not the same in two packs.

mod lines;

use std::path::{Path, PathBuf};

use lcp_driver::{OutputMode, Plan, escape_control, group_thousands};
use lcp_types::Block;
use serde_json::{Value, json};

use crate::output::Output;
use crate::tokenizer_args::TokenizerArgs;
use crate::{Result, costs, files};
use lcp_app::{Error, ErrorKind};
use lcp_packfile::{BlockPair, Change, DiffSide};

/// Tell what is not the same in two packs
///
/// Blocks are paired by type and label, then by what they hold, then by their order. `+` is in B alone,
/// `-` in A alone, `~` in both and changed, `>` elsewhere. Tokens are those of contents.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp diff samples/session.lcp samples/chat.lcp
  lcp diff yesterday.lcp today.lcp --text
  lcp diff a.lcp b.lcp --exit-code -q || echo changed")]
pub struct Args {
    /// The first pack; `-` for standard input
    a: PathBuf,
    /// The second pack; `-` for standard input
    b: PathBuf,
    /// Show the lines of contents that changed, as in a unified diff
    #[arg(long, conflicts_with = "json")]
    text: bool,
    /// End with 1 if the packs differ
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints what is not the same.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.a == standard && args.b == standard {
        return Err(Error::new(ErrorKind::Usage, "only one pack can come from standard input"));
    }
    let (bytes_a, bytes_b) = (files::read(&args.a, output)?, files::read(&args.b, output)?);
    let (a, b) = (files::decode(&args.a, &bytes_a)?, files::decode(&args.b, &bytes_b)?);
    let counter = args.counting.load_without_budget(false, output)?;
    let cost = |blocks: &[Block<'_>]| {
        let mut plans = costs::full_costs(blocks, &[OutputMode::Minimal], &counter.estimator)?;
        plans.pop().ok_or_else(|| Error::new(ErrorKind::Usage, "a mode has no plan"))
    };
    let plans = (cost(&a.blocks)?, cost(&b.blocks)?);
    let (a, b) = (DiffSide::new(&a.blocks), DiffSide::new(&b.blocks));
    let pairs = lcp_packfile::diff(&a, &b);
    let diff = PackDiff { a, b, plans, pairs };
    let colored = output.is_colored(&std::io::stdout());
    let text = if args.json { files::json(&diff.json()) } else { diff.lines(args.text, colored) };
    files::write(None, text.as_bytes())?;
    counter.save_cache(output);
    if args.exit_code && diff.pairs.iter().any(BlockPair::has_changed) {
        // The differences are printed already.
        return Err(Error::new(ErrorKind::Io, ""));
    }
    Ok(())
}

/// A diff of two packs: both, and what became of their blocks.
struct PackDiff<'b> {
    a: DiffSide<'b>,
    b: DiffSide<'b>,
    plans: (Plan, Plan),
    pairs: Vec<BlockPair>,
}

/// How many blocks, and tokens.
#[derive(Default)]
struct Sums {
    added: u64,
    removed: u64,
    changed: u64,
    moved: u64,
    same: u64,
    tokens_added: u64,
    tokens_removed: u64,
}

impl PackDiff<'_> {
    /// The block of a pair as it is in the second pack, else as it was in the first.
    fn block(&self, pair: &BlockPair) -> Option<&Block<'_>> {
        pair.b.map(|at| &self.b.blocks[at]).or_else(|| pair.a.map(|at| &self.a.blocks[at]))
    }

    /// Tokens of the content in either pack; 0 where it is not there.
    fn tokens(&self, pair: &BlockPair) -> (u64, u64) {
        let of = |plan: &Plan, at: Option<usize>| {
            let item = at.and_then(|at| plan.items.get(at));
            item.map_or(0, |item| u64::from(item.content_tokens))
        };
        (of(&self.plans.0, pair.a), of(&self.plans.1, pair.b))
    }

    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for pair in &self.pairs {
            let (before, after) = self.tokens(pair);
            sums.tokens_added += after.saturating_sub(before);
            sums.tokens_removed += before.saturating_sub(after);
            match pair.change() {
                Change::Added => sums.added += 1,
                Change::Removed => sums.removed += 1,
                Change::Common if !pair.has_changed() => sums.same += 1,
                Change::Common => {
                    sums.changed += u64::from(!pair.changed.is_empty());
                    sums.moved += u64::from(pair.moved);
                }
            }
        }
        sums
    }

    fn lines(&self, text: bool, colored: bool) -> String {
        let mut out = String::new();
        for pair in self.pairs.iter().filter(|pair| pair.has_changed()) {
            let Some(block) = self.block(pair) else { continue };
            let (sign, color) = match pair.change() {
                Change::Added => ('+', "32"),
                Change::Removed => ('-', "31"),
                Change::Common if pair.changed.is_empty() => ('>', "36"),
                Change::Common => ('~', "33"),
            };
            let label = block.label();
            let line = format!(
                "{sign} {} {} ({})",
                block.block_type(),
                escape_control(&label),
                self.describe(pair)
            );
            let line = if colored { format!("\x1b[{color}m{line}\x1b[0m") } else { line };
            out += &line;
            out.push('\n');
            if let (true, Some(a), Some(b)) = (text, pair.a, pair.b) {
                out += &lines::diff(&self.a.blocks[a].content, &self.b.blocks[b].content, colored);
            }
        }
        let sums = self.sums();
        out + &format!(
            "{} added, {} removed, {} changed, {} moved, {} the same; {} tokens added, {} removed\n",
            group_thousands(sums.added),
            group_thousands(sums.removed),
            group_thousands(sums.changed),
            group_thousands(sums.moved),
            group_thousands(sums.same),
            group_thousands(sums.tokens_added),
            group_thousands(sums.tokens_removed),
        )
    }

    /// Where a block stands, what changed of it, and its tokens.
    fn describe(&self, pair: &BlockPair) -> String {
        let (before, after) = self.tokens(pair);
        let mut said = match (pair.a, pair.b) {
            (Some(a), Some(b)) if a == b => vec![format!("block {a}")],
            (Some(a), Some(b)) => vec![format!("block {a}, now {b}")],
            (a, b) => vec![format!("block {}", a.or(b).unwrap_or_default())],
        };
        said.extend(pair.changed.iter().map(|what| match (*what, pair.a, pair.b) {
            ("priority", Some(a), Some(b)) => {
                let (old, new) = (self.a.metas[a].priority, self.b.metas[b].priority);
                format!("priority {} now {}", old.name(), new.name())
            }
            (what, ..) => what.replace('_', " "),
        }));
        if pair.moved {
            said.push("moved".to_owned());
        }
        said.push(match pair.change() {
            Change::Common if before != after => {
                format!("{} tokens, now {}", group_thousands(before), group_thousands(after))
            }
            _ => format!("{} tokens", group_thousands(before.max(after))),
        });
        said.join(", ")
    }

    fn json(&self) -> Value {
        let sums = self.sums();
        let rows = self.pairs.iter().filter(|pair| pair.has_changed()).filter_map(|pair| {
            let block = self.block(pair)?;
            let (before, after) = self.tokens(pair);
            let is_in = |at: Option<usize>, tokens: u64| at.map(|_| tokens);
            Some(json!({
                "fate": match pair.change() {
                    Change::Added => "added",
                    Change::Removed => "removed",
                    Change::Common if pair.changed.is_empty() => "moved",
                    Change::Common => "changed",
                },
                "type": block.block_type().label(),
                "label": block.label(),
                "a": pair.a,
                "b": pair.b,
                "changed": pair.changed,
                "moved": pair.moved,
                "tokens": { "a": is_in(pair.a, before), "b": is_in(pair.b, after) },
            }))
        });
        json!({
            "schema": "lcp.diff.v1",
            "encoding": self.plans.0.encoding,
            "exact": self.plans.0.exact,
            "differs": self.pairs.iter().any(BlockPair::has_changed),
            "added": sums.added,
            "removed": sums.removed,
            "changed": sums.changed,
            "moved": sums.moved,
            "same": sums.same,
            "tokens_added": sums.tokens_added,
            "tokens_removed": sums.tokens_removed,
            "blocks": rows.collect::<Vec<_>>(),
        })
    }
}

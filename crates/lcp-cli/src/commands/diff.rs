//! The command `diff`: compares two packs.

mod lines;

use std::path::{Path, PathBuf};

use lcp_app::diff::{BlockDiff, DiffKind, PackDiff};
use lcp_app::{Error, ErrorKind};
use lcp_driver::{escape_control, group_thousands, plural};
use lcp_types::Block;

use crate::output::Output;
use crate::tokenizer_args::TokenizerArgs;
use crate::{Result, files};

/// Compare two packs and list the blocks that differ
///
/// Blocks are paired by type and label, then by content, then by order. `+` is only in B, `-` is
/// only in A, `~` is in both and has changed, `>` is in both at another position. Tokens are those
/// of the contents.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp diff samples/session.lcp samples/chat.lcp
  lcp diff yesterday.lcp today.lcp --text
  lcp diff a.lcp b.lcp --exit-code -q || echo changed")]
pub struct Args {
    /// First pack; `-` for standard input
    a: PathBuf,
    /// Second pack; `-` for standard input
    b: PathBuf,
    /// Show the changed lines of contents, as in a unified diff
    #[arg(long, conflicts_with = "json")]
    text: bool,
    /// Exit with code 1 if the packs differ
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the differences.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.a == standard && args.b == standard {
        return Err(Error::new(ErrorKind::Usage, "only one pack can come from standard input"));
    }
    let (bytes_a, bytes_b) = (files::read(&args.a, output)?, files::read(&args.b, output)?);
    let (a, b) = (files::decode(&args.a, &bytes_a)?, files::decode(&args.b, &bytes_b)?);
    let counter = args.counting.load_without_budget(false, output)?;
    let diff = PackDiff::new(&a.blocks, &b.blocks, &counter.estimator)?;
    let text = if args.json {
        files::json(&diff)
    } else {
        let contents = args.text.then_some((a.blocks.as_slice(), b.blocks.as_slice()));
        lines(&diff, contents, output.is_colored(&std::io::stdout()))
    };
    files::write(None, text.as_bytes())?;
    counter.save_cache(output);
    if args.exit_code && diff.differs {
        // The differences are printed already.
        return Err(Error::new(ErrorKind::Io, ""));
    }
    Ok(())
}

/// Returns a line for each block that differs, followed by its changed lines if `contents` is
/// given, and a line of totals.
fn lines(
    diff: &PackDiff,
    contents: Option<(&[Block<'_>], &[Block<'_>])>,
    is_colored: bool,
) -> String {
    let mut out = String::new();
    for block in &diff.blocks {
        let (sign, color) = match block.kind {
            DiffKind::Added => ('+', "32"),
            DiffKind::Removed => ('-', "31"),
            DiffKind::Moved => ('>', "36"),
            DiffKind::Changed => ('~', "33"),
        };
        let (ty, label) = (block.block_type, escape_control(&block.label));
        let line = format!("{sign} {ty} {label} ({})", describe(block));
        let line = if is_colored { format!("\x1b[{color}m{line}\x1b[0m") } else { line };
        out += &line;
        out.push('\n');
        if let (Some((old, new)), Some(a), Some(b)) = (contents, block.a, block.b) {
            out += &lines::diff(&old[a].content, &new[b].content, is_colored);
        }
    }
    out + &format!(
        "{} added, {} removed, {} changed, {} moved, {} unchanged; {} tokens added, {} removed\n",
        group_thousands(diff.added),
        group_thousands(diff.removed),
        group_thousands(diff.changed),
        group_thousands(diff.moved),
        group_thousands(diff.same),
        group_thousands(diff.tokens_added),
        group_thousands(diff.tokens_removed),
    )
}

/// Returns the position of a block, its changes and its tokens.
fn describe(block: &BlockDiff) -> String {
    let (before, after) = (block.tokens.a.unwrap_or_default(), block.tokens.b.unwrap_or_default());
    let mut parts = match (block.a, block.b) {
        (Some(a), Some(b)) if a == b => vec![format!("block {a}")],
        (Some(a), Some(b)) => vec![format!("block {a} → {b}")],
        (a, b) => vec![format!("block {}", a.or(b).unwrap_or_default())],
    };
    parts.extend(block.changed.iter().map(|part| match (*part, block.priorities) {
        ("priority", Some((old, new))) => {
            format!("priority {} → {}", old.name(), new.name())
        }
        (part, _) => part.replace('_', " "),
    }));
    if block.moved {
        parts.push("moved".to_owned());
    }
    parts.push(match block.kind {
        DiffKind::Changed | DiffKind::Moved if before != after => {
            format!("{} → {} tokens", group_thousands(before), group_thousands(after))
        }
        _ => plural(before.max(after), "token"),
    });
    parts.join(", ")
}

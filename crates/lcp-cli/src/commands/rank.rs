//! The command `rank`: orders the blocks of a pack by their relevance to a question.

use std::path::{Path, PathBuf};

use lcp_app::rank::{PackRanking, RankedBlock};
use lcp_app::{Error, ErrorKind};

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::refuse_terminal;
use crate::query_args::QueryArgs;
use crate::table::{self, Column, TableStyle};

/// List the blocks of a pack by their relevance to a question
///
/// The table has the most relevant blocks first, with the reasons. With -o, the pack is written with
/// the ranks, so that `render` shows these blocks first. Without a question, the ranks that the pack
/// stores are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp rank project.lcp --query 'retry after a lost connection'
  cargo test 2>&1 | lcp rank project.lcp --query -
  lcp rank project.lcp --query-file issue.md --json | jq -r '.blocks[:10][].label'
  lcp rank project.lcp --query-file issue.md -o ranked.lcp && lcp render ranked.lcp --budget 8000

Exit codes: 0 success; 1 a file cannot be read or written; 2 wrong usage; 3 the pack is malformed;
5 a limit is exceeded")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    /// The flags of the question.
    #[command(flatten)]
    query: QueryArgs,
    /// List at most this number of blocks [default: 20; with --json: all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
    /// Write the pack with the ranks to this file
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// The number of blocks in the table.
const LISTED: usize = 20;

/// Ranks the blocks.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.pack == standard && args.query.reads_stdin() {
        let message = "standard input can be only one of PACK, --query and --query-file";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if args.output.is_some() && args.query.is_empty() {
        let message = "-o requires a question: pass --query, --query-file or --mention";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let is_piped = args.output.as_deref() == Some(standard);
    if is_piped {
        refuse_terminal(args.output.as_deref())?;
        if args.json {
            let message = "--json and -o - both need standard output";
            return Err(Error::new(ErrorKind::Usage, message).with_hint("pass -o FILE"));
        }
    }
    let query = args.query.to_options(output)?;
    let pack = files::open_pack(&args.pack, output)?;
    let ranking = if args.query.is_empty() {
        let stored = PackRanking::stored(&args.pack, &*pack)?;
        if stored.blocks.is_empty() {
            let message = format!("the pack has no ranks ({})", files::display_name(&args.pack));
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("pass a question by --query, --query-file or --mention"));
        }
        stored
    } else {
        query.rank(&args.pack, &*pack, output)?
    };
    if let Some(path) = &args.output {
        let ranked = ranking.write_to(&args.pack, &*pack)?;
        files::write(Some(path), &ranked)?;
    }
    if args.json {
        return files::print(&files::json(&ranking.to_json(args.limit.unwrap_or(usize::MAX))));
    }
    if is_piped {
        return Ok(());
    }
    let listed = args.limit.unwrap_or(LISTED);
    files::print(&table(&ranking.blocks, listed, TableStyle::for_stdout(output)))?;
    if let Some(rest) = ranking.blocks.len().checked_sub(listed).filter(|rest| *rest > 0) {
        output.progress(format!("{} not listed", lcp_driver::plural(rest, "block")));
    }
    Ok(())
}

fn table(blocks: &[RankedBlock], listed: usize, style: TableStyle) -> String {
    const COLUMNS: [Column; 4] = [
        Column::Right("score"),
        Column::Right("index"),
        Column::Label("label"),
        Column::Left("reasons"),
    ];
    let row = |block: &RankedBlock| {
        vec![
            format!("{:.3}", block.score),
            block.index.to_string(),
            block.label.clone(),
            block.reasons.join("; "),
        ]
    };
    let rows: Vec<_> = blocks.iter().take(listed).map(row).collect();
    table::render(&COLUMNS, &rows, style)
}

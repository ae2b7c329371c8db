//! The command `recover`: writes the intact blocks of a damaged pack to a new pack.

use std::ops::Range;
use std::path::{Path, PathBuf};

use lcp_packfile::{LostRange, Recovery};

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::refuse_terminal;
use lcp_app::{Error, ErrorKind, append, recover};

/// Recover the intact blocks of a truncated or damaged pack
///
/// Recovers every block before the first damage, and blocks after it if the index is intact. Blocks
/// with a bad checksum are dropped. Annotations and levels still refer to the same blocks; those of
/// lost blocks are dropped. An intact pack is copied unchanged. If an interrupted `append` left a
/// journal next to the pack, its write is undone first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp recover samples/session.lcp -o /tmp/saved.lcp
  lcp recover damaged.lcp -o saved.lcp --json
  lcp recover - < cut.lcp | lcp inspect -

Exit codes: 0 the pack is intact; 1 a file cannot be read or written; 2 wrong usage; 3 data is
lost, and the rest is written. If the input contains no part of a pack, the exit code is 3 and
nothing is written.")]
pub struct Args {
    /// Pack to recover; `-` for standard input
    pack: PathBuf,
    /// Write the recovered pack to this file [default: standard output]
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    /// Print the losses as JSON; the pack goes to the file of -o
    #[arg(long, requires = "output")]
    json: bool,
}

/// Writes the intact blocks and reports the losses.
pub fn run(args: &Args, output: &Output) -> Result {
    if args.json && args.output.as_deref() == Some(Path::new(files::STANDARD)) {
        return Err(Error::new(
            ErrorKind::Usage,
            "--json requires a file for the pack: pass -o FILE",
        ));
    }
    refuse_terminal(args.output.as_deref())?;
    let outputs: Vec<_> = args.output.iter().map(|path| ("-o", path.as_path())).collect();
    files::check_distinct_paths(&[(files::PACK, &args.pack)], &outputs, |_, _| false)?;
    append::roll_back(&args.pack, output);
    let bytes = files::read(&args.pack, output)?;
    let name = files::display_name(&args.pack);
    let recovered = recover::recover(&args.pack, &bytes)?;
    files::write(args.output.as_deref(), &recovered.pack)?;
    if args.json {
        files::print(&files::json(&recover::to_json(&name, &recovered)))?;
    } else {
        for lost in recover::join_lost(&recovered.lost) {
            output.warn(format!("{} ({name})", line(&lost)));
        }
    }
    output.note(format!("recovered {}", lcp_driver::plural(recovered.blocks, "block")));
    if recovered.lost.is_empty() { Ok(()) } else { Err(verdict(&name, &recovered)) }
}

fn line((lost, count): &(LostRange, u64)) -> String {
    let Range { start, end } = lost.bytes;
    let blocks = match (lost.block, count) {
        (Some(block), 1) => format!("block {block}, "),
        (Some(block), count) => format!("blocks {block} to {}, ", block + count - 1),
        (None, _) => String::new(),
    };
    let bytes =
        if start == end { format!("byte {start}") } else { format!("bytes {start} to {end}") };
    format!("{blocks}{bytes}: {}", lost.reason)
}

/// Returns the error of a pack with losses.
fn verdict(name: &str, recovered: &Recovery) -> Error {
    let Recovery { blocks: saved, missing, dropped, .. } = recovered;
    let missing = match missing {
        Some(missing) => format!("{missing} lost"),
        None => "an unknown number lost".to_owned(),
    };
    let dropped = match dropped {
        0 => String::new(),
        _ => format!(", {} of lost blocks dropped", lcp_driver::plural(*dropped, "metadata block")),
    };
    let saved = lcp_driver::plural(*saved, "block");
    let message = format!("the pack is damaged: {saved} recovered, {missing}{dropped} ({name})");
    Error::new(ErrorKind::Malformed, message)
}

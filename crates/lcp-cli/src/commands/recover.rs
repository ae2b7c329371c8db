//! `recover`: what is whole of a damaged pack, as a pack of its own.

use std::ops::Range;
use std::path::{Path, PathBuf};

use lcp_packfile::{LostRange, Recovery};

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::refuse_terminal;
use lcp_app::{Error, ErrorKind, append, recover};

/// Save the whole blocks of a pack that is cut off or damaged
///
/// Blocks are taken as long as they follow each other, and behind damage where the index tells
/// where they are; one that does not have its checksum is not taken. What speaks of a block speaks
/// of the same one in the new pack; annotations and levels of blocks that are lost are dropped. A
/// pack without damage comes out as it went in. What an interrupted `append` left beside the pack
/// is undone first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp recover samples/session.lcp -o /tmp/saved.lcp
  lcp recover damaged.lcp -o saved.lcp --json
  lcp recover - < cut.lcp | lcp inspect -

Exit codes: 0 the pack is whole; 3 something is lost, and the rest is written; 1 a file cannot be
read or written. Where there is nothing of a pack, 3 and nothing is written.")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    /// Write what is whole there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    /// Print what is lost as JSON; the pack goes to the file of -o
    #[arg(long, requires = "output")]
    json: bool,
}

/// Writes what is whole, and says what is not.
pub fn run(args: &Args, output: &Output) -> Result {
    if args.json && args.output.as_deref() == Some(Path::new(files::STANDARD)) {
        return Err(Error::new(
            ErrorKind::Usage,
            "--json needs a file: the pack goes there with -o",
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
    output.note(format!("{} blocks are whole", recovered.blocks));
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

/// What the command ends with where something is lost.
fn verdict(name: &str, recovered: &Recovery) -> Error {
    let Recovery { blocks: saved, missing, dropped, .. } = recovered;
    let missing = match missing {
        Some(missing) => format!("{missing} missing"),
        None => "an unknown number missing".to_owned(),
    };
    let dropped = match dropped {
        0 => String::new(),
        _ => format!(", {dropped} dropped that spoke of these"),
    };
    let message =
        format!("the pack was damaged: {saved} blocks saved, {missing}{dropped} ({name})");
    Error::new(ErrorKind::Malformed, message)
}

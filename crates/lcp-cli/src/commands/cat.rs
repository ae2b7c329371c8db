//! `cat`: the content of one block, byte for byte.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::PathBuf;

use lcp_driver::is_terminal_control;
use lcp_types::BlockMeta;

use crate::Result;
use crate::files;
use crate::output::Output;
use lcp_app::{Error, ErrorKind};
use lcp_app::{content_bytes, find_block};
use lcp_packfile::PackScan;

/// Print the content of a block, byte for byte
///
/// A diff is printed with its hunks' headers, a file tree as a list, a reference to an embedding as
/// its id, an annotation as its value. Of a pack that is damaged, what can be read is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp cat samples/session.lcp 0
  lcp cat pack.lcp src/main.rs
  lcp cat pack.lcp src/main.rs --summary
  lcp cat pack.lcp 3 --as-json | lcp encode - -o one.lcp")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    /// The index of the block, annotations counted, or its label: path, title, name or role,
    /// as `inspect` lists them
    #[arg(value_name = "INDEX|LABEL")]
    block: String,
    /// Print its summary instead
    #[arg(long, conflicts_with = "as_json")]
    summary: bool,
    /// Print it as a JSON manifest of one block
    #[arg(long)]
    as_json: bool,
    /// Write it there; standard output by default
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Prints the content.
pub fn run(args: &Args, output: &Output) -> Result {
    let outputs: Vec<_> = args.output.iter().map(|path| ("-o", path.as_path())).collect();
    files::check_distinct_paths(&[(files::PACK, &args.pack)], &outputs, |_, _| false)?;
    let bytes = files::read(&args.pack, output)?;
    let pack = PackScan::new(&bytes);
    let broken = |error| files::malformed(&args.pack, &bytes, error);
    let index = match find_block(&pack, &args.block) {
        Ok(index) => index,
        // It may stand where nothing can be read.
        Err(failure) => return Err(pack.problems().next().map_or_else(|| failure, broken)),
    };
    if let Some(error) = &pack.frames[index].problem {
        return Err(broken(error));
    }
    if let Some(error) = pack.problems().next() {
        output.warn(format!("the pack is damaged: {error} [{}]", error.code()));
    }
    let block = &pack.blocks[index];
    let text = if args.as_json {
        Cow::Owned(lcp_encoder::manifest::to_json(std::slice::from_ref(block)).into_bytes())
    } else if args.summary {
        let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
        let summary = metas.into_iter().nth(index).and_then(|meta| meta.summary);
        let none = || Error::new(ErrorKind::Usage, format!("block {index} has no summary"));
        Cow::Owned(summary.ok_or_else(none)?.into_owned().into_bytes())
    } else {
        content_bytes(block)
    };
    let to_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    if to_terminal && is_unprintable(&text) {
        let message =
            format!("block {index} is binary, or would steer a terminal, which standard output is");
        return Err(
            Error::new(ErrorKind::Usage, message).with_hint("name a file with -o, or pipe it")
        );
    }
    files::write(args.output.as_deref(), &text)
}

/// Whether a terminal would obey some of it, or could not show it as text.
fn is_unprintable(bytes: &[u8]) -> bool {
    let is_odd = |line: &str| {
        // Within a line a carriage return goes back to its start.
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.contains(|c| c != '\t' && is_terminal_control(c))
    };
    std::str::from_utf8(bytes).map_or(true, |text| text.split('\n').any(is_odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_no_text() {
        for text in ["a\tb\r\nü", "\u{feff}a", "👨\u{200d}👩", "می\u{200c}خواهم"] {
            assert!(!is_unprintable(text.as_bytes()), "{text}");
        }
        assert!(is_unprintable(b"safe\rEVIL") && is_unprintable("a\u{202e}b".as_bytes()));
        assert!(is_unprintable(b"\x89PNG") && is_unprintable(b"\x1b[2J") && is_unprintable(b"\0"));
    }
}

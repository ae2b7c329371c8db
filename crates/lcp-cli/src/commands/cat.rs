//! The command `cat`: prints the content of one block, byte for byte.

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
/// A diff is printed with the headers of its hunks, a file tree as a list, an embedding reference
/// as its ID, an annotation as its value. If the pack is damaged, readable blocks can still be
/// printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp cat samples/session.lcp 0
  lcp cat pack.lcp src/main.rs
  lcp cat pack.lcp src/main.rs --summary
  lcp cat pack.lcp 3 --as-json | lcp encode - -o one.lcp")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    /// Index or label of the block, as listed by `inspect`
    ///
    /// Indices count annotations. A label is a path, a title, a name or a role.
    #[arg(value_name = "INDEX|LABEL")]
    block: String,
    /// Print the summary of the block instead
    #[arg(long, conflicts_with = "as_json")]
    summary: bool,
    /// Print a JSON manifest of the block
    #[arg(long)]
    as_json: bool,
    /// Write the content to this file [default: standard output]
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
        // The block may be in the unreadable part of the pack.
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
        let message = format!(
            "cannot print block {index} to a terminal: it is binary or has control characters"
        );
        let hint = "pass -o FILE, or pipe the output";
        return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
    }
    files::write(args.output.as_deref(), &text)
}

/// Returns whether the bytes are not UTF-8, or contain terminal control characters.
fn is_unprintable(bytes: &[u8]) -> bool {
    let is_odd = |line: &str| {
        // A carriage return within a line would overwrite the line.
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.contains(|c| c != '\t' && is_terminal_control(c))
    };
    std::str::from_utf8(bytes).map_or(true, |text| text.split('\n').any(is_odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_unprintable() {
        for text in ["a\tb\r\nü", "\u{feff}a", "👨\u{200d}👩", "می\u{200c}خواهم"] {
            assert!(!is_unprintable(text.as_bytes()), "{text}");
        }
        assert!(is_unprintable(b"safe\rEVIL") && is_unprintable("a\u{202e}b".as_bytes()));
        assert!(is_unprintable(b"\x89PNG") && is_unprintable(b"\x1b[2J") && is_unprintable(b"\0"));
    }
}

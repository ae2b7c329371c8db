//! `cat`: the content of one block, byte for byte.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::PathBuf;

use lcp_driver::{content_text, escape_control, is_terminal_control};
use lcp_types::{Block, BlockContent, BlockMeta};

use crate::Result;
use crate::failure::{Code, Failure, Output};
use crate::files;
use lcp_packfile::PackScan;

/// Labels that a hint names at most.
const NEAR_MAX: usize = 3;

/// How alike labels must be for a hint, from 0 to 1.
const NEAR: f64 = 0.8;

/// Blocks of one label that an error lists at most.
const LISTED_MAX: usize = 20;

/// Where indices and labels are told.
const LISTS: &str = "`lcp inspect` lists the blocks of a pack";

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
    files::distinct(&[(files::PACK, &args.pack)], &outputs, |_, _| false)?;
    let bytes = files::read(&args.pack)?;
    let pack = PackScan::new(&bytes);
    let broken = |error| files::malformed(&args.pack, &bytes, error);
    let index = match find(&pack, &args.block) {
        Ok(index) => index,
        // It may stand where nothing can be read.
        Err(failure) => return Err(pack.problems().next().map_or(failure, broken)),
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
        let none = || Failure::new(Code::Usage, format!("block {index} has no summary"));
        Cow::Owned(summary.ok_or_else(none)?.into_owned().into_bytes())
    } else {
        content(block)
    };
    let to_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    if to_terminal && is_unprintable(&text) {
        let message =
            format!("block {index} is binary, or would steer a terminal, which standard output is");
        return Err(Failure::new(Code::Usage, message).hint("name a file with -o, or pipe it"));
    }
    files::write(args.output.as_deref(), &text)
}

/// The bytes of the content.
pub fn content<'b>(block: &'b Block<'_>) -> Cow<'b, [u8]> {
    match &block.content {
        BlockContent::Image(image) => image.data.as_slice().into(),
        BlockContent::Annotation(annotation) => annotation.value.as_slice().into(),
        BlockContent::EmbeddingRef(embedding) => embedding.vector_id.as_slice().into(),
        BlockContent::Raw(raw) => raw.body.as_slice().into(),
        content => match content.text() {
            Some(text) => text.as_slice().into(),
            None => content_text(content).map_or(Cow::default(), |text| {
                let mut text = text.into_owned();
                if !text.is_empty() {
                    text.push('\n');
                }
                text.into_bytes().into()
            }),
        },
    }
}

/// The index of the block that is meant, by its index or its label.
///
/// # Errors
///
/// None is called so, or several are.
pub fn find(pack: &PackScan<'_>, wanted: &str) -> Result<usize> {
    let is_called = || labels(pack).any(|(_, label)| label == wanted);
    match wanted.parse() {
        // What is no index may be what a file is called.
        Ok(index) if index < pack.blocks.len() || !is_called() => indexed(pack, index),
        _ => labelled(pack, wanted),
    }
}

/// The block of this index.
///
/// # Errors
///
/// There is none.
pub fn indexed(pack: &PackScan<'_>, index: usize) -> Result<usize> {
    let blocks = pack.blocks.len();
    if index < blocks {
        return Ok(index);
    }
    let message = format!("there is no block {index}: the pack has {blocks}");
    Err(Failure::new(Code::Usage, message).hint(LISTS))
}

/// The index of the block that is called so.
///
/// # Errors
///
/// None is, or several are.
pub fn labelled(pack: &PackScan<'_>, wanted: &str) -> Result<usize> {
    let labels: Vec<_> = labels(pack).collect();
    let found: Vec<_> = labels.iter().filter(|(_, label)| label == wanted).collect();
    match found[..] {
        [(index, _)] => Ok(*index),
        [] => Err(unknown(wanted, labels.iter().map(|(_, label)| label.as_ref()))),
        _ => Err(ambiguous(pack, wanted, found.iter().map(|(index, _)| *index))),
    }
}

/// What blocks are called that can be read.
fn labels<'p>(pack: &'p PackScan<'_>) -> impl Iterator<Item = (usize, Cow<'p, str>)> {
    (pack.blocks.iter().zip(&pack.frames))
        .enumerate()
        .filter(|(_, (block, frame))| frame.problem.is_none() && !block.content.is_metadata())
        .map(|(index, (block, _))| (index, block.label()))
}

fn ambiguous(
    pack: &PackScan<'_>,
    label: &str,
    indices: impl ExactSizeIterator<Item = usize>,
) -> Failure {
    let count = indices.len();
    let listed = indices.take(LISTED_MAX).map(|index| {
        let block_type = pack.frames[index].block_type;
        format!("{index} ({block_type})")
    });
    let mut listed = listed.collect::<Vec<_>>().join(", ");
    if count > LISTED_MAX {
        listed += ", …";
    }
    let message = format!("{count} blocks are called {}: {listed}", escape_control(label));
    Failure::new(Code::Usage, message).hint("name one by its index")
}

fn unknown<'b>(wanted: &str, labels: impl Iterator<Item = &'b str>) -> Failure {
    let failure =
        Failure::new(Code::Usage, format!("no block is called {}", escape_control(wanted)));
    let near = near(wanted, labels);
    match &near[..] {
        [] => failure.hint(LISTS),
        near => failure.hint(format!("near it: {}", near.join(", "))),
    }
}

/// The labels that may have been meant, the nearest first.
fn near<'b>(wanted: &str, labels: impl Iterator<Item = &'b str>) -> Vec<String> {
    let score = |label: &str| {
        let is_end = !wanted.is_empty()
            && label.strip_suffix(wanted).is_some_and(|before| before.ends_with('/'));
        if is_end { 1.0 } else { strsim::jaro_winkler(wanted, label) }
    };
    let scored = labels.filter(|label| !label.is_empty()).map(|label| (score(label), label));
    let mut scored: Vec<_> = scored.filter(|(score, _)| *score >= NEAR).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(NEAR_MAX).map(|(_, label)| escape_control(label).into_owned()).collect()
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

    #[test]
    fn the_end_of_a_path_is_near() {
        let labels = ["src/a/main.rs", "src/mian.rs", "docs/other.md"];
        assert_eq!(near("main.rs", labels.into_iter()), ["src/a/main.rs"]);
        assert_eq!(near("src/main.rs", labels.into_iter())[0], "src/mian.rs");
    }
}

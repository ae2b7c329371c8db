//! Measures how the instruction count of an operation grows when its adversarial input grows
//! fourfold.

mod inputs;

use std::hint::black_box;
use std::io::Read;

use lcp_decoder::{DecodeOptions, PackReader, StreamDecoder, decode};
use lcp_driver::parse::parse_blocks;
use lcp_driver::special_tokens::{escape, find_in_blocks};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
use lcp_encoder::manifest::Manifest;
use lcp_encoder::{EncodeOptions, encode};
use lcp_tokens::HeuristicEstimator;
use lcp_transcripts::{Options, detect, import};
use lcp_types::{Block, BlockSource as _, MemoryContentStore};

use lcp_packfile::recover;

use super::{Result, ratio};

/// The number of elements of the small input, and the factor to the large one.
const FEW: usize = 2_000;
const TIMES: usize = 4;

/// The largest allowed growth of the instruction count.
const GROWTH_MAX: f64 = 5.0;

/// An operation on an input.
#[derive(Clone, Copy, Debug)]
enum Walk {
    Decode,
    /// Decodes the input as a stream, one byte at a time.
    Bytes,
    /// Encodes the blocks that the input decodes to.
    Encode,
    /// Renders the decoded blocks in every mode, in full and within a budget.
    Render,
    /// Opens the input as a pack, by its index if it has one, and reads every block.
    Reader,
    /// Recovers a pack without its last byte.
    Recover,
    /// Finds special tokens in the decoded blocks, and escapes them.
    Special,
    /// Parses rendered text back into blocks, in every mode.
    Parse,
    /// Parses a manifest, and encodes its pack.
    Manifest,
    /// Imports a transcript, with its format detected.
    Import,
    /// Parses a diff into blocks.
    Diff,
}

/// The inputs of each operation, by their names in [`inputs::cases`].
const WALKS: &[(Walk, &[&str])] = &[
    (
        Walk::Decode,
        &[
            "empty blocks", "a tree of empty entries", "trees as deep as they may be",
            "a diff of empty hunks", "unknown fields", "one field again and again",
            "references to one body", "unknown fields behind zstd",
        ],
    ),
    (Walk::Bytes, &["empty turns", "a tree of empty entries", "empty turns behind zstd"]),
    (Walk::Encode, &["trees as deep as they may be", "a diff of empty hunks", "unknown fields"]),
    (
        Walk::Render,
        &[
            "empty turns", "a tree of empty entries", "trees as deep as they may be",
            "a diff of empty hunks", "annotations of one block", "tags of one block",
            "annotations of nothing", "calls with one id", "newlines", "spaces", "fences",
            "fences that grow", "end tags", "ends of minimal texts", "a huge label",
        ],
    ),
    (Walk::Reader, &["empty turns", "empty turns behind zstd", "annotations of one block"]),
    (Walk::Recover, &["empty turns", "annotations of one block", "trees as deep as they may be"]),
    (
        Walk::Special,
        &["special tokens", "special tokens that do not end", "a tree of empty entries"],
    ),
    (
        Walk::Parse,
        &[
            "empty turns", "trees as deep as they may be", "a diff of empty hunks", "newlines",
            "fences", "fences that grow", "end tags", "ends of minimal texts",
        ],
    ),
    (Walk::Manifest, &["blocks that are empty", "tags of one block", "hunks", "keys"]),
    (
        Walk::Import,
        &[
            "messages", "results of one call", "calls of one message", "parts of one message",
            "lines of one id", "headings", "fences in Markdown",
        ],
    ),
    (Walk::Diff, &["files", "hunks", "headers alone"]),
];

fn walks() -> impl Iterator<Item = (Walk, &'static str)> {
    WALKS.iter().flat_map(|(walk, names)| names.iter().map(|name| (*walk, *name)))
}

/// Runs an operation on its input once. `at` is the number of the pair in [`walks`], and `many` the
/// number of elements in the input. With `idle`, only prepares the input. Returns `false` if the
/// pair does not exist, or if the input is empty or rejected.
pub(super) fn walk(at: usize, many: usize, idle: bool) -> bool {
    let Some((walk, name)) = walks().nth(at) else { return false };
    let mut store = MemoryContentStore::default();
    let mut cases = inputs::cases(walk, many, &mut store).into_iter();
    let Some((_, input)) = cases.find(|(known, _)| *known == name) else { return false };
    let options = DecodeOptions { store: Some(&store), ..DecodeOptions::default() };
    let mut blocks = match walk {
        Walk::Encode | Walk::Render | Walk::Special | Walk::Parse => {
            decode(&input, options).map(|pack| pack.blocks).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let texts = match walk {
        Walk::Parse => OutputMode::ALL.map(|mode| rendered(&blocks, mode, None)).to_vec(),
        _ => Vec::new(),
    };
    if idle {
        black_box((&blocks, &texts));
        return true;
    }
    match walk {
        Walk::Decode => decode(black_box(&input), options).is_ok(),
        Walk::Bytes => {
            let mut stream = StreamDecoder::new(Single(&input), options);
            let mut count = 0;
            while let Ok(Some(block)) = stream.next_block() {
                black_box(&block);
                count += 1;
            }
            count > 0
        }
        Walk::Encode => !blocks.is_empty() && encode(&blocks, EncodeOptions::default()).is_ok(),
        Walk::Render => {
            for mode in OutputMode::ALL {
                for token_budget in [None, Some(1_000)] {
                    black_box(rendered(&blocks, mode, token_budget));
                }
            }
            !blocks.is_empty()
        }
        Walk::Reader => PackReader::open(&input[..], options)
            .is_ok_and(|reader| black_box(reader.read_all()).is_ok()),
        Walk::Recover => recover(black_box(&input[..input.len() - 1])).is_ok(),
        Walk::Special => {
            black_box(find_in_blocks(&blocks));
            black_box(escape(&mut blocks));
            !blocks.is_empty()
        }
        Walk::Parse => OutputMode::ALL
            .into_iter()
            .zip(&texts)
            .all(|(mode, text)| !text.is_empty() && black_box(parse_blocks(text, mode)).is_ok()),
        Walk::Manifest => {
            let manifest = Manifest::parse(&input, &mut |_| Err(std::io::Error::other("no file")));
            let pack = manifest.and_then(|manifest| manifest.to_pack(EncodeOptions::default()));
            // Missing fields are reported only after the whole manifest is read, so such an error
            // is fine.
            black_box(pack).map_or_else(|error| error.to_string().contains("missing"), |_| true)
        }
        Walk::Import => detect(&input)
            .is_some_and(|format| black_box(import(format, &input, &Options::default())).is_ok()),
        Walk::Diff => {
            let text = str::from_utf8(&input).unwrap_or_default();
            black_box(lcp_transcripts::diff::parse(text)).is_ok()
        }
    }
}

fn rendered(blocks: &[Block<'_>], mode: OutputMode, token_budget: Option<u32>) -> String {
    let config = DriverConfig { mode, token_budget, ..DriverConfig::default() };
    let driver = DefaultDriver::new(HeuristicEstimator);
    driver.render(blocks, &config).unwrap_or_default()
}

/// A reader that returns one byte at a time.
struct Single<'a>(&'a [u8]);

impl Read for Single<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let len = buf.len().min(1);
        self.0.read(&mut buf[..len])
    }
}

/// Prints the growth of each pair. Fails if one grows by more than [`GROWTH_MAX`].
pub(super) fn run(count: impl Fn(&[String]) -> Result<u64>) -> Result {
    let mut worse = Vec::new();
    for (at, (walk, name)) in walks().enumerate() {
        let of = |many: usize| -> Result<u64> {
            let arguments = ["--scaling-case", &at.to_string(), "--count", &many.to_string()];
            let arguments: Vec<_> = arguments.into_iter().map(str::to_owned).collect();
            count(&arguments)
        };
        let (few, many) = (of(FEW)?, of(TIMES * FEW)?);
        let growth = ratio(many, few);
        let walk = format!("{walk:?}").to_lowercase();
        let line = format!("{walk:<9} {name:<30} {few:>12} {many:>13} {growth:>6.2}");
        println!("{line}");
        if growth > GROWTH_MAX {
            worse.push(format!("{walk} of {name} takes {growth:.1} times the instructions"));
        }
    }
    if worse.is_empty() {
        return Ok(());
    }
    let message = format!("with {TIMES} times the input: {}", worse.join(", "));
    Err(message.into())
}

#[cfg(test)]
mod tests;

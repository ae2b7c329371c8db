//! How work grows on inputs that hurt most: four times as much of a thing takes about four
//! times as many instructions, never sixteen times.

use std::hint::black_box;
use std::io::Read;

use lcp_decoder::{DecodeOptions, PackStream, decode};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
use lcp_encoder::manifest::Manifest;
use lcp_encoder::{EncodeOptions, encode};
use lcp_testkit::{hostile, wire};
use lcp_tokens::HeuristicEstimator;
use lcp_types::{Block, FormatHint, Lang, Role};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

/// How many things there are, and how many times as many there are then.
const FEW: usize = 1_000;
const TIMES: usize = 4;

/// How many times as many instructions that may take.
const GROWTH_MAX: f64 = 5.0;

/// What is done with an input.
#[derive(Clone, Copy, Debug)]
enum Walk {
    Decode,
    /// Byte by byte, as a stream.
    Bytes,
    /// Decoded, and encoded again.
    Encode,
    /// Decoded, and rendered in every mode, in full and within a budget.
    Render,
    /// A manifest, and the pack of it.
    Manifest,
}

/// What is walked, by the names of [`hostile`] or of [`contents`].
const WALKS: &[(Walk, &str)] = &[
    (Walk::Decode, "empty blocks"),
    (Walk::Decode, "a tree of empty entries"),
    (Walk::Decode, "trees as deep as they may be"),
    (Walk::Decode, "a diff of empty hunks"),
    (Walk::Decode, "unknown fields"),
    (Walk::Decode, "one field again and again"),
    (Walk::Decode, "references"),
    (Walk::Decode, "unknown fields behind zstd"),
    (Walk::Bytes, "empty turns"),
    (Walk::Bytes, "a tree of empty entries"),
    (Walk::Bytes, "empty turns behind zstd"),
    (Walk::Encode, "trees as deep as they may be"),
    (Walk::Encode, "a diff of empty hunks"),
    (Walk::Encode, "unknown fields"),
    (Walk::Render, "empty turns"),
    (Walk::Render, "a tree of empty entries"),
    (Walk::Render, "trees as deep as they may be"),
    (Walk::Render, "a diff of empty hunks"),
    (Walk::Render, "annotations of one block"),
    (Walk::Render, "tags of one block"),
    (Walk::Render, "annotations of nothing"),
    (Walk::Render, "calls with one id"),
    (Walk::Render, "newlines"),
    (Walk::Render, "spaces"),
    (Walk::Render, "fences"),
    (Walk::Render, "fences that grow"),
    (Walk::Render, "end tags"),
    (Walk::Render, "ends of minimal texts"),
    (Walk::Render, "a huge label"),
    (Walk::Manifest, "blocks that are empty"),
    (Walk::Manifest, "tags of one block"),
    (Walk::Manifest, "hunks"),
    (Walk::Manifest, "keys"),
];

/// Contents that renderers must guard, of so many lines.
fn contents(many: usize) -> Vec<hostile::Case> {
    let of = |content: String| {
        let blocks = [
            Block::code(Lang::Rust, "a.rs", content.as_str()),
            Block::document("a", content.as_str(), FormatHint::Markdown),
            Block::conversation(Role::User, content.as_str()),
        ];
        encode(&blocks, EncodeOptions::default()).unwrap_or_default()
    };
    let label = Block::code(Lang::Rust, "<&\u{1b}a".repeat(many), "x");
    // As many bytes as lines of four, in fences that are longer each time.
    let growing = (3..).scan(0, |sum, len| {
        *sum += len + 1;
        (*sum < 4 * many).then(|| "`".repeat(len) + "\n")
    });
    vec![
        ("newlines", of("\n".repeat(many))),
        ("spaces", of(" ".repeat(many))),
        ("fences", of("```\n".repeat(many))),
        ("fences that grow", of(growing.collect())),
        ("end tags", of("</code>\n</doc>\n</turn>\n".repeat(many))),
        ("ends of minimal texts", of("EOF\n--- \n".repeat(many))),
        ("a huge label", encode(&[label], EncodeOptions::default()).unwrap_or_default()),
    ]
}

/// Walks one of them once, or prepares it only.
pub(super) fn walk(at: usize, many: usize, idle: bool) {
    let Some((walk, name)) = WALKS.get(at) else { return };
    let cases = match walk {
        Walk::Manifest => hostile::manifests(many),
        _ => [hostile::cases_of(many), contents(many)].concat(),
    };
    let input = cases.into_iter().find(|(known, _)| known == name).map(|(_, input)| input);
    let input = input.unwrap_or_else(|| wire::pack(&[]));
    let options = DecodeOptions::default();
    let blocks = match walk {
        Walk::Encode | Walk::Render => decode(&input, options).map(|pack| pack.blocks),
        _ => Ok(Vec::new()),
    };
    let blocks = blocks.unwrap_or_default();
    if idle {
        black_box(&blocks);
        return;
    }
    match walk {
        Walk::Decode => drop(black_box(decode(&input, options))),
        Walk::Bytes => {
            let mut stream = PackStream::new(Single(&input), options);
            while let Ok(Some(block)) = stream.next_block() {
                black_box(&block);
            }
        }
        Walk::Encode => drop(black_box(encode(&blocks, EncodeOptions::default()))),
        Walk::Render => {
            for mode in OutputMode::ALL {
                for token_budget in [None, Some(1_000)] {
                    let config = DriverConfig { mode, token_budget, ..DriverConfig::default() };
                    let driver = DefaultDriver::new(HeuristicEstimator);
                    drop(black_box(driver.render(&blocks, &config)));
                }
            }
        }
        Walk::Manifest => {
            let manifest = Manifest::parse(&input, &mut |_| Err(std::io::Error::other("no file")));
            let pack = manifest.and_then(|manifest| manifest.encode(EncodeOptions::default()));
            drop(black_box(pack));
        }
    }
}

/// Gives one byte at a time.
struct Single<'a>(&'a [u8]);

impl Read for Single<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let len = buf.len().min(1);
        self.0.read(&mut buf[..len])
    }
}

/// Tells how each grows; fails where one grows by more than it may.
pub(super) fn run(count: impl Fn(&[String]) -> Result<u64>, output: &Output) -> Result {
    let mut worse = Vec::new();
    for (at, (walk, name)) in WALKS.iter().enumerate() {
        let of = |many: usize| -> Result<u64> {
            let arguments = ["--growth-of", &at.to_string(), "--things", &many.to_string()];
            let arguments: Vec<_> = arguments.into_iter().map(str::to_owned).collect();
            let idle = count(&[&arguments[..], &["--idle".to_owned()]].concat())?;
            Ok(count(&arguments)?.saturating_sub(idle))
        };
        let (few, many) = (of(FEW)?, of(TIMES * FEW)?);
        let growth = ratio(many, few);
        let walk = format!("{walk:?}").to_lowercase();
        let line = format!("{walk:<9} {name:<30} {few:>12} {many:>13} {growth:>6.2}");
        output.progress(line);
        if growth > GROWTH_MAX {
            worse.push(format!("{walk} of {name} grows {growth:.1} times"));
        }
    }
    if worse.is_empty() {
        return Ok(());
    }
    let message = format!("of {TIMES} times as much: {}", worse.join(", "));
    Err(Failure::new(Code::Malformed, message))
}

#[expect(clippy::cast_precision_loss, reason = "a part, for people")]
fn ratio(many: u64, few: u64) -> f64 {
    many as f64 / few.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that is not there would be walked as an empty pack.
    #[test]
    fn every_walk_has_an_input() {
        let (packs, manifests) =
            ([hostile::cases_of(8), contents(8)].concat(), hostile::manifests(8));
        for (at, (of, name)) in WALKS.iter().enumerate() {
            let cases = if matches!(of, Walk::Manifest) { &manifests } else { &packs };
            assert!(cases.iter().any(|(known, _)| known == name), "{name}");
            walk(at, 8, false);
        }
    }

    #[test]
    fn what_grows_too_fast_is_named() {
        // So many instructions for each, and for each pair of the second.
        let count = |arguments: &[String]| {
            if arguments.iter().any(|argument| argument == "--idle") {
                return Ok(7);
            }
            let number = |name: &str| {
                let at = arguments.iter().position(|argument| argument == name).unwrap_or_default();
                arguments[at + 1].parse::<u64>().unwrap_or_default()
            };
            let many = number("--things");
            Ok(7 + if number("--growth-of") == 1 { many * many } else { 10 * many })
        };
        let failure = run(count, &Output::default()).unwrap_err();
        assert_eq!(
            failure.message,
            "of 4 times as much: decode of a tree of empty entries grows 16.0 times"
        );
    }
}

//! The key paths: the operations that every user of LCP runs.

use clap::ValueEnum;
use lcp_decoder::{DecodeOptions, PackIndex, decode};
use lcp_driver::{DefaultDriver, DriverConfig};
use lcp_encoder::{EncodeOptions, encode};
use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, HeuristicEstimator, Tiktoken, TokenEstimator};
use lcp_types::{Block, Lang, Role};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KeyPath {
    /// Blocks to bytes.
    Encode,
    /// Bytes to blocks.
    Decode,
    /// The index of a pack.
    Index,
    /// Tokens of a text.
    Count,
    /// A text within a budget.
    Render,
}

/// The number of blocks in the pack.
const BLOCKS: u32 = 4_000;

impl KeyPath {
    /// Runs the path once. With `idle`, only prepares its input.
    pub(super) fn walk(self, idle: bool) {
        let blocks = blocks();
        let pack = encode(&blocks, EncodeOptions::default()).unwrap_or_default();
        let counter = Tiktoken::new(Encoding::O200kBase);
        if self == Self::Count {
            // Loading the vocabulary is not part of the path.
            std::hint::black_box(counter.estimate("warm"));
        }
        if idle {
            return;
        }
        match self {
            Self::Encode => {
                drop(std::hint::black_box(encode(&blocks, EncodeOptions::default())));
            }
            Self::Decode => drop(std::hint::black_box(decode(&pack, DecodeOptions::default()))),
            Self::Index => drop(std::hint::black_box(PackIndex::find(&pack))),
            Self::Count => {
                for block in &blocks {
                    let text = block.content.text().and_then(|text| text.as_str());
                    std::hint::black_box(counter.estimate(text.unwrap_or_default()));
                }
            }
            Self::Render => {
                let config = DriverConfig { token_budget: Some(4_000), ..DriverConfig::default() };
                let driver = DefaultDriver::new(HeuristicEstimator);
                drop(std::hint::black_box(driver.render(&blocks, &config)));
            }
        }
    }
}

/// Returns turns and files, the same on every call.
fn blocks() -> Vec<Block<'static>> {
    const WORDS: &[&str] =
        &["let", "mut", "x", "=", "fn", "{", "}", "the", "naïve", "budget", "(a, b)", "0x7F"];
    let mut rng = SplitMix64::new(1);
    let mut block = |i: u32| {
        let mut text = String::new();
        for word in 0..20 + rng.below(60) {
            text.push_str(rng.choose(WORDS));
            text.push(if word % 12 == 11 { '\n' } else { ' ' });
        }
        match i % 3 {
            0 => Block::code(Lang::Rust, format!("src/f{i}.rs"), text),
            _ => Block::conversation(Role::User, text),
        }
    };
    (0..BLOCKS).map(&mut block).collect()
}

//! The blocks that are read and written: files, turns, and many tiny turns.

use lcp_testkit::SplitMix64;
use lcp_types::{Block, Role};

use super::{prost_model, serde_model};
use crate::harness::Result;
use crate::packs;
use crate::registry::{crates, is_code, lang};

const FILES: usize = 2_000;
const TURNS: usize = 5_000;
const TINY: usize = 100_000;

/// The same blocks in the data model of each format.
pub(super) struct Data {
    pub(super) lcp: Vec<Block<'static>>,
    pub(super) serde_model: Vec<serde_model::Block>,
    pub(super) prost: prost_model::Pack,
}

impl Data {
    pub(super) fn new() -> Result<Self> {
        let lcp = blocks()?;
        let serde_model: Vec<_> = lcp.iter().map(serde_model::Block::from_lcp).collect();
        let prost = prost_model::Pack::from_blocks(&serde_model);
        Ok(Self { lcp, serde_model, prost })
    }
}

/// Returns the blocks, the same ones on every call.
pub(crate) fn blocks() -> Result<Vec<Block<'static>>> {
    let mut rng = SplitMix64::new(9);
    let mut blocks = files()?;
    for i in 0..TURNS {
        let (role, text) = (speaker(i), packs::text(&mut rng, 20));
        blocks.push(if i % 10 == 0 {
            Block::conversation_with_call(role, text, format!("call_{i}"))
        } else {
            Block::conversation(role, text)
        });
    }
    for i in 0..TINY {
        let text = match rng.below(4) {
            0 => rng.choose(&["ok", "yes", "no", "go on", "done"]).to_owned(),
            1 => rng.choose(&["naïve", "はい", "ok 🦀"]).to_owned(),
            _ => format!("{}", rng.next_u64() >> (30 + rng.below(30))),
        };
        blocks.push(Block::conversation(speaker(i), text));
    }
    Ok(blocks)
}

/// Returns the role of a turn: mostly the user and the assistant alternately, sometimes a tool.
fn speaker(turn: usize) -> Role {
    match turn % 8 {
        5 => Role::Tool,
        even if even % 2 == 0 => Role::User,
        _ => Role::Assistant,
    }
}

/// Returns files from all dependencies. Some are line ranges, some have summaries.
fn files() -> Result<Vec<Block<'static>>> {
    let mut all = Vec::new();
    for found in crates()? {
        let name = &found.name;
        let files = found.files(is_code)?;
        all.extend(files.into_iter().map(|(path, text)| (format!("{name}/{path}"), text)));
    }
    if all.len() < FILES {
        return Err(format!("there are fewer than {FILES} files").into());
    }
    let count = all.len();
    let picked = all.into_iter().enumerate().filter(|(i, _)| {
        // Picks `FILES` files at even distances.
        (i + 1) * FILES / count > i * FILES / count
    });
    Ok(picked
        .enumerate()
        .map(|(i, (_, (path, text)))| {
            let (lang, lines) = (lang(&path), u32::try_from(text.lines().count()).unwrap_or(0));
            let summary = format!("{path}, {lines} lines");
            let block = match i % 4 {
                0 => Block::code_lines(lang, path, text, 1, lines),
                _ => Block::code(lang, path, text),
            };
            if i % 3 == 0 { block.with_summary(summary) } else { block }
        })
        .collect())
}

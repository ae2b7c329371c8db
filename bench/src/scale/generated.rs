//! Packs of many blocks: turns and small files of one line of words.

use std::path::Path;

use lcp_encoder::{EncodeOptions, PackWriter};
use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, Lang, Priority, Role};

use crate::harness::Result;

/// What lines are made of.
const WORDS: &[&str] = &[
    "the", "budget", "of", "a", "session", "is", "kept", "by", "its", "blocks", "and", "fn",
    "return", "tokens", "0x7F", "render()", "=>", "naïve", "index", "reads", "what", "was", "said",
];

/// A line of about so many bytes.
pub(super) fn line(rng: &mut SplitMix64, bytes: usize) -> String {
    let mut line = String::new();
    while line.len() < bytes {
        line.push_str(rng.choose(WORDS));
        line.push(' ');
    }
    line.push('.');
    line
}

/// Writes a pack of so many blocks with counts, and says how large it is.
pub(super) fn write(path: &Path, blocks: u32) -> Result<u64> {
    let mut rng = SplitMix64::new(3);
    let mut block = |i: u32| {
        let bytes = 30 + rng.below(90);
        let text = line(&mut rng, bytes);
        match i % 4 {
            0 => Block::code(Lang::Rust, format!("src/f{i}.rs"), text),
            1 => Block::conversation(Role::User, text),
            _ => Block::conversation(Role::Assistant, text),
        }
    };
    let blocks: Vec<_> = (0..blocks).map(&mut block).collect();
    let pack = pack(&blocks)?;
    std::fs::write(path, &pack)?;
    Ok(pack.len() as u64)
}

/// The pack of these blocks, with what they cost; one in a hundred is High.
pub(super) fn pack(blocks: &[Block<'_>]) -> Result<Vec<u8>> {
    let mut pack = PackWriter::new(EncodeOptions::default());
    let mut all = Vec::with_capacity(blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        let mut added = pack.add(block)?;
        all.push(block.clone());
        if i % 100 == 99 {
            let index = added.index();
            added.priority(Priority::High)?;
            all.push(Block::new(lcp_types::Annotation::priority(index, Priority::High)));
        }
    }
    let costs = lcp_driver::IndexCosts::new(&Tiktoken::new(Encoding::O200kBase)).count(&all);
    let costs: Vec<_> = costs.into_iter().collect();
    Ok(pack.into_bytes(&costs)?)
}

//! Flips every bit and cuts every byte of the seed packs (`docs/durability.md`).

use std::num::NonZero;

use lcp_app::validate::validate;
use lcp_decoder::{DecodeOptions, PackReader, decode};
use lcp_packfile::recover;
use lcp_testkit::properties::seeds;
use lcp_types::Block;

/// Bytes of the longest pack of which every bit is flipped: each flip reads all of it.
const PACK_BYTES_MAX: usize = 8 << 10;

#[test]
#[ignore = "flips millions of bits"]
fn bit_flips_are_detected_and_cuts_lose_no_complete_block() {
    let is_tried = |pack: &Vec<u8>| pack.len() <= PACK_BYTES_MAX && has_index(pack);
    let packs: Vec<_> = seeds("decoder").into_iter().filter(is_tried).collect();
    let mut all = Tried::default();
    for pack in &packs {
        all.add(&Tried::flip_and_cut(pack));
    }
    let Tried { flips, unnoticed, cuts, lost } = all;
    assert!(flips > 0 && cuts > 0, "{} packs", packs.len());
    assert_eq!((unnoticed, lost), (0, 0), "of {flips} flips and {cuts} cuts");
}

/// Counts of flips and cuts, and of those that broke a promise.
#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    flips: u64,
    unnoticed: u64,
    cuts: u64,
    lost: u64,
}

impl Tried {
    /// Flips every bit and cuts at every byte, on all processors.
    fn flip_and_cut(pack: &[u8]) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut all = Self::default();
        std::thread::scope(|scope| {
            let parts = (0..processors).map(|part| {
                scope.spawn(move || {
                    Self::flip_and_cut_bytes(pack, (part..pack.len()).step_by(processors))
                })
            });
            for part in parts.collect::<Vec<_>>() {
                match part.join() {
                    Ok(part) => all.add(&part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        all
    }

    /// Flips the bits of these bytes, and cuts at each.
    fn flip_and_cut_bytes(pack: &[u8], bytes: impl Iterator<Item = usize>) -> Self {
        let (mut tried, mut changed) = (Self::default(), pack.to_vec());
        for at in bytes {
            for bit in 0..8 {
                changed[at] ^= 1 << bit;
                tried.flips += 1;
                tried.unnoticed += u64::from(validate(&changed, true).problems.is_empty());
                changed[at] ^= 1 << bit;
            }
            tried.cuts += 1;
            tried.lost += lost_by_cut(pack, at);
        }
        tried
    }

    fn add(&mut self, other: &Self) {
        self.flips += other.flips;
        self.unnoticed += other.unnoticed;
        self.cuts += other.cuts;
        self.lost += other.lost;
    }
}

fn has_index(pack: &[u8]) -> bool {
    let reader = PackReader::open(pack, DecodeOptions::default());
    reader.is_ok_and(|reader| matches!(reader.index(), Some(Ok(_))))
}

/// Blocks that are whole in the first `len` bytes of a pack and are not saved as they were.
/// Annotations and levels of blocks that are missing are dropped on purpose, and told: they
/// count as saved.
fn lost_by_cut(pack: &[u8], len: usize) -> u64 {
    let Ok(reader) = PackReader::open(pack, DecodeOptions::default()) else { return 0 };
    let Some(Ok(index)) = reader.index() else { return 0 };
    let frames = (0..).map_while(|block| index.frame(block));
    let whole = frames.take_while(|frame| frame.end <= len as u64).count() as u64;
    if whole == 0 {
        return 0;
    }
    let Ok(recovered) = recover(&pack[..len]) else { return whole };
    let Ok(saved) = decode(&recovered.pack, DecodeOptions::default()) else { return whole };
    // In their order; what speaks of a block may name it by another index then.
    let Ok(all) = decode(pack, DecodeOptions::default()) else { return whole };
    let mut left = saved.blocks.iter();
    let mut is_saved =
        |block: &&Block<'_>| block.target_index().is_some() || left.any(|saved| saved == *block);
    let contents = all.blocks.iter().take(usize::try_from(whole).unwrap_or(usize::MAX));
    let lost = contents.filter(|block| !is_saved(block)).count() as u64;
    lost.max(whole.saturating_sub(saved.blocks.len() as u64 + recovered.dropped))
}

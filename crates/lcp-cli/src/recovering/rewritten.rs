//! The blocks that are left as a pack of their own: what speaks of one speaks of it still.

use std::collections::{HashMap, HashSet};

use lcp_continuity::renumber_index;
use lcp_encoder::{EncodeOptions, PackBuilder};
use lcp_types::{Block, BlockType};

use super::found::Found;
use super::{Lost, RecoverError, why};
use crate::merging::{self, index_of_handoff};
use crate::stored::{Stored, walk};

/// Writes what was found, and adds to `lost` the blocks that cannot be read; gives the
/// pack, the number of its blocks, and how many were dropped because of what they spoke of.
pub(super) fn write(found: &mut Found<'_>) -> Result<(Vec<u8>, u64, u64), RecoverError> {
    let walk = walk(&found.frames)?;
    let before = found.before.as_ref();
    let before = |at: usize| before.and_then(|before| before.get(at));
    let old = |at: usize| before(at).map_or(at as u64, |(index, _)| *index);
    for (at, frame) in walk.frames.iter().enumerate() {
        if let Err(error) = &frame.block
            && !frame.is_sound()
        {
            let bytes = before(at).map_or(&frame.place, |(_, place)| place).clone();
            let (block, why) = (Some(old(at)), why(error));
            found.lost.push(Lost { bytes, block, why });
        }
    }
    let sound = walk.frames.iter().enumerate().filter(|(_, frame)| frame.is_sound());
    let sound: Vec<_> = sound.map(|(at, frame)| (old(at), frame)).collect();
    let gone = speaking_of_missing(&sound, found.total);
    let kept: Vec<_> = sound.iter().filter(|(old, _)| !gone.contains(old)).collect();
    let new: HashMap<u64, u64> =
        kept.iter().enumerate().map(|(new, (old, _))| (*old, new as u64)).collect();
    let to = |target: u64| new.get(&target).copied().unwrap_or(target);
    let options = EncodeOptions { trailer: found.has_trailer, ..walk.options() };
    let mut builder = PackBuilder::new(options);
    for (_, frame) in &kept {
        let moved = frame.block.as_ref().ok().and_then(|block| moved(block, to));
        if let Some(block) = moved {
            builder.add(&block)?;
        } else {
            let block = frame.block.as_ref().map_err(|_| frame.block_type);
            // What it gives was within the limits of the pack that it comes from.
            builder.add_stored(&frame.bytes, 0, block)?;
        }
    }
    Ok((builder.finish()?, builder.blocks(), gone.len() as u64))
}

/// The block as it must be now, if it names blocks that have another index.
fn moved<'b>(block: &'b Block<'b>, to: impl Fn(u64) -> u64) -> Option<Block<'b>> {
    if named(block).iter().all(|&target| to(target) == target) {
        return None;
    }
    Some(merging::moved(block.clone(), to))
}

/// The blocks that this one names.
fn named(block: &Block<'_>) -> Vec<u64> {
    if let Some(content) = index_of_handoff(block) {
        let mut named = Vec::new();
        let read = renumber_index(content, |block| {
            named.push(block);
            block
        });
        return if read.is_some() { named } else { Vec::new() };
    }
    block.target().into_iter().collect()
}

/// The blocks, by their old index, that name one which is missing: because it is not among
/// these, or because it names one itself. What names a block that never was is left.
fn speaking_of_missing(sound: &[(u64, &Stored<'_>)], total: Option<u64>) -> HashSet<u64> {
    let there: HashSet<u64> = sound.iter().map(|(old, _)| *old).collect();
    let never_was = |block: u64| total.is_some_and(|total| block >= total);
    let is_moved = sound.iter().enumerate().any(|(new, (old, _))| new as u64 != *old);
    let (mut by_named, mut open) = (HashMap::<u64, Vec<u64>>::new(), Vec::new());
    for (old, frame) in sound {
        let Ok(block) = &frame.block else {
            // Nobody knows what it speaks of, so it cannot follow.
            if is_moved && frame.block_type == BlockType::Annotation {
                open.push(*old);
            }
            continue;
        };
        for block in named(block) {
            by_named.entry(block).or_default().push(*old);
            if !there.contains(&block) && !never_was(block) {
                open.push(*old);
            }
        }
    }
    let mut gone = HashSet::new();
    while let Some(block) = open.pop() {
        if gone.insert(block) {
            open.extend(by_named.get(&block).into_iter().flatten());
        }
    }
    gone
}

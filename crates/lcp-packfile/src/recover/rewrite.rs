//! Writing of the recovered blocks as a new pack, with renumbered targets.

use std::collections::{HashMap, HashSet};

use lcp_encoder::{EncodeOptions, PackWriter};
use lcp_types::{Block, BlockType};

use super::salvage::Salvage;
use super::{LostRange, message};
use crate::error::Error;
use crate::merge::{handoff_index, renumber_handoff_index, retarget};
use crate::scan::{PackScan, ScannedFrame};

/// An undamaged frame: its index in the damaged pack, the frame, and the block if it is readable.
type SoundFrame<'s, 'a> = (u64, &'s ScannedFrame<'a>, Option<&'s Block<'a>>);

/// Writes the undamaged blocks. Returns the pack, its number of blocks and the number of dropped
/// blocks.
pub(super) fn write(salvage: &mut Salvage<'_>) -> Result<(Vec<u8>, u64, u64), Error> {
    let scan = PackScan::with_bytes(&salvage.frames).require_header()?;
    let before = salvage.before.as_ref();
    let before = |at: usize| before.and_then(|before| before.get(at));
    let old = |at: usize| before(at).map_or(at as u64, |(index, _)| *index);
    let mut sound: Vec<SoundFrame<'_, '_>> = Vec::new();
    for (at, frame) in scan.frames.iter().enumerate() {
        match &frame.problem {
            Some(error) if !frame.is_sound() => {
                let bytes = before(at).map_or(&frame.range, |(_, range)| range).clone();
                let (block, why) = (Some(old(at)), message(error));
                salvage.lost.push(LostRange { bytes, block, reason: why });
            }
            _ => sound.push((old(at), frame, scan.readable(at))),
        }
    }
    let dangling = dangling_references(&sound, salvage.total);
    sound.retain(|(old, ..)| !dangling.contains(old));
    let new: HashMap<u64, u64> =
        sound.iter().enumerate().map(|(new, (old, ..))| (*old, new as u64)).collect();
    let to = |target: u64| new.get(&target).copied().unwrap_or(target);
    let options = EncodeOptions { index: salvage.has_index, ..scan.encode_options() };
    let mut builder = PackWriter::new(options);
    for (_, frame, block) in &sound {
        let is_moved =
            |block: &&Block<'_>| targets(block).iter().any(|&target| to(target) != target);
        if let Some(block) = block.filter(is_moved) {
            builder.add(&retarget(block.clone(), to))?;
        } else {
            let block = block.ok_or(frame.block_type);
            // The decompressed size was within the limits of the damaged pack.
            builder.add_raw_frame(&frame.bytes, 0, block)?;
        }
    }
    Ok((builder.finish()?, builder.blocks(), dangling.len() as u64))
}

fn targets(block: &Block<'_>) -> Vec<u64> {
    let Some(content) = handoff_index(block) else {
        return block.target_index().into_iter().collect();
    };
    let mut targets = Vec::new();
    let read = renumber_handoff_index(content, |block| {
        targets.push(block);
        block
    });
    if read.is_some() { targets } else { Vec::new() }
}

/// Returns the old indices of blocks whose target is missing, directly or because the target is
/// dropped.
fn dangling_references(sound: &[SoundFrame<'_, '_>], total: Option<u64>) -> HashSet<u64> {
    let present: HashSet<u64> = sound.iter().map(|(old, ..)| *old).collect();
    let never_existed = |block: u64| total.is_some_and(|total| block >= total);
    let is_moved = sound.iter().enumerate().any(|(new, (old, ..))| new as u64 != *old);
    let (mut by_target, mut open) = (HashMap::<u64, Vec<u64>>::new(), Vec::new());
    for (old, frame, block) in sound {
        let Some(block) = block else {
            // The target is unknown, so it cannot be renumbered.
            if is_moved && frame.block_type == BlockType::Annotation {
                open.push(*old);
            }
            continue;
        };
        for target in targets(block) {
            by_target.entry(target).or_default().push(*old);
            if !present.contains(&target) && !never_existed(target) {
                open.push(*old);
            }
        }
    }
    let mut dangling = HashSet::new();
    while let Some(block) = open.pop() {
        if dangling.insert(block) {
            open.extend(by_target.get(&block).into_iter().flatten());
        }
    }
    dangling
}

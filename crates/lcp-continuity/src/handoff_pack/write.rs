//! A hand-off's blocks, and what is said of them.

use lcp_encoder::PackWriter;
use lcp_types::{Block, CarriedLevel, Priority, Tag};

use super::index::{BlockRef, Index, MessageRef, VERSION};
use super::{PackageError, STORED};
use crate::model::SessionHandoff;
use crate::resume_prompt::blocks;

/// The id of a hand-off: its pack's.
pub(crate) fn handoff_id_of(pack: &[u8]) -> String {
    format!("h-{}", &blake3::hash(pack).to_hex().as_str()[..32])
}

/// Ranks within a priority, the highest first.
const INTENT: f64 = 3.0;
const TASK: f64 = 2.0;
const SUMMARY: f64 = 1.0;

/// The pack of a hand-off.
///
/// The index says which block is what, and stands first: so the blocks are laid out
/// before it is written, and it is as many blocks as it will be.
pub(super) fn write_pack(handoff: &SessionHandoff) -> Result<Vec<u8>, PackageError> {
    // The index's place does not depend on what it says.
    let mut pack = PackWriter::new(STORED);
    pack.add(&Block::extension("", "", ""))?;
    let index = write_blocks(&mut pack, handoff)?;
    let bad =
        |error: serde_json::Error| PackageError::BadIndex { block: 0, reason: error.to_string() };
    let mut pack = PackWriter::new(STORED);
    pack.add(&index.block().map_err(bad)?)?;
    write_blocks(&mut pack, handoff)?;
    Ok(pack.finish()?)
}

fn write_blocks(pack: &mut PackWriter, handoff: &SessionHandoff) -> Result<Index, PackageError> {
    let intent = match &handoff.user_intent {
        Some(intent) => Some(add(pack, &blocks::intent_block(intent), Priority::High, INTENT)?),
        None => None,
    };
    let mut tasks = Vec::new();
    for task in &handoff.pending_tasks {
        let block = add(pack, &blocks::task_block(task), Priority::High, TASK)?;
        tasks.push(BlockRef { block, item: task.clone() });
    }
    let mut anchors = Vec::new();
    for anchor in &handoff.anchors {
        let block = blocks::anchor_block(anchor);
        let block = add(pack, &block, Priority::High, anchor.importance)?;
        anchors.push(BlockRef { block, item: anchor.clone() });
    }
    let summary = add_summary(pack, handoff)?;
    let mut recent = Vec::new();
    for message in &handoff.recent {
        let mut added = pack.add(&message.message.block)?;
        if let Some(call) = message.message.answers() {
            added.tag(&Tag::new(Tag::TOOL_CALL_ID, call))?;
        }
        let place =
            MessageRef { position: message.position, epoch: message.epoch, tokens: message.tokens };
        recent.push(BlockRef { block: added.index(), item: place });
    }
    let state = match &handoff.state {
        Some(state) => {
            let mut added = pack.add(&blocks::state_block(state))?;
            added.priority(Priority::Low)?;
            Some(BlockRef { block: added.index(), item: state.clone() })
        }
        None => None,
    };
    Ok(Index {
        version: VERSION,
        conversation: handoff.conversation_id.clone(),
        previous: handoff.previous_handoff_id.clone(),
        epoch: handoff.epoch,
        intent,
        tasks,
        anchors,
        summary,
        summary_tags: handoff.summary_tags.clone(),
        recent,
        state,
        open_calls: handoff.open_calls.clone(),
        superseded: handoff.superseded.clone(),
        metadata: handoff.metadata.clone(),
    })
}

fn add(
    pack: &mut PackWriter,
    block: &Block<'_>,
    of: Priority,
    rank: f64,
) -> Result<u64, PackageError> {
    let mut added = pack.add(block)?;
    added.priority(of)?.tag(&Tag::new(Tag::RANK, rank.to_string()))?;
    Ok(added.index())
}

fn add_summary(pack: &mut PackWriter, handoff: &SessionHandoff) -> Result<u64, PackageError> {
    let brief = handoff.summary_brief.as_deref();
    let block = blocks::summary_block(&handoff.summary, brief);
    let mut added = pack.add(&block)?;
    added.tag(&Tag::new(Tag::RANK, SUMMARY.to_string()))?;
    if let Some(tags) = &handoff.summary_tags {
        added.level(CarriedLevel::Tags, tags)?;
    }
    Ok(added.index())
}

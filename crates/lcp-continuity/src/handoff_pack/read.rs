//! From a pack to the hand-off that it holds.

use std::collections::BTreeMap;

use lcp_decoder::DecodeOptions;
use lcp_types::{Block, BlockMeta};

use super::PackageError;
use super::index::{BlockRef, Index, VERSION, is_index};
use super::write::handoff_id_of;
use crate::model::{Message, Recorded, SessionHandoff};
use crate::resume_prompt::blocks;

/// The hand-off of a pack.
pub(super) fn read_handoff(bytes: &[u8]) -> Result<SessionHandoff, PackageError> {
    let pack = lcp_decoder::decode(bytes, DecodeOptions::default())?;
    let index = read_index(&pack.blocks)?;
    let shown = PackBlocks { blocks: &pack.blocks };
    let metas = BlockMeta::resolve_annotated(&pack.blocks);
    let tasks = shown.verified(index.tasks, blocks::task_block)?;
    let state = shown.verified(index.state.into_iter().collect(), blocks::state_block)?;
    let mut anchors = Vec::with_capacity(index.anchors.len());
    for BlockRef { block, item: mut anchor } in index.anchors {
        anchor.text = shown.text(block)?;
        anchors.push(anchor);
    }
    let mut recent = Vec::with_capacity(index.recent.len());
    for BlockRef { block, item: place } in index.recent {
        let message = shown.message(block, &metas)?;
        let (position, epoch, tokens) = (place.position, place.epoch, place.tokens);
        recent.push(Recorded { position, epoch, tokens, message });
    }
    let summary = shown.block(index.summary)?;
    Ok(SessionHandoff {
        handoff_id: handoff_id_of(bytes),
        conversation_id: index.conversation,
        previous_handoff_id: index.previous,
        epoch: index.epoch,
        summary: shown.text(index.summary)?,
        summary_brief: summary.summary.as_deref().map(str::to_owned),
        summary_tags: index.summary_tags,
        anchors,
        pending_tasks: tasks,
        state: state.into_iter().next(),
        user_intent: index.intent.map(|block| shown.text(block)).transpose()?,
        recent,
        open_calls: index.open_calls,
        superseded: index.superseded,
        metadata: index.metadata,
    })
}

/// The index, wherever it stands: the first there is.
fn read_index(blocks: &[Block<'_>]) -> Result<Index, PackageError> {
    let found = blocks.iter().enumerate().find_map(|(at, block)| {
        block.as_extension().filter(|extension| is_index(extension)).map(|found| (at, found))
    });
    let (block, extension) = found.ok_or(PackageError::NoHandoff)?;
    let bad =
        |error: serde_json::Error| PackageError::BadIndex { block, reason: error.to_string() };
    let json = extension.content.as_slice();
    let version = serde_json::from_slice::<Version>(json).map_err(bad)?.version;
    if version > VERSION {
        return Err(PackageError::TooNew { found: version, known: VERSION });
    }
    serde_json::from_slice(json).map_err(bad)
}

/// What every version has.
#[derive(serde::Deserialize)]
struct Version {
    version: u64,
}

struct PackBlocks<'b, 'p> {
    blocks: &'b [Block<'p>],
}

impl<'b, 'p> PackBlocks<'b, 'p> {
    fn block(&self, at: u64) -> Result<&'b Block<'p>, PackageError> {
        let missing = PackageError::Inconsistent { block: at, reason: "there is no such block" };
        let block = usize::try_from(at).ok().and_then(|at| self.blocks.get(at));
        block.filter(|block| !block.content.is_metadata()).ok_or(missing)
    }

    fn text(&self, at: u64) -> Result<String, PackageError> {
        let bad = PackageError::Inconsistent { block: at, reason: "it should be text" };
        let text = self.block(at)?.content.text().and_then(|text| text.as_str());
        text.map(str::to_owned).ok_or(bad)
    }

    /// What an index says, where the blocks show just that.
    fn verified<T>(
        &self,
        items: Vec<BlockRef<T>>,
        shown: impl Fn(&T) -> Block<'static>,
    ) -> Result<Vec<T>, PackageError> {
        let reason = "it shows something else than the index says";
        items
            .into_iter()
            .map(|BlockRef { block, item }| {
                let same = self.block(block)?.content == shown(&item).content;
                same.then_some(item).ok_or(PackageError::Inconsistent { block, reason })
            })
            .collect()
    }

    fn message(
        &self,
        at: u64,
        metas: &BTreeMap<usize, BlockMeta<'_>>,
    ) -> Result<Message, PackageError> {
        let message = Message::new(self.block(at)?.clone().into_owned());
        let meta = usize::try_from(at).ok().and_then(|at| metas.get(&at));
        Ok(match meta.and_then(|meta| meta.tool_call_id.as_deref()) {
            Some(call) => message.answering(call),
            None => message,
        })
    }
}

//! What a conversation knows beside its messages: what is kept with it or, where a fork
//! keeps nothing yet, with the conversation that it came from.

use super::SessionContinuityService;
use super::session::{SavedState, likely_memories};
use crate::error::Result;
use crate::model::{AnchorPoint, Recorded, SessionHandoff};
use crate::store::{ConversationRecord, ForkPoint};

/// What is kept with a conversation, or with the nearest before it that keeps anything.
pub(super) struct InheritedState {
    status: SavedState,
    /// Whose it is, where it is another's, and how many messages they share.
    of: Option<ForkPoint>,
}

impl SessionContinuityService {
    pub(super) fn inherited_state(
        &self,
        record: &ConversationRecord,
    ) -> Result<Option<InheritedState>> {
        if let Some(status) = SavedState::from_record(record) {
            return Ok(Some(InheritedState { status, of: None }));
        }
        let (mut parent, mut messages) = (record.parent.clone(), u64::MAX);
        while let Some(point) = parent {
            messages = messages.min(point.messages);
            let record = self.store.conversation(&point.conversation)?;
            if let Some(status) = SavedState::from_record(&record) {
                return Ok(Some(InheritedState {
                    status,
                    of: Some(ForkPoint { messages, ..point }),
                }));
            }
            parent = record.parent;
        }
        Ok(None)
    }

    /// What replaced the anchors of a conversation that no longer hold.
    pub(super) fn superseded(
        &self,
        kept: Option<&InheritedState>,
        messages: &[Recorded],
        origin: Option<&SessionHandoff>,
    ) -> Result<Vec<(String, String)>> {
        let Some(InheritedState { status, of }) = kept else { return Ok(Vec::new()) };
        let mut superseded = status.superseded.clone();
        let Some(ForkPoint { conversation, messages: shared }) = of else { return Ok(superseded) };
        if !superseded.is_empty() {
            // What was said there behind the fork has replaced nothing here.
            let later =
                self.extract_anchors(conversation, &self.load_messages(conversation, *shared)?).0;
            let mut here = self.extract_anchors(conversation, messages).0;
            here.extend(origin.into_iter().flat_map(|origin| origin.anchors.iter().cloned()));
            let is_in = |anchors: &[AnchorPoint], id: &str| anchors.iter().any(|it| it.id == id);
            superseded.retain(|(_, by)| is_in(&here, by) || !is_in(&later, by));
        }
        Ok(superseded)
    }

    pub(super) fn load_origin(
        &self,
        record: &ConversationRecord,
    ) -> Result<Option<SessionHandoff>> {
        record.origin.as_deref().map(|id| self.handoff_as_superseded(id)).transpose()
    }

    /// A hand-off of which anchors that were superseded between its commit and its resume
    /// say so.
    pub(super) fn handoff_as_superseded(&self, id: &str) -> Result<SessionHandoff> {
        let mut origin = self.handoff(id)?;
        for (id, by) in self.superseded_before(&origin)? {
            if let Some(anchor) = origin.anchors.iter_mut().find(|anchor| anchor.id == id) {
                anchor.superseded_by.get_or_insert(by);
            }
        }
        Ok(origin)
    }

    /// What replaced anchors of the conversation that was handed over. Once it was
    /// resumed, nothing is added.
    pub(super) fn superseded_before(
        &self,
        origin: &SessionHandoff,
    ) -> Result<Vec<(String, String)>> {
        let before = self.store.conversation(&origin.conversation_id)?;
        Ok(SavedState::from_record(&before).map(|status| status.superseded).unwrap_or_default())
    }
}

pub(super) fn memories(
    kept: Option<&InheritedState>,
    record: &ConversationRecord,
    messages: &[Recorded],
) -> Vec<u64> {
    match kept {
        Some(kept) => {
            let memories = kept.status.memories(messages).into_iter();
            let shared = kept.of.as_ref().map_or(u64::MAX, |point| point.messages);
            memories.filter(|at| *at < shared).collect()
        }
        // Something is kept that cannot be read.
        None if record.status.is_some() => likely_memories(messages),
        None => Vec::new(),
    }
}

//! What is dropped once nothing alive needs it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::state::State;
use crate::model::Timestamp;
use crate::store::records::{Expired, HandoffState};

/// The ids of what is alive, and of all that this came from.
#[derive(Default)]
struct Needed {
    conversations: HashSet<String>,
    handoffs: HashSet<String>,
}

impl State {
    pub(super) fn expire(&mut self, expiry: Duration, now: Timestamp) -> Expired {
        let needed = self.needed(expiry, now);

        let conversations = self.conversations.len();
        self.conversations.retain(|id, _| needed.conversations.contains(id));
        let conversations = (conversations - self.conversations.len()) as u64;

        let mut handoffs = 0;
        for (id, handoff) in &mut self.handoffs {
            let kept = handoff.expires > now || needed.handoffs.contains(id);
            if kept || handoff.pack.take().is_none() {
                continue;
            }
            handoffs += 1;
            if handoff.is_open() {
                handoff.state = HandoffState::Expired;
            }
        }

        let bodies = self.bodies.len();
        // The store's own is the last one left.
        self.bodies.retain(|body| Arc::strong_count(body) > 1);
        let bodies = (bodies - self.bodies.len()) as u64;
        Expired { conversations, handoffs, bodies }
    }

    fn needed(&self, expiry: Duration, now: Timestamp) -> Needed {
        let alive = self.conversations.iter().filter(|(_, conversation)| {
            conversation.active.after(expiry) > now || conversation.held(now).is_some()
        });
        let mut conversations: Vec<&String> = alive.map(|(id, _)| id).collect();
        let alive = self.handoffs.iter().filter(|(_, handoff)| handoff.resumable(now));
        let mut handoffs: Vec<&String> = alive.map(|(id, _)| id).collect();

        let mut needed = Needed::default();
        loop {
            if let Some(id) = conversations.pop() {
                let Some(conversation) = self.conversations.get(id) else { continue };
                if needed.conversations.insert(id.clone()) {
                    conversations.extend(conversation.parent.as_ref().map(|at| &at.conversation));
                    handoffs.extend(&conversation.origin);
                }
            } else if let Some(id) = handoffs.pop() {
                // Behind one that was dropped, nothing is left that it came from.
                let kept = self.handoffs.get(id).filter(|handoff| handoff.pack.is_some());
                let Some(handoff) = kept else { continue };
                if needed.handoffs.insert(id.clone()) {
                    conversations.push(&handoff.conversation);
                    handoffs.extend(&handoff.previous);
                }
            } else {
                return needed;
            }
        }
    }
}

//! Invariants of a store after any operations.

use std::collections::HashMap;

use lcp_continuity::store::{HandoffState, Store};
use proptest::prelude::*;

pub(super) fn hold(
    store: &dyn Store,
    conversations: &[String],
    handoffs: &[String],
) -> Result<(), TestCaseError> {
    let there = conversations.iter().filter_map(|id| store.conversation(id).ok());
    let conversations: HashMap<_, _> = there.map(|it| (it.id.clone(), it)).collect();
    let handoffs: Vec<_> = handoffs.iter().filter_map(|id| store.handoff(id).ok()).collect();

    for (id, record) in &conversations {
        let messages = store.messages(id, 0, u64::MAX).unwrap();
        prop_assert!((0..record.messages).eq(messages.iter().map(|message| message.position)));
        prop_assert!(messages.is_sorted_by_key(|message| (message.epoch, message.recorded)));
        prop_assert!(messages.last().is_none_or(|message| message.epoch <= record.epoch));
        prop_assert!(record.created <= record.last_active);
        if let Some(parent) = &record.parent {
            let shared = usize::try_from(parent.messages).unwrap();
            let theirs = store.messages(&parent.conversation, 0, parent.messages).unwrap();
            prop_assert_eq!(&theirs, &messages[..shared]);
            prop_assert_eq!(&record.origin, &conversations[&parent.conversation].origin);
        } else if let Some(origin) = &record.origin {
            let origin = store.handoff(origin).unwrap();
            prop_assert_eq!(origin.state, HandoffState::Resumed { into: id.clone() });
            prop_assert!(!origin.pack.is_empty());
            let source = &conversations[&origin.conversation];
            prop_assert_eq!(source.continued_as.as_ref(), Some(id));
        }
        let open = |state: &HandoffState| {
            matches!(state, HandoffState::Committed | HandoffState::Claimed { .. })
        };
        let latest = store.latest(id).unwrap();
        let any = handoffs.iter().any(|it| it.conversation == *id && open(&it.state));
        prop_assert_eq!(latest.is_some(), any);
        if record.continued_as.is_some() {
            prop_assert_eq!(latest, None);
        } else if let Some(latest) = latest {
            prop_assert!(open(&store.handoff(&latest).unwrap().state));
        }
    }
    let mut listed = Vec::new();
    while let Some(next) =
        store.conversations(listed.last().map_or("", String::as_str), 1).unwrap().pop()
    {
        prop_assert_eq!(conversations.get(&next.id), Some(&next));
        listed.push(next.id);
    }
    prop_assert!(listed.is_sorted());
    prop_assert_eq!(listed.len(), conversations.len());
    for handoff in handoffs {
        let chain = store.chain(&handoff.id).unwrap();
        prop_assert_eq!(&chain[0], &handoff);
        for pair in chain.windows(2) {
            prop_assert!(!pair[0].pack.is_empty());
            prop_assert_eq!(pair[0].previous.as_ref(), Some(&pair[1].id));
        }
        if !handoff.pack.is_empty() && handoff.state == HandoffState::Committed {
            prop_assert!(conversations.contains_key(&handoff.conversation));
        }
    }
    Ok(())
}

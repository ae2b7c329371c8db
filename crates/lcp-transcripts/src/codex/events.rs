//! Reads the events of a rollout. Some repeat the text of an item, others are its only record.

use std::collections::HashMap;

use lcp_types::Role;

use super::ITEMS;
use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields, Line};

/// Returns the speaker (`None` for reasoning) and the text field of this type of event.
fn speaker_and_key(event: &str) -> Option<(Option<Role>, &'static str)> {
    Some(match event {
        "user_message" => (Some(Role::User), "message"),
        "agent_message" => (Some(Role::Assistant), "message"),
        "agent_reasoning" | "agent_reasoning_raw_content" => (None, "text"),
        _ => return None,
    })
}

/// Returns whether events of this type hold a text of the user or the model.
pub(super) fn has_text(event: &str) -> bool {
    speaker_and_key(event).is_some()
}

/// The texts of the items of a rollout by speaker, with the number of occurrences that no event has
/// repeated so far.
pub(super) struct ItemTexts(HashMap<(Option<Role>, String), usize>);

impl ItemTexts {
    pub(super) fn from_lines(lines: &[Line<'_>]) -> Self {
        let mut items = Self(HashMap::new());
        for line in lines {
            let Some(fields) = line.value.as_ref().ok().and_then(|value| Fields::read(value))
            else {
                continue;
            };
            let kind = fields.string("type").unwrap_or_default();
            match fields.get("payload") {
                Some(item) if kind == "response_item" => {
                    items.add(&Fields::read(item).unwrap_or_default());
                }
                None if ITEMS.contains(&kind.as_str()) => items.add(&fields),
                _ => {}
            }
        }
        items
    }

    fn add(&mut self, item: &Fields<'_>) {
        let of_thoughts = item.string("type").as_deref() == Some("reasoning");
        let speaker = match item.string("role").as_deref() {
            _ if of_thoughts => None,
            Some("user") => Some(Role::User),
            Some("assistant") => Some(Role::Assistant),
            _ => return,
        };
        for key in ["content", "summary"] {
            let Some(content) = item.get(key) else { continue };
            let parts = raw_json::array(content).unwrap_or_default();
            let texts = parts.iter().filter_map(|part| Fields::read(part)?.string("text"));
            let texts: Vec<_> = raw_json::string(content).into_iter().chain(texts).collect();
            for text in &texts {
                self.insert(speaker, text);
            }
            if texts.len() > 1 {
                self.insert(speaker, &texts.join("\n"));
                self.insert(speaker, &texts.concat());
            }
        }
    }

    fn insert(&mut self, speaker: Option<Role>, text: &str) {
        *self.0.entry((speaker, text.trim().to_owned())).or_default() += 1;
    }

    /// Skips an event that repeats an item, and adds one that does not. Returns `false` for other
    /// events.
    pub(super) fn event(
        &mut self,
        builder: &mut BlockBuilder,
        name: &str,
        mut event: Fields<'_>,
    ) -> bool {
        let Some((speaker, key)) = speaker_and_key(name) else { return false };
        let Some(text) = event.string(key) else { return false };
        if let Some(left) = self.0.get_mut(&(speaker, text.trim().to_owned())).filter(|of| **of > 0)
        {
            *left -= 1;
            builder.skip(&format!("event_msg.{name}"));
            return true;
        }
        let Some(role) = speaker else { return false };
        builder.begin_message(role);
        if let Some(text) = builder.take_text(&mut event, key) {
            builder.push_text(&text);
        }
        event.take("type");
        if let Some(notes) = event.rest_json()
            && !builder.try_tag_item_fields(&notes)
        {
            builder.push_message_fields(Some(&notes));
        }
        true
    }
}

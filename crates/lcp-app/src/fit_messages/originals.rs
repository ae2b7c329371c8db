//! The messages of a result that are those of the input.

use std::collections::BTreeMap;

use lcp_transcripts::{ExportResult, ExportedMessage};
use lcp_types::{Annotation, Block, Tag};
use serde_json::Value;
use serde_json::value::RawValue;

/// A message of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FittedMessage {
    /// The message with this index in the input, unchanged.
    Original(usize),
    /// A new or shortened message.
    New {
        /// The index of the message in the input that it was, if it was one.
        origin: Option<usize>,
        /// The message as JSON.
        json: String,
    },
}

/// The indices of the messages in the input, by block.
pub(super) struct MessageIndices(BTreeMap<usize, usize>);

impl MessageIndices {
    pub(super) fn new(blocks: &[Block<'_>]) -> Self {
        let tags = blocks.iter().filter_map(Block::as_annotation);
        let indices = tags.filter_map(|annotation| {
            let tag = annotation.as_tag().filter(|tag| tag.key == Tag::MESSAGE)?;
            let block = usize::try_from(annotation.target_block_id).ok()?;
            Some((block, tag.value?.parse().ok()?))
        });
        Self(indices.collect())
    }

    /// Returns annotations that pin the blocks of these messages.
    pub(super) fn pins(&self, messages: &[usize]) -> Vec<Block<'static>> {
        let blocks = self.0.iter().filter(|(_, message)| messages.contains(message));
        let pin = |block: &usize| Annotation::tag(*block as u64, &Tag::from_key(Tag::PINNED));
        blocks.map(|(block, _)| Block::new(pin(block))).collect()
    }

    /// Finds the originals of the messages of an export.
    pub(super) fn find(
        &self,
        exported: &ExportResult,
        originals: &[&RawValue],
    ) -> Vec<FittedMessage> {
        // A system prompt outside of the list comes first.
        let messages = exported
            .messages
            .iter()
            .skip(exported.messages.len().saturating_sub(exported.items.len()));
        let find = |(message, json): (&ExportedMessage, &String)| {
            let origin = message.blocks.first().and_then(|block| self.0.get(block)).copied();
            let is_original =
                |index: &usize| originals.get(*index).is_some_and(|it| is_same(it.get(), json));
            match origin.filter(is_original) {
                Some(index) => FittedMessage::Original(index),
                None => FittedMessage::New { origin, json: json.clone() },
            }
        };
        messages.zip(&exported.items).map(find).collect()
    }
}

/// Returns whether two messages differ only in their spelling: order of fields, absent or null
/// fields, a text or a list with this text.
fn is_same(original: &str, message: &str) -> bool {
    let read = |json| serde_json::from_str(json).ok().map(normal);
    original == message || read(original) == read(message)
}

/// Returns a message without differences in spelling.
fn normal(mut message: Value) -> Value {
    let Some(fields) = message.as_object_mut() else { return message };
    fields.retain(|_, value| !value.is_null());
    if fields.contains_key("role") && fields.get("type").is_some_and(|it| it == "message") {
        fields.remove("type");
    }
    if let Some(content) = fields.get_mut("content")
        && let Some([Value::Object(part)]) = content.as_array().map(Vec::as_slice)
        && part.len() == 2
        && part.get("type").is_some_and(|it| it == "text")
        && let Some(text) = part.get("text").filter(|text| text.is_string())
    {
        *content = text.clone();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_ignored_and_content_is_not() {
        let original =
            r#"{"content": [{"type": "text", "text": "é"}], "role": "user", "name": null}"#;
        assert!(is_same(original, r#"{"role":"user","content":"\u00e9"}"#));
        assert!(is_same(original, r#"{"type":"message","role":"user","content":"é"}"#));
        assert!(!is_same(original, r#"{"role":"user","content":"e"}"#));
        assert!(!is_same(original, r#"{"role":"user","content":"é","name":"ada"}"#));
    }
}

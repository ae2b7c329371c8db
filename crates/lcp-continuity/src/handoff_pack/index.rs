//! What the blocks of a hand-off are: the JSON of its extension.

use lcp_types::{Block, Extension, HANDOFF_TYPE_NAME, Level};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{AnchorPoint, HandoffMetadata, OpenCall, PendingTask, SessionState};

/// The newest version of the index that is known.
pub(super) const VERSION: u64 = 1;

/// What the blocks of a hand-off are. Indices count annotations, as everywhere.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) version: u64,
    pub(super) conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<String>,
    pub(super) epoch: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) intent: Option<u64>,
    #[serde(default)]
    pub(super) tasks: Vec<BlockRef<PendingTask>>,
    #[serde(default)]
    pub(super) anchors: Vec<BlockRef<AnchorPoint>>,
    pub(super) summary: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summary_tags: Option<String>,
    #[serde(default)]
    pub(super) recent: Vec<BlockRef<MessageRef>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<BlockRef<SessionState>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) open_calls: Vec<OpenCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) superseded: Vec<(String, String)>,
    pub(super) metadata: HandoffMetadata,
}

/// Something, and the block that shows it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BlockRef<T> {
    pub(super) block: u64,
    #[serde(flatten)]
    pub(super) item: T,
}

/// Where a message was recorded.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MessageRef {
    pub(super) position: u64,
    pub(super) epoch: u32,
    pub(super) tokens: u32,
}

impl Index {
    /// The block that holds it.
    pub(super) fn block(&self) -> Result<Block<'static>, serde_json::Error> {
        Ok(Block::extension(Level::NAMESPACE, HANDOFF_TYPE_NAME, serde_json::to_vec(self)?))
    }
}

/// Whether a block holds an index.
pub(super) fn is_index(extension: &Extension<'_>) -> bool {
    extension.namespace == Level::NAMESPACE && extension.type_name == HANDOFF_TYPE_NAME
}

/// The content of a hand-off's extension, where other blocks stand in front of its own:
/// `to` gives the new index of each block that it names. Members that this version
/// does not know stay as they are.
///
/// `None` if it is not such a content, or of a newer version, which may name blocks elsewhere.
#[must_use]
pub fn renumber_index(content: &[u8], mut to: impl FnMut(u64) -> u64) -> Option<Vec<u8>> {
    let mut index: Value = serde_json::from_slice(content).ok()?;
    let members = index.as_object_mut()?;
    members.get("version").and_then(Value::as_u64).filter(|version| *version <= VERSION)?;
    let mut place = |value: Option<&mut Value>| {
        if let Some((block, place)) = value.and_then(|place| Some((place.as_u64()?, place))) {
            *place = to(block).into();
        }
    };
    for name in ["intent", "summary"] {
        place(members.get_mut(name));
    }
    for name in ["tasks", "anchors", "recent"] {
        let items = members.get_mut(name).and_then(Value::as_array_mut);
        items.into_iter().flatten().for_each(|item| place(item.get_mut("block")));
    }
    place(members.get_mut("state").and_then(|state| state.get_mut("block")));
    serde_json::to_vec(&index).ok()
}

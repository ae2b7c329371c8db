//! What the blocks of a hand-off are: the JSON of its extension.

use lcp_types::{Block, CarriedLevel, Extension, HANDOFF_TYPE_NAME};
use serde::{Deserialize, Serialize};

use crate::model::{AnchorPoint, HandoffMetadata, OpenCall, PendingTask, SessionState};

/// The newest version of the index that is known.
pub(super) const VERSION: u64 = lcp_types::HANDOFF_INDEX_VERSION;

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
    pub(super) fn block(&self) -> Result<Block<'static>, serde_json::Error> {
        Ok(Block::extension(CarriedLevel::NAMESPACE, HANDOFF_TYPE_NAME, serde_json::to_vec(self)?))
    }
}

/// Whether a block holds an index.
pub(super) fn is_index(extension: &Extension<'_>) -> bool {
    extension.namespace == CarriedLevel::NAMESPACE && extension.type_name == HANDOFF_TYPE_NAME
}

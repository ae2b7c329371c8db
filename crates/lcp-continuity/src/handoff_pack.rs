//! Conversion of hand-offs and messages to packs and back (RFC 0007 §5).

use std::collections::BTreeMap;

use lcp_decoder::DecodeOptions;
use lcp_encoder::{BlockHandle, Compression, EncodeOptions, Magic, PackWriter};
use lcp_types::{
    Block, BlockMeta, CarriedLevel, Extension, HANDOFF_INDEX_VERSION as VERSION, HANDOFF_TYPE_NAME,
    Priority, Tag, category,
};
use serde::{Deserialize, Serialize};

use crate::model::{
    AnchorPoint, HandoffMetadata, Message, OpenCall, PendingTask, Recorded, SessionHandoff,
    SessionState,
};
use crate::resume_prompt::blocks;
use crate::store::StoredMessage;

/// The encoding of stored messages and hand-offs. They have no index: a store contains many small
/// packs that are read completely, and an index would double the size of most of them.
const STORED: EncodeOptions =
    EncodeOptions { magic: Magic::Lcp, compression: Compression::None, index: false };

/// An error in converting a hand-off or message to a pack or back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The pack is malformed.
    #[error("cannot decode the stored pack: {0}")]
    Malformed(#[from] lcp_decoder::Error),
    /// The pack cannot be written.
    #[error("cannot encode the pack: {0}")]
    NotWritten(#[from] lcp_encoder::Error),
    /// The pack does not contain a hand-off.
    #[error("the pack does not contain a hand-off")]
    NoHandoff,
    /// The index block, which maps the blocks to their meaning, cannot be read.
    #[error("cannot read the index of the hand-off: {reason} (block {block})")]
    BadIndex {
        /// The number of the block.
        block: usize,
        /// The problem.
        reason: String,
    },
    /// The hand-off was written by a newer version.
    #[error(
        "the hand-off has version {found}, but this program supports at most {known}; use a newer \
         program"
    )]
    TooNew {
        /// The version of the hand-off.
        found: u64,
        /// The newest version that can be read.
        known: u64,
    },
    /// A block does not match the index of the hand-off.
    #[error("the hand-off is inconsistent: {reason} (block {block})")]
    Inconsistent {
        /// The number of the block.
        block: u64,
        /// The problem.
        reason: &'static str,
    },
    /// A message is not a block that can be shown.
    #[error("a message must be one content block, not an annotation")]
    NoMessage,
}

impl SessionHandoff {
    /// Encodes the hand-off as a pack, which can be stored and rendered.
    ///
    /// The id is not stored but derived from the pack. So [`Self::from_pack`] restores the same
    /// hand-off, including a [`Self::handoff_id`] that [`Self::with_id`] created.
    ///
    /// # Errors
    ///
    /// Returns an error if the contents exceed the limits of packs.
    pub fn to_pack(&self) -> Result<Vec<u8>, PackageError> {
        // The index comes first and contains the numbers of the other blocks. So lay out the blocks
        // once after a substitute for the index, and again after the real one.
        let bad = |error: serde_json::Error| PackageError::BadIndex {
            block: 0,
            reason: error.to_string(),
        };
        let mut pack = PackWriter::new(STORED);
        pack.add(&Block::extension("", "", ""))?;
        let index = write_blocks(&mut pack, self)?;
        let json = serde_json::to_vec(&index).map_err(bad)?;
        let mut pack = PackWriter::new(STORED);
        pack.add(&Block::extension(CarriedLevel::NAMESPACE, HANDOFF_TYPE_NAME, json))?;
        write_blocks(&mut pack, self)?;
        Ok(pack.finish()?)
    }

    /// Sets the id that belongs to the contents. Returns the hand-off and its pack.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::to_pack`].
    pub fn with_id(mut self) -> Result<(Self, Vec<u8>), PackageError> {
        let pack = self.to_pack()?;
        self.handoff_id = handoff_id_of(&pack);
        Ok((self, pack))
    }

    /// Decodes a hand-off from a pack.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed, does not contain a hand-off, or contradicts
    /// itself.
    pub fn from_pack(bytes: &[u8]) -> Result<Self, PackageError> {
        let pack = lcp_decoder::decode(bytes, DecodeOptions::default())?;
        let index = read_index(&pack.blocks)?;
        let shown = PackBlocks(&pack.blocks);
        let metas = BlockMeta::resolve_annotated(&pack.blocks);
        let tasks = shown.verified(index.tasks, blocks::task_block)?;
        let state = shown.verified(index.state.into_iter().collect(), blocks::state_block)?;
        let anchor = |BlockRef { block, item }: BlockRef<AnchorPoint>| {
            Ok(AnchorPoint { text: shown.text(block)?, ..item })
        };
        let anchors = index.anchors.into_iter().map(anchor).collect::<Result<_, PackageError>>()?;
        let mut recent = Vec::with_capacity(index.recent.len());
        for BlockRef { block, item: MessageRef { position, epoch, tokens } } in index.recent {
            let message = shown.message(block, &metas)?;
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
}

/// The index block, which maps the blocks of a hand-off to their meaning. Block numbers include
/// annotations, as everywhere in packs.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Index {
    version: u64,
    conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    epoch: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intent: Option<u64>,
    #[serde(default)]
    tasks: Vec<BlockRef<PendingTask>>,
    #[serde(default)]
    anchors: Vec<BlockRef<AnchorPoint>>,
    summary: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary_tags: Option<String>,
    #[serde(default)]
    recent: Vec<BlockRef<MessageRef>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<BlockRef<SessionState>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open_calls: Vec<OpenCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    superseded: Vec<(String, String)>,
    metadata: HandoffMetadata,
}

/// An item and the number of the block that shows it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct BlockRef<T> {
    block: u64,
    #[serde(flatten)]
    item: T,
}

/// The position, epoch and token count of a message.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MessageRef {
    position: u64,
    epoch: u32,
    tokens: u32,
}

/// Returns the id of a hand-off, derived from its pack.
fn handoff_id_of(pack: &[u8]) -> String {
    format!("h-{}", &blake3::hash(pack).to_hex().as_str()[..32])
}

/// The category of a part, and its rank within a priority. Blocks with a higher rank are preferred.
const INTENT: (&str, f64) = (category::GOAL, 3.0);
const TASK: (&str, f64) = (category::WORKING_STATE, 2.0);
const SUMMARY: (&str, f64) = (category::CONVERSATION_SUMMARY, 1.0);

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
        let place = (category::MEMORY, anchor.importance);
        let block = add(pack, &block, Priority::High, place)?;
        anchors.push(BlockRef { block, item: anchor.clone() });
    }
    let summary = add_summary(pack, handoff)?;
    let mut recent = Vec::new();
    for message in &handoff.recent {
        let block = add_message(pack, &message.message)?;
        let Recorded { position, epoch, tokens, .. } = *message;
        recent.push(BlockRef { block, item: MessageRef { position, epoch, tokens } });
    }
    let state = match &handoff.state {
        Some(state) => {
            let mut added = pack.add(&blocks::state_block(state))?;
            added.priority(Priority::Low)?;
            added.tag(&Tag::new(Tag::CATEGORY, category::WORKING_STATE))?;
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

/// Adds the block of a message and, if the block has no field for it, the id of the call that it
/// answers.
fn add_message(pack: &mut PackWriter, message: &Message) -> Result<u64, PackageError> {
    let mut added = pack.add(&message.block)?;
    if let Some(call) = message.answers() {
        added.tag(&Tag::new(Tag::TOOL_CALL_ID, call))?;
    }
    Ok(added.index())
}

fn add(
    pack: &mut PackWriter,
    block: &Block<'_>,
    of: Priority,
    place: (&str, f64),
) -> Result<u64, PackageError> {
    let mut added = pack.add(block)?;
    added.priority(of)?;
    place_in(&mut added, place)?;
    Ok(added.index())
}

/// Tags a block with its category and rank.
fn place_in(
    added: &mut BlockHandle<'_>,
    (category, rank): (&str, f64),
) -> Result<(), PackageError> {
    added.tag(&Tag::new(Tag::RANK, rank.to_string()))?;
    added.tag(&Tag::new(Tag::CATEGORY, category))?;
    Ok(())
}

fn add_summary(pack: &mut PackWriter, handoff: &SessionHandoff) -> Result<u64, PackageError> {
    let brief = handoff.summary_brief.as_deref();
    let block = blocks::summary_block(&handoff.summary, brief);
    let mut added = pack.add(&block)?;
    place_in(&mut added, SUMMARY)?;
    if let Some(tags) = &handoff.summary_tags {
        added.level(CarriedLevel::Tags, tags)?;
    }
    Ok(added.index())
}

/// Reads the first index block of a pack, at any position.
fn read_index(blocks: &[Block<'_>]) -> Result<Index, PackageError> {
    /// The field that all versions of the index have.
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    let mut extensions = blocks.iter().map(Block::as_extension).enumerate();
    let (block, extension) = extensions
        .find_map(|(at, extension)| Some((at, extension?)).filter(|(_, of)| is_index(of)))
        .ok_or(PackageError::NoHandoff)?;
    let bad =
        |error: serde_json::Error| PackageError::BadIndex { block, reason: error.to_string() };
    let json = extension.content.as_slice();
    let Version { version: found } = serde_json::from_slice(json).map_err(bad)?;
    if found > VERSION {
        return Err(PackageError::TooNew { found, known: VERSION });
    }
    serde_json::from_slice(json).map_err(bad)
}

fn is_index(extension: &Extension<'_>) -> bool {
    extension.namespace == CarriedLevel::NAMESPACE && extension.type_name == HANDOFF_TYPE_NAME
}

struct PackBlocks<'b, 'p>(&'b [Block<'p>]);

impl<'b, 'p> PackBlocks<'b, 'p> {
    fn block(&self, at: u64) -> Result<&'b Block<'p>, PackageError> {
        let reason = "the block does not exist or is an annotation";
        let missing = PackageError::Inconsistent { block: at, reason };
        let block = usize::try_from(at).ok().and_then(|at| self.0.get(at));
        block.filter(|block| !block.content.is_metadata()).ok_or(missing)
    }

    fn text(&self, at: u64) -> Result<String, PackageError> {
        let bad = PackageError::Inconsistent { block: at, reason: "the block is not text" };
        let text = self.block(at)?.content.text().and_then(|text| text.as_str());
        text.map(str::to_owned).ok_or(bad)
    }

    /// Returns the items of the index, after checking that their blocks show the same contents.
    fn verified<T>(
        &self,
        items: Vec<BlockRef<T>>,
        shown: impl Fn(&T) -> Block<'static>,
    ) -> Result<Vec<T>, PackageError> {
        let reason = "the block does not match the index";
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
        // An empty id means that there is no call.
        let call = meta.and_then(|meta| meta.tool_call_id.as_deref()).unwrap_or_default();
        Ok(message.answering(call))
    }
}

impl StoredMessage {
    /// Decodes the message.
    ///
    /// # Errors
    ///
    /// Returns an error if the body is not a message. This can happen if a program wrote it without
    /// [`SessionContinuityService`](crate::SessionContinuityService).
    pub fn message(&self) -> Result<Message, PackageError> {
        let pack = lcp_decoder::decode(&self.body, DecodeOptions::default())?;
        let mut blocks = pack.blocks.into_iter();
        let first = blocks.next().filter(|block| !block.content.is_metadata());
        let message = Message::new(first.ok_or(PackageError::NoMessage)?.into_owned());
        // An empty id means that there is no call.
        Ok(message.answering(blocks.find_map(|block| answered_call(&block)).unwrap_or_default()))
    }
}

/// Encodes a message as a pack of one block. The same message always gives the same bytes.
pub(crate) fn encode_message(message: &Message) -> Result<Vec<u8>, PackageError> {
    if message.block.content.is_metadata() {
        return Err(PackageError::NoMessage);
    }
    let mut pack = PackWriter::new(STORED);
    add_message(&mut pack, message)?;
    Ok(pack.finish()?)
}

/// Returns the id of the call that the first block answers according to this annotation.
fn answered_call(block: &Block<'_>) -> Option<String> {
    let annotation = block.as_annotation().filter(|of| of.target_block_id == 0)?;
    let tag = annotation.as_tag().filter(|tag| tag.key == Tag::TOOL_CALL_ID)?;
    tag.value.map(std::borrow::Cow::into_owned)
}

//! A message as a pack of one block.

use lcp_decoder::DecodeOptions;
use lcp_encoder::PackWriter;
use lcp_types::{Block, Tag};

use super::{PackageError, STORED};
use crate::model::Message;
use crate::store::StoredMessage;

impl StoredMessage {
    /// The message that its body is.
    ///
    /// # Errors
    ///
    /// A body that is none, as a program may have put there that does not use
    /// [`SessionContinuityService`](crate::SessionContinuityService).
    pub fn message(&self) -> Result<Message, PackageError> {
        decode_message(&self.body)
    }
}

/// The pack of a message: the same message gives the same bytes.
pub(crate) fn encode_message(message: &Message) -> Result<Vec<u8>, PackageError> {
    if message.block.content.is_metadata() {
        return Err(PackageError::NoMessage);
    }
    let mut pack = PackWriter::new(STORED);
    let mut added = pack.add(&message.block)?;
    if let Some(call) = message.answers() {
        added.tag(&Tag::new(Tag::TOOL_CALL_ID, call))?;
    }
    Ok(pack.finish()?)
}

fn decode_message(pack: &[u8]) -> Result<Message, PackageError> {
    let pack = lcp_decoder::decode(pack, DecodeOptions::default())?;
    let mut blocks = pack.blocks.into_iter();
    let first = blocks.next().filter(|block| !block.content.is_metadata());
    let message = Message::new(first.ok_or(PackageError::NoMessage)?.into_owned());
    let call = blocks.find_map(|block| answered_call(&block));
    Ok(match call {
        Some(call) => message.answering(call),
        None => message,
    })
}

/// The call that an annotation says the first block answers.
fn answered_call(block: &Block<'_>) -> Option<String> {
    let annotation = block.as_annotation().filter(|of| of.target_block_id == 0)?;
    let tag = annotation.as_tag().filter(|tag| tag.key == Tag::TOOL_CALL_ID)?;
    tag.value.map(std::borrow::Cow::into_owned)
}

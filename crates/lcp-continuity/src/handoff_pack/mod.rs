//! A hand-off as a pack, and back (RFC 0007 §5).

mod codec;

pub(crate) use codec::encode_message;

use lcp_encoder::{Compression, EncodeOptions, Magic};

use crate::model::SessionHandoff;

/// How messages and hand-offs are written: without a trailer, since a store holds many
/// small packs that are read whole, and an index would make most of them twice as large.
const STORED: EncodeOptions =
    EncodeOptions { magic: Magic::Lcp, compression: Compression::None, index: false };

/// Why a pack is no hand-off, or a hand-off no pack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The pack is malformed.
    #[error("the hand-off is not a pack: {0}")]
    Malformed(#[from] lcp_decoder::Error),
    /// The pack cannot be written.
    #[error("the hand-off cannot be written: {0}")]
    NotWritten(#[from] lcp_encoder::Error),
    /// The pack is another one.
    #[error("the pack is no hand-off: it has no block that says so")]
    NoHandoff,
    /// What says which block is what cannot be read.
    #[error("the index of the hand-off cannot be read: {reason} (block {block})")]
    BadIndex {
        /// The block.
        block: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A newer version wrote it.
    #[error("the hand-off has version {found}, this program knows {known}: use a newer program")]
    TooNew {
        /// Its version.
        found: u64,
        /// The newest version that can be read.
        known: u64,
    },
    /// A block is not what the hand-off says of it.
    #[error("the hand-off contradicts itself: {reason} (block {block})")]
    Inconsistent {
        /// The block.
        block: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A message is no block that could be shown.
    #[error("a message must be one block that can be shown, not an annotation")]
    NoMessage,
}

impl SessionHandoff {
    /// The pack: what is stored, and what `render` shows.
    ///
    /// The id is made of it: [`Self::from_pack`] gives the same hand-off again, its
    /// [`Self::handoff_id`] included if that was made by [`Self::with_id`].
    ///
    /// # Errors
    ///
    /// If something in it exceeds the limits of packs.
    pub fn to_pack(&self) -> Result<Vec<u8>, PackageError> {
        codec::write_pack(self)
    }

    /// This with the id that belongs to what it holds, and its pack.
    ///
    /// # Errors
    ///
    /// As [`Self::to_pack`].
    pub fn with_id(mut self) -> Result<(Self, Vec<u8>), PackageError> {
        let pack = self.to_pack()?;
        self.handoff_id = codec::handoff_id_of(&pack);
        Ok((self, pack))
    }

    /// The hand-off that a pack holds.
    ///
    /// # Errors
    ///
    /// If the pack is malformed, another one, or contradicts itself.
    pub fn from_pack(pack: &[u8]) -> Result<Self, PackageError> {
        codec::read_handoff(pack)
    }
}

//! Random access to the blocks of a pack, for planning and rendering.

use std::borrow::Cow;
use std::fmt;

use crate::{Block, BlockIndex};

/// A pack with random access to blocks (RFC 0003 §6). Plans verify its index against the
/// blocks that they read. A slice of blocks is a source without an index.
///
/// ```
/// use lcp_types::{Block, BlockSource, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi"), Block::conversation(Role::Assistant, "yes?")];
/// assert!(blocks[..].block_index().is_none());
/// assert_eq!(blocks[..].read(&[1])?, &blocks[1..]);
/// # Ok::<(), lcp_types::BlockSourceError>(())
/// ```
pub trait BlockSource {
    /// Returns the index of the blocks; `None` if there is none.
    fn block_index(&self) -> Option<&BlockIndex>;

    /// Reads the blocks at these positions, which must ascend.
    ///
    /// # Errors
    ///
    /// [`BlockSourceError`] if one of them cannot be read, or is not what is known
    /// of it; indices in another order may be one, too.
    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError>;

    /// Reads all blocks, annotations included, in the order of the stream, without the
    /// index.
    ///
    /// # Errors
    ///
    /// [`BlockSourceError`] if they cannot be read.
    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError>;
}

impl BlockSource for [Block<'_>] {
    fn block_index(&self) -> Option<&BlockIndex> {
        None
    }

    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
        let block = |&index: &u32| {
            let missing = || BlockSourceError::mismatch(format!("there is no block {index}"));
            self.get(index as usize).cloned().ok_or_else(missing)
        };
        indices.iter().map(block).collect()
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        Ok(Cow::Borrowed(self))
    }
}

/// A source that could not give blocks.
#[derive(Debug)]
pub struct BlockSourceError {
    /// What kind of failure it is.
    pub kind: BlockSourceErrorKind,
    /// What went wrong, with the place.
    pub message: String,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failures of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockSourceErrorKind {
    /// What is known of blocks does not agree with them: all must be read.
    Mismatch,
    /// The blocks are not what a pack may hold.
    Malformed,
    /// They could not be read.
    Io,
}

impl BlockSourceError {
    /// What is known of blocks does not agree with them.
    #[must_use]
    pub fn mismatch(message: impl Into<String>) -> Self {
        Self { kind: BlockSourceErrorKind::Mismatch, message: message.into(), cause: None }
    }

    /// A failure that another error is the cause of, in the words of that one.
    #[must_use]
    pub fn new(
        kind: BlockSourceErrorKind,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let cause = cause.into();
        Self { kind, message: cause.to_string(), cause: Some(cause) }
    }

    /// The error behind it, if it is of this type.
    #[must_use]
    pub fn cause<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.cause.as_ref()?.downcast_ref()
    }
}

impl fmt::Display for BlockSourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BlockSourceError {}

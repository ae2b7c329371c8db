//! Random access to the blocks of a pack, for planning and rendering.

use std::borrow::Cow;
use std::fmt;

use crate::{Block, BlockIndex};

/// A pack with random access to its blocks (RFC 0003 §6). Planning verifies the index against the
/// blocks that it reads. A slice of blocks is a source without an index.
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
    /// Returns the index of the blocks, or `None` if the source does not have one.
    fn block_index(&self) -> Option<&BlockIndex>;

    /// Reads the blocks at these indices, which must be in ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`BlockSourceError`] if a block cannot be read or contradicts the index. Indices in
    /// another order may also be an error.
    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError>;

    /// Reads all blocks, annotations included, in stream order and without the index.
    ///
    /// # Errors
    ///
    /// Returns [`BlockSourceError`] if the blocks cannot be read.
    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError>;
}

impl<T: BlockSource + ?Sized> BlockSource for &T {
    fn block_index(&self) -> Option<&BlockIndex> {
        T::block_index(self)
    }

    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
        T::read(self, indices)
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        T::read_all(self)
    }
}

impl BlockSource for [Block<'_>] {
    fn block_index(&self) -> Option<&BlockIndex> {
        None
    }

    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
        let block = |&index: &u32| {
            let missing = || BlockSourceError::mismatch(format!("block {index} does not exist"));
            self.get(index as usize).cloned().ok_or_else(missing)
        };
        indices.iter().map(block).collect()
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        Ok(Cow::Borrowed(self))
    }
}

/// An error of a [`BlockSource`] that could not return blocks.
#[derive(Debug)]
pub struct BlockSourceError {
    /// The kind of the error.
    pub kind: BlockSourceErrorKind,
    /// A description of the problem, with its location.
    pub message: String,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of errors of a [`BlockSource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockSourceErrorKind {
    /// The index contradicts the blocks. The caller must read all blocks.
    Mismatch,
    /// The blocks are malformed.
    Malformed,
    /// The blocks could not be read.
    Io,
}

impl BlockSourceError {
    /// Returns the error for an index that contradicts the blocks.
    #[must_use]
    pub fn mismatch(message: impl Into<String>) -> Self {
        Self { kind: BlockSourceErrorKind::Mismatch, message: message.into(), cause: None }
    }

    /// Returns an error with this cause. Its message is that of the cause.
    #[must_use]
    pub fn new(
        kind: BlockSourceErrorKind,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let cause = cause.into();
        Self { kind, message: cause.to_string(), cause: Some(cause) }
    }

    /// Returns the cause, if it has this type.
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

//! Where blocks come from, for whoever plans and shows them.

use std::borrow::Cow;
use std::fmt;

use crate::{Block, Facts};

/// A pack of which blocks can be had one by one (RFC 0003 §6): what a plan needs to
/// know of each, and the blocks themselves on demand.
///
/// What is known is a hint, the blocks are the truth: whoever plans by facts
/// compares them with what it reads, and reads all where they differ.
///
/// A slice of blocks is a source that knows nothing but the blocks:
///
/// ```
/// use lcp_types::{Block, BlockSource, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi"), Block::conversation(Role::Assistant, "yes?")];
/// assert!(blocks[..].facts().is_none());
/// assert_eq!(blocks[..].read(&[1])?, &blocks[1..]);
/// # Ok::<(), lcp_types::SourceError>(())
/// ```
pub trait BlockSource {
    /// What is known of the blocks without reading them; `None` where nothing
    /// is.
    fn facts(&self) -> Option<&Facts>;

    /// The blocks of these indices, each larger than the one before.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if one of them cannot be read, or is not what is known
    /// of it; indices in another order may be one, too.
    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, SourceError>;

    /// All blocks, annotations included, in the order of the stream: what is
    /// known of them is not used.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if they cannot be read.
    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, SourceError>;
}

impl BlockSource for [Block<'_>] {
    fn facts(&self) -> Option<&Facts> {
        None
    }

    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, SourceError> {
        let block = |&index: &u32| {
            let missing = || SourceError::mismatch(format!("there is no block {index}"));
            self.get(index as usize).cloned().ok_or_else(missing)
        };
        indices.iter().map(block).collect()
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, SourceError> {
        Ok(Cow::Borrowed(self))
    }
}

/// A source that could not give blocks.
#[derive(Debug)]
pub struct SourceError {
    /// What kind of failure it is.
    pub kind: SourceErrorKind,
    /// What went wrong, with the place.
    pub message: String,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failures of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceErrorKind {
    /// What is known of blocks does not agree with them: all must be read.
    Mismatch,
    /// The blocks are not what a pack may hold.
    Malformed,
    /// They could not be read.
    Io,
}

impl SourceError {
    /// What is known of blocks does not agree with them.
    #[must_use]
    pub fn mismatch(message: impl Into<String>) -> Self {
        Self { kind: SourceErrorKind::Mismatch, message: message.into(), cause: None }
    }

    /// A failure that another error is the cause of, in the words of that one.
    #[must_use]
    pub fn new(
        kind: SourceErrorKind,
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

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SourceError {}

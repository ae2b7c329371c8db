//! Errors of an index.

/// An error in the index of a pack. The blocks can still be read without the index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (byte {offset})")]
pub struct IndexError {
    kind: IndexErrorKind,
    offset: u64,
}

impl IndexError {
    pub(crate) fn new(kind: IndexErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &IndexErrorKind {
        &self.kind
    }

    /// Returns the byte offset in the pack at which the error was detected.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

/// The kinds of errors of an index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexErrorKind {
    /// The header announces an index, but its magic or flags do not allow one.
    #[error("an index is announced where there can be none")]
    Header,
    /// The header announces an index, but the pack does not end with a footer.
    #[error("an index is announced, and the pack does not end with a footer")]
    NoFooter,
    /// The footer is damaged.
    #[error("the footer does not have its checksum")]
    FooterChecksum,
    /// The footer has an unknown version.
    #[error("the footer has the unknown version {found}")]
    Version {
        /// The version.
        found: u32,
    },
    /// The offsets do not fit the pack. The index belongs to another pack, or bytes were added.
    #[error("the places that the index names are not those of this pack")]
    Offsets,
    /// The footer announces more blocks or a longer index than a pack may have.
    #[error("the index names more than a pack may hold")]
    TooLarge,
    /// The index is damaged.
    #[error("the index does not have its checksum")]
    IndexChecksum,
    /// A column of the index is malformed.
    #[error("the column {column} of the index cannot be read")]
    Column {
        /// The name of the column in RFC 0003 §3.
        column: &'static str,
    },
    /// The blocks are damaged.
    #[error("the blocks do not have their checksum")]
    BlocksChecksum,
    /// A block does not match its checksum.
    #[error("block {block} does not have its checksum")]
    FrameChecksum {
        /// The index of the block.
        block: u32,
    },
    /// A block differs from its entry in the index.
    #[error("block {block} is not what the index says: {what}")]
    BlockMismatch {
        /// The index of the block.
        block: u32,
        /// The property that differs.
        what: &'static str,
    },
    /// A column of the index differs from the blocks.
    #[error("the index does not have the {what} of the blocks")]
    ColumnMismatch {
        /// The column that differs.
        what: &'static str,
    },
}

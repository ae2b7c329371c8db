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
    #[error("header announces an index, but its magic or flags do not allow one")]
    Header,
    /// The header announces an index, but the pack does not end with a footer.
    #[error("header announces an index, but the pack does not end with a footer")]
    NoFooter,
    /// The footer is damaged.
    #[error("footer checksum does not match")]
    FooterChecksum,
    /// The footer has an unknown version.
    #[error("unknown footer version {found}")]
    Version {
        /// The version.
        found: u32,
    },
    /// The offsets do not fit the pack. The index belongs to another pack, or bytes were added.
    #[error("index offsets do not match this pack")]
    Offsets,
    /// The footer announces more blocks or a longer index than a pack may have.
    #[error("index exceeds the limits of a pack")]
    TooLarge,
    /// The index is damaged.
    #[error("index checksum does not match")]
    IndexChecksum,
    /// A column of the index is malformed.
    #[error("cannot read index column {column}")]
    Column {
        /// The name of the column in RFC 0003 §3.
        column: &'static str,
    },
    /// The blocks are damaged.
    #[error("checksum of the blocks does not match")]
    BlocksChecksum,
    /// A block does not match its checksum.
    #[error("checksum of block {block} does not match")]
    FrameChecksum {
        /// The index of the block.
        block: u32,
    },
    /// A block differs from its entry in the index.
    #[error("block {block} differs from the index: {what}")]
    BlockMismatch {
        /// The index of the block.
        block: u32,
        /// The property that differs.
        what: &'static str,
    },
    /// A column of the index differs from the blocks.
    #[error("index differs from the blocks: {what}")]
    ColumnMismatch {
        /// The column that differs.
        what: &'static str,
    },
}

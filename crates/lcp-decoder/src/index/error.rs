//! Errors of an index.

/// An error of an index that a pack announces: the blocks are then read without it.
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

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &IndexErrorKind {
        &self.kind
    }

    /// The byte of the pack where it was noticed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

/// The kinds of errors of an index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexErrorKind {
    /// A pack with such a header cannot have an index.
    #[error("an index is announced where there can be none")]
    Header,
    /// An index is announced, and the pack does not end with a footer.
    #[error("an index is announced, and the pack does not end with a footer")]
    NoFooter,
    /// The footer is damaged.
    #[error("the footer does not have its checksum")]
    FooterChecksum,
    /// A footer of another version.
    #[error("the footer has the unknown version {found}")]
    Version {
        /// The version.
        found: u32,
    },
    /// The offsets do not agree with the pack: the index belongs to another one, or bytes
    /// were added.
    #[error("the places that the index names are not those of this pack")]
    Offsets,
    /// It announces more than a pack may hold.
    #[error("the index names more than a pack may hold")]
    TooLarge,
    /// The index is damaged.
    #[error("the index does not have its checksum")]
    IndexChecksum,
    /// A column of the index is malformed.
    #[error("the column {column} of the index cannot be read")]
    Column {
        /// Its name in RFC 0003 §3.
        column: &'static str,
    },
    /// The blocks are damaged.
    #[error("the blocks do not have their checksum")]
    BlocksChecksum,
    /// A block does not have its checksum.
    #[error("block {block} does not have its checksum")]
    FrameChecksum {
        /// Its index.
        block: u32,
    },
    /// A block differs from its entry in the index.
    #[error("block {block} is not what the index says: {what}")]
    BlockMismatch {
        /// Its index.
        block: u32,
        /// What differs.
        what: &'static str,
    },
    /// A column of the index differs from the blocks.
    #[error("the index does not have the {what} of the blocks")]
    ColumnMismatch {
        /// What differs.
        what: &'static str,
    },
}

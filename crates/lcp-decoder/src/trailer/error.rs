//! Why a trailer is not used.

use std::fmt;

/// What is wrong with a trailer that a pack announces, and where: it is not used, and the
/// blocks are read without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrailerError {
    kind: TrailerErrorKind,
    offset: u64,
}

impl TrailerError {
    pub(crate) fn new(kind: TrailerErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &TrailerErrorKind {
        &self.kind
    }

    /// The byte of the pack where it was noticed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl fmt::Display for TrailerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for TrailerError {}

/// The kinds of what can be wrong with a trailer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrailerErrorKind {
    /// The header is not one of a pack that can have a trailer.
    #[error("a trailer is announced where there can be none")]
    Header,
    /// A trailer is announced, and the pack does not end with a footer.
    #[error("a trailer is announced, and the pack does not end with one")]
    NoFooter,
    /// The footer is damaged.
    #[error("the footer does not have its checksum")]
    FooterCheck,
    /// A footer of another version.
    #[error("the footer has the unknown version {found}")]
    Version {
        /// The version.
        found: u32,
    },
    /// What the footer or the index says of places does not agree with the
    /// pack: it is that of other bytes, or something stands before or behind.
    #[error("the places that the trailer names are not those of this pack")]
    Places,
    /// It says that there is more than a pack may hold.
    #[error("the trailer names more than a pack may hold")]
    TooLarge,
    /// The index is damaged.
    #[error("the index does not have its checksum")]
    IndexCheck,
    /// A column of the index cannot be what it is.
    #[error("the column {column} of the index cannot be read")]
    Column {
        /// Its name in RFC 0003 §3.
        column: &'static str,
    },
    /// The blocks are damaged.
    #[error("the blocks do not have their checksum")]
    BlocksCheck,
    /// A block does not have its checksum.
    #[error("block {block} does not have its checksum")]
    FrameCheck {
        /// Its index.
        block: u32,
    },
    /// A block is not what the index says.
    #[error("block {block} is not what the index says: {what}")]
    Differs {
        /// Its index.
        block: u32,
        /// What differs.
        what: &'static str,
    },
    /// The index says other things of the pack than its blocks do.
    #[error("the index does not have the {what} of the blocks")]
    Lies {
        /// What differs.
        what: &'static str,
    },
}

//! Errors of encoding.

/// The result of encoding.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of encoding. The failed operation has written nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A limit is exceeded.
    #[error("{what} exceeds {limit}: got {found}, maximum {max}")]
    TooLarge {
        /// The item that is too large.
        what: &'static str,
        /// The name of the limit in `lcp_types::limits`.
        limit: &'static str,
        /// The size of the item.
        found: u64,
        /// The limit.
        max: u64,
    },
    /// A raw block has the code of a known type. It must be constructed as a block of that type.
    #[error("raw block must have an unknown type, but {type_id:#04x} is {name}")]
    KnownRawType {
        /// The code of the type.
        type_id: u8,
        /// The name of the type.
        name: &'static str,
    },
    /// The reserved flags of a block include a flag with a meaning.
    #[error("reserved flags must be reserved bits, got {flags:#04x}")]
    NotReserved {
        /// The flags.
        flags: u8,
    },
    /// An unknown field has the id of a known field.
    #[error("cannot write field {id} of {record} as unknown: it is a known field")]
    KnownField {
        /// The record.
        record: &'static str,
        /// The id.
        id: u64,
    },
    /// The costs do not match the number of blocks in the pack.
    #[error(
        "token costs in {encoding} do not match the number of blocks: expected {blocks}, got {found}"
    )]
    WrongCosts {
        /// The encoding of the costs.
        encoding: String,
        /// The number of blocks of the column that differs.
        found: usize,
        /// The number of blocks in the pack.
        blocks: usize,
    },
    /// Readers would reject the costs: an encoding or a mode is repeated, there are more of them
    /// than an index may have, or the levels are not sorted by block and level.
    #[error("cannot store token costs in {encoding}: {what}")]
    UnusableCosts {
        /// The encoding of the costs.
        encoding: String,
        /// A description of the problem.
        what: &'static str,
    },
    /// The options ask for compression, but this crate was built without the `zstd` feature.
    #[error("cannot compress: built without the `zstd` feature")]
    CompressionUnsupported,
    /// zstd failed.
    #[error("cannot compress: {reason}")]
    Compression {
        /// The message of zstd.
        reason: String,
    },
    /// The content store failed.
    #[error("{reason}")]
    Store {
        /// The message of the store.
        reason: String,
    },
}

impl Error {
    /// Returns whether a limit was exceeded (exit code 5 of the commands).
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }
}

/// Returns [`Error::TooLarge`] if `found` exceeds the limit.
pub(crate) fn check(what: &'static str, limit: &'static str, found: u64, max: u64) -> Result<()> {
    if found > max {
        return Err(Error::TooLarge { what, limit, found, max });
    }
    Ok(())
}

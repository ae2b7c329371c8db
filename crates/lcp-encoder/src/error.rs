//! What cannot be written.

/// The result of encoding.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a block or a pack cannot be written. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A limit is exceeded; its name is that in `lcp_types::limits`.
    #[error("{what} is too large: {limit} is {max}, it has {found}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit's name.
        limit: &'static str,
        /// What was asked for.
        found: u64,
        /// The limit.
        max: u64,
    },
    /// A raw block of a type that has a meaning: it must be built as that type.
    #[error("type {type_id:#04x} is {name}, not an unknown type")]
    KnownRawType {
        /// The type's code.
        type_id: u8,
        /// The type's name.
        name: &'static str,
    },
    /// A reserved flag that is not reserved.
    #[error("flags {flags:#04x} are not reserved")]
    NotReserved {
        /// The flags.
        flags: u8,
    },
    /// An unknown field with the id of a known one.
    #[error("field {id} of {record} is known and cannot be written as unknown")]
    KnownField {
        /// The record.
        record: &'static str,
        /// The id.
        id: u64,
    },
    /// Costs that are not those of the pack's blocks.
    #[error("costs in {encoding} are of {found} blocks, the pack has {blocks}")]
    WrongCosts {
        /// The encoding that they are in.
        encoding: String,
        /// The blocks of the shortest or longest column.
        found: usize,
        /// The blocks of the pack.
        blocks: usize,
    },
    /// Costs that no reader takes: an encoding or a mode that comes twice, more of them
    /// than an index has, or levels that do not ascend by block and level.
    #[error("costs in {encoding} cannot be kept: {what}")]
    UnusableCosts {
        /// The encoding that they are in.
        encoding: String,
        /// What is wrong with them.
        what: &'static str,
    },
    /// Compression was asked for, and this crate was built without it.
    #[error("compression needs the zstd feature")]
    CompressionUnsupported,
    /// zstd failed.
    #[error("cannot compress: {reason}")]
    Compression {
        /// What zstd says.
        reason: String,
    },
    /// The content store failed.
    #[error("{reason}")]
    Store {
        /// What the store says.
        reason: String,
    },
}

impl Error {
    /// Whether a limit was exceeded (exit code 5).
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }
}

/// Fails if `found` exceeds the limit.
pub(crate) fn check(what: &'static str, limit: &'static str, found: u64, max: u64) -> Result<()> {
    if found > max {
        return Err(Error::TooLarge { what, limit, found, max });
    }
    Ok(())
}

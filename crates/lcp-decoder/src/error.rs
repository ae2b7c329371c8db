//! Decoding errors and warnings.

use std::fmt;

/// The result of decoding.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A decoding error with its location.
///
/// Programs match on [`Error::kind`]. For people, print the error itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Box<ErrorKind>,
    offset: u64,
    inner: Option<u64>,
    block: Option<u64>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: u64) -> Self {
        Self { kind: Box::new(kind), offset, inner: None, block: None }
    }

    /// Moves the offset of an error in a decompressed body to the inner offset.
    pub(crate) fn at_inner_offset(mut self, body_offset: u64) -> Self {
        self.inner = Some(self.offset);
        self.offset = body_offset;
        self
    }

    pub(crate) fn with_block(mut self, index: u64) -> Self {
        self.block.get_or_insert(index);
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the byte offset at which the error was detected. In a compressed payload, offsets
    /// count decompressed bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the byte offset within a decompressed or resolved body. [`Self::offset`] is then the
    /// start of the stored body.
    #[must_use]
    pub fn inner_offset(&self) -> Option<u64> {
        self.inner
    }

    /// Returns the index of the block, or `None` if the error is outside of blocks. Annotations
    /// count as blocks.
    #[must_use]
    pub fn block(&self) -> Option<u64> {
        self.block
    }

    /// Returns a stable name of the kind for programs, such as `unexpected_eof`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns whether a limit was exceeded (exit code 5 of the commands).
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(*self.kind, ErrorKind::TooLarge { .. })
    }

    /// Returns whether the cause is a missing store, body or feature (exit code 1) and not a
    /// malformed pack (exit code 3).
    #[must_use]
    pub fn is_external(&self) -> bool {
        matches!(
            *self.kind,
            ErrorKind::Store { .. }
                | ErrorKind::NoStore { .. }
                | ErrorKind::UnresolvedReference { .. }
                | ErrorKind::CompressionUnsupported
        )
    }

    /// Returns the location in the form in which the commands print it, such as `block 3, byte
    /// 120`.
    #[must_use]
    pub fn location(&self) -> String {
        let block = self.block.map(|block| format!("block {block}, ")).unwrap_or_default();
        let inner =
            self.inner.map(|inner| format!(", byte {inner} of the body")).unwrap_or_default();
        format!("{block}byte {}{inner}", self.offset)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.location())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.kind)
    }
}

/// Defines the error kinds, one row each: `Variant { fields }, code, message;`. Arguments of the
/// message follow it in parentheses.
macro_rules! error_kinds {
    ($($(#[$meta:meta])* $variant:ident $({ $($(#[$fmeta:meta])* $field:ident: $ty:ty),* $(,)? })?, $code:literal, $message:literal $(($($argument:tt)*))?;)*) => {
        /// The kinds of decoding errors.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$meta])* #[error($message $(, $($argument)*)?)] $variant $({ $($(#[$fmeta])* $field: $ty),* })?,)*
        }

        impl ErrorKind {
            /// Every value that [`ErrorKind::code`] can return.
            pub const CODES: &'static [&'static str] = &[$($code),*];

            /// Returns a stable name of the kind for programs.
            #[must_use]
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $code,)*
                }
            }
        }
    };
}

/// Returns a magic without the NULs at its end, which stand for the missing bytes of a shorter
/// input.
fn without_padding(magic: &[u8; 4]) -> &[u8] {
    let len = magic.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    magic.get(..len).unwrap_or_default()
}

error_kinds! {
    /// The first four bytes are not a magic.
    BadMagic {
        /// The first four bytes; 0 for missing ones.
        found: [u8; 4],
    }, "bad_magic", "not an LCP pack: unknown magic \"{}\"" (without_padding(.found).escape_ascii());
    /// The major version is not 1.
    UnsupportedVersion {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    }, "unsupported_version", "unsupported version {major}.{minor}; this build reads 1.x";
    /// The reserved byte of the header is not 0, or in strict mode a reserved flag is set.
    ReservedHeader {
        /// The value found.
        found: u8,
    }, "reserved_header", "reserved header bits must be 0, got {found:#04x}";
    /// The input ends too early.
    UnexpectedEof {
        /// A description of the part that is incomplete.
        what: &'static str,
        /// The minimum number of missing bytes.
        missing: u64,
    }, "unexpected_eof", "unexpected end of input in {what}, missing bytes: {missing}";
    /// The input ends between two blocks, without END.
    MissingEnd, "missing_end", "missing END block at the end of the input";
    /// A varint is longer than ten bytes or does not fit 64 bits.
    BadVarint, "bad_varint", "varint does not fit in 64 bits";
    /// A number does not fit its field.
    OutOfRange {
        /// The field.
        field: &'static str,
        /// The number.
        found: u64,
        /// The maximum value of the field.
        max: u64,
    }, "out_of_range", "{field} must be at most {max}, got {found}";
    /// END has flags or a body.
    BadEnd, "bad_end", "END block must have no flags and no body";
    /// A reference is compressed or is not a 32-byte hash.
    BadReference, "bad_reference", "reference must be an uncompressed 32-byte hash";
    /// A field has a wire type that this version cannot skip.
    UnknownWireType {
        /// The wire type.
        found: u64,
    }, "unknown_wire_type", "unknown wire type {found}";
    /// A known field has another wire type than its own.
    WrongWireType {
        /// The field.
        field: &'static str,
        /// The wire type of the field.
        expected: u8,
        /// The wire type found.
        found: u8,
    }, "wrong_wire_type", "expected wire type {expected} for {field}, got {found}";
    /// A required field is missing.
    MissingField {
        /// The record.
        record: &'static str,
        /// The field.
        field: &'static str,
    }, "missing_field", "missing field {field} in {record}";
    /// A text field is not UTF-8.
    NotUtf8 {
        /// The field.
        field: &'static str,
    }, "not_utf8", "{field} is not UTF-8";
    /// A limit is exceeded.
    TooLarge {
        /// The limit's name in `lcp_types::limits`.
        limit: &'static str,
        /// The value in the input, as far as it is known.
        found: u64,
        /// The limit.
        max: u64,
    }, "too_large", "input exceeds {limit}: got {found}, maximum {max}";
    /// A compressed body or payload is not valid zstd. For a payload, the offset counts stored
    /// bytes: it is the beginning of the 64 KiB window that zstd rejected.
    BadCompression {
        /// The message of zstd.
        reason: String,
    }, "bad_compression", "cannot decompress: {reason}";
    /// The pack is compressed, but this crate was built without the `zstd` feature.
    CompressionUnsupported, "compression_unsupported", "cannot decompress: built without the `zstd` feature";
    /// The pack has a reference, but the options have no store.
    NoStore {
        /// The hash.
        hash: lcp_types::ContentHash,
    }, "no_store", "cannot resolve a content reference without a content store";
    /// A reference is to content that the store does not have.
    UnresolvedReference {
        /// The hash.
        hash: lcp_types::ContentHash,
    }, "unresolved_reference", "referenced content is not in the content store";
    /// The content from the store does not have the hash of the reference.
    HashMismatch {
        /// The hash in the pack.
        hash: lcp_types::ContentHash,
    }, "hash_mismatch", "content from the store does not match the hash of the reference";
    /// The store failed.
    Store {
        /// The message of the store.
        reason: String,
    }, "store", "{reason}";
    /// Bytes follow END, in strict mode.
    TrailingData, "trailing_data", "unexpected bytes after END";
}

/// A problem that does not stop decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes follow END.
    TrailingData {
        /// The offset of the first of these bytes.
        offset: u64,
    },
    /// The header has flags that have no meaning in this version.
    ReservedFlags {
        /// The flags.
        flags: u8,
    },
}

impl Warning {
    /// Returns a stable name of the warning for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TrailingData { .. } => "trailing_data",
            Self::ReservedFlags { .. } => "reserved_flags",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrailingData { offset } => {
                write!(f, "ignored the bytes after END (byte {offset})")
            }
            Self::ReservedFlags { flags } => {
                write!(f, "ignored unknown header flags {flags:#04x} (byte 6)")
            }
        }
    }
}

/// An error while reading a pack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The bytes are not a pack, or the pack is malformed.
    #[error(transparent)]
    Decode(#[from] Error),
}

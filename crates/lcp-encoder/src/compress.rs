//! Compression, as the format has it: zstd at level 3.

#[cfg(feature = "zstd")]
use crate::error::Error;
use crate::error::Result;

/// Bytes from which on a body is compressed.
#[cfg(feature = "zstd")]
const BODY_BYTES_MIN: usize = 256;

#[cfg(feature = "zstd")]
const LEVEL: i32 = 3;

/// The body compressed, where that is due and makes it smaller.
#[cfg(feature = "zstd")]
pub(crate) fn body(body: &[u8]) -> Result<Option<Vec<u8>>> {
    if body.len() < BODY_BYTES_MIN {
        return Ok(None);
    }
    let compressed = zstd(body)?;
    Ok((compressed.len() < body.len()).then_some(compressed))
}

#[cfg(feature = "zstd")]
pub(crate) fn zstd(bytes: &[u8]) -> Result<Vec<u8>> {
    ::zstd::bulk::compress(bytes, LEVEL)
        .map_err(|error| Error::Compression { reason: error.to_string() })
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn body(_body: &[u8]) -> Result<Option<Vec<u8>>> {
    Err(crate::error::Error::CompressionUnsupported)
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn zstd(_bytes: &[u8]) -> Result<Vec<u8>> {
    Err(crate::error::Error::CompressionUnsupported)
}

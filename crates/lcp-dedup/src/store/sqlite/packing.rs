//! Bodies as they stand in the file: compressed where that saves anything.

use std::borrow::Cow;

use zstd::bulk::{Compressor, Decompressor};

use super::super::backend::Found;
use super::super::error::{Error, Result};
use super::super::verified::BODY_BYTES_MAX;

/// Bytes from which on a body is compressed; below, there is nothing to save.
const PACKED_BYTES_MIN: usize = 256;

/// The fastest of zstd's usual levels: a put should cost microseconds.
const LEVEL: i32 = 1;

pub(super) fn compressor() -> Result<Compressor<'static>> {
    Compressor::new(LEVEL).map_err(|error| failed(&error))
}

pub(super) fn decompressor() -> Result<Decompressor<'static>> {
    Decompressor::new().map_err(|error| failed(&error))
}

/// The body as it is stored. It is compressed exactly if it is shorter then.
pub(super) fn pack<'b>(compressor: &mut Compressor<'_>, body: &'b [u8]) -> Result<Cow<'b, [u8]>> {
    if body.len() < PACKED_BYTES_MIN {
        return Ok(body.into());
    }
    let packed = compressor.compress(body).map_err(|error| failed(&error))?;
    Ok(if packed.len() < body.len() { packed.into() } else { body.into() })
}

/// The body of `size` bytes that was stored as `stored`.
pub(super) fn unpack(decompressor: &mut Decompressor<'_>, size: i64, stored: &[u8]) -> Found {
    match usize::try_from(size) {
        Ok(size) if size == stored.len() => Found::Body(stored.to_vec()),
        // The size decides how much memory is taken, and the file is not trusted.
        Ok(size) if stored.len() < size && size as u64 <= BODY_BYTES_MAX => {
            decompressor.decompress(stored, size).map_or(Found::Damaged, Found::Body)
        }
        _ => Found::Damaged,
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::Io { reason: format!("zstd: {error}") }
}

//! Compression of bodies in the file, where it saves bytes.

use std::borrow::Cow;

use zstd::bulk::{Compressor, Decompressor};

use super::backend::Lookup;
use super::error::{Error, Result};
use super::store::BODY_BYTES_MAX;

/// Bytes of the shortest body that is compressed; a shorter one would not shrink.
const COMPRESSED_BYTES_MIN: usize = 256;

/// The fastest of zstd's usual levels: a put should cost microseconds.
const LEVEL: i32 = 1;

pub(super) fn compressor() -> Result<Compressor<'static>> {
    Compressor::new(LEVEL).map_err(|error| failed(&error))
}

pub(super) fn decompressor() -> Result<Decompressor<'static>> {
    Decompressor::new().map_err(|error| failed(&error))
}

/// Returns the stored form of a body, which is compressed exactly if that is shorter.
pub(super) fn compress<'b>(
    compressor: &mut Compressor<'_>,
    body: &'b [u8],
) -> Result<Cow<'b, [u8]>> {
    if body.len() < COMPRESSED_BYTES_MIN {
        return Ok(body.into());
    }
    let compressed = compressor.compress(body).map_err(|error| failed(&error))?;
    Ok(if compressed.len() < body.len() { compressed.into() } else { body.into() })
}

/// Returns the body of `size` bytes whose stored form is `stored`.
pub(super) fn decompress(decompressor: &mut Decompressor<'_>, size: i64, stored: &[u8]) -> Lookup {
    match usize::try_from(size) {
        Ok(size) if size == stored.len() => Lookup::Body(stored.to_vec()),
        // The size decides how much memory is taken, and the file is not trusted.
        Ok(size) if stored.len() < size && size as u64 <= BODY_BYTES_MAX => {
            decompressor.decompress(stored, size).map_or(Lookup::Damaged, Lookup::Body)
        }
        _ => Lookup::Damaged,
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::Io { reason: format!("zstd: {error}") }
}

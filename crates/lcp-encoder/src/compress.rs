//! Compression with zstd at level 3.

#[cfg(feature = "zstd")]
use crate::error::Error;
use crate::error::Result;

#[cfg(feature = "zstd")]
const BODY_BYTES_MIN: usize = 256;

#[cfg(feature = "zstd")]
const LEVEL: i32 = 3;

/// Compresses a body. Returns `None` if the body is too short or compression does not make it
/// smaller.
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

/// Returns the numbers of bytes read and decompressed after each window of a payload (RFC 0001
/// §10.2).
#[cfg(feature = "zstd")]
pub(crate) fn window_progress(compressed: &[u8]) -> Result<Vec<(u64, u64)>> {
    use ::zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
    use lcp_types::wire::{HEADER_BYTES, PAYLOAD_WINDOW_BYTES};

    let failed = |error: std::io::Error| Error::Compression { reason: error.to_string() };
    let mut decoder = Decoder::new().map_err(failed)?;
    let mut chunk = vec![0; 128 << 10];
    let (mut read, mut decompressed) = (HEADER_BYTES as u64, HEADER_BYTES as u64);
    let mut progress = Vec::new();
    for window in compressed.chunks(PAYLOAD_WINDOW_BYTES) {
        let mut input = InBuffer::around(window);
        loop {
            let mut output = OutBuffer::around(&mut chunk[..]);
            decoder.run(&mut input, &mut output).map_err(failed)?;
            decompressed += output.pos() as u64;
            // zstd may have more output even if it did not fill the chunk.
            if output.pos() == 0 && input.pos() == window.len() {
                break;
            }
        }
        read += window.len() as u64;
        progress.push((read, decompressed));
    }
    Ok(progress)
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn window_progress(_compressed: &[u8]) -> Result<Vec<(u64, u64)>> {
    Err(crate::error::Error::CompressionUnsupported)
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn body(_body: &[u8]) -> Result<Option<Vec<u8>>> {
    Err(crate::error::Error::CompressionUnsupported)
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn zstd(_bytes: &[u8]) -> Result<Vec<u8>> {
    Err(crate::error::Error::CompressionUnsupported)
}

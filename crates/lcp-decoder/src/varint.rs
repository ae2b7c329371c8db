//! Varints (unsigned LEB128, RFC 0001 §1). This is the only varint decoder of the crate.

use lcp_types::wire::VARINT_BYTES_MAX;

/// The reason why the bytes do not begin with a varint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarintError {
    /// The bytes end too early.
    CutShort,
    /// The varint has more than ten bytes or does not fit 64 bits.
    TooLong,
}

/// Decodes the varint at the front of `data`. Returns its value and the bytes after it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "most varints have one byte")]
pub(crate) fn decode(data: &[u8]) -> Result<(u64, &[u8]), VarintError> {
    match *data {
        [byte @ 0..0x80, ref rest @ ..] => Ok((byte.into(), rest)),
        _ => decode_long(data),
    }
}

/// Decodes a varint of at most 32 bits, like [`decode`]. Returns `None` if it is malformed or
/// larger.
pub(crate) fn decode_u32(data: &[u8]) -> Option<(u32, &[u8])> {
    // Most of these varints have one or two bytes, and an index has one per block in each column.
    match data {
        [first, rest @ ..] if *first < 0x80 => Some((u32::from(*first), rest)),
        [first, second, rest @ ..] if *second < 0x80 => {
            Some((u32::from(first & 0x7F) | u32::from(*second) << 7, rest))
        }
        _ => {
            let (value, rest) = decode_long(data).ok()?;
            Some((u32::try_from(value).ok()?, rest))
        }
    }
}

/// Decodes a varint that has more than one byte.
#[inline(never)]
fn decode_long(data: &[u8]) -> Result<(u64, &[u8]), VarintError> {
    let low = |byte: u8| u64::from(byte & 0x7F);
    match *data {
        [a, b @ 0..0x80, ref rest @ ..] => return Ok((low(a) | low(b) << 7, rest)),
        [a, b, c @ 0..0x80, ref rest @ ..] => {
            return Ok((low(a) | low(b) << 7 | low(c) << 14, rest));
        }
        [a, b, c, d @ 0..0x80, ref rest @ ..] => {
            return Ok((low(a) | low(b) << 7 | low(c) << 14 | low(d) << 21, rest));
        }
        _ => {}
    }
    let mut value = 0u64;
    for (i, &byte) in data.iter().take(VARINT_BYTES_MAX).enumerate() {
        let shift = 7 * i;
        if shift == 63 && low(byte) > 1 {
            return Err(VarintError::TooLong);
        }
        value |= low(byte) << shift;
        if byte < 0x80 {
            return Ok((value, data.get(i + 1..).unwrap_or_default()));
        }
    }
    Err(if data.len() < VARINT_BYTES_MAX { VarintError::CutShort } else { VarintError::TooLong })
}

#[cfg(test)]
mod tests;

//! Compares the varint decoders with one that follows the definition (RFC 0001 §1), on all short
//! inputs and around every boundary of longer ones.

use super::{VarintError, decode, decode_u32};
use crate::error::ErrorKind;
use crate::reader::Reader;

/// The result of decoding the front of an input by the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// A value, and the number of bytes that it takes.
    Value(u128, usize),
    /// The varint is incomplete.
    Short,
    /// The varint is invalid: an eleventh byte would follow, or a bit after the first 64 is set.
    Bad,
}

/// Decodes seven bits per byte, lowest group first. Bit 7 is set on every byte except the last. A
/// varint has at most ten bytes and 64 bits.
fn by_definition(bytes: &[u8]) -> Read {
    let Some(last) = bytes.iter().position(|byte| *byte < 128) else {
        return if bytes.len() < 10 { Read::Short } else { Read::Bad };
    };
    if last >= 10 {
        return Read::Bad;
    }
    let mut value = 0u128;
    for &byte in bytes[..=last].iter().rev() {
        value = value * 128 + u128::from(byte % 128);
    }
    if value < 1 << 64 { Read::Value(value, last + 1) } else { Read::Bad }
}

/// Checks that all decoders of the crate agree with the definition.
#[track_caller]
fn check(bytes: &[u8]) {
    let expected = by_definition(bytes);
    // The parser reads all values and reports errors.
    let mut reader = Reader::new(bytes, 100);
    let found = match reader.varint("a number") {
        Ok(value) => {
            assert_eq!(reader.offset(), 100 + (bytes.len() - reader.remaining()) as u64);
            Read::Value(value.into(), bytes.len() - reader.remaining())
        }
        Err(error) => {
            assert_eq!(reader.remaining(), bytes.len(), "nothing is taken");
            match error.kind() {
                ErrorKind::UnexpectedEof { missing: 1, .. } => {
                    assert_eq!(error.offset(), 100 + bytes.len() as u64);
                    Read::Short
                }
                ErrorKind::BadVarint => {
                    assert_eq!(error.offset(), 100);
                    Read::Bad
                }
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(found, expected, "the parser, {bytes:02x?}");
    // The fast path calls this decoder directly, as the parser does.
    let read = match decode(bytes) {
        Ok((value, rest)) => Read::Value(value.into(), bytes.len() - rest.len()),
        Err(VarintError::CutShort) => Read::Short,
        Err(VarintError::TooLong) => Read::Bad,
    };
    assert_eq!(read, expected, "the decoder, {bytes:02x?}");
    // The columns of an index have values of 32 bits.
    let found = decode_u32(bytes);
    let found = found.map(|(value, rest)| (u128::from(value), bytes.len() - rest.len()));
    let wanted = match expected {
        Read::Value(value, len) if value < 1 << 32 => Some((value, len)),
        _ => None,
    };
    assert_eq!(found, wanted, "the columns, {bytes:02x?}");
}

/// Checks every varint of exactly `len` bytes, and every prefix of that length of a longer one.
/// Bytes after the end of a varint do not matter, so this covers all inputs.
fn every(len: u32) {
    let mut bytes = [0u8; 5];
    let len = len as usize;
    for groups in 0..1u64 << (7 * len) {
        for (i, byte) in bytes[..len].iter_mut().enumerate() {
            *byte = (groups >> (7 * i)).to_le_bytes()[0] & 0x7F | 0x80;
        }
        check(&bytes[..len]);
        bytes[len - 1] &= 0x7F;
        check(&bytes[..len]);
        // The byte after the varint must remain unread.
        bytes[len] = bytes[0] ^ 0xFF;
        check(&bytes[..=len]);
    }
}

#[test]
fn inputs_up_to_two_bytes_match_the_definition() {
    check(&[]);
    every(1);
    every(2);
    // These inputs include all bytes that can follow a varint of one byte.
    for all in 0..=u16::MAX {
        check(&all.to_le_bytes());
    }
}

#[test]
fn three_byte_inputs_match_the_definition() {
    every(3);
}

#[test]
#[ignore = "half a billion inputs: some seconds, a minute on a busy state"]
fn four_byte_inputs_match_the_definition() {
    every(4);
}

/// Encodes a value in at least `len` bytes, padded with zero groups.
fn written(value: u128, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = value;
    while rest > 0 || bytes.len() < len.max(1) {
        bytes.push((rest % 128) as u8 | 0x80);
        rest /= 128;
    }
    if let Some(last) = bytes.last_mut() {
        *last &= 0x7F;
    }
    bytes
}

/// Checks the values next to every power of two in every length, beyond 64 bits and ten bytes. Each
/// is also truncated, and followed by more bytes.
#[test]
fn boundary_values_match_the_definition() {
    let mut values = vec![0, u128::from(u64::MAX), 1 << 64, (1 << 70) - 1];
    for bit in 0..72 {
        values.extend([(1u128 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    }
    for value in values {
        for len in 1..=12 {
            let bytes = written(value, len);
            for cut in 0..=bytes.len() {
                check(&bytes[..cut]);
            }
            for behind in [0x00, 0x7F, 0x80, 0xFF] {
                check(&[&bytes[..], &[behind; 3]].concat());
            }
        }
    }
}

/// Checks every value of the tenth byte, after several values of the bytes before it.
#[test]
fn every_tenth_byte_matches_the_definition() {
    for before in [0x80, 0x81, 0xC0, 0xFE, 0xFF] {
        for tenth in 0..=u8::MAX {
            for behind in [&[][..], &[0], &[0x80], &[0xFF, 0xFF]] {
                check(&[&[before; 9][..], &[tenth], behind].concat());
            }
        }
    }
}

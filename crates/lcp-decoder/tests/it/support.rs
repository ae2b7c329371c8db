//! Packs written byte by byte, and the check of what is wrong with one.

use expect_test::Expect;
use lcp_decoder::{DecodeOptions, Error, decode};

use crate::stream::assert_same_when_read;
use crate::walk::{Cuts, assert_same_however_cut};

/// A header with these flags.
pub(crate) fn header(flags: u8) -> Vec<u8> {
    vec![b'L', b'C', b'P', 0, 1, 0, flags, 0]
}

/// An unsigned LEB128 varint.
pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

/// A field of wire type 0.
pub(crate) fn number(id: u64, value: u64) -> Vec<u8> {
    [varint(id), vec![0], varint(value)].concat()
}

/// A field of wire type 1.
pub(crate) fn bytes(id: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    window(id, 1, payload.as_ref())
}

/// A field of wire type 2.
pub(crate) fn nested(id: u64, fields: &[Vec<u8>]) -> Vec<u8> {
    window(id, 2, &fields.concat())
}

fn window(id: u64, wire_type: u8, payload: &[u8]) -> Vec<u8> {
    let length = varint(payload.len() as u64);
    [varint(id), vec![wire_type], length, payload.to_vec()].concat()
}

/// A block frame.
pub(crate) fn frame(block_type: u8, flags: u8, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let (block_type, length) = (varint(block_type.into()), varint(body.len() as u64));
    [block_type, vec![flags], length, body.to_vec()].concat()
}

pub(crate) const END: [u8; 4] = [0xFF, 0x01, 0x00, 0x00];

/// Header, frames, END.
pub(crate) fn pack(frames: &[Vec<u8>]) -> Vec<u8> {
    [header(0), frames.concat(), END.to_vec()].concat()
}

/// CONVERSATION of the user, saying `hi`: 8 bytes of body.
pub(crate) fn hi() -> Vec<u8> {
    frame(0x02, 0, [number(1, 2), bytes(2, "hi")].concat())
}

/// A pack of one block with these fields.
pub(crate) fn one(block_type: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    pack(&[frame(block_type, 0, fields.concat())])
}

/// Checks the first error of `pack`: `code: message (place)`, however it is cut.
#[track_caller]
pub(crate) fn check(pack: &[u8], expected: &Expect) {
    check_with(pack, DecodeOptions::default(), expected);
}

/// [`check`] with options.
#[track_caller]
pub(crate) fn check_with(pack: &[u8], options: DecodeOptions<'_>, expected: &Expect) {
    let error = decode(pack, options).expect_err("a malformed pack");
    check_error(&error, expected);
    #[cfg(all(feature = "rayon", feature = "zstd"))]
    crate::parallel::assert_same_in_parallel(pack, options);
    for cuts in [Cuts::EveryByte, Cuts::Seeded(1), Cuts::Seeded(2)] {
        assert_same_however_cut(pack, options, cuts);
        assert_same_when_read(pack, options, cuts);
    }
}

/// Checks an error alone, where the pack is too large to be cut.
#[track_caller]
pub(crate) fn check_error(error: &Error, expected: &Expect) {
    expected.assert_eq(&format!("{}: {error}\n", error.code()));
}

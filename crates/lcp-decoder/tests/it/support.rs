//! Packs written byte by byte, and the check of what is wrong with one.

use expect_test::Expect;
use lcp_decoder::{DecodeOptions, Error, decode};

pub(crate) use lcp_testkit::wire::{
    END, bytes_field as bytes, frame, header, message_field as nested, pack, varint,
    varint_field as number,
};

use crate::stream::assert_same_when_read;
use crate::walk::{Cuts, assert_same_however_cut};

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

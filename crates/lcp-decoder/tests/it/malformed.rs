//! What is wrong with a stream: header, frames, END.

use expect_test::expect;
use lcp_decoder::{DecodeOptions, blocks};

use crate::support::{END, check, check_with, frame, header, hi, pack};

#[test]
fn invalid_header_is_an_error() {
    check(
        b"",
        &expect![[r#"
            unexpected_eof: unexpected end of input in header, missing bytes: 8 (byte 0)
        "#]],
    );
    check(
        b"LCP\0\x01",
        &expect![[r#"
            unexpected_eof: unexpected end of input in header, missing bytes: 3 (byte 5)
        "#]],
    );
    check(
        b"BC",
        &expect![[r#"
            unexpected_eof: unexpected end of input in header, missing bytes: 6 (byte 2)
        "#]],
    );
    check(
        b"PK\x03\x04\x14\0\0\0\x08\0",
        &expect![[r#"
        bad_magic: not an LCP pack: unknown magic "PK\x03\x04" (byte 0)
    "#]],
    );
    check(
        b"lcp",
        &expect![[r#"
        bad_magic: not an LCP pack: unknown magic "lcp" (byte 0)
    "#]],
    );
    check(
        b"LCP\0\x02\x03\0\0\xFF\x01\0\0",
        &expect![[r#"
        unsupported_version: unsupported version 2.3; this build reads 1.x (byte 4)
    "#]],
    );
    check(
        b"BCP\0\0\0\0\0\xFF\x01\0\0",
        &expect![[r#"
        unsupported_version: unsupported version 0.0; this build reads 1.x (byte 4)
    "#]],
    );
    check(
        b"LCP\0\x01\0\0\x07\xFF\x01\0\0",
        &expect![[r#"
        reserved_header: reserved header bits must be 0, got 0x07 (byte 7)
    "#]],
    );
}

#[test]
fn missing_end_block_is_an_error() {
    check(
        &header(0),
        &expect![[r#"
        missing_end: missing END block at the end of the input (byte 8)
    "#]],
    );
    check(
        &[header(0), hi()].concat(),
        &expect![[r#"
        missing_end: missing END block at the end of the input (byte 19)
    "#]],
    );
}

#[test]
fn truncated_frame_is_an_eof_error() {
    let cut = |bytes: &[u8]| [header(0), hi(), bytes.to_vec()].concat();
    // A type of two bytes, a flag, a length, a length of two bytes, a body.
    check(
        &cut(b"\xFF"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block type, missing bytes: 1 (block 1, byte 20)
        "#]],
    );
    check(
        &cut(b"\x02"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block flags, missing bytes: 1 (block 1, byte 20)
        "#]],
    );
    check(
        &cut(b"\x02\0"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block length, missing bytes: 1 (block 1, byte 21)
        "#]],
    );
    check(
        &cut(b"\x02\0\x80"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block length, missing bytes: 1 (block 1, byte 22)
        "#]],
    );
    check(
        &cut(b"\x02\0\x09\x01\0"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block body, missing bytes: 7 (block 1, byte 24)
        "#]],
    );
    check(
        &cut(b"\xFF\x01"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block flags, missing bytes: 1 (block 1, byte 21)
        "#]],
    );
    check(
        &cut(b"\xFF\x01\0"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in block length, missing bytes: 1 (block 1, byte 22)
        "#]],
    );
}

#[test]
fn end_block_must_be_empty() {
    check(
        &[header(0), b"\xFF\x01\x01\0".to_vec()].concat(),
        &expect![[r#"
        bad_end: END block must have no flags and no body (block 0, byte 8)
    "#]],
    );
    check(
        &[header(0), hi(), b"\xFF\x01\0\x01\0".to_vec()].concat(),
        &expect![[r#"
        bad_end: END block must have no flags and no body (block 1, byte 19)
    "#]],
    );
}

#[test]
fn block_type_must_fit_a_byte() {
    check(
        &[header(0), b"\x80\x02\0\0".to_vec(), END.to_vec()].concat(),
        &expect![[r#"
        out_of_range: block type must be at most 255, got 256 (block 0, byte 8)
    "#]],
    );
}

#[test]
fn varints_must_fit_64_bits() {
    let long = [0x80; 10];
    check(
        &[header(0), long.to_vec(), vec![1]].concat(),
        &expect![[r#"
        bad_varint: varint does not fit in 64 bits (block 0, byte 8)
    "#]],
    );
    // Ten bytes are enough to tell.
    check(
        &[header(0), long.to_vec()].concat(),
        &expect![[r#"
        bad_varint: varint does not fit in 64 bits (block 0, byte 8)
    "#]],
    );
    let past = [&[0xFF; 9][..], &[0x02]].concat();
    check(
        &[header(0), vec![2, 0], past].concat(),
        &expect![[r#"
        bad_varint: varint does not fit in 64 bits (block 0, byte 10)
    "#]],
    );
    // The largest number fits, and is then too long for a body.
    let largest = [&[0xFF; 9][..], &[0x01]].concat();
    check(
        &[header(0), vec![2, 0], largest].concat(),
        &expect![[r#"
        too_large: input exceeds BODY_BYTES_MAX: got 18446744073709551615, maximum 268435456 (block 0, byte 10)
    "#]],
    );
}

/// A length is believed only when the bytes are there: an allocation of any of
/// these would abort the test.
#[test]
fn lengths_beyond_the_input_do_not_allocate() {
    let options = DecodeOptions { body_bytes_max: u64::MAX, ..DecodeOptions::default() };
    let largest = [&[0xFF; 9][..], &[0x01]].concat();
    let claim = [header(0), vec![2, 0], largest.clone(), b"body".to_vec()].concat();
    check_with(
        &claim,
        options,
        &expect![[r#"
            unexpected_eof: unexpected end of input in block body, missing bytes: 18446744073709551611 (block 0, byte 24)
        "#]],
    );
    // The same of a field, and of a summary.
    check(
        &pack(&[frame(2, 0, [b"\x02\x01", &largest[..]].concat())]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 18446744073709551615 (block 0, byte 23)
        "#]],
    );
    check(
        &pack(&[frame(2, 1, &largest)]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in summary, missing bytes: 18446744073709551615 (block 0, byte 21)
        "#]],
    );
}

#[test]
fn blocks_before_an_error_are_returned() {
    let input = [header(0), hi(), hi(), b"\x02\0\x09".to_vec()].concat();
    let mut iter = blocks(&input, DecodeOptions::default());
    assert!(matches!(iter.next(), Some(Ok(_))));
    assert!(matches!(iter.next(), Some(Ok(_))));
    let error = iter.next().expect("an error").expect_err("a truncated body");
    assert_eq!((error.block(), error.offset()), (Some(2), input.len() as u64));
    assert!(iter.next().is_none());
    assert!(iter.header().is_some());
}

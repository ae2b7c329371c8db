//! Limits: what is just within decodes, what is just beyond is named.

use expect_test::expect;
use lcp_decoder::{DecodeOptions, ErrorKind, decode};
use lcp_types::limits;

use crate::support::{bytes, check, check_error, check_with, frame, hi, nested, number, one, pack};

#[test]
fn default_options_use_the_format_limits() {
    let options = DecodeOptions::default();
    let found = [
        options.body_bytes_max, options.body_decompressed_bytes_max,
        options.payload_decompressed_bytes_max, options.total_decompressed_bytes_max,
        options.blocks_max, options.fields_max, options.block_memory_bytes_max,
        options.block_memory_per_byte,
    ];
    let expected = [
        limits::BODY_BYTES_MAX,
        limits::BODY_DECOMPRESSED_BYTES_MAX,
        limits::PAYLOAD_DECOMPRESSED_BYTES_MAX,
        limits::TOTAL_DECOMPRESSED_BYTES_MAX,
        limits::BLOCKS_MAX,
        limits::FIELDS_MAX,
        limits::BLOCK_MEMORY_BYTES_MAX,
        limits::BLOCK_MEMORY_PER_BYTE,
    ];
    assert_eq!(found, expected);
    assert!(!options.strict && options.store.is_none());
}

/// Whoever wants no limits may say so.
#[test]
fn maximum_limits_decode_like_the_defaults() {
    let options = DecodeOptions {
        body_bytes_max: u64::MAX,
        body_decompressed_bytes_max: u64::MAX,
        payload_decompressed_bytes_max: u64::MAX,
        total_decompressed_bytes_max: u64::MAX,
        blocks_max: u64::MAX,
        fields_max: u64::MAX,
        block_memory_bytes_max: u64::MAX,
        block_memory_per_byte: u64::MAX,
        ..DecodeOptions::default()
    };
    let tree =
        [bytes(1, "/"), nested(2, &[bytes(1, "a"), number(2, 0), number(3, 0), number(9, 1)])];
    for input in
        [pack(&[hi(), hi()]), one(3, &tree), one(2, &[number(1, 2), bytes(2, ""), number(77, 1)])]
    {
        let found = decode(&input, options).map(|pack| pack.blocks);
        assert_eq!(found, decode(&input, DecodeOptions::default()).map(|pack| pack.blocks));
        assert!(found.is_ok(), "{found:?}");
    }
}

#[test]
fn body_over_limit_is_rejected() {
    let options = |body_bytes_max| DecodeOptions { body_bytes_max, ..DecodeOptions::default() };
    let input = pack(&[hi()]);
    decode(&input, options(8)).expect("as long as it may be");
    check_with(
        &input,
        options(7),
        &expect![[r#"
        too_large: input exceeds BODY_BYTES_MAX: got 8, maximum 7 (block 0, byte 10)
    "#]],
    );
}

#[test]
fn block_count_over_limit_is_rejected() {
    let options = |blocks_max| DecodeOptions { blocks_max, ..DecodeOptions::default() };
    let input = pack(&[hi(), hi()]);
    decode(&input, options(2)).expect("END is not counted");
    check_with(
        &input,
        options(1),
        &expect![[r#"
        too_large: input exceeds BLOCKS_MAX: got 2, maximum 1 (block 1, byte 19)
    "#]],
    );
}

#[test]
fn nested_fields_count_toward_the_field_limit() {
    let options = |fields_max| DecodeOptions { fields_max, ..DecodeOptions::default() };
    let entry = nested(2, &[bytes(1, "f"), number(2, 0), number(3, 0), number(9, 0)]);
    let input = pack(&[hi(), frame(3, 0, [bytes(1, "/"), entry].concat()), hi()]);
    decode(&input, options(6)).expect("each block for itself");
    check_with(
        &input,
        options(5),
        &expect![[r#"
        too_large: input exceeds FIELDS_MAX: got 6, maximum 5 (block 1, byte 39)
    "#]],
    );
}

#[test]
fn text_over_limit_is_rejected() {
    let max = usize::try_from(limits::TEXT_BYTES_MAX).expect("a small number");
    let code = |len| one(1, &[number(1, 1), bytes(2, vec![b'a'; len]), bytes(3, "")]);
    decode(&code(max), DecodeOptions::default()).expect("as long as it may be");
    let error = decode(&code(max + 1), DecodeOptions::default()).expect_err("too long");
    check_error(
        &error,
        &expect![[r#"
        too_large: input exceeds TEXT_BYTES_MAX: got 1048577, maximum 1048576 (block 0, byte 21)
    "#]],
    );
    assert!(error.is_limit());
}

#[test]
fn summary_over_limit_is_rejected() {
    let max = usize::try_from(limits::SUMMARY_BYTES_MAX).expect("a small number");
    let with = |len: usize| {
        let summary = [crate::support::varint(len as u64), vec![b'a'; len]].concat();
        pack(&[frame(2, 1, [summary, number(1, 2), bytes(2, "hi")].concat())])
    };
    decode(&with(max), DecodeOptions::default()).expect("as long as it may be");
    let error = decode(&with(max + 1), DecodeOptions::default()).expect_err("too long");
    check_error(
        &error,
        &expect![[r#"
        too_large: input exceeds SUMMARY_BYTES_MAX: got 1048577, maximum 1048576 (block 0, byte 16)
    "#]],
    );
}

/// The commands exit with 5 on a limit, with 1 where something outside of the
/// pack is missing, else with 3.
#[test]
fn errors_are_classified_as_limit_or_external() {
    let classes = |input: &[u8]| {
        let error = decode(input, DecodeOptions::default()).expect_err("an error");
        (error.is_limit(), error.is_external())
    };
    let too_long = [&pack(&[])[..8], b"\x02\0\x81\x80\x80\x80\x01"].concat();
    check(
        &too_long,
        &expect![[r#"
        too_large: input exceeds BODY_BYTES_MAX: got 268435457, maximum 268435456 (block 0, byte 10)
    "#]],
    );
    assert_eq!(classes(&too_long), (true, false));
    assert_eq!(classes(&pack(&[frame(2, 0b100, [7; 32])])), (false, true));
    assert_eq!(classes(b"no pack"), (false, false));
}

/// Every code of RFC 0001 §10.3, in its order.
#[test]
fn error_codes_are_stable() {
    let expected = [
        "bad_magic", "unsupported_version", "reserved_header", "unexpected_eof", "missing_end",
        "bad_varint", "out_of_range", "bad_end", "bad_reference", "unknown_wire_type",
        "wrong_wire_type", "missing_field", "not_utf8", "too_large", "bad_compression",
        "compression_unsupported", "no_store", "unresolved_reference", "hash_mismatch", "store",
        "trailing_data",
    ];
    assert_eq!(ErrorKind::CODES, expected);
}

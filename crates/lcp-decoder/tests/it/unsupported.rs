//! Without the `zstd` feature compressed packs are a clear error.

use expect_test::expect;

use crate::support::{END, check, frame, header, hi, pack};

#[test]
fn compressed_block_without_zstd_is_an_error() {
    check(
        &pack(&[hi(), frame(2, 0b10, b"zstd")]),
        &expect![[r#"
        compression_unsupported: cannot decompress: built without the `zstd` feature (block 1, byte 22)
    "#]],
    );
}

#[test]
fn compressed_payload_without_zstd_is_an_error() {
    check(
        &[header(1), END.to_vec()].concat(),
        &expect![[r#"
        compression_unsupported: cannot decompress: built without the `zstd` feature (byte 6)
    "#]],
    );
}

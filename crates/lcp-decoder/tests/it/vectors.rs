//! The test vectors of RFC 0001, made by an independent writer.

use lcp_decoder::{DecodeOptions, Header, Magic, decode};
use lcp_testkit::hex;
use lcp_types::{Annotation, Block, DiffHunk, FileEntry, Lang, Priority, Role};

#[track_caller]
fn check(digits: &str, expected: &[Block<'_>]) {
    let bytes = hex(digits);
    let pack = decode(&bytes, DecodeOptions::default()).expect("a vector of the RFC");
    assert_eq!(pack.blocks, expected);
    assert_eq!(pack.warnings, []);
    let (magic, minor, flags) = (Magic::Lcp, 0, 0);
    assert_eq!(pack.header, Header { magic, minor, flags });
}

#[test]
fn rfc_vector_1_decodes_code_and_priority() {
    check(
        "4c43500001000000 010011 010001 020104742e7273 0301042f2f2078
         08000a 010000 020001 03010102 ff010000",
        &[
            Block::code(Lang::Rust, "t.rs", "// x"),
            Block::new(Annotation::priority(0, Priority::High)),
        ],
    );
}

#[test]
fn rfc_vector_2_decodes_summary_turn_tree_and_diff() {
    check(
        "4c43500001000000 010113 0153 010001 020104742e7273 0301042f2f2078
         02000d 010002 0201026869 0301026331
         03001e 0101012f 020217 01010164 020001 030000 04020a 01010166 020000 030003
         070013 01010170 02020c 010001 020002 0301032b610a ff010000",
        &[
            Block::code(Lang::Rust, "t.rs", "// x").with_summary("S"),
            Block::conversation_with_call(Role::User, "hi", "c1"),
            Block::file_tree("/", vec![FileEntry::directory("d", vec![FileEntry::file("f", 3)])]),
            Block::diff("p", vec![DiffHunk::new(1, 2, "+a\n")]),
        ],
    );
}

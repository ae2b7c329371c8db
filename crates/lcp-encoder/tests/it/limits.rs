//! Limits that need large packs: what is written at the limit is read.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{EncodeOptions, encode};
use lcp_types::{Block, BlockContent, DiffHunk, limits};

/// A DIFF of `hunks` hunks: a field for the path, four for each hunk.
fn diff(hunks: u64) -> Block<'static> {
    Block::diff("", (0..hunks).map(|_| DiffHunk::new(0, 0, "")).collect())
}

#[test]
fn fields_of_a_block() {
    let most = (limits::FIELDS_MAX - 1) / 4;
    let bytes = encode(&[diff(most)], EncodeOptions::default()).expect("within the limits");
    let pack = decode(&bytes, DecodeOptions::default()).expect("what is written is read");
    let BlockContent::Diff(found) = &pack.blocks[0].content else {
        panic!("a DIFF was written");
    };
    assert_eq!(found.hunks.len() as u64, most);
    let error = encode(&[diff(most + 1)], EncodeOptions::default()).expect_err("one too many");
    assert_eq!(error.to_string(), "a block is too large: FIELDS_MAX is 4194304, it has 4194305");
}

#[test]
fn texts_and_summaries() {
    let longest = "a".repeat(usize::try_from(limits::TEXT_BYTES_MAX).expect("a small number"));
    let block = Block::diff(longest.as_str(), vec![]).with_summary(longest.as_str());
    let bytes = encode(&[block], EncodeOptions::default()).expect("within the limits");
    assert!(decode(&bytes, DecodeOptions::default()).is_ok());
}

//! What a prompt cache has seen stays (RFC 0006 §2, law 5).

use lcp_dedup::{DedupLevel, Options, Survivor};
use lcp_types::{Block, DuplicateKind, Role};
use proptest::prelude::*;

use crate::laws::session;
use crate::support::{check, chunk, contents, counter, covered, rank, with};

fn first(level: DedupLevel) -> Options {
    Options { survivor: Survivor::First, ..Options::new(level) }
}

#[test]
fn earlier_block_stays_despite_lower_rank() {
    let blocks = [chunk("a.rs", 1, 9), chunk("b.rs", 1, 9), rank(1, "0.9")];
    assert_eq!(covered(&with(&blocks, &first(DedupLevel::Exact))), [(1, DuplicateKind::Equal, 0)]);
}

#[test]
fn later_chunk_drops_lines_shown_earlier() {
    let blocks = [chunk("a.rs", 1, 50), chunk("a.rs", 25, 75), chunk("a.rs", 60, 70)];
    let found = with(&blocks, &first(DedupLevel::Overlap));
    let kept = [(1, DuplicateKind::Overlapping, 0), (2, DuplicateKind::Contained, 1)];
    assert_eq!(covered(&found), kept);
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("a.rs", 1, 50), chunk("a.rs", 51, 75)]);
}

#[test]
fn user_turns_are_never_covered() {
    let long = "a pasted line that is long enough to be worth another\n".repeat(5);
    let turn = || Block::conversation(Role::User, long.clone());
    // Neither the newest nor one before it.
    let blocks = [turn(), turn(), turn(), Block::conversation(Role::Assistant, "Yes.")];
    assert!(contents(&with(&blocks, &first(DedupLevel::Near)).to_pack_blocks(&blocks)).len() == 4);
    assert!(covered(&with(&blocks, &first(DedupLevel::Near))).is_empty());
}

proptest! {
    #[test]
    fn block_result_depends_only_on_earlier_blocks(
        blocks in session(), cut in any::<prop::sample::Index>(),
    ) {
        // Tags that follow a block are said with it.
        let mut cut = cut.index(blocks.len() + 1);
        while blocks.get(cut).is_some_and(|block| block.content.is_metadata()) {
            cut += 1;
        }
        for level in DedupLevel::ALL {
            let whole = lcp_dedup::dedup(&blocks, &first(level), &counter()).unwrap();
            let before = lcp_dedup::dedup(&blocks[..cut], &first(level), &counter()).unwrap();
            check(&blocks, &whole);
            let of_whole: Vec<_> =
                whole.duplicates.covered.iter().filter(|(index, _)| **index < cut).collect();
            prop_assert_eq!(of_whole, before.duplicates.covered.iter().collect::<Vec<_>>());
            let replaced: Vec<_> =
                whole.changed_blocks.iter().filter(|(index, _)| **index < cut).collect();
            prop_assert_eq!(replaced, before.changed_blocks.iter().collect::<Vec<_>>());
        }
    }
}

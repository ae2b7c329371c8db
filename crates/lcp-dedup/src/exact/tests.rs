use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};

use lcp_types::{Block, Lang};

use super::*;
use crate::options::{DedupLevel, Options};

/// A hasher that gives every value the same hash.
#[derive(Default)]
struct Constant;

impl Hasher for Constant {
    fn finish(&self) -> u64 {
        7
    }
    fn write(&mut self, _: &[u8]) {}
}

#[test]
fn hash_collision_removes_only_equal_blocks() {
    let text = |i: u32| format!("fn f{}() {{}}\n", i % 40);
    let blocks: Vec<_> =
        (0..60).map(|i| Block::code(Lang::Rust, format!("{i}.rs"), text(i))).collect();
    let (metas, options) = (BTreeMap::new(), Options::new(DedupLevel::Exact));
    let mut state = DedupState::new(&blocks, &metas, &options);
    replace_exact(&mut state, &BuildHasherDefault::<Constant>::default());
    let covered: Vec<_> = (0..60).filter(|&i| state.outcomes[i].is_some()).collect();
    assert_eq!(covered, (40..60).collect::<Vec<_>>());
    assert!(covered.iter().all(|&i| state.root(i).0 == i - 40));
}

/// Texts of the same length with the same ends are hashed as a whole.
#[test]
fn texts_that_differ_in_the_middle_are_not_duplicates() {
    let same = "x".repeat(200);
    let text = |i: u32| format!("{same}{:03}{same}", i % 40);
    let blocks: Vec<_> =
        (0..60).map(|i| Block::code(Lang::Rust, format!("{i}.rs"), text(i))).collect();
    let (metas, options) = (BTreeMap::new(), Options::new(DedupLevel::Exact));
    let mut state = DedupState::new(&blocks, &metas, &options);
    replace_exact(&mut state, &std::hash::RandomState::new());
    let covered: Vec<_> = (0..60).filter(|&i| state.outcomes[i].is_some()).collect();
    assert_eq!(covered, (40..60).collect::<Vec<_>>());
}

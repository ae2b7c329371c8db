//! Tests of the depth, order and counts of trees.

use super::*;
use lcp_types::BlockContent;
use proptest::prelude::*;

fn labels(entries: &[FileEntry<'_>], above: &str, into: &mut Vec<(String, u64)>) {
    for entry in entries {
        let path = format!("{above}{}", entry.name);
        if entry.children.is_empty() {
            into.push((path, entry.size));
        } else {
            labels(&entry.children, &format!("{path}/"), into);
        }
    }
}

fn tree(files: &[(&str, u64)]) -> Block<'static> {
    let files: Vec<_> = files.iter().map(|(label, size)| ((*label).to_owned(), *size)).collect();
    block(&files)
}

fn check(files: &[(&str, u64)]) {
    let block = tree(files);
    let BlockContent::FileTree(tree) = &block.content else { unreachable!() };
    let mut all = Vec::new();
    labels(&tree.entries, "", &mut all);
    let wanted: Vec<_> = files.iter().map(|(label, size)| ((*label).to_owned(), *size)).collect();
    assert_eq!(all, wanted);
    let pack = lcp_encoder::encode([&block], lcp_encoder::EncodeOptions::default()).unwrap();
    let pack = lcp_decoder::decode(&pack, lcp_decoder::DecodeOptions::default()).unwrap();
    assert_eq!(pack.blocks[0], block);
}

#[test]
fn deep_tree_is_flattened_without_losing_files() {
    for depth in [1, 62, 63, 64, 65, 66, 300] {
        let deep = vec!["d"; depth].join("/");
        check(&[(&format!("{deep}/a"), 1), (&format!("{deep}/b"), 2), ("z", 3)]);
    }
}

#[test]
fn summary_counts_files_folders_and_bytes() {
    let block = tree(&[("a/b", 1), ("a/c/d", 2), ("e", 3)]);
    assert_eq!(block.summary.as_deref(), Some("3 files in 3 folders, 6 bytes"));
}

#[test]
fn unreadable_folder_is_in_the_tree() {
    let block = tree(&[("a/", 0), ("b", 1)]);
    let entries = vec![FileEntry::directory("a", vec![]), FileEntry::file("b", 1)];
    assert_eq!(
        block,
        Block::file_tree(ROOT, entries).with_summary("1 files in 2 folders, 1 bytes")
    );
}

proptest! {
    #[test]
    fn tree_lists_all_files_in_order(
        paths in proptest::collection::btree_map("[ab]{1,2}(/[ab]{1,2}){0,4}/f", 0_u64..9, 0..30)
    ) {
        let mut files: Vec<_> = paths.iter().map(|(path, size)| (path.as_str(), *size)).collect();
        files.sort_by(|a, b| crate::paths::compare_labels(a.0, b.0));
        check(&files);
    }
}

//! Tokens by folder: the files of a pack, with sums for their folders.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::limits::DEPTH_MAX;
use lcp_types::{Block, BlockContent, BlockMeta};
use serde::Serialize;

/// A folder or a file, with the blocks that have its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreeEntry {
    /// Its whole path. That of a folder ends with `/`; that of the whole tree is empty.
    pub path: String,
    /// The number of folders around it.
    pub depth: usize,
    /// The number of blocks.
    pub blocks: u64,
    /// Tokens of their contents.
    pub content_tokens: u64,
}

impl TreeEntry {
    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        let body = self.path.strip_suffix('/').unwrap_or(&self.path);
        &self.path[body.rfind('/').map_or(0, |slash| slash + 1)..]
    }
}

/// A folder or a file in the tree.
#[derive(Debug, Default)]
struct Node {
    blocks: u64,
    content_tokens: u64,
    /// The entries of a folder by name. The names of folders end with `/`.
    entries: BTreeMap<String, Node>,
}

/// Returns the path of the file that a block shows; `None` if its type has no path.
pub(crate) fn file_path(block: &Block<'_>, meta: &BlockMeta<'_>) -> Option<String> {
    let is_file = match block.content {
        BlockContent::Code(_) | BlockContent::Document(_) | BlockContent::Diff(_) => true,
        BlockContent::StructuredData(_) => meta.path.is_some(),
        _ => false,
    };
    is_file.then(|| meta.label(block).into_owned())
}

/// Sums up the tokens of files for all folders.
///
/// The first entry is the whole tree. The entries of a folder follow it, sorted by tokens, largest
/// first. A path with more than [`DEPTH_MAX`] folders is a file with a long name in the last of
/// them.
pub(crate) fn token_tree(files: impl IntoIterator<Item = (String, u64)>) -> Vec<TreeEntry> {
    let mut root = Node::default();
    for (path, tokens) in files {
        let mut node = &mut root;
        let mut rest = path.as_str();
        node.add(tokens);
        for depth in 0..=DEPTH_MAX {
            let folder = rest.find('/').filter(|_| depth < DEPTH_MAX);
            let name;
            (name, rest) = rest.split_at(folder.map_or(rest.len(), |slash| slash + 1));
            if name.is_empty() {
                break;
            }
            // `entry` would need an owned name for each of the many existing folders.
            if !node.entries.contains_key(name) {
                node.entries.insert(name.to_owned(), Node::default());
            }
            let Some(entry) = node.entries.get_mut(name) else { break };
            node = entry;
            node.add(tokens);
        }
    }
    let mut entries = Vec::new();
    root.list("", 0, &mut entries);
    entries
}

impl Node {
    fn add(&mut self, tokens: u64) {
        self.blocks += 1;
        self.content_tokens += tokens;
    }

    /// Appends this node and its entries. The recursion has at most [`DEPTH_MAX`] + 1 levels.
    fn list(&self, path: &str, depth: usize, all: &mut Vec<TreeEntry>) {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(_, node)| Reverse(node.content_tokens));
        let Self { blocks, content_tokens, .. } = *self;
        all.push(TreeEntry { path: path.to_owned(), depth, blocks, content_tokens });
        // The depth of the whole tree and of its entries is 0.
        let depth = depth + usize::from(!path.is_empty());
        for (name, node) in entries {
            node.list(&format!("{path}{name}"), depth, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, u64)]) -> Vec<(String, usize, u64, u64)> {
        let files = files.iter().map(|(path, tokens)| ((*path).to_owned(), *tokens));
        let entry =
            |entry: TreeEntry| (entry.path, entry.depth, entry.blocks, entry.content_tokens);
        token_tree(files).into_iter().map(entry).collect()
    }

    fn entry(path: &str, depth: usize, blocks: u64, tokens: u64) -> (String, usize, u64, u64) {
        (path.to_owned(), depth, blocks, tokens)
    }

    #[test]
    fn folders_have_the_sums_of_their_files_and_are_sorted_by_tokens() {
        let files = [("a.md", 7), ("src/a/x.rs", 1), ("src/b.rs", 5), ("src/a/y.rs", 3)];
        // A second block of the same file.
        let files = [&files[..], &[("src/b.rs", 2)]].concat();
        let expected = [
            entry("", 0, 5, 18),
            entry("src/", 0, 4, 11),
            entry("src/b.rs", 1, 2, 7),
            entry("src/a/", 1, 2, 4),
            entry("src/a/y.rs", 2, 1, 3),
            entry("src/a/x.rs", 2, 1, 1),
            entry("a.md", 0, 1, 7),
        ];
        assert_eq!(tree(&files), expected);
    }

    #[test]
    fn odd_paths_lose_no_tokens() {
        let files = [("/a", 1), ("a//b", 2), ("a", 4), ("a/", 8), ("", 16)];
        let expected = [
            entry("", 0, 5, 31),
            entry("a/", 0, 2, 10),
            entry("a//", 1, 1, 2),
            entry("a//b", 2, 1, 2),
            entry("a", 0, 1, 4),
            entry("/", 0, 1, 1),
            entry("/a", 1, 1, 1),
        ];
        assert_eq!(tree(&files), expected);
        let names = token_tree([("a//b".to_owned(), 1)]);
        let names: Vec<_> = names.iter().map(TreeEntry::name).collect();
        assert_eq!(names, ["", "a/", "/", "b"]);
    }

    #[test]
    fn depth_of_hostile_paths_is_limited() {
        let path = "a/".repeat(1_000_000) + "b";
        let entries = token_tree([(path.clone(), 1)]);
        assert_eq!(entries.len(), DEPTH_MAX as usize + 2);
        let last = &entries[entries.len() - 1];
        assert_eq!((last.path.as_str(), last.depth), (path.as_str(), DEPTH_MAX as usize));
    }
}

//! Builds the FILE_TREE block of a pack.

use lcp_types::{Block, FileEntry, limits};

/// The maximum number of nested folders. Deeper files are entries of the last folder, with the rest
/// of their path as the name.
const LEVELS: usize = limits::DEPTH_MAX as usize - 1;

/// The name of the root of the tree.
const ROOT: &str = ".";

/// A folder whose entries are not complete yet.
struct OpenFolder<'f> {
    name: &'f str,
    entries: Vec<FileEntry<'static>>,
}

/// Returns the tree of these labels and sizes, which must be sorted. A label that ends with a slash
/// is a folder.
pub(crate) fn block(files: &[(String, u64)]) -> Block<'static> {
    let mut open = vec![OpenFolder { name: ROOT, entries: Vec::new() }];
    let (mut folders, mut bytes) = (1, 0_u64);
    for (label, size) in files {
        let (path, name) = split(label);
        let shared = open[1..].iter().zip(&path).take_while(|(open, name)| open.name == **name);
        let shared = shared.count();
        while open.len() > shared + 1 {
            close(&mut open);
        }
        for name in &path[shared..] {
            open.push(OpenFolder { name, entries: Vec::new() });
            folders += 1;
        }
        if let Some(last) = open.last_mut().filter(|_| !name.is_empty()) {
            last.entries.push(FileEntry::file(name.to_owned(), *size));
        }
        bytes = bytes.saturating_add(*size);
    }
    while open.len() > 1 {
        close(&mut open);
    }
    let entries = open.pop().map(|root| root.entries).unwrap_or_default();
    let count = files.iter().filter(|(label, _)| !label.ends_with('/')).count();
    let summary = format!("{count} files in {folders} folders, {bytes} bytes");
    Block::file_tree(ROOT, entries).with_summary(summary)
}

fn close(open: &mut Vec<OpenFolder<'_>>) {
    let Some(OpenFolder { name, entries }) = open.pop() else { return };
    if let Some(above) = open.last_mut() {
        above.entries.push(FileEntry::directory(name.to_owned(), entries));
    }
}

/// Splits a label into its folders, at most [`LEVELS`], and the rest.
fn split(label: &str) -> (Vec<&str>, &str) {
    let mut parts: Vec<_> = label.splitn(LEVELS + 1, '/').collect();
    // The rest is the file name, unless the label has more folders than that.
    let name = parts.pop().unwrap_or(label);
    (parts, name)
}

#[cfg(test)]
mod tests;

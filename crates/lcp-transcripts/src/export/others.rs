//! What is said of blocks that are no conversation.

use std::borrow::Cow;
use std::fmt::Write;

use lcp_types::{Block, BlockContent, FileEntry};

/// Levels of a file tree that are shown; deeper ones cannot be in a pack.
const DEPTH_MAX: usize = lcp_types::limits::DEPTH_MAX as usize;

/// A heading and the content; `None` for blocks that hold no text.
pub(super) fn text<'b>(block: &'b Block<'_>) -> Option<Cow<'b, str>> {
    let under = |heading: &str, content: &str| match heading {
        "" => content.to_owned(),
        heading => format!("{heading}\n{content}"),
    };
    Some(match &block.content {
        BlockContent::Code(code) => {
            let heading = match (code.line_start, code.line_end) {
                (Some(first), Some(last)) => format!("{} ({first}-{last})", code.path),
                _ => code.path.to_string(),
            };
            under(&heading, &code.content.to_str_lossy()).into()
        }
        BlockContent::Document(document) => {
            under(&document.title, &document.content.to_str_lossy()).into()
        }
        BlockContent::Diff(diff) => {
            let mut text = diff.path.to_string();
            for hunk in &diff.hunks {
                let lines = hunk.lines.to_str_lossy();
                let _ = write!(text, "\n@@ -{} +{} @@\n{lines}", hunk.old_start, hunk.new_start);
            }
            text.into()
        }
        BlockContent::FileTree(tree) => {
            let mut text = tree.root.to_string();
            entries(&tree.entries, 1, &mut text);
            text.into()
        }
        other => other.text()?.to_str_lossy(),
    })
}

fn entries(list: &[FileEntry<'_>], depth: usize, text: &mut String) {
    for entry in list {
        let _ = write!(text, "\n{}{}", "  ".repeat(depth), entry.name);
        if depth <= DEPTH_MAX {
            entries(&entry.children, depth + 1, text);
        }
    }
}

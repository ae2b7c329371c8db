//! What stands in the place of a covered block.

use lcp_types::{Block, BlockContent, Relation};

/// Characters of a label; of a longer one both ends are given.
const LABEL_CHARS_MAX: usize = 120;

/// The line that refers to `by`, which stands above or below; no newline.
pub(crate) fn line(by: &Block<'_>, above: bool, relation: Relation) -> String {
    let label = label(by);
    let place = if above { "above" } else { "below" };
    match relation {
        Relation::Superseded => format!("[outdated: the newer one is {label} {place}]"),
        Relation::Equal => format!("[the same as {label} {place}]"),
        Relation::Near => format!("[{label} {place}, but for these changes]"),
        _ => format!("[all of it stands in {label} {place}]"),
    }
}

/// What a model knows a block by, on one line.
fn label(block: &Block<'_>) -> String {
    let name = match &block.content {
        BlockContent::Code(code) => match (code.line_start, code.line_end) {
            (Some(first), Some(last)) => format!("{}:{first}-{last}", code.path),
            _ => code.path.to_string(),
        },
        BlockContent::Diff(diff) => format!("the diff of {}", diff.path),
        BlockContent::ToolResult(result) => format!("the result of {}", result.tool_name),
        BlockContent::Document(document) => document.title.to_string(),
        BlockContent::FileTree(tree) => format!("the files of {}", tree.root),
        BlockContent::Conversation(turn) => {
            format!("the turn of {}", turn.role.name().unwrap_or("another"))
        }
        BlockContent::Extension(extension) => extension.type_name.to_string(),
        _ => String::new(),
    };
    let clean = |c: char| if c.is_control() || c.is_whitespace() { ' ' } else { c };
    let name: String = name.chars().map(clean).collect();
    let name = name.trim();
    if name.is_empty() {
        return format!("the {}", block.block_type());
    }
    let chars = name.chars().count();
    if chars <= LABEL_CHARS_MAX {
        return name.to_owned();
    }
    let half = LABEL_CHARS_MAX / 2;
    let head: String = name.chars().take(half).collect();
    let tail: String = name.chars().skip(chars - half).collect();
    format!("{head}…{tail}")
}

/// A diff against the block `by`, with the line that names it.
pub(crate) fn diff(by: &Block<'_>, above: bool, hunks: &[u8]) -> Vec<u8> {
    let mut text = line(by, above, Relation::Near).into_bytes();
    text.push(b'\n');
    text.extend_from_slice(hunks);
    text
}

//! Naive Markdown: files and chat turns in sequence, as people paste them without packs. It is the
//! baseline for the token counts of LCP.

use lcp_driver::{content_text, fence_info};
use lcp_types::{Block, BlockContent, BlockMeta};

/// Returns a block as naive Markdown; empty for annotations and other metadata.
///
/// A chat turn is `**role:** text`. Any other block is a heading with its path, title or name,
/// followed by the content in a fence with its language. A block without text is only the heading.
pub(crate) fn block_to_markdown(block: &Block<'_>, meta: &BlockMeta<'_>) -> String {
    if block.content.is_metadata() {
        return String::new();
    }
    let label = meta.label(block);
    let text = content_text(&block.content);
    if let BlockContent::Conversation(_) = block.content {
        return format!("**{label}:** {}\n\n", text.unwrap_or_default());
    }
    let Some(text) = text else { return format!("## {label}\n\n") };
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("## {label}\n\n```{}\n{text}{newline}```\n\n", fence_info(&block.content, None))
}

/// Returns all blocks of a pack as naive Markdown.
pub fn pack_to_markdown(blocks: &[Block<'_>]) -> String {
    let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
    blocks.iter().zip(&metas).map(|(block, meta)| block_to_markdown(block, meta)).collect()
}

#[cfg(test)]
mod tests {
    use lcp_types::{Annotation, Lang, Priority, Role};

    use super::*;

    #[test]
    fn markdown_has_headings_fences_and_turns() {
        let blocks = [
            Block::code(Lang::Rust, "src/main.rs", "fn main() {}"),
            Block::new(Annotation::priority(0, Priority::High)),
            Block::conversation(Role::User, "Why?"),
        ];
        let expected = "## src/main.rs\n\n```rust\nfn main() {}\n```\n\n**user:** Why?\n\n";
        assert_eq!(pack_to_markdown(&blocks), expected);
    }
}

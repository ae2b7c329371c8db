//! Visits every text of a block that can be rendered.

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, CarriedLevel, CowBytes};

/// Returns the replacement of a text, or `None` to leave it unchanged.
type Change<'c> = dyn FnMut(&[u8]) -> Option<Vec<u8>> + 'c;

/// Calls `change` with every text of the block that can be rendered.
pub(super) fn visit(block: &mut Block<'_>, change: &mut Change<'_>) {
    if let Some(summary) = &mut block.summary {
        label(summary, change);
    }
    if let Some(content) = block.content.text_mut() {
        bytes(content, change);
    }
    match &mut block.content {
        BlockContent::Code(code) => label(&mut code.path, change),
        BlockContent::Conversation(turn) => optional(&mut turn.tool_call_id, change),
        BlockContent::FileTree(tree) => {
            label(&mut tree.root, change);
            // A stack replaces recursion, because untrusted trees can be deep.
            let mut left: Vec<_> = tree.entries.iter_mut().rev().collect();
            while let Some(entry) = left.pop() {
                label(&mut entry.name, change);
                left.extend(entry.children.iter_mut().rev());
            }
        }
        BlockContent::ToolResult(result) => {
            label(&mut result.tool_name, change);
            optional(&mut result.schema_hint, change);
        }
        BlockContent::Document(document) => label(&mut document.title, change),
        BlockContent::StructuredData(data) => optional(&mut data.schema, change),
        BlockContent::Diff(diff) => {
            label(&mut diff.path, change);
            diff.hunks.iter_mut().for_each(|hunk| bytes(&mut hunk.lines, change));
        }
        BlockContent::EmbeddingRef(embedding) => {
            bytes(&mut embedding.vector_id, change);
            label(&mut embedding.model, change);
        }
        BlockContent::Image(image) => label(&mut image.alt_text, change),
        // The names of LCP's own extensions are never shown.
        BlockContent::Extension(extension) if extension.namespace != CarriedLevel::NAMESPACE => {
            label(&mut extension.namespace, change);
            label(&mut extension.type_name, change);
        }
        BlockContent::Annotation(annotation) => bytes(&mut annotation.value, change),
        BlockContent::Extension(_) | BlockContent::Raw(_) => {}
    }
}

fn optional(text: &mut Option<Cow<'_, str>>, change: &mut Change<'_>) {
    if let Some(text) = text {
        label(text, change);
    }
}

fn label(text: &mut Cow<'_, str>, change: &mut Change<'_>) {
    if let Some(changed) = change(text.as_bytes()) {
        *text = CowBytes::from(changed).to_str_lossy().into_owned().into();
    }
}

fn bytes(text: &mut CowBytes<'_>, change: &mut Change<'_>) {
    if let Some(changed) = change(text.as_slice()) {
        *text = changed.into();
    }
}

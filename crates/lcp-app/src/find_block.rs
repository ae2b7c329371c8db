//! Access to blocks of a pack by index or label, and to the bytes of their contents.

use std::borrow::Cow;

use lcp_driver::{content_text, escape_control};
use lcp_packfile::PackScan;
use lcp_types::{Block, BlockContent, BlockMeta};

use crate::error::{Error, ErrorKind, Result};

/// The maximum number of labels in a hint.
const NEAR_MAX: usize = 3;

/// The minimum similarity of labels for a hint, from 0 to 1.
const NEAR: f64 = 0.8;

/// The maximum number of blocks in an error about an ambiguous label.
const LISTED_MAX: usize = 20;

/// The hint for an unknown block.
const LISTS: &str = "run `lcp inspect` to list the blocks";

/// Returns the index of the block with this index or label.
///
/// # Errors
///
/// Returns an error if no block or several blocks match.
pub fn find_block(pack: &PackScan<'_>, wanted: &str) -> Result<usize> {
    let is_called = || labels(pack).iter().any(|(_, label)| label == wanted);
    match wanted.parse() {
        // A number that is not an index may be a label.
        Ok(index) if index < pack.blocks.len() || !is_called() => block_at(pack, index),
        _ => block_labelled(pack, wanted),
    }
}

/// Returns the index if the pack has it.
///
/// # Errors
///
/// Returns an error if the index is out of range.
pub fn block_at(pack: &PackScan<'_>, index: usize) -> Result<usize> {
    let blocks = pack.blocks.len();
    if index < blocks {
        return Ok(index);
    }
    let message = format!(
        "block {index} does not exist (the pack has {})",
        lcp_driver::plural(blocks, "block")
    );
    Err(Error::new(ErrorKind::Usage, message).with_hint(LISTS))
}

/// Returns the index of the block with this label.
///
/// # Errors
///
/// Returns an error if no block or several blocks have the label.
pub fn block_labelled(pack: &PackScan<'_>, wanted: &str) -> Result<usize> {
    let labels = labels(pack);
    let found: Vec<_> = labels.iter().filter(|(_, label)| label == wanted).collect();
    match found[..] {
        [(index, _)] => Ok(*index),
        [] => Err(unknown(wanted, labels.iter().map(|(_, label)| label.as_str()))),
        _ => Err(ambiguous(pack, wanted, found.iter().map(|(index, _)| *index))),
    }
}

/// Returns the label of the block at an index; for structured data, its path.
#[must_use]
pub fn block_label(pack: &PackScan<'_>, index: usize) -> Option<String> {
    let block = pack.blocks.get(index)?;
    let meta = BlockMeta::resolve(index as u64, block, &pack.blocks);
    Some(meta.label(block).into_owned())
}

/// Returns the labels of readable blocks.
fn labels(pack: &PackScan<'_>) -> Vec<(usize, String)> {
    let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
    (pack.blocks.iter().zip(&pack.frames).zip(&metas))
        .enumerate()
        .filter(|(_, ((block, frame), _))| frame.problem.is_none() && !block.content.is_metadata())
        .map(|(index, ((block, _), meta))| (index, meta.label(block).into_owned()))
        .collect()
}

fn ambiguous(
    pack: &PackScan<'_>,
    label: &str,
    indices: impl ExactSizeIterator<Item = usize>,
) -> Error {
    let count = indices.len();
    let listed = indices.take(LISTED_MAX).map(|index| {
        let block_type = pack.frames[index].block_type;
        format!("{index} ({block_type})")
    });
    let mut listed = listed.collect::<Vec<_>>().join(", ");
    if count > LISTED_MAX {
        listed += ", …";
    }
    let message = format!("{count} blocks have the label {}: {listed}", escape_control(label));
    Error::new(ErrorKind::Usage, message).with_hint("pass the index of one of them")
}

fn unknown<'b>(wanted: &str, labels: impl Iterator<Item = &'b str>) -> Error {
    let failure =
        Error::new(ErrorKind::Usage, format!("no block has the label {}", escape_control(wanted)));
    let near = near(wanted, labels);
    match &near[..] {
        [] => failure.with_hint(LISTS),
        near => failure.with_hint(format!("did you mean {}?", near.join(" or "))),
    }
}

/// Returns the labels that are similar to the wanted one, most similar first.
fn near<'b>(wanted: &str, labels: impl Iterator<Item = &'b str>) -> Vec<String> {
    let score = |label: &str| {
        let is_end = !wanted.is_empty()
            && label.strip_suffix(wanted).is_some_and(|before| before.ends_with('/'));
        if is_end { 1.0 } else { strsim::jaro_winkler(wanted, label) }
    };
    let scored = labels.filter(|label| !label.is_empty()).map(|label| (score(label), label));
    let mut scored: Vec<_> = scored.filter(|(score, _)| *score >= NEAR).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(NEAR_MAX).map(|(_, label)| escape_control(label).into_owned()).collect()
}

/// Returns the bytes of the content of a block: the text of a diff or a tree, the value of an
/// annotation, the ID of an embedding reference.
pub fn content_bytes<'b>(block: &'b Block<'_>) -> Cow<'b, [u8]> {
    match &block.content {
        BlockContent::Image(image) => image.data.as_slice().into(),
        BlockContent::Annotation(annotation) => annotation.value.as_slice().into(),
        BlockContent::EmbeddingRef(embedding) => embedding.vector_id.as_slice().into(),
        BlockContent::Raw(raw) => raw.body.as_slice().into(),
        content => match content.text() {
            Some(text) => text.as_slice().into(),
            None => content_text(content).map_or(Cow::default(), |text| {
                let mut text = text.into_owned();
                if !text.is_empty() {
                    text.push('\n');
                }
                text.into_bytes().into()
            }),
        },
    }
}

/// Returns the indices of blocks that have a tag with this key.
#[cfg(feature = "messages")]
pub(crate) fn tagged(blocks: &[Block<'_>], key: &str) -> std::collections::BTreeSet<usize> {
    let annotations = blocks.iter().filter_map(Block::as_annotation);
    let tagged = annotations.filter(|of| of.as_tag().is_some_and(|tag| tag.key == key));
    tagged.filter_map(|of| usize::try_from(of.target_block_id).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_suggests_labels_with_equal_ending_or_similar_name() {
        let labels = ["src/a/main.rs", "src/mian.rs", "docs/other.md"];
        assert_eq!(near("main.rs", labels.into_iter()), ["src/a/main.rs"]);
        assert_eq!(near("src/main.rs", labels.into_iter())[0], "src/mian.rs");
    }
}

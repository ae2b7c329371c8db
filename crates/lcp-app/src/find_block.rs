//! Blocks of a pack by index or label, and the bytes of their contents.

use std::borrow::Cow;

use lcp_driver::{content_text, escape_control};
use lcp_packfile::PackScan;
use lcp_types::{Block, BlockContent};

use crate::error::{Error, ErrorKind, Result};

/// Labels that a hint names at most.
const NEAR_MAX: usize = 3;

/// The minimum similarity of labels for a hint, from 0 to 1.
const NEAR: f64 = 0.8;

/// Blocks of one label that an error lists at most.
const LISTED_MAX: usize = 20;

/// A hint that names the command which lists blocks.
const LISTS: &str = "`lcp inspect` lists the blocks of a pack";

/// Returns the index of the block with this index or label.
///
/// # Errors
///
/// None is called so, or several are.
pub fn find_block(pack: &PackScan<'_>, wanted: &str) -> Result<usize> {
    let is_called = || labels(pack).any(|(_, label)| label == wanted);
    match wanted.parse() {
        // What is no index may be what a file is called.
        Ok(index) if index < pack.blocks.len() || !is_called() => block_at(pack, index),
        _ => block_labelled(pack, wanted),
    }
}

/// Returns the index if the pack has it.
///
/// # Errors
///
/// There is none.
pub fn block_at(pack: &PackScan<'_>, index: usize) -> Result<usize> {
    let blocks = pack.blocks.len();
    if index < blocks {
        return Ok(index);
    }
    let message = format!("there is no block {index}: the pack has {blocks}");
    Err(Error::new(ErrorKind::Usage, message).with_hint(LISTS))
}

/// Returns the index of the block with this label.
///
/// # Errors
///
/// None is, or several are.
pub fn block_labelled(pack: &PackScan<'_>, wanted: &str) -> Result<usize> {
    let labels: Vec<_> = labels(pack).collect();
    let found: Vec<_> = labels.iter().filter(|(_, label)| label == wanted).collect();
    match found[..] {
        [(index, _)] => Ok(*index),
        [] => Err(unknown(wanted, labels.iter().map(|(_, label)| label.as_ref()))),
        _ => Err(ambiguous(pack, wanted, found.iter().map(|(index, _)| *index))),
    }
}

/// Returns the labels of readable blocks.
fn labels<'p>(pack: &'p PackScan<'_>) -> impl Iterator<Item = (usize, Cow<'p, str>)> {
    (pack.blocks.iter().zip(&pack.frames))
        .enumerate()
        .filter(|(_, (block, frame))| frame.problem.is_none() && !block.content.is_metadata())
        .map(|(index, (block, _))| (index, block.label()))
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
    let message = format!("{count} blocks are called {}: {listed}", escape_control(label));
    Error::new(ErrorKind::Usage, message).with_hint("name one by its index")
}

fn unknown<'b>(wanted: &str, labels: impl Iterator<Item = &'b str>) -> Error {
    let failure =
        Error::new(ErrorKind::Usage, format!("no block is called {}", escape_control(wanted)));
    let near = near(wanted, labels);
    match &near[..] {
        [] => failure.with_hint(LISTS),
        near => failure.with_hint(format!("near it: {}", near.join(", "))),
    }
}

/// The labels that may have been meant, the nearest first.
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

/// Returns the bytes of the content of a block: of a diff and a tree its text, of an annotation its
/// value, of a reference to an embedding the id.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_path_is_near() {
        let labels = ["src/a/main.rs", "src/mian.rs", "docs/other.md"];
        assert_eq!(near("main.rs", labels.into_iter()), ["src/a/main.rs"]);
        assert_eq!(near("src/main.rs", labels.into_iter())[0], "src/mian.rs");
    }
}

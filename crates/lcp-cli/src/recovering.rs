//! What can be saved of a pack that is cut off or damaged (RFC 0003 §9).

mod found;
mod rewritten;
#[cfg(test)]
mod tests;

use std::ops::Range;

use lcp_decoder::{DecodeOptions, PackReader, Warning};

use crate::stored::{Walk, walk};
use found::Found;

/// A pack of what could be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The pack: the one that was given where that is whole.
    pub pack: Vec<u8>,
    /// How many blocks it has, annotations counted.
    pub saved: u64,
    /// How many are missing, those of `dropped` not counted; `None` where nothing tells how
    /// many there were.
    pub missing: Option<u64>,
    /// Annotations, levels and indices of hand-offs that are whole, but spoke of blocks that
    /// are missing.
    pub dropped: u64,
    /// What is lost or was made anew, in the order of the pack. Nothing where the pack is
    /// whole.
    pub lost: Vec<Lost>,
}

/// Bytes of the damaged pack that are not in the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where they stand. In a compressed payload of which blocks are damaged: before it was
    /// compressed.
    pub bytes: Range<u64>,
    /// The first block that was in them, if it is known.
    pub block: Option<u64>,
    /// What they were, and what is wrong.
    pub why: String,
}

/// Why nothing can be saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// There is no header of a pack, and no trailer either.
    #[error(transparent)]
    NoPack(#[from] lcp_decoder::Error),
    /// What is left cannot be written as a pack.
    #[error(transparent)]
    Encode(#[from] lcp_encoder::Error),
}

/// Saves every whole block of a pack.
///
/// Blocks are whole if they can be read, and have their checksum where a trailer has one.
/// A trailer whose own checksums hold is believed in where blocks stand. What speaks of a
/// block speaks of the same one in the new pack. What blocks cost is not kept of a pack
/// that is damaged.
///
/// ```
/// use lcp_types::{Block, Role};
///
/// let blocks = ["a", "b"].map(|text| Block::conversation(Role::User, text));
/// let pack = lcp_encoder::encode(&blocks, Default::default()).unwrap();
///
/// let recovered = lcp_cli::recovering::recover(&pack)?;
/// assert_eq!((recovered.pack, recovered.lost.len()), (pack.clone(), 0));
///
/// let cut = lcp_cli::recovering::recover(&pack[..20])?;
/// assert_eq!((cut.saved, cut.missing), (1, None));
/// # Ok::<(), lcp_cli::recovering::RecoverError>(())
/// ```
///
/// # Errors
///
/// If there is nothing of a pack.
pub fn recover(pack: &[u8]) -> Result<Recovered, RecoverError> {
    if let Some(walk) = whole(pack) {
        let saved = walk.frames.len() as u64;
        let pack = pack.to_vec();
        return Ok(Recovered { pack, saved, missing: Some(0), dropped: 0, lost: Vec::new() });
    }
    let mut found = Found::of(pack)?;
    let (written, saved, dropped) = rewritten::write(&mut found)?;
    let missing = found.total.map(|total| total.saturating_sub(saved + dropped));
    let mut lost = found.lost;
    lost.sort_by_key(|lost| (lost.bytes.start, lost.bytes.end));
    Ok(Recovered { pack: written, saved, missing, dropped, lost })
}

/// What is wrong, without the place, which is told beside it.
fn why(error: &lcp_decoder::Error) -> String {
    format!("{} [{}]", error.kind(), error.code())
}

/// Whether nothing is wrong with a pack, its trailer included.
pub(crate) fn is_whole(pack: &[u8]) -> bool {
    whole(pack).is_some()
}

/// The frames of a pack that nothing is wrong with.
fn whole(pack: &[u8]) -> Option<Walk<'_>> {
    let walk = walk(pack).ok()?;
    let trailing = |warning: &Warning| matches!(warning, Warning::TrailingData { .. });
    let verified = || match PackReader::open(pack, DecodeOptions::default()) {
        Ok(reader) => reader.verify().is_ok_and(|wrong| wrong.is_empty()),
        Err(_) => false,
    };
    let is_whole = walk.broken.is_none()
        && walk.frames.iter().all(super::stored::Stored::is_sound)
        && !walk.warnings.iter().any(trailing)
        && verified();
    is_whole.then_some(walk)
}

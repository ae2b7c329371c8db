//! Recovery of the readable blocks of a truncated or damaged pack (RFC 0003 §9).

mod rewrite;
mod salvage;

use std::ops::Range;

use lcp_decoder::{DecodeOptions, PackReader, Warning};

use crate::error::Error;
use crate::scan::{PackScan, ScannedFrame};
use salvage::Salvage;

/// The result of [`recover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The new pack. An undamaged pack is returned unchanged.
    pub pack: Vec<u8>,
    /// The number of blocks in the new pack, annotations included.
    pub blocks: u64,
    /// The number of missing blocks, not including those in `dropped`. It is `None` if the original
    /// number of blocks is unknown.
    pub missing: Option<u64>,
    /// The number of readable annotations, alternate texts and hand-off indices that were dropped
    /// because their blocks are missing.
    pub dropped: u64,
    /// The lost or rebuilt ranges in pack order. The list is empty if the pack is undamaged.
    pub lost: Vec<LostRange>,
}

/// A range of the damaged pack that is not in the new pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRange {
    /// The byte range in the pack. For damaged blocks in a compressed payload, it counts
    /// decompressed bytes.
    pub bytes: Range<u64>,
    /// The index of the first block in the range, if it is known.
    pub block: Option<u64>,
    /// A description of the data and the damage.
    pub reason: String,
}

/// Recovers every block that is readable and has a valid checksum, if the index has checksums.
/// Targets are renumbered. Token costs of a damaged pack are dropped.
///
/// ```
/// use lcp_types::{Block, Role};
///
/// let blocks = ["a", "b"].map(|text| Block::conversation(Role::User, text));
/// let pack = lcp_encoder::encode(&blocks, Default::default()).unwrap();
///
/// let recovered = lcp_packfile::recover(&pack)?;
/// assert_eq!((recovered.pack, recovered.lost.len()), (pack.clone(), 0));
///
/// let cut = lcp_packfile::recover(&pack[..20])?;
/// assert_eq!((cut.blocks, cut.missing), (1, None));
/// # Ok::<(), lcp_packfile::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`Error`] if the pack has no valid header and cannot be recovered from its footer
/// either.
pub fn recover(pack: &[u8]) -> Result<Recovery, Error> {
    if let Some(blocks) = check_sound(pack) {
        let pack = pack.to_vec();
        return Ok(Recovery { pack, blocks, missing: Some(0), dropped: 0, lost: Vec::new() });
    }
    let mut salvage = Salvage::new(pack)?;
    let (written, blocks, dropped) = rewrite::write(&mut salvage)?;
    let missing = salvage.total.map(|total| total.saturating_sub(blocks + dropped));
    let mut lost = salvage.lost;
    lost.sort_by_key(|lost| (lost.bytes.start, lost.bytes.end));
    Ok(Recovery { pack: written, blocks, missing, dropped, lost })
}

/// Returns the message of an error without its location.
fn message(error: &lcp_decoder::Error) -> String {
    format!("{} [{}]", error.kind(), error.code())
}

/// Returns whether a pack and its index are undamaged.
pub(crate) fn is_sound(pack: &[u8]) -> bool {
    check_sound(pack).is_some()
}

/// Returns the number of blocks if the pack and its index are undamaged.
fn check_sound(pack: &[u8]) -> Option<u64> {
    let scan = PackScan::new(pack);
    let trailing = |warning: &Warning| matches!(warning, Warning::TrailingData { .. });
    let verified = || match PackReader::open(pack, DecodeOptions::default()) {
        Ok(reader) => reader.verify().is_ok_and(|wrong| wrong.is_empty()),
        Err(_) => false,
    };
    let is_sound = scan.error.is_none()
        && scan.frames.iter().all(ScannedFrame::is_sound)
        && !scan.warnings.iter().any(trailing)
        && verified();
    is_sound.then_some(scan.frames.len() as u64)
}

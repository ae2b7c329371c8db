//! Recovers the readable blocks of a pack that is cut off or damaged (RFC 0003 §9).

mod rewrite;
mod salvage;

use std::ops::Range;

use lcp_decoder::{DecodeOptions, PackReader, Warning};

use crate::error::Error;
use crate::scan::{PackScan, ScannedFrame};
use salvage::Salvage;

/// A pack of the blocks that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The pack; an undamaged one is returned as it is.
    pub pack: Vec<u8>,
    /// The number of its blocks, annotations counted.
    pub blocks: u64,
    /// The number of missing blocks, without those of `dropped`; `None` if the pack does not tell
    /// how many there were.
    pub missing: Option<u64>,
    /// The number of readable annotations, levels and hand-off indices whose blocks are missing.
    pub dropped: u64,
    /// The lost or rebuilt ranges, in the order of the pack; empty if it is undamaged.
    pub lost: Vec<LostRange>,
}

/// Bytes of the damaged pack that are not in the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRange {
    /// Their range in the pack; in a compressed payload with damaged blocks, the range before
    /// compression.
    pub bytes: Range<u64>,
    /// The first block that was in them, if it is known.
    pub block: Option<u64>,
    /// The kind of data, and the damage.
    pub reason: String,
}

/// Saves every block that can be read and has its checksum, if the index has one, with targets
/// renumbered. Token costs of a damaged pack are dropped.
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
/// If there is nothing of a pack.
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

/// Returns the message of an error without its place.
fn message(error: &lcp_decoder::Error) -> String {
    format!("{} [{}]", error.kind(), error.code())
}

/// Returns whether nothing is wrong with a pack, its index included.
pub(crate) fn is_sound(pack: &[u8]) -> bool {
    check_sound(pack).is_some()
}

/// Returns the number of blocks of a pack with which nothing is wrong.
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

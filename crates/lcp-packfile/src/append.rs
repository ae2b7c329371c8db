//! Appending to a pack in place (RFC 0003 §8). This module computes the bytes of the new pack;
//! [`journal`](crate::journal) writes them.

use std::collections::BTreeSet;

use lcp_decoder::{DecodeOptions, Magic, PackIndex, PackReader, Warning};
use lcp_encoder::{Compression, EncodeOptions, PackWriter};
use lcp_types::wire::{HEADER_RESERVED, VERSION_MINOR};
use lcp_types::{Block, BlockIndex, EncodingCosts};

use crate::error::Error;
use crate::merge;
use crate::scan::{PackScan, ScannedFrame};

/// The result of [`append`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResult {
    /// The new pack.
    pub pack: Vec<u8>,
    /// The offset up to which the new pack equals the old one, except for the header flag that
    /// announces an index.
    pub end_offset: u64,
    /// The numbers of blocks before and after, annotations included.
    pub blocks: (u64, u64),
    /// Warnings about the packs.
    pub warnings: Vec<String>,
}

/// A pack whose blocks are appended.
#[derive(Clone, Copy, Debug)]
pub struct AppendInput<'a> {
    /// The name of the pack in warnings.
    pub name: &'a str,
    /// The bytes of the pack.
    pub pack: &'a [u8],
}

/// Options of [`append`].
#[derive(Clone, Copy, Default)]
pub struct AppendOptions<'a> {
    /// The compression of new blocks; `None` for that of the old blocks.
    pub compression: Option<Compression>,
    /// A function that computes the costs of all blocks of the new pack. It can take the costs of
    /// the old blocks from the index of the old pack. Without the function, the new pack has no
    /// costs.
    pub count_costs: Option<&'a CountCosts<'a>>,
    /// A function that changes the blocks of a pack before they are appended.
    pub change: Option<&'a ChangeBlocks<'a>>,
}

/// A function that changes the blocks of a pack before they are appended. Its arguments are the
/// blocks of the old pack, the position of the pack among the additions, and its blocks. It may add
/// blocks at the end, but must not move or remove any.
pub type ChangeBlocks<'a> = dyn Fn(&[Block<'_>], usize, &mut Vec<Block<'_>>) + 'a;

/// A function that counts the costs of blocks. Its arguments are the index of the old pack, the
/// name of the encoding, all blocks of the new pack, and the number of old blocks at their
/// beginning. It returns `None` if it cannot count in this encoding.
pub type CountCosts<'a> =
    dyn Fn(&BlockIndex, &str, &[Block<'_>], usize) -> Option<EncodingCosts> + 'a;

/// Appends the blocks of other packs to the pack `old`. Like [`merge`](merge::merge), it renumbers
/// the targets of annotations.
///
/// Old blocks remain unchanged byte for byte. The new pack has an index, with costs in the
/// encodings of the old index.
///
/// # Errors
///
/// Returns [`Error`] if a pack is malformed or damaged, or if `old` cannot grow in place.
pub fn append(
    old: &[u8],
    additions: &[AppendInput<'_>],
    options: &AppendOptions<'_>,
) -> Result<AppendResult, Error> {
    let scan = scan_sound(old, None)?;
    check_changeable(old, &scan)?;
    check_in_place(&scan)?;
    let added = additions.iter().enumerate().map(|(at, added)| scan_sound(added.pack, Some(at)));
    let added: Vec<_> = added.collect::<Result<_, _>>()?;
    let warnings = additions.iter().zip(&added).flat_map(|(of, scan)| oddities(of.name, scan));
    let warnings = warnings.collect();
    let (mut packs, mut frames) = (vec![scan.blocks.clone()], Vec::new());
    for (at, added) in added.iter().enumerate() {
        let mut blocks = added.blocks.clone();
        frames.extend(added.frames.iter().map(Some));
        if let Some(change) = options.change {
            change(&scan.blocks, at, &mut blocks);
            frames.resize(frames.len() + blocks.len() - added.blocks.len(), None);
        }
        packs.push(blocks);
    }
    // Old blocks remain unchanged, even if a missing target exists now.
    let merged = merge::merge(packs).split_off(scan.blocks.len());
    let added = merged.into_iter().zip(frames).collect();
    let compression = options.compression.unwrap_or(scan.compression());
    let form = EncodeOptions { compression, ..EncodeOptions::default() };
    extend(old, &scan, added, form, options.count_costs, warnings)
}

/// Returns the pack `old` with new blocks at its end. If a frame cannot be read, its bytes are
/// copied. `form` is the form of the new pack.
pub(crate) fn extend(
    old: &[u8],
    scan: &PackScan<'_>,
    added: Vec<(Block<'_>, Option<&ScannedFrame<'_>>)>,
    form: EncodeOptions,
    count_costs: Option<&CountCosts<'_>>,
    mut warnings: Vec<String>,
) -> Result<AppendResult, Error> {
    let start = scan.frames.len();
    let mut builder = PackWriter::new(form);
    let mut is_readable = true;
    let mut copy = |builder: &mut PackWriter, frame: &ScannedFrame<'_>, block| {
        is_readable &= frame.problem.is_none();
        // The decompressed size is checked below.
        let block = if frame.problem.is_none() { Ok(block) } else { Err(frame.block_type) };
        builder.add_raw_frame(&frame.bytes, 0, block).map(drop)
    };
    for (frame, block) in scan.frames.iter().zip(&scan.blocks) {
        copy(&mut builder, frame, block)?;
    }
    for (block, frame) in &added {
        match frame.filter(|frame| frame.problem.is_some()) {
            Some(frame) => copy(&mut builder, frame, block)?,
            None => builder.add(block).map(drop)?,
        }
    }
    warnings.extend(new_targets(scan, start + added.len()));
    let costs = count_costs.filter(|_| form.has_index()).map(|count_costs| {
        let all = scan.blocks.iter().cloned().chain(added.into_iter().map(|(block, _)| block));
        let count_costs = Some(count_costs).filter(|_| is_readable);
        costs(old, &all.collect::<Vec<_>>(), start, count_costs, &mut warnings)
    });
    let blocks = (start as u64, builder.blocks());
    let pack = builder.into_bytes(&costs.unwrap_or_default())?;
    if form.compression != Compression::None || scan.compression() != Compression::None {
        // All blocks together may decompress to more bytes than readers accept.
        scan_sound(&pack, None)?;
    }
    Ok(AppendResult { pack, end_offset: scan.end.unwrap_or(scan.frames_end()), blocks, warnings })
}

/// Scans a pack and returns its first error if it has one.
pub(crate) fn scan_sound(pack: &[u8], input: Option<usize>) -> Result<PackScan<'_>, Error> {
    let scan = PackScan::with_bytes(pack);
    if let Some(error) = scan.problems().next() {
        return Err(Error::Malformed { input, error: error.clone() });
    }
    Ok(scan)
}

/// Checks that a pack can be changed. Damaged packs are rejected because the new checksums would
/// hide the damage.
pub(crate) fn check_changeable(old: &[u8], scan: &PackScan<'_>) -> Result<(), Error> {
    let is_newer = |header: lcp_decoder::Header| {
        header.minor > VERSION_MINOR || header.flags & HEADER_RESERVED != 0
    };
    if scan.header.is_some_and(is_newer) {
        return Err(Error::NotAppendable("cannot change a pack from a newer version"));
    }
    if scan.warnings.iter().any(|warning| matches!(warning, Warning::TrailingData { .. })) {
        let why = "the pack has bytes after END, which would be lost";
        return Err(Error::Damaged(why.to_owned()));
    }
    let reader = PackReader::open(old, DecodeOptions::default());
    let wrong = reader.and_then(|reader| reader.verify());
    if let Some(wrong) = wrong.as_deref().unwrap_or_default().first() {
        return Err(Error::Damaged(format!("the pack is damaged: {wrong}")));
    }
    Ok(())
}

/// Checks that the end of a pack can be replaced.
pub(crate) fn check_in_place(scan: &PackScan<'_>) -> Result<(), Error> {
    if scan.header.is_some_and(|header| header.magic == Magic::Bcp) {
        let why = "cannot change the pack in place: it has the magic BCP\\0";
        return Err(Error::NotAppendable(why));
    }
    if scan.is_payload_compressed() {
        let why = "cannot change the pack in place: it uses whole-payload compression";
        return Err(Error::NotAppendable(why));
    }
    Ok(())
}

/// Returns the warnings about an appended pack.
fn oddities(name: &str, scan: &PackScan<'_>) -> Vec<String> {
    let warnings = scan.warnings.iter();
    let warnings = warnings.map(|warning| format!("{warning} [{}] ({name})", warning.code()));
    let unmoved = merge::unreadable_handoffs(&scan.blocks).map(|index| {
        format!(
            "cannot update the block numbers of a hand-off, which may now refer to other blocks: \
             its index is damaged or from a newer version ({name}, block {index})"
        )
    });
    warnings.chain(unmoved).collect()
}

/// Returns a warning for each old block whose missing target exists now.
fn new_targets(scan: &PackScan<'_>, blocks: usize) -> Vec<String> {
    let old = scan.frames.len() as u64;
    let targets = scan.frames.iter().zip(&scan.blocks).enumerate();
    let targets = targets.filter_map(|(index, (frame, block)): (_, (&ScannedFrame<'_>, _))| {
        let target = block.target_index().filter(|_| frame.problem.is_none())?;
        (old..blocks as u64).contains(&target).then_some((index, target))
    });
    let line = |(index, target)| {
        format!("block {index} refers to block {target}, which did not exist before")
    };
    targets.map(line).collect()
}

/// Returns the costs of all blocks in the encodings of the old index.
fn costs(
    old: &[u8],
    blocks: &[Block<'_>],
    start: usize,
    count_costs: Option<&CountCosts<'_>>,
    warnings: &mut Vec<String>,
) -> Vec<EncodingCosts> {
    let Some(Ok(index)) = PackIndex::find(old) else { return Vec::new() };
    let facts = index.block_index();
    let mut costs = Vec::new();
    let mut seen = BTreeSet::new();
    let encodings = facts.costs.iter().map(|costs| &costs.encoding);
    for encoding in encodings.filter(|encoding| seen.insert(*encoding)) {
        let counted =
            count_costs.and_then(|count_costs| count_costs(facts, encoding, blocks, start));
        if counted.is_none() {
            let why = match count_costs {
                Some(_) => "they cannot be recounted",
                None => "some blocks are in a content store",
            };
            warnings.push(format!(
                "removed the token costs in {} from the index: {why}",
                encoding.escape_debug()
            ));
        }
        costs.extend(counted);
    }
    costs
}

//! Blocks at the end of a pack that is there already (RFC 0003 §8): what the new pack is.
//! How it takes the place of the old one is `journal.rs`.

use std::collections::BTreeSet;
use std::path::Path;

use lcp_decoder::{DecodeOptions, PackReader, Trailer, Warning};
use lcp_driver::{IndexCosts, RENDERER_REVISION};
use lcp_encoder::{Compression, EncodeOptions, PackBuilder};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::wire::{HEADER_BYTES, HEADER_RESERVED, VERSION_MINOR};
use lcp_types::{Block, EncodingCosts};

use crate::Result;
use crate::failure::{Code, Failure};
use crate::files;
use crate::frames::stand_in;
use crate::merging;
use crate::stored::{Stored, Walk, walk};

/// A pack with more blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The whole pack.
    pub pack: Vec<u8>,
    /// Up to where it is the old one, but for the flag that announces a trailer.
    pub end_offset: u64,
    /// How many blocks it had and has, annotations counted.
    pub blocks: (u64, u64),
    /// What is worth knowing.
    pub warnings: Vec<String>,
}

/// What is added.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// Where the pack comes from, for errors.
    pub path: &'a Path,
    /// The pack.
    pub pack: &'a [u8],
}

/// The pack `old`, which lies at `path`, with the blocks of others behind its own, as
/// [`merging::merge`] puts them there: those of each speak of each other still.
///
/// Old blocks stay byte for byte. New ones are compressed as told; if nothing is, then as
/// the old ones are. The pack has a trailer afterwards, with the costs that the old one had.
///
/// # Errors
///
/// If a pack is malformed or damaged, or this one cannot be added to.
pub fn append(
    path: &Path,
    old: &[u8],
    additions: &[Addition<'_>],
    compression: Option<Compression>,
) -> Result<Appended> {
    let walk = sound(path, old)?;
    let end_offset = may_grow(path, old, &walk)?;
    let added: Vec<_> =
        additions.iter().map(|of| sound(of.path, of.pack)).collect::<Result<_>>()?;
    let mut warnings = Vec::new();
    for (of, walk) in additions.iter().zip(&added) {
        warnings.extend(odd(of.path, walk));
    }
    let start = walk.frames.len();
    let mut merged = merging::merge([&walk].into_iter().chain(&added).map(blocks).collect());
    // Old blocks stay as they are, and may speak of one that is there only now.
    for (merged, old) in merged.iter_mut().zip(blocks(&walk)) {
        *merged = old;
    }
    warnings.extend(answered(&walk, merged.len()));
    let written = walk.options().compression;
    let compression = compression.unwrap_or(written);
    let mut builder = PackBuilder::new(EncodeOptions { compression, ..EncodeOptions::default() });
    let frames = walk.frames.iter().chain(added.iter().flat_map(|walk| &walk.frames));
    let unwritable = |error: lcp_encoder::Error| {
        Failure::new(Code::Limit, format!("{error} ({})", files::name(path)))
    };
    for (index, (frame, block)) in frames.zip(&merged).enumerate() {
        if frame.block.is_ok() && index >= start {
            builder.add(block).map_err(unwritable)?;
        } else {
            // What it gives when it is decompressed is looked at below.
            let block = frame.block.as_ref().map_err(|_| frame.block_type);
            builder.add_stored(&frame.bytes, 0, block).map_err(unwritable)?;
        }
    }
    let is_known = walk.frames.iter().chain(added.iter().flat_map(|walk| &walk.frames));
    let is_known = is_known.into_iter().all(|frame| frame.block.is_ok());
    let costs = costs(old, &merged, start, is_known, &mut warnings);
    let pack = builder.finish_with(&costs).map_err(unwritable)?;
    if compression == Compression::Block || written == Compression::Block {
        // Together they may give more than a reader takes.
        sound(path, &pack)?;
    }
    let blocks = (start as u64, builder.blocks());
    Ok(Appended { pack, end_offset, blocks, warnings })
}

/// The frames of a pack that nothing is wrong with; references lead elsewhere.
fn sound<'a>(path: &Path, pack: &'a [u8]) -> Result<Walk<'a>> {
    let malformed = |error: &lcp_decoder::Error| files::malformed(path, pack, error);
    let walk = walk(pack).map_err(|error| malformed(&error))?;
    let wrong = walk.frames.iter().filter(|frame| !frame.is_sound());
    match wrong.filter_map(|frame| frame.block.as_ref().err()).chain(&walk.broken).next() {
        Some(error) => Err(malformed(error)),
        None => Ok(walk),
    }
}

/// Where the new blocks of a pack begin, if there may be any: what is damaged would be
/// given checksums that hold.
fn may_grow(path: &Path, old: &[u8], walk: &Walk<'_>) -> Result<u64> {
    let name = files::name(path);
    let refuse = |code, why: String| Failure::new(code, format!("{why} ({name})"));
    let merge = "`lcp merge PACK INPUT... -o NEW` makes a new pack";
    let header = walk.header;
    let why = if header.magic == lcp_decoder::Magic::Bcp {
        "a pack of BCP\\0 is not appended to"
    } else if header.payload_compressed() {
        "a pack whose payload is compressed as a whole is not appended to"
    } else if header.minor > VERSION_MINOR || header.flags & HEADER_RESERVED != 0 {
        "the pack is of a newer version, and is not appended to"
    } else {
        ""
    };
    if !why.is_empty() {
        return Err(refuse(Code::Usage, why.to_owned()).hint(merge));
    }
    let recover = "`lcp recover PACK -o NEW` saves what is whole";
    if walk.warnings.iter().any(|warning| matches!(warning, Warning::TrailingData { .. })) {
        let why = "there are bytes after END, which would be lost";
        return Err(refuse(Code::Malformed, why.to_owned()).hint(recover));
    }
    let reader = PackReader::open(old, DecodeOptions::default());
    let wrong = reader.and_then(|reader| reader.verify());
    if let Some(wrong) = wrong.as_deref().unwrap_or_default().first() {
        let why = format!("the pack is damaged: {wrong}");
        return Err(refuse(Code::Malformed, why).hint(recover));
    }
    let last = walk.frames.last().map_or(HEADER_BYTES as u64, |frame| frame.place.end);
    Ok(walk.end.unwrap_or(last))
}

/// The blocks of a pack; what is a reference has a stand-in.
fn blocks<'b>(walk: &'b Walk<'_>) -> Vec<Block<'b>> {
    let block = |(index, frame): (usize, &'b Stored<'_>)| match &frame.block {
        Ok(block) => block.clone(),
        Err(_) => stand_in(index as u64),
    };
    walk.frames.iter().enumerate().map(block).collect()
}

/// What is odd about a pack that is added.
fn odd(path: &Path, walk: &Walk<'_>) -> Vec<String> {
    let name = files::name(path);
    let warnings = walk.warnings.iter();
    let mut odd: Vec<_> =
        warnings.map(|warning| format!("{warning} [{}] ({name})", warning.code())).collect();
    let blocks = blocks(walk);
    odd.extend(merging::unmoved(&blocks).map(|index| {
        format!(
            "the index of a hand-off is damaged or of a newer version: it names blocks as if \
             its pack stood alone ({name}, block {index})"
        )
    }));
    odd
}

/// Old blocks that spoke of none, and now speak of one that is new.
fn answered(walk: &Walk<'_>, blocks: usize) -> Vec<String> {
    let old = walk.frames.len() as u64;
    let targets = walk.frames.iter().enumerate().filter_map(|(index, frame)| {
        let target = frame.block.as_ref().ok()?.target()?;
        (old..blocks as u64).contains(&target).then_some((index, target))
    });
    let line = |(index, target)| {
        format!("block {index} spoke of a block that did not exist; now block {target} does")
    };
    targets.map(line).collect()
}

/// What all blocks cost, in the encodings in which the old ones were counted.
fn costs(
    old: &[u8],
    blocks: &[Block<'_>],
    start: usize,
    is_known: bool,
    warnings: &mut Vec<String>,
) -> Vec<EncodingCosts> {
    let Some(Ok(trailer)) = Trailer::of(old) else { return Vec::new() };
    let facts = trailer.block_index();
    let mut costs = Vec::new();
    let mut seen = BTreeSet::new();
    for before in facts.costs.iter().filter(|costs| seen.insert(&costs.encoding)) {
        // An encoding may be there in several revisions.
        let before = facts.costs_in(&before.encoding, RENDERER_REVISION).unwrap_or(before);
        let counted = Encoding::from_name(&before.encoding).filter(|_| is_known).and_then(|of| {
            IndexCosts::new(&Tiktoken::new(of)).starting_at(start, before).count(blocks)
        });
        if counted.is_none() {
            let why = if is_known {
                "that cannot be counted here"
            } else {
                "some contents are in a store"
            };
            warnings.push(format!(
                "the index no longer has what blocks cost in {}: {why}",
                before.encoding.escape_debug()
            ));
        }
        costs.extend(counted);
    }
    costs
}

//! Appending blocks and annotations to a pack, also in place (RFC 0003 §8, RFC 0012 §9). This module
//! computes the bytes of the new pack; [`journal`](crate::journal) writes them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read};

use lcp_decoder::{
    DecodeOptions, Event, Magic, PackReader, ReadAt, SourceReader, StreamDecoder, Warning,
};
use lcp_encoder::{Compression, EncodeOptions, PackStream};
use lcp_types::wire::{HEADER_BYTES, HEADER_RESERVED, VERSION_MINOR};
use lcp_types::{Annotation, Block, BlockIndex, BlockSource, BlockSourceError, EncodingCosts};

use crate::error::Error;
use crate::journal::TailChange;
use crate::merge;
use crate::scan::{PackScan, ScannedFrame};

/// The result of [`append`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResult {
    /// The change of the pack.
    pub change: TailChange,
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
/// position of the pack among the additions, and its blocks. It may add blocks at the end, but must
/// not move or remove any.
pub type ChangeBlocks<'a> = dyn Fn(usize, &mut Vec<Block<'_>>) + 'a;

/// A function that counts the costs of blocks. Its arguments are the index of the old pack, the
/// name of the encoding, the blocks of the new pack, and the number of old blocks at their
/// beginning. It returns `None` if it cannot count in this encoding.
pub type CountCosts<'a> =
    dyn Fn(&BlockIndex, &str, &dyn BlockSource, usize) -> Option<EncodingCosts> + 'a;

/// Appends the blocks of other packs to the pack `old`. Like [`merge`](merge::merge), it renumbers
/// the targets of annotations.
///
/// Old blocks remain unchanged byte for byte, and are read one at a time. The new pack has an index,
/// with costs in the encodings of the old index.
///
/// # Errors
///
/// Returns [`Error`] if a pack is malformed or damaged, if `old` cannot be read, or if it cannot grow
/// in place.
pub fn append<S: ReadAt + ?Sized>(
    old: &S,
    additions: &[AppendInput<'_>],
    options: &AppendOptions<'_>,
) -> Result<AppendResult, Error> {
    let old = OldPack::open(old)?;
    let scan = &old.scan;
    check_in_place(scan)?;
    let added = additions.iter().enumerate().map(|(at, added)| scan_sound(added.pack, at));
    let added: Vec<_> = added.collect::<Result<_, _>>()?;
    let warnings = additions.iter().zip(&added).flat_map(|(of, scan)| oddities(of.name, scan));
    let warnings = warnings.collect();
    let (mut packs, mut frames) = (vec![scan.blocks.clone()], Vec::new());
    for (at, added) in added.iter().enumerate() {
        let mut blocks = added.blocks.clone();
        frames.extend(added.frames.iter().map(Some));
        if let Some(change) = options.change {
            change(at, &mut blocks);
            frames.resize(frames.len() + blocks.len() - added.blocks.len(), None);
        }
        packs.push(blocks);
    }
    // Old blocks remain unchanged, even if a missing target exists now.
    let merged = merge::merge(packs).split_off(scan.blocks.len());
    let added = merged.into_iter().zip(frames).collect();
    let compression = options.compression.unwrap_or(scan.compression());
    let form = EncodeOptions { compression, ..EncodeOptions::default() };
    old.extend(added, form, options.count_costs, warnings)
}

/// Options of [`annotate`].
#[derive(Clone, Copy, Default)]
pub struct AnnotateOptions<'a> {
    /// `true` if the end of the pack will be [replaced](crate::journal::replace_tail). Packs with
    /// the magic `BCP\0` or a compressed payload are then rejected.
    pub in_place: bool,
    /// A function that computes the costs for the index, as for
    /// [`append`](AppendOptions::count_costs).
    pub count_costs: Option<&'a CountCosts<'a>>,
}

/// Adds annotations to the end of the pack `old`. The pack keeps its form: magic, compression, and
/// an index if it had one. All existing blocks remain unchanged byte for byte.
///
/// # Errors
///
/// Returns [`Error`] if the pack cannot be read, is malformed, damaged or from a newer version, if it
/// cannot change in place, or if it would exceed a limit.
pub fn annotate<S: ReadAt + ?Sized>(
    old: &S,
    annotations: impl IntoIterator<Item = Annotation<'static>>,
    options: &AnnotateOptions<'_>,
) -> Result<AppendResult, Error> {
    let old = OldPack::open(old)?;
    if options.in_place {
        check_in_place(&old.scan)?;
    }
    let added = annotations.into_iter().map(|annotation| (Block::new(annotation), None)).collect();
    old.extend(added, old.scan.encode_options(), options.count_costs, Vec::new())
}

/// A pack without damage that will get new blocks.
struct OldPack<'s, S: ?Sized> {
    source: &'s S,
    /// Its blocks, without contents.
    scan: PackScan<'static>,
    reader: PackReader<'static, &'s S>,
}

impl<'s, S: ReadAt + ?Sized> OldPack<'s, S> {
    /// Reads the pack. Damaged packs are rejected because the new checksums would hide the damage.
    fn open(source: &'s S) -> Result<Self, Error> {
        let scan = sound(PackScan::without_content(SourceReader::new(source)?)?, None)?;
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
        let reader = PackReader::open(source, DecodeOptions::default())?;
        if let Some(wrong) = reader.verify()?.first() {
            return Err(Error::Damaged(format!("the pack is damaged: {wrong}")));
        }
        Ok(Self { source, scan, reader })
    }

    /// Adds new blocks at the end. If a frame of theirs cannot be read, its bytes are copied. `form`
    /// is the form of the new pack.
    fn extend(
        &self,
        added: Vec<(Block<'_>, Option<&ScannedFrame<'_>>)>,
        form: EncodeOptions,
        count_costs: Option<&CountCosts<'_>>,
        mut warnings: Vec<String>,
    ) -> Result<AppendResult, Error> {
        let scan = &self.scan;
        let start = scan.frames.len();
        let mut pack = PackStream::new(form);
        self.copy_frames(&mut pack)?;
        let prefix_checksum = pack.frames_checksum();
        let mut tail = Vec::new();
        for (block, frame) in &added {
            match frame.filter(|frame| frame.problem.is_some()) {
                // The decompressed size is checked below.
                Some(frame) => pack.add_raw_frame(&frame.bytes, 0, Err(frame.block_type))?,
                None => pack.add(block)?,
            }
            pack.write_frames(&mut tail)?;
        }
        let blocks = (start as u64, pack.blocks());
        warnings.extend(new_targets(scan, blocks.1));
        let added_frames = added.iter().filter_map(|(_, frame)| *frame);
        let is_readable =
            scan.frames.iter().chain(added_frames).all(|frame| frame.problem.is_none());
        let costs = match (count_costs, pack.block_index(), self.reader.block_index()) {
            (Some(count_costs), Some(index), Some(facts)) => {
                let count_costs = Some(count_costs).filter(|_| is_readable);
                let added = added.into_iter().map(|(block, _)| block).collect();
                let all = ExtendedPack { old: &self.reader, start, added, index };
                costs(facts, &all, count_costs, &mut warnings)
            }
            _ => Vec::new(),
        };
        let ends = pack.finish(&costs)?;
        // A compressed payload is part of the head, and replaced as a whole.
        let end_offset = match scan.end {
            _ if form.compression == Compression::Payload => HEADER_BYTES as u64,
            Some(end) => end,
            None => scan.frames_end(),
        };
        let (header, payload) = ends.head.split_first_chunk().expect("a head has a header");
        let tail = [payload, &tail, &ends.tail].concat();
        let change = TailChange { header: *header, end_offset, prefix_checksum, tail };
        if form.compression != Compression::None || scan.compression() != Compression::None {
            // All blocks together may decompress to more bytes than readers accept.
            sound(PackScan::without_content(self.changed(&change)?)?, None)?;
        }
        Ok(AppendResult { change, blocks, warnings })
    }

    /// Adds the frames of the pack unchanged, without their bytes if `pack` does not compress them.
    fn copy_frames(&self, pack: &mut PackStream) -> Result<(), Error> {
        let mut events =
            StreamDecoder::new(SourceReader::new(self.source)?, DecodeOptions::default());
        while let Some(event) = events.next_event()? {
            let Event::Frame(frame) = event else { continue };
            let block_type = frame.block_type;
            let bytes = if self.scan.is_payload_compressed() {
                lcp_encoder::encode_raw_frame(block_type.code(), frame.flags, &frame.body)
            } else {
                let end = frame.body_offset + frame.body.len() as u64;
                let range = frame.offset..end;
                let read = self.source.read(std::slice::from_ref(&range))?.into_iter().next();
                read.map(Cow::into_owned).unwrap_or_default()
            };
            let block = events.decode(frame);
            pack.add_raw_frame(&bytes, 0, block.as_ref().map_err(|_| block_type))?;
            pack.write_frames(&mut io::sink())?;
        }
        Ok(())
    }

    /// Returns a reader of the changed pack.
    fn changed<'c>(&'c self, change: &'c TailChange) -> io::Result<impl Read + 'c> {
        let mut old = SourceReader::new(self.source)?;
        io::copy(&mut old.by_ref().take(HEADER_BYTES as u64), &mut io::sink())?;
        let frames = old.take(change.end_offset - HEADER_BYTES as u64);
        Ok(change.header.chain(frames).chain(&change.tail[..]))
    }
}

/// A pack with new blocks at its end.
struct ExtendedPack<'a, S> {
    old: &'a PackReader<'static, S>,
    /// The number of old blocks.
    start: usize,
    added: Vec<Block<'a>>,
    index: BlockIndex,
}

impl<S: ReadAt> BlockSource for ExtendedPack<'_, S> {
    fn block_index(&self) -> Option<&BlockIndex> {
        Some(&self.index)
    }

    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
        let (old, new) =
            indices.split_at(indices.partition_point(|index| (*index as usize) < self.start));
        let mut blocks = if old.is_empty() { Vec::new() } else { self.old.read(old)? };
        for index in new {
            let block = self.added.get(*index as usize - self.start);
            let missing = || BlockSourceError::mismatch(format!("block {index} does not exist"));
            blocks.push(block.ok_or_else(missing)?.clone());
        }
        Ok(blocks)
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        let mut blocks = self.old.read_all()?.into_owned();
        blocks.extend(self.added.iter().cloned());
        Ok(blocks.into())
    }
}

/// Scans a pack whose blocks are added, and returns its first error if it has one.
fn scan_sound(pack: &[u8], input: usize) -> Result<PackScan<'_>, Error> {
    sound(PackScan::with_bytes(pack), Some(input))
}

fn sound(scan: PackScan<'_>, input: Option<usize>) -> Result<PackScan<'_>, Error> {
    if let Some(error) = scan.problems().next() {
        return Err(Error::Malformed { input, error: error.clone() });
    }
    Ok(scan)
}

/// Checks that the end of a pack can be replaced.
fn check_in_place(scan: &PackScan<'_>) -> Result<(), Error> {
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
fn new_targets(scan: &PackScan<'_>, blocks: u64) -> Vec<String> {
    let old = scan.frames.len() as u64;
    let targets = scan.frames.iter().zip(&scan.blocks).enumerate();
    let targets = targets.filter_map(|(index, (frame, block)): (_, (&ScannedFrame<'_>, _))| {
        let target = block.target_index().filter(|_| frame.problem.is_none())?;
        (old..blocks).contains(&target).then_some((index, target))
    });
    let line = |(index, target)| {
        format!("block {index} refers to block {target}, which did not exist before")
    };
    targets.map(line).collect()
}

/// Returns the costs of all blocks in the encodings of the old index.
fn costs<S: ReadAt>(
    facts: &BlockIndex,
    pack: &ExtendedPack<'_, S>,
    count_costs: Option<&CountCosts<'_>>,
    warnings: &mut Vec<String>,
) -> Vec<EncodingCosts> {
    let mut costs = Vec::new();
    let mut seen = BTreeSet::new();
    let encodings = facts.costs.iter().map(|costs| &costs.encoding);
    for encoding in encodings.filter(|encoding| seen.insert(*encoding)) {
        let counted =
            count_costs.and_then(|count_costs| count_costs(facts, encoding, pack, pack.start));
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

//! The frames of a pack as they stand in it, for whoever copies them to another.

use std::borrow::Cow;
use std::ops::Range;

use lcp_decoder::{DecodeOptions, Error, Event, Events, Header, Warning};
use lcp_encoder::{Compression, EncodeOptions, Magic};
use lcp_types::{Block, BlockType};

use crate::frames::is_reference;

/// A pack that was gone through.
pub struct Walk<'a> {
    /// Its header.
    pub header: Header,
    /// Its frames, up to END or to where there are no more.
    pub frames: Vec<Stored<'a>>,
    /// Where END begins, if it was reached.
    pub end: Option<u64>,
    /// Where the last whole frame ends: in bytes before the payload was compressed.
    pub reached: u64,
    /// What is odd.
    pub warnings: Vec<Warning>,
    /// Why there are no more frames, where the pack does not end as it must.
    pub broken: Option<Error>,
}

/// A whole frame.
pub struct Stored<'a> {
    /// Its bytes: type, flags, length, body as stored.
    pub bytes: Cow<'a, [u8]>,
    /// Where it stands, in bytes before the payload was compressed.
    pub place: Range<u64>,
    /// What its type says.
    pub block_type: BlockType,
    /// Its flags.
    pub flags: u8,
    /// Whether its body is compressed.
    pub is_compressed: bool,
    /// The block, or why it cannot be read.
    pub block: Result<Block<'a>, Error>,
}

impl Stored<'_> {
    /// Whether nothing is wrong with it: it can be read, or is a reference to a body that
    /// is elsewhere.
    pub fn is_sound(&self) -> bool {
        self.block.as_ref().err().is_none_or(is_reference)
    }
}

/// Goes through a pack.
///
/// # Errors
///
/// If it has no header of a pack; all else that is wrong is told by what is returned.
pub fn walk(pack: &[u8]) -> Result<Walk<'_>, Error> {
    let mut events = Events::new(pack, DecodeOptions::default());
    let header = match events.next() {
        Some(Ok(Event::Header(header))) => header,
        Some(Err(error)) => return Err(error),
        _ => unreachable!("the header is the first event"),
    };
    let (frames, warnings) = (Vec::new(), Vec::new());
    let reached = lcp_types::wire::HEADER_BYTES as u64;
    let mut walk = Walk { header, frames, end: None, reached, warnings, broken: None };
    while let Some(event) = events.next() {
        match event {
            Ok(Event::Frame(frame)) => {
                let place = frame.offset..frame.body_offset + frame.body.len() as u64;
                walk.reached = place.end;
                let whole = at(pack, &place);
                let whole = whole.filter(|_| !header.payload_compressed()).map(Cow::Borrowed);
                let bytes = whole.unwrap_or_else(|| {
                    let (code, flags) = (frame.block_type.code(), frame.flags);
                    Cow::Owned(lcp_encoder::stored_frame(code, flags, &frame.body))
                });
                walk.frames.push(Stored {
                    bytes,
                    place,
                    block_type: frame.block_type,
                    flags: frame.flags,
                    is_compressed: frame.is_compressed(),
                    block: events.decode(&frame),
                });
            }
            Ok(Event::End { offset }) => walk.end = Some(offset),
            Ok(Event::Warning(warning)) => walk.warnings.push(warning),
            Ok(_) => {}
            Err(error) => walk.broken = Some(error),
        }
    }
    Ok(walk)
}

impl Walk<'_> {
    /// How such a pack is written, as far as it shows.
    pub fn options(&self) -> EncodeOptions {
        let compression = match self.header.payload_compressed() {
            true => Compression::Payload,
            false if self.frames.iter().any(|frame| frame.is_compressed) => Compression::Block,
            false => Compression::None,
        };
        let magic = match self.header.magic {
            lcp_decoder::Magic::Lcp => Magic::Lcp,
            lcp_decoder::Magic::Bcp => Magic::Bcp,
        };
        EncodeOptions { magic, compression, trailer: self.header.has_trailer() }
    }
}

/// The bytes of a pack at these places, if it has them.
pub fn at<'a>(pack: &'a [u8], place: &Range<u64>) -> Option<&'a [u8]> {
    pack.get(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?)
}

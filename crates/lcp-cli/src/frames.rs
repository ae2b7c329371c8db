//! A pack as it stands: each frame, what can be read of it, and what is wrong.

use lcp_decoder::{DecodeOptions, Error, ErrorKind, Event, Events, Header, Magic, Warning};
use lcp_types::wire::END_FRAME;
use lcp_types::{Annotation, AnnotationKind, Block, BlockType, Bytes};

/// All that can be seen of a pack, whatever is wrong with it.
pub struct Frames<'a> {
    /// Its header, if it has one.
    pub header: Option<Header>,
    /// Its frames, in their order.
    pub frames: Vec<Frame>,
    /// The block of each frame. What cannot be read has a stand-in, so that indices
    /// stay true: an annotation of no known kind, which says nothing.
    pub blocks: Vec<Block<'a>>,
    /// The bytes from the first of the header to the last of END, before the payload
    /// was compressed; up to where it breaks off, where it does.
    pub unpacked: u64,
    /// What is odd.
    pub warnings: Vec<Warning>,
    /// Why there are no more frames, where the pack does not end as it must.
    pub broken: Option<Error>,
}

/// A frame, without its body.
pub struct Frame {
    /// What its type says.
    pub block_type: BlockType,
    /// Where it begins, in bytes from the start of the pack.
    pub offset: u64,
    /// Bytes of its body as stored.
    pub length: u64,
    /// Its flags as they stand.
    pub flags: u8,
    /// Whether the stored body is a zstd stream.
    pub compressed: bool,
    /// Whether the stored body is a hash.
    pub reference: bool,
    /// Why its body cannot be read, where that is so.
    pub problem: Option<Error>,
}

impl<'a> Frames<'a> {
    /// Looks at all of a pack.
    pub fn of(pack: &'a [u8]) -> Self {
        let mut seen = Self {
            header: None,
            frames: Vec::new(),
            blocks: Vec::new(),
            unpacked: 0,
            warnings: Vec::new(),
            broken: None,
        };
        let mut events = Events::new(pack, DecodeOptions::default());
        while let Some(event) = events.next() {
            match event {
                Ok(Event::Header(header)) => seen.header = Some(header),
                Ok(Event::Frame(frame)) => {
                    let (index, length) = (frame.index, frame.body.len() as u64);
                    seen.unpacked = frame.body_offset + length;
                    let mut of_frame = Frame {
                        block_type: frame.block_type,
                        offset: frame.offset,
                        length,
                        flags: frame.flags,
                        compressed: frame.is_compressed(),
                        reference: frame.is_reference(),
                        problem: None,
                    };
                    let block = events.decode_once(frame).unwrap_or_else(|error| {
                        of_frame.problem = Some(error);
                        stand_in(index)
                    });
                    seen.blocks.push(block);
                    seen.frames.push(of_frame);
                }
                Ok(Event::End { offset }) => seen.unpacked = offset + END_FRAME.len() as u64,
                Ok(Event::Warning(warning)) => seen.warnings.push(warning),
                Ok(_) => {}
                Err(error) => seen.broken = Some(error),
            }
        }
        seen
    }

    /// All that is wrong with frames, in the order of the pack; references into a store
    /// that is not here are not.
    pub fn problems(&self) -> impl Iterator<Item = &Error> {
        let of_frames = self.frames.iter().filter_map(|frame| frame.problem.as_ref());
        of_frames.filter(|error| !is_reference(error)).chain(&self.broken)
    }

    /// How many blocks are references, which nothing is known of here.
    pub fn references(&self) -> usize {
        let problems = self.frames.iter().filter_map(|frame| frame.problem.as_ref());
        problems.filter(|error| is_reference(error)).count()
    }

    /// What is compressed: `none`, `block` or `payload`.
    pub fn compression(&self) -> &'static str {
        let payload = self.header.is_some_and(|header| header.payload_compressed());
        match payload {
            true => "payload",
            false if self.frames.iter().any(|frame| frame.compressed) => "block",
            false => "none",
        }
    }

    /// The name of the magic.
    pub fn magic(&self) -> Option<&'static str> {
        self.header.map(|header| match header.magic {
            Magic::Lcp => "lcp",
            Magic::Bcp => "bcp",
        })
    }
}

/// Whether all that is missing is the store that a reference leads to.
pub fn is_reference(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoStore { .. })
}

/// What stands in place of a block that cannot be read: it says nothing of none.
pub fn stand_in(index: u64) -> Block<'static> {
    let nothing = AnnotationKind::Other(u8::MAX);
    let mut annotation = Annotation::summary(index, "");
    (annotation.kind, annotation.value) = (nothing, Bytes::from(Vec::new()));
    Block::new(annotation)
}

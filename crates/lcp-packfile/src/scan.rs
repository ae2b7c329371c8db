//! A lenient scan of a pack that returns every frame, every block and every problem.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use lcp_decoder::{
    DecodeOptions, Error, ErrorKind, Event, EventIter, Frame, Header, StreamDecoder, StreamError,
    Warning,
};
use lcp_encoder::{Compression, EncodeOptions};
use lcp_types::wire::{END_FRAME, HEADER_BYTES};
use lcp_types::{Annotation, AnnotationKind, Block, BlockContent, BlockType, CowBytes};

use crate::merge::handoff_index;

/// The stored parts of a pack, which may be damaged.
///
/// ```
/// use lcp_packfile::PackScan;
/// use lcp_types::{Block, Role};
///
/// let blocks = ["a", "b"].map(|text| Block::conversation(Role::User, text));
/// let pack = lcp_encoder::encode(&blocks, Default::default()).unwrap();
///
/// let scan = PackScan::new(&pack[..20]);
/// assert_eq!(scan.blocks, blocks[..1]);
/// assert!(scan.error.is_some());
/// ```
#[derive(Debug)]
pub struct PackScan<'a> {
    /// The header, if the pack has one.
    pub header: Option<Header>,
    /// The frames in order, up to END or to the first incomplete frame.
    pub frames: Vec<ScannedFrame<'a>>,
    /// The block of each frame. An unreadable body is replaced by an annotation of an unknown kind,
    /// so that the indices remain correct.
    pub blocks: Vec<Block<'a>>,
    /// The offset of END, if it was reached. In a compressed payload, offsets count decompressed
    /// bytes.
    pub end: Option<u64>,
    /// The warnings of the decoder.
    pub warnings: Vec<Warning>,
    /// The error that ended the scan, if the pack does not end with END.
    pub error: Option<Error>,
}

/// A complete frame.
#[derive(Debug)]
pub struct ScannedFrame<'a> {
    /// The block type.
    pub block_type: BlockType,
    /// The flags as stored.
    pub flags: u8,
    /// The byte range in the pack.
    pub range: Range<u64>,
    /// The length of the body in bytes, as stored.
    pub body_len: u64,
    /// The bytes of the frame: type, flags, length and body. They are empty for a compressed
    /// payload if the scan was created by [`PackScan::new`].
    pub bytes: Cow<'a, [u8]>,
    /// `true` if the stored body is a zstd stream.
    pub is_compressed: bool,
    /// `true` if the stored body is a hash.
    pub is_reference: bool,
    /// The error of the body, if it cannot be decoded.
    pub problem: Option<Error>,
}

impl<'a> ScannedFrame<'a> {
    fn new(frame: &Frame<'_>, bytes: Cow<'a, [u8]>) -> Self {
        let body_len = frame.body.len() as u64;
        Self {
            block_type: frame.block_type,
            flags: frame.flags,
            range: frame.offset..frame.body_offset + body_len,
            body_len,
            bytes,
            is_compressed: frame.is_compressed(),
            is_reference: frame.is_reference(),
            problem: None,
        }
    }

    /// Returns whether the frame is readable or refers to a body in a content store.
    pub(crate) fn is_sound(&self) -> bool {
        self.problem.as_ref().is_none_or(is_reference)
    }
}

impl<'a> PackScan<'a> {
    /// Scans a pack.
    pub fn new(pack: &'a [u8]) -> Self {
        Self::scan(pack, false)
    }

    /// Scans a pack and retains the bytes of every frame for copying.
    pub fn with_bytes(pack: &'a [u8]) -> Self {
        Self::scan(pack, true)
    }

    fn empty() -> Self {
        Self {
            header: None,
            frames: Vec::new(),
            blocks: Vec::new(),
            end: None,
            warnings: Vec::new(),
            error: None,
        }
    }

    fn scan(pack: &'a [u8], keep_bytes: bool) -> Self {
        let mut scan = Self::empty();
        let mut events = EventIter::new(pack, DecodeOptions::default());
        while let Some(event) = events.next() {
            match event {
                Ok(Event::Header(header)) => scan.header = Some(header),
                Ok(Event::Frame(frame)) => {
                    let body_len = frame.body.len() as u64;
                    let range = frame.offset..frame.body_offset + body_len;
                    let bytes = if !scan.is_payload_compressed() {
                        Cow::Borrowed(slice(pack, &range).unwrap_or_default())
                    } else if keep_bytes {
                        let code = frame.block_type.code();
                        lcp_encoder::encode_raw_frame(code, frame.flags, &frame.body).into()
                    } else {
                        Cow::default()
                    };
                    let scanned = ScannedFrame::new(&frame, bytes);
                    scan.push(scanned, frame.index, events.decode(frame));
                }
                Ok(Event::End { offset }) => scan.end = Some(offset),
                Ok(Event::Warning(warning)) => scan.warnings.push(warning),
                Ok(_) => {}
                Err(error) => scan.error = Some(error),
            }
        }
        scan
    }

    /// Scans a pack that need not fit in memory. Only metadata has its content: other blocks have a
    /// label, but no content and no summary, and frames have no bytes.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader.
    pub fn without_content(reader: impl Read) -> io::Result<PackScan<'static>> {
        let mut scan = PackScan::empty();
        let mut stream = StreamDecoder::new(reader, DecodeOptions::default());
        loop {
            match stream.next_event() {
                Ok(None) => break,
                Ok(Some(Event::Header(header))) => scan.header = Some(header),
                Ok(Some(Event::Frame(frame))) => {
                    let scanned = ScannedFrame::new(&frame, Cow::default());
                    let index = frame.index;
                    let block =
                        stream.decode(frame).map(|block| remove_content(block.into_owned()));
                    scan.push(scanned, index, block);
                }
                Ok(Some(Event::End { offset })) => scan.end = Some(offset),
                Ok(Some(Event::Warning(warning))) => scan.warnings.push(warning),
                Ok(Some(_)) => {}
                Err(StreamError::Decode(error)) => {
                    scan.error = Some(error);
                    break;
                }
                Err(StreamError::Read { source, .. }) => return Err(source),
                Err(other) => return Err(io::Error::other(other)),
            }
        }
        Ok(scan)
    }

    /// Adds a frame and its block, or the error of its body.
    fn push(&mut self, mut frame: ScannedFrame<'a>, index: u64, block: Result<Block<'a>, Error>) {
        let block = block.unwrap_or_else(|error| {
            frame.problem = Some(error);
            placeholder_block(index)
        });
        self.blocks.push(block);
        self.frames.push(frame);
    }

    /// Returns the scan if the pack has a header.
    ///
    /// # Errors
    ///
    /// Returns the error of a pack without a header.
    pub(crate) fn require_header(self) -> Result<Self, Error> {
        match self.error {
            Some(error) if self.header.is_none() => Err(error),
            _ => Ok(self),
        }
    }

    /// Returns the block of a frame, if it is readable.
    pub fn readable(&self, index: usize) -> Option<&Block<'a>> {
        self.frames.get(index)?.problem.is_none().then(|| &self.blocks[index])
    }

    /// Returns all errors in pack order. References into a content store are not errors.
    pub fn problems(&self) -> impl Iterator<Item = &Error> {
        let of_frames = self.frames.iter().filter_map(|frame| frame.problem.as_ref());
        of_frames.filter(|error| !is_reference(error)).chain(&self.error)
    }

    /// Returns the errors of blocks whose bodies are in a content store.
    pub fn references(&self) -> impl Iterator<Item = &Error> {
        let of_frames = self.frames.iter().filter_map(|frame| frame.problem.as_ref());
        of_frames.filter(|error| is_reference(error))
    }

    /// Returns the offset after the last complete frame.
    pub(crate) fn frames_end(&self) -> u64 {
        self.frames.last().map_or(HEADER_BYTES as u64, |frame| frame.range.end)
    }

    /// Returns the number of bytes from the header to END, with the payload decompressed.
    pub fn unpacked_len(&self) -> u64 {
        let end = self.end.map(|end| end + END_FRAME.len() as u64);
        end.or(self.frames.last().map(|frame| frame.range.end)).unwrap_or(0)
    }

    /// Returns whether the payload is compressed as a whole.
    pub fn is_payload_compressed(&self) -> bool {
        self.header.is_some_and(|header| header.is_payload_compressed())
    }

    /// Returns whether the header announces an index.
    pub fn has_index(&self) -> bool {
        self.header.is_some_and(|header| header.has_index())
    }

    /// Returns the compression of the pack.
    pub(crate) fn compression(&self) -> Compression {
        if self.is_payload_compressed() {
            Compression::Payload
        } else if self.frames.iter().any(|frame| frame.is_compressed) {
            Compression::Block
        } else {
            Compression::None
        }
    }

    /// Returns the name of the compression: `none`, `block` or `payload`.
    pub fn compression_name(&self) -> &'static str {
        self.compression().name()
    }

    /// Returns the name of the magic: `lcp` or `bcp`.
    pub fn magic_name(&self) -> Option<&'static str> {
        self.header.map(|header| header.magic.name())
    }

    /// Returns the options for writing a pack of the same form.
    pub fn encode_options(&self) -> EncodeOptions {
        let magic = self.header.map(|header| header.magic).unwrap_or_default();
        EncodeOptions { magic, compression: self.compression(), index: self.has_index() }
    }
}

/// Returns whether the error is only that a reference was not resolved because there is no content
/// store.
pub fn is_reference(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoStore { .. })
}

/// Returns the bytes of the pack in this range, if the pack is long enough.
pub(crate) fn slice<'a>(pack: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    pack.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// Removes the content and the summary of a block that is not metadata.
fn remove_content(mut block: Block<'static>) -> Block<'static> {
    if block.content.is_metadata() || handoff_index(&block).is_some() {
        return block;
    }
    block.summary = None;
    match &mut block.content {
        BlockContent::Code(code) => code.content = CowBytes::from(Vec::new()),
        BlockContent::Conversation(turn) => turn.content = CowBytes::from(Vec::new()),
        BlockContent::FileTree(tree) => tree.entries = Vec::new(),
        BlockContent::ToolResult(result) => result.content = CowBytes::from(Vec::new()),
        BlockContent::Document(document) => document.content = CowBytes::from(Vec::new()),
        BlockContent::StructuredData(data) => data.content = CowBytes::from(Vec::new()),
        BlockContent::Diff(diff) => diff.hunks = Vec::new(),
        BlockContent::Image(image) => image.data = CowBytes::from(Vec::new()),
        BlockContent::Extension(extension) => extension.content = CowBytes::from(Vec::new()),
        BlockContent::Raw(raw) => raw.body = CowBytes::from(Vec::new()),
        BlockContent::EmbeddingRef(_) | BlockContent::Annotation(_) => {}
    }
    block
}

/// Returns a block that replaces an unreadable one: an annotation without effect.
fn placeholder_block(index: u64) -> Block<'static> {
    let mut annotation = Annotation::summary(index, "");
    annotation.kind = AnnotationKind::Other(u8::MAX);
    annotation.value = CowBytes::from(Vec::new());
    Block::new(annotation)
}

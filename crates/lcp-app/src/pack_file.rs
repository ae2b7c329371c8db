//! Packs that are written block by block, so that they need not fit in memory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use lcp_decoder::ReadAt;
use lcp_encoder::{EncodeOptions, PackEnds, PackStream};
use lcp_types::wire::HEADER_BYTES;
use lcp_types::{Block, EncodingCosts};
use tempfile::SpooledTempFile;

use crate::error::{Error, ErrorKind, Result};
use crate::files::{self, Replacement};

/// The minimum number of bytes in a write.
const WRITE_BYTES: usize = 1 << 20;

/// The maximum size of a copy in memory, in bytes.
const IN_MEMORY: usize = 16 << 20;

/// The number of bytes that are moved at once.
const MOVED_BYTES: usize = 4 << 20;

/// The offset of the first frame of a pack without a reserved block.
const FRAMES: u64 = HEADER_BYTES as u64;

/// The place of a pack that is being written: a file, or memory.
pub trait PackStorage: Read + Write + Seek + Send {
    /// Sets the size in bytes.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn set_len(&mut self, len: u64) -> io::Result<()>;
}

impl PackStorage for File {
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }
}

impl PackStorage for SpooledTempFile {
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }
}

impl PackStorage for Cursor<Vec<u8>> {
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.get_mut().resize(len, 0);
        Ok(())
    }
}

/// The output of a pack: a file that is replaced as a whole, or a copy for a pipe, a device or
/// standard output, which is in a temporary file if it is large.
#[derive(Debug)]
pub struct PackOutput(Place);

#[derive(Debug)]
enum Place {
    Replacement(Box<Replacement>, PathBuf),
    /// A copy, and the pipe or device, if it is not standard output.
    Copy(SpooledTempFile, Option<PathBuf>),
}

impl PackOutput {
    /// Creates the output for a path, or for standard output if it is `None` or `-`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn create(path: Option<&Path>) -> Result<Self> {
        let path = path.filter(|path| path.as_os_str() != OsStr::new(files::STANDARD));
        let replacement = path
            .map(|path| Replacement::create(path).map_err(|error| files::unwritten(path, error)));
        Ok(Self(match (path, replacement.transpose()?.flatten()) {
            (Some(path), Some(file)) => Place::Replacement(Box::new(file), path.to_owned()),
            (path, _) => Place::Copy(SpooledTempFile::new(IN_MEMORY), path.map(Path::to_owned)),
        }))
    }

    /// Returns the storage of the pack.
    pub fn storage(&mut self) -> &mut dyn PackStorage {
        match &mut self.0 {
            Place::Replacement(replacement, _) => replacement.file.as_file_mut(),
            Place::Copy(copy, _) => copy,
        }
    }

    /// Returns the path of a temporary file, which may be in the folder that is packed.
    pub fn temporary_path(&self) -> Option<&Path> {
        match &self.0 {
            Place::Replacement(replacement, _) => Some(replacement.file.path()),
            Place::Copy(..) => None,
        }
    }

    /// Replaces the file, or writes to the pipe or device. Returns the pack for standard output.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack cannot be written.
    pub fn commit(self) -> Result<Option<impl Read>> {
        let (path, written) = match self.0 {
            Place::Replacement(replacement, path) => {
                let written = replacement.persist();
                (path, written)
            }
            Place::Copy(mut copy, path) => {
                copy.rewind().map_err(|error| write_error(&error))?;
                let Some(path) = path else { return Ok(Some(copy)) };
                let mut write = || io::copy(&mut copy, &mut files::open_device(&path)?);
                let written = write().map(drop);
                (path, written)
            }
        };
        written.map(|()| None).map_err(|error| files::unwritten(&path, error))
    }
}

/// A pack that is being written. Only the frames that were not written yet are in memory, and the
/// data of the index.
pub(crate) struct PackFileWriter<'s> {
    storage: &'s mut dyn PackStorage,
    options: EncodeOptions,
    stream: PackStream,
    /// The offset of the first frame, which is behind the reserved block.
    frames: Range<u64>,
}

/// A reader of a pack that was just written.
pub(crate) struct WrittenPack<'w>(RefCell<&'w mut dyn PackStorage>);

impl<'s> PackFileWriter<'s> {
    pub(crate) fn new(storage: &'s mut dyn PackStorage, options: EncodeOptions) -> Self {
        Self { storage, options, stream: PackStream::new(options), frames: FRAMES..FRAMES }
    }

    /// Returns the number of blocks so far, annotations included.
    pub(crate) fn blocks(&self) -> u64 {
        self.stream.blocks()
    }

    /// Reserves the first block; see [`PackStream::reserve_first`].
    pub(crate) fn reserve_first(&mut self, expected: &Block<'_>) -> Result {
        let start = self.stream.reserve_first(expected).map_err(|error| encode_error(&error))?;
        self.frames = start..start;
        Ok(())
    }

    /// Replaces the first block; see [`PackStream::replace_first`].
    pub(crate) fn replace_first(&mut self, block: &Block<'_>) -> Result {
        self.stream.replace_first(block).map_err(|error| encode_error(&error))
    }

    /// Removes the first block. There must not be another one.
    pub(crate) fn remove_first(&mut self) {
        self.stream = PackStream::new(self.options);
        self.frames = FRAMES..FRAMES;
    }

    pub(crate) fn add(&mut self, block: &Block<'_>) -> Result {
        self.stream.add(block).map_err(|error| encode_error(&error))?;
        if self.stream.pending_bytes() >= WRITE_BYTES {
            self.write_frames()?;
        }
        Ok(())
    }

    fn write_frames(&mut self) -> Result {
        let pending = self.stream.pending_bytes() as u64;
        let mut write = || {
            self.storage.seek(SeekFrom::Start(self.frames.end))?;
            self.stream.write_frames(&mut self.storage)
        };
        write().map_err(|error| write_error(&error))?;
        self.frames.end += pending;
        Ok(())
    }

    /// Writes the rest of the pack, or writes it again with other costs. Returns its header and its
    /// size in bytes.
    pub(crate) fn finish(&mut self, costs: &[EncodingCosts]) -> Result<(Vec<u8>, u64)> {
        self.write_frames()?;
        let mut ends = self.stream.finish(costs).map_err(|error| encode_error(&error))?;
        let len = self.write_ends(&ends).map_err(|error| write_error(&error))?;
        ends.head.truncate(HEADER_BYTES);
        Ok((ends.head, len))
    }

    fn write_ends(&mut self, ends: &PackEnds) -> io::Result<u64> {
        let start = ends.head.len() as u64;
        self.move_frames(start)?;
        let end = start + (self.frames.end - self.frames.start);
        self.frames = start..end;
        self.storage.seek(SeekFrom::Start(0))?;
        self.storage.write_all(&ends.head)?;
        self.storage.seek(SeekFrom::Start(end))?;
        self.storage.write_all(&ends.tail)?;
        let len = end + ends.tail.len() as u64;
        self.storage.set_len(len)?;
        Ok(len)
    }

    /// Moves the frames to an offset, if the first block has another size than expected.
    fn move_frames(&mut self, start: u64) -> io::Result<()> {
        let Range { start: old, end } = self.frames;
        let mut buffer = vec![0; MOVED_BYTES];
        let mut left = old..end;
        while start != old && !left.is_empty() {
            let len = (left.end - left.start).min(MOVED_BYTES as u64);
            // No byte may be overwritten before it is moved.
            let from = if start < old { left.start } else { left.end - len };
            let part = &mut buffer[..usize::try_from(len).unwrap_or_default()];
            self.storage.seek(SeekFrom::Start(from))?;
            self.storage.read_exact(part)?;
            self.storage.seek(SeekFrom::Start(from - old + start))?;
            self.storage.write_all(part)?;
            if start < old {
                left.start += len;
            } else {
                left.end -= len;
            }
        }
        Ok(())
    }

    /// Returns a reader of the pack after [`Self::finish`].
    pub(crate) fn written(&mut self) -> WrittenPack<'_> {
        WrittenPack(RefCell::new(&mut *self.storage))
    }
}

impl ReadAt for WrittenPack<'_> {
    fn size(&self) -> io::Result<u64> {
        self.0.borrow_mut().seek(SeekFrom::End(0))
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        let mut storage = self.0.borrow_mut();
        let mut read = |range: &Range<u64>| {
            let len = usize::try_from(range.end - range.start);
            let mut bytes = vec![0; len.map_err(|_| io::ErrorKind::OutOfMemory)?];
            storage.seek(SeekFrom::Start(range.start))?;
            storage.read_exact(&mut bytes)?;
            Ok(Cow::Owned(bytes))
        };
        ranges.iter().map(&mut read).collect()
    }
}

fn encode_error(error: &lcp_encoder::Error) -> Error {
    let kind = if error.is_limit() { ErrorKind::Limit } else { ErrorKind::Io };
    Error::new(kind, format!("{error} (the pack)"))
}

fn write_error(error: &io::Error) -> Error {
    Error::io("write", "the pack", error)
}

#[cfg(test)]
mod tests {
    use lcp_types::FileEntry;

    use super::*;

    /// A tree with this number of files.
    fn tree(files: usize) -> Block<'static> {
        let file = |at| FileEntry::file(format!("{at}.rs"), 1);
        Block::file_tree(".", (0..files).map(file).collect())
    }

    #[test]
    fn frames_move_if_the_first_block_has_another_size() {
        let contents: Vec<_> = (0..9).map(|at| Block::raw(0x42, vec![at; 1 << 20])).collect();
        for (expected, actual) in [(0, 9), (9, 0), (0, 500_000), (500_000, 0), (9, 9)] {
            let mut pack = Cursor::new(Vec::new());
            let mut writer = PackFileWriter::new(&mut pack, EncodeOptions::default());
            writer.reserve_first(&tree(expected)).unwrap();
            contents.iter().try_for_each(|block| writer.add(block)).unwrap();
            writer.replace_first(&tree(actual)).unwrap();
            let (_, len) = writer.finish(&[]).unwrap();
            let blocks = [&[tree(actual)], &contents[..]].concat();
            let encoded = lcp_encoder::encode(&blocks, EncodeOptions::default()).unwrap();
            assert!(pack.get_ref() == &encoded, "{expected} {actual}");
            assert_eq!(len, encoded.len() as u64);
        }
    }

    #[test]
    fn pack_without_its_reserved_block_has_the_bytes_of_an_encoded_one() {
        let block = Block::raw(0x42, b"x".to_vec());
        let mut pack = Cursor::new(Vec::new());
        let mut writer = PackFileWriter::new(&mut pack, EncodeOptions::default());
        writer.reserve_first(&tree(9)).unwrap();
        writer.remove_first();
        writer.add(&block).unwrap();
        writer.finish(&[]).unwrap();
        let encoded = lcp_encoder::encode([&block], EncodeOptions::default()).unwrap();
        assert_eq!(pack.into_inner(), encoded);
    }
}

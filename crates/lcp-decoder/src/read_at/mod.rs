//! Random access to bytes: memory, files, maps, object stores.

#[cfg(feature = "map")]
mod map;
#[cfg(feature = "object-store")]
mod remote_object;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;

use crate::reader::within;
#[cfg(feature = "map")]
pub use map::MmapFile;
#[cfg(feature = "object-store")]
pub use remote_object::RemoteObject;

/// A source of bytes that can be read at any offset (RFC 0003 §6).
pub trait ReadAt {
    /// Returns the size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the size cannot be determined.
    fn size(&self) -> io::Result<u64>;

    /// Reads each of these byte ranges. They must be in ascending order and within the size.
    ///
    /// # Errors
    ///
    /// Returns an error if a range cannot be read completely.
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>>;

    /// Returns whether each request is slow, independently of its size. If so, ranges that are
    /// close to each other are read as one. The default is `false`.
    fn has_high_latency(&self) -> bool {
        false
    }
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn size(&self) -> io::Result<u64> {
        T::size(self)
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        T::read(self, ranges)
    }

    fn has_high_latency(&self) -> bool {
        T::has_high_latency(self)
    }
}

impl ReadAt for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        let bytes = ranges.iter().map(|range| within(self, 0, range).map(Cow::Borrowed));
        bytes.collect::<Option<_>>().ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        self.as_slice().read(ranges)
    }
}

impl ReadAt for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        let size = self.size()?;
        let bytes = |range: &Range<u64>| {
            // The check comes before the allocation, so a range beyond the end allocates nothing.
            if range.end > size {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let len = usize::try_from(range.end.saturating_sub(range.start));
            let mut bytes = vec![0; len.map_err(|_| ErrorKind::OutOfMemory)?];
            read_exact_at(self, &mut bytes, range.start)?;
            Ok(Cow::Owned(bytes))
        };
        ranges.iter().map(bytes).collect()
    }
}

/// A reader of a source from its beginning.
#[derive(Debug)]
pub struct SourceReader<'s, S: ?Sized> {
    source: &'s S,
    offset: u64,
    size: u64,
}

impl<'s, S: ReadAt + ?Sized> SourceReader<'s, S> {
    /// Creates a reader.
    ///
    /// # Errors
    ///
    /// Returns an error if the size of the source cannot be determined.
    pub fn new(source: &'s S) -> io::Result<Self> {
        Ok(Self { source, offset: 0, size: source.size()? })
    }
}

/// The maximum number of bytes of one read.
const READ_BYTES: u64 = 1 << 20;

impl<S: ReadAt + ?Sized> io::Read for SourceReader<'_, S> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = (to.len() as u64).min(self.size - self.offset).min(READ_BYTES);
        if len == 0 {
            return Ok(0);
        }
        let range = self.offset..self.offset + len;
        let read = self.source.read(std::slice::from_ref(&range))?;
        let bytes = read.first().map(Cow::as_ref).unwrap_or_default();
        let to = to.get_mut(..bytes.len()).ok_or(ErrorKind::InvalidData)?;
        to.copy_from_slice(bytes);
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    use std::sync::Mutex;

    // The file position is shared by all readers of the file.
    static LOCK: Mutex<()> = Mutex::new(());
    let _alone = LOCK.lock();
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

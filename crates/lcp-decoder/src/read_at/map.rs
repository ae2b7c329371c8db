//! A file as memory: the one module of LCP that needs `unsafe`.
//!
//! A slice of Rust never changes while it is borrowed. A map of a file does, if
//! somebody writes to the file; and if somebody cuts it short, reading what was cut
//! off ends the process (SIGBUS). No check can rule that out, so whoever opens a
//! map promises it.
#![expect(unsafe_code, reason = "a map of a file is as the file is, which only the caller knows")]

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::Mmap;

use super::ReadAt;

/// A file, mapped into memory: what is read of it is not copied, and what is not
/// read costs nothing.
#[derive(Debug)]
pub struct MmapFile(Mmap);

impl MmapFile {
    /// Maps a file.
    ///
    /// # Safety
    ///
    /// While the map is there, nobody may change the file or cut it short: not
    /// this process, and no other. Files that are replaced as a whole (by another of
    /// the same name) are fine.
    ///
    /// # Errors
    ///
    /// If it cannot be mapped: pipes and devices cannot.
    pub unsafe fn open(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises what `Mmap::map` asks for.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self(map))
    }
}

impl ReadAt for MmapFile {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        self.0.read(ranges)
    }
}

impl std::ops::Deref for MmapFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

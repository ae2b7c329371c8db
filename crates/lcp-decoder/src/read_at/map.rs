//! Memory-mapped files. This is the only module of LCP with `unsafe` code.
//!
//! A Rust slice must not change while it is borrowed. A mapped file changes if a process writes to
//! it. If a process truncates it, access to the removed part ends this process with SIGBUS. No
//! check can prevent that, so the caller of [`MmapFile::open`] must guarantee it.
#![expect(unsafe_code, reason = "a map of a file is as the file is, which only the caller knows")]

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::Mmap;

use super::ReadAt;

/// A memory-mapped file. Reads do not copy, and parts that are not read are not loaded.
#[derive(Debug)]
pub struct MmapFile(Mmap);

impl MmapFile {
    /// Maps a file into memory.
    ///
    /// # Safety
    ///
    /// While the map exists, no process may modify or truncate the file; this includes the current
    /// process. Replacing the file as a whole, by renaming another one to its name, is safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be mapped. Pipes and devices cannot be mapped.
    pub unsafe fn open(file: &File) -> io::Result<Self> {
        // SAFETY: the caller guarantees the requirements of `Mmap::map`.
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

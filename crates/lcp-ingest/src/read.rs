//! Reads and inspects files.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use lcp_types::{Lang, limits};

use crate::error::{Error, Result};
use crate::file_type::{BINARY_SNIFF_BYTES, FileType, is_generated, is_minified};
use crate::options::{FileToSummarize, IngestOptions, Progress};
use crate::report::{SkipReason, SkippedFile};
use crate::walk::FoundFile;

/// The maximum number of bytes to allocate for a file before it is read.
const CAPACITY_MAX: u64 = 4 << 20;

#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) file_type: FileType,
    pub(crate) bytes: Vec<u8>,
    pub(crate) summary: Option<String>,
    pub(crate) is_generated: bool,
}

/// A reader of files, within the limits of a pack.
pub(crate) struct Reader<'r> {
    options: &'r IngestOptions<'r>,
    /// The total size of the files read so far, in bytes.
    total: AtomicU64,
}

/// A file that was read, or the reason why it was not.
pub(crate) type ReadOutcome = Result<ReadFile, SkippedFile>;

impl<'r> Reader<'r> {
    pub(crate) fn new(options: &'r IngestOptions<'r>) -> Self {
        Self { options, total: AtomicU64::new(0) }
    }

    /// Reads a file that the walk found. Returns an error only if all files together exceed the
    /// limit of a pack.
    pub(crate) fn read_file(&self, file: &FoundFile) -> Result<ReadOutcome> {
        let outcome = if file.size > self.options.max_file_bytes {
            Err(SkippedFile::new(&file.label, SkipReason::TooLarge))
        } else {
            self.read_bytes(file).and_then(|bytes| self.inspect(&file.label, bytes))
        };
        (self.options.progress)(Progress::Read);
        let outcome = outcome.map_err(|skipped| SkippedFile {
            bytes: skipped.bytes.or(Some(file.size)).filter(|_| skipped.reason.is_in_tree()),
            ..skipped
        });
        self.count(outcome)
    }

    /// Reads the text of standard input.
    pub(crate) fn read_input(&self, name: &str, bytes: Vec<u8>) -> Result<ReadOutcome> {
        let size = bytes.len() as u64;
        let outcome = self.inspect(name, bytes);
        self.count(outcome.map_err(|skipped| SkippedFile { bytes: Some(size), ..skipped }))
    }

    fn count(&self, outcome: ReadOutcome) -> Result<ReadOutcome> {
        if let Ok(read) = &outcome {
            let size = read.bytes.len() as u64;
            let total = self.total.fetch_add(size, Ordering::Relaxed) + size;
            if total > limits::TOTAL_DECOMPRESSED_BYTES_MAX {
                return Err(Error::too_many_bytes());
            }
        }
        Ok(outcome)
    }

    fn read_bytes(&self, file: &FoundFile) -> Result<Vec<u8>, SkippedFile> {
        let failed = |error| SkippedFile::failed(&file.label, &error);
        // The limit of a pack applies even if the options allow larger files.
        let max = self.options.max_file_bytes.min(limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        let opened = match self.options.open {
            Some(open) => open(&file.path),
            None => open(&file.path, file.may_be_link),
        };
        let opened = opened.map_err(failed)?;
        // The path may have been replaced since the walk.
        if !opened.metadata().map_err(failed)?.is_file() {
            return Err(SkippedFile::new(&file.label, SkipReason::Special));
        }
        // A sparse file may claim any size, so the first allocation is bounded.
        let capacity = usize::try_from(file.size.min(max).min(CAPACITY_MAX)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(capacity + 1);
        let mut opened = opened.take(max.saturating_add(1));
        opened.by_ref().take(BINARY_SNIFF_BYTES as u64).read_to_end(&mut bytes).map_err(failed)?;
        if !self.is_binary(&file.label, &bytes) {
            opened.read_to_end(&mut bytes).map_err(failed)?;
        }
        if bytes.len() as u64 > max {
            return Err(SkippedFile::new(&file.label, SkipReason::TooLarge));
        }
        Ok(bytes)
    }

    /// Returns whether the file is binary, so that the rest need not be read.
    fn is_binary(&self, label: &str, head: &[u8]) -> bool {
        let file_type = FileType::detect(label, head);
        let is_image = matches!(file_type, FileType::Image(_)) && self.options.images;
        !is_image && has_nul(head)
    }

    /// Decides whether to pack the content, and detects its type.
    fn inspect(&self, label: &str, bytes: Vec<u8>) -> ReadOutcome {
        let skip = |reason| Err(SkippedFile::new(label, reason));
        if bytes.is_empty() {
            return skip(SkipReason::Empty);
        }
        let file_type = FileType::detect(label, &bytes);
        if let FileType::Image(_) = file_type {
            if !self.options.images {
                return skip(SkipReason::Image);
            }
            if !file_type.matches_image(&bytes) {
                return skip(SkipReason::Binary);
            }
            return Ok(ReadFile { file_type, bytes, summary: None, is_generated: false });
        }
        if has_nul(&bytes) {
            return skip(SkipReason::Binary);
        }
        let is_script = matches!(file_type.lang(), Lang::JavaScript | Lang::Css);
        let is_generated = is_generated(&bytes) || (is_script && is_minified(&bytes));
        let summary = self.summarize(label, file_type, &bytes);
        Ok(ReadFile { file_type, bytes, summary, is_generated })
    }

    /// Summarizes a text. Returns `None` if the summary is empty, not smaller than the text, or too
    /// large for a block.
    fn summarize(&self, path: &str, file_type: FileType, bytes: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(bytes).ok()?;
        let summary = self.options.summarize?(&FileToSummarize { path, file_type, text })?;
        let is_smaller = summary.len() < text.len();
        let fits = summary.len() as u64 <= limits::SUMMARY_BYTES_MAX;
        (is_smaller && fits && !summary.is_empty()).then_some(summary)
    }
}

fn has_nul(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(BINARY_SNIFF_BYTES)].contains(&0)
}

#[cfg(unix)]
fn open(path: &Path, may_be_link: bool) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    // If the path has become a pipe or a link since the walk, opening must not block on the pipe or
    // follow the link.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, !may_be_link);
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path, _: bool) -> std::io::Result<std::fs::File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(test)]
mod tests;

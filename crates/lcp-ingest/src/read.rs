//! Reading of files.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use lcp_types::{Lang, limits};

use crate::error::{Error, Result};
use crate::file_type::{BINARY_SNIFF_BYTES, FileType};
use crate::generated::{is_generated, is_minified};
use crate::options::{FileToSummarize, IngestOptions, Progress};
use crate::report::{SkipReason, SkippedFile};
use crate::walk::FoundFile;

/// Bytes that are set aside for a file before it is read.
const CAPACITY_MAX: u64 = 4 << 20;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) file_type: FileType,
    pub(crate) bytes: Vec<u8>,
    pub(crate) summary: Option<String>,
    pub(crate) is_generated: bool,
}

/// Reads files, within the limits of a pack.
pub(crate) struct Reader<'r> {
    options: &'r IngestOptions<'r>,
    /// Bytes of all files so far.
    total: AtomicU64,
}

/// A file that was read, or the reason why it was not.
pub(crate) type ReadOutcome = Result<ReadFile, SkippedFile>;

impl<'r> Reader<'r> {
    pub(crate) fn new(options: &'r IngestOptions<'r>) -> Self {
        Self { options, total: AtomicU64::new(0) }
    }

    /// Reads a file that was found.
    ///
    /// # Errors
    ///
    /// Too many bytes together. The failure of one file is its outcome.
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
        // A pack holds no larger file, however large files may be.
        let max = self.options.max_file_bytes.min(limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        let opened = match self.options.open {
            Some(open) => open(&file.path),
            None => open(&file.path, file.may_be_link),
        };
        let opened = opened.map_err(failed)?;
        // It may be something else by now.
        if !opened.metadata().map_err(failed)?.is_file() {
            return Err(SkippedFile::new(&file.label, SkipReason::Special));
        }
        // Sparse files have any size.
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

    /// Returns whether the rest need not be read.
    fn is_binary(&self, label: &str, head: &[u8]) -> bool {
        let file_type = FileType::detect(label, head);
        let is_image = matches!(file_type, FileType::Image(_)) && self.options.images;
        !is_image && has_nul(head)
    }

    /// Decides whether a text is packed, and as what.
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

    /// Summarizes a text, if the summary is smaller.
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

    // A file that has become a pipe or a link since it was found is neither waited for
    // nor followed.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, !may_be_link);
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path, _: bool) -> std::io::Result<std::fs::File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::error::ErrorKind;

    fn file(path: PathBuf) -> FoundFile {
        let label = "a.rs".to_owned();
        FoundFile { label, path, size: 1, may_be_link: false, root: 0 }
    }

    fn reason(path: PathBuf) -> SkipReason {
        let options = IngestOptions::default();
        Reader::new(&options).read_file(&file(path)).unwrap().unwrap_err().reason
    }

    #[test]
    fn what_was_found_may_be_something_else_by_now() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        assert_eq!(reason(at("gone")), SkipReason::Vanished);
        std::fs::write(at("file"), "x").unwrap();
        assert_eq!(reason(at("file/below")), SkipReason::Vanished);
        std::fs::create_dir(at("folder")).unwrap();
        assert_eq!(reason(at("folder")), SkipReason::Special);
        std::fs::write(at("grown"), "x".repeat(2 << 20)).unwrap();
        assert_eq!(reason(at("grown")), SkipReason::TooLarge);
        std::fs::write(at("emptied"), "").unwrap();
        assert_eq!(reason(at("emptied")), SkipReason::Empty);
    }

    #[cfg(unix)]
    #[test]
    fn neither_pipes_nor_links_that_came_later_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        let status = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(status.success());
        assert_eq!(reason(at("pipe")), SkipReason::Special);
        std::fs::write(at("secret"), "x").unwrap();
        std::os::unix::fs::symlink(at("secret"), at("link")).unwrap();
        assert_eq!(reason(at("link")), SkipReason::Unreadable);
    }

    #[test]
    fn all_files_together_are_bounded() {
        let options = IngestOptions::default();
        let total = AtomicU64::new(limits::TOTAL_DECOMPRESSED_BYTES_MAX - 1);
        let reader = Reader { options: &options, total };
        assert!(reader.read_input("a.rs", b"x".to_vec()).unwrap().is_ok());
        let error = reader.read_input("a.rs", b"x".to_vec()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().contains("TOTAL_DECOMPRESSED_BYTES_MAX"), "{error}");
    }

    #[test]
    fn summaries_are_smaller_than_what_they_summarise() {
        let summary_of = |summary: &'static str, bytes: &[u8]| {
            let summarize = |file: &FileToSummarize<'_>| {
                assert_eq!((file.path, file.file_type), ("a.rs", FileType::Code(Lang::Rust)));
                Some(summary.to_owned())
            };
            let options = IngestOptions { summarize: Some(&summarize), ..IngestOptions::default() };
            Reader::new(&options).read_input("a.rs", bytes.to_vec()).unwrap().unwrap().summary
        };
        assert_eq!(summary_of("fn", b"fn a() {}").as_deref(), Some("fn"));
        assert_eq!(summary_of("fn a() {}", b"fn a() {}"), None);
        assert_eq!(summary_of("", b"fn a() {}"), None);
        assert_eq!(summary_of("fn", b"fn a() {\xff}"), None, "not text");
    }
}

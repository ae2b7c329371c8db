//! Reading a file, and what it turns out to be.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use lcp_types::{Lang, limits};

use super::generated::{is_generated, is_minified};
use super::kinds::Kind;
use super::skipped::{Reason, Skipped};
use super::walk::File;
use super::{FileForSummary, Options, Progress, limit};
use crate::Result;
use crate::failure::Failure;

/// Bytes that are set aside for a file before it is read.
const CAPACITY_MAX: u64 = 4 << 20;

/// Bytes among which a NUL says that a file is binary.
pub(super) const HEAD: usize = 8 << 10;

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
    pub(super) summary: Option<String>,
    pub(super) is_generated: bool,
}

/// Reads files, within the limits of a pack.
pub(super) struct Reader<'r> {
    options: &'r Options<'r>,
    /// Bytes of all files so far.
    total: AtomicU64,
}

/// What became of a file.
pub(super) type Outcome = std::result::Result<Read, Skipped>;

impl<'r> Reader<'r> {
    pub(super) fn new(options: &'r Options<'r>) -> Self {
        Self { options, total: AtomicU64::new(0) }
    }

    /// Reads a file that was found.
    ///
    /// # Errors
    ///
    /// Too many bytes together; what is wrong with one file is its outcome.
    pub(super) fn file(&self, file: &File) -> Result<Outcome> {
        let outcome = if file.size > self.options.max_file_bytes {
            Err(Skipped::new(&file.label, Reason::TooLarge))
        } else {
            self.open(file).and_then(|bytes| self.look(&file.label, bytes))
        };
        (self.options.progress)(Progress::Read);
        let outcome = outcome.map_err(|skipped| Skipped {
            bytes: skipped.bytes.or(Some(file.size)).filter(|_| skipped.reason.is_in_tree()),
            ..skipped
        });
        self.counted(outcome)
    }

    /// What standard input held.
    pub(super) fn input(&self, name: &str, bytes: Vec<u8>) -> Result<Outcome> {
        let size = bytes.len() as u64;
        let outcome = self.look(name, bytes);
        self.counted(outcome.map_err(|skipped| Skipped { bytes: Some(size), ..skipped }))
    }

    fn counted(&self, outcome: Outcome) -> Result<Outcome> {
        if let Ok(read) = &outcome {
            let size = read.bytes.len() as u64;
            let total = self.total.fetch_add(size, Ordering::Relaxed) + size;
            if total > limits::TOTAL_DECOMPRESSED_BYTES_MAX {
                return Err(too_much());
            }
        }
        Ok(outcome)
    }

    fn open(&self, file: &File) -> std::result::Result<Vec<u8>, Skipped> {
        let failed = |error| Skipped::failed(&file.label, &error);
        // No file is of use that a pack cannot hold, whatever is allowed.
        let max = self.options.max_file_bytes.min(limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        let opened = match self.options.open {
            Some(open) => open(&file.path),
            None => open(&file.path, file.may_be_link),
        };
        let opened = opened.map_err(failed)?;
        // It may be something else by now.
        if !opened.metadata().map_err(failed)?.is_file() {
            return Err(Skipped::new(&file.label, Reason::Special));
        }
        // A size is only said: sparse files have any.
        let capacity = usize::try_from(file.size.min(max).min(CAPACITY_MAX)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(capacity + 1);
        let mut opened = opened.take(max.saturating_add(1));
        opened.by_ref().take(HEAD as u64).read_to_end(&mut bytes).map_err(failed)?;
        if !self.is_binary(&file.label, &bytes) {
            opened.read_to_end(&mut bytes).map_err(failed)?;
        }
        if bytes.len() as u64 > max {
            return Err(Skipped::new(&file.label, Reason::TooLarge));
        }
        Ok(bytes)
    }

    /// Whether the rest need not be read.
    fn is_binary(&self, label: &str, head: &[u8]) -> bool {
        let kind = Kind::of(label, head);
        let is_image = matches!(kind, Kind::Image(_)) && self.options.images;
        !is_image && has_nul(head)
    }

    /// What is to be packed of a text.
    fn look(&self, label: &str, bytes: Vec<u8>) -> Outcome {
        let skip = |reason| Err(Skipped::new(label, reason));
        if bytes.is_empty() {
            return skip(Reason::Empty);
        }
        let kind = Kind::of(label, &bytes);
        if let Kind::Image(_) = kind {
            if !self.options.images {
                return skip(Reason::Image);
            }
            if !kind.is_image_of(&bytes) {
                return skip(Reason::Binary);
            }
            return Ok(Read { kind, bytes, summary: None, is_generated: false });
        }
        if has_nul(&bytes) {
            return skip(Reason::Binary);
        }
        let is_script = matches!(kind.lang(), Lang::JavaScript | Lang::Css);
        let is_generated = is_generated(&bytes) || (is_script && is_minified(&bytes));
        let summary = self.summary(label, kind, &bytes);
        Ok(Read { kind, bytes, summary, is_generated })
    }

    /// A summary that is smaller than the text.
    fn summary(&self, path: &str, kind: Kind, bytes: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(bytes).ok()?;
        let summary = self.options.summary?(&FileForSummary { path, kind, text })?;
        let is_smaller = summary.len() < text.len();
        let fits = summary.len() as u64 <= limits::SUMMARY_BYTES_MAX;
        (is_smaller && fits && !summary.is_empty()).then_some(summary)
    }
}

fn has_nul(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(HEAD)].contains(&0)
}

/// The failure of more bytes than a pack can hold.
pub(super) fn too_much() -> Failure {
    let (name, max) = ("TOTAL_DECOMPRESSED_BYTES_MAX", limits::TOTAL_DECOMPRESSED_BYTES_MAX);
    limit("the pack would have more bytes", name, max)
        .hint("--exclude and --max-file-size leave files out")
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
    use crate::failure::Code;

    fn file(path: PathBuf) -> File {
        let label = "a.rs".to_owned();
        File { label, path, size: 1, may_be_link: false, root: 0 }
    }

    fn reason(path: PathBuf) -> Reason {
        let options = Options::default();
        Reader::new(&options).file(&file(path)).unwrap().unwrap_err().reason
    }

    #[test]
    fn what_was_found_may_be_something_else_by_now() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        assert_eq!(reason(at("gone")), Reason::Vanished);
        std::fs::write(at("file"), "x").unwrap();
        assert_eq!(reason(at("file/below")), Reason::Vanished);
        std::fs::create_dir(at("folder")).unwrap();
        assert_eq!(reason(at("folder")), Reason::Special);
        std::fs::write(at("grown"), "x".repeat(2 << 20)).unwrap();
        assert_eq!(reason(at("grown")), Reason::TooLarge);
        std::fs::write(at("emptied"), "").unwrap();
        assert_eq!(reason(at("emptied")), Reason::Empty);
    }

    #[cfg(unix)]
    #[test]
    fn neither_pipes_nor_links_that_came_later_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(reason(at("pipe")), Reason::Special);
        std::fs::write(at("secret"), "x").unwrap();
        std::os::unix::fs::symlink(at("secret"), at("link")).unwrap();
        assert_eq!(reason(at("link")), Reason::Unreadable);
    }

    #[test]
    fn all_files_together_are_bounded() {
        let options = Options::default();
        let total = AtomicU64::new(limits::TOTAL_DECOMPRESSED_BYTES_MAX - 1);
        let reader = Reader { options: &options, total };
        assert!(reader.input("a.rs", b"x".to_vec()).unwrap().is_ok());
        let failure = reader.input("a.rs", b"x".to_vec()).unwrap_err();
        assert_eq!(failure.code, Code::Limit);
        assert!(failure.message.contains("TOTAL_DECOMPRESSED_BYTES_MAX"), "{}", failure.message);
    }

    #[test]
    fn summaries_are_smaller_than_what_they_summarise() {
        let of = |summary: &'static str, bytes: &[u8]| {
            let summarise = |file: &FileForSummary<'_>| {
                assert_eq!((file.path, file.kind), ("a.rs", Kind::Code(Lang::Rust)));
                Some(summary.to_owned())
            };
            let options = Options { summary: Some(&summarise), ..Options::default() };
            Reader::new(&options).input("a.rs", bytes.to_vec()).unwrap().unwrap().summary
        };
        assert_eq!(of("fn", b"fn a() {}").as_deref(), Some("fn"));
        assert_eq!(of("fn a() {}", b"fn a() {}"), None);
        assert_eq!(of("", b"fn a() {}"), None);
        assert_eq!(of("fn", b"fn a() {\xff}"), None, "not text");
    }
}

//! The report of ingestion: the files that were packed, and those that were left out.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use serde_json::{Value, json};

use crate::file_type::FileType;
use crate::rules::BlockAttributes;

lcp_types::named_enum! {
    /// The reason why a file has no block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SkipReason {
        /// It is empty.
        Empty = "empty",
        /// It has a NUL among its first 8 KiB, or is no image of the type that its name has.
        Binary = "binary",
        /// It is an image, and those are not packed.
        Image = "image",
        /// It is larger than files may be.
        TooLarge = "too_large",
        /// It could not be read.
        Unreadable = "unreadable",
        /// An ignore file that cannot be read, so that its patterns are unknown: all files
        /// below it are left out.
        IgnoreFile = "ignore_file",
        /// It was removed after it was found.
        Vanished = "vanished",
        /// A link, and those are not followed.
        Link = "link",
        /// A link that leads nowhere.
        BrokenLink = "broken_link",
        /// A link that leads to a folder above it.
        Loop = "loop",
        /// A pipe, a socket or a device.
        Special = "special",
        /// A change that is too large, or of a file that is left out, also where only files that
        /// differ are asked for.
        Change = "change",
    }
}

impl SkipReason {
    /// Returns the reason of a read error.
    fn from_io(error: &std::io::Error) -> Self {
        match error.kind() {
            // The folder that it was in may be something else by now.
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Vanished,
            _ => Self::Unreadable,
        }
    }

    /// Returns whether the pack lacks something that it should have.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Unreadable | Self::IgnoreFile)
    }

    /// Returns whether the file tree has it all the same.
    pub(crate) fn is_in_tree(self) -> bool {
        matches!(self, Self::Empty | Self::Binary | Self::Image | Self::TooLarge | Self::Unreadable)
    }
}

/// A file that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its label; of a path without a label, the path as it was given.
    pub path: String,
    /// Whether `path` is no label, and so is not in the pack.
    pub(crate) is_unlabelled: bool,
    /// The reason.
    pub reason: SkipReason,
    /// Its size, where that is known.
    pub bytes: Option<u64>,
    /// The message of the system.
    pub message: Option<String>,
}

impl SkippedFile {
    pub(crate) fn new(path: impl Into<String>, reason: SkipReason) -> Self {
        Self { path: path.into(), is_unlabelled: false, reason, bytes: None, message: None }
    }

    pub(crate) fn failed(path: impl Into<String>, error: &std::io::Error) -> Self {
        let message = Some(error.to_string());
        Self { message, ..Self::new(path, SkipReason::from_io(error)) }
    }
}

/// A file that has a block.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestedFile {
    /// Its label.
    pub path: String,
    /// Its type.
    pub file_type: FileType,
    /// Its size.
    pub bytes: u64,
    /// Its attributes, by the rules.
    pub attributes: BlockAttributes,
    /// Whether it differs from a revision that was asked for.
    pub changed: bool,
    /// Bytes of its summary, where it has one.
    pub summary_bytes: Option<u64>,
}

/// A report of all files that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IngestReport {
    /// Files that have a block, in the order of the pack.
    pub files: Vec<IngestedFile>,
    /// The path of each block of changes, with its attributes and its number of hunks.
    pub diffs: Vec<(String, BlockAttributes, usize)>,
    /// Files without a block, sorted by path.
    pub skipped: Vec<SkippedFile>,
    /// Warnings, a line each.
    pub warnings: Vec<String>,
}

impl IngestReport {
    /// Returns the bytes of all files that have a block.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Counts the skipped files by reason.
    #[must_use]
    pub fn skipped_by_reason(&self) -> BTreeMap<SkipReason, usize> {
        let mut reasons = BTreeMap::new();
        for skipped in &self.skipped {
            *reasons.entry(skipped.reason).or_default() += 1;
        }
        reasons
    }

    /// Returns the files that were skipped for this reason.
    pub fn skipped_by(&self, reason: SkipReason) -> impl Iterator<Item = &SkippedFile> {
        self.skipped.iter().filter(move |skipped| skipped.reason == reason)
    }

    /// Returns how many files were skipped and why, in words, if any were.
    #[must_use]
    pub fn skipped_summary(&self) -> Option<String> {
        let reasons: Vec<_> = self
            .skipped_by_reason()
            .into_iter()
            .map(|(reason, count)| format!("{count} {}", reason.name().replace('_', " ")))
            .collect();
        let count = self.skipped.len();
        let files = if count == 1 { "file" } else { "files" };
        (count > 0).then(|| format!("{count} {files} left out: {}", reasons.join(", ")))
    }

    /// Returns the report as `lcp.pack.v1`, without the fields of the written pack.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let reasons = self.skipped_by_reason().into_iter();
        let reasons = reasons.map(|(reason, count)| (reason.name().to_owned(), count.into()));
        json!({
            "schema": "lcp.pack.v1",
            "totals": {
                "files": self.files.len(),
                "bytes": self.bytes(),
                "diffs": self.diffs.len(),
                "skipped": self.skipped.len(),
                "skipped_by_reason": Value::Object(reasons.collect()),
            },
            "packed": self.files.iter().map(file).collect::<Vec<_>>(),
            "diffs": self.diffs.iter().map(diff).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skipped).collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }
}

fn file(file: &IngestedFile) -> Value {
    let (block_type, format) = file.file_type.names();
    let mut value = json!({
        "path": file.path,
        "type": block_type,
        "format": format,
        "bytes": file.bytes,
        "changed": file.changed,
        "summary_bytes": file.summary_bytes,
    });
    add_attributes(&mut value, &file.attributes);
    value
}

fn diff((path, attributes, hunks): &(String, BlockAttributes, usize)) -> Value {
    let mut value = json!({ "path": path, "hunks": hunks });
    add_attributes(&mut value, attributes);
    value
}

fn add_attributes(value: &mut Value, attributes: &BlockAttributes) {
    value["priority"] = attributes.priority.unwrap_or_default().name().into();
    value["category"] = attributes.category.clone().into();
    value["rank"] = attributes.rank.into();
    value["pinned"] = attributes.pinned.unwrap_or_default().into();
}

fn skipped(skipped: &SkippedFile) -> Value {
    json!({
        "path": skipped.path,
        "reason": skipped.reason.name(),
        "bytes": skipped.bytes,
        "message": skipped.message,
    })
}

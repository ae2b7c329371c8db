//! The report of ingestion: the packed files and the skipped files.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use serde_json::{Value, json};

use crate::file_type::FileType;
use crate::rules::BlockAttributes;

lcp_types::named_enum! {
    /// The reason why a file has no block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SkipReason {
        /// The file is empty.
        Empty = "empty",
        /// The content is not text, or does not match the image type of the name.
        Binary = "binary",
        /// The content is not text in the character set that the options give.
        Charset = "charset",
        /// A converter failed, and the content is not text or too large.
        NotConverted = "not_converted",
        /// The file is a pack. The file tree does not list it.
        Pack = "pack",
        /// The file is an image, and the options leave images out.
        Image = "image",
        /// The file is larger than the options allow.
        TooLarge = "too_large",
        /// The file could not be read.
        Unreadable = "unreadable",
        /// An ignore file that cannot be read. Its patterns are unknown, so all files below it are
        /// left out.
        IgnoreFile = "ignore_file",
        /// The file was removed after it was found.
        Vanished = "vanished",
        /// A symbolic link, and the options do not follow links.
        Link = "link",
        /// A symbolic link to a path that does not exist.
        BrokenLink = "broken_link",
        /// A symbolic link that leads to itself or to a folder above it.
        Loop = "loop",
        /// A pipe, a socket or a device.
        Special = "special",
        /// A folder of dependencies, caches or build output. Its files are not listed.
        UnwantedFolder = "unwanted_folder",
        /// A submodule that is not checked out. The file tree lists its folder.
        Submodule = "submodule",
        /// A change that is left out because it is too large or its file is left out. Also a
        /// changed file that the walk left out, if only changed files are packed.
        Change = "change",
        /// The file has a secret, and the options leave such files out.
        Secret = "secret",
    }
}

impl SkipReason {
    /// Returns the reason that corresponds to a read error.
    fn from_io(error: &std::io::Error) -> Self {
        match error.kind() {
            // Its folder may have been replaced by a file.
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Vanished,
            _ => Self::Unreadable,
        }
    }

    /// Returns whether the file is missing from the pack because of an error.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Unreadable | Self::IgnoreFile)
    }

    /// Returns whether the file tree lists a file that is skipped for this reason.
    pub(crate) fn is_in_tree(self) -> bool {
        matches!(
            self,
            Self::Empty
                | Self::Binary
                | Self::Charset
                | Self::NotConverted
                | Self::Image
                | Self::TooLarge
                | Self::Unreadable
                | Self::Secret
                | Self::Submodule
        )
    }
}

/// A file without a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// The label of the file, or the path as given if it has no label.
    pub path: String,
    /// `true` if `path` is not a label. Such a path is not part of the pack.
    pub(crate) is_unlabelled: bool,
    /// The reason why the file has no block.
    pub reason: SkipReason,
    /// The size of the file, if it is known.
    pub bytes: Option<u64>,
    /// The error message of the operating system, or an explanation.
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

/// A file with a block.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestedFile {
    /// The label of the file.
    pub path: String,
    /// The type of the file.
    pub file_type: FileType,
    /// The size of the packed text in bytes.
    pub bytes: u64,
    /// The character set that the text was decoded from, if it was not UTF-8.
    pub charset: Option<&'static str>,
    /// `true` if the text is the script of a notebook.
    pub is_notebook: bool,
    /// The format that the text was converted from, as in the tag `converted`.
    pub converted: Option<String>,
    /// The attributes that the rules set.
    pub attributes: BlockAttributes,
    /// `true` if the file differs from the revision in `since` or `diff`.
    pub changed: bool,
    /// The size of the summary in bytes, if the file has one.
    pub summary_bytes: Option<u64>,
}

/// A secret in a file or a change. The value is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// The label of the file.
    pub path: String,
    /// The line on which the secret begins, from 1. In a change, it is the line of the new file.
    pub line: usize,
    /// The kind of secret, one of [`lcp_secrets::kinds`].
    pub kind: &'static str,
}

/// A report of all files that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IngestReport {
    /// The files with a block, in the order of the pack.
    pub files: Vec<IngestedFile>,
    /// The path, attributes and number of hunks of each DIFF block.
    pub diffs: Vec<(String, BlockAttributes, usize)>,
    /// The files without a block, sorted by path.
    pub skipped: Vec<SkippedFile>,
    /// The secrets that were found, in the order of the pack.
    pub secrets: Vec<SecretFinding>,
    /// The warnings, one line each.
    pub warnings: Vec<String>,
}

impl IngestReport {
    /// Returns the total size of all files with a block, in bytes.
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

    /// Returns a phrase that counts the skipped files by reason, or `None` if no file was skipped.
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

    /// Returns the report as `lcp.pack.v1` JSON, without the fields of the written pack.
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
                "secrets": self.secrets.len(),
            },
            "packed": self.files.iter().map(file).collect::<Vec<_>>(),
            "diffs": self.diffs.iter().map(diff).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skipped).collect::<Vec<_>>(),
            "secrets": self.secrets.iter().map(secret).collect::<Vec<_>>(),
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
        "charset": file.charset,
        "notebook": file.is_notebook,
        "converted": file.converted,
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

fn secret(secret: &SecretFinding) -> Value {
    json!({ "path": secret.path, "line": secret.line, "kind": secret.kind })
}

fn skipped(skipped: &SkippedFile) -> Value {
    json!({
        "path": skipped.path,
        "reason": skipped.reason.name(),
        "bytes": skipped.bytes,
        "message": skipped.message,
    })
}

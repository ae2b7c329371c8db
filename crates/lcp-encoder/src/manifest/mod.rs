//! The JSON manifest: the text form of a pack, to read and to write by hand.
//!
//! ```text
//! {"blocks":[
//! {"type":"code","lang":"rust","path":"src/main.rs","content":"…","summary":"…","priority":"high"},
//! {"type":"conversation","role":"user","content":"Why does it fail?"}
//! ]}
//! ```
//!
//! `type` is the manifest name of the block type. The other keys are the names of its fields (RFC
//! 0001 §7), and `summary`, `priority`, `tags` and `levels`.
//!
//! - Bytes are given as text (`content`), as base64 (`content_base64`) or as a file name
//!   (`content_file`).
//! - Values of enumerations are names, or numbers for values without a name.
//! - `priority`, `tags` and `levels` become annotation blocks directly after their block. A
//!   manifest with explicit ANNOTATION blocks must not use these keys.
//!
//! RFC 0001 §11 has the complete rules.

mod read;
mod write;

use lcp_types::{Block, BlockType, CarriedLevel, Priority, Tag};

use crate::{EncodeOptions, PackWriter};

pub use write::to_json;

/// A manifest: blocks with their annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The entries in pack order.
    pub entries: Vec<Entry>,
}

/// One block of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The block.
    pub block: Block<'static>,
    /// The priority, if the manifest sets one.
    pub priority: Option<Priority>,
    /// The tags.
    pub tags: Vec<Tag<'static>>,
    /// The alternate texts of the block, with their levels.
    pub levels: Vec<(CarriedLevel, String)>,
    /// The optional keys that the entry omits: `lang`, `status` or `format_hint`. The block has the
    /// default values of these fields.
    pub absent: Vec<&'static str>,
}

impl Entry {
    /// Creates an entry for a block, without annotations.
    #[must_use]
    pub fn new(block: Block<'static>) -> Self {
        let (tags, levels, absent) = (Vec::new(), Vec::new(), Vec::new());
        Self { block, priority: None, tags, levels, absent }
    }

    /// Omits the fields with these names from the JSON, as far as the manifest allows it.
    #[must_use]
    pub fn omit_fields(mut self, names: &[&str]) -> Self {
        let of_type = DEFAULTS.iter().filter(|(of, ..)| *of == self.block.block_type());
        let left_out = of_type.map(|(_, key, _)| *key).filter(|key| names.contains(key));
        self.absent.extend(left_out);
        self
    }

    /// Returns whether the entry has a key that becomes a block of its own.
    fn has_annotations(&self) -> bool {
        self.priority.is_some() || !self.tags.is_empty() || !self.levels.is_empty()
    }
}

/// The default values that a manifest has for required fields: type, key, value.
const DEFAULTS: &[(BlockType, &str, &str)] = &[
    (BlockType::Code, "lang", "unknown"),
    (BlockType::ToolResult, "status", "ok"),
    (BlockType::Document, "format_hint", "plain"),
];

/// A function that loads the file named by a `…_file` key. The caller decides how to interpret
/// paths; the commands resolve them relative to the manifest.
pub type FileLoader<'l> = dyn FnMut(&str) -> std::io::Result<Vec<u8>> + 'l;

impl Manifest {
    /// Parses a manifest. `load` is called for each `…_file` key.
    ///
    /// # Errors
    ///
    /// Returns the first error, with its location.
    ///
    /// ```
    /// use lcp_encoder::manifest::Manifest;
    ///
    /// let json = br#"{"blocks":[{"type":"code","lang":"rusty","path":"a.rs","content":""}]}"#;
    /// let error = Manifest::parse(json, &mut |_| unreachable!()).unwrap_err();
    /// assert!(error.to_string().starts_with("blocks[0].lang: unknown value \"rusty\""));
    /// ```
    pub fn parse(json: &[u8], load: &mut FileLoader<'_>) -> Result<Self, ManifestError> {
        read::manifest(json, load)
    }

    /// Formats the manifest as JSON with one block per line. Parsing the result returns the same
    /// manifest.
    ///
    /// ```
    /// use lcp_encoder::manifest::{Entry, Manifest};
    /// use lcp_types::{Block, Lang, Priority};
    ///
    /// let code = Block::code(Lang::Unknown, "a", "x");
    /// let entry = Entry { priority: Some(Priority::High), ..Entry::new(code).omit_fields(&["lang"]) };
    /// let json = Manifest { entries: vec![entry] }.to_json();
    /// let line = r#"{"type":"code","priority":"high","path":"a","content":"x"}"#;
    /// assert_eq!(json, format!("{{\"blocks\":[\n{line}\n]}}\n"));
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        write::manifest(&self.entries)
    }

    /// Encodes the blocks, each followed by its annotations from the manifest.
    ///
    /// # Errors
    ///
    /// Returns an error for the first block that cannot be written, with a location such as
    /// `blocks[3]`.
    pub fn to_pack(&self, options: EncodeOptions) -> Result<Vec<u8>, ManifestError> {
        let mut pack = PackWriter::new(options);
        for (i, entry) in self.entries.iter().enumerate() {
            add(&mut pack, entry)
                .map_err(|error| ManifestError::encode(format!("blocks[{i}]"), &error))?;
        }
        pack.finish().map_err(|error| ManifestError::encode(String::new(), &error))
    }
}

fn add(pack: &mut PackWriter, entry: &Entry) -> crate::Result<()> {
    let mut added = pack.add(&entry.block)?;
    if let Some(priority) = entry.priority {
        added.priority(priority)?;
    }
    for tag in &entry.tags {
        added.tag(tag)?;
    }
    for (level, text) in &entry.levels {
        added.level(*level, text)?;
    }
    Ok(())
}

/// An error in a manifest, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{message}", if .path.is_empty() { "" } else { ": " })]
pub struct ManifestError {
    /// The location as a path such as `blocks[3].hunks[0].lines`. It is empty for the whole
    /// manifest.
    pub path: String,
    /// A description of the problem.
    pub message: String,
    /// The kind of the error.
    pub kind: ManifestErrorKind,
}

/// The kinds of manifest errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestErrorKind {
    /// The manifest is malformed (exit code 3 of the commands).
    Malformed,
    /// The manifest exceeds a limit of the format (exit code 5).
    Limit,
    /// A file named in the manifest could not be read (exit code 1).
    Io,
}

impl ManifestError {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        let kind = ManifestErrorKind::Malformed;
        Self { path: path.into(), message: message.into(), kind }
    }

    fn with_kind(mut self, kind: ManifestErrorKind) -> Self {
        self.kind = kind;
        self
    }

    fn encode(path: String, error: &crate::Error) -> Self {
        let this = Self::new(path, error.to_string());
        if error.is_limit() { this.with_kind(ManifestErrorKind::Limit) } else { this }
    }
}

//! The JSON manifest: a pack as text, to build one by hand and to read one.
//!
//! ```text
//! {"blocks":[
//! {"type":"code","lang":"rust","path":"src/main.rs","content":"…","summary":"…","priority":"high"},
//! {"type":"conversation","role":"user","content":"Why does it fail?"}
//! ]}
//! ```
//!
//! `type` is the block type's manifest name; the other keys are the names of
//! its fields (RFC 0001 §7) and `summary`, `priority`, `tags`, `levels`. Bytes come as
//! text (`content`), as base64 (`content_base64`) or from a file
//! (`content_file`). Values of enumerations are names, or numbers where they
//! have none. `priority`, `tags` and `levels` become blocks right after their
//! block; a manifest with ANNOTATION blocks of its own says all of them itself.
//! RFC 0001 §11 has every rule.

mod read;
mod write;

use lcp_types::{Block, BlockType, CarriedLevel, Priority, Tag};

use crate::{EncodeOptions, PackWriter};

pub use write::to_json;

/// A manifest: blocks with their annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// In the order of the pack.
    pub entries: Vec<Entry>,
}

/// One block of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The block.
    pub block: Block<'static>,
    /// Its priority, if the manifest gives one.
    pub priority: Option<Priority>,
    /// Its tags.
    pub tags: Vec<Tag<'static>>,
    /// Its further levels of detail, each with its text.
    pub levels: Vec<(CarriedLevel, String)>,
    /// Keys that it leaves out, of those that a manifest need not say; the block has what
    /// stands for them: `lang`, `status`, `format_hint`.
    pub absent: Vec<&'static str>,
}

impl Entry {
    /// Creates an entry of a block, without annotations.
    #[must_use]
    pub fn new(block: Block<'static>) -> Self {
        let (tags, levels, absent) = (Vec::new(), Vec::new(), Vec::new());
        Self { block, priority: None, tags, levels, absent }
    }

    /// Omits the fields of these names, as far as a manifest may leave them out.
    #[must_use]
    pub fn omit_fields(mut self, names: &[&str]) -> Self {
        let of_type = DEFAULTS.iter().filter(|(of, ..)| *of == self.block.block_type());
        let left_out = of_type.map(|(_, key, _)| *key).filter(|key| names.contains(key));
        self.absent.extend(left_out);
        self
    }

    /// Whether the entry has anything that becomes a block of its own.
    fn has_annotations(&self) -> bool {
        self.priority.is_some() || !self.tags.is_empty() || !self.levels.is_empty()
    }
}

/// The defaults of a manifest for fields that the format requires: type, key, value.
const DEFAULTS: &[(BlockType, &str, &str)] = &[
    (BlockType::Code, "lang", "unknown"),
    (BlockType::ToolResult, "status", "ok"),
    (BlockType::Document, "format_hint", "plain"),
];

/// A loader of the file that a `…_file` key names. Paths mean what the caller wants
/// them to mean; the commands take them relative to the manifest.
pub type FileLoader<'l> = dyn FnMut(&str) -> std::io::Result<Vec<u8>> + 'l;

impl Manifest {
    /// Reads a manifest. `load` is called for each `…_file` key.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its place.
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

    /// The manifest as JSON, one block a line: reading it gives the same manifest.
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

    /// Encodes the blocks, each followed by the annotations that the manifest
    /// gives it.
    ///
    /// # Errors
    ///
    /// The first block that cannot be written, as `blocks[3]: …`.
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

/// What is wrong with a manifest, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{message}", if .path.is_empty() { "" } else { ": " })]
pub struct ManifestError {
    /// The place, as a path: `blocks[3].hunks[0].lines`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Of which kind that is.
    pub kind: ManifestErrorKind,
}

/// The kinds of error that a manifest can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestErrorKind {
    /// It does not say what a manifest must (exit code 3 of the commands).
    Malformed,
    /// It exceeds a limit of the format (exit code 5).
    Limit,
    /// A file that it names could not be read (exit code 1).
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

//! Reads and inspects files.

mod convert;

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use lcp_secrets::{Redactor, Secret};
use lcp_types::wire::{MAGIC_BCP, MAGIC_LCP};
use lcp_types::{CowBytes, FormatHint, Lang, MediaType, limits};

use crate::attributes_file::{AttributeFiles, LinguistAttributes};
use crate::charset::{self, Charset, Decoded};
use crate::error::{Error, Result};
use crate::file_type::{BINARY_SNIFF_BYTES, FileType, is_generated, is_minified};
use crate::git_lfs;
use crate::globs::Globs;
use crate::notebook;
use crate::options::{FileToSummarize, IngestOptions, Progress};
use crate::outline::{OutlineOptions, outline};
use crate::report::{SkipReason, SkippedFile};
use crate::secrets::{SecretFilter, SecretPolicy};
use crate::walk::FoundFile;

/// The maximum size of a file, so that its block fits in a pack with its label and summary.
const BLOCK_TEXT_MAX: u64 = limits::BODY_BYTES_MAX - 4 * limits::TEXT_BYTES_MAX;

/// The maximum number of bytes to allocate for a file before it is read.
const CAPACITY_MAX: u64 = 4 << 20;

/// The format that the text of a file was converted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Converted {
    Notebook,
    GitLfs,
    /// By a converter of the options, from files with this extension.
    ByConverter(String),
}

impl Converted {
    /// Returns the value of the tag `converted`.
    pub(crate) fn format(&self) -> &str {
        match self {
            Self::Notebook => "notebook",
            Self::GitLfs => "git-lfs",
            Self::ByConverter(extension) => extension,
        }
    }
}

#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) file_type: FileType,
    pub(crate) bytes: Vec<u8>,
    /// The size of the file before it was decoded and converted.
    pub(crate) file_bytes: u64,
    pub(crate) is_generated: bool,
    pub(crate) linguist: LinguistAttributes,
    /// The character set that `bytes` were decoded from, if it was not UTF-8.
    pub(crate) charset: Option<&'static str>,
    /// The format that `bytes` were converted from.
    pub(crate) converted: Option<Converted>,
    /// The reason why a notebook was not converted.
    pub(crate) warning: Option<String>,
    /// The reason why a converter failed.
    pub(crate) not_converted: Option<String>,
    /// The secrets in `bytes` as they were read.
    pub(crate) secrets: Vec<Secret>,
}

/// A reader of files, within the limits of a pack.
pub(crate) struct Reader<'r> {
    options: &'r IngestOptions<'r>,
    secrets: &'r SecretFilter<'r>,
    /// The globs of [`IngestOptions::charsets`].
    charsets: Globs,
}

/// A file that was read, or the reason why it was not.
pub(crate) type ReadOutcome = Result<ReadFile, SkippedFile>;

impl<'r> Reader<'r> {
    pub(crate) fn new(
        options: &'r IngestOptions<'r>,
        secrets: &'r SecretFilter<'r>,
    ) -> Result<Self> {
        let charsets = Globs::new(options.charsets.iter().map(|(pattern, _)| pattern));
        let charsets = charsets.map_err(Error::invalid)?;
        Ok(Self { options, secrets, charsets })
    }

    /// Reads a file that the walk found.
    pub(crate) fn read_file(
        &self,
        file: &FoundFile,
        attributes: &[Option<Arc<AttributeFiles<'_>>>],
    ) -> ReadOutcome {
        let outcome = self.read_bytes(file);
        let outcome = outcome.and_then(|bytes| self.read(&file.label, Some(&file.path), bytes));
        let outcome = outcome.map(|read| match attributes.get(file.root) {
            Some(Some(attributes)) => read.with(attributes.attributes(&file.path)),
            _ => read,
        });
        (self.options.progress)(Progress::Read);
        outcome.map_err(|skipped| SkippedFile {
            bytes: skipped.bytes.or(Some(file.size)).filter(|_| skipped.reason.is_in_tree()),
            ..skipped
        })
    }

    /// Reads the text of standard input. Returns an error if the text is too long.
    pub(crate) fn read_input(&self, name: &str, bytes: Vec<u8>) -> Result<ReadOutcome> {
        let size = bytes.len() as u64;
        if size > limits::TOTAL_DECOMPRESSED_BYTES_MAX {
            return Err(Error::too_many_bytes());
        }
        let outcome = self.read(name, None, bytes);
        Ok(outcome.map_err(|skipped| SkippedFile { bytes: Some(size), ..skipped }))
    }

    fn read_bytes(&self, file: &FoundFile) -> Result<Vec<u8>, SkippedFile> {
        let failed = |error| SkippedFile::failed(&file.label, &error);
        let is_converted = self.converted_format(&file.label).is_some();
        let max = self.max_file_bytes(is_converted);
        if file.size > if is_converted { max } else { self.options.max_file_bytes } {
            return Err(SkippedFile::new(&file.label, SkipReason::TooLarge));
        }
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
        if is_converted || !self.is_binary(&file.label, &bytes) {
            opened.read_to_end(&mut bytes).map_err(failed)?;
        }
        if bytes.len() as u64 > max {
            return Err(SkippedFile::new(&file.label, SkipReason::TooLarge));
        }
        Ok(bytes)
    }

    /// Determines the type of a file. SVG is text unless the options ask for images.
    fn file_type(&self, label: &str, head: &[u8]) -> FileType {
        match FileType::detect(label, head) {
            FileType::Image(MediaType::Svg) if !self.options.images => {
                FileType::Code(Lang::Unknown)
            }
            file_type => file_type,
        }
    }

    /// Returns whether the file is binary, so that the rest need not be read.
    fn is_binary(&self, label: &str, head: &[u8]) -> bool {
        let is_image =
            matches!(self.file_type(label, head), FileType::Image(_)) && self.options.images;
        !is_image && self.charset(label).is_none() && charset::is_binary(head)
    }

    /// Returns the character set that the options give to a file.
    fn charset(&self, label: &str) -> Option<Charset> {
        let matches = self.charsets.matches(label);
        matches.last().map(|last| self.options.charsets[*last].1)
    }

    /// Converts a file if the options ask for it, and inspects it.
    fn read(&self, label: &str, path: Option<&Path>, bytes: Vec<u8>) -> ReadOutcome {
        match self.converted_format(label) {
            Some(format) => self.convert(label, path, bytes, format),
            None => self.inspect(label, bytes),
        }
    }

    /// Decides whether to pack the content, and detects its type.
    fn inspect(&self, label: &str, bytes: Vec<u8>) -> ReadOutcome {
        let skip = |reason| Err(SkippedFile::new(label, reason));
        if bytes.is_empty() {
            return skip(SkipReason::Empty);
        }
        if bytes.starts_with(&MAGIC_LCP) || bytes.starts_with(&MAGIC_BCP) {
            return skip(SkipReason::Pack);
        }
        let file_type = self.file_type(label, &bytes);
        if let FileType::Image(_) = file_type {
            if !self.options.images {
                return skip(SkipReason::Image);
            }
            if file_type.matches_image(&bytes) {
                return Ok(ReadFile::new(file_type, bytes));
            }
            if git_lfs::pointer_size(&bytes).is_none() {
                return skip(SkipReason::Binary);
            }
        }
        let file_bytes = bytes.len() as u64;
        let (bytes, charset) = self.decode(label, bytes)?;
        let mut read = ReadFile { file_bytes, charset, ..ReadFile::new(file_type, bytes) };
        if let Some(size) = git_lfs::pointer_size(&read.bytes) {
            read.file_type = FileType::Document(FormatHint::Plain);
            read.bytes = git_lfs::placeholder(size).into_bytes();
            read.converted = Some(Converted::GitLfs);
        } else if is_notebook(label) && !self.options.raw_notebooks {
            read.convert_notebook();
        }
        self.finish(label, read)
    }

    /// Decodes a text. Returns its UTF-8, and the name of the character set unless that is UTF-8.
    fn decode(
        &self,
        label: &str,
        bytes: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<&'static str>), SkippedFile> {
        match charset::decode(bytes, self.charset(label)) {
            Decoded::Unchanged(bytes) => Ok((bytes, None)),
            Decoded::Text(text, charset) => Ok((text.into_bytes(), Some(charset))),
            Decoded::Binary => Err(SkippedFile::new(label, SkipReason::Binary)),
            Decoded::Invalid(charset) => {
                let message = Some(format!("not valid {}", charset.name()));
                let skipped = SkippedFile::new(label, SkipReason::Charset);
                Err(SkippedFile { message, ..skipped })
            }
        }
    }

    /// Finds records, signs of generated text and secrets in the text that is packed.
    fn finish(&self, label: &str, mut read: ReadFile) -> ReadOutcome {
        if read.bytes.is_empty() {
            return Err(SkippedFile::new(label, SkipReason::Empty));
        }
        if read.bytes.len() as u64 > BLOCK_TEXT_MAX {
            return Err(SkippedFile::new(label, SkipReason::TooLarge));
        }
        let is_script = matches!(read.file_type.lang(), Lang::JavaScript | Lang::Css);
        read.file_type =
            read.file_type.with_records(&CowBytes::from(&read.bytes[..]).to_str_lossy());
        read.is_generated = is_generated(&read.bytes) || (is_script && is_minified(&read.bytes));
        read.secrets = self.secrets.find(label, &read.bytes);
        Ok(read)
    }
}

/// Summarizes a text. Tables and lists of records always get an outline. A summary has no secrets,
/// also if the text has. Returns `None` if the summary is empty, not smaller than the text, or too
/// large for a block.
pub(crate) fn summarize(
    options: &IngestOptions<'_>,
    path: &str,
    read: &ReadFile,
) -> Option<String> {
    let has_secrets = options.secrets == SecretPolicy::Warn && !read.secrets.is_empty();
    let redacted = has_secrets.then(|| Redactor::default().redact(&read.bytes, &read.secrets));
    let text = std::str::from_utf8(redacted.as_deref().unwrap_or(&read.bytes)).ok()?;
    let file = FileToSummarize { path, file_type: read.file_type, text };
    let summary = match (read.file_type, options.summarize) {
        (FileType::Image(_), _) => return None,
        (_, Some(summarize)) => summarize(&file)?,
        // The beginning of a table says more than its placeholder, and costs little.
        (FileType::Data(_), None) => outline(file.input_kind(), text, &OutlineOptions::default())?,
        _ => return None,
    };
    let is_smaller = summary.len() < text.len();
    let fits = summary.len() as u64 <= limits::SUMMARY_BYTES_MAX;
    (is_smaller && fits && !summary.is_empty()).then_some(summary)
}

impl ReadFile {
    fn new(file_type: FileType, bytes: Vec<u8>) -> Self {
        Self {
            file_type,
            file_bytes: bytes.len() as u64,
            bytes,
            is_generated: false,
            linguist: LinguistAttributes::default(),
            charset: None,
            converted: None,
            warning: None,
            not_converted: None,
            secrets: Vec::new(),
        }
    }

    /// Sets the attributes of Linguist, and the language that they give.
    fn with(self, linguist: LinguistAttributes) -> Self {
        let lang = linguist.language.as_deref().and_then(|name| match name {
            "c++" => Some(Lang::Cpp),
            name => Lang::from_name(name),
        });
        // The attributes describe the file, not the text that a converter made of it.
        let is_other = matches!(self.converted, Some(Converted::ByConverter(_)));
        let is_text = !is_other && !matches!(self.file_type, FileType::Image(_));
        let file_type = lang.filter(|_| is_text).map_or(self.file_type, FileType::Code);
        Self { file_type, linguist, ..self }
    }

    /// Converts a notebook to a script. A file that is not a notebook stays as it is.
    fn convert_notebook(&mut self) {
        let text = String::from_utf8_lossy(&self.bytes);
        match notebook::to_script(&text) {
            Ok(script) => {
                self.file_type = FileType::Code(script.lang);
                self.bytes = script.text.into_bytes();
                self.converted = Some(Converted::Notebook);
            }
            Err(error) => self.warning = Some(format!("packed as it is: {error}")),
        }
    }
}

fn is_notebook(label: &str) -> bool {
    Path::new(label).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
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

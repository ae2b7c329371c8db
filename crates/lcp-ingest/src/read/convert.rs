//! Conversion of files by a converter of the options (RFC 0013 §2).

use std::path::Path;

use lcp_types::FormatHint;

use super::{BLOCK_TEXT_MAX, Converted, ReadFile, ReadOutcome, Reader};
use crate::file_type::FileType;
use crate::git_lfs;
use crate::options::FileToConvert;
use crate::report::{SkipReason, SkippedFile};

/// The size up to which a file is converted even if the options only allow smaller ones, in bytes.
/// Other formats need more bytes for the same text.
const SOURCE_BYTES_MAX: u64 = 64 << 20;

/// The maximum length of an extension in the tag `converted`, in bytes.
const EXTENSION_MAX: usize = 16;

/// The value of the tag `converted` for a file without a usual extension.
const NO_EXTENSION: &str = "file";

impl Reader<'_> {
    /// Returns the format of the text that a file is converted to, or `None` if it is packed as it
    /// is.
    pub(super) fn converted_format(&self, label: &str) -> Option<FormatHint> {
        self.options.converter.and_then(|converter| converter.format(label))
    }

    /// Returns the maximum size of a file in bytes.
    pub(super) fn max_file_bytes(&self, is_converted: bool) -> u64 {
        let max = self.options.max_file_bytes;
        // The limit of a pack applies even if the options allow larger files.
        if is_converted { max.max(SOURCE_BYTES_MAX) } else { max.min(BLOCK_TEXT_MAX) }
    }

    /// Converts a file. If that fails, the file is packed as it is if it is text.
    pub(super) fn convert(
        &self,
        label: &str,
        path: Option<&Path>,
        bytes: Vec<u8>,
        format: FormatHint,
    ) -> ReadOutcome {
        let Some(converter) = self.options.converter else { return self.inspect(label, bytes) };
        if bytes.is_empty() || git_lfs::pointer_size(&bytes).is_some() {
            return self.inspect(label, bytes);
        }
        let file = FileToConvert { label, path, bytes: &bytes };
        let file_bytes = bytes.len() as u64;
        let text = converter.convert(&file);
        match text.and_then(|text| self.inspect_converted(label, text, format)) {
            Ok(read) => Ok(ReadFile { file_bytes, ..read }),
            Err(reason) => {
                let is_small = file_bytes <= self.max_file_bytes(false);
                let plain = is_small.then(|| self.inspect(label, bytes).ok()).flatten();
                let plain = plain.ok_or_else(|| SkippedFile {
                    message: Some(reason.clone()),
                    ..SkippedFile::new(label, SkipReason::NotConverted)
                })?;
                Ok(ReadFile { not_converted: Some(reason), ..plain })
            }
        }
    }

    /// Inspects the text of a converter. Returns the reason if it is not text.
    fn inspect_converted(
        &self,
        label: &str,
        text: Vec<u8>,
        format: FormatHint,
    ) -> Result<ReadFile, String> {
        let not_text = |skipped: SkippedFile| {
            let reason = skipped.message.unwrap_or_else(|| skipped.reason.name().to_owned());
            format!("the output of the converter is not usable: {reason}")
        };
        let (bytes, charset) = self.decode(label, text).map_err(not_text)?;
        let read = ReadFile {
            charset,
            converted: Some(Converted::ByConverter(extension(label))),
            ..ReadFile::new(FileType::Document(format), bytes)
        };
        self.finish(label, read).map_err(not_text)
    }
}

/// Returns the extension of a file in lower case, if it is short and of ASCII letters and digits.
fn extension(label: &str) -> String {
    let extension = Path::new(label).extension().and_then(|extension| extension.to_str());
    let is_usual = |it: &&str| {
        it.len() <= EXTENSION_MAX && it.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    extension.filter(is_usual).map_or_else(|| NO_EXTENSION.to_owned(), str::to_ascii_lowercase)
}

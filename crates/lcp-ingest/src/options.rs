//! The options of ingestion.

use std::fs::File;
use std::path::{Path, PathBuf};

use lcp_types::FormatHint;

use crate::charset::Charset;
use crate::file_type::FileType;
use crate::globs::{Globs, Pattern};
use crate::outline::InputKind;
use crate::rules::Rules;
use crate::secrets::{SecretException, SecretPolicy};

/// The default of [`IngestOptions::max_file_bytes`]: 1 MiB.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// The default of [`IngestOptions::max_total_bytes`]: 8 GiB.
pub const TOTAL_BYTES_MAX: u64 = 8 << 30;

/// The sources of blocks, and how to read them.
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct IngestOptions<'a> {
    /// The files and folders to pack. An empty list means the current folder. `-` is skipped,
    /// because its text is in `inputs`.
    pub paths: Vec<PathBuf>,
    /// The folder that relative paths start from. An empty path means the current folder.
    pub base: PathBuf,
    /// Texts that are in memory: standard input, or files of an application.
    pub inputs: Vec<Input>,
    /// The kinds of files to find in a folder.
    pub walk: WalkOptions,
    /// `true` to leave out folders on other file systems.
    pub one_file_system: bool,
    /// The only files to pack. An empty set means all files.
    pub include: Globs,
    /// The files to leave out.
    pub exclude: Globs,
    /// The maximum size of a file in bytes. Larger files are skipped.
    pub max_file_bytes: u64,
    /// The maximum total size of all packed files in bytes.
    pub max_total_bytes: u64,
    /// `true` to begin the pack with a FILE_TREE block.
    pub tree: bool,
    /// `true` to pack images.
    pub images: bool,
    /// The character sets of files, instead of those that are detected; the last match wins.
    pub charsets: Vec<(Pattern, Charset)>,
    /// Converts files of other formats to text. It cannot be used with `open`.
    pub converter: Option<&'a dyn ConvertFiles>,
    /// `true` to pack Jupyter notebooks as they are, not as scripts.
    pub raw_notebooks: bool,
    /// The rules that set the attributes of files.
    pub rules: Rules,
    /// The treatment of secrets.
    pub secrets: SecretPolicy,
    /// Secrets that are neither reported nor replaced.
    pub secret_exceptions: Vec<SecretException>,
    /// A revision. If it is set, only files that differ from it are packed.
    pub since: Option<String>,
    /// A revision. If it is set, the differences from it are added as DIFF blocks.
    pub diff: Option<String>,
    /// The number of commits to add as a log of each repository, if it should be packed.
    pub commits: Option<u32>,
    /// A text that becomes the last block, with the priority critical.
    pub instructions: Option<Input>,
    /// Files that this run writes. They are never packed.
    pub outputs: Vec<PathBuf>,
    /// The function that opens files, for callers that must restrict access. Several threads call
    /// it at once.
    pub open: Option<OpenFile<'a>>,
    /// The function that summarizes files. Several threads call it at once.
    pub summarize: Option<Summarize<'a>>,
    /// The function that receives the progress. Several threads call it at once.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Default for IngestOptions<'_> {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            base: PathBuf::new(),
            inputs: Vec::new(),
            walk: WalkOptions::default(),
            one_file_system: false,
            include: Globs::default(),
            exclude: Globs::default(),
            max_file_bytes: FILE_BYTES_MAX,
            max_total_bytes: TOTAL_BYTES_MAX,
            tree: true,
            images: false,
            charsets: Vec::new(),
            converter: None,
            raw_notebooks: false,
            rules: Rules::default(),
            secrets: SecretPolicy::default(),
            secret_exceptions: Vec::new(),
            since: None,
            diff: None,
            commits: None,
            instructions: None,
            outputs: Vec::new(),
            open: None,
            summarize: None,
            progress: &|_| {},
        }
    }
}

/// The kinds of files to find in a folder. The default finds the files that ripgrep finds.
#[derive(Clone, Copy, Debug, Default)]
pub struct WalkOptions {
    /// Also find hidden files.
    pub hidden: bool,
    /// Also find files that ignore files exclude.
    pub ignored: bool,
    /// Follow symbolic links.
    pub follow: bool,
}

/// A text that is in memory.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The file name, which selects the type of the text.
    pub name: Option<String>,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A file to summarize.
#[derive(Clone, Copy, Debug)]
pub struct FileToSummarize<'f> {
    /// The label of the file.
    pub path: &'f str,
    /// The type of the file. [`FileType::lang`] returns its language.
    pub file_type: FileType,
    /// The complete text of the file.
    pub text: &'f str,
}

impl FileToSummarize<'_> {
    /// Returns the kind of input for an outline of the file.
    #[must_use]
    pub fn input_kind(&self) -> InputKind {
        self.file_type.input_kind(self.path)
    }
}

/// A function that summarizes a file. A summary is used only if it is not empty, is smaller than
/// the file, and fits in a block.
pub type Summarize<'a> = &'a (dyn Fn(&FileToSummarize<'_>) -> Option<String> + Sync);

/// A converter of files to text. Several threads call it at once.
pub trait ConvertFiles: Sync {
    /// Returns the format of the text that files with this label are converted to, or `None` if they
    /// are not converted.
    fn format(&self, label: &str) -> Option<FormatHint>;

    /// Converts a file for which [`Self::format`] returns a format.
    ///
    /// # Errors
    ///
    /// Returns the reason if the file cannot be converted. The file is then packed as it is, or left
    /// out if it is not text.
    fn convert(&self, file: &FileToConvert<'_>) -> Result<Vec<u8>, String>;
}

/// A file to convert.
#[derive(Clone, Copy, Debug)]
pub struct FileToConvert<'f> {
    /// The label of the file.
    pub label: &'f str,
    /// The path of the file, or `None` for standard input.
    pub path: Option<&'f Path>,
    /// The complete content.
    pub bytes: &'f [u8],
}

/// A function that opens a file, or refuses to. If it is set, warnings do not quote ignore files,
/// and ignore files outside of the folder are not read.
pub type OpenFile<'a> = &'a (dyn Fn(&Path) -> std::io::Result<File> + Sync);

/// A step in the progress of ingestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This number of files was found.
    FilesFound(usize),
    /// One file was read or skipped.
    Read,
}

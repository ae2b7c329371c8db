//! The options of ingestion.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::file_type::FileType;
use crate::globs::Globs;
use crate::rules::Rules;

/// Bytes that a file may have by default.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// The sources of blocks, and how they are read.
pub struct IngestOptions<'a> {
    /// Files and folders; the current folder if there are none. `-` is skipped: its text is
    /// `input`.
    pub paths: Vec<PathBuf>,
    /// The folder of relative paths; the current folder if it is empty.
    pub base: PathBuf,
    /// The text of standard input, if it is to be packed.
    pub input: Option<Input>,
    /// Which files of a folder are found.
    pub walk: WalkOptions,
    /// Whether folders of other file systems are left out.
    pub one_file_system: bool,
    /// If there are any, only files that match one of them are packed.
    pub include: Globs,
    /// Files that are not packed.
    pub exclude: Globs,
    /// Bytes that a file may have.
    pub max_file_bytes: u64,
    /// Whether the pack begins with a FILE_TREE.
    pub tree: bool,
    /// Whether images are packed.
    pub images: bool,
    /// The attributes of files.
    pub rules: Rules,
    /// Pack only files that differ from this revision.
    pub since: Option<String>,
    /// Add the changes to this revision.
    pub diff: Option<String>,
    /// Files that are written at the same time, and so never packed.
    pub outputs: Vec<PathBuf>,
    /// Opens files where not all readable files may be read; called by several threads at
    /// once.
    pub open: Option<OpenFile<'a>>,
    /// Summarizes a file; called by several threads at once.
    pub summarize: Option<Summarize<'a>>,
    /// Receives the progress; called by several threads at once.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Default for IngestOptions<'_> {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            base: PathBuf::new(),
            input: None,
            walk: WalkOptions::default(),
            one_file_system: false,
            include: Globs::default(),
            exclude: Globs::default(),
            max_file_bytes: FILE_BYTES_MAX,
            tree: true,
            images: false,
            rules: Rules::default(),
            since: None,
            diff: None,
            outputs: Vec::new(),
            open: None,
            summarize: None,
            progress: &|_| {},
        }
    }
}

/// Which files of a folder are found: by default those that ripgrep finds.
#[derive(Clone, Copy, Debug, Default)]
pub struct WalkOptions {
    /// Find hidden files too.
    pub hidden: bool,
    /// Find files that ignore files exclude, too.
    pub ignored: bool,
    /// Follow links.
    pub follow: bool,
}

/// A text from standard input.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Its name, by which its type is known as well.
    pub name: Option<String>,
    /// The text.
    pub bytes: Vec<u8>,
}

/// A file that may get a summary.
#[derive(Clone, Copy, Debug)]
pub struct FileToSummarize<'f> {
    /// Its label.
    pub path: &'f str,
    /// Its type; [`FileType::lang`] is its language.
    pub file_type: FileType,
    /// All of its text.
    pub text: &'f str,
}

/// Summarizes a file. A summary that is no smaller than the file is not used.
pub type Summarize<'a> = &'a (dyn Fn(&FileToSummarize<'_>) -> Option<String> + Sync);

/// Opens a file that was found, or refuses to. With it, warnings quote no ignore file.
pub type OpenFile<'a> = &'a (dyn Fn(&Path) -> std::io::Result<File> + Sync);

/// The progress of ingestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many files were found.
    FilesFound(usize),
    /// One of them was read.
    Read,
}

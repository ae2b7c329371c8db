//! The walk, which finds the files below the roots as ripgrep does.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};
use lcp_types::limits;

use crate::defaults;
use crate::error::{Error, Result};
use crate::ignore_files::{self, IGNORE_FILE};
use crate::options::IngestOptions;
use crate::paths::{OwnOutputs, Root, compare_labels, escape, shared_labels, to_label};
use crate::report::{SkipReason, SkippedFile};

/// A file that was found but not read.
#[derive(Clone, Debug)]
pub(crate) struct FoundFile {
    pub(crate) label: String,
    pub(crate) path: PathBuf,
    /// The size in bytes when the file was found.
    pub(crate) size: u64,
    /// `true` if the last component may be a link: the path is a root, or links are followed.
    pub(crate) may_be_link: bool,
    /// The index of the root, which orders files with the same label.
    pub(crate) root: usize,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) skipped: Vec<SkippedFile>,
    pub(crate) warnings: Vec<String>,
}

/// Walks all roots. The files and the skipped files are sorted by label, without repetitions.
pub(crate) fn walk(roots: &[Root], options: &IngestOptions<'_>) -> Result<WalkResult> {
    let outputs = OwnOutputs::new(&options.outputs);
    let result = Mutex::new(WalkResult::default());
    for (index, root) in roots.iter().enumerate() {
        let walker = Walker { root, index, options, outputs: &outputs, result: &result };
        if root.is_folder { walker.walk_folder() } else { walker.add_named_file() }
    }
    let mut result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
    if result.files.len() as u64 > limits::BLOCKS_MAX {
        return Err(Error::too_many_files());
    }
    result.files.sort_by(|a, b| {
        compare_labels(&a.label, &b.label)
            .then(a.root.cmp(&b.root))
            .then_with(|| a.path.cmp(&b.path))
    });
    dedup_overlapping_paths(&mut result);
    result.skipped.sort_by(|a, b| compare_labels(&a.path, &b.path).then(a.reason.cmp(&b.reason)));
    result.skipped.dedup();
    result.warnings.sort();
    result.warnings.dedup();
    Ok(result)
}

/// Removes files that overlapping roots find again under the same label.
fn dedup_overlapping_paths(result: &mut WalkResult) {
    let mut shared = 0;
    let mut files: Vec<FoundFile> = Vec::with_capacity(result.files.len());
    // The index of each file with the current label, by its resolved path.
    let mut indices: HashMap<PathBuf, usize> = HashMap::new();
    let mut later = std::mem::take(&mut result.files).into_iter().peekable();
    while let Some(file) = later.next() {
        let follows = files.last().is_some_and(|before| before.label == file.label);
        if !follows {
            indices.clear();
        }
        let is_alone = later.peek().is_none_or(|next| next.label != file.label);
        if is_alone && !follows {
            files.push(file);
            continue;
        }
        // A path that cannot be resolved stands for itself.
        let target = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        match indices.entry(target) {
            // A file that was named as a root may be a link, even if another root contains it.
            Entry::Occupied(same) => files[*same.get()].may_be_link |= file.may_be_link,
            Entry::Vacant(entry) => {
                entry.insert(files.len());
                shared += usize::from(follows);
                files.push(file);
            }
        }
    }
    result.files = files;
    if shared > 0 {
        result.warnings.push(shared_labels(shared, "file"));
    }
}

struct Walker<'w> {
    root: &'w Root,
    index: usize,
    options: &'w IngestOptions<'w>,
    outputs: &'w OwnOutputs,
    result: &'w Mutex<WalkResult>,
}

impl Walker<'_> {
    /// Reports unusable ignore files, whose folders are left out.
    fn skip_ignore_files(&self, paths: &[PathBuf]) {
        let Ok(mut result) = self.result.lock() else { return };
        for path in paths {
            let label = label_in(self.root, path).0;
            let message = "an ignore file must be a regular file of at most 1 MiB".to_owned();
            let skipped = SkippedFile::new(label, SkipReason::IgnoreFile);
            result.skipped.push(SkippedFile { message: Some(message), ..skipped });
        }
    }

    fn walk_folder(&self) {
        let walk = self.options.walk;
        // If the caller restricts which files are opened, ignore files outside of the folder are
        // not read.
        let guarded = self.options.open.is_some();
        if !walk.ignored
            && let Some(path) = ignore_files::find_unusable(&self.root.path, guarded)
        {
            return self.skip_ignore_files(&[path]);
        }
        let above = if walk.ignored || guarded {
            None
        } else {
            ignore_files::find_unusable_above(&self.root.path)
        };
        let mut builder = WalkBuilder::new(&self.root.path);
        builder
            .standard_filters(!walk.ignored)
            // The filter below leaves out hidden files, except those that describe the project.
            .hidden(false)
            .require_git(false)
            .follow_links(walk.follow)
            .same_file_system(self.options.one_file_system)
            // Skip the file that the shell created for `> pack.lcp`.
            .skip_stdout(true);
        if !walk.ignored {
            builder.add_custom_ignore_filename(IGNORE_FILE);
        }
        if guarded {
            builder.parents(false).git_global(false).git_exclude(false);
        }
        if let Some(path) = above {
            // The patterns that apply to this folder are unknown.
            return self.skip_ignore_files(&[path]);
        }
        let unusable = Arc::new(Mutex::new(Vec::new()));
        let (all_unusable, uses_ignore_files) = (Arc::clone(&unusable), !walk.ignored);
        let unwanted = Arc::new(Mutex::new(Vec::new()));
        let all_unwanted = Arc::clone(&unwanted);
        let (root, excluded) = (self.root.clone(), self.options.exclude.clone());
        let included = self.options.include.clone();
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy();
            if defaults::is_vcs(&name) {
                return false;
            }
            if entry.depth() == 0 {
                return true;
            }
            // An ignore file can ask for a file, as in `!.hidden`.
            let is_wanted = || {
                ignore_files::is_wanted(&root.path, entry.path(), is_folder, guarded)
                    && !walk.ignored
            };
            if !walk.hidden
                && (defaults::is_environment(&name)
                    || defaults::is_hidden(&name, is_folder) && !is_wanted())
            {
                return false;
            }
            if !is_folder {
                return true;
            }
            let label = || label_in(&root, entry.path()).0;
            if !walk.ignored
                && defaults::is_unwanted_dir(entry.path())
                && !included.is_folder_match(&label())
                && !is_wanted()
            {
                let mut unwanted = all_unwanted.lock().unwrap_or_else(PoisonError::into_inner);
                unwanted.push(format!("{}/", label()));
                return false;
            }
            if excluded.is_folder_match(&label()) {
                return false;
            }
            let unusable = uses_ignore_files
                .then(|| ignore_files::find_unusable(entry.path(), guarded))
                .flatten();
            let is_usable = unusable.is_none();
            all_unusable.lock().unwrap_or_else(PoisonError::into_inner).extend(unusable);
            is_usable
        });
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                // The lock is poisoned if another thread panicked, and the walk reports that
                // itself.
                let Ok(mut result) = self.result.lock() else { return WalkState::Quit };
                match entry {
                    Ok(entry) => self.add_entry(&entry, &mut result),
                    Err(error) => self.add_error(&error, None, &mut result),
                }
                let is_full = result.files.len() as u64 > limits::BLOCKS_MAX;
                if is_full { WalkState::Quit } else { WalkState::Continue }
            })
        });
        self.skip_ignore_files(&unusable.lock().unwrap_or_else(PoisonError::into_inner));
        let unwanted =
            std::mem::take(&mut *unwanted.lock().unwrap_or_else(PoisonError::into_inner));
        let unwanted =
            unwanted.into_iter().map(|label| SkippedFile::new(label, SkipReason::UnwantedFolder));
        self.result.lock().unwrap_or_else(PoisonError::into_inner).skipped.extend(unwanted);
    }

    /// Returns the warning about a malformed ignore file. With a restricted `open`, it quotes
    /// nothing, because the file may be a link to a secret file.
    fn malformed_ignore_file(&self, error: &ignore::Error) -> String {
        let wrong = "invalid ignore file";
        match self.options.open {
            Some(_) => wrong.to_owned(),
            None => format!("{wrong}: {}", escape(&error.to_string())),
        }
    }

    /// Adds a root that is not a folder.
    fn add_named_file(&self) {
        let Ok(mut result) = self.result.lock() else { return };
        let Root { path, label, .. } = self.root;
        match path.metadata() {
            Err(error) => result.skipped.push(SkippedFile::failed(label, &error)),
            Ok(metadata) if !metadata.is_file() => {
                result.skipped.push(SkippedFile::new(label, SkipReason::Special));
            }
            Ok(metadata) => self.add_file(path, label.clone(), metadata.len(), true, &mut result),
        }
        if path.to_str().is_none() {
            result.warnings.push(not_utf8(label));
        }
    }

    fn add_entry(&self, entry: &DirEntry, result: &mut WalkResult) {
        if let Some(error) = entry.error() {
            result.warnings.push(self.malformed_ignore_file(error));
        }
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { return };
        let (label, is_lossy) = label_in(self.root, entry.path());
        if !self.is_included(&label) {
            return;
        }
        if is_lossy {
            result.warnings.push(not_utf8(&label));
        }
        if kind.is_symlink() {
            result.skipped.push(SkippedFile::new(label, SkipReason::Link));
        } else if !kind.is_file() {
            result.skipped.push(SkippedFile::new(label, SkipReason::Special));
        } else {
            match entry.metadata() {
                Ok(metadata) => {
                    let may_be_link = self.options.walk.follow;
                    self.add_file(entry.path(), label, metadata.len(), may_be_link, result);
                }
                Err(error) => self.add_error(&error, Some(label), result),
            }
        }
    }

    fn add_file(
        &self,
        path: &Path,
        label: String,
        size: u64,
        may_be_link: bool,
        result: &mut WalkResult,
    ) {
        if !self.outputs.contains(path, may_be_link) {
            let file =
                FoundFile { label, path: path.to_owned(), size, may_be_link, root: self.index };
            result.files.push(file);
        }
    }

    fn is_included(&self, label: &str) -> bool {
        let IngestOptions { include, exclude, .. } = self.options;
        (include.is_empty() || include.is_match(label)) && !exclude.is_match(label)
    }

    fn add_error(&self, error: &ignore::Error, known: Option<String>, result: &mut WalkResult) {
        let (location, is_loop) = locate(error);
        let at = location.map(|path| label_in(self.root, path).0);
        let path = known.or(at).unwrap_or_else(|| self.root.label_below(""));
        let is_unlabelled = path.is_empty();
        let path = match self.options.open {
            None if is_unlabelled => self.root.name(),
            // The root was not given in this form, and its path would reveal folders of this
            // machine.
            Some(_) if is_unlabelled => ".".to_owned(),
            _ => path,
        };
        if is_loop {
            result.skipped.push(SkippedFile::new(path, SkipReason::Loop));
            return;
        }
        let Some(io) = error.io_error() else {
            result.warnings.push(self.malformed_ignore_file(error));
            return;
        };
        let mut skipped = SkippedFile { is_unlabelled, ..SkippedFile::failed(path, io) };
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|of| of.is_symlink());
        if skipped.reason == SkipReason::Vanished && location.is_some_and(is_link) {
            skipped.reason = SkipReason::BrokenLink;
        }
        // A link that cannot be followed leads to itself, unless a folder on its way may not be
        // read.
        let is_locked = io.kind() == std::io::ErrorKind::PermissionDenied;
        if skipped.reason == SkipReason::Unreadable && !is_locked && location.is_some_and(is_link) {
            skipped.reason = SkipReason::Loop;
        }
        if skipped.reason == SkipReason::Unreadable && location.is_some_and(Path::is_dir) {
            skipped.path.push('/');
        }
        result.skipped.push(skipped);
    }
}

/// Returns the path of an error, and whether the error is a loop of links.
fn locate(error: &ignore::Error) -> (Option<&Path>, bool) {
    match error {
        ignore::Error::WithPath { path, err } => {
            let (inner, is_loop) = locate(err);
            (inner.or(Some(path)), is_loop)
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            locate(err)
        }
        ignore::Error::Loop { child, .. } => (Some(child), true),
        _ => (None, false),
    }
}

fn label_in(root: &Root, path: &Path) -> (String, bool) {
    let (below, is_lossy) = to_label(path.strip_prefix(&root.path).unwrap_or(path));
    (root.label_below(&below), is_lossy)
}

fn not_utf8(label: &str) -> String {
    format!("the name of {} is not UTF-8; replaced invalid bytes with U+FFFD", escape(label))
}

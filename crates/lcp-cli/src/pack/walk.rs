//! The files below the PATHs, as ripgrep finds them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};
use lcp_types::limits;

use super::ignores::{self, IGNORE_FILE};
use super::outputs::Outputs;
use super::roots::{Root, order, relative};
use super::skipped::{Reason, Skipped};
use super::{Options, limit};
use crate::Result;
use crate::failure::Failure;

/// What version control keeps beside the files: never what is meant by hidden ones.
const INNARDS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// A file that was found, unread.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) label: String,
    pub(super) path: PathBuf,
    /// Bytes, when it was found.
    pub(super) size: u64,
    /// Whether the last component may be a link: it was named, or links are followed.
    pub(super) may_be_link: bool,
    /// Which PATH it belongs to, where two have the same label.
    pub(super) root: usize,
}

/// What a walk finds, in no order.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<File>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) warnings: Vec<String>,
}

/// Walks all PATHs; files and what is left out are sorted by label, each file once.
///
/// # Errors
///
/// More files than a pack can hold.
pub(super) fn all(roots: &[Root], options: &Options<'_>) -> Result<Found> {
    let outputs = Outputs::of(&options.outputs);
    let found = Mutex::new(Found::default());
    for (index, root) in roots.iter().enumerate() {
        let walk = Walk { root, index, options, outputs: &outputs, found: &found };
        if root.is_folder { walk.run() } else { walk.named() }
    }
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if found.files.len() as u64 > limits::BLOCKS_MAX {
        return Err(too_many());
    }
    found.files.sort_by(|a, b| {
        order(&a.label, &b.label).then(a.root.cmp(&b.root)).then_with(|| a.path.cmp(&b.path))
    });
    once(&mut found);
    found.skipped.sort_by(|a, b| order(&a.path, &b.path).then(a.reason.cmp(&b.reason)));
    found.skipped.dedup();
    found.warnings.sort();
    found.warnings.dedup();
    Ok(found)
}

/// PATHs may overlap: a file stays once under one label.
fn once(found: &mut Found) {
    let mut shared = 0;
    let mut files: Vec<File> = Vec::with_capacity(found.files.len());
    // Where each file of one label stands, by what it is without links.
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    let mut later = std::mem::take(&mut found.files).into_iter().peekable();
    while let Some(file) = later.next() {
        let follows = files.last().is_some_and(|before| before.label == file.label);
        if !follows {
            places.clear();
        }
        let is_alone = later.peek().is_none_or(|next| next.label != file.label);
        if is_alone && !follows {
            files.push(file);
            continue;
        }
        // What cannot be resolved is itself.
        let place = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        match places.entry(place) {
            // A file that was named stays so.
            Entry::Occupied(same) => files[*same.get()].may_be_link |= file.may_be_link,
            Entry::Vacant(place) => {
                place.insert(files.len());
                shared += usize::from(follows);
                files.push(file);
            }
        }
    }
    found.files = files;
    if shared > 0 {
        found.warnings.push(shares(shared, "file"));
    }
}

/// That so many have a path that is not theirs alone.
pub(super) fn shares(count: usize, what: &str) -> String {
    let (plural, have) = if count == 1 { ("", "has") } else { ("s", "have") };
    format!("{count} {what}{plural} {have} the path of another one in the pack")
}

fn too_many() -> Failure {
    limit("the pack would have more files", "BLOCKS_MAX", limits::BLOCKS_MAX)
        .hint("--exclude leaves files out")
}

struct Walk<'w> {
    root: &'w Root,
    index: usize,
    options: &'w Options<'w>,
    /// Files that this run writes, as they are found.
    outputs: &'w Outputs,
    found: &'w Mutex<Found>,
}

impl Walk<'_> {
    /// Tells of ignore files that are none: their folders are left out, as nobody knows what
    /// they were to leave out.
    fn odd(&self, paths: &[PathBuf]) {
        let Ok(mut found) = self.found.lock() else { return };
        for path in paths {
            let label = label(self.root, path).0;
            let message = "a link, a pipe, a device, or too large for an ignore file".to_owned();
            let skipped = Skipped::new(label, Reason::IgnoreFile);
            found.skipped.push(Skipped { message: Some(message), ..skipped });
        }
    }

    fn run(&self) {
        let walking = self.options.walking;
        // Whoever opens files by a guard reads nothing outside of it to know what to leave out.
        let guarded = self.options.open.is_some();
        if !walking.ignored
            && let Some(odd) = ignores::odd(&self.root.path, guarded)
        {
            return self.odd(&[odd]);
        }
        let above =
            if walking.ignored || guarded { None } else { ignores::odd_above(&self.root.path) };
        let mut builder = WalkBuilder::new(&self.root.path);
        builder
            .standard_filters(!walking.ignored)
            .hidden(!walking.hidden)
            .require_git(false)
            .follow_links(walking.follow)
            .same_file_system(self.options.one_file_system)
            // What the shell has made for `> pack.lcp` in here.
            .skip_stdout(true);
        if !walking.ignored {
            builder.add_custom_ignore_filename(IGNORE_FILE);
        }
        if guarded {
            builder.parents(false).git_global(false).git_exclude(false);
        }
        if let Some(odd) = above {
            // Nobody knows what they were to leave out here.
            return self.odd(&[odd]);
        }
        let odds = Arc::new(Mutex::new(Vec::new()));
        let (found_odd, is_read) = (Arc::clone(&odds), !walking.ignored);
        let (root, excluded) = (self.root.clone(), self.options.exclude.clone());
        builder.filter_entry(move |entry| {
            if INNARDS.iter().any(|name| entry.file_name() == *name) {
                return false;
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            if !is_folder {
                return true;
            }
            if excluded.is_folder_match(&label(&root, entry.path()).0) {
                return false;
            }
            let odd = is_read.then(|| ignores::odd(entry.path(), guarded)).flatten();
            let is_odd = odd.is_some();
            found_odd.lock().unwrap_or_else(PoisonError::into_inner).extend(odd);
            !is_odd
        });
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                // A thread that panicked is told of by the walk itself.
                let Ok(mut found) = self.found.lock() else { return WalkState::Quit };
                match entry {
                    Ok(entry) => self.entry(&entry, &mut found),
                    Err(error) => self.failed(&error, None, &mut found),
                }
                let is_full = found.files.len() as u64 > limits::BLOCKS_MAX;
                if is_full { WalkState::Quit } else { WalkState::Continue }
            })
        });
        self.odd(&odds.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// That an ignore file is wrong. It may be a link to what must not be read.
    fn ignore_file(&self, error: &ignore::Error) -> String {
        let wrong = "an ignore file is wrong";
        match self.options.open {
            Some(_) => wrong.to_owned(),
            None => format!("{wrong}: {}", said(&error.to_string())),
        }
    }

    /// A PATH that is no folder.
    fn named(&self) {
        let Ok(mut found) = self.found.lock() else { return };
        let Root { path, label, .. } = self.root;
        match path.metadata() {
            Err(error) => found.skipped.push(Skipped::failed(label, &error)),
            Ok(metadata) if !metadata.is_file() => {
                found.skipped.push(Skipped::new(label, Reason::Special));
            }
            Ok(metadata) => self.file(path, label.clone(), metadata.len(), true, &mut found),
        }
        if path.to_str().is_none() {
            found.warnings.push(not_utf8(label));
        }
    }

    fn entry(&self, entry: &DirEntry, found: &mut Found) {
        if let Some(error) = entry.error() {
            found.warnings.push(self.ignore_file(error));
        }
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { return };
        let (label, is_lossy) = label(self.root, entry.path());
        if !self.is_wanted(&label) {
            return;
        }
        if is_lossy {
            found.warnings.push(not_utf8(&label));
        }
        if kind.is_symlink() {
            found.skipped.push(Skipped::new(label, Reason::Link));
        } else if !kind.is_file() {
            found.skipped.push(Skipped::new(label, Reason::Special));
        } else {
            match entry.metadata() {
                Ok(metadata) => {
                    let may_be_link = self.options.walking.follow;
                    self.file(entry.path(), label, metadata.len(), may_be_link, found);
                }
                Err(error) => self.failed(&error, Some(label), found),
            }
        }
    }

    fn file(&self, path: &Path, label: String, size: u64, may_be_link: bool, found: &mut Found) {
        if !self.outputs.contains(path, may_be_link) {
            let file = File { label, path: path.to_owned(), size, may_be_link, root: self.index };
            found.files.push(file);
        }
    }

    fn is_wanted(&self, label: &str) -> bool {
        let Options { include, exclude, .. } = self.options;
        (include.is_empty() || include.is_match(label)) && !exclude.is_match(label)
    }

    fn failed(&self, error: &ignore::Error, known: Option<String>, found: &mut Found) {
        let place = places(error);
        let at = place.path.map(|path| label(self.root, path).0);
        let path = known.or(at).unwrap_or_else(|| self.root.below(""));
        let is_unlabelled = path.is_empty();
        let path = match self.options.open {
            None if is_unlabelled => self.root.name(),
            // Nobody gave it as it is: it says where things are on this machine.
            Some(_) if is_unlabelled => ".".to_owned(),
            _ => path,
        };
        if place.is_loop {
            found.skipped.push(Skipped::new(path, Reason::Loop));
            return;
        }
        let Some(io) = error.io_error() else {
            found.warnings.push(self.ignore_file(error));
            return;
        };
        let mut skipped = Skipped { is_unlabelled, ..Skipped::failed(path, io) };
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|of| of.is_symlink());
        if skipped.reason == Reason::Vanished && place.path.is_some_and(is_link) {
            skipped.reason = Reason::BrokenLink;
        }
        // A link that cannot be followed leads to itself, unless a folder on its way is locked.
        let is_locked = io.kind() == std::io::ErrorKind::PermissionDenied;
        if skipped.reason == Reason::Unreadable && !is_locked && place.path.is_some_and(is_link) {
            skipped.reason = Reason::Loop;
        }
        if skipped.reason == Reason::Unreadable && place.path.is_some_and(Path::is_dir) {
            skipped.path.push('/');
        }
        found.skipped.push(skipped);
    }
}

/// Where an error of the walk is.
struct Place<'e> {
    path: Option<&'e Path>,
    is_loop: bool,
}

fn places(error: &ignore::Error) -> Place<'_> {
    match error {
        ignore::Error::WithPath { path, err } => {
            let inner = places(err);
            Place { path: inner.path.or(Some(path)), ..inner }
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            places(err)
        }
        ignore::Error::Loop { child, .. } => Place { path: Some(child), is_loop: true },
        _ => Place { path: None, is_loop: false },
    }
}

fn label(root: &Root, path: &Path) -> (String, bool) {
    let (below, is_lossy) = relative(path.strip_prefix(&root.path).unwrap_or(path));
    (root.below(&below), is_lossy)
}

fn not_utf8(label: &str) -> String {
    format!("the name of {} is not UTF-8: it is shown with U+FFFD", said(label))
}

/// Text of other people in one line.
pub(super) fn said(text: &str) -> String {
    text.escape_debug().to_string()
}

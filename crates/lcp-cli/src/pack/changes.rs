//! What has changed, by git.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lcp_types::{Diff, IntoOwned};

use super::git::Git;
use super::outputs::Outputs;
use super::roots::{Root, order};
use super::skipped::{Reason, Skipped};
use super::walk::{Found, said, shares};
use super::{Options, globs::Globs, ignores};
use crate::Result;
use crate::failure::{Code, Failure};

/// What differs from the revisions that were asked for, by label.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// All that differs, untracked files included.
    pub(super) changed: Labels,
    /// The same for what alone is packed, where that is asked for.
    pub(super) only: Option<Labels>,
    /// The changes of each file, by its label.
    pub(super) diffs: Vec<Diff<'static>>,
    /// Changes that are left out.
    pub(super) skipped: Vec<Skipped>,
    pub(super) warnings: Vec<String>,
}

/// Labels of files, and of folders for all that is in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(BTreeSet<String>);

impl Labels {
    /// Adds a file, or a repository within this one: git says nothing of what is in that.
    fn insert(&mut self, label: &str) {
        self.0.insert(label.trim_end_matches('/').to_owned());
    }

    /// Whether this file is one of them, or lies in one.
    pub(super) fn contains(&self, label: &str) -> bool {
        let folders = label.match_indices('/').filter_map(|(at, _)| label.get(..at));
        std::iter::once(label).chain(folders).any(|label| self.0.contains(label))
    }
}

/// Flags under which git prints the same whoever runs it.
const PLAIN: [&str; 5] =
    ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--relative"];

/// Flags of a text of changes.
const TEXT: [&str; 6] = [
    "--patch",
    "--unified=3",
    "--inter-hunk-context=0",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Asks git, where that is wanted.
///
/// # Errors
///
/// There is no git, no repository or no such revision.
pub(super) fn all(roots: &[Root], options: &Options<'_>, walked: &Found) -> Result<Changes> {
    let mut changes = Changes::default();
    let found: HashSet<&str> = walked.files.iter().map(|file| file.label.as_str()).collect();
    let is_wanted = |label: &str, include: &Globs, exclude: &Globs| {
        (include.is_empty() || include.is_match(label)) && !exclude.is_match(label)
    };
    if let Some(since) = &options.since {
        let mut only = Labels::default();
        // What differs, is there, and was not found: it is hidden or ignored.
        let (mut unseen, outputs) = (BTreeSet::new(), Outputs::of(&options.outputs));
        let skipped: HashSet<&str> = walked.skipped.iter().map(|of| of.path.as_str()).collect();
        for root in roots {
            for (label, path) in Place::of(root).names(since, &mut only)? {
                let is_known = found.contains(&*label) || skipped.contains(&*label);
                if !is_known
                    && path.symlink_metadata().is_ok_and(|about| !about.is_dir())
                    && is_wanted(&label, &options.include, &options.exclude)
                    && !outputs.contains(&path, true)
                {
                    unseen.insert(label);
                }
            }
        }
        let unseen = unseen.into_iter().map(|label| Skipped::new(label, Reason::Change));
        changes.skipped.extend(unseen);
        changes.changed.clone_from(&only);
        changes.only = Some(only);
    }
    if let Some(revision) = &options.diff {
        let mut diffs: BTreeMap<String, Vec<Diff<'static>>> = BTreeMap::new();
        let walked = Walked { options, found };
        for root in roots {
            let place = Place::of(root);
            place.names(revision, &mut changes.changed)?;
            place.diffs(revision, &walked, &mut diffs, &mut changes)?;
        }
        diffs.retain(|label, _| is_wanted(label, &options.include, &options.exclude));
        let shared: usize = diffs.values().map(|of_label| of_label.len() - 1).sum();
        if shared > 0 {
            changes.warnings.push(shares(shared, "change"));
        }
        changes.diffs = diffs.into_values().flatten().collect();
        changes.diffs.sort_by(|a, b| order(&a.path, &b.path));
    }
    changes.skipped.sort_by(|a, b| order(&a.path, &b.path));
    changes.skipped.dedup();
    Ok(changes)
}

/// What a walk found: a change shows no file that it left out.
struct Walked<'w> {
    options: &'w Options<'w>,
    found: HashSet<&'w str>,
}

impl Walked<'_> {
    fn leaves_out(&self, root: &Root, label: &str, diff: &Diff<'_>) -> bool {
        let bytes: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        if bytes as u64 > self.options.max_file_bytes {
            return true;
        }
        if self.found.contains(label) {
            return false;
        }
        // It is gone, or a repository within this one; else the walk saw it.
        let is_gone = |path: &Path| path.symlink_metadata().map_or(true, |about| about.is_dir());
        let no_links = self.options.open.is_some();
        !root.is_folder
            || !is_gone(&root.path.join(&*diff.path))
            || ignores::leave_out(&root.path, &diff.path, self.options.walking, no_links)
    }
}

/// A PATH, as git is asked about it.
struct Place<'r> {
    root: &'r Root,
    git: Git<'r>,
    /// What of the folder is meant, where it is not all.
    file: Option<OsString>,
}

impl<'r> Place<'r> {
    fn of(root: &'r Root) -> Self {
        if root.is_folder {
            return Self { root, git: Git::in_folder(&root.path), file: None };
        }
        let folder = root.path.parent().unwrap_or(Path::new("."));
        let file = root.path.file_name().map(OsString::from);
        Self { root, git: Git::in_folder(folder), file }
    }

    /// The label of what git calls this.
    fn label(&self, name: &str) -> String {
        if self.file.is_some() { self.root.label.clone() } else { self.root.below(name) }
    }

    fn ask(&self, words: &[&str], flags: &[&str]) -> Result<Vec<u8>> {
        let mut arguments: Vec<OsString> = words.iter().chain(flags).map(OsString::from).collect();
        arguments.push("--".into());
        arguments.extend(self.file.clone());
        self.git.prints(&arguments)
    }

    /// Adds what differs from a revision, and what git does not know yet; gives the label
    /// of each and where it is, or was.
    fn names(&self, revision: &str, into: &mut Labels) -> Result<Vec<(String, PathBuf)>> {
        let commit = self.git.commit(revision)?;
        let flags = [&PLAIN[..], &["--name-only", "--no-renames", "-z", &commit]].concat();
        let differs = self.ask(&["diff"], &flags)?;
        let new = self.ask(&["ls-files"], &["--others", "--exclude-standard", "-z"])?;
        let mut all = Vec::new();
        for names in [differs, new] {
            for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                let name = String::from_utf8_lossy(name);
                let label = self.label(&name);
                into.insert(&label);
                let is_file = self.file.is_some();
                let path = &self.root.path;
                all.push((label, if is_file { path.clone() } else { path.join(&*name) }));
            }
        }
        Ok(all)
    }

    /// Adds the changes to a revision. PATHs that overlap have the same ones, which stay
    /// once.
    fn diffs(
        &self,
        revision: &str,
        walked: &Walked<'_>,
        into: &mut BTreeMap<String, Vec<Diff<'static>>>,
        changes: &mut Changes,
    ) -> Result {
        let commit = self.git.commit(revision)?;
        let flags = [&PLAIN[..], &TEXT, &[&commit]].concat();
        let bytes = self.ask(&["diff"], &flags)?;
        let text = String::from_utf8_lossy(&bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            let at = said(&self.root.path.display().to_string());
            changes
                .warnings
                .push(format!("changes below {at} are not UTF-8: they are shown with U+FFFD"));
        }
        let read = lcp_transcripts::diff::parse(&text).map_err(|error| {
            Failure::new(Code::Malformed, format!("what git prints is no diff: {error}"))
        })?;
        for diff in read.diffs {
            let path = self.label(&diff.path);
            if walked.leaves_out(self.root, &path, &diff) {
                changes.skipped.push(Skipped::new(path, Reason::Change));
                continue;
            }
            let diff = diff.into_owned();
            let of_label = into.entry(path.clone()).or_default();
            let diff = Diff { path: path.into(), ..diff };
            if !of_label.contains(&diff) {
                of_label.push(diff);
            }
        }
        for note in read.notes {
            let path = self.label(&note.path);
            // What a rename was before, and the like: said, since a block cannot hold it.
            changes.warnings.push(format!("{}: {}", said(&path), said(note.text)));
        }
        Ok(())
    }
}

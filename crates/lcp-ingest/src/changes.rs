//! Changed files and diffs, from git.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use lcp_types::{Diff, IntoOwned, UnknownFields};

use crate::error::{Error, ErrorKind, Result};
use crate::git_paths::{self, GitPaths};
use crate::globs::Globs;
use crate::ignore_files;
use crate::options::IngestOptions;
use crate::paths::{OwnOutputs, Root, compare_labels, escape, shared_labels};
use crate::report::{SkipReason, SkippedFile};
use crate::walk::WalkResult;

/// The differences from the revisions in the options.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The files that differ, including untracked files.
    pub(crate) changed: Labels,
    /// The old label of each file that was renamed.
    pub(crate) renamed: Renames,
    /// The only files to pack. `None` without `since`.
    pub(crate) allowed: Option<Labels>,
    /// The diffs, sorted by label.
    pub(crate) diffs: Vec<Diff<'static>>,
    /// The changes that are left out.
    pub(crate) skipped: Vec<SkippedFile>,
    pub(crate) warnings: Vec<String>,
}

/// A set of labels. The label of a folder includes everything below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels(BTreeSet<String>);

impl Labels {
    /// Adds a file or a nested repository. Git lists a nested repository as one folder.
    fn insert(&mut self, label: &str) {
        self.0.insert(label.trim_end_matches('/').to_owned());
    }

    /// Returns whether the set has this label or a folder above it.
    pub(crate) fn contains(&self, label: &str) -> bool {
        let folders = label.match_indices('/').filter_map(|(at, _)| label.get(..at));
        std::iter::once(label).chain(folders).any(|label| self.0.contains(label))
    }
}

/// The old labels of renamed files, by their new labels.
pub(crate) type Renames = BTreeMap<String, String>;

/// Flags that make the output of git the same for every user.
const STABLE_OUTPUT_FLAGS: [&str; 5] =
    ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--relative"];

/// Flags of a textual diff.
const PATCH_FLAGS: [&str; 6] = [
    "--patch", "--unified=3", "--inter-hunk-context=0", "--find-renames", "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Collects the changes that the options ask for.
pub(crate) fn collect(
    roots: &[Root],
    options: &IngestOptions<'_>,
    filter: &WalkResult,
) -> Result<Changes> {
    let mut changes = Changes::default();
    let wants_changes = options.since.is_some() || options.diff.is_some();
    let groups = if wants_changes { git_paths::group(roots) } else { Vec::new() };
    let labels: HashSet<&str> = filter.files.iter().map(|file| file.label.as_str()).collect();
    let is_wanted = |label: &str, include: &Globs, exclude: &Globs| {
        (include.is_empty() || include.is_match(label)) && !exclude.is_match(label)
    };
    if let Some(since) = &options.since {
        let mut only = Labels::default();
        // Files that differ and exist but that the walk did not find, because they are hidden or
        // ignored.
        let (mut unseen, outputs) = (BTreeSet::new(), OwnOutputs::new(&options.outputs));
        let skipped: HashSet<&str> = filter.skipped.iter().map(|of| of.path.as_str()).collect();
        for paths in &groups {
            for (label, path) in paths.changed_files(since, &mut only, &mut changes.renamed)? {
                let is_known = labels.contains(&*label) || skipped.contains(&*label);
                if !is_known
                    && path.symlink_metadata().is_ok_and(|about| !about.is_dir())
                    && is_wanted(&label, &options.include, &options.exclude)
                    && !outputs.contains(&path, true)
                {
                    unseen.insert(label);
                }
            }
        }
        let unseen = unseen.into_iter().map(|label| SkippedFile::new(label, SkipReason::Change));
        changes.skipped.extend(unseen);
        changes.changed.clone_from(&only);
        changes.allowed = Some(only);
    }
    if let Some(revision) = &options.diff {
        let mut diffs: BTreeMap<String, Vec<Diff<'static>>> = BTreeMap::new();
        let filter = WalkFilter { options, labels };
        for paths in &groups {
            paths.changed_files(revision, &mut changes.changed, &mut changes.renamed)?;
            paths.diffs(revision, &filter, &mut diffs, &mut changes)?;
        }
        // A file that was only moved has no hunks.
        for label in changes.renamed.keys().filter(|label| filter.labels.contains(label.as_str())) {
            let path = label.clone().into();
            let moved = Diff { path, hunks: Vec::new(), unknown: UnknownFields::new() };
            diffs.entry(label.clone()).or_insert_with(|| vec![moved]);
        }
        diffs.retain(|label, _| is_wanted(label, &options.include, &options.exclude));
        let shared: usize = diffs.values().map(|of_label| of_label.len() - 1).sum();
        if shared > 0 {
            changes.warnings.push(shared_labels(shared, "change"));
        }
        changes.diffs = diffs.into_values().flatten().collect();
        changes.diffs.sort_by(|a, b| compare_labels(&a.path, &b.path));
    }
    changes.skipped.sort_by(|a, b| compare_labels(&a.path, &b.path));
    changes.skipped.dedup();
    Ok(changes)
}

/// The result of the walk. A change must not show a file that the walk left out.
struct WalkFilter<'w> {
    options: &'w IngestOptions<'w>,
    labels: HashSet<&'w str>,
}

impl WalkFilter<'_> {
    fn is_excluded(&self, root: &Root, label: &str, diff: &Diff<'_>) -> bool {
        let bytes: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        if bytes as u64 > self.options.max_file_bytes {
            return true;
        }
        if self.labels.contains(label) {
            return false;
        }
        // The walk cannot find a removed file or a nested repository, so such a change is checked
        // against the ignore files. Any other file that is not in `labels` was left out by the
        // walk.
        let is_removed = |path: &Path| path.symlink_metadata().map_or(true, |about| about.is_dir());
        let no_links = self.options.open.is_some();
        !root.is_folder
            || !is_removed(&root.path.join(&*diff.path))
            || ignore_files::is_left_out(&root.path, &diff.path, self.options.walk, no_links)
    }
}

impl GitPaths<'_> {
    /// Adds the changed and untracked files to `into`, and the renamed ones to `renamed`. Returns
    /// the label and the path of each.
    fn changed_files(
        &self,
        revision: &str,
        into: &mut Labels,
        renamed: &mut Renames,
    ) -> Result<Vec<(String, PathBuf)>> {
        let commit = self.commit(revision)?;
        let flags =
            [&STABLE_OUTPUT_FLAGS[..], &["--name-only", "--no-renames", "-z", &commit]].concat();
        let differs = self.run(&["diff"], &flags)?;
        let new = self.run(&["ls-files"], &["--others", "--exclude-standard", "-z"])?;
        let flags = ["--name-status", "--find-renames", "--diff-filter=R", "-z", &commit];
        let moved = self.run(&["diff"], &[&STABLE_OUTPUT_FLAGS[..], &flags].concat())?;
        let moved: Vec<_> = moved.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        // Each rename has a status, the old path and the new path.
        for of in moved.chunks_exact(3) {
            let old = self.resolve(&of[1]).into_iter().next();
            if let Some((_, old, _)) = old {
                renamed
                    .extend(self.resolve(&of[2]).into_iter().map(|(_, new, _)| (new, old.clone())));
            }
        }
        let mut all = Vec::new();
        for names in [differs, new] {
            for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                for (_, label, path) in self.resolve(&String::from_utf8_lossy(name)) {
                    into.insert(&label);
                    all.push((label, path));
                }
            }
        }
        Ok(all)
    }

    /// Adds the differences from a revision. A diff that overlapping roots share is added once.
    fn diffs(
        &self,
        revision: &str,
        filter: &WalkFilter<'_>,
        into: &mut BTreeMap<String, Vec<Diff<'static>>>,
        changes: &mut Changes,
    ) -> Result<()> {
        let commit = self.commit(revision)?;
        let flags = [&STABLE_OUTPUT_FLAGS[..], &PATCH_FLAGS, &[&commit]].concat();
        let bytes = self.run(&["diff"], &flags)?;
        let text = String::from_utf8_lossy(&bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            let at = self.name();
            changes.warnings.push(format!(
                "changes below {at} are not UTF-8; replaced invalid bytes with U+FFFD"
            ));
        }
        let read = lcp_transcripts::diff::parse(&text).map_err(|error| {
            Error::new(ErrorKind::MalformedDiff, format!("cannot parse the diff from git: {error}"))
        })?;
        for diff in read.diffs {
            let diff = diff.into_owned();
            for (root, label, _) in self.resolve(&diff.path) {
                if filter.is_excluded(root, &label, &diff) {
                    changes.skipped.push(SkippedFile::new(label, SkipReason::Change));
                    continue;
                }
                let of_label = into.entry(label.clone()).or_default();
                let diff = Diff { path: label.into(), ..diff.clone() };
                if !of_label.contains(&diff) {
                    of_label.push(diff);
                }
            }
        }
        let is_rename =
            |text: &str| ["rename from ", "rename to "].iter().any(|of| text.starts_with(of));
        for note in read.notes.iter().filter(|note| !is_rename(note.text)) {
            for (_, label, _) in self.resolve(&note.path) {
                // Notes are facts that a block cannot hold, such as another mode of a file.
                changes.warnings.push(format!("{}: {}", escape(&label), escape(note.text)));
            }
        }
        Ok(())
    }
}

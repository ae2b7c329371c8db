//! Submodules that are not checked out. Their folders are empty, so the walk does not find them.

use std::path::{Component, Path};

use crate::options::IngestOptions;
use crate::paths::{Root, read_settings, repository};
use crate::report::{SkipReason, SkippedFile};

/// The file that lists the submodules of a repository.
const NAME: &str = ".gitmodules";

/// Returns the submodules below a root whose folders are empty or missing.
pub(crate) fn not_checked_out(root: &Root, options: &IngestOptions<'_>) -> Vec<SkippedFile> {
    if !root.is_folder {
        return Vec::new();
    }
    let Ok(folder) = std::path::absolute(&root.path) else { return Vec::new() };
    // The repository may begin above a folder to which the caller restricts access.
    let top = repository(&folder).filter(|_| options.open.is_none());
    let top = top.as_deref().unwrap_or(&root.path);
    let Some(text) = read_settings(&top.join(NAME), options.open) else { return Vec::new() };
    let folder = if top == root.path { &root.path } else { &folder };
    let mut found = Vec::new();
    for path in paths(&text) {
        let path = top.join(path);
        let Ok(below) = path.strip_prefix(folder) else { continue };
        let label = root.label_below(&crate::paths::to_label(below).0);
        let is_wanted = options.include.is_empty() || options.include.is_folder_match(&label);
        let is_empty = || std::fs::read_dir(&path).map_or(true, |mut all| all.next().is_none());
        if is_wanted && !options.exclude.is_folder_match(&label) && is_empty() {
            found.push(SkippedFile::new(format!("{label}/"), SkipReason::Submodule));
        }
    }
    found
}

/// Returns the paths of the submodules, relative to the top of the repository.
fn paths(text: &str) -> impl Iterator<Item = &Path> {
    let mut is_submodule = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.starts_with('[') {
            is_submodule = line.starts_with("[submodule");
        }
        let (key, value) = line.split_once('=').filter(|_| is_submodule)?;
        let path = Path::new(value.trim().trim_matches('"'));
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let is_path = key.trim().eq_ignore_ascii_case("path") && !path.as_os_str().is_empty();
        (is_path && is_below).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_paths_of_submodules_are_read() {
        let text = "[core]\npath = core\n[submodule \"a\"]\n\tpath = vendor/a\n\turl = x=y\n\
                    [submodule \"b\"]\n\tPath=\"b c\"\n\tpath = ../b\n\tpath = /b\n\tpath =\n";
        let paths: Vec<_> = paths(text).collect();
        assert_eq!(paths, [Path::new("vendor/a"), Path::new("b c")]);
    }
}

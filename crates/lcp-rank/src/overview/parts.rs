//! The parts of a project: packages, or else the top folders.

use std::collections::BTreeMap;

use crate::paths::{file_name, folder};

/// The files that describe a package.
const MANIFESTS: [&str; 12] = [
    "Cargo.toml", "package.json", "pyproject.toml", "setup.py", "go.mod", "pom.xml",
    "build.gradle", "build.gradle.kts", "CMakeLists.txt", "composer.json", "Package.swift",
    "mix.exs",
];

/// The stems of entry points, the most likely first.
const ENTRIES: [&str; 6] = ["lib", "main", "index", "__init__", "mod", "app"];

/// The parts of a project.
pub(super) struct Parts {
    parts: Vec<Part>,
}

/// A package or a folder.
pub(super) struct Part {
    /// The folder; empty for the project itself.
    folder: String,
    pub(super) files: Vec<usize>,
    /// The file that a reader should start with.
    pub(super) entry: Option<usize>,
    /// The use of the part by the project: the sum of the weights of its files.
    pub(super) weight: f64,
}

impl Parts {
    /// Divides files by their paths. `weights` tell how much of the project uses each file; `None`
    /// leaves out a file. The parts with most weight come first.
    pub(super) fn new(paths: &[&str], weights: &[Option<f64>]) -> Self {
        let mut folders: Vec<&str> =
            paths.iter().filter(|path| is_manifest(path)).map(|path| folder(path)).collect();
        folders.sort_unstable();
        folders.dedup();
        if folders.len() < 2 {
            // Without packages, the folders that contain code are the parts.
            folders = paths.iter().map(|path| top_folders(path)).collect();
            folders.sort_unstable();
            folders.dedup();
        }
        let mut by_folder: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (file, path) in paths.iter().enumerate().filter(|(file, _)| weights[*file].is_some()) {
            by_folder.entry(nearest(path, &folders)).or_default().push(file);
        }
        let weight = |files: &[usize]| files.iter().filter_map(|file| weights[*file]).sum::<f64>();
        let mut parts: Vec<_> = by_folder
            .into_iter()
            .map(|(folder, mut files)| {
                files.sort_by(|a, b| paths[*a].cmp(paths[*b]));
                let entry = entry(paths, weights, &files);
                let weight = weight(&files);
                Part { folder: folder.to_owned(), files, entry, weight }
            })
            .collect();
        parts.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.folder.cmp(&b.folder)));
        Self { parts }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns the folder of the part whose entry point a file is.
    pub(super) fn entry_of(&self, file: usize) -> Option<&str> {
        let part = self.parts.iter().find(|part| part.entry == Some(file))?;
        Some(&part.folder)
    }
}

fn is_manifest(path: &str) -> bool {
    MANIFESTS.contains(&file_name(path))
}

/// Returns the first two folders of a path.
fn top_folders(path: &str) -> &str {
    let folders = folder(path);
    let second = folders.match_indices('/').nth(1).map_or(folders.len(), |(at, _)| at);
    &folders[..second]
}

/// Returns the longest of these sorted folders that contains a path, or else the top.
fn nearest<'p>(path: &'p str, folders: &[&str]) -> &'p str {
    let mut at = folder(path);
    while !at.is_empty() && folders.binary_search(&at).is_err() {
        at = folder(at);
    }
    at
}

/// Returns the entry point among the files of a part: the one nearest to the top with the name of an
/// entry point, or else the one that is used most.
fn entry(paths: &[&str], weights: &[Option<f64>], files: &[usize]) -> Option<usize> {
    let place = |file: &usize| {
        let path = paths[*file];
        let name = file_name(path);
        let stem = name.split('.').next().unwrap_or(name);
        let name = ENTRIES.iter().position(|entry| *entry == stem)?;
        Some((path.matches('/').count(), name, path))
    };
    let named = files.iter().copied().filter(|file| place(file).is_some());
    let weight = |file: &usize| weights[*file].unwrap_or(0.0);
    let most_used = || files.iter().copied().max_by(|a, b| weight(a).total_cmp(&weight(b)));
    named.min_by_key(|file| place(file)).or_else(most_used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_parts_with_their_entry_points() {
        let paths = [
            "Cargo.toml", "crates/a/Cargo.toml", "crates/a/src/lib.rs", "crates/a/src/x/mod.rs",
            "crates/b/Cargo.toml", "crates/b/src/other.rs", "xtask.rs",
        ];
        let parts =
            Parts::new(&paths, &[None, None, Some(1.0), Some(4.0), None, Some(2.0), Some(1.0)]);
        let found: Vec<_> =
            parts.iter().map(|part| (part.folder.as_str(), paths[part.entry.unwrap()])).collect();
        let expected = [
            ("crates/a", "crates/a/src/lib.rs"),
            ("crates/b", "crates/b/src/other.rs"),
            ("", "xtask.rs"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn folders_are_parts_without_packages() {
        let paths = ["net/http/a.go", "net/http/deep/b.go", "io/c.go"];
        let parts = Parts::new(&paths, &[Some(1.0); 3]);
        let found: Vec<_> = parts.iter().map(|part| part.folder.as_str()).collect();
        assert_eq!(found, ["net/http", "io"]);
    }
}

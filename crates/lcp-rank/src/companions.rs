//! Tests and the files that they test, by their names.

use std::collections::BTreeMap;

use crate::paths::{folder, stem};
use crate::role::Role;

/// A test and the file that it tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Companion {
    pub(crate) test: usize,
    pub(crate) file: usize,
    /// The certainty: 0.5 if the test has two such files.
    pub(crate) certainty: f64,
}

/// The beginnings and ends that names of tests add to the name of a file, longest first.
const BEGINNINGS: [&str; 2] = ["test_", "spec_"];
const ENDS: [&str; 13] = [
    "_integration", ".test-d", ".bench", "_bench", "_tests", ".test", ".spec", "_test", "_spec",
    "Tests", "Spec", "tests", "Test",
];

/// The maximum number of files of one name that are compared, and that a test can belong to.
const CANDIDATES_MAX: usize = 12;
const FILES_MAX: usize = 2;

/// Returns the tests with the files that they test: those of the same name that are nearest.
pub(crate) fn companions(files: &[(&str, Role)]) -> Vec<Companion> {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (path, role)) in files.iter().enumerate() {
        if *role == Role::Source {
            let name = stem(path).trim_matches('_').to_lowercase();
            by_name.entry(name).or_default().push(at);
        }
    }
    let mut companions = Vec::new();
    for (test, (path, _)) in files.iter().enumerate().filter(|(_, file)| file.1 == Role::Test) {
        let name = tested_name(stem(path)).to_lowercase();
        let known = by_name.get(&name).or_else(|| by_name.get(&name.replace('_', "")));
        let Some(known) = known.filter(|known| !name.is_empty() && known.len() <= CANDIDATES_MAX)
        else {
            continue;
        };
        let nearness = |file: usize| nearness(folder(path), folder(files[file].0));
        let most = known.iter().map(|file| nearness(*file)).max();
        let nearest: Vec<_> = known.iter().filter(|file| Some(nearness(**file)) == most).collect();
        if nearest.len() <= FILES_MAX {
            let certainty = 1.0 / nearest.len() as f64;
            companions.extend(nearest.iter().map(|&&file| Companion { test, file, certainty }));
        }
    }
    companions
}

/// Returns the name of a test without the parts that make it a test.
fn tested_name(stem: &str) -> &str {
    let mut name = stem;
    for _ in 0..2 {
        name = BEGINNINGS.iter().find_map(|it| name.strip_prefix(it)).unwrap_or(name);
        name = ENDS.iter().find_map(|it| name.strip_suffix(it)).unwrap_or(name);
    }
    name.trim_matches(['_', '-', '.'])
}

/// Returns the nearness of two folders: the number of common first parts, then of common parts, then
/// of parts that the second one does not have.
fn nearness(a: &str, b: &str) -> (usize, std::cmp::Reverse<usize>) {
    let parts = |folder: &str| -> Vec<String> {
        folder.to_lowercase().split(['/', '_', '-']).map(str::to_owned).collect()
    };
    let (a, b) = (parts(a), parts(b));
    let first = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let mut common: Vec<_> = a.iter().filter(|part| b.contains(part)).collect();
    common.sort();
    common.dedup();
    (2 * first + common.len(), std::cmp::Reverse(b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_belong_to_the_nearest_file_of_their_name() {
        let files = [
            ("src/pytest/capture.py", Role::Source),
            ("testing/test_capture.py", Role::Test),
            ("pkg/cmd/list/list.go", Role::Source),
            ("pkg/cmd/view/list.go", Role::Source),
            ("pkg/cmd/view/list_test.go", Role::Test),
            ("packages/core/src/render.ts", Role::Source),
            ("packages/core/__tests__/render.spec.ts", Role::Test),
            ("tests/other.rs", Role::Test),
        ];
        let found: Vec<_> = companions(&files).iter().map(|it| (it.test, it.file)).collect();
        assert_eq!(found, [(1, 0), (4, 3), (6, 5)]);
    }
}

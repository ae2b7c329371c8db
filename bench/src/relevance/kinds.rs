//! Kinds of files by their paths: which files a query may be about, and which may be shown.
//!
//! The rules are those of the prototype that the benchmark compares with. They do not depend on
//! LCP's own rules, which are part of the measured product.

use std::sync::LazyLock;

use lcp_types::Lang;
use regex::Regex;

/// The languages of source files, by extension.
const SOURCES: &[(&str, Lang)] = &[
    ("cjs", Lang::JavaScript),
    ("cts", Lang::TypeScript),
    ("go", Lang::Go),
    ("js", Lang::JavaScript),
    ("jsx", Lang::JavaScript),
    ("mjs", Lang::JavaScript),
    ("mts", Lang::TypeScript),
    ("py", Lang::Python),
    ("rs", Lang::Rust),
    ("ts", Lang::TypeScript),
    ("tsx", Lang::TypeScript),
];

/// The extensions of files that are not shown as text.
const BINARY: &[&str] = &[
    "bin", "bz2", "dll", "dump", "dylib", "eot", "exe", "gif", "gz", "icns", "ico", "inv", "jar",
    "jpeg", "jpg", "map", "mo", "mp3", "mp4", "otf", "pdf", "png", "psd", "pyc", "snap", "so",
    "sqlite", "svg", "tgz", "ttf", "wasm", "webp", "woff", "woff2", "xz", "zip", "zst",
];

/// The names of lock files, in lower case.
const LOCKS: &[&str] = &[
    "bun.lockb", "cargo.lock", "composer.lock", "gemfile.lock", "go.sum", "npm-shrinkwrap.json",
    "package-lock.json", "pipfile.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "yarn.lock",
];

/// The names of folders with tests, examples or benchmarks. A file of this name counts, too.
const TEST_FOLDERS: &[&str] = &[
    "__mocks__", "__tests__", "acceptance", "benches", "benchmark", "benchmarks", "demo", "demos",
    "e2e", "example", "examples", "fixture", "fixtures", "mock", "mocks", "packages-private",
    "playground", "spec", "specs", "test", "test_data", "testdata", "testing", "tests",
];

/// Further folders with tests. A file of this name does not count.
const OTHER_TEST_FOLDERS: &[&str] = &["stress-test", "tests-build", "tests-integration"];

/// The names of folders with generated or copied files.
const GENERATED_FOLDERS: &[&str] = &["dist", "generated", "node_modules", "third_party", "vendor"];

const GENERATED_ENDINGS: &[&str] =
    &[".csv", ".min.css", ".min.js", ".pb.go", ".po", ".pot", ".roff", ".tsv"];

/// Returns the name of a file without its folders.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the language of a source file.
pub(super) fn language(path: &str) -> Option<Lang> {
    let extension = extension(path);
    SOURCES.iter().find(|(known, _)| *known == extension).map(|(_, lang)| *lang)
}

/// Returns whether a file is a test, an example or a benchmark, or belongs to one.
pub(super) fn is_test(path: &str) -> bool {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        let stem = r"^(test_.*|.*_(test|bench)|conftest|tests?)\.[a-z]+$";
        let ending = r"\.(bench|spec|test|test-d)\.[a-z]+$";
        regex(&format!("{stem}|{ending}"))
    });
    path.split('/').any(|part| TEST_FOLDERS.contains(&part))
        || folders(path).any(|folder| OTHER_TEST_FOLDERS.contains(&folder))
        || NAME.is_match(name(path))
}

/// Returns whether a file is generated, copied from elsewhere, or a lock file.
pub(super) fn is_generated(path: &str) -> bool {
    let is_script_below = |folder: &str| {
        folders(path).any(|known| known == folder) && path.rsplit('.').next() == Some("js")
    };
    folders(path).any(|folder| GENERATED_FOLDERS.contains(&folder))
        || GENERATED_ENDINGS.iter().any(|ending| path.ends_with(ending))
        || path.contains("_generated.")
        || path.contains(".gen.")
        || path.contains("search/minified-js/")
        || path.contains("search/non-minified-js/")
        || is_script_below("static")
        || is_lock(path)
}

/// Returns whether a change of this file is what a query looks for: a source file that is neither
/// a test nor generated.
pub(super) fn is_gold(path: &str) -> bool {
    language(path).is_some() && !is_test(path) && !is_generated(path)
}

/// Returns whether a ranking may contain this file.
pub(super) fn is_candidate(path: &str) -> bool {
    !BINARY.contains(&extension(path).as_str()) && !is_lock(path)
}

/// Returns the extension of a file in lower case, or an empty text.
fn extension(path: &str) -> String {
    name(path).rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_lowercase())
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit_once('/').into_iter().flat_map(|(folders, _)| folders.split('/'))
}

fn is_lock(path: &str) -> bool {
    LOCKS.contains(&name(path).to_lowercase().as_str())
}

/// Compiles a pattern of this benchmark.
pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

#[cfg(test)]
mod tests {
    use super::{is_candidate, is_generated, is_gold, is_test, language};

    #[test]
    fn tests_are_recognized_by_folder_and_name() {
        for path in [
            "tests/a.rs", "a/benches/b.rs", "src/test_a.py", "a_test.go", "src/a.spec.ts",
            "x/conftest.py", "tests-build/a.rs", "a/stress-test/b.rs", "src/tests.rs",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/attest.rs", "src/testament/a.rs", "latest.py", "src/contest.go"] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn generated_files_are_recognized() {
        for path in ["a/vendor/b.go", "api.pb.go", "x.min.js", "Cargo.lock", "docs/static/a.js"] {
            assert!(is_generated(path), "{path}");
        }
        for path in ["src/vendor.rs", "src/static.js", "generate.py"] {
            assert!(!is_generated(path), "{path}");
        }
    }

    #[test]
    fn gold_is_source_that_is_neither_test_nor_generated() {
        assert!(is_gold("src/a.rs") && is_gold("web/App.TSX"));
        for path in ["tests/a.rs", "dist/a.js", "README.md", "Makefile"] {
            assert!(!is_gold(path), "{path}");
        }
        assert!(language("a.pyi").is_none());
    }

    #[test]
    fn candidates_are_neither_binary_nor_lock_files() {
        assert!(is_candidate("README.md") && is_candidate("Makefile"));
        assert!(!is_candidate("logo.PNG") && !is_candidate("web/yarn.lock"));
    }
}

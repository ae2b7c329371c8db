//! Tests of the labels of paths and of their order.

use super::*;

#[test]
fn label_is_the_normalized_relative_path() {
    let of = |path: &str, several| label(Path::new(path), true, several);
    for (path, wanted) in
        [(".", ""), ("./src/", "src"), ("src/../docs", "docs"), ("a//b/.", "a/b"), ("a/..", "")]
    {
        assert_eq!(of(path, false), wanted, "{path}");
        assert_eq!(of(path, true), wanted, "{path}");
    }
    for path in ["../x", "/abs/x", "a/../../x"] {
        assert_eq!(of(path, false), "", "{path}");
        assert_eq!(of(path, true), "x", "{path}");
        assert_eq!(label(Path::new(path), false, false), "x", "a file: {path}");
    }
    assert_eq!(of("/", true), "");
}

#[test]
fn labels_are_sorted_by_component() {
    let mut labels = ["a.rs", "a/b", "a-b", "a/B/c", "Z"];
    labels.sort_by(|a, b| compare_labels(a, b));
    assert_eq!(labels, ["Z", "a/B/c", "a/b", "a-b", "a.rs"]);
}

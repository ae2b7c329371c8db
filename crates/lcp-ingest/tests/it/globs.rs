//! Which labels a glob matches.

use lcp_ingest::{Globs, Pattern};

#[track_caller]
fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    let globs = Globs::new(&[Pattern::parse(pattern).unwrap()]).unwrap();
    for label in yes {
        assert!(globs.is_match(label), "{pattern} does not match {label}");
    }
    for label in no {
        assert!(!globs.is_match(label), "{pattern} matches {label}");
    }
}

#[test]
fn names_match_anywhere_and_paths_from_the_root() {
    check("a.rs", &["a.rs", "x/a.rs", "a.rs/y"], &["ba.rs", "x/ba.rs"]);
    check("*.rs", &["a.rs", "x/y/a.rs"], &["a.rsx"]);
    check("src/*.rs", &["src/a.rs"], &["x/src/a.rs", "src/x/a.rs"]);
    check("src/**/a", &["src/a", "src/x/y/a"], &["a"]);
    check("/a", &["a", "a/b"], &["x/a"]);
    check("./src", &["src/a", "x/src"], &["srcs"]);
    check("docs/", &["docs/a", "x/docs/a"], &["docs", "x/docs"]);
    check("**", &["a", "a/b"], &[]);
    check("{a,b}.[ch]", &["a.c", "x/b.h"], &["c.c"]);
}

#[test]
fn folder_match_requires_that_all_contents_match() {
    let globs = |text| Globs::new(&[Pattern::parse(text).unwrap()]).unwrap();
    assert!(globs("target").is_folder_match("x/target"));
    assert!(globs("target/").is_folder_match("target"));
    assert!(globs("a/**").is_folder_match("a"));
    assert!(!globs("*.rs").is_folder_match("src"));
    assert!(!globs("a/*.rs").is_folder_match("a"));
    assert!(!Globs::default().is_folder_match(""));
}

#[test]
fn invalid_globs_are_rejected() {
    for wrong in ["", "/", "!a", "a[", "{a"] {
        assert!(Pattern::parse(wrong).is_err(), "{wrong}");
    }
}

//! Overviews of projects with known answers.

use lcp_rank::{Document, Overview};

use crate::{File, document};

/// Two packages, of which `core` is used most.
const PROJECT: [File; 9] = [
    ("README.md", "# Ships\n\nThey sail.\n"),
    ("core/Cargo.toml", "[package]\n"),
    ("core/src/lib.rs", "//! The core.\n\nmod door;\npub use door::Door;\n"),
    (
        "core/src/door.rs",
        "pub struct Door;\n\nimpl Door {\n    pub fn new() -> Door {\n    }\n}\n\nfn hinge() {}\n",
    ),
    ("core/tests/door.rs", "pub struct Door;\nfn test() { Door::new(); }\n"),
    ("tool/Cargo.toml", "[package]\n"),
    ("tool/src/main.rs", "//! The tool.\n\nfn main() {\n    let door = Door::new();\n}\n"),
    ("tool/src/open.rs", "pub fn open(door: Door) {}\n"),
    ("Cargo.lock", "name = \"door\"\n"),
];

/// Returns the paths of an overview with the shown lines, in order.
fn overview(files: &[Document<'_>]) -> Vec<(String, Vec<(u32, u32)>)> {
    let mut overview = Overview::default();
    overview.add(files);
    let ranked = overview.finish().into_iter().map(|ranked| {
        let lines = ranked.passages.iter().map(|passage| (passage.first, passage.last));
        (files[ranked.file].path.to_owned(), lines.collect())
    });
    ranked.collect()
}

#[test]
fn readme_and_entry_points_come_before_signatures() {
    let files = PROJECT.map(|(path, text)| document(path, text));
    let found = overview(&files);
    let expected = [
        ("README.md", vec![(1, 3)]),
        // The first paragraph of its documentation, and its exports.
        ("core/src/lib.rs", vec![(1, 1), (4, 4)]),
        ("tool/src/main.rs", vec![(1, 1), (3, 3)]),
        // Of its definitions, those that other files can use.
        ("core/src/door.rs", vec![(1, 1), (4, 4)]),
        ("tool/src/open.rs", vec![(1, 1)]),
    ];
    let expected = expected.map(|(path, lines)| (path.to_owned(), lines));
    assert_eq!(found, expected);
}

#[test]
fn definitions_above_the_exports_of_an_entry_point_are_shown() {
    let entry = "\"\"\"Doors.\nfrom .door import Door\n\"\"\"\nclass Door:\n    pass\nfrom .hinge import Hinge\n";
    let files = [document("app/__init__.py", entry), document("app/b.py", "Door(Hinge)\n")];
    let expected = vec![(1, 3), (4, 4), (6, 6)];
    assert_eq!(overview(&files), [("app/__init__.py".to_owned(), expected)]);
}

#[test]
fn overview_does_not_depend_on_the_order_of_files() {
    let files = PROJECT.map(|(path, text)| document(path, text));
    let mut reversed = files;
    reversed.reverse();
    assert_eq!(overview(&reversed), overview(&files));
}

#[test]
fn project_without_code_has_no_overview() {
    let files = [document("README.md", "# Words\n"), document("notes.txt", "words\n")];
    assert_eq!(overview(&files), []);
}

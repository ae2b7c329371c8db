//! Questions with known answers.

use lcp_rank::{Commit, Query};

use crate::{File, document, paths, rank};

const PROJECT: [File; 7] = [
    ("README.md", "# Ships\n\nA library for retries, tables and doors.\n"),
    (
        "src/table.rs",
        "/// Prints rows.\npub fn print_table(rows: &[Row]) {\n    rows.iter().for_each(print);\n}\n",
    ),
    ("src/net/retry.rs", "pub fn backoff(attempt: u32) -> Duration {\n    wait(attempt)\n}\n"),
    ("src/net/mod.rs", "mod retry;\npub fn connect() {\n    retry::backoff(1);\n}\n"),
    (
        "src/door.rs",
        "pub struct Door;\n\nimpl Door {\n    pub fn open(&self) {\n        self.hinge();\n    }\n}\n",
    ),
    (
        "tests/table.rs",
        "#[test]\nfn print_table_prints_all_rows() {\n    print_table(&rows());\n}\n",
    ),
    ("Cargo.lock", "name = \"table\"\nname = \"print_table\"\n"),
];

fn best(query: &Query, commits: &[Commit]) -> (String, Vec<String>) {
    let files = PROJECT.map(|(path, text)| document(path, text));
    let ranking = rank(query, &files, commits);
    assert_eq!(ranking.len(), files.len());
    (paths(&ranking, &files)[0].to_owned(), ranking[0].reasons.clone())
}

#[test]
fn words_of_identifiers_are_found() {
    let (path, reasons) = best(&Query::new("Printing a table drops the last row"), &[]);
    assert_eq!(path, "src/table.rs");
    assert!(reasons.iter().any(|reason| reason.contains("table")), "{reasons:?}");
}

#[test]
fn identifier_is_found_in_another_spelling() {
    assert_eq!(best(&Query::new("printTable panics"), &[]).0, "src/table.rs");
}

#[test]
fn frame_of_a_stack_trace_is_the_best_file() {
    let query = Query::new("panicked at src/door.rs:5:9\nin a table, a table, a table");
    let (path, reasons) = best(&query, &[]);
    assert_eq!(path, "src/door.rs");
    assert_eq!(reasons[0], "named in the question: src/door.rs");
}

#[test]
fn mentioned_file_is_first_with_the_highest_score_of_a_passage() {
    let query = Query::new("print_table").with_mention("net/mod.rs");
    let files = PROJECT.map(|(path, text)| document(path, text));
    let ranking = rank(&query, &files, &[]);
    assert_eq!(paths(&ranking, &files)[0], "src/net/mod.rs");
    assert!(ranking[0].passages.iter().any(|passage| passage.score == 1000));
}

#[test]
fn mentioned_symbol_ranks_the_file_that_defines_it_first() {
    let query = Query::new("print_table").with_mention("backoff");
    assert_eq!(best(&query, &[]).0, "src/net/retry.rs");
}

#[test]
fn similar_past_commits_vote_for_their_files() {
    let commit = |message: &str, file: &str| Commit {
        hash: "1a2b3c4d5e".to_owned(),
        message: message.to_owned(),
        files: vec![file.to_owned()],
    };
    let commits = [
        commit("Reword the greeting", "src/net/mod.rs"),
        commit("Fix squeaking hinges", "src/door.rs"),
    ];
    let (path, reasons) = best(&Query::new("The squeaking came back"), &commits);
    assert_eq!(path, "src/door.rs");
    assert_eq!(reasons.last().unwrap(), "changed by 1a2b3c4, \"Fix squeaking hinges\"");
}

#[test]
fn generated_files_come_last() {
    let files = PROJECT.map(|(path, text)| document(path, text));
    let ranking = rank(&Query::new("print_table"), &files, &[]);
    let found = paths(&ranking, &files);
    let place = |path| found.iter().position(|it| *it == path).unwrap();
    assert!(place("tests/table.rs") < place("Cargo.lock"), "{found:?}");
}

//! Tables and lists of records: data blocks with a path.

use lcp_types::BlockContent;
use serde_json::Value;

use super::{Folder, meta_of};
use crate::command::{LCP, printed, run_with, stderr};

const PATH: &str = "data/a.csv";

fn table() -> String {
    let rows = (0..400).map(|id| format!("{id},\"name, {id}\",{}\n", id * 3));
    format!("id,name,amount\n{}", rows.collect::<Vec<_>>().concat())
}

/// A folder with a table and code, and its pack.
fn folder() -> (Folder, Vec<u8>) {
    let folder = Folder::new(&[(PATH, table().as_str()), ("src/a.rs", "fn a() {}\n")]);
    let pack = folder.run(&["--no-tree"]);
    assert!(pack.status.success(), "{}", stderr(&pack));
    (folder, pack.stdout)
}

#[test]
fn table_is_a_data_block_that_costs_nothing_more_in_full() {
    let folder = Folder::new(&[(PATH, table().as_str())]);
    let blocks = folder.pack(&["--no-tree"]);
    let BlockContent::StructuredData(data) = &blocks[0].content else { panic!() };
    assert_eq!(data.content.as_str(), Some(table().as_str()));
    assert_eq!(meta_of(&blocks, "csv data").path.as_deref(), Some(PATH));
    let report = folder.report(&[]);
    assert_eq!(
        (&report["packed"][0]["type"], &report["packed"][0]["format"]),
        (&"data".into(), &"csv".into())
    );
    let full = run_with(&["render", "-", "-q"], &folder.run(&["--no-tree"]).stdout);
    let wanted = format!(
        "<context>\n<data format=\"csv\" path=\"{PATH}\">\n{}\n</data>\n</context>\n",
        table()
    );
    assert_eq!(printed(&full), wanted);
}

#[test]
fn table_over_the_budget_shows_header_rows_and_count() {
    let (_, pack) = folder();
    let text = printed(&run_with(&["render", "-", "--budget", "150", "-q"], &pack));
    let wanted = "<data format=\"csv\" path=\"data/a.csv\" detail=\"summary\">\n\
                  id,name,amount\n0,\"name, 0\",0\n1,\"name, 1\",3\n2,\"name, 2\",6\n\
                  3,\"name, 3\",9\n4,\"name, 4\",12\n… 395 more rows, 400 in total\n</data>\n";
    assert!(text.contains(wanted), "{text}");
    let text = printed(&run_with(&["render", "-", "--budget", "60", "-q"], &pack));
    let wanted = "<data format=\"csv\" path=\"data/a.csv\" detail=\"excerpt\">\n\
                  id,name,amount\n… 400 more rows, ~3,666 tokens omitted …\n</data>\n";
    assert!(text.contains(wanted), "{text}");
}

/// Commands that select or name blocks by path find the table.
#[test]
fn table_is_found_by_its_path() {
    let (folder, pack) = folder();
    folder.write("a.lcp", &pack);
    let run = |arguments: &[&str]| printed(&LCP.run_in(&folder.path(""), arguments, b""));
    assert_eq!(run(&["cat", "a.lcp", PATH]), table());
    let json = |arguments: &[&str]| serde_json::from_str::<Value>(&run(arguments)).unwrap();
    assert_eq!(json(&["inspect", "a.lcp", "--json"])["blocks"][0]["label"], PATH);
    assert_eq!(json(&["report", "a.lcp", "--json"])["blocks"][0]["label"], PATH);
    let annotate =
        ["annotate", "a.lcp", "-o", "b.lcp", "--path", "data/", "--priority", "critical"];
    run(&annotate);
    let critical = json(&["inspect", "b.lcp", "--json"]);
    assert_eq!(critical["blocks"][0]["priority"], "critical");
    let diff = json(&["diff", "a.lcp", "b.lcp", "--json"]);
    assert_eq!(
        (&diff["blocks"][0]["label"], &diff["blocks"][0]["changed"]),
        (&PATH.into(), &serde_json::json!(["priority"]))
    );
    let ruled = folder.pack(&["--no-tree", "--priority", "data/*.csv=high"]);
    assert_eq!(meta_of(&ruled, "csv data").priority.name(), "high");
}

#[test]
fn path_of_a_table_survives_parsing_in_every_mode() {
    let (_, pack) = folder();
    for mode in ["xml", "markdown", "minimal"] {
        let text = run_with(&["render", "-", "--mode", mode, "-q"], &pack);
        let manifest = printed(&run_with(&["parse", "-", "--mode", mode], &text.stdout));
        let json: Value = serde_json::from_str(&manifest).unwrap();
        let block = &json["blocks"][0];
        assert_eq!(
            (&block["type"], &block["content"]),
            (&"structured_data".into(), &table().into())
        );
        assert_eq!(block["tags"], serde_json::json!(["path=data/a.csv"]));
        let again = run_with(&["encode", "-"], manifest.as_bytes());
        let again = run_with(&["render", "-", "--mode", mode, "-q"], &again.stdout);
        assert_eq!(printed(&again), printed(&text));
    }
}

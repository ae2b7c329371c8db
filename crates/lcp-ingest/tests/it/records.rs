//! Tables and lists of records, which become data.

use std::path::Path;
use std::time::{Duration, Instant};

use lcp_ingest::{FileType, IngestOptions, IngestResult, ingest};
use lcp_types::{Block, BlockContent, BlockMeta, DataFormat, Lang};

fn pack(folder: &Path) -> IngestResult {
    let paths = vec![folder.to_owned()];
    ingest(&IngestOptions { paths, tree: false, ..IngestOptions::default() }).unwrap()
}

/// Packs one file. Returns its block and its path by metadata.
fn packed(name: &str, text: &str) -> (Block<'static>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    let mut blocks = pack(folder.path()).blocks;
    let path = BlockMeta::resolve_all(&blocks, &mut |_, error| panic!("{error}"))[0]
        .path
        .as_deref()
        .map(str::to_owned);
    (blocks.swap_remove(0), path)
}

fn objects(count: usize, open: &str, separator: &str, close: &str) -> String {
    let object = |id| format!("{{\"id\":{id},\"text\":\"{}\"}}", "word ".repeat(100));
    format!("{open}{}{close}", (0..count).map(object).collect::<Vec<_>>().join(separator))
}

#[test]
fn tables_and_lists_become_data_with_path_and_summary() {
    let csv = (0..50).map(|id| format!("{id},\"a, b\"\n")).collect::<Vec<_>>().concat();
    let csv = format!("id,name\n{csv}");
    let tsv = csv.replace(',', "\t");
    let lines = objects(50, "", "\n", "\n");
    let array = objects(100, "[\n  ", ",\n  ", "\n]\n");
    for (name, text, format, begins, ends) in [
        ("a.csv", &csv, DataFormat::Csv, "id,name\n0,\"a, b\"\n", "… 45 more rows, 50 in total"),
        ("a.tsv", &tsv, DataFormat::Csv, "id\tname\n0\t", "… 45 more rows, 50 in total"),
        ("a.jsonl", &lines, DataFormat::Json, "keys: id, text\n{", "45 more records, 50 in total"),
        ("a.ndjson", &lines, DataFormat::Json, "keys: id, text", "45 more records, 50 in total"),
        ("a.json", &array, DataFormat::Json, "keys: id, text", "95 more records, 100 in total"),
    ] {
        let (block, path) = packed(name, text);
        let BlockContent::StructuredData(data) = &block.content else { panic!("{name}") };
        assert_eq!((data.format, data.content.as_str()), (format, Some(text.as_str())), "{name}");
        assert_eq!(path.as_deref(), Some(name));
        let summary = block.summary.as_deref().unwrap();
        assert!(summary.starts_with(begins) && summary.ends_with(ends), "{name}: {summary}");
        assert!(summary.len() < text.len() / 4, "{name}");
    }
}

#[test]
fn other_files_of_these_names_stay_code() {
    let long = "a,b ".repeat(100_000);
    let objects = |count| objects(count, "[", ",", "]");
    for (name, text, lang) in [
        ("empty-table.csv", "a,b\n", Lang::Unknown),
        ("one-line.csv", long.as_str(), Lang::Unknown),
        ("one.jsonl", "{}\n", Lang::Json),
        ("few.json", &objects(99), Lang::Json),
        ("small.json", &format!("[{}{{}}]", "{},".repeat(200)), Lang::Json),
        ("numbers.json", &format!("[{}0]", "0,".repeat(40_000)), Lang::Json),
        ("invalid.json", &objects(200).replace("}]", "}x]"), Lang::Json),
        ("object.json", &format!("{{\"all\":{}}}", objects(200)), Lang::Json),
    ] {
        let (block, path) = packed(name, text);
        let BlockContent::Code(code) = &block.content else { panic!("{name}") };
        assert_eq!((code.lang, code.content.as_str()), (lang, Some(text)), "{name}");
        assert_eq!((path, block.summary), (None, None), "{name}");
    }
}

#[test]
fn a_short_table_has_no_summary() {
    let (block, _) = packed("a.csv", "id,name\n1,Ada\n");
    assert!(matches!(block.content, BlockContent::StructuredData(_)));
    assert_eq!(block.summary, None);
}

#[test]
fn linguist_language_makes_a_table_code() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".gitattributes"), "*.csv linguist-language=SQL\n").unwrap();
    std::fs::write(folder.path().join("a.csv"), "a,b\n1,2\n").unwrap();
    let files = pack(folder.path()).report.files;
    let table = files.iter().find(|file| file.path == "a.csv").unwrap();
    assert_eq!(table.file_type, FileType::Code(Lang::Sql));
}

#[test]
fn fifty_thousand_rows_are_packed_quickly() {
    let rows = (0..50_000).map(|id| format!("{id},name,{}\n", id * 7)).collect::<Vec<_>>().concat();
    let start = Instant::now();
    let (block, _) = packed("a.csv", &format!("id,name,amount\n{rows}"));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(block.summary.unwrap().ends_with("… 49995 more rows, 50000 in total"));
}

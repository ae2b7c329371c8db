//! Tables and lists of records, which become data.

use std::path::Path;
use std::time::{Duration, Instant};

use lcp_ingest::{FileType, IngestOptions, IngestReport, IngestResult, SkipReason, ingest};
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

/// Returns the report of a pack with one bad file, after checking that the other file is packed.
#[track_caller]
fn with_bad_file(name: &str, text: &[u8], max_file_bytes: u64) -> IngestReport {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::write(folder.path().join("z.rs"), "fn z() {}\n").unwrap();
    let paths = vec![folder.path().to_owned()];
    let start = Instant::now();
    let packed = ingest(&IngestOptions { paths, max_file_bytes, ..IngestOptions::default() });
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let packed = packed.unwrap();
    assert_eq!(packed.report.files.last().unwrap().path, "z.rs");
    packed.report
}

#[test]
fn bad_notebooks_are_packed_as_they_are_with_a_warning() {
    let deep = format!("{{\"cells\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for text in ["not JSON", "{\"cells\":3}", deep.as_str(), "{\"cells\":["] {
        let report = with_bad_file("bad.ipynb", text.as_bytes(), 1 << 20);
        let file = &report.files[0];
        assert_eq!((file.bytes, file.is_notebook), (text.len() as u64, false));
        assert!(report.warnings[0].starts_with("bad.ipynb: packed as it is: "), "{report:?}");
    }
}

#[test]
#[ignore = "packs a notebook of 100 MB"]
fn huge_notebook_becomes_a_script() {
    let picture = "iVBORw0KGgo".repeat(9_000_000);
    let cell = format!(
        "{{\"cell_type\":\"code\",\"source\":\"plot()\",\"outputs\":[{{\"data\":{{\"image/png\":\"{picture}\"}}}}]}}"
    );
    let report = with_bad_file("huge.ipynb", format!("{{\"cells\":[{cell}]}}").as_bytes(), 1 << 28);
    let file = &report.files[0];
    assert!(file.is_notebook && file.bytes < 100, "{file:?}");
}

#[test]
fn table_in_one_line_is_left_out_or_plain_text() {
    check_table_in_one_line(10_000_000);
}

#[test]
#[ignore = "writes a file of 1 GB"]
fn table_in_one_huge_line_is_left_out_or_plain_text() {
    check_table_in_one_line(1_000_000_000);
}

fn check_table_in_one_line(bytes: usize) {
    let line = "value,".repeat(bytes / 6);
    let is_plain = |max| {
        let report = with_bad_file("huge.csv", line.as_bytes(), max);
        let is_plain = report.files[0].file_type == FileType::Code(Lang::Unknown);
        assert!(is_plain || report.skipped_by(SkipReason::TooLarge).count() == 1, "{report:?}");
        is_plain
    };
    assert!(!is_plain(1 << 20));
    // A block has at most 256 MiB.
    assert_eq!(is_plain(2 << 30), bytes < 256 << 20);
}

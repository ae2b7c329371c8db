//! Files of folders: notebooks, character sets, tables and lists, `.gitattributes` (RFC 0013).

use std::ops::Range;

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{EncodeOptions, encode};
use lcp_ingest::{FileType, IngestOptions, IngestResult, Input, SecretPolicy, SkipReason, ingest};
use lcp_types::{Block, BlockContent, CowBytes, DataFormat, RecordForm};

/// Checks that any file with the name of a notebook is packed as a script, or as it is.
pub fn notebooks(data: &[u8]) {
    let Some(packed) = packed("a.ipynb", data) else { return };
    let file = &packed.report.files[0];
    assert_eq!(file.is_notebook, packed.report.warnings.is_empty(), "{:?}", packed.report.warnings);
    if !file.is_notebook && file.charset.is_none() {
        assert_eq!(text(&packed.blocks[0]), data);
    }
    if file.is_notebook {
        assert!(matches!(file.file_type, FileType::Code(_)));
        let script = std::str::from_utf8(text(&packed.blocks[0])).expect("a script is UTF-8");
        assert!(script.starts_with("# %%") || script.contains(" %%"), "{script}");
    }
}

/// Checks that text stays as it is or is decoded to UTF-8, and is not left out without a reason.
pub fn charsets(data: &[u8]) {
    let Some(packed) = packed("a.txt", data) else { return };
    let bytes = text(&packed.blocks[0]);
    match packed.report.files[0].charset {
        Some(charset) => assert!(std::str::from_utf8(bytes).is_ok(), "{charset}"),
        None => assert_eq!(bytes, data),
    }
}

/// Checks that tables and lists are packed unchanged, and that their records are valid ranges.
pub fn records(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else { return };
    let name = ["a.csv", "a.tsv", "a.jsonl", "a.json"][usize::from(choice & 3)];
    let lossy = String::from_utf8_lossy(data);
    for format in [DataFormat::Csv, DataFormat::Json] {
        let Some(form) = RecordForm::detect(format, &lossy) else { continue };
        check_records(&lossy, form.records(&lossy));
    }
    let Some(packed) = packed(name, data) else { return };
    let file = &packed.report.files[0];
    if file.charset.is_none() {
        assert_eq!(text(&packed.blocks[0]), data);
    }
    if let Some(summary) = &packed.blocks[0].summary {
        assert!(matches!(file.file_type, FileType::Data(_)));
        assert!(!summary.is_empty() && summary.len() < text(&packed.blocks[0]).len());
    }
}

/// Checks that the records are in order and between characters, with only separators between them.
fn check_records(text: &str, records: impl Iterator<Item = Range<usize>>) {
    let (mut end, mut count) = (0, 0);
    for record in records {
        assert!(end <= record.start && record.start <= record.end, "{end} {record:?}");
        let between = text.get(end..record.start).expect("a record begins with a character");
        let is_separator = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '[' | '\u{feff}');
        assert!(between.chars().all(is_separator), "{between:?}");
        assert!(text.get(record.clone()).is_some(), "{record:?}");
        (end, count) = (record.end, count + 1);
    }
    assert!(count >= 2, "{count} records");
}

/// Checks that any `.gitattributes` leaves the content of files unchanged.
pub fn attributes(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(".gitattributes"), data).expect("a file");
    std::fs::create_dir(folder.path().join("src")).expect("a folder");
    std::fs::write(folder.path().join("src/a.rs"), "fn a() {}\n").expect("a file");
    let paths = vec![folder.path().to_owned()];
    let options = IngestOptions { paths, secrets: SecretPolicy::Off, ..IngestOptions::default() };
    let packed = check(&options).expect("a folder with a file");
    let at = packed.report.files.iter().position(|file| file.path == "src/a.rs");
    assert!(at.is_some(), "{:?}", packed.report);
    let contents = packed.blocks.iter().filter_map(|block| block.content.text());
    assert!(contents.into_iter().any(|content| content.as_slice() == b"fn a() {}\n"));
}

/// Packs one file without a search for secrets. Returns `None` if it is left out.
fn packed(name: &str, data: &[u8]) -> Option<IngestResult> {
    let options = IngestOptions {
        paths: vec!["-".into()],
        inputs: vec![Input { name: Some(name.to_owned()), bytes: data.to_vec() }],
        tree: false,
        secrets: SecretPolicy::Off,
        ..IngestOptions::default()
    };
    let packed = check(&options)?;
    let is_pointer = data.starts_with(b"version https://");
    (!is_pointer && packed.report.skipped_by(SkipReason::Binary).next().is_none()).then_some(packed)
}

/// Packs files twice, and encodes and decodes their blocks. Returns `None` if there are none.
fn check(options: &IngestOptions<'_>) -> Option<IngestResult> {
    let packed = ingest(options).ok()?;
    let again = ingest(options).expect("as before");
    assert_eq!(packed.blocks, again.blocks);
    assert_eq!(packed.report, again.report);
    let pack = encode(&packed.blocks, EncodeOptions::default()).expect("blocks within the limits");
    let decoded = decode(&pack, DecodeOptions::default()).expect("as written");
    assert_eq!(decoded.blocks, packed.blocks);
    Some(packed)
}

fn text<'b>(block: &'b Block<'_>) -> &'b [u8] {
    match &block.content {
        BlockContent::Image(image) => image.data.as_slice(),
        content => content.text().map(CowBytes::as_slice).unwrap_or_default(),
    }
}

//! Text in character sets other than UTF-8, as Python encodes and decodes it.

use std::path::Path;

use lcp_ingest::{Charset, IngestOptions, IngestResult, Pattern, SkipReason, ingest};
use lcp_types::BlockContent;

struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    text: String,
}

/// Returns the samples of `data/charsets.tsv`, whose first line describes them.
fn samples() -> Vec<Sample> {
    let lines = include_str!("data/charsets.tsv").lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &'static str| {
        let fields: Vec<_> = line.split('\t').collect();
        let [_, name, bytes, text] = fields[..] else { panic!("{line}") };
        Sample { name, bytes: from_hex(bytes), text: String::from_utf8(from_hex(text)).unwrap() }
    };
    lines.map(sample).collect()
}

fn from_hex(hex: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(byte).collect()
}

fn pack(folder: &Path, bytes: &[u8], charsets: Vec<(Pattern, Charset)>) -> IngestResult {
    std::fs::write(folder.join("a.txt"), bytes).unwrap();
    let paths = vec![folder.to_owned()];
    ingest(&IngestOptions { paths, charsets, ..IngestOptions::default() }).unwrap()
}

/// Returns the text and the tag of its character set.
fn text(result: &IngestResult) -> Option<(String, Option<&'static str>)> {
    let text = result.blocks.iter().find_map(|block| match &block.content {
        BlockContent::Document(document) => Some(document.content.as_str()?.to_owned()),
        _ => None,
    })?;
    let charset = result.report.files[0].charset;
    let tag = charset.map(|charset| format!("charset={charset}"));
    let has_tag = result.blocks.iter().any(|block| match &block.content {
        BlockContent::Annotation(annotation) => annotation.value.as_str() == tag.as_deref(),
        _ => false,
    });
    assert_eq!(has_tag, charset.is_some());
    Some((text, charset))
}

#[test]
fn text_in_the_given_charset_equals_that_of_python() {
    let folder = tempfile::tempdir().unwrap();
    let samples = samples();
    assert!(samples.len() >= 20);
    for Sample { name, bytes, text: wanted } in samples {
        let pattern = Pattern::parse("*.txt").unwrap();
        let charset = Charset::from_name(name).unwrap();
        let result = pack(folder.path(), &bytes, vec![(pattern, charset)]);
        assert_eq!(text(&result), Some((wanted, Some(name))));
    }
}

#[test]
fn charset_of_a_text_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    for Sample { name, bytes, text: wanted } in samples() {
        let result = pack(folder.path(), &bytes, Vec::new());
        // The character set may be another one that has the same characters, such as KOI8-U.
        let (text, charset) = text(&result).unwrap();
        assert_eq!((text, charset.is_some()), (wanted, true), "{name} as {charset:?}");
    }
}

#[test]
fn text_that_is_not_in_the_given_charset_is_left_out_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let charset = (Pattern::parse("a.txt").unwrap(), Charset::from_name("gbk").unwrap());
    let result = pack(folder.path(), b"\xff\xff", vec![charset]);
    let skipped: Vec<_> = result.report.skipped_by(SkipReason::Charset).collect();
    assert_eq!(skipped[0].message.as_deref(), Some("not valid gbk"));
    assert_eq!(text(&result), None);
}

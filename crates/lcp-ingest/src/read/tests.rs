//! Tests of files that change while they are read, and of limits.

use std::path::PathBuf;

use super::*;
use crate::error::ErrorKind;
use crate::secrets::SecretPolicy;

fn file(path: PathBuf) -> FoundFile {
    let label = "a.rs".to_owned();
    FoundFile { label, path, size: 1, may_be_link: false, root: 0 }
}

fn secrets() -> SecretFilter<'static> {
    SecretFilter::new(SecretPolicy::default(), &[]).unwrap()
}

fn reason(path: PathBuf) -> SkipReason {
    let options = IngestOptions::default();
    Reader::new(&options, &secrets()).unwrap().read_file(&file(path), &[]).unwrap_err().reason
}

#[test]
fn changed_file_is_skipped_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name| folder.path().join(name);
    assert_eq!(reason(at("gone")), SkipReason::Vanished);
    std::fs::write(at("file"), "x").unwrap();
    assert_eq!(reason(at("file/below")), SkipReason::Vanished);
    std::fs::create_dir(at("folder")).unwrap();
    assert_eq!(reason(at("folder")), SkipReason::Special);
    std::fs::write(at("grown"), "x".repeat(2 << 20)).unwrap();
    assert_eq!(reason(at("grown")), SkipReason::TooLarge);
    std::fs::write(at("emptied"), "").unwrap();
    assert_eq!(reason(at("emptied")), SkipReason::Empty);
}

#[cfg(unix)]
#[test]
fn pipes_and_replaced_links_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name| folder.path().join(name);
    let status = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(status.success());
    assert_eq!(reason(at("pipe")), SkipReason::Special);
    std::fs::write(at("secret"), "x").unwrap();
    std::os::unix::fs::symlink(at("secret"), at("link")).unwrap();
    assert_eq!(reason(at("link")), SkipReason::Unreadable);
}

#[test]
fn input_size_is_limited() {
    let (options, secrets) = (IngestOptions::default(), secrets());
    let reader = Reader::new(&options, &secrets).unwrap();
    let max = usize::try_from(limits::TOTAL_DECOMPRESSED_BYTES_MAX).unwrap();
    let error = reader.read_input("a.rs", vec![0; max + 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("TOTAL_DECOMPRESSED_BYTES_MAX"), "{error}");
}

#[test]
fn empty_or_larger_summaries_are_discarded() {
    let summary_of = |summary: &'static str, bytes: &[u8]| {
        let summarize = |file: &FileToSummarize<'_>| {
            assert_eq!((file.path, file.file_type), ("a.rs", FileType::Code(Lang::Rust)));
            Some(summary.to_owned())
        };
        let options = IngestOptions { summarize: Some(&summarize), ..IngestOptions::default() };
        let secrets = secrets();
        let reader = Reader::new(&options, &secrets).unwrap();
        let read = reader.read_input("a.rs", bytes.to_vec()).unwrap().unwrap();
        super::summarize(&options, "a.rs", &read)
    };
    assert_eq!(summary_of("fn", b"fn a() {}").as_deref(), Some("fn"));
    assert_eq!(summary_of("fn a() {}", b"fn a() {}"), None);
    assert_eq!(summary_of("", b"fn a() {}"), None);
    assert_eq!(summary_of("fn", b"fn \xc3\xa4() {\xff}"), None, "broken UTF-8");
}

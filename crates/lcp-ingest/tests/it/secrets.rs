//! Secrets in files and changes.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use lcp_ingest::{
    FileToSummarize, IngestOptions, IngestResult, Pattern, SecretException, SecretPolicy,
    SkipReason, ingest,
};
use lcp_types::{Block, BlockContent};
use tempfile::TempDir;

/// Returns tokens with the shape of GitHub's. They are put together here, so that no scanner
/// reports this file.
fn token(last: char) -> String {
    format!("gh{}_wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINU{last}", 'p')
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn options(folder: &Path) -> IngestOptions<'static> {
    IngestOptions { paths: vec![folder.into()], tree: false, ..IngestOptions::default() }
}

fn pack(folder: &Path, secrets: SecretPolicy) -> IngestResult {
    ingest(&IngestOptions { secrets, ..options(folder) }).unwrap()
}

fn text(block: &Block<'_>) -> Option<String> {
    match &block.content {
        BlockContent::Code(code) => Some(code.content.to_str_lossy().into_owned()),
        BlockContent::Diff(diff) => Some(diff.hunks[0].lines.to_str_lossy().into_owned()),
        _ => None,
    }
}

fn texts(result: &IngestResult) -> Vec<String> {
    result.blocks.iter().filter_map(text).collect()
}

fn tags(result: &IngestResult) -> Vec<String> {
    let tags = result.blocks.iter().filter_map(|block| match &block.content {
        BlockContent::Annotation(annotation) => Some(annotation.value.to_str_lossy().into_owned()),
        _ => None,
    });
    tags.filter(|tag| tag.starts_with("redacted")).collect()
}

#[test]
fn markers_are_numbered_by_value_in_the_order_of_the_pack() {
    let (first, second) = (token('x'), token('y'));
    let folder = folder(&[
        ("a.py", &format!("a = '{second}'\nb = '{first}'\n")),
        ("b.py", &format!("c = '{first}'\n")),
        ("c.py", "d = 1\n"),
    ]);
    let result = pack(folder.path(), SecretPolicy::Redact);
    let [one, two] = ["'[secret github-token 1]'", "'[secret github-token 2]'"];
    let wanted = [format!("a = {one}\nb = {two}\n"), format!("c = {two}\n"), "d = 1\n".into()];
    assert_eq!(texts(&result), wanted);
    assert_eq!(tags(&result), ["redacted=2", "redacted=1"]);
    let found: Vec<_> = result.report.secrets.iter().map(|it| (&*it.path, it.line)).collect();
    assert_eq!(found, [("a.py", 1), ("a.py", 2), ("b.py", 1)]);
    let json = result.report.to_json().to_string();
    assert!(json.contains(r#""kind":"github-token""#) && !json.contains(&first), "{json}");
}

#[test]
fn policies_leave_out_a_file_or_pack_it_unchanged() {
    let text = format!("a = '{}'\n", token('x'));
    let folder = folder(&[("a.py", &text), ("b.py", "b = 1\n")]);
    let excluded = pack(folder.path(), SecretPolicy::Exclude);
    assert_eq!(texts(&excluded), ["b = 1\n"]);
    let skipped: Vec<_> = excluded.report.skipped_by(SkipReason::Secret).collect();
    assert_eq!((skipped.len(), &*skipped[0].path), (1, "a.py"));
    assert_eq!(excluded.report.secrets.len(), 1);
    let unchanged = [text, "b = 1\n".to_owned()];
    for (policy, found) in [(SecretPolicy::Warn, 1), (SecretPolicy::Off, 0)] {
        let result = pack(folder.path(), policy);
        assert_eq!((texts(&result), result.report.secrets.len()), (unchanged.to_vec(), found));
        assert!(tags(&result).is_empty());
    }
}

#[test]
fn pack_without_secrets_is_the_same_under_every_policy() {
    let folder = folder(&[("a.py", "a = 'ghp_short'\n"), ("b.md", "# Title\n")]);
    let blocks = |policy| pack(folder.path(), policy).blocks;
    for policy in [SecretPolicy::Redact, SecretPolicy::Exclude, SecretPolicy::Warn] {
        assert_eq!(blocks(policy), blocks(SecretPolicy::Off), "{policy:?}");
    }
}

#[test]
fn exception_covers_files_kinds_or_both() {
    let text = format!("a = '{}'\n", token('x'));
    let folder = folder(&[("a.py", &text), ("test.py", &text)]);
    let redacted = |exception: SecretException| {
        let secret_exceptions = vec![exception];
        let options = options(folder.path());
        let result = ingest(&IngestOptions { secret_exceptions, ..options }).unwrap();
        tags(&result).len()
    };
    let pattern = Some(Pattern::parse("test.py").unwrap());
    let kind = |kind: &str| Some(kind.to_owned());
    let (all, jwt) = (kind("github-token"), kind("jwt"));
    assert_eq!(redacted(SecretException { pattern: pattern.clone(), kind: None }), 1);
    assert_eq!(redacted(SecretException { pattern: pattern.clone(), kind: jwt.clone() }), 2);
    assert_eq!(redacted(SecretException { pattern, kind: all.clone() }), 1);
    assert_eq!(redacted(SecretException { pattern: None, kind: all }), 0);
    assert_eq!(redacted(SecretException { pattern: None, kind: jwt }), 2);
}

#[test]
fn summarizer_sees_markers_only() {
    let folder = folder(&[("a.py", &format!("a = '{}'\n{}", token('x'), "b = 2\n".repeat(9)))]);
    let seen = Mutex::new(String::new());
    let summarize = |file: &FileToSummarize<'_>| {
        seen.lock().unwrap().push_str(file.text);
        Some(file.text[..30].to_owned())
    };
    let options = options(folder.path());
    let result = ingest(&IngestOptions { summarize: Some(&summarize), ..options }).unwrap();
    let summary = result.blocks[0].summary.as_ref().unwrap();
    assert!(summary.starts_with("a = '[secret github-token 1]'"), "{summary}");
    assert!(!seen.lock().unwrap().contains(&token('x')));
}

#[test]
fn changes_have_markers_too() {
    let folder = folder(&[("a.py", "a = 1\n")]);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments);
        assert!(git.current_dir(folder.path()).output().unwrap().status.success());
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "a"]);
    std::fs::write(folder.path().join("a.py"), format!("a = 1\nb = '{}'\n", token('x'))).unwrap();
    let with_diff = IngestOptions { diff: Some("HEAD".into()), ..options(folder.path()) };
    let result = ingest(&with_diff).unwrap();
    let marker = "b = '[secret github-token 1]'";
    let wanted = [format!("a = 1\n{marker}\n"), format!(" a = 1\n+{marker}\n")];
    assert_eq!(texts(&result), wanted);
    let lines: Vec<_> = result.report.secrets.iter().map(|secret| secret.line).collect();
    assert_eq!(lines, [2, 2]);
    // A file that is left out has no changes either.
    let excluded = ingest(&IngestOptions { secrets: SecretPolicy::Exclude, ..with_diff });
    assert!(excluded.unwrap_err().to_string().contains("no files to pack"));
}

//! Secrets in files and changes.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use lcp_ingest::{
    FileToSummarize, IngestOptions, IngestResult, Pattern, SecretException, SecretPolicy,
    SkipReason, ingest,
};
use lcp_types::{Block, BlockContent};
use proptest::prelude::*;
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

/// Returns secrets of several kinds.
fn secrets(last: char) -> Vec<String> {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n";
    let key = format!("{}{last}\n", line.repeat(3));
    let [begin, end] = ["BEGIN", "END"].map(|of| format!("-----{of} PRIVATE {}-----", "KEY"));
    vec![
        token(last),
        format!("{begin}\n{key}{end}"),
        format!("gl{}-WPw5k4aXcaT4fNP0UcnZ{last}", "pat"),
        format!("postgres{}admin:kd93j{last}Fj3k@db.example.com/main", "://"),
    ]
}

/// Returns texts with lines of code, and the secrets among them.
fn texts_with_secrets() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let line = prop::sample::select(vec!["a = 1", "# Title", "ghp_short", "é 漢字", ""]);
    let line = line.prop_map(|line| (line.to_owned(), None));
    let all: Vec<_> = ('a'..'e').flat_map(secrets).collect();
    let secret = prop::sample::select(all).prop_map(|secret| {
        // The password alone is the secret.
        let value = secret.split("admin:").nth(1).map_or(&*secret, |rest| &rest[..10]);
        (format!("key = '{secret}'"), Some(value.to_owned()))
    });
    let lines = prop::collection::vec(prop_oneof![3 => line, 1 => secret], 0..12);
    let text = lines.prop_map(|lines| {
        let (lines, secrets): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
        (lines.join("\n") + "\n", secrets.into_iter().flatten().collect())
    });
    prop::collection::vec(text, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Neither the pack nor the report nor the summarizer gets a secret. Without secrets, the blocks
    /// are those of a pack without the search.
    #[test]
    fn no_output_has_a_secret(files in texts_with_secrets(), is_excluded in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        for (at, (text, _)) in files.iter().enumerate() {
            let extension = ["py", "md", "txt", "json"][at % 4];
            std::fs::write(folder.path().join(format!("{at}.{extension}")), text).unwrap();
        }
        let policy = if is_excluded { SecretPolicy::Exclude } else { SecretPolicy::Redact };
        let seen = Mutex::new(Vec::new());
        let summarize = |file: &FileToSummarize<'_>| {
            seen.lock().unwrap().extend_from_slice(file.text.as_bytes());
            None
        };
        let options = IngestOptions {
            secrets: policy, summarize: Some(&summarize), tree: true, ..options(folder.path())
        };
        let Ok(result) = ingest(&options) else {
            // All files have secrets, and are left out.
            prop_assert!(is_excluded && files.iter().all(|(_, secrets)| !secrets.is_empty()));
            return Ok(());
        };
        let pack = lcp_encoder::encode(&result.blocks, lcp_encoder::EncodeOptions::default());
        let report = result.report.to_json().to_string();
        let outputs = [pack.unwrap(), report.into_bytes(), seen.lock().unwrap().clone()];
        let secrets: Vec<_> = files.iter().flat_map(|(_, secrets)| secrets).collect();
        for secret in &secrets {
            let secret = secret.as_bytes();
            for output in &outputs {
                prop_assert!(!output.windows(secret.len()).any(|part| part == secret));
            }
        }
        prop_assert_eq!(result.report.secrets.len(), secrets.len());
        if secrets.is_empty() {
            let off = IngestOptions { secrets: SecretPolicy::Off, ..options };
            prop_assert_eq!(ingest(&off).unwrap().blocks, result.blocks);
        }
    }
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

//! Files that shell commands convert to text.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use lcp_continuity::command::CommandOptions;
use lcp_ingest::{
    ConvertCommand, FileConverter, FileType, IngestOptions, IngestReport, IngestResult, Input,
    Pattern, SkipReason, SkippedFile, ingest,
};
use lcp_types::{Block, BlockContent, FormatHint};
use tempfile::TempDir;

/// A commonplace binary file.
const BINARY: &[u8] = b"\x7fELF\0\0\x01\x02";

fn converter(commands: &[(&str, &str)], cache: Option<&Path>) -> FileConverter {
    let options = CommandOptions { timeout: Duration::from_secs(20), max_output_bytes: 1000 };
    with_options(commands, options, cache)
}

fn with_options(
    commands: &[(&str, &str)],
    options: CommandOptions,
    cache: Option<&Path>,
) -> FileConverter {
    let command = |(glob, line): &(&str, &str)| {
        ConvertCommand::new(Pattern::parse(glob).unwrap(), line).unwrap()
    };
    let commands = commands.iter().map(command).collect();
    let jobs = NonZeroUsize::new(4).unwrap();
    FileConverter::new(commands, options, jobs, cache.map(Path::to_owned)).unwrap()
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn options<'c>(folder: &Path, converter: &'c FileConverter) -> IngestOptions<'c> {
    IngestOptions {
        paths: vec![folder.into()],
        tree: false,
        converter: Some(converter),
        ..IngestOptions::default()
    }
}

fn pack(folder: &Path, converter: &FileConverter) -> IngestResult {
    ingest(&options(folder, converter)).unwrap()
}

/// Returns the label and the text of each DOCUMENT and CODE block.
fn texts(result: &IngestResult) -> Vec<(String, String)> {
    let text = |block: &Block<'_>| {
        let content = match &block.content {
            BlockContent::Document(document) => &document.content,
            BlockContent::Code(code) => &code.content,
            _ => return None,
        };
        Some((block.label().into_owned(), content.as_str().unwrap().to_owned()))
    };
    result.blocks.iter().filter_map(text).collect()
}

fn only_text(result: &IngestResult) -> String {
    let mut texts = texts(result);
    assert_eq!(texts.len(), 1, "{texts:?}");
    texts.remove(0).1
}

fn tags(result: &IngestResult) -> Vec<String> {
    let tags = result.blocks.iter().filter_map(|block| block.as_annotation()?.as_tag());
    tags.map(|tag| tag.to_string()).collect()
}

#[test]
fn last_matching_command_converts_a_file_to_a_document() {
    let folder = folder(&[("a.Up", b"abc"), ("b.bin", BINARY), ("c.rs", b"fn c() {}\n")]);
    let commands = [
        ("*.up", "false"),
        ("*.bin", "false"),
        ("*.Up", "tr a-z A-Z"),
        ("b.*", "printf '# b\\n'; wc -c < {} | tr -d ' ' # markdown"),
    ];
    let result = pack(folder.path(), &converter(&commands, None));
    let wanted = [("a.Up", "ABC"), ("b.bin", "# b\n8\n"), ("c.rs", "fn c() {}\n")];
    assert_eq!(texts(&result), wanted.map(|(label, text)| (label.into(), text.into())));
    assert_eq!(tags(&result), ["converted=up", "converted=bin"]);
    let files: Vec<_> = result.report.files.iter().map(|it| (it.file_type, it.bytes)).collect();
    let (plain, markdown) = (FormatHint::Plain, FormatHint::Markdown);
    assert_eq!(files[..2], [(FileType::Document(plain), 3), (FileType::Document(markdown), 6)]);
    assert_eq!(result.report.files[0].converted.as_deref(), Some("up"));
    assert_eq!(result.report.warnings, [""; 0]);
}

#[test]
fn path_with_any_characters_reaches_the_command() {
    let mut names = [
        "-n", "a b", "it's", "\"q\"", "$(touch pwned)", "`touch pwned`", "x; touch pwned",
        "new\nline*", "\\$HOME %s", "[ab]", "~",
    ];
    names.sort_unstable();
    let files: Vec<_> = names.iter().map(|name| (*name, name.as_bytes())).collect();
    let folder = folder(&files);
    for line in ["cat {}", "cat \"{}\"", "sed '' '{}'", "x={}; cat \"$x\""] {
        let result = pack(folder.path(), &converter(&[("*", line)], None));
        assert_eq!(result.report.warnings, [""; 0], "{line}");
        let mut texts: Vec<_> = texts(&result).into_iter().map(|(_, text)| text).collect();
        texts.sort_unstable();
        assert_eq!(texts, names, "{line}");
    }
    assert!(!folder.path().join("pwned").exists() && !Path::new("pwned").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn path_need_not_be_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff b");
    std::fs::write(folder.path().join::<&std::ffi::OsStr>(name), "abc").unwrap();
    assert_eq!(only_text(&pack(folder.path(), &converter(&[("*", "cat {}")], None))), "abc");
}

/// Packs a text, a binary file, and a file without a converter. Returns the report, after checking
/// that only the binary file is left out.
#[track_caller]
fn with_failure(line: &str, timeout: Duration) -> IngestReport {
    let folder = folder(&[("a.x", b"text\n"), ("b.x", BINARY), ("c.rs", b"fn c() {}\n")]);
    let limits = CommandOptions { timeout, max_output_bytes: 1000 };
    let converter = with_options(&[("*.x", line)], limits, None);
    let start = Instant::now();
    let result = ingest(&IngestOptions { tree: true, ..options(folder.path(), &converter) });
    let result = result.unwrap();
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    let wanted = [("a.x", "text\n"), ("c.rs", "fn c() {}\n")];
    assert_eq!(texts(&result), wanted.map(|(label, text)| (label.into(), text.into())), "{line}");
    assert_eq!(tags(&result), [""; 0], "{line}");
    let BlockContent::FileTree(tree) = &result.blocks[0].content else { panic!("{line}") };
    assert_eq!(tree.entries.len(), 3, "{line}");
    result.report
}

#[test]
fn failed_conversion_packs_text_and_leaves_out_binary_files() {
    let long = Duration::from_secs(60);
    for (line, timeout, reason) in [
        ("sleep 60", Duration::from_millis(200), "did not finish within 1 s and was stopped"),
        ("yes", long, "wrote more than 1000 bytes and was stopped; --max-file-size raises"),
        ("echo broken >&2; exit 3", long, "failed (exit status: 3): broken"),
        ("lcp-missing-program {}", long, "failed (exit status: 127)"),
        ("true", long, "\"true\" printed nothing"),
        ("echo; echo", long, "printed nothing"),
        ("printf '\\000\\001\\002'", long, "the output of the converter is not usable: binary"),
        ("kill -9 $$", long, "failed (signal: 9 (SIGKILL))"),
    ] {
        let report = with_failure(line, timeout);
        let [plain, left_out] = report.warnings.as_slice() else { panic!("{line}: {report:?}") };
        // The order of files in the pack.
        assert!(plain.starts_with("a.x: packed as it is: ") && plain.contains(reason), "{plain}");
        assert!(left_out.starts_with("b.x: left out: ") && left_out.contains(reason), "{left_out}");
        let [SkippedFile { path, reason: skip, bytes, message, .. }] = report.skipped.as_slice()
        else {
            panic!("{line}: {report:?}")
        };
        assert_eq!((path.as_str(), *skip, *bytes), ("b.x", SkipReason::NotConverted, Some(8)));
        assert!(message.as_ref().unwrap().contains(reason), "{message:?}");
        assert!(!skip.is_failure());
    }
}

#[test]
fn many_failures_are_counted() {
    let names: Vec<_> = (10..25).map(|number| format!("{number}.x")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), BINARY)).collect();
    let folder = folder(&[&files[..], &[("z.rs", b"fn z() {}\n")]].concat());
    let report = pack(folder.path(), &converter(&[("*.x", "false")], None)).report;
    assert_eq!(report.warnings.len(), 11);
    assert!(report.warnings[0].starts_with("10.x: left out: "), "{:?}", report.warnings);
    assert_eq!(report.warnings[10], "could not convert 5 more files");
    assert_eq!(report.skipped_by(SkipReason::NotConverted).count(), 15);
}

#[test]
fn source_may_be_larger_than_a_packed_file() {
    let large = [BINARY, &vec![0; 2 << 20]].concat();
    let folder = folder(&[("a.bin", &large), ("z.rs", b"fn z() {}\n")]);
    let huge = std::fs::File::create(folder.path().join("huge.bin")).unwrap();
    huge.set_len((64 << 20) + 1).unwrap();
    let size = "wc -c < {} | tr -d ' '";
    let result = pack(folder.path(), &converter(&[("*.bin", size)], None));
    assert_eq!(texts(&result)[0], ("a.bin".to_owned(), format!("{}\n", large.len())));
    let skipped = &result.report.skipped;
    assert_eq!((skipped[0].path.as_str(), skipped[0].reason), ("huge.bin", SkipReason::TooLarge));
    // A text that is too large to be packed as it is is left out if its converter fails.
    std::fs::write(folder.path().join("a.bin"), "text\n".repeat(300_000)).unwrap();
    let report = pack(folder.path(), &converter(&[("a.bin", "false")], None)).report;
    assert_eq!(report.skipped_by(SkipReason::NotConverted).count(), 1);
}

#[test]
fn texts_are_cached_by_command_and_content() {
    let folder = folder(&[("a.x", b"one"), ("b.x", b"two")]);
    let other = tempfile::tempdir().unwrap();
    let (calls, cache) = (other.path().join("calls"), other.path().join("cache"));
    let line = format!("echo x >> '{}'; cat", calls.display());
    let count = || std::fs::read_to_string(&calls).unwrap().lines().count();
    let run = |line: &str| texts(&pack(folder.path(), &converter(&[("*.x", line)], Some(&cache))));
    let first = run(&line);
    assert_eq!(count(), 2);
    // Another time of modification changes nothing, other content does.
    let file = std::fs::File::options().write(true).open(folder.path().join("a.x")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(run(&line), first);
    assert_eq!(count(), 2);
    std::fs::write(folder.path().join("a.x"), "new").unwrap();
    assert_eq!(run(&line)[0].1, "new");
    assert_eq!(count(), 3);
    run(&format!("{line} | cat"));
    assert_eq!(count(), 5);
    // A command that names the file sees its name.
    let names = "basename {}";
    assert_eq!(run(names)[1].1, "b.x\n");
    std::fs::rename(folder.path().join("b.x"), folder.path().join("c.x")).unwrap();
    assert_eq!(run(names)[1].1, "c.x\n");
}

fn token() -> String {
    format!("gh{}_wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx", 'p')
}

/// Returns whether a file in the folder contains the text.
fn has_text(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let bytes = std::fs::read(entry.path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn secrets_of_converted_files_are_neither_packed_nor_cached() {
    let secret = format!("a\ntoken {}\n", token());
    let folder = folder(&[("a.x", secret.as_bytes()), ("b.x", b"plain")]);
    let cache = tempfile::tempdir().unwrap();
    let result = pack(folder.path(), &converter(&[("*.x", "cat {}")], Some(cache.path())));
    assert_eq!(texts(&result)[0].1, "a\ntoken [secret github-token 1]\n");
    let found: Vec<_> = result.report.secrets.iter().map(|it| (&*it.path, it.line)).collect();
    assert_eq!(found, [("a.x", 2)]);
    assert!(has_text(cache.path(), "plain") && !has_text(cache.path(), &token()));
    // In UTF-16, the secret is found after decoding.
    let line = "printf '\\377\\376'; sed 's/./&@/g' {} | tr '@' '\\000'";
    let wide = ingest(&IngestOptions {
        paths: vec![folder.path().join("a.x")],
        ..options(folder.path(), &converter(&[("*.x", line)], Some(cache.path())))
    });
    let wide = wide.unwrap();
    assert!(!only_text(&wide).contains(&token()), "{wide:?}");
    let spaced: String = token().chars().flat_map(|letter| [letter, '\0']).collect();
    assert!(!has_text(cache.path(), &spaced));
    // Messages of a command are part of the report.
    let report = pack(folder.path(), &converter(&[("*.x", "cat {} >&2; false")], None)).report;
    assert!(report.warnings[0].contains("token [secret github-token 1]"), "{report:?}");
    assert!(!format!("{report:?}").contains(&token()));
}

#[test]
fn output_is_decoded_like_other_text() {
    let folder = folder(&[("a.x", BINARY)]);
    let result =
        pack(folder.path(), &converter(&[("*.x", "printf 'caf\\351, gr\\374n\\n'")], None));
    assert_eq!(only_text(&result), "café, grün\n");
    assert_eq!(tags(&result), ["charset=windows-1252", "converted=x"]);
}

#[test]
fn empty_files_and_lfs_pointers_are_not_converted() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 5\n";
    let folder = folder(&[("a.x", pointer), ("empty.x", b"")]);
    let result = pack(folder.path(), &converter(&[("*", "echo converted")], None));
    assert_eq!(only_text(&result), "[Git LFS file, 5 bytes]\n");
    assert_eq!(result.report.skipped_by(SkipReason::Empty).count(), 1);
}

#[test]
fn standard_input_is_converted_by_commands_that_read_it() {
    let inputs = || vec![Input { name: Some("a.x".to_owned()), bytes: b"abc".to_vec() }];
    let pack = |line: &str| {
        let converter = converter(&[("*.x", line)], None);
        let paths = vec!["-".into()];
        let options =
            IngestOptions { inputs: inputs(), paths, ..options(Path::new("."), &converter) };
        ingest(&options).unwrap()
    };
    assert_eq!(only_text(&pack("tr a-z A-Z")), "ABC");
    let result = pack("cat {}");
    assert_eq!(only_text(&result), "abc");
    assert!(result.report.warnings[0].contains("needs a file, and this is standard input"));
}

#[test]
fn restricted_access_excludes_converters() {
    let folder = folder(&[("a.x", b"abc")]);
    let converter = converter(&[("*.x", "touch ran")], None);
    let open = |path: &Path| std::fs::File::open(path);
    let options = IngestOptions { open: Some(&open), ..options(folder.path(), &converter) };
    let error = ingest(&options).unwrap_err();
    assert_eq!(error.to_string(), "files cannot be converted if access is restricted");
}

#[test]
fn changed_files_are_converted() {
    let folder = folder(&[("a.x", BINARY), ("b.x", BINARY), ("c.x", b"one\n")]);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments);
        assert!(git.current_dir(folder.path()).output().unwrap().status.success());
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "a"]);
    std::fs::write(folder.path().join("b.x"), [BINARY, b"more"].concat()).unwrap();
    std::fs::write(folder.path().join("c.x"), "two\n").unwrap();
    let converter = converter(&[("*.x", "wc -c | tr -d ' '")], None);
    let options = IngestOptions {
        since: Some("HEAD".into()),
        diff: Some("HEAD".into()),
        ..options(folder.path(), &converter)
    };
    let result = ingest(&options).unwrap();
    let wanted = [("b.x", "12\n"), ("c.x", "4\n")];
    assert_eq!(texts(&result), wanted.map(|(label, text)| (label.into(), text.into())));
    // The changes are those that git shows.
    let diffs: Vec<_> = result.report.diffs.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(diffs, ["c.x"]);
    assert!(result.report.warnings[0].contains("Binary files"), "{:?}", result.report.warnings);
}

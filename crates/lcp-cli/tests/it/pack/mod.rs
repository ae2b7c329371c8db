//! `pack`: files in, a pack out.

mod changes;
#[cfg(unix)]
mod converters;
mod left_out;
mod output;
mod real_folder;
mod records;
mod rules;
mod secrets;
mod sources;
mod summaries;
mod walk;

use std::path::{Path, PathBuf};
use std::process::Output;

use lcp_decoder::{DecodeOptions, decode};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{Block, BlockContent, BlockMeta, FileEntry, Lang, Tag};
use serde_json::Value;

use crate::command::{LCP, printed, stderr};

/// A folder that is packed.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Output {
        let arguments = [&["pack", "--no-config"], arguments].concat();
        LCP.run_in(self.0.path(), &arguments, input)
    }

    /// The blocks of what is packed, which succeeds.
    #[track_caller]
    pub(crate) fn pack(&self, arguments: &[&str]) -> Vec<Block<'static>> {
        blocks(&self.run(arguments))
    }

    /// What stands beside the pack in the report.
    #[track_caller]
    pub(crate) fn report(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[&["--report", "-", "-q"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str(&stderr(&output)).unwrap()
    }

    /// It fails so, says this and writes no pack.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: &[&str], code: i32, says: &str) {
        let output = self.run(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(says), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[track_caller]
pub(crate) fn blocks(output: &Output) -> Vec<Block<'static>> {
    assert!(output.status.success(), "{}", stderr(output));
    decoded(&output.stdout)
}

#[track_caller]
pub(crate) fn decoded(pack: &[u8]) -> Vec<Block<'static>> {
    let pack = decode(pack, DecodeOptions::default()).unwrap();
    pack.blocks.into_iter().map(Block::into_owned).collect()
}

/// `code a.rs`, of each block but annotations and the tree.
pub(crate) fn labels(blocks: &[Block<'_>]) -> Vec<String> {
    let label = |block: &Block<'_>| {
        let label = match &block.content {
            BlockContent::Code(code) => format!("{} {}", code.lang, code.path),
            BlockContent::Document(document) => {
                format!("{} {}", document.format_hint, document.title)
            }
            BlockContent::Image(image) => format!("{} {}", image.media_type, image.alt_text),
            BlockContent::Diff(diff) => format!("diff {}", diff.path),
            BlockContent::StructuredData(data) => format!("{} data", data.format),
            _ => return None,
        };
        Some(label)
    };
    blocks.iter().filter_map(label).collect()
}

/// The lines of the tree.
pub(crate) fn tree(blocks: &[Block<'_>]) -> Vec<String> {
    fn add(entries: &[FileEntry<'_>], above: &str, lines: &mut Vec<String>) {
        for entry in entries {
            let path = format!("{above}{}", entry.name);
            if entry.kind == lcp_types::FileEntryKind::Directory {
                lines.push(format!("{path}/"));
                add(&entry.children, &format!("{path}/"), lines);
            } else {
                lines.push(format!("{path} {}", entry.size));
            }
        }
    }
    let mut lines = Vec::new();
    if let Some(BlockContent::FileTree(tree)) = blocks.first().map(|block| &block.content) {
        add(&tree.entries, "", &mut lines);
    }
    lines
}

/// What the pack says of the block with this label.
#[track_caller]
pub(crate) fn meta_of<'b>(blocks: &'b [Block<'_>], label: &str) -> BlockMeta<'b> {
    let at = blocks.iter().position(|block| labels(std::slice::from_ref(block)) == [label]);
    BlockMeta::resolve_all(blocks, &mut |_, problem| panic!("{problem}")).swap_remove(at.unwrap())
}

const PROJECT: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\n"),
    ("README.md", "# A project\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/a/b.py", "pass\n"),
    ("src/a.rs", "//\n"),
    ("run", "#!/bin/sh\necho\n"),
    ("data.csv", "a,b\n"),
    ("LICENSE", "free\n"),
];

#[test]
fn files_become_blocks_in_path_order() {
    let folder = Folder::new(PROJECT);
    let blocks = folder.pack(&[]);
    let wanted = [
        "toml Cargo.toml", "plain LICENSE", "markdown README.md", "unknown data.csv", "shell run",
        "python src/a/b.py", "rust src/a.rs", "rust src/main.rs",
    ];
    assert_eq!(labels(&blocks), wanted);
    let lines = [
        "Cargo.toml 10", "LICENSE 5", "README.md 12", "data.csv 4", "run 15", "src/", "src/a/",
        "src/a/b.py 5", "src/a.rs 3", "src/main.rs 13",
    ];
    assert_eq!(tree(&blocks), lines);
    assert_eq!(blocks[0].summary.as_deref(), Some("8 files in 3 folders, 67 bytes"));
    assert_eq!(blocks[1].content.text().unwrap().as_str(), Some("[package]\n"));
    assert!(tree(&folder.pack(&["--no-tree"])).is_empty());
}

#[test]
fn csharp_and_kotlin_files_have_a_tag_with_their_language() {
    let place = Folder::new(&[("a.cs", "class A {}\n"), ("b.kt", "class B\n"), ("c.zzz", "c\n")]);
    let blocks = place.pack(&["--no-tree", "."]);
    let tags = |label: &str| {
        let is_it = |block: &Block<'_>| match &block.content {
            BlockContent::Code(code) => code.path == label,
            _ => false,
        };
        let target = blocks.iter().position(is_it).unwrap() as u64;
        let annotations = blocks.iter().filter_map(Block::as_annotation);
        let tags = annotations.filter(move |of| of.target_block_id == target);
        tags.filter_map(|of| Some(of.as_tag()?.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(tags("a.cs"), ["lang=csharp"]);
    assert_eq!(tags("b.kt"), ["lang=kotlin"]);
    assert_eq!(tags("c.zzz"), [""; 0]);
    let code = blocks[0].content.clone();
    assert!(matches!(code, BlockContent::Code(code) if code.lang == Lang::Unknown));

    // Rendered texts show the language, and it comes back from them.
    place.run(&["--no-tree", "-o", "tagged.lcp", "a.cs", "b.kt"]);
    for (mode, shown) in [
        ("xml", ["<code lang=\"csharp\" path=\"a.cs\">", "<code lang=\"kotlin\" path=\"b.kt\">"]),
        ("markdown", ["\n```csharp\nclass A {}\n\n```\n", "\n```kotlin\nclass B\n\n```\n"]),
    ] {
        let lcp = |args: &[&str]| LCP.command(&place.path(""), args).output().unwrap();
        let rendered = lcp(&["render", "tagged.lcp", "--mode", mode, "-o", "tagged.txt"]);
        assert!(rendered.status.success(), "{rendered:?}");
        let text = std::fs::read_to_string(place.path("tagged.txt")).unwrap();
        assert!(shown.iter().all(|part| text.contains(part)), "{text}");
        let parsed = lcp(&["parse", "tagged.txt", "--mode", mode]);
        let parsed = String::from_utf8(parsed.stdout).unwrap();
        for lang in Tag::LANGS {
            assert!(parsed.contains(&format!("\"lang={lang}\"")), "{parsed}");
        }
    }
}

#[test]
fn csharp_and_kotlin_files_have_outlines() {
    let csharp = "class A\n{\n    void Run(int times)\n    {\n        Start(times);\n    }\n}\n";
    let kotlin = "class B {\n    fun run(times: Int) {\n        start(times)\n    }\n}\n";
    let place = Folder::new(&[("a.cs", csharp), ("b.kt", kotlin)]);
    let blocks = place.pack(&["--no-tree", "--summarize", "outline", "."]);
    let summaries: Vec<_> = blocks.iter().filter_map(|block| block.summary.as_deref()).collect();
    let expected =
        ["class A\n{\n    void Run(int times)\n}", "class B {\n    fun run(times: Int)\n}"];
    assert_eq!(summaries, expected);
}

#[test]
fn pack_is_identical_for_any_number_of_threads() {
    let (folder, other) = (Folder::new(PROJECT), Folder::new(PROJECT));
    for number in 0..300 {
        let (name, text) = (format!("many/{:02}/{number}.rs", number % 7), "// x\n".repeat(number));
        folder.write(&name, &text);
        other.write(&name, &text);
    }
    let first = folder.run(&["."]).stdout;
    assert!(!first.is_empty());
    for threads in ["1", "2", "8"] {
        let mut command = LCP.command(&other.path(""), &["pack", "--no-config", "."]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.stdout == first, "with {threads} threads");
    }
}

#[test]
fn output_files_are_not_packed() {
    let folder = Folder::new(PROJECT);
    let arguments = ["-o", "out.lcp", "--report", "report.json"];
    let read = || ["out.lcp", "report.json"].map(|name| std::fs::read(folder.path(name)).unwrap());
    assert!(folder.run(&arguments).status.success());
    let first = read();
    assert!(folder.run(&arguments).status.success());
    assert!(read() == first);
    assert_eq!(labels(&decoded(&first[0])).len(), PROJECT.len());
    // As the shell does it for `> here.lcp`.
    std::fs::remove_file(folder.path("out.lcp")).unwrap();
    std::fs::remove_file(folder.path("report.json")).unwrap();
    let mut command = LCP.command(&folder.path(""), &["pack", "--no-config"]);
    let file = std::fs::File::create(folder.path("here.lcp")).unwrap();
    assert!(command.stdout(file).status().unwrap().success());
    let here = std::fs::read(folder.path("here.lcp")).unwrap();
    assert!(here == first[0]);
}

#[test]
fn stdin_name_sets_label_and_type() {
    let folder = Folder::new(&[("a.rs", "//\n")]);
    let of = |arguments: &[&str], input: &[u8]| labels(&blocks(&folder.run_with(arguments, input)));
    assert_eq!(of(&["-"], b"text\n"), ["plain standard input"]);
    assert_eq!(of(&["-"], b"#!/bin/sh\n"), ["shell standard input"]);
    let named = ["-", "a.rs", "--stdin-name", "Z/b.py"];
    assert_eq!(of(&named, b"pass\n"), ["python Z/b.py", "rust a.rs"]);
    folder.fails(&["--stdin-name", "a.rs"], 2, "--stdin-name needs `-`");
    folder.fails(&["-", "-"], 2, "`-` must not be given more than once");
    folder.fails(&["-", "--no-tree"], 2, "no files to pack");
}

#[test]
fn missing_path_is_an_error_before_output_is_written() {
    let folder = Folder::new(PROJECT);
    let arguments = ["src", "gone", "-o", "out.lcp"];
    folder.fails(&arguments, 1, "cannot read gone: No such file");
    assert!(!folder.path("out.lcp").exists());
}

#[test]
fn empty_selection_is_an_error_with_a_hint() {
    let folder = Folder::new(&[(".hidden", "x"), (".gitignore", "*.rs\n"), ("a.rs", "x")]);
    folder.fails(&[], 2, "no files to pack\nhint: pass --no-ignore or --hidden to include");
    folder.fails(&["--no-ignore", "--max-file-size", "0"], 2, "expected a number of bytes");
}

#[test]
fn pack_applies_dedup_compression_and_magic_flags() {
    let text = "fn a() {}\n".repeat(50);
    let folder = Folder::new(&[("a.rs", &text), ("b.rs", &text), ("c.rs", "//\n")]);
    assert_eq!(labels(&folder.pack(&[])).len(), 3);
    assert_eq!(labels(&folder.pack(&["--dedup", "exact"])), ["rust a.rs", "rust c.rs"]);
    let whole = folder.run(&[]).stdout;
    for compress in ["block", "payload"] {
        let smaller = folder.run(&["--compress", compress, "--magic", "bcp"]).stdout;
        assert!(smaller.len() < whole.len() && smaller.starts_with(b"BCP\0"), "{compress}");
        assert_eq!(labels(&decoded(&smaller)), labels(&decoded(&whole)));
    }
}

#[test]
fn report_lists_packed_and_skipped_files() {
    let folder = Folder::new(&[("a.rs", "//\n"), ("tests/b.md", "# b\n"), ("empty", "")]);
    folder.write("c.bin", b"\0");
    let report = folder.report(&["--category", "*.rs=open_files"]);
    let totals = serde_json::json!({
        "files": 2, "bytes": 7, "diffs": 0, "skipped": 2,
        "skipped_by_reason": { "binary": 1, "empty": 1 }, "secrets": 0,
        "blocks": 5, "pack_bytes": folder.run(&["--category", "*.rs=open_files"]).stdout.len(),
    });
    assert_eq!((&report["schema"], &report["totals"]), (&"lcp.pack.v1".into(), &totals));
    let packed = serde_json::json!([
        {
            "path": "a.rs", "type": "code", "format": "rust", "bytes": 3, "changed": false,
            "charset": null, "notebook": false, "converted": null, "summary_bytes": null, "priority": "normal", "category": "open_files", "rank": null,
            "pinned": false,
        },
        {
            "path": "tests/b.md", "type": "document", "format": "markdown", "bytes": 4,
            "changed": false, "charset": null, "notebook": false, "converted": null, "summary_bytes": null, "priority": "low", "category": null,
            "rank": null, "pinned": false,
        },
    ]);
    assert_eq!(report["packed"], packed);
    let skipped = serde_json::json!([
        { "path": "c.bin", "reason": "binary", "bytes": 1, "message": null },
        { "path": "empty", "reason": "empty", "bytes": 0, "message": null },
    ]);
    assert_eq!(report["skipped"], skipped);
}

/// `lcp pack . | lcp render - --budget 8000`
#[test]
fn packed_project_renders_within_the_budget() {
    let root = lcp_testkit::cli_harness::root().join("crates/lcp-types");
    let packed = LCP.run_in(&root, &["pack", "."], &[]);
    assert!(packed.status.success(), "{}", stderr(&packed));
    let text = printed(&LCP.run_in(&root, &["render", "-", "--budget", "8000"], &packed.stdout));
    let tokens = Tiktoken::new(Encoding::O200kBase).estimate(&text);
    assert!(tokens <= 8_000 && tokens > 7_000, "{tokens}");
    assert!(text.contains("src/block.rs"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_exits_with_130_and_leaves_no_files() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let folder = Folder::new(&[]);
    let arguments = ["pack", "--no-config", "-", "-o", "out.lcp"];
    let mut command = LCP.command(Path::new(&folder.path("")), &arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // More than a pipe holds: when it is written, the program is reading.
    let mut input = child.stdin.take().unwrap();
    input.write_all(&vec![b'x'; 1 << 20]).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
}

//! Flags, exit codes, streams (`docs/cli.md`).

use std::path::{Path, PathBuf};
use std::process::Output;

use lcp_encoder::EncodeOptions;
use lcp_testkit::cli_harness::Program;
pub(crate) use lcp_testkit::cli_harness::{Project, printed, sample, stderr};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{Block, Role};
use serde_json::Value;

/// The program under test.
pub(crate) const LCP: Program = Program(env!("CARGO_BIN_EXE_lcp"));

pub(crate) fn run(arguments: &[&str]) -> Output {
    LCP.run(arguments)
}

pub(crate) fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    LCP.run_with(arguments, input)
}

/// A manifest as a pack, in a folder.
#[track_caller]
pub(crate) fn encode(manifest: &str, pack: &Path) {
    LCP.encode(manifest, pack);
}

/// Runs git in a folder, without settings of the user.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let output = std::process::Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

/// The command fails with this code, says this, and writes nothing else.
#[track_caller]
fn fails(arguments: &[&str], input: &[u8], code: i32, says: &str) {
    let output = run_with(arguments, input);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(says), "{stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote to standard output");
}

fn scratch() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name| path.join(name))
}

#[test]
fn render_writes_only_the_text_to_stdout() {
    let output = run(&["render", &sample("session.lcp"), "--budget", "3000", "--report", "-"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let report: Value = serde_json::from_str(&stderr(&output)).unwrap();
    let tokens = Tiktoken::new(Encoding::O200kBase).estimate(&text);
    assert_eq!(report["used_tokens"], tokens);
    assert!(tokens <= 3_000 && tokens > 2_900, "{tokens}");
}

#[test]
fn render_from_a_pipe_equals_render_from_a_file() {
    let arguments =
        |pack: &str| ["render", pack, "--budget", "900", "--mode", "markdown"].map(str::to_owned);
    let call = |pack: &str, input: &[u8]| {
        let arguments = arguments(pack);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        run_with(&arguments, input).stdout
    };
    let path = sample("session.lcp");
    let piped = call("-", &std::fs::read(&path).unwrap());
    assert!(!piped.is_empty());
    assert_eq!(call(&path, &[]), piped);
}

#[test]
fn render_writes_files_without_leaving_temporary_files() {
    let (_folder, path) = scratch();
    let (text, report) = (path("text.xml"), path("report.json"));
    let arguments = [
        "render",
        &sample("priorities.lcp"),
        "--budget",
        "100",
        "-o",
        text.to_str().unwrap(),
        "--report",
        report.to_str().unwrap(),
    ];
    let output = run(&arguments);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let expected = std::fs::read_to_string(sample("rendered/priorities.100.xml")).unwrap();
    assert_eq!(std::fs::read_to_string(&text).unwrap(), expected);
    let first = std::fs::read(&report).unwrap();
    assert!(run(&arguments).status.success());
    assert_eq!(std::fs::read(&report).unwrap(), first, "the report is the same every time");
    let left: Vec<_> = std::fs::read_dir(text.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 2, "no temporary file is left");
}

#[test]
fn render_fits_the_budget_in_every_encoding() {
    for encoding in lcp_tokens::TOKENIZER_NAMES {
        let output =
            run(&["render", &sample("priorities.lcp"), "--budget", "150", "--encoding", encoding]);
        assert!(output.status.success(), "{}", stderr(&output));
        let counter = lcp_tokens::tokenizer_by_name(encoding).unwrap();
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(counter.estimate(&text) <= 150, "{encoding}");
        assert_eq!(stderr(&output).contains("estimated_counts"), !counter.is_exact(), "{encoding}");
    }
}

/// A model picks what counts, and the budget.
#[test]
fn model_selects_encoding_and_budget() {
    let (_folder, path) = scratch();
    let report = path("report.json");
    let to = report.to_str().unwrap().to_owned();
    let render = |model: &str, more: &[&str]| {
        let session = sample("session.lcp");
        let mut arguments = vec!["render", &session, "--model", model, "--report", &to];
        arguments.extend(more);
        let output = run(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        (report["encoding"].clone(), report["budget"].clone())
    };
    assert_eq!(render("gpt-4", &[]), ("cl100k_base".into(), 6_553.into()));
    assert_eq!(render("openai/gpt-4o", &["--budget", "900"]), ("o200k_base".into(), 900.into()));
    let other = ["--encoding", "cl100k_base"];
    assert_eq!(render("gpt-4o", &other), ("cl100k_base".into(), 102_400.into()));
    let toml = path("lcp.toml");
    std::fs::write(&toml, "[[model]]\nname = \"ours\"\nwindow = 1000\nencoding = \"claude\"\n")
        .unwrap();
    let config = ["--config", toml.to_str().unwrap()];
    assert_eq!(render("ours", &config), ("claude".into(), 800.into()));

    // A member of a family that nobody has heard of yet.
    assert_eq!(render("gpt-5.99", &[]), ("o200k_base".into(), 102_400.into()));
    let guessed: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(guessed["exact"], false);
    let warnings = guessed["warnings"].as_array().unwrap();
    let assumed =
        |warning: &Value| warning["message"].as_str().unwrap().contains("not in the model table");
    assert!(warnings.iter().any(assumed), "{warnings:?}");

    let session = sample("session.lcp");
    fails(&["render", &session, "--model", "gpt-5o"], b"", 2, "similar names: ");
    std::fs::write(&toml, "[[model]]\nname = \"ours\"\nwindow = 0\n").unwrap();
    let arguments = ["render", &session, "--model", "ours", config[0], config[1]];
    fails(&arguments, b"", 2, "at line 3, column 10");
}

/// Without its tokenizer a run goes on, and nobody can overlook it; who is
/// strict gets the error (seed 004, T16-FM-01).
#[test]
fn unloadable_tokenizer_falls_back_or_fails_if_strict() {
    let (_folder, path) = scratch();
    let report = path("report.json");
    let broken = path("tokenizer.json");
    std::fs::write(&broken, "{\"model\": ").unwrap();
    let (session, file) = (sample("session.lcp"), broken.to_str().unwrap().to_owned());
    for counting in [["--encoding", &file], ["--model", "llama-3.1-8b"]] {
        let render = ["render", &session, "--budget", "3000", counting[0], counting[1]];
        let output = run(&[&render[..], &["--report", report.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        assert_eq!((&report["encoding"], &report["exact"]), (&"heuristic".into(), &false.into()));
        let warnings = report["warnings"].as_array().unwrap();
        let told = warnings.iter().find(|warning| warning["code"] == "tokenizer_fallback").unwrap();
        let message = told["message"].as_str().unwrap();
        assert!(message.ends_with("; counted as bytes ÷ 4 instead"), "{message}");
        assert!(!message.contains(path("").to_str().unwrap()), "{message}");
        fails(&[&render[..], &["--strict"]].concat(), b"", 1, "[LCP-BUD-003]");
        fails(&["count", counting[0], counting[1], &session], b"", 1, "[LCP-BUD-003]");
    }
    // A file that `--encoding` names must be readable.
    let message = "cannot read missing/tokenizer.json: No such file or directory";
    let missing = ["--encoding", "missing/tokenizer.json"];
    for command in [&["render", "--budget", "3000"][..], &["render"], &["count"]] {
        let arguments = [command, &missing, &[&session]].concat();
        fails(&arguments, b"", 1, message);
        fails(&arguments, b"", 1, "[LCP-BUD-003]");
    }
}

#[test]
fn token_count_cache_is_reused_between_runs() {
    let (_folder, path) = scratch();
    let kept = path("counts");
    let session = sample("session.lcp");
    let arguments =
        ["-v", "render", &session, "--budget", "3000", "--count-cache", kept.to_str().unwrap()];
    let (first, second) = (run(&arguments), run(&arguments));
    assert_eq!(first.stdout, second.stdout);
    assert!(!stderr(&first).contains(", 0 misses"), "{}", stderr(&first));
    assert!(stderr(&second).contains(", 0 misses"), "{}", stderr(&second));
    // A file of counts that cannot be used is told of and replaced.
    std::fs::write(&kept, "LCPCNT\n0 of another version").unwrap();
    let third = run(&arguments);
    assert!(third.status.success() && third.stdout == first.stdout);
    assert!(
        stderr(&third).contains("the token count cache has another version; created a new cache")
    );
    assert!(stderr(&run(&arguments)).contains(", 0 misses"));
}

/// What is no file of counts is somebody's: the pack itself, a source.
#[test]
fn count_cache_does_not_overwrite_other_files() {
    let (_folder, path) = scratch();
    let (pack, out) = (path("a.lcp"), path("out"));
    std::fs::copy(sample("chat.lcp"), &pack).unwrap();
    let before = std::fs::read(&pack).unwrap();
    let [pack, out] = [&pack, &out].map(|path| path.to_str().unwrap());
    let says = format!("not a token count cache (--count-cache {pack})");
    fails(&["render", pack, "--budget", "100", "--count-cache", pack], b"", 2, &says);
    fails(&["count", pack, "--count-cache", pack], b"", 2, &says);
    assert_eq!(std::fs::read(pack).unwrap(), before);
    // One that is written at the same time.
    let both = run(&["render", pack, "--budget", "100", "--count-cache", out, "-o", out]);
    assert!(both.status.success());
    let text = run(&["render", pack, "--budget", "100"]).stdout;
    assert_eq!(std::fs::read(out).unwrap(), text, "{}", stderr(&both));
}

#[test]
fn output_does_not_overwrite_an_input() {
    let (_folder, path) = scratch();
    let (pack, manifest, part) = (path("a.lcp"), path("a.json"), path("part.rs"));
    std::fs::copy(sample("chat.lcp"), &pack).unwrap();
    std::fs::write(&part, "fn part() {}").unwrap();
    let of = r#"{"blocks":[{"type":"code","path":"a","content_file":"part.rs"},
        {"type":"code","path":"b","content_file":"part.rs"}]}"#;
    std::fs::write(&manifest, of).unwrap();
    let [pack, manifest, part] = [&pack, &manifest, &part].map(|path| path.to_str().unwrap());
    fails(&["decode", pack, "-o", pack], b"", 2, "the pack and -o are the same file");
    fails(&["encode", manifest, "-o", manifest], b"", 2, "the manifest and -o are the same file");
    fails(&["encode", manifest, "-o", part], b"", 2, "a file of the manifest and -o are the same");
    assert!(run(&["encode", manifest, "-o", pack]).status.success());
}

/// What newcomers get wrong first.
#[test]
fn error_for_a_non_pack_has_a_hint() {
    let folder = sample("");
    fails(
        &["render", &folder],
        b"",
        1,
        "hint: pass a file, or pack the folder with `lcp pack FOLDER -o PACK`",
    );
    fails(&["render", "-"], b"fn main() {}", 3, "hint: create a pack with `lcp pack PATH`");
}

#[test]
fn count_prints_a_number_for_each_file() {
    let (_folder, path) = scratch();
    let (a, b) = (path("a.txt"), path("b.txt"));
    std::fs::write(&a, "hello world").unwrap();
    std::fs::write(&b, b"\xFF").unwrap();
    let [a, b] = [a, b].map(|path| path.to_str().unwrap().to_owned());
    let printed = |arguments: &[&str], input: &[u8]| {
        let output = run_with(arguments, input);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let of_b = Tiktoken::new(Encoding::O200kBase).estimate("\u{FFFD}");
    assert_eq!(printed(&["count", &a, &b], b""), format!("2 {a}\n{of_b} {b}\n"));
    assert_eq!(printed(&["count", "--encoding", "heuristic", &a], b""), format!("2 {a}\n"));
    assert_eq!(printed(&["count", "--up-to", "3", "-"], b"one two three four"), ">3 -\n");
    assert_eq!(printed(&["count", "--up-to", "4", "-"], b"one two three four"), "4 -\n");
    fails(&["count", "/no/such/file"], b"", 1, "/no/such/file");
    fails(&["count", "--encoding", "o200k", &a], b"", 2, "expected o200k_base, ");
}

#[test]
fn render_accepts_types_and_verbosity() {
    let output = run(&[
        "render",
        &sample("every-type.lcp"),
        "--types",
        "diff,tool-result",
        "--mode",
        "minimal",
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("[tool-result grep error]\n") && text.contains("\n[diff src/serve.rs]\n"),
        "{text}"
    );
    assert!(!text.contains("[code"), "{text}");
    let output =
        run(&["render", &sample("session.lcp"), "--verbosity", "summary", "--budget", "10"]);
    assert!(output.status.success() && stderr(&output).contains("[budget_ignored]"));
}

#[test]
fn warnings_follow_quiet_color_and_verbose_flags() {
    let call = |flags: &[&str]| {
        let path = sample("annotations.lcp");
        let arguments: Vec<_> =
            ["render", &path].into_iter().chain(flags.iter().copied()).collect();
        stderr(&run(&arguments))
    };
    assert!(call(&[]).contains("warning: annotation ignored: target block 99"));
    assert!(call(&["--color", "always"]).contains("\x1b[1;33mwarning:"));
    assert_eq!(call(&["-q"]), "");
    assert!(call(&["-v"]).contains("note: "));
}

#[test]
fn usage_error_exits_with_2() {
    let pack = sample("chat.lcp");
    fails(&["render"], &[], 2, "missing argument");
    fails(&["render", &pack, "--budget", "many"], &[], 2, "--budget");
    fails(&["render", &pack, "--encoding", "gpt"], &[], 2, "o200k_base");
    fails(&["render", &pack, "--types", "prose"], &[], 2, "tool-result");
    fails(&["render", &pack, "--mode", "html"], &[], 2, "markdown");
    fails(&["render", &pack, "--strict", "--overflow", "allow"], &[], 2, "--overflow");
}

/// An error is one line, a tip is a hint, whoever finds it.
#[test]
fn usage_error_is_one_line_with_optional_hint() {
    let pack = sample("chat.lcp");
    let said = |arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        stderr(&output)
    };
    assert_eq!(
        said(&["render"]),
        "error: missing argument: <PACK>\nhint: pass --help to list the arguments\n"
    );
    assert_eq!(
        said(&["render", &pack, "--mode", "markdwn"]),
        "error: invalid value 'markdwn' for '--mode <MODE>' [possible values: xml, markdown, \
         minimal]\nhint: did you mean `markdown`?\n"
    );
    let unknown = said(&["render", &pack, "--buget", "1"]);
    assert!(unknown.starts_with("error: unexpected argument '--buget' found\nhint: "), "{unknown}");
    assert_eq!(unknown.lines().count(), 2, "{unknown}");
    for (flag, number) in [("--budget", "-1"), ("--window", "many"), ("--response-reserve", "1.5")]
    {
        assert_eq!(
            said(&["render", &pack, flag, number]),
            format!(
                "error: invalid value '{number}' for '{flag} <N>': expected a number of tokens \
                 from 0 to 4294967295\n"
            )
        );
    }
    for color in [&["--color", "always"][..], &["--color=always"]] {
        let said = said(&[&["render"], color].concat());
        assert!(said.starts_with("\x1b[1;31merror:\x1b[0m missing argument"), "{said:?}");
    }
    assert!(run(&["--version"]).status.success());
    assert!(said(&[]).contains("Usage: "), "without a task, there is the help");
}

/// Each output has its file, and none is written if another cannot be.
#[test]
fn outputs_do_not_overwrite_each_other() {
    let (_folder, path) = scratch();
    let pack = path("a.lcp");
    std::fs::copy(sample("chat.lcp"), &pack).unwrap();
    let before = std::fs::read(&pack).unwrap();
    let to = |name: &str| path(name).to_str().unwrap().to_owned();
    std::fs::create_dir(path("inner")).unwrap();
    let (pack, out, around) = (to("a.lcp"), to("x"), to("inner/../x"));
    for (outputs, says) in [
        (["-o", &pack, "--report", "-"], "the pack and -o are the same file"),
        (["--report", &pack, "-o", "-"], "the pack and --report are the same file"),
        (["--html", &out, "-o", &around], "--html and -o are the same file"),
        (["--html", &out, "--report", &out], "--report and --html are the same file"),
        (["--plan", &pack, "-o", "-"], "the pack and --plan are the same file"),
        (["--plan", &out, "-o", &around], "--plan and -o are the same file"),
        (["--previous", &out, "--report", &out], "--previous and --report are the same file"),
    ] {
        fails(&[&["render", &pack][..], &outputs].concat(), b"", 2, says);
        assert!(!path("x").exists());
    }
    assert_eq!(std::fs::read(&pack).unwrap(), before);
    let missing = to("missing/text");
    let arguments = ["render", &pack, "--report", &out, "-o", &missing];
    fails(&arguments, b"", 1, &format!("cannot write {missing}"));
    fails(&["render", &pack, "--report", &out, "-o", &to("inner")], b"", 1, "cannot write");
    assert!(!path("x").exists(), "the report is not there without the text");
    #[cfg(unix)]
    assert!(run(&["render", &pack, "-o", "/dev/null", "--report", "/dev/null"]).status.success());
}

#[test]
fn io_error_exits_with_1() {
    fails(&["render", "/no/such/pack.lcp"], &[], 1, "cannot read /no/such/pack.lcp");
    fails(&["render", &sample("chat.lcp"), "-o", "/no/such/folder/text"], &[], 1, "cannot write");
    let manifest = br#"{"blocks":[{"type":"code","path":"a","content_file":"/no/such/file"}]}"#;
    fails(&["encode", "-"], manifest, 1, "blocks[0].content_file: cannot read");
}

#[test]
fn malformed_pack_exits_with_3_and_names_its_location() {
    fails(&["render", "-"], b"not a pack", 3, "error: not an LCP pack");
    fails(&["render", "-"], br#"{"blocks":[]}"#, 3, "hint: it looks like JSON: convert a manifest");
    let (_folder, path) = scratch();
    let path = path("chat.lcp");
    let manifest = sample("chat.json");
    let made = run(&["encode", &manifest, "--no-index", "-o", path.to_str().unwrap()]);
    assert!(made.status.success());
    let mut pack = std::fs::read(path).unwrap();
    let cut = pack.len() - 9;
    fails(&["render", "-"], &pack[..cut], 3, "[unexpected_eof] (standard input, block 5, byte");
    pack.extend_from_slice(b"more");
    let output = run_with(&["render", "-"], &pack);
    assert!(output.status.success() && stderr(&output).contains("[trailing_data]"));
    let output = run_with(&["validate", "-"], &pack);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains(&format!("byte {}", pack.len() - 4)) && said.contains("[trailing_data]"),
        "{said}"
    );
    fails(&["decode", "-"], b"", 3, "[unexpected_eof]");
    fails(
        &["encode", "-"],
        br#"{"blocks":[{"type":"code","colour":1}]}"#,
        3,
        "blocks[0].colour: unknown key",
    );
}

#[test]
fn denied_overflow_exits_with_4() {
    let pack = sample("session.lcp");
    let says = "[LCP-BUD-001]";
    fails(&["render", &pack, "--budget", "20", "--overflow", "deny"], &[], 4, says);
    fails(&["render", &pack, "--budget", "20", "--strict"], &[], 4, says);
    fails(&["render", &pack, "--budget", "20", "--strict", "--verbosity", "full"], &[], 4, says);
    let hint = ", or pass --overflow allow without --strict\n";
    fails(&["render", &pack, "--budget", "20", "--strict"], &[], 4, hint);
    let output = run(&["render", &pack, "--budget", "20"]);
    assert!(output.status.success() && stderr(&output).contains("[over_budget]"));
}

#[test]
fn exceeded_limit_exits_with_5() {
    let path = "p".repeat(1 << 21);
    let manifest = format!(r#"{{"blocks":[{{"type":"code","path":"{path}","content":""}}]}}"#);
    fails(
        &["encode", "-"],
        manifest.as_bytes(),
        5,
        "exceeds TEXT_BYTES_MAX: got 2097152, maximum 1048576",
    );
    // A body that says that it has a gigabyte.
    let pack = b"LCP\0\x01\0\0\0\x01\0\x80\x80\x80\x80\x04";
    fails(&["render", "-"], pack, 5, "BODY_BYTES_MAX");
}

#[test]
fn encode_and_decode_are_inverse() {
    for name in ["every-type", "unknown-values", "annotations", "hostile", "session"] {
        let pack = sample(&format!("{name}.lcp"));
        let manifest = run(&["decode", &pack]);
        assert!(manifest.status.success());
        let encoded = run_with(&["encode", "-"], &manifest.stdout);
        assert!(encoded.status.success(), "{}", stderr(&encoded));
        assert_eq!(run_with(&["decode", "-"], &encoded.stdout).stdout, manifest.stdout, "{name}");
        for flags in [["--compress", "block"], ["--compress", "payload"], ["--magic", "bcp"]] {
            let encoded = run_with(&["encode", "-", flags[0], flags[1]], &manifest.stdout);
            assert_eq!(
                run_with(&["decode", "-"], &encoded.stdout).stdout,
                manifest.stdout,
                "{name}"
            );
        }
    }
}

/// What a reader would refuse is written in another way, and not silently.
#[test]
fn uncompressed_payload_gives_a_warning() {
    let turns = vec![Block::conversation(Role::User, ""); 180_000];
    let pack = lcp_encoder::encode(&turns, EncodeOptions::default()).unwrap();
    let merged = run_with(&["merge", "-", "--compress", "payload"], &pack);
    assert!(merged.status.success() && merged.stdout.len() >= pack.len() / 2);
    assert!(stderr(&merged).contains("wrote the pack without compression"), "{}", stderr(&merged));
    let manifest = run_with(&["decode", "-"], &pack).stdout;
    let encoded = run_with(&["encode", "-", "--compress", "payload"], &manifest);
    assert_eq!((stderr(&encoded), encoded.stdout), (stderr(&merged), merged.stdout));
    let few = lcp_encoder::encode(&turns[..9], EncodeOptions::default()).unwrap();
    assert_eq!(stderr(&run_with(&["merge", "-", "--compress", "payload"], &few)), "");
}

#[test]
fn validate_reports_no_problems_for_a_valid_pack() {
    let output = run(&["validate", &sample("session.lcp"), "--full"]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("blocks, no problems\n"));
}

/// Each malformed block is told, and the ones after it are looked at too.
#[test]
fn validate_continues_after_a_malformed_block() {
    // A CODE block without fields, a good turn, another CODE block without fields.
    let pack = b"LCP\0\x01\0\0\0\x01\0\0\x02\0\x07\x01\0\x02\x02\x01\x01h\x01\0\0\xFF\x01\0\0";
    let output = run_with(&["validate", "-"], pack);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains("block 0, byte 11: missing field lang in code"), "{said}");
    assert!(said.contains("block 2, byte 24: missing field lang in code"), "{said}");
}

#[test]
fn help_lists_examples_and_variables() {
    let render = String::from_utf8(run(&["render", "--help"]).stdout).unwrap();
    assert!(render.contains("DEBUG_BUDGET") && render.contains("NO_COLOR"), "{render}");
    for command in ["render", "report", "encode", "decode", "validate"] {
        let output = run(&[command, "--help"]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.contains("Example"), "{said}");
    }
}

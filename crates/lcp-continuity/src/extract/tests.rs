//! Tests of the building blocks of the rules.

use super::agreement::*;
use super::output_detection::*;
use super::tokenize::WordTokens;
use super::tool_calls::Call;

#[test]
fn tokens_are_lowercase_without_quoted_text() {
    let list = |text| WordTokens::new(text).words().join("|");
    assert_eq!(list("No, **DON’T** re-run!"), "no|,|don't|re-run|!");
    assert_eq!(
        list("he said \"never ever\" of `always` in src/a_b.rs."),
        "he|said|`|of|`|in|src/a_b.rs|."
    );
    assert_eq!(list("5\" wide, “as is"), "5|\"|wide|,|“|as|is");
    assert_eq!(list(""), "");
}

#[test]
fn plain_yes_is_agreement() {
    for yes in [
        "yes", "Yes!", "go ahead", "Approved.", "LGTM", "do it", "ok, proceed", "Ok",
        "Sounds good, thanks", "👍", "+1", "No problem, go ahead", "yes. Then run the tests.",
        "Great, do that",
    ] {
        assert_eq!(agreement(yes), Some(true), "{yes}");
    }
}

#[test]
fn refusal_is_disagreement() {
    for no in ["no", "No.", "don't do that", "Stop!", "wait", "ok, wait", "Not yet", "hold on"] {
        assert_eq!(agreement(no), Some(false), "{no}");
    }
}

#[test]
fn other_text_is_neither_yes_nor_no() {
    for other in [
        "yes, but drop step 2", "ok?", "What about Windows?", "The build is red.", "",
        "don't forget the tests", "Notes are in docs/", "goat",
    ] {
        assert_eq!(agreement(other), None, "{other}");
    }
}

#[test]
fn is_filler_accepts_only_bare_answers() {
    for filler in ["yes", "go on", "ok thanks", "Continue, please.", "👍", "", "no"] {
        assert!(is_filler(filler), "{filler}");
    }
    for more in ["fix the build", "yes, and update the docs", "stop", "use tabs"] {
        assert!(!is_filler(more), "{more}");
    }
}

#[test]
fn slash_commands_are_recognized() {
    for command in ["/add src/a.rs", "/clear", "/run cargo test -q\n/undo", " /git commit -m x"] {
        assert!(is_slash_command(command), "{command}");
    }
    for words in ["/ask Why is it slow?", "/etc/hosts is wrong", "a/b", "/ is full", "", "/x\ny"] {
        assert!(!is_slash_command(words), "{words}");
    }
}

#[test]
fn banners_and_punctuation_are_noise() {
    for noise in [
        "=== 1 failed ===", "a ===== b", "---- reader stdout ----", "}", "(); };", "### x ###", "…",
    ] {
        assert!(is_noise(noise), "{noise}");
    }
    for words in ["Fix `a()`!", "fn a() {}", "**Done.**", "50 %", "修复它", "- a"] {
        assert!(!is_noise(words), "{words}");
    }
}

#[test]
fn diagnostics_begin_with_location_or_code() {
    for finding in ["src/a.py:12:9: unused", "a.c:3: error", "F841 is unused", "E0502: borrowed"] {
        assert!(is_diagnostic(finding), "{finding}");
    }
    for words in ["src/a.rs:12 is wrong", "10:30 is late", "http://h:80/ is up", "HTTP2 is on", ""]
    {
        assert!(!is_diagnostic(words), "{words}");
    }
}

#[test]
fn is_output_detects_logs_but_not_prose() {
    let log = "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: no\n";
    assert!(is_output(log));
    assert!(is_output("test reader ... FAILED\nwhy is that"));
    assert!(!is_output("Please fix this.\nIt worked yesterday.\nValueError: no"));
    assert!(!is_output("Please port it.\n```\nerror: a\nerror: b\n```"));
}

fn parsed(text: &str, tool: Option<&str>) -> (String, Option<String>, String) {
    let call = Call::parse(text, tool);
    (call.tool.join(" "), call.json.map(|json| json.to_string()), call.text)
}

#[test]
fn tool_call_parses_json_function_and_text_forms() {
    let json = || Some(r#"{"file_path":"a.rs"}"#.to_owned());
    for text in [
        r#"{"name": "readFile", "input": {"file_path": "a.rs"}}"#,
        r#"{"function": {"name": "read_file", "arguments": "{\"file_path\": \"a.rs\"}"}}"#,
        r#"read_file {"file_path": "a.rs"}"#,
        r#"ReadFile({"file_path": "a.rs"})"#,
    ] {
        let (tool, found, _) = parsed(text, None);
        assert_eq!((tool.as_str(), found), ("read file", json()), "{text}");
    }
    assert_eq!(parsed(r#"{"file_path": "a.rs"}"#, Some("Read")).1, json());
    let is_text = |tool: &str, text: &str| (tool.to_owned(), None, text.to_owned());
    assert_eq!(parsed("read_file src/main.rs", None), is_text("read file", "src/main.rs"));
    assert_eq!(parsed("cargo test -q", Some("Bash")), is_text("bash", "cargo test -q"));
    assert_eq!(parsed("bash (ls; pwd)", None), is_text("bash", "(ls; pwd)"));
    assert_eq!(parsed("", None), is_text("", ""));
}

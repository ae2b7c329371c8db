//! `import`.

use std::path::{Path, PathBuf};

use lcp_decoder::{DecodeOptions, decode};
use lcp_types::{BlockContent, BlockMeta, Lang};
use serde_json::{Value, json};

use crate::command::{printed, run, run_with, stderr};

/// A transcript of the tests of lcp-transcripts.
pub(crate) fn transcript(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    crates.join("lcp-transcripts/tests/it/fixtures").join(name)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn import_writes_a_pack_and_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, report) = (folder.path().join("a.lcp"), folder.path().join("a.json"));
    let session = transcript("claude-code.jsonl");
    let arguments =
        ["import", path(&session), "-o", path(&pack), "--report", path(&report), "--json"];
    let output = run(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.starts_with("claude-code: 9 messages, 3 tool calls, 3 results, 1 image; "));
    assert!(said.contains("2 imported as extensions (thinking 1, user.meta 1); "), "{said}");
    assert!(said.contains("5 session records (file-history-snapshot 1, hologram 1, "), "{said}");
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(facts, written);
    assert_eq!(
        (&facts["schema"], &facts["format"]),
        (&"lcp.import.v1".into(), &"claude-code".into())
    );
    assert_eq!((&facts["messages"], &facts["skipped"]["toolUseResult"]), (&9.into(), &3.into()));
    assert_eq!(facts["skipped"]["sidechain"], 2);
    let bytes = std::fs::read(&pack).unwrap();
    let blocks = decode(&bytes, DecodeOptions::default()).unwrap().blocks;
    assert_eq!(facts["blocks"], blocks.len());

    // The same bytes from a pipe, and with the format named.
    let piped = run_with(&["-q", "import", "-"], &std::fs::read(&session).unwrap());
    assert!(piped.stdout == bytes && stderr(&piped).is_empty(), "{}", stderr(&piped));
    let named = run(&["import", path(&session), "--from", "claude-code"]);
    assert!(named.stdout == bytes);
    // What an agent was told is no turn of this conversation, unless it is asked for.
    let shown = |pack: &[u8]| {
        let flags = ["render", "-", "--mode", "minimal"];
        String::from_utf8(run_with(&flags, pack).stdout).unwrap().contains("[user] Find ports")
    };
    let with = run(&["import", path(&session), "--sidechains"]);
    assert!(!shown(&bytes) && shown(&with.stdout));
    let rendered = run(&["render", path(&pack), "--budget", "200"]);
    assert!(rendered.status.success() && !rendered.stdout.is_empty());
}

/// Within a budget the newest of a long conversation stays, not its beginning.
#[test]
fn session_records_are_shown_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("a.lcp");
    let pack = path(&pack);
    let imported = run(&["import", path(&transcript("codex.jsonl")), "-o", pack, "--json"]);
    let facts: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!(facts["records"]["turn_context"], 1);

    let is_shown = |flags: &[&str]| {
        let output = run(&[&["render", pack][..], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("lcp/record"), "{text}");
        assert_eq!(text.contains("token_count"), text.contains("turn_context"));
        text.contains("turn_context")
    };
    assert!(!is_shown(&[]));
    assert!(!is_shown(&["--budget", "150"]));
    assert!(is_shown(&["--records"]));
    // They get what all other blocks leave.
    assert!(!is_shown(&["--records", "--budget", "150"]));
    let output = run(&["render", pack, "--records", "--budget", "520", "--report", "-"]);
    let text = printed(&output);
    assert!(text.contains("\"approval_policy\":\"never\""), "{text}");
    let said = stderr(&output);
    let warning = "warning: the budget leaves out 2 of 5 session records [records_omitted]\n";
    let report: Value = serde_json::from_str(said.strip_prefix(warning).expect(&said)).unwrap();
    assert!(said.contains("\"label\": \"codex/turn_context\""), "{said}");
    assert!(report["used_tokens"].as_u64().unwrap() <= 520);

    let line = "note: 5 session records: event_msg.exec_command_begin 1, event_msg.token_count 1, ";
    for arguments in [&["-v", "render", pack][..], &["-v", "export", pack, "--to", "openai"]] {
        let notes = stderr(&run(arguments));
        assert!(notes.contains(line), "{notes}");
        assert!(!notes.contains("dropped 1 item of type turn_context"), "{notes}");
    }
}

#[test]
fn budget_drops_the_oldest_imported_turns_first() {
    let mut messages = vec![json!({"role": "system", "content": "You answer."})];
    for turn in 0..40 {
        messages.push(json!({"role": "user", "content": format!("question {turn} of the user")}));
        messages
            .push(json!({"role": "assistant", "content": format!("answer {turn} of the model")}));
    }
    messages.push(json!({"role": "user", "content": "And now?"}));
    let pack =
        run_with(&["-q", "import", "-"], Value::from(messages).to_string().as_bytes()).stdout;
    let mut texts = vec![run_with(&["-q", "render", "-", "--budget", "300"], &pack).stdout];
    for target in ["openai", "anthropic"] {
        let flags = ["-q", "export", "-", "--to", target, "--budget", "300"];
        texts.push(run_with(&flags, &pack).stdout);
    }
    for text in texts {
        let text = String::from_utf8(text).unwrap();
        let kept: Vec<_> =
            (0..40).filter(|turn| text.contains(&format!("question {turn} of"))).collect();
        let newest: Vec<_> = (40 - kept.len()..40).collect();
        assert!(kept.len() > 5 && kept == newest, "{kept:?}");
        assert!(text.contains("You answer.") && text.contains("And now?"), "{text}");
        assert!(!text.contains("rank"), "{text}");
    }
}

#[test]
fn odd_transcript_lines_give_warnings_with_line_numbers() {
    let session = std::fs::read(transcript("codex.jsonl")).unwrap();
    let cut = &session[..session.len() - 9];
    let output = run_with(&["import", "-"], cut);
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(said.contains("warning: line 19: not valid JSON"), "{said}");
    assert!(said.contains("warning: line 13: tool call \"call_3\" has no result"), "{said}");
}

#[test]
fn invalid_transcript_is_rejected() {
    let fails = |arguments: &[&str], input: &[u8], code: i32, says: &str| {
        let output = run_with(arguments, input);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(says) && said.contains("(standard input"), "{said}");
        assert!(output.stdout.is_empty());
    };
    fails(&["import", "-"], b"{\"messages\": [\n{\"role\":", 3, "(standard input, line 2, column ");
    fails(&["import", "-"], b"{'role': 'user'}", 3, "--from markdown");
    fails(&["import", "-"], b"{\"a\": 1}", 3, "unknown transcript format");
    fails(&["import", "-"], b"{\"blocks\": []}", 3, "hint: convert it with `lcp encode");
    fails(&["import", "-"], b"LCP\0\x01\0\0\0", 3, "expected a transcript, got a pack");
    fails(
        &["import", "-"],
        b"a\xFFb",
        3,
        "not UTF-8 [LCP-CNV-001] (standard input, line 1, column 2)",
    );
    fails(
        &["import", "-", "--from", "codex"],
        b"{\"a\": 1}",
        3,
        "not a transcript in the format codex",
    );
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    fails(&["import", "-", "--from", "openai-chat"], deep.as_bytes(), 5, "nested deeper than");
    let usage = |arguments: &[&str], says: &str| {
        let output = run_with(arguments, b"hi");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    usage(&["import", "-", "--from", "word"], "[possible values: openai-chat, ");
    usage(&["import", "-", "--json"], "--output");
    usage(&["import", "-", "--json", "-o", "-"], "--json requires a file");
    let missing = run(&["import", "/no/such/file"]);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn import_plain_text_becomes_a_titled_document() {
    let output = run_with(&["import", "-", "--title", "Notes"], b"Some text.\n");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = run_with(&["render", "-", "--mode", "minimal"], &output.stdout).stdout;
    assert_eq!(String::from_utf8(text).unwrap(), "[document Notes]\nSome text.\n\n");
}

/// What a tool printed can be cut down to its first and last lines.
#[test]
fn import_summarizes_tool_results_on_request() {
    let lines = (0..100).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    let chat = serde_json::json!([
        { "role": "user", "content": lines },
        { "role": "assistant", "tool_calls":
            [{ "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": lines },
    ]);
    let summaries = |flags: &[&str]| -> Vec<String> {
        let chat = chat.to_string();
        let output = run_with(&[&["import", "-"], flags].concat(), chat.as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
        let blocks = decode(&output.stdout, DecodeOptions::default()).unwrap().blocks;
        blocks.into_iter().filter_map(|block| Some(block.summary?.into_owned())).collect()
    };
    assert!(summaries(&[]).is_empty());
    let [outline] = &summaries(&["--summarize", "outline"])[..] else { panic!() };
    assert!(outline.starts_with("line 0\n") && outline.ends_with("line 99"), "{outline}");
    assert!(outline.contains("… 80 lines"), "{outline}");
    let flags = ["--no-summary-cache", "--summarizer-cmd", "echo \"$LCP_PATH\"; tail -n 1"];
    assert_eq!(summaries(&flags), ["ls\nline 99"]);
}

#[test]
fn import_detects_the_language_of_read_files() {
    let read = |id: &str, path: &str, text: &str| {
        let call = json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "read", "arguments": json!({"path": path}).to_string()}}]});
        [call, json!({"role": "tool", "tool_call_id": id, "content": text})]
    };
    let messages = [
        read("1", "src/a.rs", "     4\tfn a() {}\n"),
        read("2", "docs/a.md", "     1\t# A\n"),
        read("3", "run", "     1\t#!/usr/bin/env python3\n     2\tx = 1\n"),
        read("4", "run", "     7\t#!/usr/bin/env python3\n     8\tx = 1\n"),
        read("5", "a.kt", "     1\tclass A\n"),
    ];
    let messages = Value::from(messages.concat()).to_string();
    let pack = run_with(&["import", "-"], messages.as_bytes());
    assert!(pack.status.success(), "{}", stderr(&pack));
    let blocks = decode(&pack.stdout, DecodeOptions::default()).unwrap().blocks;
    let metas = BlockMeta::resolve_all(&blocks, &mut |_, _| {});
    let langs = blocks.iter().zip(&metas).filter_map(|(block, meta)| match &block.content {
        BlockContent::Code(code) => Some((code.lang, meta.lang)),
        _ => None,
    });
    let langs: Vec<_> = langs.collect();
    let untagged = [Lang::Rust, Lang::Markdown, Lang::Python, Lang::Unknown];
    assert_eq!(langs[..4], untagged.map(|lang| (lang, None)));
    assert_eq!(langs[4..], [(Lang::Unknown, Some("kotlin"))]);
    let back = run_with(&["export", "-", "--to", "openai"], &pack.stdout);
    let back: Value = serde_json::from_slice(&back.stdout).unwrap();
    assert_eq!(back["messages"][1]["content"], "     4\tfn a() {}\n");
}

#[test]
fn import_reports_empty_messages() {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("a.lcp");
    let chat = br#"[{"role":"user","content":"q"},{"role":"assistant","content":""},
        {"role":"user","content":"z"}]"#;
    let output = run_with(&["import", "-", "--json", "-o", path(&pack)], chat);
    let said = stderr(&output);
    assert!(said.contains("openai-chat: 3 messages") && said.contains("1 left out (empty 1)"));
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["skipped"], json!({ "empty": 1 }));
}

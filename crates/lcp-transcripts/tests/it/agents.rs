//! The output and the sessions of agents. The fixtures are from the real programs (Claude Code
//! 2.1.197, Codex 0.169.0, Gemini CLI 0.61.0, opencode 1.18.33), with other paths.

use expect_test::{Expect, expect};
use lcp_transcripts::{Format, ImportResult, Options, Provider, detect, import};
use serde_json::{Value, json};

use crate::support::{exported, imported, lines};

const CLAUDE_PRINT: &str = include_str!("fixtures/claude-print.jsonl");
const CODEX_EXEC: &str = include_str!("fixtures/codex-exec.jsonl");
const GEMINI_CLI: &str = include_str!("fixtures/gemini-cli.jsonl");
const GEMINI_CLI_STREAM: &str = include_str!("fixtures/gemini-cli-stream.jsonl");
const OPENCODE: &str = include_str!("fixtures/opencode.json");
const OPENCODE_RUN: &str = include_str!("fixtures/opencode-run.jsonl");

/// Detects the format of a text, imports it, and describes its blocks without tags of the format.
#[track_caller]
fn check(format: Format, text: &str, expected: &Expect) -> ImportResult {
    assert_eq!(detect(text.as_bytes()), Some(format));
    let found = imported(format, text);
    for target in Provider::ALL {
        exported(target, &found.blocks);
    }
    let report = &found.report;
    let blocks = lines(&found.blocks);
    let blocks = blocks.lines().map(without_notes).collect::<Vec<_>>().join("\n");
    let counts = (report.messages, report.calls, report.results, report.unanswered, report.orphans);
    expected.assert_eq(&format!(
        "{blocks}\n{counts:?}\nunknown {:?}\nskipped {:?}\n",
        report.unknown, report.skipped
    ));
    found
}

/// Removes the notes of a program from a line, and shortens JSON.
fn without_notes(line: &str) -> String {
    let tags = line.rfind(" [").unwrap_or(line.len());
    let (head, tags) = line.split_at(tags);
    let head: String = head.chars().take(100).collect();
    let tags = tags.split(", ").filter(|tag| !tag.contains(".item=") && !tag.contains(".part="));
    let tags = tags.map(|tag| tag.trim_matches(&[' ', '[', ']'][..]));
    let keys = ["message=", "tool_call_id=", "call=", "form=", "sidechain="];
    let tags = tags.filter(|tag| keys.iter().any(|key| tag.starts_with(key)));
    format!("{head} [{}]", tags.collect::<Vec<_>>().join(", "))
}

#[test]
fn codex_exec_output_is_read_with_calls_and_results() {
    check(
        Format::Codex,
        CODEX_EXEC,
        &expect![[r#"
            lcp record/codex/thread.started: "{\"type\":\"thread.started\",\"thread_id\":\"01a213c7-e7b9-7453-97 []
            codex error: "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"error\",\"message\ []
            lcp record/codex/turn.started: "{\"type\":\"turn.started\"}" []
            codex reasoning: "{\"id\":\"item_1\",\"type\":\"reasoning\",\"text\":\"**Look**\\n\\nI look at the f [message=0]
            assistant: "I look at the file." [message=1]
            assistant calls item_3: "command_execution {\"command\":\"/bin/bash -lc 'cat -n a.py'\"}" [message=2]
            result of command_execution ok: "     1\tx = 1\n     2\tprint(x)\n" [message=3, tool_call_id=item_3]
            assistant calls item_4: "command_execution {\"command\":\"/bin/bash -lc 'exit 3'\"}" [message=4]
            result of command_execution error: "" [message=5, tool_call_id=item_4]
            assistant calls item_5: "file_change {\"changes\":[{\"path\":\"/src/app/a.py\",\"kind\":\"update\"}] [message=6]
            result of file_change ok: "" [message=7, tool_call_id=item_5]
            assistant: "Done: x is y now." [message=8]
            lcp record/codex/turn.completed: "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":40,\"cach []
            (9, 3, 3, 0, 0)
            unknown {"error": 1, "reasoning": 1}
            skipped {}
        "#]],
    );
}

#[test]
fn codex_command_without_an_end_stays_unanswered() {
    let cut: Vec<_> = CODEX_EXEC.lines().take(6).collect();
    let found = imported(Format::Codex, &cut.join("\n"));
    assert_eq!((found.report.calls, found.report.unanswered), (1, 1));
}

#[test]
fn codex_mcp_call_has_the_name_arguments_and_content_of_its_tool() {
    let item = json!({"id": "item_1", "type": "mcp_tool_call", "server": "docs", "tool": "find",
        "arguments": {"q": "x"}, "status": "completed", "error": null,
        "result": {"content": [{"type": "text", "text": "two"}], "structured_content": null}});
    let failed = json!({"id": "item_2", "type": "mcp_tool_call", "server": "docs", "tool": "find",
        "arguments": {}, "status": "failed", "error": {"message": "no such page"}, "result": null});
    let event = |item: &Value| json!({"type": "item.completed", "item": item}).to_string();
    let text = [event(&item), event(&failed)].join("\n");
    check(
        Format::Codex,
        &text,
        &expect![[r#"
        assistant calls item_1: "mcp__docs__find {\"q\":\"x\"}" [message=0]
        result of mcp__docs__find ok: "two" [message=1, tool_call_id=item_1]
        assistant calls item_2: "mcp__docs__find {}" [message=2]
        result of mcp__docs__find error: "no such page" [message=3, tool_call_id=item_2]
        (4, 2, 2, 0, 0)
        unknown {}
        skipped {}
    "#]],
    );
}

#[test]
fn printed_output_of_claude_code_is_read_as_lines_and_as_a_list() {
    let found = check(
        Format::ClaudeCode,
        CLAUDE_PRINT,
        &expect![[r#"
            lcp record/claude-code/system.init: "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/src/app\", []
            assistant calls toolu_01: "Read {\"file_path\":\"/src/app/a.py\"}" [message=0]
            result of Read ok: "1\tx = 1\n2\tprint(x)\n3\t" [message=1, tool_call_id=toolu_01]
            assistant calls toolu_02: "Read {\"file_path\":\"/src/app/a.py\"}" [message=2]
            result of Read ok: "Wasted call — file unchanged since your last Read. Refer to that earlier tool_re [message=3, tool_call_id=toolu_02]
            assistant: "hello from the scripted upstream" [message=4]
            lcp record/claude-code/result.success: "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":fa []
            (5, 2, 2, 0, 0)
            unknown {}
            skipped {"toolUseResult": 2}
        "#]],
    );
    // `--output-format json --verbose` prints the same objects as one list.
    let list = format!("[{}]", CLAUDE_PRINT.trim_end().replace('\n', ","));
    assert_eq!(detect(list.as_bytes()), Some(Format::ClaudeCode));
    assert_eq!(imported(Format::ClaudeCode, &list).blocks, found.blocks);
}

#[test]
fn claude_code_lines_without_ids_are_recognised() {
    let without_ids = CLAUDE_PRINT.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for key in ["uuid", "session_id"] {
            line.as_object_mut().unwrap().remove(key);
        }
        format!("{line}\n")
    });
    let text: String = without_ids.filter(|line| line.contains("\"role\"")).collect();
    let found = check(
        Format::ClaudeCode,
        &text,
        &expect![[r#"
        assistant calls toolu_01: "Read {\"file_path\":\"/src/app/a.py\"}" [message=0]
        result of Read ok: "1\tx = 1\n2\tprint(x)\n3\t" [message=1, tool_call_id=toolu_01]
        assistant calls toolu_02: "Read {\"file_path\":\"/src/app/a.py\"}" [message=2]
        result of Read ok: "Wasted call — file unchanged since your last Read. Refer to that earlier tool_re [message=3, tool_call_id=toolu_02]
        assistant: "hello from the scripted upstream" [message=4]
        (5, 2, 2, 0, 0)
        unknown {}
        skipped {"toolUseResult": 2}
    "#]],
    );
    assert_eq!(found.report.orphans, 0);
}

#[test]
fn gemini_cli_session_is_read_with_the_newest_version_of_each_message() {
    check(
        Format::GeminiCli,
        GEMINI_CLI,
        &expect![[r#"
            lcp record/gemini-cli/session: "{\"sessionId\":\"576d33fb-158d-4f7d-82d4-6a804c0986e8\",\"projectHas []
            user: "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\nToday [message=0]
            user: "Rename x to y in a.py. @dot.png" [message=1]
            user: "\n--- Content from referenced files ---" [message=1]
            png of 70 bytes: "" [message=1]
            user: "\n--- End of content ---" [message=1]
            gemini-cli thought: "{\"subject\":\"Reading\",\"description\":\"The file comes first.\",\"timestamp\ [message=2]
            assistant: "I read the file." [message=2]
            assistant calls read_file__read_file_1795627822096_0: "read_file {\"file_path\":\"a.py\"}" [message=2]
            result of read_file ok: "x = 1\nprint(x)\n" [message=3, tool_call_id=read_file__read_file_1795627822096_0]
            assistant calls run_shell_command__c-2: "run_shell_command {\"command\":\"seq 1 3\",\"description\": [message=4]
            assistant calls run_shell_command__c-3: "run_shell_command {\"command\":\"exit 3\"}" [message=4]
            result of run_shell_command ok: "<untrusted_context>\nOutput: 1\n2\n3\nProcess Group PGID: 4242\n</u [message=5, tool_call_id=run_shell_command__c-2]
            result of run_shell_command ok: "<untrusted_context>\nOutput: (empty)\nExit Code: 3\nProcess Group P [message=5, tool_call_id=run_shell_command__c-3]
            assistant calls read_file__read_file_1795627822611_0: "read_file {\"file_path\":\"missing.py\"}" [message=6]
            result of read_file error: "File not found: /src/app/missing.py" [message=7, tool_call_id=read_file__read_file_1795627822611_0]
            assistant calls replace__replace_1795627822666_0: "replace {\"file_path\":\"a.py\",\"instruction\":\ [message=8]
            result of replace ok: "Successfully modified file: /src/app/a.py (1 replacements). Here is the updat [message=9, tool_call_id=replace__replace_1795627822666_0]
            assistant: "Done: **x** is `y` now." [message=10]
            (11, 5, 5, 0, 0)
            unknown {"thought": 1}
            skipped {"display": 6, "functionResponse": 5, "notes": 3, "update": 4}
        "#]],
    );
}

#[test]
fn gemini_cli_session_of_an_older_version_has_the_same_messages() {
    let mut messages: Vec<Value> = Vec::new();
    for line in GEMINI_CLI.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let mut all = line["$set"]["messages"].as_array().cloned().unwrap_or_default();
        all.extend(line.get("id").is_some().then_some(line));
        for message in all {
            match messages.iter_mut().find(|of| of["id"] == message["id"]) {
                Some(found) => *found = message,
                None => messages.push(message),
            }
        }
    }
    let whole =
        json!({"sessionId": "s", "projectHash": "p", "startTime": "t", "messages": messages});
    let text = serde_json::to_string_pretty(&whole).unwrap();
    assert_eq!(detect(text.as_bytes()), Some(Format::GeminiCli));
    let (old, new) = (imported(Format::GeminiCli, &text), imported(Format::GeminiCli, GEMINI_CLI));
    let of_messages = |found: &ImportResult| {
        let lines = lines(&found.blocks);
        let lines = lines
            .lines()
            .filter(|line| line.contains("message=") && !line.starts_with("gemini-cli thought"));
        lines.map(without_notes).collect::<Vec<_>>()
    };
    assert_eq!(of_messages(&old), of_messages(&new));
}

#[test]
fn gemini_cli_turns_taken_back_are_counted() {
    let message = |id: &str, kind: &str, text: &str| {
        json!({"id": id, "timestamp": "t", "type": kind, "content": text}).to_string()
    };
    let text = [
        json!({"sessionId": "s", "projectHash": "p"}).to_string(),
        message("1", "user", "One."),
        message("2", "gemini", "Two."),
        message("3", "user", "Wrong."),
        message("4", "gemini", "Also wrong."),
        json!({"$rewindTo": "3"}).to_string(),
        message("5", "user", "Right."),
        message("6", "error", "A quota is used up."),
    ]
    .join("\n");
    check(
        Format::GeminiCli,
        &text,
        &expect![[r#"
            lcp record/gemini-cli/session: "{\"projectHash\":\"p\",\"sessionId\":\"s\"}" []
            user: "One." [message=0]
            assistant: "Two." [message=1]
            user: "Right." [message=2]
            lcp record/gemini-cli/error: "{\"content\":\"A quota is used up.\",\"id\":\"6\",\"timestamp\":\"t\", []
            (3, 0, 0, 0, 0)
            unknown {}
            skipped {"rewound": 2}
        "#]],
    );
}

/// A compression replaces the history. The messages before it stay in the pack.
#[test]
fn gemini_cli_messages_replaced_by_a_summary_are_kept() {
    let message = |id: &str, text: &str| json!({"id": id, "type": "user", "content": text});
    let text = [
        json!({"sessionId": "s", "projectHash": "p"}),
        message("1", "A long question."),
        json!({"$set": {"messages": [message("9", "Summary."), message("1", "[masked]")]}}),
    ];
    let text = text.map(|line| line.to_string()).join("\n");
    let found = imported(Format::GeminiCli, &text);
    let texts: Vec<_> = found.blocks.iter().filter_map(|block| block.content.text()).collect();
    let texts: Vec<_> = texts.iter().map(|text| text.to_str_lossy()).collect();
    assert_eq!(texts[1..], ["A long question.", "Summary."]);
}

#[test]
fn gemini_cli_output_is_read_and_pieces_are_joined() {
    check(
        Format::GeminiCli,
        GEMINI_CLI_STREAM,
        &expect![[r#"
            lcp record/gemini-cli/init: "{\"type\":\"init\",\"timestamp\":\"2026-11-25T17:30:21.879Z\",\"session []
            user: "Rename x to y in a.py. @dot.png" [message=0]
            assistant: "I read the file." [message=1]
            assistant calls read_file__read_file_1795627822096_0: "read_file {\"file_path\":\"a.py\"}" [message=2]
            result of read_file ok: "" [message=3, tool_call_id=read_file__read_file_1795627822096_0]
            assistant calls run_shell_command__c-2: "run_shell_command {\"command\":\"seq 1 3\",\"description\": [message=4]
            assistant calls run_shell_command__c-3: "run_shell_command {\"command\":\"exit 3\"}" [message=5]
            result of run_shell_command ok: "1\n2\n3" [message=6, tool_call_id=run_shell_command__c-2]
            result of run_shell_command ok: "Command exited with code: 3" [message=7, tool_call_id=run_shell_command__c-3]
            assistant calls read_file__read_file_1795627822611_0: "read_file {\"file_path\":\"missing.py\"}" [message=8]
            result of read_file error: "File not found: /src/app/missing.py" [message=9, tool_call_id=read_file__read_file_1795627822611_0]
            assistant calls replace__replace_1795627822666_0: "replace {\"file_path\":\"a.py\",\"instruction\":\ [message=10]
            result of replace ok: "" [message=11, tool_call_id=replace__replace_1795627822666_0]
            assistant: "Done: **x** is `y` now." [message=12]
            lcp record/gemini-cli/result: "{\"type\":\"result\",\"timestamp\":\"2026-11-25T17:30:22.763Z\",\"sta []
            (13, 5, 5, 0, 0)
            unknown {}
            skipped {}
        "#]],
    );
    let piece = |text: &str| {
        json!({"type": "message", "timestamp": "t", "role": "assistant", "content": text, "delta": true})
            .to_string()
    };
    let init =
        json!({"type": "init", "timestamp": "t", "session_id": "s", "model": "m"}).to_string();
    let found = imported(Format::GeminiCli, &[init, piece("One, "), piece("two.")].join("\n"));
    assert_eq!(found.report.messages, 1);
    assert!(lines(&found.blocks).contains("\"One, two.\""));
}

#[test]
fn opencode_session_is_read() {
    check(
        Format::Opencode,
        OPENCODE,
        &expect![[r#"
            lcp record/opencode/session: "{\"info\":{\"id\":\"ses_dec3cf1a4ffeQPyVOKuvYLg43D\",\"slug\":\"gentle []
            user: "Called the Read tool with the following input: {\"filePath\":\"/src/app/dot.png\"}" [message=0]
            user: "Image read successfully" [message=0]
            png of 70 bytes: "" [message=0]
            user: "\"Rename x to y in a.py.\"" [message=0]
            lcp record/opencode/step-start: "{\"type\":\"step-start\",\"id\":\"prt_213c327d1001Bn14jinpB63346\", []
            opencode reasoning: "{\"type\":\"reasoning\",\"text\":\"Think first.\",\"time\":{\"start\":179562788 [message=1]
            assistant: "I read the file." [message=1]
            assistant calls call_2_0: "read {\"filePath\":\"/src/app/a.py\"}" [message=1]
            lcp record/opencode/step-finish: "{\"reason\":\"tool-calls\",\"type\":\"step-finish\",\"tokens\":{\" []
            result of read ok: "<path>/src/app/a.py</path>\n<type>file</type>\n<content>\n1: x = 1\n2: print(x)\ [message=2, tool_call_id=call_2_0]
            lcp record/opencode/step-start: "{\"type\":\"step-start\",\"id\":\"prt_213c3298a0011s9qzWfy5QK5Ir\", []
            opencode reasoning: "{\"type\":\"reasoning\",\"text\":\"Think first.\",\"time\":{\"start\":179562788 [message=3]
            assistant calls call_3_0: "bash {\"command\":\"seq 1 3\",\"description\":\"counts\"}" [message=3]
            assistant calls call_3_1: "bash {\"command\":\"exit 3\",\"description\":\"fails\"}" [message=3]
            lcp record/opencode/step-finish: "{\"reason\":\"tool-calls\",\"type\":\"step-finish\",\"tokens\":{\" []
            result of bash ok: "1\n2\n3\n" [message=4, tool_call_id=call_3_0]
            result of bash ok: "(no output)" [message=4, tool_call_id=call_3_1]
            lcp record/opencode/step-start: "{\"type\":\"step-start\",\"id\":\"prt_213c32fcb001D148MWw7Zrqgjx\", []
            opencode reasoning: "{\"type\":\"reasoning\",\"text\":\"Think first.\",\"time\":{\"start\":179562788 [message=5]
            assistant calls call_4_0: "read {\"filePath\":\"/src/app/missing.py\"}" [message=5]
            lcp record/opencode/step-finish: "{\"reason\":\"tool-calls\",\"type\":\"step-finish\",\"tokens\":{\" []
            result of read error: "File not found: /src/app/missing.py" [message=6, tool_call_id=call_4_0]
            lcp record/opencode/step-start: "{\"type\":\"step-start\",\"id\":\"prt_213c33106001muX4dDqIJzPv03\", []
            opencode reasoning: "{\"type\":\"reasoning\",\"text\":\"Think first.\",\"time\":{\"start\":179562788 [message=7]
            assistant calls call_5_0: "edit {\"filePath\":\"/src/app/a.py\",\"oldString\":\"x = 1\",\"newString\ [message=7]
            lcp record/opencode/step-finish: "{\"reason\":\"tool-calls\",\"type\":\"step-finish\",\"tokens\":{\" []
            result of edit ok: "Edit applied successfully." [message=8, tool_call_id=call_5_0]
            lcp record/opencode/step-start: "{\"type\":\"step-start\",\"id\":\"prt_213c331b8001ELpOfAcKPXu2Lj\", []
            opencode reasoning: "{\"type\":\"reasoning\",\"text\":\"Think first.\",\"time\":{\"start\":179562788 [message=9]
            assistant: "Done: x is y now." [message=9]
            lcp record/opencode/step-finish: "{\"reason\":\"stop\",\"type\":\"step-finish\",\"tokens\":{\"total\ []
            (10, 5, 5, 0, 0)
            unknown {"reasoning": 5}
            skipped {"display": 4}
        "#]],
    );
}

#[test]
fn opencode_output_is_read() {
    check(
        Format::Opencode,
        OPENCODE_RUN,
        &expect![[r#"
            lcp record/opencode/step-start: "{\"id\":\"prt_213c327d1001Bn14jinpB63346\",\"messageID\":\"msg_213c []
            opencode reasoning: "{\"id\":\"prt_213c327dd001rtKxZ8STe0zbhu\",\"messageID\":\"msg_213c31cf2001zB5D [message=0]
            assistant: "I read the file." [message=1]
            assistant calls call_2_0: "read {\"filePath\":\"/src/app/a.py\"}" [message=2]
            result of read ok: "<path>/src/app/a.py</path>\n<type>file</type>\n<content>\n1: x = 1\n2: print(x)\ [message=3, tool_call_id=call_2_0]
            lcp record/opencode/step-finish: "{\"id\":\"prt_213c32857001pHWHgOGiOHvQo7\",\"reason\":\"tool-calls []
            lcp record/opencode/step-start: "{\"id\":\"prt_213c3298a0011s9qzWfy5QK5Ir\",\"messageID\":\"msg_213c []
            opencode reasoning: "{\"id\":\"prt_213c3299c001Sp0go9tYDn95Y2\",\"messageID\":\"msg_213c32879001mRqP [message=4]
            assistant calls call_3_1: "bash {\"command\":\"exit 3\",\"description\":\"fails\"}" [message=5]
            result of bash ok: "(no output)" [message=6, tool_call_id=call_3_1]
            assistant calls call_3_0: "bash {\"command\":\"seq 1 3\",\"description\":\"counts\"}" [message=7]
            result of bash ok: "1\n2\n3\n" [message=8, tool_call_id=call_3_0]
            lcp record/opencode/step-finish: "{\"id\":\"prt_213c32f3e001uoDfINOhYAdpHv\",\"reason\":\"tool-calls []
            lcp record/opencode/step-start: "{\"id\":\"prt_213c32fcb001D148MWw7Zrqgjx\",\"messageID\":\"msg_213c []
            opencode reasoning: "{\"id\":\"prt_213c32fce0016X3qQcUw825LW8\",\"messageID\":\"msg_213c32f47001hDGa [message=9]
            assistant calls call_4_0: "read {\"filePath\":\"/src/app/missing.py\"}" [message=10]
            result of read error: "File not found: /src/app/missing.py" [message=11, tool_call_id=call_4_0]
            lcp record/opencode/step-finish: "{\"id\":\"prt_213c33027001FLiAfdQGr1v0UU\",\"reason\":\"tool-calls []
            lcp record/opencode/step-start: "{\"id\":\"prt_213c33106001muX4dDqIJzPv03\",\"messageID\":\"msg_213c []
            opencode reasoning: "{\"id\":\"prt_213c3310b001a99FSV8CGja82w\",\"messageID\":\"msg_213c33059001Hf29 [message=12]
            assistant calls call_5_0: "edit {\"filePath\":\"/src/app/a.py\",\"oldString\":\"x = 1\",\"newString\ [message=13]
            result of edit ok: "Edit applied successfully." [message=14, tool_call_id=call_5_0]
            lcp record/opencode/step-finish: "{\"id\":\"prt_213c3313f0018cBehCPDqR9Nk6\",\"reason\":\"tool-calls []
            lcp record/opencode/step-start: "{\"id\":\"prt_213c331b8001ELpOfAcKPXu2Lj\",\"messageID\":\"msg_213c []
            opencode reasoning: "{\"id\":\"prt_213c331bd001SYSuZhlvVJRGQS\",\"messageID\":\"msg_213c3314b001pqhM [message=15]
            assistant: "Done: x is y now." [message=16]
            lcp record/opencode/step-finish: "{\"id\":\"prt_213c331c7001C26k7DKq6OB56r\",\"reason\":\"stop\",\"m []
            (17, 5, 5, 0, 0)
            unknown {"reasoning": 5}
            skipped {"display": 4}
        "#]],
    );
}

/// Older versions write several steps as one message.
#[test]
fn opencode_results_stand_between_the_steps_of_a_message() {
    let tool = |id: &str, status: &str| {
        json!({"type": "tool", "tool": "bash", "callID": id,
            "state": {"status": status, "input": {"command": id}, "output": "done"}})
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let parts = [
        text("First."),
        tool("a", "completed"),
        tool("b", "completed"),
        text("Then."),
        tool("c", "running"),
    ];
    let whole =
        json!({"info": {"id": "s"}, "messages": [{"info": {"role": "assistant"}, "parts": parts}]});
    check(
        Format::Opencode,
        &whole.to_string(),
        &expect![[r#"
            lcp record/opencode/session: "{\"info\":{\"id\":\"s\"}}" []
            assistant: "First." [message=0]
            assistant calls a: "bash {\"command\":\"a\"}" [message=0]
            assistant calls b: "bash {\"command\":\"b\"}" [message=0]
            result of bash ok: "done" [message=1, tool_call_id=a]
            result of bash ok: "done" [message=1, tool_call_id=b]
            assistant: "Then." [message=2]
            assistant calls c: "bash {\"command\":\"c\"}" [message=2]
            (3, 3, 2, 1, 0)
            unknown {}
            skipped {}
        "#]],
    );
}

#[test]
fn gemini_requests_and_responses_are_read() {
    let request = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "What is it?"}, {"inlineData": {"mimeType": "image/png", "data": "AAEC"}}]},
            {"role": "model", "parts": [
                {"text": "A thought.", "thought": true},
                {"functionCall": {"name": "look", "args": {"at": 1}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "look", "args": {"at": 2}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "look", "response": {"output": "a dot"}}},
                {"functionResponse": {"name": "look", "response": {"error": "nothing"}}},
            ]},
            {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "A dot."}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
        "generationConfig": {"temperature": 0.5},
    });
    check(
        Format::Gemini,
        &request.to_string(),
        &expect![[r#"
        system: "Be brief." [message=0]
        user: "What is it?" [message=1]
        png of 3 bytes: "" [message=1]
        gemini thought: "{\"text\":\"A thought.\",\"thought\":true}" [message=2]
        assistant calls lcp_call_0: "look {\"at\":1}" [message=2, call=without-id]
        assistant calls lcp_call_1: "look {\"at\":2}" [message=2, call=without-id]
        result of look ok: "a dot" [message=3, tool_call_id=lcp_call_0]
        result of look error: "nothing" [message=3, tool_call_id=lcp_call_1]
        gemini executableCode: "{\"executableCode\":{\"code\":\"1\",\"language\":\"PYTHON\"}}" [message=4]
        assistant: "A dot." [message=4]
        gemini request: "{\"generationConfig\":{\"temperature\":0.5},\"tools\":[{\"functionDeclarations\":[{ []
        (5, 2, 2, 0, 0)
        unknown {"executableCode": 1, "request": 1, "thought": 1}
        skipped {}
    "#]],
    );
    let response = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}], "modelVersion": "m"});
    check(
        Format::Gemini,
        &response.to_string(),
        &expect![[r#"
        assistant: "Hi." [message=0]
        gemini candidate: "{\"finishReason\":\"STOP\"}" []
        gemini response: "{\"modelVersion\":\"m\"}" []
        (1, 0, 0, 0, 0)
        unknown {"candidate": 1, "response": 1}
        skipped {}
    "#]],
    );
    // The SDK for Python writes snake case.
    let snake = request.to_string();
    let names = [
        ("systemInstruction", "system_instruction"),
        ("inlineData", "inline_data"),
        ("mimeType", "mime_type"),
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
        ("executableCode", "executable_code"),
    ];
    let snake = names.iter().fold(snake, |text, (camel, snake)| text.replace(camel, snake));
    let (camel, snake) =
        (imported(Format::Gemini, &request.to_string()), imported(Format::Gemini, &snake));
    assert_eq!(camel.report, snake.report);
    assert_eq!(
        lines(&camel.blocks),
        lines(&snake.blocks).replace("executable_code", "executableCode")
    );
}

#[test]
fn objects_of_other_programs_are_not_sessions_of_agents() {
    for text in [
        r#"{"info": 1, "messages": [{"role": "user", "content": "hi"}]}"#,
        r#"{"type": "init", "model": "m"}"#,
        r#"{"parts": ["a"]}"#,
        r#"{"type": "user", "message": "hi"}"#,
        r#"{"candidates": [{"name": "x"}]}"#,
    ] {
        let found = detect(text.as_bytes());
        let agents = [
            Format::ClaudeCode,
            Format::Codex,
            Format::Gemini,
            Format::GeminiCli,
            Format::Opencode,
        ];
        assert!(!found.is_some_and(|found| agents.contains(&found)), "{text}: {found:?}");
        for format in [Format::GeminiCli, Format::Opencode] {
            assert!(
                import(format, text.as_bytes(), &Options::default()).is_err(),
                "{format}: {text}"
            );
        }
    }
}

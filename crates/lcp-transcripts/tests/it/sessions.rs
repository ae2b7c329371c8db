//! Sessions of agents, results of MCP, Markdown, and the detection of formats.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::{Expect, expect};
use lcp_transcripts::{ErrorKind, Format, ImportResult, Options, detect, detect_messages, import};
use lcp_types::{Block, BlockContent, Tag};
use proptest::prelude::*;

const CLAUDE_CODE: &str = include_str!("fixtures/claude-code.jsonl");
const CODEX: &str = include_str!("fixtures/codex.jsonl");
const CODEX_OLD: &str = include_str!("fixtures/codex-old.jsonl");
const MCP: &str = include_str!("fixtures/mcp.jsonl");
const MCP_RESULT: &str = include_str!("fixtures/mcp-result.json");
const AIDER: &str = include_str!("fixtures/aider.md");

fn read(format: Format, text: &str) -> ImportResult {
    import(format, text.as_bytes(), &Options::default()).unwrap()
}

/// Describes each block in a line, with its tags, then the report.
fn shown(imported: &ImportResult) -> String {
    let mut tags: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for annotation in imported.blocks.iter().filter_map(Block::as_annotation) {
        let target = usize::try_from(annotation.target_block_id).unwrap();
        let said = match (annotation.as_tag(), annotation.as_priority()) {
            // Every rank is that of the message. See `ranks`.
            (Some(tag), _) if tag.key == Tag::RANK => continue,
            (Some(tag), _) => tag.to_string(),
            (_, Some(priority)) => priority.to_string(),
            _ => continue,
        };
        tags.entry(target).or_default().push(said);
    }
    let mut text = String::new();
    for (index, block) in imported.blocks.iter().enumerate() {
        let what = match &block.content {
            BlockContent::Annotation(_) => continue,
            BlockContent::Conversation(turn) => match &turn.tool_call_id {
                Some(id) => format!("{} #{id} {:?}", turn.role, turn.content),
                None => format!("{} {:?}", turn.role, turn.content),
            },
            BlockContent::ToolResult(of) => {
                format!("result {} {} {:?}", of.tool_name, of.status, of.content)
            }
            BlockContent::Code(code) => {
                format!("code {} {:?} {:?}", code.path, code.line_start, code.content)
            }
            BlockContent::Diff(diff) => format!("diff {}", diff.path),
            BlockContent::Image(image) => {
                format!("image {} {}", image.media_type, image.data.len())
            }
            BlockContent::Document(document) => {
                format!("document {:?} {:?}", document.title, document.content)
            }
            BlockContent::Extension(extension) => {
                let content = extension.content.as_str().unwrap();
                let short: String = content.chars().take(40).collect();
                format!("{}/{} {short}", extension.namespace, extension.type_name)
            }
            other => format!("{:?}", other.block_type()),
        };
        let tags = tags.remove(&index).unwrap_or_default().join("; ");
        writeln!(text, "{what} [{tags}]").unwrap();
    }
    let report = &imported.report;
    writeln!(
        text,
        "{} messages, {} calls, {} results, {} pictures, {} unanswered, {} orphans\n{:?}\n{:?}\n{:?}",
        report.messages,
        report.calls,
        report.results,
        report.images,
        report.unanswered,
        report.orphans,
        report.unknown,
        report.records,
        report.skipped,
    )
    .unwrap();
    for warning in &report.warnings {
        writeln!(text, "{warning}").unwrap();
    }
    text
}

fn check(format: Format, text: &str, expected: &Expect) {
    assert_eq!(detect(text.as_bytes()), Some(format));
    expected.assert_eq(&shown(&read(format, text)));
}

#[test]
fn claude_code_session_is_imported() {
    check(
        Format::ClaudeCode,
        CLAUDE_CODE,
        &expect![[r#"
            lcp/record/claude-code/summary {"type":"summary","summary":"A port is f []
            lcp/record/claude-code/file-history-snapshot {"type":"file-history-snapshot","message []
            claude-code/user.meta {"parentUuid":null,"isSidechain":false," [low]
            user "Why is the port wrong?" [message=0; claude-code.item={"userType":"external","cwd":"/src/app","sessionId":"5e55","version":"2.0.1","gitBranch":"main","timestamp":"2026-01-02T10:00:00.000Z"}]
            claude-code/thinking {"type":"thinking","thinking":"The setti [message=1; low; role=assistant; claude-code.item={"message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":3,"output_tokens":5}}}]
            assistant "I look at the settings." [message=1]
            assistant #toolu_1 "Read {\"file_path\":\"/src/app/a.toml\"}" [message=1]
            assistant #toolu_2 "Task {\"prompt\":\"Find ports\"}" [message=1]
            code /src/app/a.toml Some(1) "[net]\nport = 80" [message=2; form=cat-n,6,arrow; tool_call_id=toolu_1; args={"file_path":"/src/app/a.toml"}]
            result Task ok "There is one." [message=3; tool_call_id=toolu_2; args={"prompt":"Find ports"}]
            lcp/record/claude-code/system.compact_boundary {"parentUuid":"u7","isSidechain":false," []
            user "This session goes on from another; the port was wrong." [message=4; claude-code.item={"isCompactSummary":true}]
            assistant #toolu_3 "Bash {\"command\":\"make\"}" [message=5; claude-code.item={"message":{"id":"msg_2"}}]
            result Bash error "make: *** no rule" [message=6; tool_call_id=toolu_3; args={"command":"make"}]
            lcp/record/claude-code/queue-operation {"type":"queue-operation","operation":"e []
            image png 2 [message=7]
            user "Look." [message=7]
            lcp/record/claude-code/hologram {"type":"hologram","sessionId":"5e55","d []
            assistant "I see." [message=8; claude-code.item={"message":{"id":"msg_3"}}]
            9 messages, 3 calls, 3 results, 1 pictures, 0 unanswered, 0 orphans
            {"thinking": 1, "user.meta": 1}
            {"file-history-snapshot": 1, "hologram": 1, "queue-operation": 1, "summary": 1, "system.compact_boundary": 1}
            {"sidechain": 2, "toolUseResult": 3}
        "#]],
    );
}

#[test]
fn codex_rollout_is_imported() {
    check(
        Format::Codex,
        CODEX,
        &expect![[r#"
            lcp/record/codex/session_meta {"timestamp":"2026-01-02T10:00:00.000Z", []
            system "Be careful." [message=0; role=developer; critical]
            user "Rename it." [message=1]
            lcp/record/codex/turn_context {"timestamp":"2026-01-02T10:00:00.000Z", []
            codex/reasoning {"type":"reasoning","summary":[{"type":" [message=2; low; role=assistant]
            assistant #call_1 "shell {\"command\":[\"cat\",\"-n\",\"a.py\"]}" [message=3]
            lcp/record/codex/event_msg.exec_command_begin {"timestamp":"2026-01-02T10:00:00.000Z", []
            code a.py Some(1) "x = 1\nprint(x)\n" [message=4; form=cat-n; tool_call_id=call_1; args={"command":["cat","-n","a.py"]}]
            assistant #call_2 "apply_patch *** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+y = 1\n*** End Patch" [message=5; call=custom; codex.part={"status":"completed"}]
            result apply_patch ok "{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0}}" [message=6; tool_call_id=call_2; args=*** Begin Patch
            *** Update File: a.py
            @@
            -x = 1
            +y = 1
            *** End Patch]
            assistant #call_3 "local_shell {\"type\":\"exec\",\"command\":[\"ls\"]}" [message=7; codex.part={"status":"completed"}]
            lcp/record/codex/event_msg.token_count {"timestamp":"2026-01-02T10:00:00.000Z", []
            codex/compacted {"timestamp":"2026-01-02T10:00:00.000Z", [low]
            codex/ghost_snapshot {"type":"ghost_snapshot","ghost_commit": [message=8; low; role=assistant]
            lcp/record/codex/world_state {"timestamp":"2026-01-02T10:00:00.000Z", []
            assistant "Done." [message=9]
            10 messages, 3 calls, 2 results, 0 pictures, 1 unanswered, 0 orphans
            {"compacted": 1, "ghost_snapshot": 1, "reasoning": 1}
            {"event_msg.exec_command_begin": 1, "event_msg.token_count": 1, "session_meta": 1, "turn_context": 1, "world_state": 1}
            {"event_msg.agent_message": 1, "event_msg.agent_reasoning": 1, "event_msg.user_message": 1}
            line 13: tool call "call_3" has no result
        "#]],
    );
    check(
        Format::Codex,
        CODEX_OLD,
        &expect![[r#"
            lcp/record/codex/state {"id":"0198","timestamp":"2025-07-01T10: []
            lcp/record/codex/state {"record_type":"state"} []
            user "hi" [message=0]
            codex/reasoning {"type":"reasoning","id":"rs_1","summary [message=1; low; role=assistant]
            assistant #call_9 "shell {\"command\":[\"ls\"]}" [message=2; codex.part={"id":"fc_1"}]
            result shell ok "a.py" [message=3; tool_call_id=call_9; args={"command":["ls"]}]
            assistant "a.py" [message=4; codex.item={"id":"msg_1"}]
            5 messages, 1 calls, 1 results, 0 pictures, 0 unanswered, 0 orphans
            {"reasoning": 1}
            {"state": 2}
            {}
        "#]],
    );
}

#[test]
fn mcp_results_are_imported() {
    check(
        Format::Mcp,
        MCP,
        &expect![[r#"
            mcp/initialize {"jsonrpc":"2.0","id":0,"method":"initia [low]
            mcp/result {"jsonrpc":"2.0","id":0,"result":{"proto [low]
            mcp/notifications/initialized {"jsonrpc":"2.0","method":"notifications [low]
            assistant #1 "weather {\"city\":\"Bern\"}" [message=0]
            assistant #2 "map {}" [message=1]
            result map error "no map" [message=2; tool_call_id=2; args={}]
            mcp/error {"code":-32603,"message":"no map","data" [message=2; low; tool_call_id=2]
            result weather ok "{\"t\":3}" [message=3; tool_call_id=1; args={"city":"Bern"}]
            mcp/resource_link {"type":"resource_link","uri":"file:///w [message=3; low; tool_call_id=1]
            mcp/structuredContent {"t":3} [message=3; low; tool_call_id=1]
            result mcp error "No such city." [message=4; tool_call_id=s-7]
            5 messages, 2 calls, 3 results, 0 pictures, 0 unanswered, 0 orphans
            {"error": 1, "initialize": 1, "notifications/initialized": 1, "resource_link": 1, "result": 1, "structuredContent": 1}
            {}
            {}
        "#]],
    );
    check(
        Format::Mcp,
        MCP_RESULT,
        &expect![[r#"
            diff x [message=0; form=unified]
            image png 2 [message=0; mcp.part={"annotations":{
                "audience": [
                 "user"
                ]
               }}]
            mcp/audio {
               "type": "audio",
               "data": "aGk=", [message=0; low]
            mcp/resource {
               "type": "resource",
               "resource":  [message=0; low]
            result mcp ok "done" [message=0; mcp.part={"annotations":{
                "priority": 1
               }}]
            1 messages, 0 calls, 1 results, 1 pictures, 0 unanswered, 0 orphans
            {"audio": 1, "resource": 1}
            {}
            {}
        "#]],
    );
}

#[test]
fn mcp_tool_error_keeps_its_code() {
    check(
        Format::Mcp,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no map"}}"#,
        &expect![[r#"
            result mcp error "no map" [message=0; tool_call_id=2; mcp.part={"code":-32603}]
            1 messages, 0 calls, 1 results, 0 pictures, 0 unanswered, 0 orphans
            {}
            {}
            {}
        "#]],
    );
}

#[test]
fn aider_history_and_markdown_document_are_imported() {
    check(
        Format::Markdown,
        AIDER,
        &expect![[r#"
            result aider ok "Added a.py to the chat." [message=0]
            user "Rename x." [message=1]
            assistant "I rename it.\n\n```python\ny = 1\n```" [message=2]
            result aider ok "Applied edit to a.py" [message=3]
            4 messages, 0 calls, 2 results, 0 pictures, 0 unanswered, 0 orphans
            {}
            {}
            {}
        "#]],
    );
    check(
        Format::Markdown,
        "Text.\n\n# A title \n",
        &expect![[r#"
            document "A title" "Text.\n\n# A title \n" []
            0 messages, 0 calls, 0 results, 0 pictures, 0 unanswered, 0 orphans
            {}
            {}
            {}
        "#]],
    );
    check(
        Format::Markdown,
        "# Chat\n\n## User\nWhy?\n## Assistant\nSo.\n",
        &expect![[r#"
            markdown/preamble # Chat [low]
            user "Why?" [message=0]
            assistant "So." [message=1]
            2 messages, 0 calls, 0 results, 0 pictures, 0 unanswered, 0 orphans
            {"preamble": 1}
            {}
            {}
        "#]],
    );
}

#[test]
fn truncated_session_is_read_up_to_the_cut() {
    for (format, text) in [(Format::ClaudeCode, CLAUDE_CODE), (Format::Codex, CODEX)] {
        let lines = text.lines().count();
        let cut = &text[..text.trim_end().len() - 3];
        let imported = read(format, cut);
        let last = imported.report.warnings.iter().find(|of| of.line == Some(lines)).unwrap();
        assert!(last.message.starts_with("not valid JSON"), "{last}");
        assert_eq!(imported.report.unknown["line"], 1);
        // The broken line is kept unchanged.
        let kept = imported.blocks.iter().rev().find_map(Block::as_extension).unwrap();
        assert_eq!(kept.content.as_str(), cut.lines().last());
    }
}

#[test]
fn invalid_sessions_are_rejected() {
    let fails = |format, text: &str| {
        import(format, text.as_bytes(), &Options::default()).map_err(|error| error.kind)
    };
    for format in [Format::ClaudeCode, Format::Codex, Format::Mcp] {
        for text in ["", "{}", "[1]", "{\"a\":1}\n{\"b\":2}\n"] {
            assert!(fails(format, text).is_err(), "{format} {text:?}");
        }
        assert!(matches!(fails(format, "{\"a\":"), Err(ErrorKind::NotJson(_))));
        let other = fails(format, "{\"type\":\"x\"}").unwrap_err();
        assert!(matches!(other, ErrorKind::NotATranscript { .. }), "{other}");
    }
    assert!(fails(Format::Markdown, " \n").is_err());
    assert!(fails(Format::Markdown, "a\0b").is_err());
    let bytes = import(Format::Codex, b"{}\n\xFF", &Options::default()).unwrap_err();
    assert_eq!((bytes.kind, bytes.line, bytes.column), (ErrorKind::NotUtf8, 2, 1));
}

#[test]
fn the_first_messages_of_a_broken_list_have_a_format() {
    let broken = br#"[{"role":"tool","content":"3"}, {"role":"user", broken]"#;
    assert_eq!(detect_messages(broken, Format::Anthropic), Some(Format::OpenAiChat));
    assert_eq!(detect_messages(b"[{broken}]", Format::Anthropic), None);
    assert_eq!(detect_messages(b"[1] A note.", Format::Anthropic), Some(Format::Markdown));
    // So the error says where the list is broken.
    let error = import(Format::OpenAiChat, broken, &Options::default()).unwrap_err();
    assert_eq!((error.line, error.column), (1, 49));
}

#[test]
fn formats_are_detected_by_structure() {
    use Format::{Anthropic, ClaudeCode, Codex, Markdown, Mcp, OpenAiChat, OpenAiResponses};
    let is =
        |format: Format, text: &str| assert_eq!(detect(text.as_bytes()), Some(format), "{text}");
    is(OpenAiChat, r#"[{"role":"user","content":"hi"}]"#);
    for role in ["system", "developer"] {
        let list = |rest: &str| format!(r#"[{{"role":"{role}","content":"x"}}{rest}]"#);
        is(OpenAiChat, &list(r#",{"role":"user","content":"hi"}"#));
        is(OpenAiChat, &format!(r#"{{"max_tokens":9,"messages":{}}}"#, list("")));
        is(OpenAiResponses, &list(r#",{"type":"reasoning","id":"rs","summary":[]}"#));
        is(OpenAiResponses, &list(r#",{"role":"user","content":[{"type":"input_text"}]}"#));
    }
    is(OpenAiChat, r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#);
    is(OpenAiChat, r#"{"choices":[{"message":{"role":"assistant","content":"hi"}}]}"#);
    is(OpenAiChat, r#"{"custom_id":"1","body":{"messages":[{"role":"user","content":"hi"}]}}"#);
    is(Anthropic, r#"{"system":"x","messages":[{"role":"user","content":"hi"}]}"#);
    is(Anthropic, r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]"#);
    is(
        Anthropic,
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}"#,
    );
    for of_anthropic in [
        r#""model":"claude-sonnet-4-5","max_tokens":9"#,
        r#""max_tokens":9"#,
        r#""model":"m","stop_sequences":["x"]"#,
        r#""model":"m","thinking":{"type":"enabled","budget_tokens":9}"#,
        r#""anthropic_version":"bedrock-2023-05-31""#,
        r#""model":"m","n":1,"tools":[{"name":"t","input_schema":{"type":"object"}}]"#,
    ] {
        is(
            Anthropic,
            &format!(r#"{{{of_anthropic},"messages":[{{"role":"user","content":"hi"}}]}}"#),
        );
        let line = format!(
            r#"{{"params":{{{of_anthropic},"messages":[{{"role":"user","content":"hi"}}]}}}}"#
        );
        is(Anthropic, &line);
    }
    for of_openai in [
        r#""model":"m","max_tokens":9"#,
        r#""model":"m","thinking":{"type":"enabled"}"#,
        r#""model":"claude-sonnet-4-5","max_completion_tokens":9"#,
        r#""model":"claude-sonnet-4-5","tools":[{"type":"function","function":{"name":"t"}}]"#,
        r#""max_tokens":9,"stop":["x"]"#,
    ] {
        is(
            OpenAiChat,
            &format!(r#"{{{of_openai},"messages":[{{"role":"user","content":"hi"}}]}}"#),
        );
    }
    is(
        OpenAiChat,
        r#"{"model":"claude-x","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}"#,
    );
    is(
        Anthropic,
        r#"{"custom_id":"1","params":{"model":"m","messages":[{"role":"user","content":"hi"}]}}"#,
    );
    is(
        Anthropic,
        r#"{"custom_id":"1","result":{"type":"succeeded","message":{"type":"message","role":"assistant","content":[]}}}"#,
    );
    is(
        Anthropic,
        r#"[{"role":"user","content":"hi"},{"type":"message","role":"assistant","content":"hi","stop_reason":"end_turn"}]"#,
    );
    is(OpenAiResponses, r#"{"model":"m","input":"hi"}"#);
    is(OpenAiResponses, r#"{"object":"response","output":[]}"#);
    is(OpenAiResponses, r#"[{"type":"message","role":"user","content":"hi"}]"#);
    is(OpenAiResponses, r#"[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]"#);
    is(ClaudeCode, r#"{"type":"summary","summary":"x","leafUuid":"u"}"#);
    is(ClaudeCode, "{\"type\":\"file-history-snapshot\"}\n{\"type\":\"user\",\"uuid\":\"u\"}\n");
    is(Codex, r#"{"type":"session_meta","payload":{"id":"x"}}"#);
    is(Mcp, r#"{"content":[{"type":"text","text":"hi"}]}"#);
    is(Mcp, r#"[{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]"#);
    is(Markdown, "[a link](x.md) and {braces}");
    is(Markdown, "[x] a list of things to do");
    for template in ["{{ title }}\n", "{% include \"a\" %}\n", "{# note #}\n", "[[Page]] says\n"] {
        is(Markdown, template);
    }
    for broken in ["{", "{ \"messages\": [", "{'role': 'user'}", "[[\"a\"", "[{", "[]x"] {
        assert_eq!(detect(broken.as_bytes()), None, "{broken}");
    }
    for none in ["", " ", "{}", "[]", "[1,2]", "{\"a\":", "[{\"a\"", "a\0b", "12"] {
        assert_eq!(detect(none.as_bytes()), None, "{none:?}");
    }
    assert_eq!(detect(b"LCP\0\x01\0\0\0"), None);
    assert_eq!(detect(b"\xFF\xFE"), None);
}

/// Generates complete and broken lines of sessions.
fn any_lines() -> impl Strategy<Value = String> {
    let agents = [
        include_str!("fixtures/codex-exec.jsonl"),
        include_str!("fixtures/gemini-cli.jsonl"),
        include_str!("fixtures/gemini-cli-stream.jsonl"),
        include_str!("fixtures/opencode-run.jsonl"),
    ];
    let lines = [CLAUDE_CODE, CODEX, CODEX_OLD, MCP, &agents.concat()].concat();
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    let line = prop::sample::select(lines);
    let broken = (line.clone(), any::<prop::sample::Index>()).prop_map(|(line, at)| {
        let mut end = at.index(line.len() + 1);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line[..end].to_owned()
    });
    let other = "[\\{\\}\\[\\]\":,a0 ]{0,12}";
    let line = prop_oneof![4 => line.boxed(), 1 => broken.boxed(), 1 => other.boxed()];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    /// Imports never panic. Annotations refer to blocks, the numbers of calls and results add up,
    /// and each format gives the same blocks every time.
    #[test]
    fn importing_arbitrary_lines_never_panics(text in any_lines()) {
        let _ = detect(text.as_bytes());
        for format in Format::ALL {
            let Ok(imported) = import(format, text.as_bytes(), &Options::default()) else { continue };
            let again = import(format, text.as_bytes(), &Options::default()).unwrap();
            prop_assert_eq!(&imported, &again);
            for (index, block) in imported.blocks.iter().enumerate() {
                if let Some(annotation) = block.as_annotation() {
                    prop_assert!(annotation.target_block_id < index as u64);
                }
            }
            let report = &imported.report;
            prop_assert!(report.unanswered <= report.calls && report.orphans <= report.results);
        }
    }
}

/// A text that occurs only in an event becomes a message.
#[test]
fn unrepeated_codex_events_become_messages() {
    let event = |kind: &str, key: &str, text: &str| {
        let payload = serde_json::json!({"type": kind, key: text, "kind": "plain"});
        serde_json::json!({"type": "event_msg", "payload": payload}).to_string()
    };
    let item = |role: &str, text: &str| {
        let payload = serde_json::json!({"type": "message", "role": role,
            "content": [{"type": "text", "text": text}]});
        serde_json::json!({"type": "response_item", "payload": payload}).to_string()
    };
    let lines = [
        event("user_message", "message", "go on"),
        item("user", "go on\n"),
        event("agent_reasoning", "text", "Hm."),
        event("agent_message", "message", "I do."),
        event("user_message", "message", "go on"),
        item("assistant", "Done."),
        event("agent_message", "message", "Done."),
        // The same text by the assistant does not count as the user's.
        event("user_message", "message", "Done."),
    ];
    expect![[r#"
        user "go on\n" [message=0]
        codex/event_msg.agent_reasoning {"payload":{"kind":"plain","text":"Hm.", [low]
        assistant "I do." [message=1; codex.item={"kind":"plain"}]
        user "go on" [message=2; codex.item={"kind":"plain"}]
        assistant "Done." [message=3]
        user "Done." [message=4; codex.item={"kind":"plain"}]
        5 messages, 0 calls, 0 results, 0 pictures, 0 unanswered, 0 orphans
        {"event_msg.agent_reasoning": 1}
        {}
        {"event_msg.agent_message": 1, "event_msg.user_message": 1}
    "#]]
    .assert_eq(&shown(&read(Format::Codex, &lines.join("\n"))));
}

//! Exports have the same statements as the imported transcript. For each format, they are compared
//! part by part with a list that was written by hand from the fixture.

use lcp_transcripts::{Format, Provider};
use serde_json::Value;

use crate::support::{exported, imported, value};

/// Checks the exports for both targets. Each expected line is a part: the role with a text, a call
/// with its id, name and arguments, or the result of a call with its id.
#[track_caller]
fn check(format: Format, text: &str, openai: &[&str], anthropic: &[&str]) {
    let blocks = imported(format, text).blocks;
    for (target, expected) in [(Provider::OpenAi, openai), (Provider::Anthropic, anthropic)] {
        let found = statements(&value(&exported(target, &blocks).json()));
        assert_eq!(found.join("\n"), expected.join("\n"), "{format} to {target}");
    }
}

/// Returns the parts of all messages of a request to either provider.
fn statements(request: &Value) -> Vec<String> {
    let mut told = Vec::new();
    part("system", &request["system"], &mut told);
    for message in request["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        match message.get("tool_call_id") {
            Some(id) => {
                told.push(format!("result of {}: {}", text(id), plain(&message["content"])));
            }
            None => part(role, &message["content"], &mut told),
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let of = call.get("function").or(call.get("custom")).unwrap();
            let arguments = of.get("arguments").or(of.get("input")).unwrap();
            let (id, name) = (text(&call["id"]), text(&of["name"]));
            told.push(format!("{role} calls {id}: {name} {}", text(arguments)));
        }
    }
    told
}

fn part(role: &str, content: &Value, told: &mut Vec<String>) {
    match content {
        Value::Null => {}
        Value::Array(parts) => parts.iter().for_each(|of| part(role, of, told)),
        Value::String(said) => told.push(format!("{role}: {said}")),
        of => told.push(match of["type"].as_str().unwrap() {
            "text" => format!("{role}: {}", text(&of["text"])),
            "thinking" => format!("{role} thinks: {}", text(&of["thinking"])),
            "image" => format!("{role} shows: {}", text(&of["source"]["data"])),
            "image_url" => format!("{role} shows: {}", text(&of["image_url"]["url"])),
            "tool_use" => {
                let (id, name) = (text(&of["id"]), text(&of["name"]));
                format!("{role} calls {id}: {name} {}", of["input"])
            }
            "tool_result" => {
                let failed = if of["is_error"] == true { " (failed)" } else { "" };
                let id = text(&of["tool_use_id"]);
                format!("result of {id}{failed}: {}", plain(&of["content"]))
            }
            other => panic!("{other}"),
        }),
    }
}

/// Returns the text of a result, which may be a string or a list of parts.
fn plain(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().map(|of| text(&of["text"])).collect(),
        Value::Null => String::new(),
        content => text(content).to_owned(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn claude_code_session_round_trips() {
    let before = |thinks: &'static [&'static str]| {
        let begins = ["user: Why is the port wrong?"];
        let goes_on = [
            "assistant: I look at the settings.",
            r#"assistant calls toolu_1: Read {"file_path":"/src/app/a.toml"}"#,
            r#"assistant calls toolu_2: Task {"prompt":"Find ports"}"#,
            "result of toolu_1:      1→[net]\n     2→port = 80",
            "result of toolu_2: There is one.",
            "user: This session goes on from another; the port was wrong.",
            r#"assistant calls toolu_3: Bash {"command":"make"}"#,
        ];
        [&begins[..], thinks, &goes_on].concat()
    };
    let openai = [
        "result of toolu_3: make: *** no rule", "user shows: data:image/png;base64,aGk=",
        "user: Look.", "assistant: I see.",
    ];
    let anthropic = [
        "result of toolu_3 (failed): make: *** no rule",
        "user shows: aGk=",
        "user: Look.",
        "assistant: I see.",
    ];
    check(
        Format::ClaudeCode,
        include_str!("fixtures/claude-code.jsonl"),
        &[&before(&[])[..], &openai].concat(),
        &[&before(&["assistant thinks: The settings."])[..], &anthropic].concat(),
    );
}

#[test]
fn codex_rollout_round_trips() {
    const PATCH: &str = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+y = 1\n*** End Patch";
    let told = |patch: &str| {
        [
            "system: Be careful.",
            "user: Rename it.",
            r#"assistant calls call_1: shell {"command":["cat","-n","a.py"]}"#,
            "result of call_1:      1\tx = 1\n     2\tprint(x)\n",
            &format!("assistant calls call_2: apply_patch {patch}"),
            r#"result of call_2: {"output":"Success.","metadata":{"exit_code":0}}"#,
            // The third call has no result.
            "assistant: Done.",
        ]
        .map(str::to_owned)
    };
    let mut openai = told(PATCH);
    openai[0] = openai[0].replace("system", "developer");
    let anthropic = told(&serde_json::json!({ "arguments": PATCH }).to_string());
    check(
        Format::Codex,
        include_str!("fixtures/codex.jsonl"),
        &openai.each_ref().map(String::as_str),
        &anthropic.each_ref().map(String::as_str),
    );
    let old = [
        "user: hi",
        r#"assistant calls call_9: shell {"command":["ls"]}"#,
        "result of call_9: a.py",
        "assistant: a.py",
    ];
    check(Format::Codex, include_str!("fixtures/codex-old.jsonl"), &old, &old);
}

#[test]
fn responses_items_round_trip() {
    let text = r#"{"instructions": "Be brief.", "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "List it."},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls", "arguments": "{\"dir\":\".\"}"},
        {"type": "function_call", "call_id": "c2", "name": "pwd", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": "/"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a.rs"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
        {"role": "user", "content": "Thanks."}]}"#;
    let told = |picture| {
        [
            "system: Be brief.", "user: List it.", picture,
            // Each item is a message, followed by its result.
            r#"assistant calls c1: ls {"dir":"."}"#, "result of c1: a.rs",
            "assistant calls c2: pwd {}", "result of c2: /", "assistant: One file.",
            "user: Thanks.",
        ]
    };
    check(
        Format::OpenAiResponses,
        text,
        &told("user shows: data:image/png;base64,aGk="),
        &told("user shows: aGk="),
    );
}

#[test]
fn mcp_calls_round_trip() {
    let told = |failed: &str| {
        [
            r#"assistant calls 1: weather {"city":"Bern"}"#,
            r#"result of 1: {"t":3}"#,
            "assistant calls 2: map {}",
            &format!("result of 2{failed}: no map"),
            // The third result has no call.
        ]
        .map(str::to_owned)
    };
    let openai = told("");
    let mut anthropic = told(" (failed)").to_vec();
    anthropic.insert(0, "user: (The beginning of this conversation is not shown.)".to_owned());
    check(
        Format::Mcp,
        include_str!("fixtures/mcp.jsonl"),
        &openai.each_ref().map(String::as_str),
        &anthropic.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn markdown_chats_round_trip() {
    // Output of aider itself is not a result of a call.
    let aider = ["user: Rename x.", "assistant: I rename it.\n\n```python\ny = 1\n```"];
    check(Format::Markdown, include_str!("fixtures/aider.md"), &aider, &aider);
    let text = "# Chat\n\n## System\nBe brief.\n\n## User\nWhy?\n\n- really\n\n## Assistant\nSo.\n\n## User\nOh.\n";
    let headings = ["system: Be brief.", "user: Why?\n\n- really", "assistant: So.", "user: Oh."];
    check(Format::Markdown, text, &headings, &headings);
}

//! Exports to the responses API and to Gemini.

use expect_test::{Expect, expect};
use lcp_transcripts::{ExportBlock, ExportDetail, Format, Provider, export};
use lcp_types::{Block, BlockMeta, Priority};
use serde_json::{Value, json};

use crate::support::{comes_back, exported, imported, normal, value};
use crate::valid::valid;

/// A conversation with text beside calls, parallel calls, a failure and an image in a result.
const ANTHROPIC: &str = r#"{"system": "Be brief.", "messages": [
    {"role": "user", "content": "What is it?"},
    {"role": "assistant", "content": [
        {"type": "thinking", "thought": "Hm.", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "run", "input": {}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such file", "is_error": true},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
            {"type": "text", "text": "A dot."},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAEC"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AAEC"}}]}]}
]}"#;

#[track_caller]
fn check(target: Provider, blocks: &[Block<'static>], expected: &Expect) {
    let found = exported(target, blocks);
    let json = found
        .json()
        .replace("},{\"type\":\"", "},\n{\"type\":\"")
        .replace("},{\"role\"", "},\n{\"role\"");
    expected.assert_eq(&format!("{json}\n{:?}\n", found.report.left_out));
}

#[test]
fn anthropic_conversation_becomes_items() {
    let blocks = imported(Format::Anthropic, ANTHROPIC).blocks;
    check(
        Provider::OpenAiResponses,
        &blocks,
        &expect![[r#"
        {"input":[{"type":"message","role":"system","content":"Be brief."},
        {"type":"message","role":"user","content":"What is it?"},
        {"type":"message","role":"assistant","content":"I look."},
        {"type":"function_call","call_id":"toolu_1","name":"look","arguments":"{\"at\": 1}"},
        {"type":"function_call","call_id":"toolu_2","name":"run","arguments":"{}"},
        {"type":"function_call_output","call_id":"toolu_2","output":"no such file"},
        {"type":"function_call_output","call_id":"toolu_1","output":[{"type":"input_text","text":"A dot."},
        {"type":"input_image","image_url":"data:image/png;base64,AAEC","detail":"auto"},
        {"type":"input_image","image_url":"data:image/gif;base64,AAEC","detail":"auto"}]}]}
        {"is_error": 1, "thinking": 1}
    "#]],
    );
}

/// The first call after the last question has a signature that Gemini accepts from other models.
#[test]
fn anthropic_conversation_becomes_contents() {
    let blocks = imported(Format::Anthropic, ANTHROPIC).blocks;
    check(
        Provider::Gemini,
        &blocks,
        &expect![[r#"
        {"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"What is it?"}]},
        {"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"toolu_1","name":"look","args":{"at": 1}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"toolu_2","name":"run","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"toolu_2","name":"run","response":{"error":"no such file"}}},{"functionResponse":{"id":"toolu_1","name":"look","response":{"output":"A dot."}}},{"inlineData":{"mimeType":"image/png","data":"AAEC"}},{"text":"[image]"}]}]}
        {"image": 1, "thinking": 1}
    "#]],
    );
    let mut text: Value = serde_json::from_str(ANTHROPIC).unwrap();
    let more = [
        json!({"role": "assistant", "content": "A dot."}),
        json!({"role": "user", "content": "Thanks."}),
    ];
    text["messages"].as_array_mut().unwrap().extend(more);
    let found = exported(Provider::Gemini, &imported(Format::Anthropic, &text.to_string()).blocks);
    assert!(!found.json().contains("thoughtSignature"), "{}", found.json());
}

/// The items of a real rollout come back, without fields that only Codex writes.
#[test]
fn codex_rollout_comes_back_as_items() {
    let text = include_str!("fixtures/codex-rollout.jsonl");
    let items = text.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["type"] == "response_item").then(|| line["payload"].clone())
    });
    let items: Vec<_> = items
        .map(|mut item| {
            item.as_object_mut().unwrap().retain(|key, _| !key.starts_with("internal_"));
            item
        })
        .collect();
    assert!(items.len() > 8, "{items:?}");
    let found = exported(Provider::OpenAiResponses, &imported(Format::Codex, text).blocks);
    let target = Provider::OpenAiResponses;
    assert_eq!(normal(target, &value(&found.json())), normal(target, &Value::from(items)));
    let left_out: Vec<_> = found.report.left_out.into_keys().collect();
    assert!(left_out.iter().all(|kind| kind == "session_meta"), "{left_out:?}");
}

/// The API rejects an item whose reasoning is missing, if the item has the id of a stored one.
#[test]
fn items_without_their_reasoning_lose_their_ids() {
    let text = r#"{"input": [
        {"role": "user", "content": "List it."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "ls", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "c", "output": "a.rs"},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "One.", "annotations": []},
            {"type": "output_text", "text": "Two.", "annotations": []}]}]}"#;
    let found = comes_back(Format::OpenAiResponses, text);
    let mut shown: Vec<_> = found.blocks.iter().map(ExportBlock::new).collect();
    let at = found.blocks.iter().position(|block| block.as_extension().is_some()).unwrap();
    shown[at].detail = ExportDetail::Omitted;
    let back = export(Provider::OpenAiResponses, &shown, None);
    assert_eq!(valid(Provider::OpenAiResponses, &back), Ok(()));
    let message = |text| json!({"type": "message", "role": "assistant", "content": text});
    let items = value(&back.json())["input"].as_array().unwrap().clone();
    assert_eq!(
        items[1..],
        [
            json!({"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": "c", "output": "a.rs"}),
            message("One."),
            message("Two."),
        ]
    );
}

#[test]
fn reasoning_without_a_following_item_is_left_out() {
    let text = r#"[{"role": "user", "content": "Hi."},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "user", "content": "Hello?"},
        {"type": "reasoning", "id": "rs_2", "summary": []}]"#;
    let blocks = imported(Format::OpenAiResponses, text).blocks;
    let found = exported(Provider::OpenAiResponses, &blocks);
    assert_eq!(found.report.left_out["reasoning"], 2);
    assert_eq!(found.messages.len(), 2);
}

/// Two calls with the same id would be ambiguous in a list of items.
#[test]
fn repeated_call_ids_become_unique_items() {
    let mut items = vec![json!({"role": "user", "content": "Go on."})];
    for output in ["one", "two"] {
        items.push(
            json!({"type": "function_call", "call_id": "call_1", "name": "ls", "arguments": "{}"}),
        );
        items.push(json!({"type": "function_call_output", "call_id": "call_1", "output": output}));
    }
    let blocks = imported(Format::OpenAiResponses, &Value::from(items).to_string()).blocks;
    let found = exported(Provider::OpenAiResponses, &blocks);
    assert_eq!((found.report.calls, found.report.renamed), (2, 1));
    let json = value(&found.json());
    assert_eq!(
        (&json["input"][2]["output"], &json["input"][4]["output"]),
        (&json!("one"), &json!("two"))
    );
    assert_eq!(json["input"][3]["call_id"], json["input"][4]["call_id"]);
}

#[test]
fn items_of_built_in_tools_stay_in_pairs() {
    let call = json!({"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}});
    let output = json!({"type": "shell_call_output", "call_id": "s", "output": []});
    let question = json!({"role": "user", "content": "Hi."});
    let count = |items: &[&Value]| {
        let blocks = imported(Format::OpenAiResponses, &json!(items).to_string()).blocks;
        exported(Provider::OpenAiResponses, &blocks).messages.len()
    };
    assert_eq!(count(&[&question, &call, &output]), 3);
    assert_eq!(count(&[&question, &call]), 1);
    assert_eq!(count(&[&question, &output]), 1);
}

#[test]
fn gemini_request_comes_back_with_its_settings() {
    let request = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Look."}]},
            {"role": "model", "parts": [
                {"text": "Hm.", "thought": true},
                {"functionCall": {"name": "look", "args": {"at": 1}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "look", "response": {"result": [1, 2]}}},
                {"functionResponse": {"name": "look", "response": {"error": "nothing"}, "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": "AAEC"}}]}}]}],
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
        "generationConfig": {"temperature": 0.5},
    });
    let blocks = imported(Format::Gemini, &request.to_string()).blocks;
    let found = exported(Provider::Gemini, &blocks);
    assert_eq!(value(&found.json()), request);
    // Tools count, settings do not.
    let extras = found.request_extras().unwrap();
    assert!(extras.contains("functionDeclarations") && !extras.contains("temperature"), "{extras}");
    // Other providers see the object as text, and each call with an id.
    let of_chat = exported(Provider::OpenAi, &blocks);
    assert!(of_chat.json().contains(r#"\"result\":[1,2]"#), "{}", of_chat.json());
}

#[test]
fn gemini_cli_session_becomes_contents() {
    let text = include_str!("fixtures/gemini-cli.jsonl");
    let found = exported(Provider::Gemini, &imported(Format::GeminiCli, text).blocks);
    let json = value(&found.json());
    let calls = |json: &Value| json.to_string().matches("functionCall\"").count();
    assert_eq!((calls(&json), found.report.calls), (5, 5));
    assert_eq!(
        json["contents"][2]["parts"][0]["functionResponse"]["response"],
        json!({"output": "x = 1\nprint(x)\n"})
    );
    assert_eq!(found.report.left_out["thought"], 1);
}

#[test]
fn result_without_text_becomes_its_type_name() {
    let text = r#"[
        {"role": "user", "content": "Find a tool."},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "ToolSearch", "input": {"query": "fetch"}},
            {"type": "tool_use", "id": "t2", "name": "ToolSearch", "input": {"query": "read"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [
                {"type": "tool_reference", "tool_name": "WebFetch"}]},
            {"type": "tool_result", "tool_use_id": "t2", "content": [
                {"type": "text", "text": "One."}, {"type": "tool_reference", "tool_name": "Read"}]}]}]"#;
    let found = comes_back(Format::Anthropic, text);
    let shown: Vec<_> = found.blocks.iter().map(ExportBlock::new).collect();
    let back = export(Provider::OpenAi, &shown, None);
    assert_eq!(valid(Provider::OpenAi, &back), Ok(()));
    assert_eq!((back.report.calls, back.report.unanswered), (2, 0));
    assert_eq!(back.report.left_out["tool_reference"], 2);
    let messages = value(&back.json())["messages"].as_array().unwrap().clone();
    let results: Vec<_> = messages[2..].iter().map(|message| &message["content"]).collect();
    assert_eq!(results, ["[tool_reference]", "One."]);
}

#[test]
fn newest_of_equal_system_messages_is_critical() {
    let text = r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."},
        {"role": "system", "content": "Be brief."}, {"role": "system", "content": "Be kind."}]"#;
    let found = comes_back(Format::OpenAiChat, text);
    let metas = BlockMeta::resolve_all(&found.blocks, &mut |_, _| {});
    let turns = (0..metas.len()).filter(|at| !found.blocks[*at].content.is_metadata());
    let priorities: Vec<_> = turns.map(|at| metas[at].priority).collect();
    let (critical, normal) = (Priority::Critical, Priority::Normal);
    assert_eq!(priorities, [normal, normal, critical, critical]);
}

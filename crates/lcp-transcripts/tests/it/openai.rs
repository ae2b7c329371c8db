//! Messages of chat completions, and items of responses.

use expect_test::expect;
use lcp_transcripts::{Format, Provider};
use serde_json::json;

use crate::support::{comes_back, exported, imported, lines, normal, value};

const CHAT: &str = r#"{
  "model": "gpt-5", "temperature": 0.10000000000000000001,
  "tools": [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}],
  "messages": [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "name": "ada", "content": [
      {"type": "text", "text": "What is on it?"},
      {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw==", "detail": "low"}},
      {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
      {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]},
    {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
      {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":  \"a.rs\", \"n\": 1.10}"}},
      {"id": "call_2", "type": "custom", "custom": {"name": "shell", "input": "ls  -la\n"}}]},
    {"role": "tool", "tool_call_id": "call_2", "content": ""},
    {"role": "tool", "tool_call_id": "call_1", "name": "read_file", "content": [{"type": "text", "text": "fn main() {}"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It is"}, {"type": "refusal", "refusal": "no"}]},
    {"role": "user", "content": "Thanks\u0000."}
  ]
}"#;

#[test]
fn chat_request_becomes_blocks() {
    let found = imported(Format::OpenAiChat, CHAT);
    expect![[r#"
        system: "Be brief." [message=0, role=developer]
        user: "What is on it?" [message=1]
        png of 4 bytes: "" [message=1, openai-chat.part={"image_url":{"detail":"low"}}]
        openai-chat image_url: "{\"type\": \"image_url\", \"image_url\": {\"url\": \"https://example.org/a.png\"}}" [message=1]
        openai-chat input_audio: "{\"type\": \"input_audio\", \"input_audio\": {\"data\": \"AAAA\", \"format\": \"wav\"}}" [message=1]
        openai-chat message: "{\"name\":\"ada\"}" [message=1]
        assistant calls call_1: "read_file {\"path\":  \"a.rs\", \"n\": 1.10}" [message=2]
        assistant calls call_2: "shell ls  -la\n" [message=2, call=custom]
        result of shell ok: "" [message=3, tool_call_id=call_2, args=ls  -la
        ]
        result of read_file ok: "fn main() {}" [message=4, tool_call_id=call_1, args={"path":  "a.rs", "n": 1.10}, openai-chat.result={"name":"read_file"}]
        assistant: "It is" [message=5]
        openai-chat refusal: "{\"type\": \"refusal\", \"refusal\": \"no\"}" [message=5, role=assistant]
        user: "Thanks\0." [message=6]
        openai-chat request: "{\"model\":\"gpt-5\",\"temperature\":0.10000000000000000001,\"tools\":[{\"type\": \"function\", \"function\": {\"name\": \"read_file\", \"parameters\": {\"type\": \"object\"}}}]}" []
    "#]].assert_eq(&lines(&found.blocks));
    let report = found.report;
    assert_eq!((report.messages, report.calls, report.results, report.images), (7, 2, 2, 1));
    assert_eq!(report.warnings, []);
    let unknown: Vec<_> = report.unknown.iter().map(|(name, n)| format!("{name} {n}")).collect();
    assert_eq!(unknown, ["image_url 1", "input_audio 1", "message 1", "refusal 1", "request 1"]);
}

#[test]
fn chat_request_round_trips_with_its_tools() {
    let found = imported(Format::OpenAiChat, CHAT);
    let back = exported(Provider::OpenAi, &found.blocks);
    let expected = value(CHAT);
    assert_eq!(normal(Provider::OpenAi, &value(&back.json())), normal(Provider::OpenAi, &expected));
    assert_eq!(value(&back.json())["tools"], expected["tools"]);
    assert!(back.json().contains(r#""temperature":0.10000000000000000001"#), "{}", back.json());
    assert!(back.report.left_out.is_empty(), "{:?}", back.report);
}

#[test]
fn anthropic_export_counts_unsupported_openai_parts() {
    let found = imported(Format::OpenAiChat, CHAT);
    let back = exported(Provider::Anthropic, &found.blocks);
    expect![[r#"
        {"system":"Be brief.","messages":[{"role":"user","content":[{"type":"text","text":"What is on it?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"read_file","input":{"path":  "a.rs", "n": 1.10}},{"type":"tool_use","id":"call_2","name":"shell","input":{"arguments":"ls  -la\n"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2"},{"type":"tool_result","tool_use_id":"call_1","content":"fn main() {}"}]},{"role":"assistant","content":"It is"},{"role":"user","content":"Thanks\u0000."}]}
        ExportReport {
            messages: 6,
            calls: 2,
            unanswered: 0,
            orphans: 0,
            empty: 0,
            renamed: 0,
            inserted: 0,
            left_out: {
                "arguments": 1,
                "image_url": 1,
                "input_audio": 1,
                "message": 1,
                "refusal": 1,
                "request": 1,
            },
        }
    "#]].assert_eq(&format!("{}\n{:#?}\n", back.json(), back.report));
}

#[test]
fn deprecated_function_calls_round_trip() {
    let text = r#"[
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": null, "function_call": {"name": "weather", "arguments": "{}"}},
        {"role": "function", "name": "weather", "content": "rain"},
        {"role": "assistant", "content": "Rain."}]"#;
    let found = comes_back(Format::OpenAiChat, text);
    assert_eq!((found.report.orphans, found.report.unanswered), (0, 0));
    let back = exported(Provider::Anthropic, &found.blocks);
    assert_eq!(back.report.calls, 1);
}

#[test]
fn first_choice_of_response_is_the_message() {
    let text = r#"{"id": "chatcmpl-1", "object": "chat.completion", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Yes.", "refusal": null}, "finish_reason": "stop",
         "logprobs": null},
        {"index": 1, "message": {"role": "assistant", "content": "No."}}],
        "usage": {"total_tokens": 7}}"#;
    let found = imported(Format::OpenAiChat, text);
    expect![[r#"
        assistant: "Yes." [message=0]
        openai-chat choice: "{\"index\": 1, \"message\": {\"role\": \"assistant\", \"content\": \"No.\"}}" []
        openai-chat response: "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"usage\":{\"total_tokens\": 7},\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}" []
    "#]].assert_eq(&lines(&found.blocks));
    let one = r#"{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."},
        "finish_reason": "length", "logprobs": {"content": []}}]}"#;
    expect![[r#"
        assistant: "Yes." [message=0]
        openai-chat response: "{\"choices\":[{\"finish_reason\":\"length\",\"logprobs\":{\"content\": []}}]}" []
    "#]]
    .assert_eq(&lines(&imported(Format::OpenAiChat, one).blocks));
}

#[test]
fn jsonl_requests_are_read_line_by_line() {
    let text = concat!(
        r#"{"messages": [{"role": "user", "content": "a"}]}"#,
        "\n\n",
        r#"{"custom_id": "x", "body": {"messages": [{"role": "user", "content": "b"}]}}"#,
        "\n",
        r#"{"messages": [{"role": "user", "cont"#,
        "\r\n",
        r#"{"role": "assistant", "content": "c"}"#,
        "\n",
        r#"{"nothing": "known"}"#,
    );
    let found = imported(Format::OpenAiChat, text);
    expect![[r#"
        user: "a" [message=0]
        user: "b" [message=1]
        openai-chat line: "{\"custom_id\":\"x\"}" []
        openai-chat line: "{\"messages\": [{\"role\": \"user\", \"cont" []
        assistant: "c" [message=2]
        openai-chat item: "{\"nothing\": \"known\"}" []
    "#]]
    .assert_eq(&lines(&found.blocks));
    let warnings: Vec<_> = found.report.warnings.iter().map(ToString::to_string).collect();
    expect![["
        line 4: not valid JSON: EOF while parsing a string
        line 6: not a message of openai-chat; imported as an extension block
        2 lines are separate conversations; joined them into one"]]
    .assert_eq(&warnings.join("\n"));
}

const RESPONSES: &str = r#"{
  "model": "gpt-5", "instructions": "Be brief.",
  "input": [
    {"role": "user", "content": [
      {"type": "input_text", "text": "List it."},
      {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw=="}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": "{\"dir\": \".\"}", "status": "completed"},
    {"type": "custom_tool_call", "call_id": "call_2", "name": "patch", "input": "*** Begin Patch"},
    {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "a.rs"}]},
    {"type": "custom_tool_call_output", "call_id": "call_2", "output": "ok"},
    {"type": "local_shell_call", "call_id": "call_3", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "local_shell_call_output", "call_id": "call_3", "output": "a.rs\n"},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"}
  ]
}"#;

#[test]
fn responses_items_become_blocks_and_messages() {
    let found = imported(Format::OpenAiResponses, RESPONSES);
    expect![[r#"
        system: "Be brief." [message=0, role=instructions]
        user: "List it." [message=1]
        png of 4 bytes: "" [message=1, openai-responses.part={"detail":"auto"}]
        openai-responses reasoning: "{\"type\": \"reasoning\", \"id\": \"rs_1\", \"summary\": [], \"encrypted_content\": \"x\"}" [message=2, role=assistant]
        assistant calls call_1: "ls {\"dir\": \".\"}" [message=3, openai-responses.part={"id":"fc_1","status":"completed"}]
        assistant calls call_2: "patch *** Begin Patch" [message=4, call=custom]
        result of ls ok: "a.rs" [message=5, tool_call_id=call_1, args={"dir": "."}]
        result of patch ok: "ok" [message=6, tool_call_id=call_2, args=*** Begin Patch]
        assistant calls call_3: "local_shell {\"type\": \"exec\", \"command\": [\"ls\"]}" [message=7]
        result of local_shell ok: "a.rs\n" [message=8, tool_call_id=call_3, args={"type": "exec", "command": ["ls"]}]
        assistant: "Done." [message=9, openai-responses.part={"annotations":[]}, openai-responses.item={"id":"msg_1","status":"completed"}]
        openai-responses web_search_call: "{\"type\": \"web_search_call\", \"id\": \"ws_1\", \"status\": \"completed\"}" [message=10, role=assistant]
        openai-responses request: "{\"model\":\"gpt-5\"}" []
    "#]].assert_eq(&lines(&found.blocks));
    assert_eq!(found.report.warnings, []);
    let back = exported(Provider::OpenAi, &found.blocks);
    expect![[r#"
        {"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"List it."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"dir\": \".\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"a.rs"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_2","type":"custom","custom":{"name":"patch","input":"*** Begin Patch"}}]},{"role":"tool","tool_call_id":"call_2","content":"ok"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_3","type":"function","function":{"name":"local_shell","arguments":"{\"type\": \"exec\", \"command\": [\"ls\"]}"}}]},{"role":"tool","tool_call_id":"call_3","content":"a.rs\n"},{"role":"assistant","content":"Done."}]}
        ExportReport {
            messages: 9,
            calls: 3,
            unanswered: 0,
            orphans: 0,
            empty: 0,
            renamed: 0,
            inserted: 0,
            left_out: {
                "reasoning": 1,
                "request": 1,
                "web_search_call": 1,
            },
        }
    "#]].assert_eq(&format!("{}\n{:#?}\n", back.json(), back.report));
}

#[test]
fn responses_accepts_text_input_and_list_output() {
    let found = imported(Format::OpenAiResponses, r#"{"input": "Hi"}"#);
    assert_eq!(lines(&found.blocks), "user: \"Hi\" [message=0]\n");
    let output = json!({"id": "resp_1", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ho"}]}]});
    let found = imported(Format::OpenAiResponses, &output.to_string());
    assert_eq!(found.report.messages, 1);
}

#[test]
fn audio_is_exported_by_its_id() {
    let text = r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": null,
        "audio": {"id": "audio_1", "data": "AAEC", "transcript": "b", "expires_at": 1}}]"#;
    let back = exported(Provider::OpenAi, &imported(Format::OpenAiChat, text).blocks);
    assert!(back.json().contains(r#""content":null,"audio":{"id":"audio_1"}}"#), "{}", back.json());
}

#[test]
fn empty_messages_are_counted() {
    let text = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": ""},
        {"role": "assistant"}, {"role": "user", "content": "z"}, {"role": "user", "content": []}]"#;
    for format in [Format::OpenAiChat, Format::Anthropic] {
        let report = imported(format, text).report;
        assert_eq!((report.messages, report.skipped.get("empty")), (5, Some(&3)));
    }
}

#[test]
fn empty_null_and_missing_content_of_calls_round_trip() {
    let calls =
        r#""tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]"#;
    for content in [r#""content":"","#, r#""content":null,"#, ""] {
        let text = format!(
            r#"{{"messages":[{{"role":"user","content":"q"}},{{"role":"assistant",{content}{calls}}},{{"role":"tool","tool_call_id":"c","content":"r"}}]}}"#
        );
        let back = exported(Provider::OpenAi, &imported(Format::OpenAiChat, &text).blocks);
        assert_eq!(back.json(), text);
    }
}

//! Histories of agents in the form of each API.

use lcp_gateway::Api;
use serde_json::{Value, json};

/// A step of an agent.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The user says something.
    Turn(String),
    /// The model calls a tool, and gets its output.
    Call { input: String, output: String },
}

/// Returns lines of a file.
pub(crate) fn lines(file: usize, start: usize, end: usize) -> String {
    use std::fmt::Write as _;
    (start..end).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{at:5}→ line {at} of file {file}, with \"quotes\" and größer");
        text
    })
}

/// Returns the request for a history.
pub(crate) fn request(api: Api, steps: &[Step]) -> Vec<u8> {
    let mut messages: Vec<Value> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Turn(text) => messages.push(json!({ "role": "user", "content": text })),
            Step::Call { input, output } => messages.extend(call(api, at, input, output)),
        }
    }
    let tools = json!([{ "name": "read", "x_number": 1.50 }]);
    let mut body = match api {
        Api::OpenAiResponses => json!({ "model": "gpt-5", "tools": tools, "input": messages }),
        Api::OpenAiChat => json!({ "model": "gpt-5", "tools": tools, "messages": messages }),
        Api::Anthropic => {
            let system = json!([{
                "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" },
            }]);
            json!({ "model": "claude-x", "tools": tools, "system": system, "messages": messages })
        }
    };
    if api == Api::Anthropic {
        mark(body["messages"].as_array_mut().unwrap());
    }
    // Spaces that no serializer writes again.
    body.to_string().replacen("\"tools\":", "\"tools\" :  ", 1).into_bytes()
}

fn call(api: Api, at: usize, input: &str, output: &str) -> Vec<Value> {
    let id = format!("call_{at}");
    let arguments = json!({ "path": input });
    match api {
        Api::Anthropic => {
            let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": arguments });
            let thinking =
                json!({ "type": "thinking", "thinking": "Read it.", "signature": "c2ln" });
            let text = json!([{ "type": "text", "text": output }]);
            let content = if at.is_multiple_of(2) { text } else { json!(output) };
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            vec![
                json!({ "role": "assistant", "content": [thinking, call] }),
                json!({ "role": "user", "content": [result] }),
            ]
        }
        Api::OpenAiChat => {
            let function = json!({ "name": "read", "arguments": arguments.to_string() });
            let call = json!({ "id": id, "type": "function", "function": function });
            vec![
                json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
                json!({ "role": "tool", "tool_call_id": id, "content": output }),
            ]
        }
        Api::OpenAiResponses => {
            let arguments = arguments.to_string();
            vec![
                json!({ "type": "reasoning", "encrypted_content": "AAAA", "summary": [] }),
                json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": arguments }),
                json!({ "type": "function_call_output", "call_id": id, "output": output }),
            ]
        }
    }
}

/// Marks the last part of the last message, as Claude Code does.
fn mark(messages: &mut [Value]) {
    let Some(last) = messages.last_mut() else { return };
    if let Some(text) = last["content"].as_str() {
        last["content"] = json!([{ "type": "text", "text": text }]);
    }
    let part = last["content"].as_array_mut().and_then(|parts| parts.last_mut());
    part.unwrap()["cache_control"] = json!({ "type": "ephemeral" });
}

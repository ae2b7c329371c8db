//! Histories of agents in the form of each API.

use lcp_gateway::{Api, Request};
use serde_json::{Value, json};

/// A step of an agent.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The user says something.
    Turn(String),
    /// The model calls a tool, and gets its output.
    Call { input: String, output: String },
    /// The model makes parallel calls. Each has an input and an output.
    Calls(Vec<(String, String)>),
}

impl Step {
    /// Returns the inputs and the outputs of the calls.
    pub(crate) fn calls(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Turn(_) => Vec::new(),
            Self::Call { input, output } => vec![(input, output)],
            Self::Calls(calls) => {
                calls.iter().map(|(input, output)| (&**input, &**output)).collect()
            }
        }
    }
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
            calls => messages.extend(call_messages(api, at, &calls.calls())),
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

/// Returns the messages of a step with calls.
fn call_messages(api: Api, step: usize, calls: &[(&str, &str)]) -> Vec<Value> {
    let calls = calls.iter().enumerate();
    let calls =
        calls.map(|(at, call)| call_and_result(api, step, &format!("call_{step}_{at}"), *call));
    let (calls, results): (Vec<_>, Vec<_>) = calls.unzip();
    match api {
        Api::Anthropic => {
            let content = [thinking(step), calls].concat();
            vec![
                json!({ "role": "assistant", "content": content }),
                json!({ "role": "user", "content": results }),
            ]
        }
        Api::OpenAiChat => {
            let call = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            [vec![call], results].concat()
        }
        Api::OpenAiResponses => {
            let reasoning =
                json!({ "type": "reasoning", "encrypted_content": "AAAA", "summary": [] });
            [vec![reasoning], calls, results].concat()
        }
    }
}

/// Returns a call and its result.
fn call_and_result(
    api: Api,
    step: usize,
    id: &str,
    (input, output): (&str, &str),
) -> (Value, Value) {
    let arguments = json!({ "path": input });
    match api {
        Api::Anthropic => {
            let text = json!([{ "type": "text", "text": output }]);
            let content = if step.is_multiple_of(2) { text } else { json!(output) };
            (
                json!({ "type": "tool_use", "id": id, "name": "read", "input": arguments }),
                json!({ "type": "tool_result", "tool_use_id": id, "content": content }),
            )
        }
        Api::OpenAiChat => {
            let function = json!({ "name": "read", "arguments": arguments.to_string() });
            (
                json!({ "id": id, "type": "function", "function": function }),
                json!({ "role": "tool", "tool_call_id": id, "content": output }),
            )
        }
        Api::OpenAiResponses => {
            let arguments = arguments.to_string();
            (
                json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": arguments }),
                json!({ "type": "function_call_output", "call_id": id, "output": output }),
            )
        }
    }
}

/// Returns the thinking before the calls of a step: zero to two blocks.
fn thinking(step: usize) -> Vec<Value> {
    let mut thinking = vec![
        json!({ "type": "thinking", "thinking": "Read it.", "signature": "c2ln" }),
        json!({ "type": "redacted_thinking", "data": "cmVk" }),
    ];
    thinking.truncate(step % 3);
    thinking
}

/// Returns the parts of a request between the texts of its results.
pub(crate) fn between_results<'b>(request: &Request<'_>, body: &'b [u8]) -> Vec<&'b [u8]> {
    let mut start = 0;
    let places = request.results().into_iter().map(|result| result.place);
    let mut parts: Vec<_> =
        places.map(|place| &body[std::mem::replace(&mut start, place.end)..place.start]).collect();
    parts.push(&body[start..]);
    parts
}

/// Returns the messages of a request without its cache marks.
pub(crate) fn messages(body: &[u8]) -> Vec<Value> {
    fn without_marks(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(without_marks);
            }
            Value::Array(values) => values.iter_mut().for_each(without_marks),
            _ => {}
        }
    }
    let mut body: Value = serde_json::from_slice(body).unwrap();
    let key = if body.get("input").is_some() { "input" } else { "messages" };
    let mut messages = body[key].take();
    without_marks(&mut messages);
    // A cache mark turns a text into a list of parts.
    for message in messages.as_array_mut().unwrap() {
        if let Some(text) = message["content"].as_str() {
            message["content"] = json!([{ "type": "text", "text": text }]);
        }
    }
    messages.as_array().unwrap().clone()
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

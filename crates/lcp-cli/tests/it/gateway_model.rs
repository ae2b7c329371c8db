//! A scripted model in the form of each API, and its provider.

use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::gateway_upstream::{Provider, check, respond};

/// The number of times that an agent is asked to read the file.
pub(crate) const READS: usize = 4;

/// The last words of the model.
pub(crate) const END: &str = "All is read.";

/// Starts a provider for real agents, which answers with these events. Returns it with the rules that
/// requests broke.
pub(crate) fn provider_for_agents(
    reply: impl Fn(&Value) -> Vec<Value> + Send + Sync + 'static,
) -> (Provider, Arc<Mutex<Vec<String>>>) {
    let broken: Arc<Mutex<Vec<String>>> = Arc::default();
    let known = Arc::clone(&broken);
    let provider = Provider::start(move |request, stream| {
        if !request.line.starts_with("POST ") {
            return respond_without_model(stream);
        }
        if let Err(rule) = check(&request.body) {
            known.lock().unwrap().push(format!("{}: {rule}", request.line));
            return respond(stream, "400 Bad Request", "application/json", b"{}");
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        if request.line.contains("/count_tokens") {
            respond(stream, "200 OK", "application/json", b"{\"input_tokens\":1000}");
        } else {
            answer(stream, &reply(&body));
        }
    });
    (provider, broken)
}

/// Answers a request that is not for the model, such as one for the list of models.
pub(crate) fn respond_without_model(stream: &mut TcpStream) {
    respond(stream, "200 OK", "application/json", b"{\"data\":[],\"models\":[]}");
}

/// Writes events as a stream.
pub(crate) fn answer(stream: &mut TcpStream, events: &[Value]) {
    let events: Vec<_> = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
    respond(stream, "200 OK", "text/event-stream", events.concat().as_bytes());
}

/// Returns the number of results, and the tools of a request.
pub(crate) fn progress(body: &Value, kind: &str) -> (usize, Vec<String>) {
    let results = body.to_string().matches(&format!("\"type\":\"{kind}\"")).count();
    let tools = body["tools"].as_array().into_iter().flatten();
    (results, tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
}

/// Returns the events of a model that reads the file several times.
pub(crate) fn anthropic(body: &Value, file: &Path) -> Vec<Value> {
    let (reads, _) = progress(body, "tool_result");
    let call = read_call(body, &format!("toolu_{reads}"), file, 1 + reads);
    let end = json!({ "type": "text", "text": END });
    anthropic_events(body, &[call.filter(|_| reads < READS).unwrap_or(end)])
}

/// Returns a call that reads lines of a file, if the agent has a tool for that.
pub(crate) fn read_call(body: &Value, id: &str, file: &Path, line: usize) -> Option<Value> {
    let (_, tools) = progress(body, "");
    // Of Claude Code and of opencode.
    let mut known = [("Read", "file_path"), ("read", "filePath")].into_iter();
    let (name, path) = known.find(|(name, _)| tools.iter().any(|tool| tool == name))?;
    let input = json!({ path: file, "offset": line, "limit": 150 });
    Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
}

/// Returns the events of a message with these parts.
pub(crate) fn anthropic_events(body: &Value, parts: &[Value]) -> Vec<Value> {
    let is_call = parts.iter().any(|part| part["type"] == "tool_use");
    let reason = if is_call { "tool_use" } else { "end_turn" };
    // Messages with the same id are merged.
    let id = format!("msg_{}", blake3::hash(body.to_string().as_bytes()).to_hex());
    let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 2_000,
        "cache_read_input_tokens": 20_000, "output_tokens": 1 });
    let message = json!({ "id": id, "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage });
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    events.extend(parts.iter().enumerate().flat_map(|(index, part)| part_events(index, part)));
    events.extend([
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ]);
    events
}

/// Returns the events of a part: its start without texts, the texts, and its end.
fn part_events(index: usize, part: &Value) -> Vec<Value> {
    let mut start = part.clone();
    let deltas = match part["type"].as_str().unwrap() {
        "tool_use" => {
            start["input"] = json!({});
            let input = part["input"].to_string();
            vec![json!({ "type": "input_json_delta", "partial_json": input })]
        }
        "text" => {
            start["text"] = "".into();
            vec![json!({ "type": "text_delta", "text": part["text"] })]
        }
        "thinking" => {
            (start["thinking"], start["signature"]) = ("".into(), "".into());
            vec![
                json!({ "type": "thinking_delta", "thinking": part["thinking"] }),
                json!({ "type": "signature_delta", "signature": part["signature"] }),
            ]
        }
        // Redacted thinking arrives at once.
        _ => Vec::new(),
    };
    let mut events =
        vec![json!({ "type": "content_block_start", "index": index, "content_block": start })];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
    );
    events.push(json!({ "type": "content_block_stop", "index": index }));
    events
}

/// Returns the events of a model that prints the file several times.
pub(crate) fn openai(body: &Value, file: &Path) -> Vec<Value> {
    let (reads, _) = progress(body, "function_call_output");
    let call = shell_call(body, &reads.to_string(), file);
    let item = call.filter(|_| reads < READS).unwrap_or_else(|| openai_message("1"));
    openai_events(body, &[item])
}

/// Returns a call that prints a file, if the agent has a tool for that.
pub(crate) fn shell_call(body: &Value, id: &str, file: &Path) -> Option<Value> {
    let (_, tools) = progress(body, "");
    let mut known = ["exec_command", "shell_command", "shell"].into_iter();
    let name = known.find(|name| tools.iter().any(|tool| tool == name))?;
    let command = format!("cat {}", file.display());
    let arguments = match name {
        "exec_command" => json!({ "cmd": command }),
        "shell_command" => json!({ "command": command }),
        _ => json!({ "command": ["sh", "-c", command] }),
    };
    Some(json!({ "type": "function_call", "id": format!("fc_{id}"),
        "call_id": format!("call_{id}"), "name": name, "arguments": arguments.to_string(),
        "status": "completed" }))
}

/// Returns a message with the last words.
pub(crate) fn openai_message(id: &str) -> Value {
    json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant",
        "status": "completed",
        "content": [{ "type": "output_text", "text": END, "annotations": [] }] })
}

/// Returns the events of a response with these items.
pub(crate) fn openai_events(body: &Value, items: &[Value]) -> Vec<Value> {
    // Codex compacts a session whose requests have many tokens.
    let tokens = 8_000 + 1_000 * body["input"].as_array().map_or(1, Vec::len);
    let usage = json!({ "input_tokens": tokens, "input_tokens_details": { "cached_tokens": 8_000 },
        "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": tokens + 5 });
    let response = |status: &str, output: &[Value]| {
        json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": status,
            "model": body["model"], "output": output, "usage": usage, "error": null })
    };
    let created = response("in_progress", &[]);
    let mut events = vec![json!({ "type": "response.created", "response": created })];
    events.extend(items.iter().enumerate().map(|(index, item)| {
        json!({ "type": "response.output_item.done", "output_index": index, "item": item })
    }));
    let completed = response("completed", items);
    events.push(json!({ "type": "response.completed", "response": completed }));
    events
}

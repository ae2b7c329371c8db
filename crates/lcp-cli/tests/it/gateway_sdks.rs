//! The SDKs of Anthropic and `OpenAI` for Python and TypeScript with the gateway, and a provider that checks the rules
//! of the APIs.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use lcp_testkit::python;
use serde_json::{Value, json};

use crate::command::stderr;
use crate::gateway::{project, start};
use crate::gateway_model::{READS, answer, anthropic, openai, progress};
use crate::gateway_upstream::{Message, Provider, check, respond};

/// Unless it is empty, the test fails if there is no Python or no `PyPI`.
const REQUIRED: &str = "LCP_REQUIRE_PYTHON";

#[test]
#[expect(clippy::print_stderr, reason = "it reports what is installed or skipped")]
fn python_sdks_work_with_the_gateway() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let packages = tests.join("../../lcp-transcripts/tests/sdk_types.txt");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gateway-client");
    let python = python::create_venv(&folder, &packages, &mut |step| eprintln!("{step}"));
    let python = match python {
        Ok(python) => python,
        Err(reason) => {
            let is_required = std::env::var_os(REQUIRED).is_some_and(|value| !value.is_empty());
            assert!(!is_required, "{reason}");
            return eprintln!("skipped: {reason}; {REQUIRED}=1 makes this a failure");
        }
    };
    check_client(|url| {
        let mut command = Command::new(&python);
        command.arg(tests.join("gateway_client.py")).arg(url);
        command
    });
}

#[test]
#[ignore = "needs packages from npm: cargo xtask agents"]
fn typescript_sdks_work_with_a_gateway() {
    let packages = std::env::var_os("LCP_AGENTS").expect("run `cargo xtask agents`");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway_client.mjs");
    check_client(|url| {
        let mut command = Command::new("node");
        command.arg(&script).arg(&packages).arg(url);
        command
    });
}

/// Runs a client that has six sessions, each of which reads a file several times.
#[track_caller]
fn check_client(command: impl FnOnce(&str) -> Command) {
    let broken: Arc<Mutex<Vec<String>>> = Arc::default();
    let known = Arc::clone(&broken);
    let provider = Provider::start(move |request, stream| {
        if let Err(rule) = answer_request(request, stream) {
            known.lock().unwrap().push(format!("{}: {rule}", request.line));
        }
    });
    let project = project();
    let (mut gateway, url) = start(&project, &provider.url, "data", &[]);
    let output = command(&url).env("NO_PROXY", "127.0.0.1").output().unwrap();
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    assert_eq!(broken.lock().unwrap()[..], [""; 0]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "all is well");
    // All reads but the first one became references. The sessions with an SDK have the same ids of calls,
    // so each decision is made once and then repeated.
    let stats = project.json(&["proxy", "stats", "--json", "--data", "data"]);
    let total = &stats["total"];
    assert_eq!(total["edits"]["duplicate"], 2 * (READS - 1), "{stats}");
    assert_eq!(total["requests"], 6 * (READS + 1), "{stats}");
    assert_eq!(total["requests_without_usage"], 0, "{stats}");
}

/// Answers a request in the form that it asks for. Returns the rule that it breaks.
fn answer_request(request: &Message, stream: &mut TcpStream) -> Result<(), String> {
    let body: Value = serde_json::from_slice(&request.body).map_err(|error| error.to_string())?;
    if body["model"] == "overloaded" {
        let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
        let body = json!({ "type": "error", "error": error }).to_string();
        respond(stream, "529 Overloaded", "application/json", body.as_bytes());
        return Ok(());
    }
    if let Err(rule) = check(&request.body) {
        respond(stream, "400 Bad Request", "application/json", b"{}");
        return Err(rule);
    }
    let file = Path::new("a.txt");
    let is_stream = body["stream"] == true;
    let (events, whole) = if request.line.contains("/count_tokens") {
        (Vec::new(), json!({ "input_tokens": 1_000 }))
    } else if request.line.contains("/messages") {
        let events = anthropic(&body, file);
        let whole = message(&events);
        (events, whole)
    } else if request.line.contains("/responses") {
        let events = openai(&body, file);
        let whole = events.last().unwrap()["response"].clone();
        (events, whole)
    } else {
        return answer_chat(stream, &body);
    };
    if is_stream {
        answer(stream, &events);
    } else {
        respond(stream, "200 OK", "application/json", whole.to_string().as_bytes());
    }
    Ok(())
}

/// Returns the message of the events of a stream.
fn message(events: &[Value]) -> Value {
    let mut message = events[0]["message"].clone();
    let mut part = events[1]["content_block"].clone();
    let delta = &events[2]["delta"];
    if let Some(input) = delta["partial_json"].as_str() {
        part["input"] = serde_json::from_str(input).unwrap();
    } else {
        part["text"] = delta["text"].clone();
    }
    message["content"] = json!([part]);
    message["stop_reason"] = events[4]["delta"]["stop_reason"].clone();
    message
}

fn answer_chat(stream: &mut TcpStream, body: &Value) -> Result<(), String> {
    let results = body["messages"].as_array().ok_or("no messages")?;
    let reads = results.iter().filter(|message| message["role"] == "tool").count();
    let (_, tools) = progress(body, "function");
    if tools.is_empty() && body["tools"][0]["function"]["name"] != "shell" {
        return Err("no tools".to_owned());
    }
    let is_stream = body["stream"] == true;
    let usage = json!({ "prompt_tokens": 9_000, "completion_tokens": 5, "total_tokens": 9_005,
        "prompt_tokens_details": { "cached_tokens": 8_000 } });
    let mut call = json!({ "id": format!("call_{reads}"), "type": "function",
        "function": { "name": "shell", "arguments": "{\"file_path\":\"a.txt\"}" } });
    if is_stream {
        call["index"] = 0.into();
    }
    let (part, reason) = if reads < READS {
        (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
    } else {
        (json!({ "role": "assistant", "content": "All is read." }), "stop")
    };
    let object = |object: &str, choices: Value, usage: &Value| {
        json!({ "id": "c1", "object": object, "created": 1, "model": body["model"],
            "choices": choices, "usage": usage })
    };
    if is_stream {
        let kind = "chat.completion.chunk";
        let choices = json!([{ "index": 0, "delta": part, "finish_reason": null }]);
        let end = json!([{ "index": 0, "delta": {}, "finish_reason": reason }]);
        let chunks = [
            object(kind, choices, &Value::Null),
            object(kind, end, &Value::Null),
            object(kind, json!([]), &usage),
        ];
        let mut text: String = chunks
            .iter()
            .flat_map(|it| ["data: ".to_owned(), it.to_string(), "\n\n".to_owned()])
            .collect();
        text.push_str("data: [DONE]\n\n");
        respond(stream, "200 OK", "text/event-stream", text.as_bytes());
    } else {
        let choices = json!([{ "index": 0, "message": part, "finish_reason": reason }]);
        let whole = object("chat.completion", choices, &usage);
        respond(stream, "200 OK", "application/json", whole.to_string().as_bytes());
    }
    Ok(())
}

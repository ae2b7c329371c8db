//! The SDKs of Anthropic and `OpenAI` for Python and TypeScript with the gateway, and a provider that checks the rules
//! of the APIs.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use lcp_testkit::python;
use serde_json::{Value, json};

use crate::command::{LCP, stderr};
use crate::gateway::start;
use crate::gateway_agents::forward;
use crate::gateway_model::{END, READS, answer, anthropic_events, openai_events, openai_message};
use crate::gateway_upstream::{Message, Provider, check, respond};

/// The prompt of the sessions in which the model reads a file again.
const REPEATED: &str = "Read a.txt again.";

/// Unless it is empty, the test fails if there is no npm.
const NODE_REQUIRED: &str = "LCP_REQUIRE_NODE";

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
    check_client(false, |url| {
        let mut command = Command::new(&python);
        command.arg(tests.join("gateway_client.py")).arg(url);
        command
    });
}

#[test]
#[expect(clippy::print_stderr, reason = "it reports what is skipped")]
fn typescript_sdks_work_with_the_gateway() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gateway-client-npm");
    if let Err(reason) = install_packages(&tests.join("gateway_client"), &packages) {
        let is_required = std::env::var_os(NODE_REQUIRED).is_some_and(|value| !value.is_empty());
        assert!(!is_required, "{reason}");
        return eprintln!("skipped: {reason}; {NODE_REQUIRED}=1 makes this a failure");
    }
    check_client(true, |url| {
        let mut command = Command::new("node");
        command.arg(tests.join("gateway_client.mjs")).arg(&packages).arg(url);
        command
    });
}

/// Installs the packages of a lock file, unless the folder has them.
fn install_packages(from: &Path, folder: &Path) -> Result<(), String> {
    let lock = std::fs::read(from.join("package-lock.json")).map_err(|error| error.to_string())?;
    let installed = folder.join("installed.json");
    if std::fs::read(&installed).is_ok_and(|known| known == lock) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for name in ["package.json", "package-lock.json"] {
        std::fs::copy(from.join(name), folder.join(name)).map_err(|error| error.to_string())?;
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(npm);
    command.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(folder);
    python::output(&mut command)?;
    std::fs::write(installed, lock).map_err(|error| error.to_string())
}

/// Runs a client that has two sessions with each API and with each kind of response: one in which the model reads
/// a file again and again, and one in which it reads different files. If `is_recorded`, the bytes of its requests
/// are compared with those that the gateway sends.
#[track_caller]
fn check_client(is_recorded: bool, command: impl FnOnce(&str) -> Command) {
    let broken: Arc<Mutex<Vec<String>>> = Arc::default();
    let known = Arc::clone(&broken);
    let provider = Provider::start(move |request, stream| {
        if let Err(rule) = answer_request(request, stream) {
            known.lock().unwrap().push(format!("{}: {rule}", request.line));
        }
    });
    let project = LCP.project("");
    let (mut gateway, url) = start(&project, &provider.url, "data", &[]);
    let gateway_url = url.clone();
    let recorder = Provider::start(move |request, stream| {
        let response = forward(request, &gateway_url);
        let (_, status) = response.line.split_once(' ').unwrap();
        respond(stream, status, response.header("content-type").unwrap(), &response.body);
    });
    let mut command = command(if is_recorded { &recorder.url } else { &url });
    let output = command.env("NO_PROXY", "127.0.0.1").output().unwrap();
    assert_eq!(broken.lock().unwrap()[..], [""; 0]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "all is well");
    let turns = |provider: &Provider| -> Vec<Message> {
        let is_turn = |it: &Message| !it.line.contains("/count_tokens");
        provider.requests().into_iter().filter(is_turn).collect()
    };
    let sent = turns(&provider);
    let (mut references, mut requests) = (0, 0);
    for request in &sent {
        let body = String::from_utf8_lossy(&request.body);
        let is_edited = body.contains("[lcp: ");
        assert!(!is_edited || body.contains(REPEATED), "{}", request.line);
        references += usize::from(is_edited);
        requests += usize::from(!body.contains("overloaded"));
    }
    // The third request of a session is the first one with a second read.
    assert_eq!((references, requests), (6 * (READS - 1), 12 * (READS + 1)));
    if is_recorded {
        let received = turns(&recorder);
        let changed =
            received.iter().zip(&sent).filter(|(before, after)| before.body != after.body);
        assert_eq!((changed.count(), received.len()), (references, sent.len()));
    }
    // The gateway records a request when its response has ended.
    let stats = || project.json(&["proxy", "stats", "--json", "--data", "data"])["total"].clone();
    while stats()["requests"] != requests {
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(gateway.try_wait().unwrap(), None);
    }
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    // All sessions have the same ids of calls, so each decision is made once and then repeated.
    assert_eq!(stats()["edits"]["duplicate"], READS - 1);
    assert_eq!(stats()["requests_without_usage"], 0);
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
    let (events, message) = if request.line.contains("/count_tokens") {
        (Vec::new(), json!({ "input_tokens": 1_000 }))
    } else if request.line.contains("/messages") {
        let parts = anthropic_parts(&body);
        let events = anthropic_events(&body, &parts);
        let mut message = events[0]["message"].clone();
        message["content"] = parts.into();
        let end = events.iter().find(|event| event["type"] == "message_delta").unwrap();
        message["stop_reason"] = end["delta"]["stop_reason"].clone();
        (events, message)
    } else if request.line.contains("/responses") {
        let events = openai_events(&body, &openai_items(&body));
        let response = events.last().unwrap()["response"].clone();
        (events, response)
    } else {
        return answer_chat(stream, &body);
    };
    if body["stream"] == true {
        answer(stream, &events);
    } else {
        respond(stream, "200 OK", "application/json", message.to_string().as_bytes());
    }
    Ok(())
}

/// Returns two parallel calls, each as an id and its arguments, or `None` after the last ones. `kind` marks a
/// result in the body.
fn next_calls(body: &Value, kind: &str) -> Option<[(String, Value); 2]> {
    let body = body.to_string();
    let round = body.matches(kind).count() / 2;
    let first = if body.contains(REPEATED) { String::new() } else { round.to_string() };
    let files = [format!("{first}a.txt"), format!("{round}b.txt")];
    let mut number = 0;
    let calls = files.map(|file| {
        number += 1;
        (format!("call_{round}_{number}"), json!({ "file_path": file }))
    });
    (round < READS).then_some(calls)
}

/// Returns the parts of a message of Anthropic's API.
fn anthropic_parts(body: &Value) -> Vec<Value> {
    let mut parts = vec![
        json!({ "type": "thinking", "thinking": "Read it.", "signature": "c2ln" }),
        json!({ "type": "redacted_thinking", "data": "cmVk" }),
    ];
    match next_calls(body, "\"type\":\"tool_result\"") {
        Some(calls) => parts.extend(calls.map(
            |(id, input)| json!({ "type": "tool_use", "id": id, "name": "Read", "input": input }),
        )),
        None => parts.push(json!({ "type": "text", "text": END })),
    }
    parts
}

/// Returns the items of a response of `OpenAI`'s Responses API.
fn openai_items(body: &Value) -> Vec<Value> {
    let id = body["input"].as_array().map_or(0, Vec::len);
    let mut items = vec![
        json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [], "encrypted_content": "AAAA" }),
    ];
    match next_calls(body, "\"type\":\"function_call_output\"") {
        Some(calls) => items.extend(calls.map(|(id, input)| {
            json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                "name": "shell", "arguments": input.to_string(), "status": "completed" })
        })),
        None => items.push(openai_message(&id.to_string())),
    }
    items
}

fn answer_chat(stream: &mut TcpStream, body: &Value) -> Result<(), String> {
    if body["tools"][0]["function"]["name"] != "shell" {
        return Err("no tools".to_owned());
    }
    let is_stream = body["stream"] == true;
    let usage = json!({ "prompt_tokens": 9_000, "completion_tokens": 5, "total_tokens": 9_005,
        "prompt_tokens_details": { "cached_tokens": 8_000 } });
    let call = |(at, (id, input)): (usize, (String, Value))| {
        let function = json!({ "name": "shell", "arguments": input.to_string() });
        let mut call = json!({ "id": id, "type": "function", "function": function });
        if is_stream {
            call["index"] = at.into();
        }
        call
    };
    let (part, reason) = match next_calls(body, "\"role\":\"tool\"") {
        Some(calls) => {
            let calls: Vec<_> = calls.into_iter().enumerate().map(call).collect();
            (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
        }
        None => (json!({ "role": "assistant", "content": END }), "stop"),
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

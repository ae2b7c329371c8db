//! A small client over the pipes of a server.

#![allow(clippy::needless_pass_by_value, reason = "arguments are written where they are sent")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::command::LCP;

/// How long a server that hangs is waited for.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client whose server runs.
pub(super) struct Client {
    server: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<Value>,
    /// Answers that nobody asked for yet.
    early: BTreeMap<u64, Value>,
    next: u64,
}

impl Client {
    /// Starts the program and greets it.
    pub(super) fn start(arguments: &[&str]) -> Self {
        let mut server = LCP
            .command(Path::new("."), arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, answers) = channel();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let answer = serde_json::from_str(&line).expect("nothing but the protocol");
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        let requests = server.stdin.take();
        let mut client = Self { server, requests, answers, early: BTreeMap::new(), next: 0 };
        let about = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        });
        let welcome = client.ask("initialize", about);
        assert_eq!(welcome["serverInfo"]["name"], "lcp", "{welcome}");
        client.notify("notifications/initialized", &json!({}));
        client
    }

    /// Sends a request, and gives its id.
    pub(super) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.write(&json!({
            "jsonrpc": "2.0", "id": self.next, "method": method, "params": params,
        }));
        self.next
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// What a request is answered.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, &params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that has one.
    #[track_caller]
    pub(super) fn error(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, &params);
        assert!(answer.get("error").is_some(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// What a tool gives.
    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The facts of a call that succeeds, and its text if it has one.
    #[track_caller]
    pub(super) fn facts(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        facts_of(&result)
    }

    /// What is wrong with a call that fails.
    #[track_caller]
    pub(super) fn fault(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        facts_of(&result)
    }

    /// Whether a request has been answered by now.
    pub(super) fn answered(&self, id: u64) -> bool {
        self.early.contains_key(&id)
    }

    /// Ends the input; the exit code.
    pub(super) fn end(&mut self) -> Option<i32> {
        self.requests = None;
        self.server.wait().unwrap().code()
    }

    fn answer(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return answer;
            }
            let answer = self.answers.recv_timeout(TIMEOUT).expect("an answer");
            if let Some(id) = answer["id"].as_u64() {
                self.early.insert(id, answer);
            }
        }
    }

    fn write(&mut self, message: &Value) {
        let requests = self.requests.as_mut().unwrap();
        writeln!(requests, "{message}").unwrap();
        requests.flush().unwrap();
    }
}

/// The facts of a result, with its text as `text`.
#[track_caller]
pub(super) fn facts_of(result: &Value) -> Value {
    assert_eq!(result.get("structuredContent"), None, "{result}");
    let parts = result["content"].as_array().unwrap();
    let json = parts.last().unwrap()["text"].as_str().unwrap();
    let mut facts: Value = serde_json::from_str(json).unwrap();
    assert_eq!(facts.get("text"), None, "{facts}");
    if let [text, _] = &parts[..] {
        facts["text"] = text["text"].clone();
    }
    facts
}

impl Drop for Client {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.server.wait();
    }
}

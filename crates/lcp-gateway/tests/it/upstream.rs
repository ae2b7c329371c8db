//! A provider that checks the rules of the APIs, and a client, both over plain sockets.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// A request as it arrived, or a response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// The first line.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The body, without the framing of chunks.
    pub(crate) body: Vec<u8>,
    /// `true` if the body ended as its headers say.
    pub(crate) is_complete: bool,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        self.line.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Reads a message. Returns `None` at the end of the connection.
    fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut message = Self::default();
        stream.read_line(&mut message.line).ok().filter(|read| *read > 0)?;
        message.line = message.line.trim_end().to_owned();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            message.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        message.is_complete = message.read_body(stream).is_some();
        Some(message)
    }

    fn read_body(&mut self, stream: &mut BufReader<TcpStream>) -> Option<()> {
        if let Some(length) = self.header("content-length").map(|it| it.parse().unwrap()) {
            let wanted: u64 = length;
            stream.by_ref().take(wanted).read_to_end(&mut self.body).ok()?;
            return (self.body.len() as u64 == wanted).then_some(());
        }
        if self.header("transfer-encoding") != Some("chunked") {
            return Some(());
        }
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).ok().filter(|read| *read > 0)?;
            let size = u64::from_str_radix(size.trim_end(), 16).ok()?;
            let before = self.body.len() as u64;
            stream.by_ref().take(size).read_to_end(&mut self.body).ok()?;
            (self.body.len() as u64 == before + size).then_some(())?;
            stream.read_line(&mut String::new()).ok().filter(|read| *read > 0)?;
            if size == 0 {
                return Some(());
            }
        }
    }
}

/// A provider on loopback.
pub(crate) struct Provider {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Message>>>,
}

/// Writes the response to a request.
pub(crate) type Respond = dyn Fn(&Message, &mut TcpStream) + Send + Sync;

impl Provider {
    pub(crate) fn start(
        respond: impl Fn(&Message, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Message>>> = Arc::default();
        let (known, respond): (_, Arc<Respond>) = (Arc::clone(&requests), Arc::new(respond));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (known, respond) = (Arc::clone(&known), Arc::clone(&respond));
                std::thread::spawn(move || {
                    let mut writer = stream.try_clone().unwrap();
                    let mut reader = BufReader::new(stream);
                    while let Some(request) = Message::read(&mut reader) {
                        known.lock().unwrap().push(request.clone());
                        respond(&request, &mut writer);
                        if request.header("x-test-close").is_some() {
                            let _ = writer.shutdown(std::net::Shutdown::Both);
                            return;
                        }
                    }
                });
            }
        });
        Self { url, requests }
    }

    /// Starts a provider that refuses requests which break a rule, and answers others with a usage.
    pub(crate) fn strict() -> Self {
        Self::start(|request, stream| match check(&request.body) {
            Ok(()) => {
                let usage = json!({ "input_tokens": 7, "cache_creation_input_tokens": 100,
                    "cache_read_input_tokens": 1_000, "output_tokens": 5 });
                let body = json!({ "type": "message", "content": [], "usage": usage });
                respond(stream, "200 OK", "application/json", body.to_string().as_bytes());
            }
            Err(rule) => {
                respond(stream, "400 Bad Request", "application/json", rule.as_bytes());
            }
        })
    }

    pub(crate) fn requests(&self) -> Vec<Message> {
        self.requests.lock().unwrap().clone()
    }
}

/// Writes a complete response.
pub(crate) fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nrequest-id: req_1\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
}

/// Sends a request on a new connection. Returns the response.
pub(crate) fn send(url: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Message {
    send_as("POST", url, target, headers, body)
}

pub(crate) fn send_as(
    method: &str,
    url: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Message {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host.parse::<SocketAddr>().unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\n");
    head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    head.extend([format!("content-length: {}\r\n\r\n", body.len())]);
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    Message::read(&mut BufReader::new(stream)).unwrap()
}

/// Checks the rules of an API. Returns the rule that a request breaks.
pub(crate) fn check(body: &[u8]) -> Result<(), String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let list = |key: &str| body[key].as_array().cloned();
    match (list("input"), list("messages")) {
        (Some(items), _) => check_responses(&items),
        (_, Some(messages)) if body["model"].as_str().unwrap().starts_with("claude") => {
            check_marks(&body)?;
            check_anthropic(&messages)
        }
        (_, Some(messages)) => check_chat(&messages),
        _ => Err("no messages".to_owned()),
    }
}

/// At most four marks, those of an hour first, in the order of the cache.
fn check_marks(body: &Value) -> Result<(), String> {
    fn collect(value: &Value, marks: &mut Vec<bool>) {
        match value {
            Value::Object(fields) => {
                if let Some(mark) = fields.get("cache_control") {
                    marks.push(mark["ttl"] == "1h");
                }
                fields.values().for_each(|value| collect(value, marks));
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, marks)),
            _ => {}
        }
    }
    let mut marks = Vec::new();
    for key in ["tools", "system", "messages"] {
        collect(&body[key], &mut marks);
    }
    if marks.len() > 4 {
        return Err(format!("{} blocks with cache_control", marks.len()));
    }
    if marks.windows(2).any(|pair| !pair[0] && pair[1]) {
        return Err("ttl 1h must not come after 5m".to_owned());
    }
    Ok(())
}

fn parts(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(parts) => parts.clone(),
        text => vec![json!({ "type": "text", "text": text })],
    }
}

fn check_anthropic(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let parts = parts(message);
        let of_kind = |kind: &str, key: &str| -> Vec<String> {
            let parts = parts.iter().filter(|part| part["type"] == kind);
            parts.map(|part| part[key].as_str().unwrap().to_owned()).collect()
        };
        let results = of_kind("tool_result", "tool_use_id");
        let (mut wanted, mut given) = (open, results.clone());
        wanted.sort();
        given.sort();
        if wanted != given {
            return Err(format!("tool_use {wanted:?} with tool_result {given:?}"));
        }
        if parts.iter().take(results.len()).any(|part| part["type"] != "tool_result") {
            return Err("tool_result blocks must come first".to_owned());
        }
        for part in &parts {
            check_text(part)?;
            // The signature is that of the text, so a change of either breaks it.
            if part["type"] == "thinking"
                && (part["thinking"] != "Read it." || part["signature"] != "c2ln")
            {
                return Err("thinking blocks cannot be modified".to_owned());
            }
            if part["type"] == "redacted_thinking" && part["data"] != "cmVk" {
                return Err("redacted_thinking blocks cannot be modified".to_owned());
            }
        }
        open = of_kind("tool_use", "id");
    }
    if open.is_empty() { Ok(()) } else { Err(format!("no results of {open:?}")) }
}

fn check_text(part: &Value) -> Result<(), String> {
    let texts = std::iter::once(part).chain(part["content"].as_array().into_iter().flatten());
    let mut texts = texts.filter(|part| part["type"] == "text");
    if texts.any(|part| part["text"] == "") || part["content"] == "" {
        return Err("text content blocks must be non-empty".to_owned());
    }
    Ok(())
}

fn check_chat(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let at = open.iter().position(|id| *id == message["tool_call_id"]);
            open.remove(at.ok_or("a tool message without its call")?);
        } else if !open.is_empty() {
            return Err(format!("no results of {open:?}"));
        }
        let calls = message["tool_calls"].as_array();
        open.extend(calls.into_iter().flatten().map(|call| call["id"].clone()));
    }
    if open.is_empty() { Ok(()) } else { Err(format!("no results of {open:?}")) }
}

fn check_responses(items: &[Value]) -> Result<(), String> {
    let mut open: Vec<&Value> = Vec::new();
    for item in items {
        if item["type"] == "function_call" {
            open.push(&item["call_id"]);
        } else if item["type"] == "function_call_output" {
            let at = open.iter().position(|id| **id == item["call_id"]);
            open.remove(at.ok_or("an output without its call")?);
        } else if item["type"] == "reasoning" && item["encrypted_content"] != "AAAA" {
            return Err("reasoning items cannot be modified".to_owned());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("no results of {open:?}")) }
}

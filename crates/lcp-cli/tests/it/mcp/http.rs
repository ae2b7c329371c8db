//! The server over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::json;

use super::Place;
use crate::command::{LCP, run};

/// A server, ended with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(place: &Place, address: &str) -> Self {
        Self::start_with(place, address, &[], &[])
    }

    fn start_with(
        place: &Place,
        address: &str,
        flags: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let (root, store) = (place.text("root"), place.text("sessions.sqlite"));
        let arguments = ["mcp", "--http", address, "--root", &root, "--store", &store];
        let mut command = LCP.command(Path::new("."), &[&arguments[..], flags].concat());
        let command = command.envs(environment.iter().copied()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        let address = said.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { child, address }
    }

    /// The whole answer to a request, after which the connection ends.
    fn ask(&self, method: &str, path: &str, more: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n{more}\r\n{body}",
            self.address,
            body.len(),
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The status and the rest of what a greeting is answered.
    fn greet(&self, host: &str, more: &str) -> (u16, String) {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        }})
        .to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{more}\r\n{body}",
            body.len(),
        )
        .unwrap();
        let mut answer = BufReader::new(stream);
        let mut status = String::new();
        answer.read_line(&mut status).unwrap();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        let mut seen = String::new();
        // A stream of events stays open.
        while !seen.contains("serverInfo") && !seen.contains("orbidden") {
            let mut bytes = [0; 512];
            match answer.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(read) => seen += &String::from_utf8_lossy(&bytes[..read]),
            }
        }
        (status, seen)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn foreign_hosts_and_origins_are_forbidden() {
    let place = Place::new();
    let server = Server::start(&place, "127.0.0.1:0");
    let here = server.address.clone();
    let (status, seen) = server.greet(&here, "");
    assert_eq!(status, 200, "{seen}");
    assert!(seen.contains("\"name\":\"lcp\""), "{seen}");
    let same = format!("Origin: http://{here}\r\n");
    assert_eq!(server.greet(&here, &same).0, 200);
    let port = here.rsplit(':').next().unwrap();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1"] {
        assert_eq!(server.greet(host, "").0, 403, "{host}");
    }
    for origin in ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1"] {
        let origin = format!("Origin: {origin}\r\n");
        assert_eq!(server.greet(&here, &origin).0, 403, "{origin}");
    }
}

/// All of 127.0.0.0/8 is this machine, where the system lets it.
#[cfg(target_os = "linux")]
#[test]
fn other_loopback_address_is_served() {
    let place = Place::new();
    let server = Server::start(&place, "127.0.0.2:0");
    let here = server.address.clone();
    assert!(here.starts_with("127.0.0.2:"), "{here}");
    let own = format!("Origin: http://{here}\r\n");
    assert_eq!(server.greet(&here, &own).0, 200);
    let port = here.rsplit(':').next().unwrap();
    for host in [&format!("127.0.0.3:{port}"), "127.0.0.2:1", &format!("evil.example:{port}")] {
        assert_eq!(server.greet(host, "").0, 403, "{host}");
    }
    let foreign = format!("Origin: http://127.0.0.3:{port}\r\n");
    assert_eq!(server.greet(&here, &foreign).0, 403);
}

#[test]
fn binding_a_non_loopback_address_is_a_usage_error() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:80", "80"] {
        let output = run(&["mcp", "--http", address]);
        assert_eq!(output.status.code(), Some(2), "{address}");
    }
}

#[test]
fn token_of_flag_or_environment_is_required() {
    let place = Place::new();
    for (flags, environment) in [
        (&["--token", "a-token"][..], &[][..]),
        (&[], &[("LCP_TOKEN", "a-token")]),
        (&["--token", "a-token"], &[("LCP_TOKEN", "another")]),
    ] {
        let server = Server::start_with(&place, "127.0.0.1:0", flags, environment);
        let here = server.address.clone();
        for wrong in ["", "Authorization: Bearer another\r\n"] {
            assert_eq!(server.greet(&here, wrong).0, 401, "{flags:?} {environment:?} {wrong}");
            assert!(server.ask("GET", "/metrics", wrong, "").starts_with("HTTP/1.1 401 "));
        }
        assert_eq!(server.greet(&here, "Authorization: Bearer a-token\r\n").0, 200);
    }
}

#[test]
fn bad_tokens_are_usage_errors() {
    for (flags, environment) in [
        (&["--http", "127.0.0.1:0", "--token", ""][..], ""),
        (&["--http", "127.0.0.1:0"], ""),
        (&["--http", "127.0.0.1:0"], "two words"),
        // Without HTTP, no request has a token.
        (&["--token", "a-token"], "a-token"),
    ] {
        let arguments = [&["mcp"], flags].concat();
        let mut command = LCP.command(Path::new("."), &arguments);
        let output = command.env("LCP_TOKEN", environment).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?} {environment:?} {output:?}");
    }
}

#[test]
fn metrics_are_served_for_prometheus() {
    let place = Place::new();
    let server = Server::start(&place, "127.0.0.1:0");
    let message = |method: &str, params: &serde_json::Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    });
    let greeted = server.ask("POST", "/mcp", "", &message("initialize", &hello));
    let id = greeted.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    let session = format!("{id}\r\n");
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    server.ask("POST", "/mcp", &session, ready);
    let call = |tool: &str, arguments: serde_json::Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        server.ask("POST", "/mcp", &session, &message("tools/call", &params))
    };
    let said = json!([{ "role": "user", "text": "Fix the parser." }]);
    let used = json!({
        "conversation": "c", "messages": said, "input_tokens": 900, "window": 1000,
    });
    let recorded = call("record_usage", used);
    assert!(recorded.contains("utilization_percent"), "{recorded}");
    call("handoff", json!({ "conversation": "c", "force": true }));
    call("render", json!({ "pack": "session.lcp", "budget": 500 }));
    call("render", json!({ "pack": "nothing.lcp" }));

    let metrics = server.ask("GET", "/metrics", "", "");
    let (head, metrics) = metrics.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/plain"), "{head}");
    for line in [
        "Agents_Continuity_TokenUsage{conversation=\"c\"} 900",
        "Agents_Continuity_Utilization_bucket{le=\"0.85\"} 0",
        "Agents_Continuity_Utilization_bucket{le=\"0.95\"} 1",
        "Agents_Continuity_HandoffsTriggered 1",
        "lcp_mcp_calls_total{tool=\"record_usage\",outcome=\"ok\"} 1",
        "lcp_mcp_calls_total{tool=\"render\",outcome=\"ok\"} 1",
        "lcp_mcp_calls_total{tool=\"render\",outcome=\"io\"} 1",
        "lcp_mcp_sessions 1",
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line} in {metrics}");
    }
    assert!(metrics.contains("Agents_Compression_Budget_TotalAllocated "), "{metrics}");
    // The previous connection may not be closed yet.
    assert!(metrics.contains("\nlcp_mcp_connections "), "{metrics}");
    assert!(server.ask("POST", "/metrics", "", "").starts_with("HTTP/1.1 404 "));
    assert!(server.ask("GET", "/", "", "").starts_with("HTTP/1.1 404 "));
}

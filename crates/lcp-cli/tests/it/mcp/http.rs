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
        let arguments = ["mcp", "--http", address, "--root", &place.text("root")];
        let mut child =
            LCP.command(Path::new("."), &arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        let address = said.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { child, address }
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

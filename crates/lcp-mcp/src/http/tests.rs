//! Limits and access, over real connections.

use std::io::{ErrorKind as IoErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use tokio::runtime::Runtime;

use super::*;
use crate::server::tests::{hold_calls, server};

/// The wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// The wait for something that must not happen.
const MOMENT: Duration = Duration::from_millis(100);

/// A time limit that is reached in each test that waits for it.
const SHORT: Duration = Duration::from_millis(50);

/// Limits that no test reaches.
const WIDE: Limits = Limits {
    connections: ConnectionLimits {
        count: 16,
        headers: PATIENCE,
        reads: PATIENCE,
        ..LIMITS.connections
    },
    sessions: 16,
    body: PATIENCE,
};

struct TestServer {
    runtime: Runtime,
    server: Server,
    address: SocketAddr,
}

impl TestServer {
    fn start(limits: Limits, token: Option<&str>) -> Self {
        let (runtime, server) = (start_runtime().unwrap(), server());
        let free = "127.0.0.1:0".parse().unwrap();
        let (listener, address) = runtime.block_on(bind(free)).unwrap();
        let token = token.map(|token| token.parse().unwrap());
        let endpoint = endpoint(server.clone(), address, token, limits);
        runtime.spawn(serve(listener, endpoint, limits.connections));
        Self { runtime, server, address }
    }

    /// Connects and sends the beginning of a request.
    fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Returns a request of the protocol.
    fn request(&self, headers: &str, message: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n\
             {message}",
            self.address,
            message.len(),
        )
    }

    /// Sends a message within a session. Returns the status.
    fn post(&self, session: &str, message: &str) -> u16 {
        let headers = format!("Mcp-Session-Id: {session}\r\n");
        status(&head(&mut self.send(&self.request(&headers, message))))
    }

    /// Starts a session. Returns its id, or the status if the server refuses.
    fn begin(&self) -> Result<String, u16> {
        let head = head(&mut self.send(&self.request("", INITIALIZE)));
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        id.map(str::to_owned).ok_or_else(|| status(&head))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let runtime = std::mem::replace(&mut self.runtime, start_runtime().unwrap());
        runtime.shutdown_background();
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{
    "name":"count","arguments":{"texts":["a"]}}}"#;

/// Reads the head of a response, in lower case; it is empty if the connection ends before.
fn head(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => read.push(byte[0]),
            Ok(_) => break,
            Err(error) if error.kind() == IoErrorKind::ConnectionReset => break,
            Err(error) => panic!("no response: {error}"),
        }
    }
    String::from_utf8(read).unwrap().to_ascii_lowercase()
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[test]
fn only_loopback_addresses_are_accepted() {
    for yes in ["127.0.0.1:0", "127.1.2.3:80", "[::1]:8765", "localhost:1"] {
        assert!(loopback(yes).is_ok(), "{yes}");
    }
    let no = ["0.0.0.0:80", "[::]:80", "192.168.0.1:80", "8.8.8.8:80", "127.0.0.1", "host:80", ""];
    for no in no {
        assert!(loopback(no).is_err(), "{no}");
    }
}

#[test]
fn unfinished_headers_and_idle_connections_are_closed() {
    let server = TestServer::start(
        Limits { connections: ConnectionLimits { headers: SHORT, ..WIDE.connections }, ..WIDE },
        None,
    );
    for unfinished in ["", "POST /mcp HTTP/1.1\r\nHost: "] {
        assert_eq!(head(&mut server.send(unfinished)), "", "{unfinished:?}");
    }
    let mut idle = server.send(&server.request("", INITIALIZE));
    assert_eq!(status(&head(&mut idle)), 200);
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8(rest).unwrap().contains("serverInfo"));
}

#[test]
fn unfinished_and_oversized_bodies_are_refused() {
    let server = TestServer::start(Limits { body: SHORT, ..WIDE }, None);
    let request = server.request("", INITIALIZE);
    let mut slow = server.send(&request[..request.len() - 1]);
    assert_eq!(status(&head(&mut slow)), 408);
    let mut rest = String::new();
    slow.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "Request Timeout");

    let server = TestServer::start(WIDE, None);
    let long = server.request("", INITIALIZE);
    let long = long.replace(&format!(": {}\r", INITIALIZE.len()), ": 999999999\r");
    assert_eq!(status(&head(&mut server.send(&long))), 413);
}

#[test]
fn connection_whose_client_reads_nothing_is_closed() {
    let server = TestServer::start(
        Limits { connections: ConnectionLimits { reads: SHORT, ..WIDE.connections }, ..WIDE },
        None,
    );
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let mut stream = server.send(&request);
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let requests = request.repeat(1_000);
    let error = loop {
        if let Err(error) = stream.write_all(requests.as_bytes()) {
            break error;
        }
    };
    let closed = [IoErrorKind::BrokenPipe, IoErrorKind::ConnectionReset];
    assert!(closed.contains(&error.kind()), "{error}");
}

#[test]
fn connection_beyond_the_limit_waits_for_a_place() {
    let server = TestServer::start(
        Limits { connections: ConnectionLimits { count: 2, ..WIDE.connections }, ..WIDE },
        None,
    );
    let request = server.request("", INITIALIZE);
    let mut open = [(); 2].map(|()| server.send(&request));
    for stream in &mut open {
        assert_eq!(status(&head(stream)), 200);
    }
    let mut waiting = server.send(&request);
    waiting.set_read_timeout(Some(MOMENT)).unwrap();
    let error = waiting.read(&mut [0]).unwrap_err();
    assert!([IoErrorKind::WouldBlock, IoErrorKind::TimedOut].contains(&error.kind()), "{error}");
    waiting.set_read_timeout(Some(PATIENCE)).unwrap();
    drop(open);
    assert_eq!(status(&head(&mut waiting)), 200);
}

#[test]
fn new_session_ends_the_oldest_idle_one() {
    let server = TestServer::start(Limits { sessions: 2, ..WIDE }, None);
    let [first, second] = [(); 2].map(|()| server.begin().unwrap());
    assert_eq!(server.post(&first, INITIALIZED), 202);
    let third = server.begin().unwrap();
    assert_eq!(server.post(&second, INITIALIZED), 404);
    assert_eq!(server.post(&third, INITIALIZED), 202);
    assert_eq!(server.post(&first, INITIALIZED), 202);

    // The third session is older than the first, but has a running call.
    let _held = hold_calls(&server.server);
    let call = |session: &str| {
        let headers = format!("Mcp-Session-Id: {session}\r\n");
        let mut stream = server.send(&server.request(&headers, CALL));
        assert_eq!(status(&head(&mut stream)), 200);
        stream
    };
    let _running = call(&third);
    assert_eq!(server.post(&first, INITIALIZED), 202);
    let fourth = server.begin().unwrap();
    assert_eq!(server.post(&first, INITIALIZED), 404);
    assert_eq!(server.post(&third, INITIALIZED), 202);

    let _running_too = call(&fourth);
    assert_eq!(server.begin(), Err(500));
    assert_eq!(server.post(&fourth, INITIALIZED), 202);
}

#[test]
fn requests_need_the_token() {
    let server = TestServer::start(WIDE, Some("a-token"));
    let answer = |headers: &str| head(&mut server.send(&server.request(headers, INITIALIZE)));
    for wrong in ["", "Authorization: Bearer\r\n", "Authorization: Bearer a-toke\r\n"] {
        let refusal = answer(wrong);
        assert_eq!(status(&refusal), 401, "{wrong:?}");
        assert!(refusal.contains("www-authenticate: bearer\r\n"), "{refusal}");
    }
    for right in ["Authorization: Bearer a-token\r\n", "authorization: bearer  a-token\r\n"] {
        assert_eq!(status(&answer(right)), 200, "{right:?}");
    }
    // Tokens do not open the server to pages of other sites.
    let foreign = "Authorization: Bearer a-token\r\nOrigin: http://example.org\r\n";
    assert_eq!(status(&answer(foreign)), 403);

    for bad in ["", "two words", "é"] {
        assert!(bad.parse::<Token>().is_err(), "{bad:?}");
    }
    assert_eq!(format!("{:?}", "secret".parse::<Token>()), "Ok(Token)");
}

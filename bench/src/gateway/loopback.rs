//! A provider and clients over plain sockets, and the options of a gateway between them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use lcp_app::config::Config;
use lcp_gateway::{EditOptions, ProxyOptions, Upstream};

use crate::harness::Result;

/// The first event of a stream, with a usage as that of a session with a cache.
const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\
    \"input_tokens\":9,\"cache_creation_input_tokens\":900,\"cache_read_input_tokens\":90000,\
    \"output_tokens\":1}}}\n\n";
const DELTA: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
    \"delta\":{\"type\":\"text_delta\",\"text\":\"some words of an answer\"}}\n\n";
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// The rest of a stream after its first event.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    pub(super) events: usize,
    pub(super) pause: Duration,
}

/// Starts a provider that answers each request with a stream. Returns its URL.
pub(super) fn provider(stream: Stream) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || answer(connection, stream));
        }
    });
    Ok(url)
}

/// Answers the requests of a connection.
fn answer(connection: TcpStream, stream: Stream) -> Option<()> {
    connection.set_nodelay(true).ok()?;
    let mut writer = connection.try_clone().ok()?;
    let mut reader = BufReader::with_capacity(64 << 10, connection);
    loop {
        let length = read_head(&mut reader)?;
        skip(&mut reader, length)?;
        let bytes = START.len() + stream.events * DELTA.len() + STOP.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {bytes}\r\n\r\n"
        );
        writer.write_all((head + START).as_bytes()).ok()?;
        for _ in 0..stream.events {
            std::thread::sleep(stream.pause);
            writer.write_all(DELTA.as_bytes()).ok()?;
        }
        writer.write_all(STOP.as_bytes()).ok()?;
    }
}

/// Reads a head. Returns the length of the body.
fn read_head(reader: &mut BufReader<TcpStream>) -> Option<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            return Some(length);
        }
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.parse().ok()?;
        }
    }
}

fn skip(reader: &mut BufReader<TcpStream>, length: u64) -> Option<()> {
    let copied = std::io::copy(&mut reader.take(length), &mut std::io::sink()).ok()?;
    (copied == length).then_some(())
}

/// A client with one connection.
pub(super) struct Client {
    host: String,
    writer: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    pub(super) fn connect(url: &str) -> Result<Self> {
        let host = url.trim_start_matches("http://").to_owned();
        let writer = TcpStream::connect(&host)?;
        writer.set_nodelay(true)?;
        let reader = BufReader::new(writer.try_clone()?);
        Ok(Self { host, writer, reader })
    }

    /// Sends a request, and reads the response. Returns the time until its first byte.
    pub(super) fn send(&mut self, target: &str, body: &[u8]) -> Result<Duration> {
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        let start = Instant::now();
        self.writer.write_all(head.as_bytes())?;
        self.writer.write_all(body)?;
        self.reader.fill_buf()?;
        let time = start.elapsed();
        let length = read_head(&mut self.reader).ok_or("the response has no head")?;
        skip(&mut self.reader, length).ok_or("the response was cut")?;
        Ok(time)
    }
}

/// Returns the options of a gateway on loopback.
pub(super) fn options(provider: &str, data: &Path) -> Result<ProxyOptions> {
    Ok(ProxyOptions {
        address: "127.0.0.1:0".parse()?,
        token: None,
        upstream: Upstream::one(provider)?,
        edits: EditOptions {
            data: data.to_owned(),
            // No request reaches its watermark: this measures the usual case, in which little is edited.
            budget: Some(4_000_000),
            dry_run: false,
            keep_days: 7,
            settings: Config::default(),
        },
    })
}

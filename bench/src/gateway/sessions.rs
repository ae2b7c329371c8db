//! Sessions as the requests that an agent sends.

use std::path::Path;

use lcp_transcripts::{ExportBlock, Provider, export};
use lcp_types::Block;
use serde_json::{Value, json};

use crate::cache::session::Session as Blocks;
use crate::harness::{Result, at};

/// The tools and the system prompt of an agent, as large as those of a common one.
const HEAD_BYTES: usize = 40_000;

/// A session with an agent.
pub(super) struct Session {
    pub(super) name: String,
    /// The beginning of a request until its messages.
    pub(super) head: String,
    pub(super) messages: Vec<Value>,
    /// The lengths of the requests: after each message of the user or of a tool.
    ends: Vec<usize>,
    /// The pause before each request in seconds.
    pub(super) pauses: Vec<u64>,
}

impl Session {
    /// Creates a session from a random one with real code, with a pause of an hour each 60 requests.
    pub(super) fn synthetic(turns: usize) -> Result<Self> {
        let blocks = Blocks::new(turns)?.blocks;
        Ok(Self::from_blocks(format!("{turns} turns"), &blocks)?.with_pauses(60))
    }

    /// Creates a session from blocks, with 20 seconds between its requests.
    pub(super) fn from_blocks(name: String, blocks: &[Block<'_>]) -> Result<Self> {
        let blocks: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
        let exported = export(Provider::Anthropic, &blocks, None);
        let exported: Value = serde_json::from_str(&exported.json)?;
        Self::from_messages(name, exported["messages"].as_array().cloned().unwrap_or_default())
    }

    /// Creates a session from messages of Anthropic's API.
    fn from_messages(name: String, messages: Vec<Value>) -> Result<Self> {
        let description = "describes what the tool does. ".repeat(HEAD_BYTES / 30);
        let tools = json!([{ "name": "tool", "description": description, "input_schema": {} }]);
        let mark = json!({ "type": "ephemeral" });
        let system = json!([{ "type": "text", "text": "Be brief.", "cache_control": mark }]);
        let head = format!(
            "{{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":8192,\"stream\":true,\"tools\":{tools},\
             \"system\":{system},\"messages\":"
        );
        let is_user = |message: &Value| message["role"] == "user";
        let ends: Vec<usize> =
            (1..=messages.len()).filter(|end| is_user(&messages[end - 1])).collect();
        if ends.is_empty() {
            return Err(format!("{name} has no message of a user").into());
        }
        let pauses = vec![20; ends.len()];
        Ok(Self { name, head, messages, ends, pauses })
    }

    /// Reads the transcripts of a folder that the command can import, with the pauses between their
    /// messages.
    pub(super) fn recorded(folder: &Path) -> Result<Vec<Self>> {
        let mut sessions = Vec::new();
        let entries = std::fs::read_dir(folder).map_err(at(folder))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            let bytes = std::fs::read(&path).map_err(at(&path))?;
            let import = lcp_app::import::ImportOptions {
                secrets: Some(lcp_ingest::SecretPolicy::Off),
                ..lcp_app::import::ImportOptions::default()
            };
            let config = lcp_app::config::Config::default();
            let transcript = import.import(&path, &bytes, &config, &lcp_app::Silent)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A transcript may have no message of the user.
            if let Ok(mut session) = Self::from_blocks(name, &transcript.blocks) {
                session.set_pauses(&String::from_utf8_lossy(&bytes));
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    /// Returns the sessions of the samples that have results of tools.
    pub(super) fn samples() -> Result<Vec<Self>> {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples"));
        let mut sessions = Vec::new();
        for name in ["chat.lcp", "pairs.lcp", "session.lcp"] {
            let path = folder.join(name);
            let bytes = std::fs::read(&path).map_err(at(&path))?;
            let pack = lcp_decoder::decode(&bytes, lcp_decoder::DecodeOptions::default())?;
            sessions.push(Self::from_blocks(name.to_owned(), &pack.blocks)?.with_pauses(2));
        }
        Ok(sessions)
    }

    /// Sets a pause of an hour after each `requests` requests.
    pub(super) fn with_pauses(mut self, requests: usize) -> Self {
        for (number, pause) in self.pauses.iter_mut().enumerate().skip(1) {
            *pause = if number.is_multiple_of(requests) { 3_600 } else { 20 };
        }
        self
    }

    /// Returns the number of requests.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of messages of a request.
    pub(super) fn end(&self, request: usize) -> usize {
        self.ends[request]
    }

    /// Sets the pauses to those between the messages of a transcript that are not by the model, if
    /// there are as many as requests.
    fn set_pauses(&mut self, lines: &str) {
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let times: Vec<u64> = lines
            .filter(|line| line["type"] == "user" && line["isSidechain"] != true)
            .filter_map(|line| seconds(line["timestamp"].as_str()?))
            .collect();
        if times.len() == self.len() {
            self.pauses = vec![0];
            self.pauses.extend(times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])));
        }
    }

    /// Returns the body of a request.
    pub(super) fn body(&self, request: usize) -> Vec<u8> {
        let mut messages = self.messages[..self.ends[request]].to_vec();
        mark_last(&mut messages);
        format!("{}{}}}", self.head, Value::from(messages)).into_bytes()
    }
}

/// Returns the seconds of a time such as `2026-05-01T02:36:52.816Z` since the beginning of its year, as if
/// all months had 31 days.
fn seconds(time: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| time.get(range)?.parse::<u64>().ok();
    let days = number(5..7)? * 31 + number(8..10)?;
    Some(((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?)
}

/// Marks the last part of the last message, as Claude Code does.
fn mark_last(messages: &mut [Value]) {
    let Some(last) = messages.last_mut() else { return };
    if let Some(text) = last["content"].as_str() {
        last["content"] = json!([{ "type": "text", "text": text }]);
    }
    if let Some(part) = last["content"].as_array_mut().and_then(|parts| parts.last_mut()) {
        part["cache_control"] = json!({ "type": "ephemeral" });
    }
}

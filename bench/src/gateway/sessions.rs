//! Sessions as the requests that an agent sends.

use std::collections::HashMap;
use std::path::Path;

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator as _};
use lcp_transcripts::{ExportBlock, ExportDetail, Provider, export};
use lcp_types::Block;
use serde_json::{Value, json};

use super::provider::add_strings;
use crate::cache::session::Session as Blocks;
use crate::harness::{Result, at};

/// The tools and the system prompt of an agent, as large as those of a common one.
const HEAD_BYTES: usize = 40_000;

/// The system prompt.
const PROMPT: &str = "Be brief.";

/// The seconds of an hour.
const HOUR: u64 = 3_600;

/// A window of tokens, and the default budgets of the gateway for it and for a window of a million.
const WINDOW: u32 = 200_000;
const BUDGETS: [u32; 2] = [160_000, 800_000];

/// The beginning of the summary with which Claude Code continues after a compaction.
const COMPACT_SUMMARY: &str = "This session is being continued from a previous conversation";

/// A session with an agent.
pub(super) struct Session {
    pub(super) name: String,
    /// The beginning of a request until its messages.
    pub(super) head: String,
    pub(super) messages: Vec<Value>,
    /// The messages that begin a conversation: the first, and the summary of each compaction.
    starts: Vec<usize>,
    /// The ends of the requests: after each message of the user or of a tool.
    ends: Vec<usize>,
    /// The pause before each request in seconds.
    pub(super) pauses: Vec<u64>,
    /// `true` if each pause of an hour ends with a resume, in which the agent changes its system prompt.
    is_resumed: bool,
    /// The budget of the gateway in tokens, by default that of the window.
    pub(super) budget: u32,
    /// The tokens above which the provider may refuse a request.
    pub(super) limit: u32,
}

impl Session {
    /// Creates a session from a random one with real code, with a pause of an hour each 60 requests.
    pub(super) fn synthetic(turns: usize) -> Result<Self> {
        let blocks = Blocks::new(turns)?.blocks;
        Ok(Self::from_blocks(format!("{turns} turns"), &blocks)?.with_pauses(60))
    }

    /// Creates a session from blocks, with 20 seconds between its requests.
    fn from_blocks(name: String, blocks: &[Block<'_>]) -> Result<Self> {
        let (mut messages, mut starts) = (Vec::new(), Vec::new());
        let summaries = summaries(blocks);
        let ends = summaries.iter().copied().chain([blocks.len()]);
        for (start, end) in [0].into_iter().chain(summaries.iter().copied()).zip(ends) {
            let block = |(at, block): (usize, _)| {
                let is_inside = (start..end).contains(&at);
                let detail = if is_inside { ExportDetail::Full } else { ExportDetail::Omitted };
                ExportBlock { block, detail }
            };
            let blocks: Vec<_> = blocks.iter().enumerate().map(block).collect();
            let exported = export(Provider::Anthropic, &blocks, None);
            let exported: Value = serde_json::from_str(&exported.json())?;
            starts.push(messages.len());
            messages.extend(exported["messages"].as_array().cloned().unwrap_or_default());
        }
        Self::from_messages(name, messages, starts)
    }

    /// Creates a session from messages of Anthropic's API.
    fn from_messages(name: String, messages: Vec<Value>, starts: Vec<usize>) -> Result<Self> {
        let description = "describes what the tool does. ".repeat(HEAD_BYTES / 30);
        let tools = json!([{ "name": "tool", "description": description, "input_schema": {} }]);
        let mark = json!({ "type": "ephemeral" });
        let system = json!([{ "type": "text", "text": PROMPT, "cache_control": mark }]);
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
        let [limit, _] = BUDGETS;
        let (is_resumed, budget) = (false, limit);
        Ok(Self { name, head, messages, starts, ends, pauses, is_resumed, budget, limit })
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
                session.set_pauses(&Times::read(&String::from_utf8_lossy(&bytes)));
                if session.tokens_max()? > WINDOW {
                    (session.budget, session.limit) = (BUDGETS[1], BUDGETS[1]);
                }
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
            *pause = if number.is_multiple_of(requests) { HOUR } else { 20 };
        }
        self
    }

    /// Sets the budget of the gateway.
    pub(super) fn with_budget(mut self, budget: u32) -> Self {
        self.budget = budget;
        self
    }

    /// Resumes the session after each pause of an hour.
    pub(super) fn with_resumes(mut self) -> Self {
        self.is_resumed = true;
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

    /// Returns whether a message begins a conversation.
    pub(super) fn is_start(&self, message: usize) -> bool {
        self.starts.contains(&message)
    }

    /// Returns the tokens of the largest request.
    fn tokens_max(&self) -> Result<u32> {
        // The last request of a conversation is its largest.
        let is_last = |request: &usize| {
            let next = self.ends.get(request + 1);
            next.is_none_or(|next| self.start(*next) > self.start(self.ends[*request]))
        };
        let bodies = (0..self.len()).filter(is_last).map(|request| self.body(request));
        let largest = bodies.max_by_key(Vec::len).unwrap_or_default();
        let mut text = String::new();
        add_strings(&serde_json::from_slice(&largest)?, &mut text);
        Ok(Tiktoken::new(Encoding::O200kBase).estimate(&text))
    }

    /// Returns the first message of the conversation in which a request ends.
    fn start(&self, end: usize) -> usize {
        self.starts.iter().rev().find(|start| **start < end).copied().unwrap_or(0)
    }

    /// Sets the pauses to those of a transcript. Requests without a time come 20 seconds after the one
    /// before.
    fn set_pauses(&mut self, times: &Times) {
        let mut now = None;
        for (pause, end) in self.pauses.iter_mut().zip(&self.ends) {
            let before = now.unwrap_or(0);
            let time = times.time(&self.messages[end - 1], before).unwrap_or(before + 20);
            *pause = now.map_or(0, |now| time.saturating_sub(now));
            now = Some(time.max(before));
        }
    }

    /// Returns the body of a request.
    pub(super) fn body(&self, request: usize) -> Vec<u8> {
        let end = self.ends[request];
        let mut messages = self.messages[self.start(end)..end].to_vec();
        mark_last(&mut messages);
        let mut body = format!("{}{}}}", self.head, Value::from(messages));
        if self.is_resumed {
            let resumes = self.pauses[..=request].iter().filter(|pause| **pause == HOUR).count();
            body = body.replacen(PROMPT, &format!("{PROMPT} {resumes} files have changed."), 1);
        }
        body.into_bytes()
    }
}

/// Returns the blocks with summaries of compactions.
fn summaries(blocks: &[Block<'_>]) -> Vec<usize> {
    let is_summary = |at: &usize| {
        let text = blocks[*at].content.text().and_then(|text| text.as_str());
        text.is_some_and(|text| text.starts_with(COMPACT_SUMMARY))
    };
    (0..blocks.len()).filter(is_summary).collect()
}

/// The times of a transcript in seconds.
#[derive(Default)]
struct Times {
    /// The times of results, by the ID of the call.
    results: HashMap<String, u64>,
    texts: HashMap<String, Vec<u64>>,
}

impl Times {
    /// Reads the lines of a transcript of Claude Code or Codex.
    fn read(lines: &str) -> Self {
        let mut times = Self::default();
        for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let Some(time) = line["timestamp"].as_str().and_then(seconds) else { continue };
            let is_aside = line["isSidechain"] == true || line["type"] == "assistant";
            let content = [&line["message"]["content"], &line["payload"]["content"]];
            if let Some(id) = line["payload"]["call_id"].as_str() {
                times.results.insert(id.to_owned(), time);
            }
            for content in content.into_iter().filter(|_| !is_aside) {
                times.add(content, time);
            }
        }
        times
    }

    fn add(&mut self, content: &Value, time: u64) {
        if let Some(text) = content.as_str() {
            self.texts.entry(text.to_owned()).or_default().push(time);
        }
        for part in content.as_array().into_iter().flatten() {
            if let Some(id) = part["tool_use_id"].as_str() {
                self.results.insert(id.to_owned(), time);
            }
            self.add(&part["text"], time);
        }
    }

    /// Returns the time of the last part of a message, not before another time.
    fn time(&self, message: &Value, before: u64) -> Option<u64> {
        let time = |part: &Value| {
            let id = part["tool_use_id"].as_str().and_then(|id| self.results.get(id)).copied();
            let times = || self.texts.get(part["text"].as_str()?);
            id.or_else(|| times()?.iter().copied().find(|time| *time >= before))
        };
        let Some(parts) = message["content"].as_array() else {
            return time(&json!({ "text": message["content"] }));
        };
        parts.iter().filter_map(time).max()
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

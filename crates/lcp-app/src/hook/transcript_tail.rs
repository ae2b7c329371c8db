//! The newest part of a transcript, without what a recall does not need.
//!
//! Most bytes of a transcript are tool results and records of the agent. Their lines are parsed only as
//! far as needed, so that a hook stays fast.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The newest bytes of a transcript that are read, so that a hook stays fast.
const BYTES_MAX: u64 = 768 << 10;

/// The maximum number of bytes at the end of a transcript that are searched for prompts if the newest
/// [`BYTES_MAX`] contain no request.
const PROMPT_BYTES_MAX: u64 = 32 << 20;

/// The number of bytes that are read at once. Larger buffers would come from the system each time.
const BLOCK_BYTES: u64 = 64 << 10;

/// The maximum number of prompts that are read.
const PROMPTS_MAX: usize = 64;

/// The maximum number of bytes of turns. Searching them takes most of the time of a hook.
const TURN_BYTES_MAX: usize = 384 << 10;

/// The bytes of a line from which tool results are left out. Shorter ones show if a call succeeded.
const RESULT_BYTES: usize = 2_048;

/// The beginning of a field `type` with a text.
const TYPE: &[u8] = br#""type":""#;

/// The types of tool results, each with its closing quote. The field is near an end of a message of Claude
/// Code or an item of Codex.
const RESULTS: [&[u8]; 3] =
    [br#"tool_result""#, br#"function_call_output""#, br#"custom_tool_call_output""#];

/// The bytes at each end of a message that are searched for a mark. The output of a tool lies between.
const MARKED_BYTES: usize = 400;

/// The fields of a line that decide.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "parentUuid")]
    parent: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "logicalParentUuid")]
    logical_parent: Option<Cow<'a, str>>,
    #[serde(default, rename = "isCompactSummary")]
    is_summary: bool,
    #[serde(default, rename = "isMeta")]
    is_meta: bool,
    #[serde(default, rename = "isSidechain")]
    is_aside: bool,
    #[serde(borrow, default, alias = "payload")]
    message: Option<&'a RawValue>,
}

/// A line that only connects the lines around it.
#[derive(Serialize)]
struct Link<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    uuid: &'a str,
    #[serde(rename = "parentUuid")]
    parent: Option<&'a str>,
    #[serde(rename = "logicalParentUuid")]
    logical_parent: Option<&'a str>,
}

impl Line<'_> {
    /// Returns whether this line, which is `text`, is a turn of the conversation. Long tool results are
    /// none, and neither are summaries of compactions, which are not words of the user.
    fn is_turn(&self, text: &str) -> bool {
        let is_turn = ["user", "assistant", "response_item"].contains(&&*self.kind);
        is_turn && !self.is_summary && (text.len() < RESULT_BYTES || !self.has_result())
    }

    fn has_result(&self) -> bool {
        let message = self.message.map_or("", RawValue::get).as_bytes();
        has_result(&message[..message.len().min(MARKED_BYTES)])
            || has_result(&message[message.len().saturating_sub(MARKED_BYTES)..])
    }

    /// Returns the link in place of this line. Turns that the user took back are recognized by the chain of
    /// all lines.
    fn link(&self) -> Option<String> {
        let link = Link {
            kind: "system",
            uuid: self.uuid.as_deref()?,
            parent: self.parent.as_deref(),
            logical_parent: self.logical_parent.as_deref(),
        };
        Some(serde_json::to_string(&link).ok()? + "\n")
    }
}

/// Returns whether a part of a line has a mark of a tool result.
fn has_result(part: &[u8]) -> bool {
    let mut types = memchr::memmem::find_iter(part, TYPE).map(|at| &part[at + TYPE.len()..]);
    types.any(|rest| RESULTS.iter().any(|kind| rest.starts_with(kind)))
}

/// Reads the newest turns of a transcript, and links in place of the other lines.
pub(super) fn read(path: &Path) -> std::io::Result<String> {
    let mut turns = NewestTurns::default();
    for_newest_lines(path, BYTES_MAX, |line| {
        // `from_utf8_lossy` alone is much slower.
        let text = str::from_utf8(line).map(Cow::Borrowed);
        turns.add(&text.unwrap_or_else(|_| String::from_utf8_lossy(line)));
        ControlFlow::Continue(())
    })?;
    Ok(turns.finish())
}

/// Reads the newest prompts of the user, which can be far from the end if the model works alone.
pub(super) fn read_prompts(path: &Path) -> std::io::Result<String> {
    let (mut prompts, mut bytes) = (Vec::new(), 0);
    for_newest_lines(path, PROMPT_BYTES_MAX, |line| {
        let Some(prompt) = prompt(line) else { return ControlFlow::Continue(()) };
        bytes += prompt.len();
        if bytes > TURN_BYTES_MAX || prompts.len() == PROMPTS_MAX {
            return ControlFlow::Break(());
        }
        prompts.push(prompt.to_owned());
        ControlFlow::Continue(())
    })?;
    prompts.reverse();
    Ok(prompts.concat())
}

/// Returns the text of a line if it is a prompt of the user.
fn prompt(line: &[u8]) -> Option<&str> {
    if memchr::memmem::find(line, br#""role":"user""#).is_none() || has_result(line) {
        return None;
    }
    let text = str::from_utf8(line).ok()?;
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    let is_prompt = line.kind != "assistant" && !line.is_meta && !line.is_aside;
    (is_prompt && line.is_turn(text)).then_some(text)
}

/// Calls `read` with each complete line in the last `bytes_max` bytes, the newest first, until it returns
/// `Break`.
fn for_newest_lines(
    path: &Path,
    bytes_max: u64,
    mut read: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let mut start = file.metadata()?.len();
    let first = start.saturating_sub(bytes_max);
    // The end of a line that begins before `start`.
    let mut rest: Vec<u8> = Vec::new();
    while start > first {
        // A block is at least as long as `rest`, so that a long line is copied only a few times.
        let bytes = BLOCK_BYTES.max(rest.len() as u64).min(start - first);
        start -= bytes;
        let bytes = usize::try_from(bytes).unwrap_or_default();
        let mut block = vec![0; bytes + rest.len()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut block[..bytes])?;
        block[bytes..].copy_from_slice(&rest);
        let first_end = memchr::memchr(b'\n', &block).map_or(block.len(), |at| at + 1);
        let end = if start == 0 { 0 } else { first_end };
        let mut lines = &block[end..];
        while let Some((_, before)) = lines.split_last() {
            let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
            if read(&lines[line..]).is_break() {
                return Ok(());
            }
            lines = &lines[..line];
        }
        block.truncate(end);
        rest = block;
    }
    Ok(())
}

/// The newest turns, and links in place of the other lines.
#[derive(Default)]
struct NewestTurns {
    /// The lines, the newest first.
    lines: Vec<String>,
    /// The number of bytes of the turns.
    bytes: usize,
    is_full: bool,
}

impl NewestTurns {
    /// Adds the line that precedes all added lines.
    fn add(&mut self, text: &str) {
        // A line that is no JSON stays, so that it is reported.
        let line = serde_json::from_str::<Line<'_>>(text).ok();
        if line.as_ref().is_none_or(|line| line.is_turn(text)) {
            // At least the newest turn stays.
            self.is_full |= self.bytes > 0 && self.bytes + text.len() > TURN_BYTES_MAX;
            if !self.is_full {
                self.bytes += text.len();
                self.lines.push(text.to_owned());
                return;
            }
        }
        self.lines.extend(line.and_then(|line| line.link()));
    }

    fn finish(mut self) -> String {
        self.lines.reverse();
        self.lines.concat()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn newest_turns(text: &str) -> String {
        let mut turns = NewestTurns::default();
        text.split_inclusive('\n').rev().for_each(|line| turns.add(line));
        turns.finish()
    }

    #[test]
    fn long_results_and_summaries_leave_only_their_links() {
        let result = format!(
            r#"{{"parentUuid":"a","type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t",
                "type":"tool_result","content":"{}"}}]}},"uuid":"b"}}"#,
            "x".repeat(RESULT_BYTES)
        );
        // The type can follow the output.
        let sorted = format!(
            r#"{{"type":"user","uuid":"b","message":{{"content":[{{"content":"{}","type":"tool_result"}}]}}}}"#,
            "x".repeat(RESULT_BYTES)
        );
        let summary = json!({ "type": "user", "uuid": "b", "parentUuid": "a",
            "isCompactSummary": true, "message": { "role": "user", "content": "Sum." } });
        for line in [result.replace('\n', ""), sorted, summary.to_string()] {
            let link = newest_turns(&format!("{line}\n"));
            assert!(link.len() < 200 && link.contains(r#""uuid":"b""#), "{link}");
        }
        for other in ["{\"type\":\"event_msg\",\"payload\":{}}\n", "{\"type\":\"mode\"}\n"] {
            assert_eq!(newest_turns(other), "");
        }
        let long = "y".repeat(9 * RESULT_BYTES);
        let turn =
            format!("{}\n", json!({ "type": "user", "uuid": "d", "message": { "content": long } }));
        let item = json!({ "type": "message", "role": "user", "content": long });
        let item = format!("{}\n", json!({ "type": "response_item", "payload": item }));
        for line in [turn.as_str(), item.as_str(), "broken {\n"] {
            assert_eq!(newest_turns(line), line);
        }
    }

    #[test]
    fn older_turns_become_links() {
        let turn = |at: usize| {
            let text = "x".repeat(TURN_BYTES_MAX / 4);
            format!("{}\n", json!({ "type": "user", "uuid": at.to_string(), "message": text }))
        };
        let turns: Vec<_> = (0..6).map(turn).collect();
        let newest = newest_turns(&turns.concat());
        assert!(newest.ends_with(&turns[3..].concat()), "three turns fit");
        let links: Vec<_> = newest.lines().take(3).collect();
        for (at, link) in links.iter().enumerate() {
            assert!(link.len() < 200 && link.contains(&format!(r#""uuid":"{at}""#)), "{link}");
        }
        assert_eq!(newest.lines().count(), 6);

        // The newest turn stays, even if it is long and something follows it.
        let long = json!({ "type": "user", "uuid": "a", "message": "x".repeat(TURN_BYTES_MAX) });
        let end = json!({ "type": "system", "uuid": "b", "parentUuid": "a" });
        let newest = newest_turns(&format!("{}{long}\n{end}\n", turns[0]));
        assert!(newest.contains(&long.to_string()) && newest.lines().count() == 3);
    }

    #[test]
    fn prompts_followed_by_long_output_are_found() {
        let user = |content: serde_json::Value| json!({ "type": "user", "uuid": "a", "message": { "role": "user", "content": content } });
        let result = json!([{ "type": "tool_result", "content": "x".repeat(100_000) }]);
        let prompt =
            format!("{}\n", user(json!("Port it, and never say \"type\":\"tool_result\".")));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), prompt.clone() + &format!("{}\n", user(result)).repeat(12))
            .unwrap();
        assert!(!read(file.path()).unwrap().contains("Port it"));
        assert_eq!(read_prompts(file.path()).unwrap(), prompt);
    }

    #[test]
    fn lines_of_all_lengths_are_read_backward() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = [1, 70_000, 0, 300_000, 65_535, 65_536, 5, 1_000, 200_000];
        let lines: Vec<_> = lines.iter().map(|bytes| "x".repeat(*bytes) + "\n").collect();
        let text = lines.concat() + "no newline";
        std::fs::write(file.path(), &text).unwrap();
        for (bytes_max, complete) in [(u64::MAX, 10), (text.len() as u64 - 1, 9), (250_000, 4)] {
            let mut read = Vec::new();
            let add = |line: &[u8]| {
                read.push(String::from_utf8(line.to_vec()).unwrap());
                ControlFlow::Continue(())
            };
            for_newest_lines(file.path(), bytes_max, add).unwrap();
            assert_eq!(read.len(), complete);
            read.reverse();
            assert!(text.ends_with(&read.concat()));
        }
        let mut count = 0;
        let stop = |_: &[u8]| {
            count += 1;
            if count < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        for_newest_lines(file.path(), u64::MAX, stop).unwrap();
        assert_eq!(count, 4);
    }

    #[test]
    fn only_whole_lines_of_the_end_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = format!("{}\n", json!({ "type": "mode", "uuid": "ß".repeat(50_000) }));
        std::fs::write(file.path(), line.repeat(10)).unwrap();
        let read = read(file.path()).unwrap();
        assert_eq!(read.lines().count(), 7);
        assert!(read.lines().all(|line| serde_json::from_str::<Line<'_>>(line).is_ok()));
    }
}

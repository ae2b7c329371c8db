//! The newest part of a transcript, without what a recall does not need.
//!
//! Most bytes of a transcript are tool results and records of the agent. Their lines are parsed only as
//! far as needed, so that a hook stays fast.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The newest bytes of a transcript that are read, so that a hook stays fast.
const BYTES_MAX: u64 = 768 << 10;

/// The maximum number of bytes at the end of a transcript that are searched for prompts if the newest
/// [`BYTES_MAX`] contain no request.
const PROMPT_BYTES_MAX: u64 = 32 << 20;

/// The maximum number of prompts that are read.
const PROMPTS_MAX: usize = 64;

/// The maximum number of bytes of turns. Searching them takes most of the time of a hook.
const TURN_BYTES_MAX: usize = 384 << 10;

/// The bytes of a line from which tool results are left out. Shorter ones show if a call succeeded.
const RESULT_BYTES: usize = 2_048;

/// Marks of tool results, near an end of a message of Claude Code or an item of Codex.
const RESULTS: [&str; 3] = [
    r#""type":"tool_result""#, r#""type":"function_call_output""#,
    r#""type":"custom_tool_call_output""#,
];

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
        let has_mark = |part: &[u8]| {
            RESULTS.iter().any(|mark| memchr::memmem::find(part, mark.as_bytes()).is_some())
        };
        has_mark(&message[..message.len().min(MARKED_BYTES)])
            || has_mark(&message[message.len().saturating_sub(MARKED_BYTES)..])
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

/// Reads the newest turns of a transcript, and links in place of the other lines.
pub(super) fn read(path: &Path) -> std::io::Result<String> {
    let text = String::from_utf8(newest_lines(path, BYTES_MAX)?)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(newest_turns(&text))
}

/// Reads the newest prompts of the user, which can be far from the end if the model works alone.
pub(super) fn read_prompts(path: &Path) -> std::io::Result<String> {
    let text = newest_lines(path, PROMPT_BYTES_MAX)?;
    let has = |line: &[u8], part: &str| memchr::memmem::find(line, part.as_bytes()).is_some();
    let prompts = text.split_inclusive(|byte| *byte == b'\n').rev().filter_map(|line| {
        let is_of_user = has(line, r#""role":"user""#) && !RESULTS.iter().any(|it| has(line, it));
        let text = str::from_utf8(line).ok().filter(|_| is_of_user)?;
        let line: Line<'_> = serde_json::from_str(text).ok()?;
        let is_prompt = line.kind != "assistant" && !line.is_meta && !line.is_aside;
        (is_prompt && line.is_turn(text)).then_some(text)
    });
    let mut bytes = 0;
    let fits = |text: &&str| {
        bytes += text.len();
        bytes <= TURN_BYTES_MAX
    };
    let mut prompts: Vec<_> = prompts.take(PROMPTS_MAX).take_while(fits).collect();
    prompts.reverse();
    Ok(prompts.concat())
}

/// Reads the complete lines in the last bytes of a file.
fn newest_lines(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let start = bytes.saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::with_capacity(usize::try_from(bytes - start).unwrap_or_default());
    file.take(bytes_max).read_to_end(&mut text)?;
    if start > 0 {
        // The first line is not complete, and may begin within a character.
        let end = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..end);
    }
    Ok(text)
}

fn newest_turns(text: &str) -> String {
    let (mut lines, mut bytes, mut is_full) = (Vec::new(), 0, false);
    for text in text.split_inclusive('\n').rev() {
        // A line that is no JSON stays, so that it is reported.
        let line = serde_json::from_str::<Line<'_>>(text).ok();
        if line.as_ref().is_none_or(|line| line.is_turn(text)) {
            // At least the newest turn stays.
            is_full |= bytes > 0 && bytes + text.len() > TURN_BYTES_MAX;
            if !is_full {
                bytes += text.len();
                lines.push(Cow::Borrowed(text));
                continue;
            }
        }
        lines.extend(line.and_then(|line| line.link()).map(Cow::Owned));
    }
    lines.reverse();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
    fn only_whole_lines_of_the_end_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = format!("{}\n", json!({ "type": "mode", "uuid": "ß".repeat(50_000) }));
        std::fs::write(file.path(), line.repeat(10)).unwrap();
        let read = read(file.path()).unwrap();
        assert_eq!(read.lines().count(), 7);
        assert!(read.lines().all(|line| serde_json::from_str::<Line<'_>>(line).is_ok()));
    }
}

//! The newest part of a transcript, without what a recall does not need.
//!
//! Most bytes of a transcript are tool results and records of the agent. Their lines are parsed only as far
//! as needed, so that a hook stays fast.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// The newest bytes of a transcript that are read. What is older has usually been compacted before.
const BYTES_MAX: u64 = 1 << 20;

/// The bytes of a line from which tool results are left out. Shorter ones show if a call succeeded.
const RESULT_BYTES: usize = 2_048;

/// Marks of tool results, at the beginning of a message of Claude Code or an item of Codex.
const RESULTS: [&str; 3] = [
    r#""type":"tool_result""#, r#""type":"function_call_output""#,
    r#""type":"custom_tool_call_output""#,
];

/// The beginning of a message in which a mark must be.
const MARKED_CHARS: usize = 400;

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
    #[serde(borrow, default, alias = "payload")]
    message: Option<&'a RawValue>,
}

/// Reads the newest whole lines of a transcript that belong to the conversation.
///
/// Summaries of earlier compactions are left out, because they are not words of the user.
pub(super) fn read(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.split_inclusive('\n').skip(usize::from(start > 0));
    Ok(lines.filter_map(condensed).collect())
}

/// Returns a line of the conversation, or what connects the lines around another one.
fn condensed(line: &str) -> Option<Cow<'_, str>> {
    let Ok(fields) = serde_json::from_str::<Line<'_>>(line) else { return Some(line.into()) };
    let is_turn = ["user", "assistant", "response_item"].contains(&&*fields.kind);
    let has_result = || {
        let message = fields.message.map_or("", RawValue::get);
        let end = message.char_indices().nth(MARKED_CHARS).map_or(message.len(), |(at, _)| at);
        let begin = &message[..end];
        RESULTS.iter().any(|mark| begin.contains(mark))
    };
    if is_turn && !fields.is_summary && (line.len() < RESULT_BYTES || !has_result()) {
        return Some(line.into());
    }
    // Turns that the user took back are recognized by the chain of all lines.
    let id = fields.uuid?;
    let connection = json!({
        "type": "system", "uuid": id, "parentUuid": fields.parent,
        "logicalParentUuid": fields.logical_parent,
    });
    Some(format!("{connection}\n").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_results_and_summaries_leave_only_their_links() {
        let result = format!(
            r#"{{"parentUuid":"a","type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t",
                "type":"tool_result","content":"{}"}}]}},"uuid":"b"}}"#,
            "x".repeat(RESULT_BYTES)
        );
        let summary = json!({ "type": "user", "uuid": "c", "parentUuid": "b",
            "isCompactSummary": true, "message": { "role": "user", "content": "Sum." } });
        for (line, link) in [(result.replace('\n', ""), "b"), (summary.to_string(), "c")] {
            let line = format!("{line}\n");
            let condensed = condensed(&line).unwrap();
            assert!(condensed.len() < 200 && condensed.contains(&format!(r#""uuid":"{link}""#)));
        }
        for other in ["{\"type\":\"event_msg\",\"payload\":{}}\n", "{\"type\":\"mode\"}\n"] {
            assert_eq!(condensed(other), None);
        }
        let long = "y".repeat(9 * RESULT_BYTES);
        let turn =
            format!("{}\n", json!({ "type": "user", "uuid": "d", "message": { "content": long } }));
        let item = json!({ "type": "message", "role": "user", "content": long });
        let item = format!("{}\n", json!({ "type": "response_item", "payload": item }));
        for line in [turn.as_str(), item.as_str(), "broken {\n"] {
            assert_eq!(condensed(line).as_deref(), Some(line));
        }
    }

    #[test]
    fn only_whole_lines_of_the_end_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: String = (0..40_000)
            .map(|at| json!({ "type": "user", "uuid": format!("u{at}") }).to_string() + "\n")
            .collect();
        assert!(lines.len() > 1 << 20);
        std::fs::write(file.path(), &lines).unwrap();
        let read = read(file.path()).unwrap();
        assert!(lines.ends_with(&read) && read.starts_with('{') && read.len() > 1_000_000);
    }
}

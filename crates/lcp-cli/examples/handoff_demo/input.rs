//! Reads the conversation from a file, or downloads a real one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_continuity::Message;

use lcp_app::sessions;
use lcp_app::{Error, ErrorKind};
use lcp_cli::Result;
use lcp_cli::output::Output;

/// A Python package whose source distribution contains a long real conversation.
const PROJECT: &str = "aider-chat";
const ARCHIVE: &str = "aider_chat-0.86.2.tar.gz";
const SHA256: &str = "f38a9d322f5609f0c13af82d50c6a11170185b3fdf26956e4a7e89ba19819159";
const MEMBER: &str = "aider_chat-0.86.2/tests/fixtures/chat-history.md";

/// Returns the messages of the file, or of the downloaded conversation.
pub(super) fn messages(file: Option<&Path>, output: &Output) -> Result<Vec<Message>> {
    match file {
        Some(file) => sessions::input::messages(file, output),
        None => sessions::input::messages(&fetched(output)?, output),
    }
}

/// Returns the indices of each tool call and its result. A result belongs to the newest call with
/// its id.
pub(super) fn pairs(messages: &[Message]) -> Vec<(usize, usize)> {
    let mut calls = HashMap::new();
    let mut pairs = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let Some(id) = message.tool_call_id() else { continue };
        if !message.is_result() {
            calls.insert(id, at);
        } else if let Some(call) = calls.get(id) {
            pairs.push((*call, at));
        }
    }
    pairs
}

/// Returns the path of the real conversation. Downloads it if it does not exist yet.
fn fetched(output: &Output) -> Result<PathBuf> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/handoff/chat-history.md");
    if target.exists() {
        return Ok(target);
    }
    output.progress(format!("downloading {ARCHIVE} from PyPI"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/handoff_demo/fetch.py");
    let python = if cfg!(windows) { "python" } else { "python3" };
    let hint = "check Python 3 and the network, or pass FILE: a pack, or a chat history of aider";
    let run = Command::new(python)
        .arg(script)
        .args([PROJECT, ARCHIVE, SHA256, MEMBER])
        .arg(&target)
        .output()
        .map_err(|error| Error::io("run", python, &error).with_hint(hint))?;
    if run.status.success() {
        return Ok(target);
    }
    let said = String::from_utf8_lossy(&run.stderr);
    let why = said.lines().last().unwrap_or("no error message");
    Err(Error::new(ErrorKind::Io, format!("cannot download {ARCHIVE}: {why}")).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use lcp_types::Status;

    use super::*;

    #[test]
    fn result_pairs_with_the_newest_call_with_its_id() {
        let result = |id| Message::tool_result(id, "read", Status::Ok, "text");
        let messages = [
            result("a"),
            Message::tool_call("a", "read x"),
            Message::tool_call("b", "read y"),
            result("b"),
            result("a"),
            Message::tool_call("a", "read z"),
            result("a"),
            Message::user("Thanks."),
        ];
        assert_eq!(pairs(&messages), [(2, 3), (1, 4), (5, 6)]);
    }
}

//! The time of the hook after a compaction.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::sessions::Session;
use crate::harness::{Progress, Result, Times};
use crate::programs;
use crate::table::{Row, Wanted};

/// The turns of the session.
const TURNS: usize = 300;

/// The hook reads a part of a transcript of this size.
const BYTES_MIN: usize = 1_000_000;

/// The number of calls of each command.
const CALLS: usize = 40;

pub(super) fn row(progress: &mut Progress<'_>) -> Result<Row> {
    let lcp = programs::lcp(progress)?;
    let folder = tempfile::tempdir()?;
    let transcript = folder.path().join("session.jsonl");
    let text = transcript_of(&Session::synthetic(TURNS)?);
    if text.len() < BYTES_MIN {
        return Err(format!("the transcript has only {} bytes", text.len()).into());
    }
    std::fs::write(&transcript, text)?;
    let event = json!({
        "session_id": "s", "transcript_path": transcript, "cwd": folder.path(),
        "hook_event_name": "SessionStart", "source": "compact",
    });
    progress(format!("the hook after a compaction: {CALLS} calls"));
    let event = event.to_string();
    let (mut hook, mut version) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let (time, text) = call(&lcp, &["hook", "session-start"], &event, folder.path())?;
        if text.is_empty() {
            return Err("the hook printed nothing".into());
        }
        hook.push(time);
        version.push(call(&lcp, &["--version"], "", folder.path())?.0);
    }
    let (hook, version) = (Times::new(hook).median(), Times::new(version).median());
    Ok(Row::with_itself("hook after a compaction", "ms", hook, "--version", version)
        .wants(Wanted::RatioAtMost(3.0)))
}

/// Returns a transcript of Claude Code.
fn transcript_of(session: &Session) -> String {
    let lines = session.messages.iter().enumerate().map(|(at, message)| {
        let parent = at.checked_sub(1).map(|parent| parent.to_string());
        let line = json!({
            "type": message["role"], "uuid": at.to_string(), "parentUuid": parent,
            "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "message": message,
        });
        format!("{line}\n")
    });
    lines.collect()
}

/// Runs a command with a private data folder. Returns its time and its output.
fn call(lcp: &Path, arguments: &[&str], input: &str, home: &Path) -> Result<(Duration, Vec<u8>)> {
    let start = Instant::now();
    let mut command = Command::new(lcp);
    command.args(arguments).env("HOME", home).env("XDG_DATA_HOME", home);
    command.env("XDG_CONFIG_HOME", home).current_dir(home);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // `--version` reads no input.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("lcp {}: {}", arguments.join(" "), output.status).into());
    }
    Ok((start.elapsed(), output.stdout))
}

//! Hooks that agents call (RFC 0016 §9): they store sessions, and give back what a compaction lost.
//!
//! A hook must not annoy: [`run`] is fast, prints only what the agent reads, and a failure prints
//! nothing.
//!
//! | topic | files |
//! |---|---|
//! | events and their input | `event.rs` |
//! | what is given back after a compaction | `recall.rs`; the part of a transcript that it reads: `transcript_tail.rs` |
//! | transcripts that wait to be recorded in the session store | `captures.rs` |

mod captures;
mod event;
mod recall;
mod transcript_tail;

use serde_json::json;

pub use captures::record_captures;
pub use event::Event;
pub use recall::{RecallOptions, recall};

use crate::config::ConfigSource;
use crate::error::Result;
use event::Input;

/// The text that steers the summary of Claude Code.
const SUMMARY: &str = "\
Keep these word for word in the summary: decisions and their reasons, constraints and preferences of the \
user, open tasks with their steps, open questions, exact file paths, commands, error messages and \
names. Leave out contents of files that can be read again.
";

/// Runs the hook of an event. `input` is the JSON of the agent. Returns the text for it.
///
/// # Errors
///
/// Returns an error if the input or the transcript cannot be read.
pub fn run(event: Event, input: &[u8], settings: &ConfigSource) -> Result<String> {
    let input = Input::parse(input)?;
    match event {
        Event::SessionStart if input.is_compaction() => {
            // Settings that are not valid must not cost what the session would get back.
            let settings = settings.read().unwrap_or_default().hooks;
            let options = settings.budget.map(|budget| RecallOptions { budget });
            let options = options.unwrap_or_default();
            let context = recall(&input.transcript()?, &input.session, &options)?;
            Ok(if context.is_empty() { context } else { answer(&context) })
        }
        Event::SessionStart => Ok(String::new()),
        Event::PreCompact => {
            captures::capture(&input.session, &input.transcript()?)?;
            // Other agents do not read plain text.
            let is_claude = input.is_claude_code();
            Ok(if is_claude { SUMMARY.to_owned() } else { String::new() })
        }
        Event::SessionEnd => {
            captures::capture(&input.session, &input.transcript()?)?;
            Ok(String::new())
        }
    }
}

/// Returns the answer of a hook that adds text to the context.
fn answer(context: &str) -> String {
    let answer = json!({
        "hookSpecificOutput": {
            "hookEventName": Event::SessionStart.agent_name(),
            "additionalContext": context,
        }
    });
    format!("{answer}\n")
}

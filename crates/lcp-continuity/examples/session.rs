//! Stores a session in a file, hands it over, and resumes it as another process would:
//!
//! ```text
//! cargo run -p lcp-continuity --example session -- [FILE]
//! ```
//!
//! Without FILE, the example uses a temporary file. Each run adds a session to the file.

#![allow(clippy::print_stdout, reason = "the example prints the hand-off")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_continuity::store::{NewConversation, SqliteStore};
use lcp_continuity::{
    ContinuityEvent, HandoffOptions, Message, SessionContinuityService, Timestamp,
};
use lcp_tokens::{Encoding, Tiktoken};

const PLAN: &str = "Plan: move the parser

- [x] write the tests
- [ ] split lexer.rs
- [ ] split parser.rs";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = std::env::args_os().nth(1).map(PathBuf::from);
    let file = file.unwrap_or_else(|| folder.path().join("sessions.db"));
    hand_over(&file)
}

pub(crate) fn hand_over(file: &Path) -> Result<(), Box<dyn Error>> {
    // The first process records messages and hands the session over. A long session does this when
    // `check` reports that its context window is nearly full.
    let id = format!("parser-{}", Timestamp::now().0);
    let first = service(file)?;
    first.open(&NewConversation {
        id: id.clone(),
        window_tokens: 200_000,
        output_reserve_tokens: 16_000,
    })?;
    let messages = vec![
        Message::user("Please move the parser into files of its own."),
        Message::assistant(PLAN),
        Message::user("Go ahead. We decided to keep the public names."),
    ];
    first.record_messages(&id, messages)?;
    let handoff = first.prepare_handoff(&id, 4_000, &HandoffOptions::default())?;
    drop(first);

    // The second process continues. A hand-off can be resumed only once.
    let second = service(file)?;
    let resumed = second.resume_from_handoff(&handoff.handoff_id)?;
    print!("{}", resumed.directive.text);
    for action in &resumed.directive.immediate_actions {
        println!("to do now: {action}");
    }
    let error = second.resume_from_handoff(&handoff.handoff_id).unwrap_err();
    println!("second attempt: {error}");
    Ok(())
}

/// Opens the store of the file. Each process needs its own service.
fn service(file: &Path) -> Result<SessionContinuityService, Box<dyn Error>> {
    let store = Arc::new(SqliteStore::open(file)?);
    let counter = Arc::new(Tiktoken::new(Encoding::O200kBase));
    Ok(SessionContinuityService::new(store, counter).on_event(|event| match event {
        ContinuityEvent::HandoffPrepared(event) => {
            println!("prepared {}", event.handoff.handoff_id);
        }
        ContinuityEvent::SessionResumed(event) => {
            println!("resumed as {}", event.session.new_conversation_id);
        }
        _ => {}
    }))
}

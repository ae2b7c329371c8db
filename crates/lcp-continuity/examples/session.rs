//! A session that is kept in a file, handed over, and taken up by another process.
//!
//! `cargo run -p lcp-continuity --example session [FILE]`
//!
//! Each run is a session of its own, also in a FILE that has others: one that was handed
//! over cannot be recorded in again.

use std::error::Error;
use std::io::{self, Write};
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
    let mut out = io::stdout();
    let folder = tempfile::tempdir()?;
    let file = std::env::args_os().nth(1).map(PathBuf::from);
    let file = file.unwrap_or_else(|| folder.path().join("sessions.db"));

    // One process records a session, and hands it over.
    let id = format!("parser-{}", Timestamp::now().0);
    let first = service(&file)?;
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

    // Another goes on. Nobody else can resume it then.
    let second = service(&file)?;
    let resumed = second.resume_from_handoff(&handoff.handoff_id)?;
    write!(out, "{}", resumed.directive.text)?;
    for action in &resumed.directive.immediate_actions {
        writeln!(out, "to do now: {action}")?;
    }
    let error = second.resume_from_handoff(&handoff.handoff_id).unwrap_err();
    writeln!(out, "once more: {error}")?;
    Ok(())
}

fn service(file: &Path) -> Result<SessionContinuityService, Box<dyn Error>> {
    let store = Arc::new(SqliteStore::open(file)?);
    let counter = Arc::new(Tiktoken::new(Encoding::O200kBase));
    Ok(SessionContinuityService::new(store, counter).on_event(|event| {
        // Whoever listens has nobody to return an error to.
        let _ = match event {
            ContinuityEvent::HandoffPrepared(event) => {
                writeln!(io::stdout(), "prepared {}", event.handoff.handoff_id)
            }
            ContinuityEvent::SessionResumed(event) => {
                writeln!(io::stdout(), "resumed as {}", event.session.new_conversation_id)
            }
            _ => Ok(()),
        };
    }))
}

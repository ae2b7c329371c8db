//! The events of agents, and the input of their hooks.

use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{Error, ErrorKind, Result};
use crate::files;

/// An event for which LCP has a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session begins, or goes on after a compaction.
    SessionStart,
    /// A session is about to be compacted.
    PreCompact,
    /// A session has ended.
    SessionEnd,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 3] = [Self::SessionStart, Self::PreCompact, Self::SessionEnd];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PreCompact => "pre-compact",
            Self::SessionEnd => "session-end",
        }
    }

    /// Returns the name that agents use.
    #[must_use]
    pub const fn agent_name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::PreCompact => "PreCompact",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// Returns the event with this name, in either spelling.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| [event.name(), event.agent_name()].contains(&name))
    }
}

/// The input of a hook. Agents send more fields.
#[derive(Debug, Deserialize)]
pub(super) struct Input {
    #[serde(rename = "session_id")]
    pub(super) session: String,
    transcript_path: Option<PathBuf>,
    source: Option<String>,
}

impl Input {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|error| {
            Error::new(ErrorKind::Malformed, format!("the input of the hook is not valid: {error}"))
        })
    }

    pub(super) fn is_compaction(&self) -> bool {
        self.source.as_deref() == Some("compact")
    }

    /// Returns whether the agent is Claude Code, which names a transcript like its session.
    pub(super) fn is_claude_code(&self) -> bool {
        let name = self.transcript_path.as_deref().and_then(|path| path.file_stem());
        name.is_some_and(|name| name == self.session.as_str())
    }

    /// Returns the path of the transcript. A pipe or a device is an error, because it could block.
    pub(super) fn transcript(&self) -> Result<PathBuf> {
        let path = self.transcript_path.as_deref().ok_or_else(|| {
            Error::new(ErrorKind::Malformed, "the input of the hook names no transcript")
        })?;
        let resolved = path.canonicalize();
        let resolved =
            resolved.map_err(|error| Error::io("read", files::display_name(path), &error))?;
        if !resolved.is_file() {
            let message = format!("{} is not a file", files::display_name(path));
            return Err(Error::new(ErrorKind::Io, message));
        }
        Ok(resolved)
    }
}

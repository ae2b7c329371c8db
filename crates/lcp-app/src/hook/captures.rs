//! Transcripts that wait to be recorded in the session store.
//!
//! A hook has a few milliseconds, but recording a session takes longer: its messages are parsed, counted
//! and hashed. So a hook only links the transcript into a folder next to the session store. The link
//! survives if the agent deletes the transcript. The next command that uses the store records it.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_continuity::Message;

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::folders;
use crate::reporter::{Reporter, Silent};
use crate::sessions::{HandoffSettings, NewMessages, Sessions, WindowOptions, input, open_store};
use crate::tokenizer::TokenizerOptions;

/// The end of the names of captures.
const END: &str = ".jsonl";

/// The time after the last change of a transcript for which its capture waits to be recorded: 30 days.
const KEEP: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The window of a session in tokens if no setting has one: that of the models that agents use.
const WINDOW: u32 = 200_000;

/// The code of the error that recorded messages differ from those of a transcript.
const DIFFERS: &str = "differs";

/// The digits of the hash in the id of a session that goes on in another way than it was recorded.
const HASH_DIGITS: usize = 8;

/// Captures the transcript of a session.
pub(super) fn capture(session: &str, transcript: &Path) -> Result {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if session.is_empty() || session.len() > 128 || !session.chars().all(is_name) {
        let message = format!("{session:?} is not the id of a session of an agent");
        return Err(Error::new(ErrorKind::Malformed, message));
    }
    let folder = folder()?;
    folders::create_private(&folder)
        .map_err(|error| Error::io("create", folder.display(), &error))?;
    remove_old(&folder);
    let target = folder.join(format!("{session}{END}"));
    let new = folder.join(format!(".{session}-{}", std::process::id()));
    let linked = link(transcript, &new).and_then(|()| std::fs::rename(&new, &target));
    // A rename between two links to one file leaves both.
    let _ = std::fs::remove_file(&new);
    linked.map_err(|error| Error::io("write", target.display(), &error))
}

/// Links or copies a transcript.
fn link(transcript: &Path, new: &Path) -> io::Result<()> {
    // Another file system, or one without links.
    std::fs::hard_link(transcript, new).or_else(|_| std::fs::copy(transcript, new).map(drop))
}

/// Records the captured transcripts in the session store of the user, and warns about those that cannot
/// be recorded. Does nothing if there are none.
pub fn record_captures(reporter: &dyn Reporter) {
    let Ok(folder) = folder() else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut captures: Vec<_> = paths.filter_map(|path| Some((name(&path)?, path))).collect();
    if captures.is_empty() {
        return;
    }
    captures.sort();
    let sessions = match open() {
        Ok(sessions) => sessions,
        Err(error) => return reporter.warn(&format!("cannot record captured sessions: {error}")),
    };
    for (session, path) in captures {
        let recorded = record(&sessions, &session, &path);
        if let Err(error) = &recorded {
            reporter.warn(&format!("cannot record the captured session {session}: {error}"));
        }
        // Another call may succeed if the file or the store could not be used.
        if recorded.is_ok() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Returns the id of the session of a capture.
fn name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(END)?;
    (!name.starts_with('.')).then(|| name.to_owned())
}

/// Opens the session store of the user. Settings of a project do not apply: the sessions may be of
/// other projects.
fn open() -> Result<Sessions> {
    let config = Config::default();
    let store = open_store(None, &config, true)?;
    let counter = TokenizerOptions::default().load(&config, None, false, &Silent)?;
    let handoff = HandoffSettings::default();
    Ok(Sessions::new(store, counter.estimator, &handoff, &config.continuity))
}

fn record(sessions: &Sessions, session: &str, path: &Path) -> Result {
    let bytes = std::fs::read(path).map_err(|error| Error::io("read", path.display(), &error))?;
    let messages = read_messages(path, &bytes)?;
    if messages.is_empty() {
        return Ok(());
    }
    let options = WindowOptions { window: Some(WINDOW), output_reserve: None };
    let window = options.resolve(&Config::default(), None)?;
    let record = |id: &str| {
        let messages = NewMessages::Transcript(messages.clone());
        sessions.record_usage(id, messages, None, Some(&window), true).map(drop)
    };
    match record(session) {
        // The user went back to an earlier turn.
        Err(error) if error.code == Some(DIFFERS) => {
            let hash = blake3::hash(&bytes).to_hex();
            record(&format!("{session}-{}", &hash[..HASH_DIGITS]))
        }
        recorded => recorded,
    }
}

/// Reads the messages of a capture. A session that has just begun has none.
fn read_messages(path: &Path, bytes: &[u8]) -> Result<Vec<Message>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    input::messages_if_any(path, bytes, &Silent)
}

/// Removes captures that nothing has recorded for so long that the user no longer expects them. Failures
/// do not matter: the next capture tries again.
fn remove_old(folder: &Path) {
    let is_old = |entry: &DirEntry| {
        let modified = entry.metadata().ok().and_then(|file| file.modified().ok());
        modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > KEEP)
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(is_old) {
        let _ = std::fs::remove_file(entry.path());
    }
}

fn folder() -> Result<PathBuf> {
    let folder = folders::user_data_dir().ok_or_else(|| {
        Error::new(ErrorKind::Io, "cannot find the user's data folder for captured sessions")
    })?;
    Ok(folder.join("lcp").join("captures"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_files_without_messages_count_as_recorded() {
        let path = Path::new("a.jsonl");
        assert_eq!(read_messages(path, b"").unwrap().len(), 0);
        // An agent with another format, or a damaged file.
        let error = read_messages(path, b"{\"some\": \"format\"}\n").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
    }

    #[test]
    fn old_captures_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (name, age) in [("old", KEEP + Duration::from_secs(60)), ("new", KEEP / 2)] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(now.checked_sub(age).unwrap()).unwrap();
        }
        remove_old(folder.path());
        assert!(!folder.path().join("old").exists());
        assert!(folder.path().join("new").exists());
    }
}

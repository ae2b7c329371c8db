//! Registration of LCP with agents (RFC 0016 §8): the MCP server, and hooks where `lcp hook` serves
//! them.
//!
//! [`SetupOptions::plan`] reads the configuration of an agent and returns the changes, for people to
//! see. [`Plan::apply`] writes them. Comments, order, indentation, line ends and a byte order mark stay.
//! `undo` restores the bytes that were there before.
//!
//! | topic | files |
//! |---|---|
//! | agents, their files and entries | `agents.rs` |
//! | edits of JSON with comments, of TOML | `jsonc.rs`, `codex_toml.rs`; line ends: `document.rs` |
//! | the bytes before a change | `backups.rs` |

mod agents;
mod backups;
mod codex_toml;
mod document;
mod jsonc;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use agents::Agent;

use crate::error::{Error, ErrorKind, Result};
use crate::files;
use agents::Target;
use backups::{Backup, Backups};

/// A registration with an agent, or its removal.
#[derive(Clone, Copy)]
pub struct SetupOptions<'a> {
    /// The agent.
    pub agent: Agent,
    /// `true` to remove the registration.
    pub undo: bool,
    /// The command that starts LCP, such as `lcp` or an absolute path.
    pub program: &'a str,
    /// The environment variables of the user.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl std::fmt::Debug for SetupOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { agent, undo, program, .. } = self;
        f.debug_struct("SetupOptions")
            .field("agent", agent)
            .field("undo", undo)
            .field("program", program)
            .finish_non_exhaustive()
    }
}

/// The changes of a registration.
#[derive(Debug)]
pub struct Plan {
    changes: Vec<FileChange>,
    backups: Backups,
}

/// The change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path of the file.
    pub path: PathBuf,
    /// The text before the change; `None` if there is no file.
    pub before: Option<String>,
    /// The text after the change; `None` if the file is to be removed.
    pub after: Option<String>,
    /// Something that the user should know before the change.
    pub note: Option<String>,
    backup: BackupChange,
}

/// The change of the backup of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BackupChange {
    /// It gets this text, which `undo` restores; `None` if there was no file.
    Write(Option<String>),
    /// It is no longer needed.
    Remove,
}

impl SetupOptions<'_> {
    /// Reads the configuration, and returns the changes that are needed.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or parsed, or has another value in a place of LCP.
    pub fn plan(&self) -> Result<Plan> {
        let backups = Backups::new(self.variable)?;
        let mut changes = Vec::new();
        for target in self.agent.targets(self.program, self.variable)? {
            let before = read(&target.path)?;
            let backup = backups.read(&target.path)?;
            let change = if self.undo {
                undo(&target, before, backup)?
            } else {
                add(&target, before, backup)?
            };
            changes.extend(change.filter(|change| change.before != change.after));
        }
        Ok(Plan { changes, backups })
    }
}

impl Plan {
    /// Returns the changes, in the order in which they are written.
    #[must_use]
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// Writes the changes, each file atomically.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written, or has changed since it was read.
    pub fn apply(&self) -> Result {
        self.changes.iter().try_for_each(check_writable)?;
        for change in &self.changes {
            if read(&change.path)? != change.before {
                let message = format!("{} has changed meanwhile", change.path.display());
                return Err(Error::new(ErrorKind::Io, message).with_hint("run the command again"));
            }
            // The backup comes first: if the second write fails, `undo` finds other bytes and removes
            // only entries of LCP.
            if let (BackupChange::Write(before), Some(after)) = (&change.backup, &change.after) {
                self.backups.write(&change.path, before.as_deref(), after)?;
            }
            match &change.after {
                Some(after) => write(&change.path, after)?,
                None => std::fs::remove_file(&change.path)
                    .map_err(|error| Error::io("remove", change.path.display(), &error))?,
            }
            if change.backup == BackupChange::Remove {
                self.backups.remove(&change.path)?;
            }
        }
        Ok(())
    }
}

/// Returns the change that adds the entries to a file.
fn add(
    target: &Target,
    before: Option<String>,
    backup: Option<Backup>,
) -> Result<Option<FileChange>> {
    let path = target.path.clone();
    let edited = document::edit(&path, before.as_deref(), |text| target.add(text))?;
    let restores = match (backup, &before) {
        // Nothing else has written the file since the last change by LCP.
        (Some(backup), Some(text)) if backup.is_current(text) => backup.before,
        (_, Some(text)) if edited.replaces => Some(text.clone()),
        (_, Some(text)) => {
            Some(document::edit(&path, Some(text), |text| target.remove(text).map(Some))?.text)
        }
        (_, None) => None,
    };
    let note = edited
        .replaces
        .then(|| format!("{} has another entry `lcp`, which is replaced", path.display()));
    Ok(Some(FileChange {
        path,
        after: Some(edited.text),
        before,
        note,
        backup: BackupChange::Write(restores),
    }))
}

/// Returns the change that removes the entries from a file. Without a backup, LCP has not written the
/// file, so its entries are those of the user.
fn undo(
    target: &Target,
    before: Option<String>,
    backup: Option<Backup>,
) -> Result<Option<FileChange>> {
    let (Some(text), Some(backup)) = (before, backup) else { return Ok(None) };
    let path = target.path.clone();
    if backup.is_current(&text) {
        let after = backup.before;
        return Ok(Some(FileChange {
            path,
            before: Some(text),
            after,
            note: None,
            backup: BackupChange::Remove,
        }));
    }
    let rest = document::edit(&path, Some(&text), |text| target.remove(text).map(Some))?.text;
    let after = (backup.before.is_some() || !document::is_empty(&rest)).then_some(rest);
    let note = format!(
        "{} has changed since `lcp setup` wrote it, so only the entries of LCP are removed",
        path.display()
    );
    Ok(Some(FileChange {
        path,
        before: Some(text),
        after,
        note: Some(note),
        backup: BackupChange::Remove,
    }))
}

/// Reads a file as text, or returns `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = files::read_if_exists(path)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{} is not UTF-8 (byte {at})", path.display());
        Error::new(ErrorKind::Malformed, message)
    })
}

/// Checks that a file may be replaced, before the first one is.
fn check_writable(change: &FileChange) -> Result {
    let path = &change.path;
    let failed = |kind: io::ErrorKind, hint: &str| {
        Err(Error::io("write", path.display(), &kind.into()).with_hint(hint))
    };
    match std::fs::metadata(path) {
        Ok(file) if file.permissions().readonly() => failed(
            io::ErrorKind::PermissionDenied,
            "make the file writable, or add the lines of --dry-run to it",
        ),
        Err(_) if path.is_symlink() => {
            failed(io::ErrorKind::NotFound, "create the file to which the link points")
        }
        _ => Ok(()),
    }
}

/// Writes a file. Only the user can read a new one: agents store keys in their configuration.
fn write(path: &Path, text: &str) -> Result {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::io("create", folder.display(), &error))?;
    }
    files::write_private(path, text.as_bytes())
}

//! Changes of packs in place: locks, appends, and rollback after an interruption (RFC 0003 §8).

#[cfg(feature = "messages")]
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_decoder::ReadAt;
use lcp_encoder::{Compression, EncodeOptions};
#[cfg(feature = "messages")]
use lcp_ingest::SecretPolicy;
use lcp_packfile::journal::{self, JournalState, LockResult, PackFile, Storage as _, TailChange};
use lcp_packfile::{AppendInput, AppendOptions, AppendResult, Error as AppendError, Properties};
use lcp_types::Block;

#[cfg(feature = "messages")]
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::interrupt;
use crate::pack_output;
use crate::reporter::Reporter;
#[cfg(feature = "messages")]
use crate::secrets::{self, AppendedSecrets};

/// The settings of an append.
#[derive(Debug)]
pub struct AppendSettings<'a> {
    /// The compression of new blocks; `None` for that of the old ones.
    pub compression: Option<Compression>,
    /// Properties to set on all new blocks.
    pub properties: &'a Properties,
    /// The treatment of secrets; `Exclude` is treated like `Warn`.
    #[cfg(feature = "messages")]
    pub secrets: SecretPolicy,
    /// The settings, for exceptions from the search.
    #[cfg(feature = "messages")]
    pub config: &'a Config,
}

/// A pack that only this process may change.
#[derive(Debug)]
pub struct LockedPack<'p> {
    path: &'p Path,
    file: PackFile,
}

impl<'p> LockedPack<'p> {
    /// Locks a pack. Waits for other processes that use it, at most for `wait`.
    pub fn lock(path: &'p Path, wait: Duration) -> Result<Self> {
        match PackFile::lock(path, wait) {
            Ok(LockResult::Acquired(file)) => Ok(Self { path, file }),
            Ok(LockResult::Busy) => {
                let message = format!("another process is using the pack ({})", path.display());
                Err(Error::new(ErrorKind::Io, message)
                    .with_hint("pass --wait SECONDS to wait longer"))
            }
            Err(error) => Err(Error::io("open", path.display(), &error)),
        }
    }

    /// Rolls back an interrupted append, with a warning.
    fn roll_back(&mut self, reporter: &dyn Reporter) -> Result<JournalState> {
        let path = self.path.display();
        let state = interrupt::defer_interrupt(|| journal::roll_back(&mut self.file))
            .map_err(|error| Error::io("roll back", path, &error))?;
        if state == JournalState::RolledBack {
            reporter.warn(&format!(
                "an append was interrupted; restored the old pack ({})",
                self.path.display()
            ));
        }
        Ok(state)
    }

    /// Rolls back an interrupted append, then opens the pack. A large pack is not read into memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack cannot be read, or if it has a journal that cannot be used.
    pub fn open(&mut self, reporter: &dyn Reporter) -> Result<Box<dyn ReadAt>> {
        let state = self.roll_back(reporter)?;
        let journal = self.file.journal_path().display();
        let (message, hint) = match state {
            JournalState::Absent | JournalState::Torn | JournalState::RolledBack => {
                let opened = self.source();
                return opened.map_err(|error| Error::io("read", self.path.display(), &error));
            }
            JournalState::Unknown => (
                format!(
                    "cannot read the journal of the pack: it is damaged, from a newer version, or \
                     not a journal ({journal})"
                ),
                UNKNOWN_JOURNAL,
            ),
            JournalState::Foreign => (
                format!("the journal belongs to a different pack ({journal})"),
                "remove the journal if this pack replaced another one during an append",
            ),
        };
        Err(Error::new(ErrorKind::Malformed, message).with_hint(hint))
    }

    fn source(&self) -> std::io::Result<Box<dyn ReadAt>> {
        if self.file.source().size()? < files::LARGE_BYTES {
            return Ok(Box::new(self.file.pack()?));
        }
        Ok(Box::new(self.file.try_clone()?))
    }

    /// Returns the change of `pack` that appends the blocks of other packs, for [`Self::write`]. Each
    /// addition has its path.
    pub fn append(
        &self,
        pack: &dyn ReadAt,
        additions: &[(PathBuf, Vec<u8>)],
        settings: &AppendSettings<'_>,
    ) -> Result<AppendResult> {
        let names: Vec<_> = additions.iter().map(|(path, _)| files::display_name(path)).collect();
        let inputs = names.iter().zip(additions);
        let inputs: Vec<_> = inputs.map(|(name, (_, pack))| AppendInput { name, pack }).collect();
        #[cfg(feature = "messages")]
        let filter = secrets::filter(settings.secrets, settings.config)?;
        #[cfg(feature = "messages")]
        let secrets = RefCell::new(AppendedSecrets::new(&filter, pack)?);
        let change = |at: usize, blocks: &mut Vec<Block<'_>>| {
            #[cfg(feature = "messages")]
            secrets.borrow_mut().apply(&names[at], blocks);
            #[cfg(not(feature = "messages"))]
            let _ = at;
            settings.properties.set_all(blocks);
        };
        let options = AppendOptions {
            compression: settings.compression,
            count_costs: Some(&pack_output::count_costs),
            change: Some(&change),
        };
        let appended =
            lcp_packfile::append(pack, &inputs, &options).map_err(|error| match error {
                AppendError::Malformed { input: Some(at), error } => {
                    let (path, pack) = &additions[at];
                    files::malformed(path, pack, &error)
                }
                error => pack_error(self.path, pack, &error),
            })?;
        #[cfg(feature = "messages")]
        let appended = {
            let mut appended = appended;
            appended.warnings.extend(secrets.into_inner().warning());
            appended
        };
        Ok(appended)
    }

    /// Changes the end of the pack. After a crash, the file is the old pack or the new one.
    ///
    /// Call this function within [`interrupt::defer_interrupt`] to delay interruptions.
    pub fn write(&mut self, change: &TailChange) -> Result {
        journal::replace_tail(&mut self.file, change)
            .map_err(|error| Error::io("write", self.path.display(), &error))
    }
}

#[cfg(feature = "messages")]
const UNKNOWN_JOURNAL: &str = "try a newer version of LCP; or remove the journal if `lcp validate \
                               --full PACK` reports no problem, or after `lcp recover PACK -o NEW`";

#[cfg(not(feature = "messages"))]
const UNKNOWN_JOURNAL: &str =
    "try a newer version of LCP; or remove the journal after `lcp recover PACK -o NEW`";

/// Rolls back an interrupted append to a pack. Warns about it, or about the error if this fails:
/// readers ignore an append that cannot be rolled back.
pub fn roll_back(pack: &Path, reporter: &dyn Reporter) {
    let journal = pack.canonicalize().map(|path| journal::journal_path(&path));
    if !journal.is_ok_and(|journal| journal.exists()) {
        return;
    }
    let locked = LockedPack::lock(pack, Duration::from_secs(10));
    // Readers of the pack report a remaining journal.
    if let Err(error) = locked.and_then(|mut locked| locked.roll_back(reporter)) {
        reporter.warn(&error.message);
    }
}

/// Reads a pack to append. A JSON manifest is encoded as a pack.
pub fn read_addition(path: &Path, reporter: &dyn Reporter) -> Result<Vec<u8>> {
    let bytes = files::read(path, reporter)?;
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    // A transcript is JSON as well. Reading it as a pack fails with a hint.
    #[cfg(feature = "messages")]
    let is_json = is_json && lcp_transcripts::detect(&bytes).is_none();
    if is_json {
        return pack_output::encode_manifest(path, &bytes, EncodeOptions::default())
            .map(|(pack, _)| pack);
    }
    Ok(bytes)
}

/// Converts the error of a pack that was read from `path`.
pub(crate) fn pack_error(path: &Path, pack: &dyn ReadAt, error: &AppendError) -> Error {
    let kind = match error {
        AppendError::Malformed { error, .. } => {
            return files::malformed(path, &files::beginning(pack), error);
        }
        AppendError::Read(error) => return Error::io("read", path.display(), error),
        AppendError::NotAppendable(_) => ErrorKind::Usage,
        AppendError::Damaged(_) => ErrorKind::Malformed,
        _ => ErrorKind::Limit,
    };
    let failure = Error::new(kind, format!("{error} ({})", files::display_name(path)));
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

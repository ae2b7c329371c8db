//! Storage of a pack and its journal on disk, with locks.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lcp_decoder::{ReadAt, SourceReader};

use super::{JOURNAL, JournalState, journal_path, rolled_back};

/// Operations on a pack and its journal.
#[expect(clippy::missing_errors_doc, reason = "those of the system")]
pub trait Storage {
    /// Returns the pack.
    fn source(&self) -> &dyn ReadAt;
    /// Reads the pack.
    fn pack(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        SourceReader::new(self.source())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
    /// Overwrites bytes of the pack. Bytes beyond its end are appended.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Sets the size of the pack in bytes.
    fn set_len(&mut self, len: u64) -> io::Result<()>;
    /// Waits until all changes to the pack are durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Reads the journal. Returns `None` if it does not exist.
    fn journal(&mut self) -> io::Result<Option<Vec<u8>>>;
    /// Creates the journal with these bytes. An existing journal is an error.
    fn write_journal(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the bytes of the journal are durable.
    fn sync_journal(&mut self) -> io::Result<()>;
    /// Waits until the creation or removal of the journal is durable.
    fn sync_folder(&mut self) -> io::Result<()>;
    /// Removes the journal if it exists.
    fn remove_journal(&mut self) -> io::Result<()>;
}

/// The interval between two attempts to lock a file.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The maximum time that a reader waits for a process that modifies a pack.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The file of a pack, locked for exclusive use by this process.
#[derive(Debug)]
pub struct PackFile {
    file: File,
    /// The path of the journal, which is next to the pack.
    journal: PathBuf,
    /// The file of the journal while it is being written.
    open: Option<File>,
}

/// The result of [`PackFile::lock`].
#[derive(Debug)]
pub enum LockResult {
    /// The file is locked by this process.
    Acquired(PackFile),
    /// Another process has locked the file.
    Busy,
}

impl PackFile {
    /// Opens a pack for modification. Waits up to `wait` for other processes that have locked it.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack cannot be opened or is not a regular file.
    pub fn lock(path: &Path, wait: Duration) -> io::Result<LockResult> {
        // The target of a symbolic link is modified, so the journal belongs next to the target.
        let path = path.canonicalize()?;
        let until = Instant::now().checked_add(wait);
        loop {
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            if !file.metadata()?.is_file() {
                return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
            }
            if !is_free(until, || file.try_lock())? {
                return Ok(LockResult::Busy);
            }
            // Another file may have replaced this one during the wait.
            if is_at(&file, &path)? {
                let journal = journal_path(&path);
                return Ok(LockResult::Acquired(Self { file, journal, open: None }));
            }
        }
    }

    /// Returns another handle of the file. A file that is opened again could not be read on systems
    /// with mandatory locks.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    pub fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Returns the path of the journal.
    pub fn journal_path(&self) -> &Path {
        &self.journal
    }
}

/// Tries to take a lock until it succeeds or the time `until` is reached, and returns whether it
/// succeeded. If the system does not support locks, the result is `true`.
fn is_free(
    until: Option<Instant>,
    lock: impl Fn() -> Result<(), TryLockError>,
) -> io::Result<bool> {
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                return Ok(true);
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(false);
        }
        std::thread::sleep(LOCK_RETRY_INTERVAL);
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let (open, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    // An open file cannot be replaced on these systems.
    path.try_exists()
}

impl Storage for PackFile {
    fn source(&self) -> &dyn ReadAt {
        &self.file
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn journal(&mut self) -> io::Result<Option<Vec<u8>>> {
        if_there(std::fs::read(&self.journal))
    }

    fn write_journal(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // The journal has a part of the pack, so it must not be readable for more users than the
        // pack.
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
            options.mode(self.file.metadata()?.mode() & 0o777);
        }
        self.open.insert(options.open(&self.journal)?).write_all(bytes)
    }

    fn sync_journal(&mut self) -> io::Result<()> {
        self.open.take().map_or(Ok(()), |journal| journal.sync_all())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        // On other systems, directories cannot be opened, and their changes are written in order.
        #[cfg(unix)]
        if let Some(folder) = self.journal.parent() {
            match File::open(folder)?.sync_all() {
                // Some file systems do not support this.
                Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                synced => synced?,
            }
        }
        Ok(())
    }

    fn remove_journal(&mut self) -> io::Result<()> {
        self.open = None;
        if_there(std::fs::remove_file(&self.journal)).map(drop)
    }
}

/// Removes the journal that belonged to a pack before the pack was replaced. A file that is not a
/// journal of any version is not removed.
pub fn remove(pack: &Path) {
    let path = journal_path(pack);
    let mut name = [0; JOURNAL.len()];
    let is_one = File::open(&path).and_then(|mut file| file.read_exact(&mut name)).is_ok();
    if is_one && name == JOURNAL {
        // If the removal fails, readers detect that the journal belongs to a different pack.
        let _ = std::fs::remove_file(&path);
    }
}

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Waits until no process modifies the pack, and locks it for reading until the file is closed. If
/// the file system refuses locks, the file remains unlocked.
///
/// # Errors
///
/// Returns an error if another process modifies the pack for longer than a minute.
pub fn lock_shared(file: &File) -> io::Result<()> {
    shared(LOCK_TIMEOUT, || file.try_lock_shared())
}

fn shared(timeout: Duration, lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<()> {
    // Some network drives refuse locks. Reading then continues without one.
    if is_free(Instant::now().checked_add(timeout), lock).unwrap_or(true) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::WouldBlock, "another process is changing the pack"))
}

/// Reads the rest of an open pack after the bytes `begun`. If its journal belongs to it, the old
/// pack is returned.
///
/// # Errors
///
/// Returns an error if the pack cannot be read, or if another process modifies it for longer than a
/// minute.
pub fn read(
    path: &Path,
    file: &mut File,
    mut begun: Vec<u8>,
) -> io::Result<(Vec<u8>, JournalState)> {
    lock_shared(file)?;
    file.read_to_end(&mut begun)?;
    let journal = path.canonicalize().and_then(|path| std::fs::read(journal_path(&path)));
    Ok(rolled_back(begun, if_there(journal)?.as_deref()))
}

#[cfg(test)]
mod tests;

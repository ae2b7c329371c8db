//! A pack and its journal on a disk, and who may change them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{JOURNAL, JournalState, journal_path, rolled_back};

/// What can be done with a pack and the journal beside it.
#[expect(clippy::missing_errors_doc, reason = "those of the system")]
pub trait Storage {
    /// The pack's bytes.
    fn pack(&mut self) -> io::Result<Vec<u8>>;
    /// Overwrites bytes of the pack, and adds those beyond its end.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the pack.
    fn set_len(&mut self, len: u64) -> io::Result<()>;
    /// Waits until all that was done to the pack outlasts a crash.
    fn sync(&mut self) -> io::Result<()>;
    /// The journal's bytes, if there is one.
    fn journal(&mut self) -> io::Result<Option<Vec<u8>>>;
    /// Makes the journal.
    fn write_journal(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits until its bytes outlast a crash.
    fn sync_journal(&mut self) -> io::Result<()>;
    /// Waits until its being there or not outlasts a crash.
    fn sync_folder(&mut self) -> io::Result<()>;
    /// Removes the journal, if there is one.
    fn remove_journal(&mut self) -> io::Result<()>;
}

/// How long is waited between two looks whether a lock is free.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// How long a reader waits for whoever is changing a pack.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// A pack's file, open for this process alone.
#[derive(Debug)]
pub struct PackFile {
    file: File,
    path: PathBuf,
    journal: PathBuf,
    /// The journal while it is written.
    open: Option<File>,
}

/// What came of asking for a pack's file.
#[derive(Debug)]
pub enum LockResult {
    /// It is ours.
    Acquired(PackFile),
    /// Another process has it still.
    Busy,
}

impl PackFile {
    /// Opens a pack to change it, and waits for others who do.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is no file.
    pub fn lock(path: &Path, wait: Duration) -> io::Result<LockResult> {
        // What stands behind a link is changed, so the journal is there.
        let path = path.canonicalize()?;
        let until = Instant::now().checked_add(wait);
        loop {
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            if !file.metadata()?.is_file() {
                return Err(io::Error::new(ErrorKind::InvalidInput, "this is no file"));
            }
            if !is_free(until, || file.try_lock())? {
                return Ok(LockResult::Busy);
            }
            // Another pack may have taken its place while this one was waited for.
            if is_at(&file, &path)? {
                let journal = journal_path(&path);
                return Ok(LockResult::Acquired(Self { file, path, journal, open: None }));
            }
        }
    }

    /// Where the journal is.
    pub fn journal_path(&self) -> &Path {
        &self.journal
    }
}

/// Waits until a lock is free, as long as there is time. Where there are no locks it is.
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
    // What is open is not replaced here.
    path.try_exists()
}

impl Storage for PackFile {
    fn pack(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
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
        // It holds a part of the pack: nobody else may read it.
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
        // Elsewhere folders cannot be opened, and their changes are written in order.
        #[cfg(unix)]
        if let Some(folder) = self.path.parent() {
            match File::open(folder)?.sync_all() {
                // Some file systems know no such thing.
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

/// Removes the journal of a pack that was there before another took its place; what is no
/// journal, of whatever version, stays.
pub fn remove(pack: &Path) {
    let path = journal_path(pack);
    let mut name = [0; JOURNAL.len()];
    let is_one = File::open(&path).and_then(|mut file| file.read_exact(&mut name)).is_ok();
    if is_one && name == JOURNAL {
        // If it stays, readers find that it is of another pack.
        let _ = std::fs::remove_file(&path);
    }
}

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Waits until nobody changes a pack, and locks it while the file is open.
///
/// # Errors
///
/// If somebody is changing it for longer than a minute.
pub fn lock_shared(file: &File) -> io::Result<()> {
    shared(LOCK_TIMEOUT, || file.try_lock_shared())
}

fn shared(timeout: Duration, lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<()> {
    // Where locks are refused, as on some network drives, reading goes on without.
    if is_free(Instant::now().checked_add(timeout), lock).unwrap_or(true) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::WouldBlock, "another process is changing it"))
}

/// Reads the rest of an open pack after `begun`, rolled back if its journal says so.
///
/// # Errors
///
/// If it cannot be read, or somebody is changing it for longer than a minute.
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

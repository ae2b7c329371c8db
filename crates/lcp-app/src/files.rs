//! Reading and writing of standard streams, files and packs. Files are replaced atomically.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use lcp_decoder::{DecodeOptions, Pack, ReadAt};
use lcp_packfile::journal;
use lcp_types::wire::MAGIC_LCP;

use crate::error::{Error, ErrorKind, Result};
use crate::interrupt;
use crate::reporter::Reporter;

/// The name of standard input and output.
pub const STANDARD: &str = "-";

/// Reads a file, or standard input for `-`. If a pack is being changed, its old state is read.
/// Warns about the journal of an interrupted change.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn read(path: &Path, reporter: &dyn Reporter) -> Result<Vec<u8>> {
    if path == OsStr::new(STANDARD) {
        announce_terminal(reporter);
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        return read.map(|_| bytes).map_err(|error| Error::io("read", "standard input", &error));
    }
    read_file(path, reporter).map_err(|error| {
        let failure = Error::io("read", path.display(), &error);
        if cfg!(feature = "full") && error.kind() == io::ErrorKind::IsADirectory {
            return failure
                .with_hint("pass a file, or pack the folder with `lcp pack FOLDER -o PACK`");
        }
        failure
    })
}

/// Reports that the program waits for input, if standard input is a terminal.
pub fn announce_terminal(reporter: &dyn Reporter) {
    if std::io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };
        reporter.summary(&format!("reading from the terminal; end with {end}"));
    }
}

/// Reads a file. If the file is a pack with an unfinished change, its old state is returned.
fn read_file(path: &Path, reporter: &dyn Reporter) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&file).take(MAGIC_LCP.len() as u64).read_to_end(&mut bytes)?;
    if bytes != MAGIC_LCP || !file.metadata()?.is_file() {
        return file.read_to_end(&mut bytes).map(|_| bytes);
    }
    let (bytes, state) = journal::read(path, &mut file, bytes)?;
    if let Some(message) = state.message() {
        reporter.warn_at_end(&format!("{message} ({})", path.display()));
    }
    Ok(bytes)
}

/// The size in bytes from which packs are read in parts, so that they need not fit in memory. Smaller
/// packs are read faster as a whole.
pub const LARGE_BYTES: u64 = 64 << 20;

/// Opens a pack that is large enough to be read in parts. Returns `None` for other files, which are
/// read as a whole.
pub fn open_large(path: &Path) -> Option<File> {
    let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    open_regular_file(path).filter(|_| size >= LARGE_BYTES)
}

/// Opens a pack, or reads it if it is small or not a regular file.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn open_pack(path: &Path, reporter: &dyn Reporter) -> Result<Box<dyn ReadAt>> {
    match open_large(path) {
        Some(file) => Ok(Box::new(file)),
        None => Ok(Box::new(read(path, reporter)?)),
    }
}

/// Opens a regular file, which can be read at any offset. Returns `None` for other files, and for a
/// pack with an interrupted append.
pub fn open_regular_file(path: &Path) -> Option<File> {
    // Opening and closing a pipe would discard data that another process writes.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    // The lock prevents appends during the read. A pack with an interrupted append is read in its
    // old state.
    journal::lock_shared(&file).ok()?;
    let path = path.canonicalize().ok()?;
    (!journal::journal_path(&path).exists()).then_some(file)
}

/// Returns the first megabyte of a pack, for messages about its format. It is empty if it cannot be
/// read.
pub(crate) fn beginning(pack: &dyn ReadAt) -> Vec<u8> {
    let end = pack.size().unwrap_or(0).min(1 << 20);
    let read = if end == 0 { Ok(Vec::new()) } else { pack.read(std::slice::from_ref(&(0..end))) };
    read.ok().and_then(|read| read.into_iter().next()).unwrap_or_default().into_owned()
}

/// Reads a file, or returns `None` if it does not exist.
///
/// # Errors
///
/// Returns an error if the file exists and cannot be read.
pub fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|error| Error::io("read", path.display(), &error)),
    }
}

/// Returns the name of a path for messages.
pub fn display_name(path: &Path) -> String {
    if path == OsStr::new(STANDARD) { "standard input".into() } else { path.display().to_string() }
}

/// Adds the name of a file to a message. A position at the end of the message follows the name, as
/// in `(FILE, line 3, column 7)`.
pub(crate) fn located(message: &str, path: &Path) -> String {
    let name = display_name(path);
    match message.strip_suffix(')').and_then(|message| message.rsplit_once(" (line ")) {
        Some((message, position)) => format!("{message} ({name}, line {position})"),
        None => format!("{message} ({name})"),
    }
}

/// Writes a file through a temporary file that replaces it.
pub fn write(path: &Path, bytes: &[u8]) -> Result {
    write_file(path, bytes, Replacement::create).map_err(|error| unwritten(path, error))
}

/// Writes a file as [`write`] does. Only the user can read it if it is new.
#[cfg(feature = "agents")]
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result {
    write_file(path, bytes, Replacement::create_private).map_err(|error| unwritten(path, error))
}

pub(crate) fn unwritten(path: &Path, error: std::io::Error) -> Error {
    // `tempfile` adds the name of the temporary file, which does not help users. Its error hides
    // that of the system.
    let said = error.to_string();
    let plain = match said.split_once(" at path \"") {
        Some((plain, _)) if error.raw_os_error().is_none() => {
            std::io::Error::new(error.kind(), plain)
        }
        _ => error,
    };
    Error::io("write", path.display(), &plain)
}

/// Checks that a file can be written, before anything is written.
fn check(path: &Path) -> Result {
    let checked = match std::fs::metadata(path) {
        Ok(existing) if existing.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(()),
        Err(_) => interrupt::register_temp_file(|| temporary(path, readable())).map(drop),
    };
    checked.map_err(|error| unwritten(path, error))
}

/// The name of the pack in messages.
pub const PACK: &str = "the pack";

/// Checks the files of a command, each with its name for errors. An output must not be the same
/// file as an input or another output, unless `may_replace` allows this pair. Each output must be
/// writable before the first one is written.
pub fn check_distinct_paths(
    inputs: &[(&str, &Path)],
    outputs: &[(&str, &Path)],
    may_replace: impl Fn(&str, &str) -> bool,
) -> Result {
    let named = |of: &(&str, &Path)| of.1 != Path::new(STANDARD);
    let taken: Vec<_> = inputs.iter().chain(outputs).copied().filter(named).collect();
    let places: Vec<_> = taken.iter().map(|(_, path)| comparable_path(path)).collect();
    for (at, (flag, path)) in taken.iter().enumerate() {
        // Devices and pipes may be used several times.
        let is_file = !path.exists() || path.is_file();
        let same = (0..at).find(|&other| {
            is_file && !may_replace(taken[other].0, flag) && places[other] == places[at]
        });
        if let Some((other, _)) = same.map(|same| taken[same]) {
            let message = format!("{other} and {flag} are the same file ({})", path.display());
            return Err(Error::new(ErrorKind::Usage, message));
        }
    }
    outputs.iter().filter(|output| named(output)).try_for_each(|(_, path)| check(path))
}

/// Resolves a path for comparison, even if the file does not exist yet.
fn comparable_path(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside =
        || Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

fn write_file(
    path: &Path,
    bytes: &[u8],
    create: impl FnOnce(&Path) -> std::io::Result<Option<Replacement>>,
) -> std::io::Result<()> {
    let Some(mut replacement) = create(path)? else {
        return open_device(path)?.write_all(bytes);
    };
    replacement.file.write_all(bytes)?;
    replacement.persist()
}

/// Opens a pipe or a device, which cannot be replaced.
pub(crate) fn open_device(path: &Path) -> std::io::Result<File> {
    std::fs::OpenOptions::new().write(true).open(path)
}

/// A temporary file that will replace another one.
#[derive(Debug)]
pub(crate) struct Replacement {
    pub(crate) file: tempfile::NamedTempFile,
    target: PathBuf,
    _guard: interrupt::TempFileGuard,
}

impl Replacement {
    /// Creates a file next to `path`. Returns `None` for a pipe or a device.
    pub(crate) fn create(path: &Path) -> std::io::Result<Option<Self>> {
        Self::create_with(path, readable())
    }

    /// Creates a file next to `path` that only the user can read if `path` is new.
    #[cfg(feature = "agents")]
    fn create_private(path: &Path) -> std::io::Result<Option<Self>> {
        // It is the default of temporary files.
        Self::create_with(path, None)
    }

    fn create_with(
        path: &Path,
        permissions_of_new: Option<Permissions>,
    ) -> std::io::Result<Option<Self>> {
        let existing = std::fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            return Ok(None);
        }
        // The target of a link is replaced, not the link.
        let target = if existing.is_some() { path.canonicalize()? } else { path.to_owned() };
        let permissions = existing.map(|existing| existing.permissions()).or(permissions_of_new);
        let (file, guard) = interrupt::register_temp_file(|| temporary(&target, permissions))?;
        Ok(Some(Self { file, target, _guard: guard }))
    }

    /// Replaces the target.
    pub(crate) fn persist(self) -> std::io::Result<()> {
        self.file.persist(&self.target).map_err(|error| error.error)?;
        journal::remove(&self.target);
        Ok(())
    }
}

/// Creates a temporary file that will replace `target`.
fn temporary(
    target: &Path,
    permissions: Option<Permissions>,
) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lcp-");
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// Returns the default permissions of a new file before the umask, where systems have modes.
#[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "other systems have no modes"))]
fn readable() -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

/// Decodes a pack that was read from `path`.
pub fn decode<'a>(path: &Path, bytes: &'a [u8]) -> Result<Pack<'a>> {
    lcp_decoder::decode_parallel(bytes, DecodeOptions::default())
        .map_err(|error| malformed(path, bytes, &error))
}

/// The hint for an input that is not a pack.
const CREATE: &str = if cfg!(feature = "full") {
    "create a pack with `lcp pack PATH`, or with `lcp import FILE` from a transcript"
} else {
    "create a pack from a JSON manifest with `lcp encode MANIFEST -o PACK`"
};

/// The message about an empty file.
pub(crate) const EMPTY: &str = "not an LCP pack: the input is empty";

/// Converts a decoding error of the pack at `path`. The message has the block and the offset.
pub fn malformed(path: &Path, bytes: &[u8], error: &lcp_decoder::Error) -> Error {
    let kind = match error.kind() {
        _ if error.is_limit() => ErrorKind::Limit,
        _ if error.is_external() => ErrorKind::Io,
        _ => ErrorKind::Malformed,
    };
    let what = if bytes.is_empty() { EMPTY.to_owned() } else { error.kind().to_string() };
    let message =
        format!("{what} [{}] ({}, {})", error.code(), display_name(path), error.location());
    let failure = Error::new(kind, message).with_code(error.code());
    let looks_like_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    #[cfg(feature = "messages")]
    if let lcp_decoder::ErrorKind::BadMagic { .. } = error.kind()
        && let Some(format) = lcp_transcripts::detect(bytes)
        // Any text is Markdown.
        && format != lcp_transcripts::Format::Markdown
    {
        return failure.with_hint(format!(
            "it looks like a transcript ({format}); convert it with `lcp import FILE`"
        ));
    }
    match error.kind() {
        lcp_decoder::ErrorKind::BadMagic { .. } if looks_like_json => {
            failure.with_hint(
                "it looks like JSON: convert a manifest with `lcp encode`, a transcript with \
                 `lcp import`",
            )
        }
        lcp_decoder::ErrorKind::BadMagic { .. } => failure.with_hint(CREATE),
        _ if bytes.is_empty() => failure.with_hint(CREATE),
        lcp_decoder::ErrorKind::UnexpectedEof { .. } | lcp_decoder::ErrorKind::MissingEnd => {
            failure.with_hint("the pack is truncated: copy it again, or save its intact blocks with `lcp recover PACK -o NEW`")
        }
        _ => failure,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Opening a pipe would wait for a writer, and would discard its data.
    #[test]
    fn open_regular_file_does_not_open_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(open_regular_file(&pipe).is_none()));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(true));
    }
}

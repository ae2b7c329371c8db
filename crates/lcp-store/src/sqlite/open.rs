//! Opens a path as a connection: verifies the owner of the file and configures SQLite.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::error::{Error, Result};
use super::schema::{Options, SchemaSpec};
use super::{paths, schema};

/// The size of the log, in pages, at which SQLite copies it into the database. Writers wait during the
/// copy, so the value is a quarter of SQLite's default.
const CHECKPOINT_PAGES: i64 = 256;

/// Opens a file for writing. Creates it if it does not exist or is empty, and upgrades an older
/// version.
///
/// Any number of processes, and of connections in one process, can have the same file open.
/// Symbolic links to the file are resolved. Do not open the file through two hard links at the same
/// time. While the file is open, SQLite keeps two more files next to it, `-wal` and `-shm`, which
/// belong to it.
///
/// If the file does not exist or is empty, but its log has content, the file was moved without its
/// log. In this case no file is created, because that would destroy the log.
///
/// # Errors
///
/// Returns
///
/// - [`Error::ForeignFile`] if the file is something else, or [`Error::TooNew`] if it has a newer
///   version; the file is not changed;
/// - [`Error::Damaged`] if the header of the file matches `spec`, but its objects do not;
/// - [`Error::ReadOnly`] if the file cannot be written;
/// - [`Error::NetworkFileSystem`] if the file is on a network file system and
///   [`Options::local_only`] is set;
/// - [`Error::Moved`] if only its log exists.
pub fn open(path: impl AsRef<Path>, spec: &SchemaSpec, options: &Options) -> Result<Connection> {
    let path = paths::resolve(path.as_ref())?;
    if options.local_only {
        paths::check_local(&path)?;
    }
    // Check for the log first, because another process that creates the file creates its log last.
    let has_log = paths::has_log(&path);
    if !paths::is_new(&path)? {
        check_header(&path, spec)?;
    } else if has_log {
        let reason =
            "the file is missing but its log (-wal) exists; move the file back, or the log away";
        return Err(Error::Moved { path, reason });
    } else if options.private {
        paths::create_private(&path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)
        .map_err(|error| paths::creation_error(&path).unwrap_or_else(|| error.into()))?;
    // If SQLite cannot open a file for writing, it silently opens it for reading.
    if connection.is_readonly("main")? {
        return Err(Error::ReadOnly);
    }
    prepare(&connection, spec, options)?;
    if schema::is_empty(&connection)? {
        schema::create(&mut connection, spec)?;
    }
    if schema::version(&connection, &path, spec)? < i64::from(spec.version) {
        schema::upgrade(&mut connection, &path, spec)?;
    }
    schema::check(&connection, spec)?;
    write_ahead(&connection, options.busy_timeout)?;
    let synchronous = if options.durable { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    if let Some(bytes) = options.max_bytes {
        let pages = (bytes / u64::from(spec.page_bytes.max(1))).max(1);
        let pages = i64::try_from(pages).unwrap_or(i64::MAX);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

/// Opens an existing file for reading. Other processes can write to it meanwhile.
///
/// Exception: if the folder is not writable either, as on a read-only medium, the file must not
/// change while it is open. Changes would be missed, or would look like damage.
///
/// # Errors
///
/// Returns the errors of [`open`]. Returns [`Error::Io`] if the file does not exist, or if it must
/// be opened for writing once, because its version is older or its last writer was interrupted.
pub fn open_read_only(
    path: impl AsRef<Path>,
    spec: &SchemaSpec,
    options: &Options,
) -> Result<Connection> {
    let path = paths::resolve(path.as_ref())?;
    if options.local_only {
        paths::check_local(&path)?;
    }
    if paths::is_new(&path)? {
        fs::metadata(&path).map_err(|error| Error::unreachable(&path, &error))?;
        return Err(Error::ForeignFile { path, reason: "the file is empty" });
    }
    check_header(&path, spec)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags)?;
    prepare(&connection, spec, options)?;
    let (connection, is_current) = match inspect(&connection, &path, spec) {
        // The `-wal` and `-shm` files do not exist and cannot be created. If there is no log with
        // further content, the file alone is enough.
        Err(Error::Io(_) | Error::ReadOnly) if !paths::has_log(&path) => {
            let immutable = open_immutable(&path)?;
            prepare(&immutable, spec, options)?;
            let is_current = inspect(&immutable, &path, spec)?;
            (immutable, is_current)
        }
        Err(Error::Io(_) | Error::ReadOnly) => {
            let reason = "its last writer was interrupted and its folder is not writable; open it \
                          for writing once";
            return Err(Error::Io(reason.to_owned()));
        }
        other => (connection, other?),
    };
    if !is_current {
        let reason = "its version is older; open it for writing once";
        return Err(Error::Io(reason.to_owned()));
    }
    Ok(connection)
}

/// Returns whether the file has the current version and not an older one. Verifies the objects of a
/// current file.
fn inspect(connection: &Connection, path: &Path, spec: &SchemaSpec) -> Result<bool> {
    let is_current = schema::version(connection, path, spec)? == i64::from(spec.version);
    if is_current {
        schema::check(connection, spec)?;
    }
    Ok(is_current)
}

/// Refuses a file of another program without changing anything.
///
/// An ordinary connection could create files next to the database of another program, or complete
/// its interrupted transaction. Reading the header directly would be worse, because closing a file
/// drops the locks that SQLite has on it in this process.
///
/// The schema is not verified here, because without a lock another process may be writing it.
fn check_header(path: &Path, spec: &SchemaSpec) -> Result<()> {
    let connection = open_immutable(path)?;
    // Accept a file that is shorter than its header says. It is shorter while other processes move
    // pages from the log, or after a crash during that.
    connection.pragma_update(None, "writable_schema", true)?;
    // The file is too short for a header.
    if let Ok(true) = schema::is_empty(&connection) {
        return Err(schema::no_database(path));
    }
    // The log may contain an upgrade that the file does not have yet.
    let oldest = if paths::has_log(path) { i64::MIN } else { spec.oldest() };
    schema::version_from(oldest, &connection, path, spec).map(|_| ())
}

/// Opens a connection that takes no locks, writes nothing and opens no other file.
fn open_immutable(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(paths::immutable_uri(path), flags)?)
}

fn prepare(connection: &Connection, spec: &SchemaSpec, options: &Options) -> Result<()> {
    // `rusqlite` panics if the timeout exceeds the range of SQLite.
    let longest = Duration::from_millis(i32::MAX as u64);
    connection.busy_timeout(options.busy_timeout.min(longest))?;
    let row_bytes = i32::try_from(spec.row_bytes_max).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, row_bytes)?;
    // The file is not trusted, so its schema must not call functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // Make query plans independent of bound values. Otherwise SQLite would prepare cached
    // statements again after each change of a value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Enables the write-ahead log, so that readers and a writer do not wait for each other.
fn write_ahead(connection: &Connection, timeout: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode.map_err(Error::from) {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(_) => {
                let reason = "its file system does not support SQLite's write-ahead log".to_owned();
                return Err(Error::Io(reason));
            }
            // SQLite does not wait by itself while other processes open a new file.
            Err(Error::Busy) if start.elapsed() < timeout => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    }
}

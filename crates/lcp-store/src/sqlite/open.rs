//! From a path to a connection: whose file it is, and how it is set up.

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

/// Opens a file to write to, and makes it where there is none or an empty one. An
/// older version is upgraded.
///
/// Any number of processes, and of connections in one process, may have the same file open.
/// Symbolic links to it are resolved; by two hard links at once it must not be opened. Beside it
/// SQLite keeps two files, `-wal` and `-shm`; they belong to it while it is open.
///
/// Where the file is not there, or empty, but its log has something, the file was moved
/// without it. Nothing is made then: the log would be lost.
///
/// # Errors
///
/// [`Error::ForeignFile`] and [`Error::TooNew`] if the file is something else, which is left as it
/// is; [`Error::Damaged`] if it is ours by its header, but does not hold what `spec` makes, or
/// more; [`Error::ReadOnly`] if it cannot be written; [`Error::NetworkFileSystem`] if that is not
/// allowed; [`Error::Moved`] if only its log is there.
pub fn open(path: impl AsRef<Path>, spec: &SchemaSpec, options: &Options) -> Result<Connection> {
    let path = paths::resolve(path.as_ref())?;
    if options.local_only {
        paths::check_local(&path)?;
    }
    // The log first: another process that makes a file begins its log last.
    let has_log = paths::has_log(&path);
    if !paths::is_new(&path)? {
        check_header(&path, spec)?;
    } else if has_log {
        let reason = "its log (-wal) is there, the file is not: move it back, or the log away";
        return Err(Error::Moved { path, reason });
    } else if options.private {
        paths::create_private(&path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)
        .map_err(|error| paths::creation_error(&path).unwrap_or_else(|| error.into()))?;
    // SQLite opens what it cannot write for reading, without a word.
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
    if let Some(bytes) = options.max_bytes {
        let pages = (bytes / u64::from(spec.page_bytes.max(1))).max(1);
        let pages = i64::try_from(pages).unwrap_or(i64::MAX);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

/// Opens a file that is there to read from. Others may write to it meanwhile.
///
/// In a folder that cannot be written either, as on a read-only medium, nobody may:
/// what they changed would not be seen, or be seen as damaged.
///
/// # Errors
///
/// As for [`open`]; [`Error::Io`] if there is no such file, or if it must be opened
/// for writing once, because its version is older or its last writer was cut off.
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
        return Err(Error::ForeignFile { path, reason: "it is empty" });
    }
    check_header(&path, spec)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags)?;
    prepare(&connection, spec, options)?;
    let (connection, is_current) = match inspect(&connection, &path, spec) {
        // The files beside it are not there, and cannot be made. If there is nothing
        // that only they have, the file alone will do.
        Err(Error::Io(_) | Error::ReadOnly) if !paths::has_log(&path) => {
            let immutable = open_immutable(&path)?;
            prepare(&immutable, spec, options)?;
            let is_current = inspect(&immutable, &path, spec)?;
            (immutable, is_current)
        }
        Err(Error::Io(_) | Error::ReadOnly) => {
            let reason = "its last writer was cut off and its folder cannot be written: open it \
                          for writing once";
            return Err(Error::Io(reason.to_owned()));
        }
        other => (connection, other?),
    };
    if !is_current {
        let reason = "its version is older: open it for writing once";
        return Err(Error::Io(reason.to_owned()));
    }
    Ok(connection)
}

/// Whether the file has our version, not an older one; then it holds what it must.
fn inspect(connection: &Connection, path: &Path, spec: &SchemaSpec) -> Result<bool> {
    let is_current = schema::version(connection, path, spec)? == i64::from(spec.version);
    if is_current {
        schema::check(connection, spec)?;
    }
    Ok(is_current)
}

/// Refuses a file that is not ours, without a trace.
///
/// An ordinary connection might leave files beside another program's database, or
/// finish what that one had begun. Reading the header ourselves would do worse: to
/// close a file drops the locks that SQLite has on it in this process.
///
/// The schema is not looked at: without a lock, it may be read while another process writes it.
fn check_header(path: &Path, spec: &SchemaSpec) -> Result<()> {
    let connection = open_immutable(path)?;
    // Not to stumble over a file that is shorter than its header says: it is so
    // while, or after a crash when, others move pages from the log.
    connection.pragma_update(None, "writable_schema", true)?;
    // Too short for a header.
    if let Ok(true) = schema::is_empty(&connection) {
        return Err(schema::no_database(path));
    }
    // The log may hold an upgrade that the file does not have yet.
    let oldest = if paths::has_log(path) { i64::MIN } else { spec.oldest() };
    schema::version_from(oldest, &connection, path, spec).map(|_| ())
}

/// A connection that takes no locks, writes nothing and looks at no other file.
fn open_immutable(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(paths::immutable_uri(path), flags)?)
}

fn prepare(connection: &Connection, spec: &SchemaSpec, options: &Options) -> Result<()> {
    // More than SQLite can count would be a panic in `rusqlite`.
    let longest = Duration::from_millis(i32::MAX as u64);
    connection.busy_timeout(options.busy_timeout.min(longest))?;
    let row_bytes = i32::try_from(spec.row_bytes_max).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, row_bytes)?;
    // The file is not trusted: what its schema says may call no functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // Plans do not depend on what is bound: statements that are kept would be parsed
    // again whenever it changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Turns the write-ahead log on: readers and a writer do not wait for each other.
fn write_ahead(connection: &Connection, timeout: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode.map_err(Error::from) {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(_) => {
                let reason = "its file system does not support SQLite's WAL".to_owned();
                return Err(Error::Io(reason));
            }
            // While others open a new file, SQLite does not wait by itself.
            Err(Error::Busy) if start.elapsed() < timeout => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    }
}

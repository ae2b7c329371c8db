//! From a path to a connection: whose file it is, and how it is set up.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, ffi};

use super::super::error::{Error, Result, of_write};
use super::super::verified::BODY_BYTES_MAX;
use super::SqliteOptions;

/// "LCPS", which SQLite keeps in the file's header: whose file it is.
const APPLICATION_ID: i64 = 0x4C43_5053;
/// Rises when [`SCHEMA`] changes, if only by a space: files are compared with it.
const VERSION: i64 = 1;

/// A table by row id with an index on the names: bodies stay where they were put,
/// and names are found without reading any. Names are random, so that a table in
/// their order would be rewritten all the time.
const SCHEMA: &str = "CREATE TABLE bodies (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT";

/// Bodies are a few KiB: most of them fit into one page.
const PAGE_BYTES: u32 = 16 * 1024;

/// What a row has beside its body, generously.
const ROW_BYTES_MAX: u64 = 4096;

/// Opens a store to write to, and makes it if need be.
pub(super) fn to_write(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let path = resolved(path)?;
    if !is_new(&path)? {
        peek(&path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)
        .map_err(|error| why_not(&path).unwrap_or_else(|| error.into()))?;
    // SQLite opens what it cannot write for reading, without a word.
    if connection.is_readonly("main")? {
        return Err(Error::ReadOnly);
    }
    prepare(&connection, options)?;
    if is_empty(&connection)? {
        create(&mut connection)?;
    }
    check(&connection, &path)?;
    check_schema(&connection)?;
    write_ahead(&connection, options.busy_timeout)?;
    let synchronous = if options.durable { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    if let Some(bytes) = options.max_bytes {
        let pages = i64::try_from((bytes / u64::from(PAGE_BYTES)).max(1)).unwrap_or(i64::MAX);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

/// Opens a store that is there to read from.
pub(super) fn to_read(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let path = resolved(path)?;
    if is_new(&path)? {
        fs::metadata(&path).map_err(|error| unreachable_file(&path, &error))?;
        return Err(Error::NotAStore { path, reason: "it is empty" });
    }
    peek(&path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags)?;
    prepare(&connection, options)?;
    match check(&connection, &path).and_then(|()| check_schema(&connection)) {
        // The files beside it are not there, and cannot be made. If there is nothing
        // that only they have, the file alone will do.
        Err(Error::Io { .. } | Error::ReadOnly) if !has_log(&path) => {
            let connection = open_frozen(&path)?;
            prepare(&connection, options)?;
            check(&connection, &path)?;
            check_schema(&connection)?;
            Ok(connection)
        }
        Err(Error::Io { .. } | Error::ReadOnly) => {
            let reason = "its last writer was cut off and its folder cannot be written: open it \
                          for writing once";
            Err(Error::Io { reason: reason.to_owned() })
        }
        Err(error) => Err(error),
        Ok(()) => Ok(connection),
    }
}

/// Where the file itself is, or is to be made: a path without links, which SQLite
/// cannot take for a URI, and that stays the same.
///
/// The log is beside the file and has its name, not that of a link to it. SQLite
/// knows that on some systems; on the others, two names would be two logs.
fn resolved(path: &Path) -> Result<PathBuf> {
    let failed = |error| unreachable_file(path, &error);
    let path = std::path::absolute(path).map_err(failed)?;
    let missing = match fs::canonicalize(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        other => return other.map_err(failed),
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed(missing));
    };
    match fs::read_link(&path) {
        Ok(target) => resolved(&folder.join(target)),
        Err(_) => Ok(fs::canonicalize(folder).map_err(failed)?.join(name)),
    }
}

fn unreachable_file(path: &Path, error: &io::Error) -> Error {
    Error::Io { reason: format!("{}: {error}", path.display()) }
}

/// Whether there is nothing yet at this path.
fn is_new(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => {
            Err(Error::NotAStore { path: path.into(), reason: "it is not a file" })
        }
        Ok(file) => Ok(file.len() == 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(unreachable_file(path, &error)),
    }
}

/// What hinders a file at this path from being made; SQLite only says that it
/// could not.
fn why_not(path: &Path) -> Option<Error> {
    match fs::File::create_new(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Some(of_write(&error).unwrap_or_else(|| unreachable_file(path, &error)))
        }
        _ => None,
    }
}

/// Refuses a file that is not a store, without a trace.
///
/// An ordinary connection might leave files beside another program's database, or
/// finish what that one had begun. Reading the header ourselves would do worse: to
/// close a file drops the locks that SQLite has on it in this process.
fn peek(path: &Path) -> Result<()> {
    let connection = open_frozen(path)?;
    // Not to stumble over a file that is shorter than its header says: it is so
    // while, or after a crash when, others move pages from the log.
    connection.pragma_update(None, "writable_schema", true)?;
    match is_empty(&connection) {
        // Too short for a header.
        Ok(true) => Err(no_database(path)),
        _ => check(&connection, path),
    }
}

/// A connection that takes no locks, writes nothing and looks at no other file.
fn open_frozen(path: &Path) -> Result<Connection> {
    let escaped: String = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                char::from(*byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?)
}

/// Whether the log beside the file holds anything.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// What every connection is told.
fn prepare(connection: &Connection, options: &SqliteOptions) -> Result<()> {
    // More than SQLite can count would be a panic in `rusqlite`.
    let longest = Duration::from_millis(i32::MAX as u64);
    connection.busy_timeout(options.busy_timeout.min(longest))?;
    let row_bytes = i32::try_from(BODY_BYTES_MAX + ROW_BYTES_MAX).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, row_bytes)?;
    // The file is not trusted: what its schema says may call no functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}

/// Whether the file is a store that we can read.
fn check(connection: &Connection, path: &Path) -> Result<()> {
    let refused = |reason| Error::NotAStore { path: path.into(), reason };
    let application = match number(connection, "application_id") {
        Err(error) if error.sqlite_error_code() == Some(ffi::ErrorCode::NotADatabase) => {
            return Err(no_database(path));
        }
        other => other?,
    };
    if application != APPLICATION_ID {
        return Err(refused("it is another program's database"));
    }
    let version = number(connection, "user_version")?;
    if version > VERSION {
        let known = |version| u32::try_from(version).unwrap_or(u32::MAX);
        return Err(Error::TooNew { found: known(version), known: known(VERSION) });
    }
    if version < VERSION {
        return Err(refused("its version is none of ours"));
    }
    Ok(())
}

/// Whether the file holds our table and nothing else: a trigger could drop what is
/// put, a view answer for ever.
///
/// Not by [`peek`], which takes no lock: it may read the schema while another
/// process writes it.
fn check_schema(connection: &Connection) -> Result<()> {
    let query = "SELECT count(*),
        count(*) FILTER (WHERE (type, name, tbl_name, sql) = ('table', 'bodies', 'bodies', ?1)),
        count(*) FILTER (WHERE (type, name, tbl_name)
            = ('index', 'sqlite_autoindex_bodies_1', 'bodies') AND sql IS NULL)
        FROM sqlite_schema";
    let counts: (i64, i64, i64) =
        connection.query_row(query, [SCHEMA], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if counts != (2, 1, 1) {
        let reason = "its tables are not those of a store".to_owned();
        return Err(Error::Damaged { reason });
    }
    Ok(())
}

fn no_database(path: &Path) -> Error {
    Error::NotAStore { path: path.into(), reason: "it is no SQLite database" }
}

fn is_empty(connection: &Connection) -> Result<bool> {
    Ok(number(connection, "page_count")? == 0)
}

/// Makes a store of an empty file.
///
/// In one transaction, and before the log is used: from the first byte on, the
/// file's own header says whose it is, which [`peek`] relies on.
fn create(connection: &mut Connection) -> Result<()> {
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if number(&transaction, "schema_version")? == 0 {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.execute(SCHEMA, ())?;
    }
    Ok(transaction.commit()?)
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
                return Err(Error::Io { reason });
            }
            // While others open a new store, SQLite does not wait by itself.
            Err(Error::Busy) if start.elapsed() < timeout => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    }
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

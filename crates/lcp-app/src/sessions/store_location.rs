//! The location of sessions: a flag, else `lcp.toml`, else the user's data folder.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::store::{SqliteOptions, SqliteStore, Store};

use super::address::{self, is_address};
use super::failed;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::folders;

/// Opens the store of this name, that of the settings, or the user's. Where `may_begin` says so,
/// one that is not there is made.
///
/// # Errors
///
/// Those of [`StoreLocation`].
pub fn open_store(named: Option<&str>, config: &Config, may_begin: bool) -> Result<Arc<dyn Store>> {
    if let Some(location) = StoreLocation::from_flag(named, config)? {
        return location.open(config, may_begin);
    }
    let location = StoreLocation::from_data_dir()?;
    if may_begin {
        location.make_folder()?;
    }
    location.open(config, may_begin)
}

/// Returns the files of the same store, if files hold it, whether or not they are there.
///
/// # Errors
///
/// Those of [`StoreLocation`].
pub fn store_files(named: Option<&str>, config: &Config) -> Result<Vec<PathBuf>> {
    let location = StoreLocation::from_flag(named, config)?;
    match location.map_or_else(StoreLocation::from_data_dir, Ok)? {
        StoreLocation::Database(_) => Ok(Vec::new()),
        StoreLocation::File(path) => {
            let beside = |end: &str| {
                let mut name = path.clone().into_os_string();
                name.push(end);
                PathBuf::from(name)
            };
            Ok(["", "-wal", "-shm", ".lock"].map(beside).into())
        }
    }
}

/// A location of a store.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// A SQLite file.
    File(PathBuf),
    /// A database, by its address, which may hold a password.
    Database(String),
}

impl StoreLocation {
    /// Returns the location that a flag names, else the file, if either does. The path of a file is
    /// relative to it.
    ///
    /// # Errors
    ///
    /// A store that is neither a path nor an address of PostgreSQL; an address in a file
    /// that came along with some folder, to which conversations would be sent.
    pub fn from_flag(flag: Option<&str>, config: &Config) -> Result<Option<Self>> {
        if let Some(store) = flag {
            return Self::parse(store, Path::new("")).map(Some);
        }
        let Some(store) = &config.continuity.store else { return Ok(None) };
        let location = Self::parse(store, config.folder())?;
        if matches!(location, Self::Database(_)) && !config.is_named {
            let message = format!(
                "the address of a store is not taken from a file that was merely found \
                 (lcp.toml, line {})",
                config.line("continuity.store").unwrap_or_default()
            );
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("name the file with --config, or the store with --store"));
        }
        Ok(Some(location))
    }

    fn parse(store: &str, folder: &Path) -> Result<Self> {
        address::check(store)?;
        Ok(if is_address(store) {
            Self::Database(store.to_owned())
        } else {
            Self::File(folder.join(store))
        })
    }

    /// Returns `lcp/sessions.sqlite` in the user's data folder.
    ///
    /// # Errors
    ///
    /// A user without a folder.
    fn from_data_dir() -> Result<Self> {
        let folder = folders::data_dir(|name| std::env::var_os(name)).ok_or_else(|| {
            Error::new(ErrorKind::Io, "there is no folder of the user's to keep sessions in")
                .with_hint("name a place with --store, or set HOME")
        })?;
        Ok(Self::File(folder.join("lcp").join("sessions.sqlite")))
    }

    /// Makes the folder of the user's location, for the user alone.
    ///
    /// # Errors
    ///
    /// One that cannot be made.
    fn make_folder(&self) -> Result {
        let Self::File(path) = self else { return Ok(()) };
        let Some(folder) = path.parent() else { return Ok(()) };
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| {
            Error::io("make", folder.display(), &error).with_hint("--store names another place")
        })
    }

    /// Opens a store that is there, or makes it where `may_begin` says so.
    ///
    /// # Errors
    ///
    /// A store that is not there, or that cannot be opened.
    pub fn open(&self, config: &Config, may_begin: bool) -> Result<Arc<dyn Store>> {
        let expiry = config.continuity.expiry();
        match self {
            Self::Database(url) => database(url, expiry),
            Self::File(path) => {
                if !may_begin && matches!(path.try_exists(), Ok(false)) {
                    let message = format!("there is no store {}", path.display());
                    return Err(Error::new(ErrorKind::Io, message).with_hint(
                        "`lcp session record ID FILE` begins one; --store names another",
                    ));
                }
                let mut options = SqliteOptions::default();
                options.expiry = expiry.unwrap_or(options.expiry);
                Ok(Arc::new(SqliteStore::open_with(path, &options).map_err(failed)?))
            }
        }
    }
}

/// The path; of a database only that it is one.
impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Database(_) => f.write_str("the database"),
        }
    }
}

impl fmt::Debug for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreLocation({self})")
    }
}

#[cfg(feature = "postgres")]
fn database(url: &str, expiry: Option<Duration>) -> Result<Arc<dyn Store>> {
    use lcp_continuity::store::{PostgresOptions, PostgresStore};
    let mut options = PostgresOptions::default();
    options.expiry = expiry.unwrap_or(options.expiry);
    Ok(Arc::new(PostgresStore::open_with(url, &options).map_err(failed)?))
}

#[cfg(not(feature = "postgres"))]
fn database(_url: &str, _expiry: Option<Duration>) -> Result<Arc<dyn Store>> {
    Err(Error::new(ErrorKind::Usage, "stores in PostgreSQL are not built in")
        .with_hint("build this program with --features postgres"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn the_folder_of_a_user() {
        let of = |given: &'static [(&str, &str)]| {
            folders::data_dir(|name| {
                given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            })
        };
        assert_eq!(of(&[("XDG_DATA_HOME", "/data"), ("HOME", "/home/u")]), Some("/data".into()));
        let home = Some("/home/u/.local/share".into());
        assert_eq!(of(&[("HOME", "/home/u")]), home);
        assert_eq!(of(&[("XDG_DATA_HOME", ""), ("HOME", "/home/u")]), home);
        assert_eq!(of(&[("XDG_DATA_HOME", "data"), ("HOME", "/home/u")]), home);
        assert_eq!(of(&[("HOME", "")]), None);
    }

    #[test]
    fn an_address_is_taken_from_a_named_file_only() {
        let text = "[continuity]\nstore = \"postgres://u:secret@h/d\"\n";
        let mut config = Config::parse(Path::new("a/lcp.toml"), text).unwrap();
        let refused = StoreLocation::from_flag(None, &config).unwrap_err();
        assert!(refused.message.contains("line 2") && !refused.message.contains("secret"));
        config.is_named = true;
        let location = StoreLocation::from_flag(None, &config).unwrap().unwrap();
        assert_eq!(location, StoreLocation::Database("postgres://u:secret@h/d".into()));
        assert!(!format!("{location} {location:?}").contains("secret"));
        let flag = StoreLocation::from_flag(Some("b.sqlite"), &config).unwrap();
        assert_eq!(flag, Some(StoreLocation::File("b.sqlite".into())));
    }

    #[test]
    fn a_path_is_relative_to_its_file() {
        let text = "[continuity]\nstore = \"s.sqlite\"\n";
        let config = Config::parse(Path::new("a/lcp.toml"), text).unwrap();
        let location = StoreLocation::from_flag(None, &config).unwrap();
        assert_eq!(location, Some(StoreLocation::File("a/s.sqlite".into())));
        assert_eq!(StoreLocation::from_flag(None, &Config::default()), Ok(None));
    }
}

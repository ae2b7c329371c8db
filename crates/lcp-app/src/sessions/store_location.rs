//! The location of the session store, from a flag, `lcp.toml` or the user's data folder.

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

/// Opens the named store, the store of the settings, or that of the user. With `may_begin`, a
/// missing store is created.
///
/// # Errors
///
/// Returns the errors of [`StoreLocation`].
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

/// Returns the files of the same store, even if they do not exist. A database has no files.
///
/// # Errors
///
/// Returns the errors of [`StoreLocation`].
pub fn store_files(named: Option<&str>, config: &Config) -> Result<Vec<PathBuf>> {
    let location = StoreLocation::from_flag(named, config)?;
    match location.map_or_else(StoreLocation::from_data_dir, Ok)? {
        StoreLocation::Database(_) => Ok(Vec::new()),
        StoreLocation::File(path) => {
            let sidecar = |end: &str| {
                let mut name = path.clone().into_os_string();
                name.push(end);
                PathBuf::from(name)
            };
            Ok(["", "-wal", "-shm", ".lock", ".queue"].map(sidecar).into())
        }
    }
}

/// A location of a store.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// A SQLite file.
    File(PathBuf),
    /// A database with this address, which may contain a password.
    Database(String),
}

impl StoreLocation {
    /// Returns the location from a flag or from the settings, if there is one. A path in the
    /// settings is relative to their file.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is neither a path nor a PostgreSQL address, or if an address
    /// comes from a file that the user did not name. Such a file may come with a folder of other
    /// people, and conversations would be sent to its address.
    pub fn from_flag(flag: Option<&str>, config: &Config) -> Result<Option<Self>> {
        if let Some(store) = flag {
            return Self::parse(store, Path::new("")).map(Some);
        }
        let Some(store) = &config.continuity.store else { return Ok(None) };
        let location = Self::parse(store, config.folder())?;
        if matches!(location, Self::Database(_)) && !config.is_named {
            let message = format!(
                "cannot use the store address of a file that is not named with --config \
                 (lcp.toml, line {})",
                config.line("continuity.store").unwrap_or_default()
            );
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("pass the file with --config, or the store with --store"));
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
    /// Returns an error if the user has no data folder.
    fn from_data_dir() -> Result<Self> {
        let folder = folders::user_data_dir().ok_or_else(|| {
            Error::new(ErrorKind::Io, "cannot find the user's data folder for sessions")
                .with_hint("pass --store, or set HOME")
        })?;
        Ok(Self::File(folder.join("lcp").join("sessions.sqlite")))
    }

    /// Creates the folder of the location with access only for the user.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
    fn make_folder(&self) -> Result {
        let Self::File(path) = self else { return Ok(()) };
        let Some(folder) = path.parent() else { return Ok(()) };
        folders::create_private(folder).map_err(|error| {
            Error::io("create", folder.display(), &error)
                .with_hint("pass --store to use another location")
        })
    }

    /// Opens the store. With `may_begin`, a missing store is created.
    ///
    /// # Errors
    ///
    /// Returns an error if the store does not exist or cannot be opened.
    pub fn open(&self, config: &Config, may_begin: bool) -> Result<Arc<dyn Store>> {
        let expiry = config.continuity.expiry();
        match self {
            Self::Database(url) => database(url, expiry),
            Self::File(path) => {
                if !may_begin && matches!(path.try_exists(), Ok(false)) {
                    let message = format!("session store not found: {}", path.display());
                    let failure = Error::new(ErrorKind::Io, message).with_code(super::NO_STORE);
                    return Err(failure.with_hint(
                        "create one with `lcp session record ID FILE`, or pass --store",
                    ));
                }
                let mut options = SqliteOptions::default();
                options.expiry = expiry.unwrap_or(options.expiry);
                Ok(Arc::new(SqliteStore::open_with(path, &options).map_err(failed)?))
            }
        }
    }
}

/// Writes the path, or `the database` for an address.
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
    Err(Error::new(ErrorKind::Usage, "this build does not support stores in PostgreSQL")
        .with_hint("rebuild with --features postgres"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn data_dir_is_the_user_data_folder() {
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
    fn database_address_needs_an_explicitly_named_config() {
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
    fn store_path_is_relative_to_its_config_file() {
        let text = "[continuity]\nstore = \"s.sqlite\"\n";
        let config = Config::parse(Path::new("a/lcp.toml"), text).unwrap();
        let location = StoreLocation::from_flag(None, &config).unwrap();
        assert_eq!(location, Some(StoreLocation::File("a/s.sqlite".into())));
        assert_eq!(StoreLocation::from_flag(None, &Config::default()), Ok(None));
    }
}

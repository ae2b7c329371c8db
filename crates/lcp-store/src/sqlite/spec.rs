//! What a file holds, and how it is opened.

use std::time::Duration;

/// Whose file it is, and what stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaSpec {
    /// Whose file it is; SQLite keeps it in the file's header.
    pub application_id: i32,
    /// Rises when `schema` changes, if only by a space: files are compared with it.
    /// At most 2³¹ − 1.
    pub version: u32,
    /// What such a file is called in messages, such as `store`.
    pub name: &'static str,
    /// Bytes of a page of a new file: a power of two, 512 to 65,536.
    pub page_bytes: u32,
    /// Bytes of the largest row, and of the largest value in one. What is larger is
    /// neither written nor read.
    pub row_bytes_max: u64,
    /// The statements that make the tables, indexes and triggers of a new file.
    ///
    /// A file holds exactly the objects that these make, with exactly this SQL, and
    /// SQLite's own indexes.
    pub schema: &'static [&'static str],
    /// How older files become such as `schema` makes: the last step leads to
    /// `version` from the one before it, the last but one to that, and so on. What
    /// is older than the first step is refused.
    pub migrations: &'static [&'static str],
}

impl SchemaSpec {
    pub(super) fn oldest(&self) -> i64 {
        let steps = i64::try_from(self.migrations.len()).unwrap_or(i64::MAX);
        i64::from(self.version).saturating_sub(steps)
    }
}

/// How a file is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long to wait for another process that writes, before
    /// [`Error::Busy`](super::Error::Busy). 30 seconds by default.
    pub busy_timeout: Duration,
    /// Bytes the file may have; [`Error::Full`](super::Error::Full) beyond that. It
    /// binds this connection only. `None`, the default, is no limit.
    pub max_bytes: Option<u64>,
    /// Whether a commit waits until it is written through to the disk
    /// (`synchronous = FULL`); `true` by default.
    ///
    /// Without (`synchronous = NORMAL`), a loss of power may take the last commits,
    /// and nothing else.
    pub durable: bool,
    /// Whether a file on a network file system is refused
    /// ([`Error::NetworkFileSystem`](super::Error::NetworkFileSystem)); `false` by
    /// default.
    ///
    /// Known on Linux, by the mounts that `/proc/self/mountinfo` lists. On other
    /// systems, or where that cannot be read, nothing is checked.
    pub local_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(30),
            max_bytes: None,
            durable: true,
            local_only: false,
        }
    }
}

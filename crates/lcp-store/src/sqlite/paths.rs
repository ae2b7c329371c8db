//! Resolves paths of files, checks for existing files and detects network file systems.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::{Error, Result};

/// Returns the absolute path of an existing or new file without symbolic links. SQLite cannot
/// mistake it for a URI, and it does not depend on the current directory.
///
/// The log is next to the file and has a name that is derived from the name of the file, not of a
/// link. SQLite resolves links only on some systems. On other systems, two names would lead to two
/// logs.
pub(super) fn resolve(path: &Path) -> Result<PathBuf> {
    let failed = |error| Error::unreachable(path, &error);
    let path = std::path::absolute(path).map_err(failed)?;
    let missing = match fs::canonicalize(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        other => return other.map_err(failed),
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed(missing));
    };
    match fs::read_link(&path) {
        Ok(target) => resolve(&folder.join(target)),
        Err(_) => Ok(fs::canonicalize(folder).map_err(failed)?.join(name)),
    }
}

/// Returns whether the path has no file or an empty one.
pub(super) fn is_new(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => {
            Err(Error::ForeignFile { path: path.into(), reason: "not a file" })
        }
        Ok(file) => Ok(file.len() == 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::unreachable(path, &error)),
    }
}

/// Creates an empty file with access for its owner only, unless it exists.
pub(super) fn create_private(path: &Path) -> Result<()> {
    // Closing a file drops the locks that SQLite has on it in this process. So no other thread may
    // open the file before it is closed here.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Error::unwritable(path, &error))
        }
        _ => Ok(()),
    }
}

/// Returns the reason why a file cannot be created at this path. SQLite itself does not report it.
pub(super) fn creation_error(path: &Path) -> Option<Error> {
    match fs::File::create_new(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Some(Error::unwritable(path, &error))
        }
        _ => None,
    }
}

/// Appends a suffix to the whole file name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Returns whether the file has a log that is not empty.
pub(super) fn has_log(path: &Path) -> bool {
    fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// Returns the URI of a file that does not change while it is read.
pub(super) fn immutable_uri(path: &Path) -> String {
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
    format!("file:{escaped}?immutable=1")
}

/// The file systems to which several machines may write, by their Linux names. The log of SQLite
/// requires memory that all writers share.
#[cfg(target_os = "linux")]
const NETWORK: &str = "9p afs beegfs ceph cifs coda davfs fuse.beegfs fuse.blobfuse \
    fuse.blobfuse2 fuse.cephfs fuse.ceph-fuse fuse.curlftpfs fuse.davfs2 fuse.gcsfuse \
    fuse.glusterfs fuse.goofys fuse.grpcfuse fuse.juicefs fuse.moosefs fuse.mfs fuse.rclone \
    fuse.s3fs fuse.seaweedfs fuse.smbnetfs fuse.sshfs fuse.vmhgfs-fuse gfs2 glusterfs gpfs lustre \
    ncpfs nfs nfs4 ocfs2 orangefs prl_fs smb2 smb3 smbfs vboxsf virtiofs vmhgfs";

/// Refuses a path on a network file system. The path must not contain links.
pub(super) fn check_local(path: &Path) -> Result<()> {
    match network_kind(path) {
        Some(kind) => Err(Error::NetworkFileSystem { path: path.into(), kind }),
        None => Ok(()),
    }
}

/// Returns the type of the file system of `path`, or of its folder, if it is a network file system.
///
/// The device of the file is looked up in `/proc/self/mountinfo`. The type that `statfs` returns is
/// not enough, because all FUSE file systems, local or not, have the same type.
#[cfg(target_os = "linux")]
pub(super) fn network_kind(path: &Path) -> Option<String> {
    use std::os::linux::fs::MetadataExt;

    let mountinfo = std::fs::read("/proc/self/mountinfo").ok()?;
    let mountinfo = String::from_utf8_lossy(&mountinfo);
    let kind = |path: &Path| kind_of(&mountinfo, path.metadata().ok()?.st_dev());
    // A new file will be on the device of its folder. An existing file may be a mount point itself.
    let kind = kind(path).or_else(|| kind(path.parent()?))?;
    is_network(kind).then(|| kind.to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn network_kind(_: &Path) -> Option<String> {
    None
}

/// Returns the type of the file system on `device`, from lines of the form
/// `id parent major:minor root point options… - kind source options`.
#[cfg(target_os = "linux")]
pub(super) fn kind_of(mountinfo: &str, device: u64) -> Option<&str> {
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let line = mountinfo.lines().find(|line| line.split(' ').nth(2) == Some(&device))?;
    line.split_once(" - ")?.1.split(' ').next()
}

#[cfg(target_os = "linux")]
pub(super) fn is_network(kind: &str) -> bool {
    NETWORK.split(' ').any(|network| network == kind)
}

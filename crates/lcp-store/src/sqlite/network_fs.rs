//! Recognition of network file systems.

use std::path::Path;

use super::error::{Error, Result};

/// File systems that several machines may write to, by Linux's names. SQLite's log needs memory
/// that all writers share.
#[cfg(target_os = "linux")]
const NETWORK: &str = "9p afs beegfs ceph cifs coda davfs fuse.beegfs fuse.blobfuse \
    fuse.blobfuse2 fuse.cephfs fuse.ceph-fuse fuse.curlftpfs fuse.davfs2 fuse.gcsfuse \
    fuse.glusterfs fuse.goofys fuse.grpcfuse fuse.juicefs fuse.moosefs fuse.mfs fuse.rclone \
    fuse.s3fs fuse.seaweedfs fuse.smbnetfs fuse.sshfs fuse.vmhgfs-fuse gfs2 glusterfs gpfs lustre \
    ncpfs nfs nfs4 ocfs2 orangefs prl_fs smb2 smb3 smbfs vboxsf virtiofs vmhgfs";

/// Refuses a path, without links, that is on a network file system.
pub(super) fn check_local(path: &Path) -> Result<()> {
    match network_kind(path) {
        Some(kind) => Err(Error::NetworkFileSystem { path: path.into(), kind }),
        None => Ok(()),
    }
}

/// Returns the kind of the file system of `path`, or of its folder, if it is a network file system.
///
/// The device of the file is looked up in `/proc/self/mountinfo`. The type that `statfs` returns
/// would not do: all FUSE file systems, local or not, have the same.
#[cfg(target_os = "linux")]
pub(super) fn network_kind(path: &Path) -> Option<String> {
    use std::os::linux::fs::MetadataExt;

    let mountinfo = std::fs::read("/proc/self/mountinfo").ok()?;
    let mountinfo = String::from_utf8_lossy(&mountinfo);
    let kind = |path: &Path| kind_of(&mountinfo, path.metadata().ok()?.st_dev());
    // A file that does not exist yet is going to be on its folder's device; one that does may be
    // a mount point itself.
    let kind = kind(path).or_else(|| kind(path.parent()?))?;
    is_network(kind).then(|| kind.to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn network_kind(_: &Path) -> Option<String> {
    None
}

/// Returns the kind of the file system on `device`, from lines of the form
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

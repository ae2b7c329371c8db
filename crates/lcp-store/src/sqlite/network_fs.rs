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

/// Returns the kind of the file system of `path`, or of its folder, if it is a network file
/// system.
///
/// The device of the file is looked up in `/proc/self/mountinfo`. The type that `statfs` returns
/// would not do: all FUSE file systems, local or not, have the same.
#[cfg(target_os = "linux")]
fn network_kind(path: &Path) -> Option<String> {
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
fn network_kind(_: &Path) -> Option<String> {
    None
}

/// Returns the kind of the file system on `device`, from lines of the form
/// `id parent major:minor root point options… - kind source options`.
#[cfg(target_os = "linux")]
fn kind_of(mountinfo: &str, device: u64) -> Option<&str> {
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let line = mountinfo.lines().find(|line| line.split(' ').nth(2) == Some(&device))?;
    line.split_once(" - ")?.1.split(' ').next()
}

#[cfg(target_os = "linux")]
fn is_network(kind: &str) -> bool {
    NETWORK.split(' ').any(|network| network == kind)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;

    use super::*;

    const MOUNTS: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:50 / /home rw,relatime shared:9 master:2 - nfs4 server:/home rw,vers=4.2
50 27 0:60 / /mnt/with\040space\011and\134tab rw - fuse.sshfs host:/ rw
51 27 8:300 / /data rw - ocfs2 /dev/sdb rw
52 40 254:0 /part /home/part rw - ext4 /dev/vda rw
";

    #[track_caller]
    fn check(major: u32, minor: u32, expected: Option<&str>) {
        assert_eq!(kind_of(MOUNTS, rustix::fs::makedev(major, minor)), expected);
    }

    #[test]
    fn the_mount_of_a_device() {
        check(0, 21, Some("proc"));
        check(254, 0, Some("ext4"));
        check(0, 50, Some("nfs4"));
        check(0, 60, Some("fuse.sshfs"));
        check(8, 300, Some("ocfs2"));
    }

    #[test]
    fn an_unknown_device() {
        check(0, 5, None);
        check(254, 1, None);
        for mountinfo in ["", "\n", "nonsense", "1 2 3 - ", "27 1 254:0 / /data rw - "] {
            let kind = kind_of(mountinfo, rustix::fs::makedev(254, 0));
            assert!(kind.is_none_or(str::is_empty), "{mountinfo}");
        }
    }

    /// What the kernel says of files that exist, and of one that does not.
    #[test]
    fn mounts_of_this_machine() {
        use std::os::linux::fs::MetadataExt;

        let mountinfo = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let device = Path::new("/proc/self").metadata().unwrap().st_dev();
        assert_eq!(kind_of(&mountinfo, device), Some("proc"));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(network_kind(&folder.path().join("new.db")), network_kind(folder.path()));
    }

    #[test]
    fn kinds_that_machines_share() {
        for kind in ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "virtiofs"] {
            assert!(is_network(kind), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", ""] {
            assert!(!is_network(kind), "{kind}");
        }
    }
}

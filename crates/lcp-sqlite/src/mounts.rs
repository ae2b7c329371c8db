//! What kind of file system a file is on.

// Known on Linux only.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

use std::path::Path;

use crate::error::{Error, Result};

/// File systems that several machines may write to, by Linux's names. SQLite's log
/// needs memory that all writers share.
const NETWORK: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "fuse.beegfs",
    "fuse.blobfuse",
    "fuse.blobfuse2",
    "fuse.cephfs",
    "fuse.ceph-fuse",
    "fuse.curlftpfs",
    "fuse.davfs2",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.goofys",
    "fuse.grpcfuse",
    "fuse.juicefs",
    "fuse.moosefs",
    "fuse.mfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.seaweedfs",
    "fuse.smbnetfs",
    "fuse.sshfs",
    "fuse.vmhgfs-fuse",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "prl_fs",
    "smb2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
    "vmhgfs",
];

/// Refuses a path, without links, that is on a network file system.
pub(crate) fn check_local(path: &Path) -> Result<()> {
    match network_kind(path) {
        Some(kind) => Err(Error::NetworkFileSystem { path: path.into(), kind }),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn network_kind(path: &Path) -> Option<String> {
    let mountinfo = std::fs::read("/proc/self/mountinfo").ok()?;
    let mountinfo = String::from_utf8_lossy(&mountinfo);
    kind_of(&mountinfo, path).filter(|kind| NETWORK.contains(kind)).map(str::to_owned)
}

#[cfg(not(target_os = "linux"))]
fn network_kind(_: &Path) -> Option<String> {
    None
}

/// A line of `/proc/self/mountinfo`.
struct Mount<'a> {
    id: &'a str,
    /// The mount that this one stands on.
    parent: &'a str,
    /// Where: a path without links.
    point: Vec<u8>,
    kind: &'a str,
}

/// The kind of the file system that has this path, which is absolute and without
/// links: of the mount that one arrives at from the root.
///
/// The longest mount point is not always it: another mount may hide it, and the
/// lines stand in no order that would tell.
fn kind_of<'a>(mountinfo: &'a str, path: &Path) -> Option<&'a str> {
    let mounts: Vec<_> = mountinfo.lines().filter_map(Mount::read).collect();
    let on_the_way: Vec<_> = mounts.iter().filter(|mount| mount.holds(path)).collect();
    let is_root = |mount: &Mount<'_>| {
        mount.parent == mount.id || mounts.iter().all(|other| other.id != mount.parent)
    };
    // The first mount point on the way is the one that is entered.
    let first = |may: &dyn Fn(&Mount<'_>) -> bool| {
        let mounts = on_the_way.iter().copied().filter(|mount| may(mount));
        mounts.min_by_key(|mount| mount.point.len())
    };
    let mut current = first(&is_root)?;
    // As often as there are mounts, whatever the text says.
    for _ in &mounts {
        let entered = |mount: &Mount<'_>| mount.parent == current.id && mount.id != current.id;
        let Some(next) = first(&entered) else { break };
        current = next;
    }
    Some(current.kind)
}

impl<'a> Mount<'a> {
    /// `id parent device root point options… - kind source options`
    fn read(line: &'a str) -> Option<Self> {
        let (place, what) = line.split_once(" - ")?;
        let mut words = place.split(' ');
        let (id, parent) = (words.next()?, words.next()?);
        let point = unescaped(words.nth(2)?);
        let kind = what.split(' ').next()?;
        Some(Self { id, parent, point, kind })
    }

    fn holds(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_encoded_bytes();
        let point = self.point.strip_suffix(b"/").unwrap_or(&self.point);
        path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

/// Bytes that would end a word stand as a backslash and three octal digits.
fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let escaped = match after {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', end @ ..] if *first == b'\\' => {
                rest = end;
                (a - b'0') * 64 + (b - b'0') * 8 + (c - b'0')
            }
            _ => *first,
        };
        bytes.push(escaped);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NETWORK, kind_of};

    /// Lines that stand in another order than the mounts were made.
    const MOUNTS: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:50 / /home rw,relatime shared:9 master:2 - nfs4 server:/home rw,vers=4.2
41 40 0:51 / /home/ann/local rw - btrfs /dev/vdb rw
50 27 0:60 / /mnt/with\040space\011and\134tab rw - fuse.sshfs host:/ rw
60 27 0:61 / /auto rw - autofs auto.master rw
61 60 0:62 / /auto rw - cifs //server/share rw
70 27 0:70 / /hidden/deep rw - nfs server:/deep rw
71 27 0:71 / /hidden rw - tmpfs tmpfs rw
72 71 0:72 / /hidden/other rw - ceph 10.0.0.1:/ rw
";

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(kind_of(MOUNTS, Path::new(path)), expected, "{path}");
    }

    #[test]
    fn the_mount_that_holds_a_path() {
        check("/", Some("ext4"));
        check("/var/lib/sessions.db", Some("ext4"));
        check("/proc/self", Some("proc"));
        check("/home", Some("nfs4"));
        check("/home/ann/sessions.db", Some("nfs4"));
        check("/home/ann/local/sessions.db", Some("btrfs"));
        check("/home/ann/local2/sessions.db", Some("nfs4"));
        check("/homes/sessions.db", Some("ext4"));
    }

    #[test]
    fn a_mount_point_that_is_escaped() {
        check("/mnt/with space\tand\\tab/sessions.db", Some("fuse.sshfs"));
        check("/mnt/with", Some("ext4"));
    }

    #[test]
    fn mounts_that_hide_others() {
        // One on top of the other, at the same place.
        check("/auto/sessions.db", Some("cifs"));
        // Made later, above the other's place.
        check("/hidden/deep/sessions.db", Some("tmpfs"));
        check("/hidden/other/sessions.db", Some("ceph"));
    }

    #[test]
    fn a_root_that_is_a_part_of_another_tree() {
        let container = "618 503 0:44 / / rw - overlay overlay rw\n\
                         620 618 0:45 / /data rw - virtiofs host rw\n";
        assert_eq!(kind_of(container, Path::new("/data/a.db")), Some("virtiofs"));
        assert_eq!(kind_of(container, Path::new("/a.db")), Some("overlay"));
        let initial = "1 1 0:2 / / rw - rootfs rootfs rw\n27 1 8:1 / / rw - ext4 /dev/sda rw\n";
        assert_eq!(kind_of(initial, Path::new("/a.db")), Some("ext4"));
    }

    #[test]
    fn what_cannot_be_known() {
        for mountinfo in ["", "\n", "nonsense", "1 2 3 - ", "27 1 254:0 / /data rw - nfs a rw"] {
            assert_eq!(kind_of(mountinfo, Path::new("/a.db")), None, "{mountinfo}");
        }
        // Each stands on the other.
        let endless = "1 0 0:1 / / rw - ext4 a rw\n2 1 0:1 / / rw - nfs a rw\n\
                       1 2 0:1 / / rw - tmpfs a rw\n";
        assert!(kind_of(endless, Path::new("/a.db")).is_some());
    }

    #[test]
    fn kinds_that_machines_share() {
        for kind in ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "virtiofs"] {
            assert!(NETWORK.contains(&kind), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk"] {
            assert!(!NETWORK.contains(&kind), "{kind}");
        }
    }
}

//! The file systems of mounts.

use std::path::Path;

use super::paths::{is_network, kind_of, network_kind};

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
fn kind_of_returns_the_mount_type_of_a_device() {
    check(0, 21, Some("proc"));
    check(254, 0, Some("ext4"));
    check(0, 50, Some("nfs4"));
    check(0, 60, Some("fuse.sshfs"));
    check(8, 300, Some("ocfs2"));
}

#[test]
fn kind_of_unknown_device_is_unknown() {
    check(0, 5, None);
    check(254, 1, None);
    for mountinfo in ["", "\n", "nonsense", "1 2 3 - ", "27 1 254:0 / /data rw - "] {
        let kind = kind_of(mountinfo, rustix::fs::makedev(254, 0));
        assert!(kind.is_none_or(str::is_empty), "{mountinfo}");
    }
}

/// Compares the detected file systems with those of the kernel, also for a missing file.
#[test]
fn detected_file_systems_match_this_machine() {
    use std::os::linux::fs::MetadataExt;

    let mountinfo = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let device = Path::new("/proc/self").metadata().unwrap().st_dev();
    assert_eq!(kind_of(&mountinfo, device), Some("proc"));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(network_kind(&folder.path().join("new.db")), network_kind(folder.path()));
}

#[test]
fn is_network_accepts_only_shared_file_systems() {
    for kind in ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "virtiofs"] {
        assert!(is_network(kind), "{kind}");
    }
    for kind in ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", ""] {
        assert!(!is_network(kind), "{kind}");
    }
}

//! Files and folders that cannot be written.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use lcp_store::content::{BatchStore, Error};

use crate::content::support::{
    CHILD, child, folder, hash, open_sqlite, open_sqlite_read_only, quick_sqlite,
};

/// The files of the folder: see [`read_only_files_are_never_written`].
const BODY: &[u8] = b"body";

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions");
}

/// Run by [`read_only_files_are_never_written`], as a user whom permissions
/// bind.
#[test]
fn child_reads_without_write_permission() {
    let Some(root) = std::env::var_os(CHILD) else { return };
    let root = Path::new(&root);

    for name in ["file-only", "folder-only", "both"] {
        let path = root.join(name).join("bodies.db");
        let before = fs::read(&path).expect("it can be read");
        let error = open_sqlite(&path).expect_err(name);
        assert_eq!(error, Error::ReadOnly, "{name}");
        let mut store = open_sqlite_read_only(&path).expect(name);
        assert_eq!(store.get_many(&[hash(BODY)]), Ok(vec![Some(BODY.to_vec())]), "{name}");
        assert_eq!(store.put_many(&[b"another"]), Err(Error::ReadOnly), "{name}");
        assert_eq!(store.repair_many(&[BODY]), Err(Error::ReadOnly), "{name}");
        drop(store);
        assert_eq!(fs::read(&path).expect("as before"), before, "{name}");
    }
    let error = open_sqlite(root.join("both/new.db")).expect_err("no new file");
    assert_eq!(error, Error::ReadOnly);

    // A writer has it open, and its log holds the body.
    let path = root.join("open/bodies.db");
    let store = open_sqlite_read_only(&path).expect("open");
    assert_eq!(store.get_many(&[hash(BODY)]), Ok(vec![Some(BODY.to_vec())]));

    // Its writer was killed: the body is in a log that nobody may take over. The
    // log is beside the file, not beside a link to it.
    for name in ["killed/bodies.db", "killed/link.db", "link.db"] {
        let error = open_sqlite_read_only(root.join(name)).expect_err(name);
        assert!(error.to_string().contains("open it for writing once"), "{name}: {error}");
    }
    objects(root);
}

#[cfg(feature = "object-store")]
fn objects(root: &Path) {
    use crate::content::support::shared;
    use object_store::local::LocalFileSystem;

    let files = LocalFileSystem::new_with_prefix(root.join("both")).expect("a folder");
    let mut store = shared(files);
    assert_eq!(store.put_many(&[BODY]), Err(Error::ReadOnly));
    assert_eq!(store.get_many(&[hash(BODY)]), Ok(vec![None]));
}

#[cfg(not(feature = "object-store"))]
fn objects(_: &Path) {}

/// Skipped, with a line on stderr, where root may not become somebody else or a copy
/// of this binary cannot be run: then this test passes without having tested.
#[test]
fn read_only_files_are_never_written() {
    let root = folder();
    allow(root.path(), 0o755);
    let mut writers = Vec::new();
    let cases = [
        ("file-only", 0o444, 0o777),
        ("folder-only", 0o666, 0o555),
        ("both", 0o444, 0o555),
        ("open", 0o444, 0o555),
    ];
    for (name, file, parent) in cases {
        let parent_path = root.path().join(name);
        fs::create_dir(&parent_path).expect("a folder");
        let path = parent_path.join("bodies.db");
        let mut store = quick_sqlite(&path);
        store.put_many(&[BODY]).expect("a put");
        if name == "open" {
            writers.push(store);
        } else {
            drop(store);
        }
        allow(&path, file);
        allow(&parent_path, parent);
    }

    let killed = root.path().join("killed");
    fs::create_dir(&killed).expect("a folder");
    for name in ["bodies.db", "bodies.db-wal"] {
        fs::copy(root.path().join("open").join(name), killed.join(name)).expect("a copy");
    }
    symlink("bodies.db", killed.join("link.db")).expect("a link");
    symlink("killed/bodies.db", root.path().join("link.db")).expect("a link");
    allow(&killed, 0o555);

    // Permissions do not bind root, so that somebody else is asked.
    let mut reader = child("content::read_only::child_reads_without_write_permission", root.path());
    let metadata = fs::metadata(root.path()).expect("a folder");
    if metadata.uid() == 0 {
        let copy = root.path().join("test");
        fs::copy(std::env::current_exe().expect("this binary"), &copy).expect("a copy");
        allow(&copy, 0o755);
        reader = {
            let mut other = std::process::Command::new(copy);
            other.args(reader.get_args()).env(CHILD, root.path()).current_dir(root.path());
            other.uid(65534).gid(65534);
            other
        };
    }
    let read = reader.output();
    // So that the folder can be deleted.
    for name in cases.map(|(name, ..)| name).into_iter().chain(["killed"]) {
        allow(&root.path().join(name), 0o755);
    }
    match read {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}{errors}");
            assert!(said.contains("1 passed"), "it was found and run: {said}");
        }
        Err(error) => writeln!(io::stderr(), "skipped: {error}").expect("stderr"),
    }
}

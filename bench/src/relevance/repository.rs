//! Repositories as the benchmark uses them: their history, trees of commits, and checkouts whose
//! history ends at a commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_testkit::python::output;

use super::kinds::is_candidate;
use crate::harness::{Result, at};

/// The largest file that a ranking may contain, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A repository on this machine.
pub(super) struct Repository {
    folder: PathBuf,
    /// The name in rows: `OWNER/NAME`, or the name of the folder.
    pub(super) name: String,
    /// The name in lists of queries, by which other programs can open the repository.
    pub(super) place: String,
}

/// A file of a tree that a ranking may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) path: String,
    pub(super) blob: String,
}

impl Repository {
    /// Opens a clone, bare or not.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().map_err(at(folder))?;
        let (name, place) = names(&folder);
        let this = Self { folder, name, place };
        this.git(&["rev-parse", "--verify", "HEAD"])?;
        Ok(this)
    }

    /// Runs git in the repository, and returns its output.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String> {
        git(&self.folder, arguments)
    }

    /// Returns the files of a commit that a ranking may contain, sorted by path.
    pub(super) fn tree(&self, commit: &str) -> Result<Vec<TreeFile>> {
        Ok(parse_tree(&self.git(&["ls-tree", "-r", "-l", "-z", commit])?))
    }

    /// Creates an empty checkout in a folder. It shares the objects of this repository, but has no
    /// branches, tags, remotes and reflogs, so that only the history of the commit that is checked
    /// out can be seen.
    pub(super) fn checkout(&self, folder: &Path) -> Result<Checkout> {
        fs::create_dir_all(folder).map_err(at(folder))?;
        git(folder, &["init", "--quiet", "--template="])?;
        let absolute = ["rev-parse", "--path-format=absolute", "--git-path"];
        let path = |name| self.git(&[absolute.as_slice(), &[name]].concat());
        let alternates = folder.join(".git/objects/info/alternates");
        fs::create_dir_all(alternates.parent().unwrap_or(folder)).map_err(at(&alternates))?;
        fs::write(&alternates, path("objects")?).map_err(at(&alternates))?;
        // A shallow clone lacks the parents of these commits.
        let shallow = PathBuf::from(path("shallow")?.trim());
        if shallow.exists() {
            fs::copy(&shallow, folder.join(".git/shallow")).map_err(at(&shallow))?;
        }
        Ok(Checkout { root: folder.to_owned() })
    }
}

/// A working tree.
pub(super) struct Checkout {
    pub(super) root: PathBuf,
}

impl Checkout {
    /// Checks out a commit, and removes all other files.
    pub(super) fn switch(&self, commit: &str) -> Result {
        git(&self.root, &["checkout", "--quiet", "--force", "--detach", commit])?;
        git(&self.root, &["clean", "--quiet", "-ffdx"])?;
        Ok(())
    }

    /// Runs git in the working tree, and returns its output.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String> {
        git(&self.root, arguments)
    }

    /// Reads a file. Binary files and files that cannot be read are empty.
    pub(super) fn read(&self, path: &str) -> String {
        let bytes = fs::read(self.root.join(path)).unwrap_or_default();
        if bytes.iter().take(8192).any(|byte| *byte == 0) {
            return String::new();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Runs git without the settings that would change its output or the files.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    for setting in [
        "core.quotepath=off", "core.autocrlf=false", "core.hooksPath=/dev/null",
        "core.logAllRefUpdates=false", "advice.detachedHead=false", "diff.renames=false",
        "gc.auto=0",
    ] {
        git.args(["-c", setting]);
    }
    git.env("GIT_LFS_SKIP_SMUDGE", "1").args(arguments).current_dir(folder);
    Ok(String::from_utf8_lossy(&output(&mut git)?).into_owned())
}

/// Returns the name of a repository in rows, and its name for other programs. Mirrors are folders
/// `OWNER+NAME/repo`.
fn names(folder: &Path) -> (String, String) {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let above = folder.parent().map(name).unwrap_or_default();
    match above.split_once('+') {
        Some((owner, repo)) if name(folder) == "repo" => {
            let name = format!("{owner}/{repo}");
            (name.clone(), name)
        }
        _ => (name(folder), folder.to_string_lossy().into_owned()),
    }
}

/// Reads the output of `git ls-tree -r -l -z`.
fn parse_tree(listing: &str) -> Vec<TreeFile> {
    let file = |entry: &str| {
        let (head, path) = entry.split_once('\t')?;
        let mut head = head.split_whitespace();
        let (mode, kind, blob) = (head.next()?, head.next()?, head.next()?);
        let bytes: u64 = head.next()?.parse().ok()?;
        let is_wanted = kind == "blob"
            && mode != "120000"
            && (1..=FILE_BYTES_MAX).contains(&bytes)
            && is_candidate(path);
        is_wanted.then(|| TreeFile { path: path.to_owned(), blob: blob.to_owned() })
    };
    let mut files: Vec<_> = listing.split('\0').filter_map(file).collect();
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    files
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Repository, TreeFile, git, names, parse_tree};

    #[test]
    fn tree_has_text_files_of_limited_size() {
        let listing = [
            "100644 blob b2    10\tb c.rs", "100644 blob a1    1048576\ta.rs",
            "100644 blob big   1048577\tbig.rs", "100644 blob e0    0\tempty.rs",
            "120000 blob l1    4\tlink.rs", "160000 commit c1    -\tmodule",
            "100644 blob p1    9\tx.png",
        ];
        let listing = listing.join("\0");
        let file = |path: &str, blob: &str| TreeFile { path: path.into(), blob: blob.into() };
        assert_eq!(parse_tree(&listing), [file("a.rs", "a1"), file("b c.rs", "b2")]);
    }

    #[test]
    fn mirrors_are_named_by_owner_and_name() {
        let name = |path: &str| names(Path::new(path));
        let mirror = "tokio-rs/tokio".to_owned();
        assert_eq!(name("/m/tokio-rs+tokio/repo"), (mirror.clone(), mirror));
        assert_eq!(name("/src/lcp"), ("lcp".into(), "/src/lcp".into()));
    }

    #[test]
    fn checkout_shows_no_commit_after_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (origin, copy) = (folder.path().join("origin"), folder.path().join("copy"));
        std::fs::create_dir(&origin).unwrap();
        let run = |arguments: &[&str]| git(&origin, arguments).unwrap();
        run(&["init", "--quiet"]);
        let mut commits = Vec::new();
        for text in ["one", "two", "three"] {
            std::fs::write(origin.join("a.rs"), text).unwrap();
            run(&["add", "."]);
            let person = ["-c", "user.name=a", "-c", "user.email=b"];
            run(&[&person[..], &["commit", "--quiet", "-m", text]].concat());
            commits.push(run(&["rev-parse", "HEAD"]).trim().to_owned());
        }
        let repository = Repository::open(&origin).unwrap();
        let checkout = repository.checkout(&copy).unwrap();
        checkout.switch(&commits[2]).unwrap();
        std::fs::write(copy.join("left.rs"), "x").unwrap();
        checkout.switch(&commits[1]).unwrap();
        assert_eq!(checkout.read("a.rs"), "two");
        assert!(!copy.join("left.rs").exists());
        let log = checkout.git(&["log", "--all", "--reflog", "--format=%s"]).unwrap();
        assert_eq!(log, "two\none\n");
        assert_eq!(repository.tree(&commits[0]).unwrap()[0].path, "a.rs");
    }
}

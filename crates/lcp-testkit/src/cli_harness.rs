//! A harness that runs the command as its users do.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A program that was built for a test: `Program(env!("CARGO_BIN_EXE_…"))`.
#[derive(Clone, Copy, Debug)]
pub struct Program(pub &'static str);

impl Program {
    /// Runs it here.
    #[must_use]
    pub fn run(self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    /// Runs it here with this on its standard input.
    #[must_use]
    pub fn run_with(self, arguments: &[&str], input: &[u8]) -> Output {
        self.run_in(Path::new("."), arguments, input)
    }

    /// Runs it in a folder with this on its standard input.
    #[must_use]
    pub fn run_in(self, folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(folder, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        // A command that does not read its input closes it early.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        child.wait_with_output().expect("the program ends")
    }

    /// It in a folder, without variables that would change what is said.
    #[must_use]
    pub fn command(self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(self.0);
        command.args(arguments).current_dir(folder);
        command.env_remove("DEBUG_BUDGET").env_remove("LCP_DEBUG_BUDGET");
        command
    }

    /// A new folder with this `lcp.toml`.
    #[must_use]
    pub fn project(self, toml: &str) -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = Project { program: self, folder };
        project.write(toml);
        project
    }

    /// A manifest as a pack at this path, by the program's `encode`.
    #[track_caller]
    pub fn encode(self, manifest: &str, pack: &Path) {
        let pack = pack.to_str().expect("a path of text");
        let output = self.run_with(&["encode", "-", "-o", pack], manifest.as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

/// What a program said beside its output.
#[must_use]
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The path of a sample pack.
#[must_use]
pub fn sample(name: &str) -> String {
    root().join("samples").join(name).display().to_string()
}

/// The root of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with an `lcp.toml`, and a program that is run there.
#[derive(Debug)]
pub struct Project {
    program: Program,
    folder: tempfile::TempDir,
}

impl Project {
    /// Writes another `lcp.toml`.
    pub fn write(&self, toml: &str) {
        std::fs::write(self.path("lcp.toml"), toml).expect("a file");
    }

    /// The path of a file in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program there.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.program.run_in(self.folder.path(), arguments, &[])
    }

    /// What the program prints, which succeeds.
    #[expect(clippy::must_use_candidate, reason = "that it succeeds may be all that is wanted")]
    #[track_caller]
    pub fn stdout_of(&self, arguments: &[&str]) -> String {
        printed(&self.run(arguments))
    }

    /// The same as JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.stdout_of(arguments)).expect("JSON")
    }

    /// The program ends with 2 and says this, and nothing else.
    #[track_caller]
    pub fn assert_usage_error(&self, arguments: &[&str], says: &str) {
        let output = self.run(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "{said}");
        assert!(output.stdout.is_empty());
    }
}

/// What a program printed, which succeeded.
#[must_use]
#[track_caller]
pub fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).expect("text")
}

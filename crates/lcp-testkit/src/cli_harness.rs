//! Runs the command line program as users do.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A program that Cargo built for a test: `Program(env!("CARGO_BIN_EXE_…"))`.
#[derive(Clone, Copy, Debug)]
pub struct Program(pub &'static str);

impl Program {
    /// Runs the program in the current folder.
    #[must_use]
    pub fn run(self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    /// Runs the program in the current folder with `input` as standard input.
    #[must_use]
    pub fn run_with(self, arguments: &[&str], input: &[u8]) -> Output {
        self.run_in(Path::new("."), arguments, input)
    }

    /// Runs the program in a folder with `input` as standard input.
    #[must_use]
    pub fn run_in(self, folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(folder, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        // Writing fails if the program closes its input without reading it.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        child.wait_with_output().expect("the program ends")
    }

    /// Returns the command that runs the program in a folder, without the environment variables
    /// that would change its output.
    #[must_use]
    pub fn command(self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(self.0);
        command.args(arguments).current_dir(folder);
        // Tests leave the cache of the user alone.
        command.env("XDG_CACHE_HOME", Path::new(self.0).with_file_name("test-cache"));
        for name in ["DEBUG_BUDGET", "LCP_DEBUG_BUDGET", "LCP_TOKEN", "RUST_LOG"] {
            command.env_remove(name);
        }
        command
    }

    /// Creates a temporary folder with this `lcp.toml`.
    #[must_use]
    pub fn project(self, toml: &str) -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = Project { program: self, folder };
        project.write(toml);
        project
    }

    /// Encodes a manifest into a pack at this path, with the `encode` subcommand of the program.
    /// Panics if that fails.
    #[track_caller]
    pub fn encode(self, manifest: &str, pack: &Path) {
        let pack = pack.to_str().expect("a path of text");
        let output = self.run_with(&["encode", "-", "-o", pack], manifest.as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

/// Returns the standard error of a program.
#[must_use]
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Returns the path of a sample pack.
#[must_use]
pub fn sample(name: &str) -> String {
    root().join("samples").join(name).display().to_string()
}

/// Returns the root folder of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A temporary folder with an `lcp.toml`, in which a program runs.
#[derive(Debug)]
pub struct Project {
    program: Program,
    folder: tempfile::TempDir,
}

impl Project {
    /// Replaces the `lcp.toml`.
    pub fn write(&self, toml: &str) {
        std::fs::write(self.path("lcp.toml"), toml).expect("a file");
    }

    /// Returns the path of a file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program in the folder.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.program.run_in(self.folder.path(), arguments, &[])
    }

    /// Runs the program and returns its standard output. Panics if the program fails.
    #[expect(clippy::must_use_candidate, reason = "that it succeeds may be all that is wanted")]
    #[track_caller]
    pub fn stdout_of(&self, arguments: &[&str]) -> String {
        printed(&self.run(arguments))
    }

    /// Runs the program and parses its standard output as JSON. Panics if the program fails.
    #[must_use]
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.stdout_of(arguments)).expect("JSON")
    }

    /// Runs the program and checks that it exits with code 2, prints nothing to standard output,
    /// and that its standard error contains `says`.
    #[track_caller]
    pub fn assert_usage_error(&self, arguments: &[&str], says: &str) {
        let output = self.run(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "{said}");
        assert!(output.stdout.is_empty());
    }
}

/// Returns the standard output of a program. Panics if the program failed.
#[must_use]
#[track_caller]
pub fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).expect("text")
}

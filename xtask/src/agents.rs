//! Runs the agents of npm with the gateway.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::tools;

/// The agents. They have 600 MB and change weekly, so CI does not run them.
const PACKAGES: [&str; 3] = ["@anthropic-ai/claude-code", "@openai/codex", "opencode-ai"];

/// Installs the newest ones below the build folder, and runs the tests that need them. They talk to a
/// provider on loopback, which checks the rules of the APIs.
///
/// # Errors
///
/// Returns an error if npm cannot be run, or if a test fails.
pub(crate) fn run() -> Result<ExitCode> {
    let folder = if let Some(folder) = std::env::var_os("LCP_AGENTS") {
        folder.into()
    } else {
        let folder = tools::target_folder()?.join("agents");
        std::fs::create_dir_all(&folder)?;
        let prefix = folder.to_str().context("the path of the build folder is not UTF-8")?;
        let install = ["install", "--silent", "--no-save", "--prefix", prefix];
        tools::output("npm", &[&install[..], &PACKAGES].concat())?;
        folder
    };
    let mut command = Command::new(tools::cargo());
    let test = "test -p lcp-cli --test it --all-features with_a_gateway -- --ignored";
    command.args(test.split(' ')).env("LCP_AGENTS", folder).current_dir(crate::workspace());
    tools::run_command(&mut command)?;
    Ok(ExitCode::SUCCESS)
}

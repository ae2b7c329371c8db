//! `dist`: the archive of a release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::tools::{self, cargo};

/// The largest size of an archive in bytes.
const ARCHIVE_BYTES_MAX: u64 = 25_000_000;

/// The shells that completions are written for, with the names of their files.
const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "lcp.bash"), ("zsh", "_lcp"), ("fish", "lcp.fish"), ("powershell", "_lcp.ps1")];

/// Files of the workspace that an archive contains.
const FILES: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Build a release archive: the command, man pages, completions
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the archive
    #[arg(long, value_name = "DIR", default_value = "target/dist/archives")]
    output: PathBuf,
}

/// Builds the command with all features, and packs it with its documentation into
/// `lcp-VERSION-TARGET.tar.gz`.
///
/// # Errors
///
/// Returns an error if a program fails, or if the archive is larger than [`ARCHIVE_BYTES_MAX`].
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let build = ["build", "--profile", "dist", "-p", "lcp-cli", "--all-features", "--locked"];
    tools::run(&cargo(), &build)?;
    let folder = tools::target_folder()?;
    let program = folder.join("dist/lcp").with_extension(std::env::consts::EXE_EXTENSION);
    let version = tools::output(&program, &["--version"])?;
    let version = version.split_whitespace().last().context("lcp printed no version")?.to_owned();
    let name = format!("lcp-{version}-{}", host()?);

    fs::create_dir_all(crate::workspace().join(&args.output))?;
    let output = crate::workspace().join(&args.output);
    let content = output.join(&name);
    if content.exists() {
        fs::remove_dir_all(&content)?;
    }
    collect(&program, &content)?;
    let archive = output.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(&output).arg(&name);
    let status = tar.status().context("cannot run tar")?;
    if !status.success() {
        bail!("tar failed: {status}");
    }
    fs::remove_dir_all(&content)?;
    let bytes = fs::metadata(&archive)?.len();
    eprintln!("{}: {bytes} bytes", archive.display());
    check_size(bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// Copies the command and its documentation into a folder.
fn collect(program: &Path, folder: &Path) -> Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&completions)?;
    let file_name = program.file_name().context("the command has no name")?;
    fs::copy(program, folder.join(file_name))?;
    for file in FILES {
        fs::copy(crate::workspace().join(file), folder.join(file))?;
    }
    tools::output(program, &["man".as_ref(), "--dir".as_ref(), man.as_os_str()])?;
    for (shell, file) in COMPLETIONS {
        fs::write(completions.join(file), tools::output(program, &["completions", shell])?)?;
    }
    Ok(())
}

/// Returns the name of the platform that rustc builds for.
fn host() -> Result<String> {
    let version = tools::output("rustc", &["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc printed no host")?.to_owned())
}

fn check_size(bytes: u64) -> Result<()> {
    if bytes > ARCHIVE_BYTES_MAX {
        bail!("the archive has {bytes} bytes: more than {ARCHIVE_BYTES_MAX}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_archive_is_an_error() {
        assert!(check_size(ARCHIVE_BYTES_MAX).is_ok());
        let error = check_size(ARCHIVE_BYTES_MAX + 1).unwrap_err().to_string();
        assert_eq!(error, "the archive has 25000001 bytes: more than 25000000");
    }

    #[test]
    fn host_platform_has_a_target_triple() {
        assert!(host().unwrap().contains('-'));
    }

    #[test]
    fn archive_files_exist() {
        assert!(FILES.iter().all(|file| crate::workspace().join(file).exists()));
    }
}

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
    /// Build for this target with cargo-zigbuild. This machine must be able to run its programs
    ///
    /// A target of glibc may end with the version to link with, such as `.2.17`.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

/// Builds the command with all features, and packs it with its documentation into the archive of
/// [`archive_name`].
///
/// # Errors
///
/// Returns an error if a program fails, or if the archive is larger than [`ARCHIVE_BYTES_MAX`].
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let options = ["--profile", "dist", "-p", "lcp-cli", "--all-features", "--locked"];
    let mut folder = tools::target_folder()?;
    let target = if let Some(target) = &args.target {
        tools::run(&cargo(), &[&["zigbuild", "--target", target], &options[..]].concat())?;
        let target = target.split('.').next().unwrap_or(target);
        folder.push(target);
        target.to_owned()
    } else {
        tools::run(&cargo(), &[&["build"], &options[..]].concat())?;
        host()?
    };
    let program = folder.join("dist/lcp").with_extension(std::env::consts::EXE_EXTENSION);
    let version = tools::output(&program, &["--version"])?;
    let version = version.split_whitespace().last().context("lcp printed no version")?;
    let name = archive_name(version, &target);

    fs::create_dir_all(crate::workspace().join(&args.output))?;
    let output = crate::workspace().join(&args.output);
    let content = output.join(&name);
    if content.exists() {
        fs::remove_dir_all(&content)?;
    }
    collect(&program, &content)?;
    let archive = write_archive(&output, &name)?;
    let bytes = fs::metadata(&archive)?.len();
    eprintln!("{}: {bytes} bytes", archive.display());
    check_size(bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of an archive and of the folder in it. Metadata of lcp-cli for `cargo binstall`
/// has the same name.
pub(crate) fn archive_name(version: &str, target: &str) -> String {
    format!("lcp-{version}-{target}")
}

/// Packs a subfolder of a folder into an archive next to it, and removes the subfolder.
pub(crate) fn write_archive(folder: &Path, name: &str) -> Result<PathBuf> {
    let archive = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(folder).arg(name);
    let status = tar.status().context("cannot run tar")?;
    if !status.success() {
        bail!("tar failed: {status}");
    }
    fs::remove_dir_all(folder.join(name))?;
    Ok(archive)
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
pub(crate) fn host() -> Result<String> {
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
    fn cargo_binstall_knows_the_name_of_the_archive() {
        let mut metadata = cargo_metadata::MetadataCommand::new();
        let metadata = metadata.current_dir(crate::workspace()).no_deps().exec().unwrap();
        let command = metadata.packages.iter().find(|package| package.name == "lcp-cli").unwrap();
        assert!(command.repository.is_some());
        let binstall = &command.metadata["binstall"];
        let name = archive_name("{ version }", "{ target }");
        let url = format!("{{ repo }}/releases/download/v{{ version }}/{name}.tar.gz");
        assert_eq!(binstall["pkg-url"], url.as_str());
        assert_eq!(binstall["bin-dir"], format!("{name}/{{ bin }}{{ binary-ext }}").as_str());
    }

    #[test]
    fn python_package_has_the_version_of_the_workspace() {
        let line = format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"));
        for file in ["python/pyproject.toml", "python/Cargo.toml"] {
            let text = fs::read_to_string(crate::workspace().join(file)).unwrap();
            assert!(text.contains(&line), "{file}");
        }
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

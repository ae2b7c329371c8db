//! `npm`: the packages of a release for npm.
//!
//! The main package has a launcher (`js/bin/lcp.js`). The command itself is in one package for
//! each platform, an optional dependency of the main one, so that npm installs only the one that
//! fits. Archives keep the mode of files, so they are the source.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::MetadataCommand;

use crate::{dist, tools};

/// A platform of releases.
struct Platform {
    target: &'static str,
    /// As in Node's `process.platform`.
    os: &'static str,
    /// As in Node's `process.arch`.
    cpu: &'static str,
    /// The C library, where there are several.
    libc: Option<(&'static str, &'static str)>,
}

const GNU: Option<(&str, &str)> = Some(("-gnu", "glibc"));
const MUSL: Option<(&str, &str)> = Some(("-musl", "musl"));

/// The platforms of releases. The matrix of `.github/workflows/release.yml` builds the archives.
const PLATFORMS: &[Platform] = &[
    Platform { target: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64", libc: GNU },
    Platform { target: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64", libc: GNU },
    Platform { target: "x86_64-unknown-linux-musl", os: "linux", cpu: "x64", libc: MUSL },
    Platform { target: "aarch64-unknown-linux-musl", os: "linux", cpu: "arm64", libc: MUSL },
    Platform { target: "x86_64-apple-darwin", os: "darwin", cpu: "x64", libc: None },
    Platform { target: "aarch64-apple-darwin", os: "darwin", cpu: "arm64", libc: None },
    Platform { target: "x86_64-pc-windows-msvc", os: "win32", cpu: "x64", libc: None },
];

impl Platform {
    /// Returns the part of the package name that the launcher derives from the running system.
    fn name(&self) -> String {
        format!("{}-{}{}", self.os, self.cpu, self.libc.map_or("", |(suffix, _)| suffix))
    }

    fn program(&self) -> &'static str {
        if self.os == "win32" { "lcp.exe" } else { "lcp" }
    }

    fn manifest(&self, version: &str, repository: &str) -> String {
        let libc =
            self.libc.map_or(String::new(), |(_, libc)| format!("\n  \"libc\": [\"{libc}\"],"));
        format!(
            r#"{{
  "name": "@llm-context-pack/{name}",
  "version": "{version}",
  "description": "The lcp command of llm-context-pack for {target}",
  "license": "MIT OR Apache-2.0",
  "repository": {{ "type": "git", "url": "git+{repository}.git" }},
  "os": ["{os}"],
  "cpu": ["{cpu}"],{libc}
  "files": ["{program}", "LICENSE-*"],
  "preferUnplugged": true
}}
"#,
            name = self.name(),
            target = self.target,
            os = self.os,
            cpu = self.cpu,
            program = self.program(),
        )
    }
}

/// Write the npm packages of a release from its archives
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the archives that `dist` built
    #[arg(long, value_name = "DIR", default_value = "target/dist/archives")]
    archives: PathBuf,
    /// Folder of the main package
    #[arg(long, value_name = "DIR", default_value = "js")]
    main: PathBuf,
    /// Folder of the written packages: `platforms/*` and `main`
    #[arg(long, value_name = "DIR", default_value = "target/dist/npm")]
    output: PathBuf,
}

/// Writes a package for each archive, and the main package that depends on them.
///
/// # Errors
///
/// Returns an error if an archive is of another version or for an unknown platform, if the main
/// package has another version, or if npm or tar fails.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let root = crate::workspace();
    let (archives, main) = (root.join(&args.archives), root.join(&args.main));
    let output = root.join(&args.output);
    if output.exists() {
        fs::remove_dir_all(&output)?;
    }
    let version = env!("CARGO_PKG_VERSION");
    let names = write_platforms(&archives, &output.join("platforms"), version)?;
    write_main(&main, &output, version, &names)?;
    eprintln!("{}: llm-context-pack, {}", output.display(), names.join(", "));
    Ok(ExitCode::SUCCESS)
}

/// Writes a package for each archive, and returns the names of the platforms.
fn write_platforms(archives: &Path, output: &Path, version: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let entries = fs::read_dir(archives);
    for entry in entries.with_context(|| format!("cannot read {}", archives.display()))? {
        let archive = entry?.path();
        let file_name = archive.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(stem) = file_name.strip_suffix(".tar.gz") else { continue };
        let is_source = |platform: &&Platform| dist::archive_name(version, platform.target) == stem;
        let Some(platform) = PLATFORMS.iter().find(is_source) else {
            bail!("{file_name} is not an archive of version {version} for a platform of releases");
        };
        write_platform(platform, &archive, output, version)?;
        names.push(platform.name());
    }
    if names.is_empty() {
        bail!("no archive in {}\nhint: run cargo xtask dist first", archives.display());
    }
    names.sort();
    Ok(names)
}

fn write_platform(platform: &Platform, archive: &Path, output: &Path, version: &str) -> Result<()> {
    let folder = output.join(platform.name());
    fs::create_dir_all(&folder)?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(&folder).arg("--strip-components=1");
    let stem = dist::archive_name(version, platform.target);
    tar.args(
        [platform.program(), "LICENSE-APACHE", "LICENSE-MIT"].map(|file| format!("{stem}/{file}")),
    );
    let status = tar.status().context("cannot run tar")?;
    if !status.success() {
        bail!("tar failed on {}: {status}", archive.display());
    }
    fs::write(folder.join("package.json"), platform.manifest(version, &repository()?))?;
    let target = platform.target;
    let readme = format!(
        "The `lcp` command for {target}. Install the package `llm-context-pack`, which runs it.\n"
    );
    Ok(fs::write(folder.join("README.md"), readme)?)
}

/// Writes the main package as npm packs it, with the packages of the platforms as dependencies.
///
/// The repository does not list these dependencies, because they do not exist before a release.
fn write_main(main: &Path, output: &Path, version: &str, names: &[String]) -> Result<()> {
    let main_version = npm(main, &["pkg", "get", "version"])?;
    let main_version = main_version.trim().trim_matches('"');
    if main_version != version {
        bail!("{} has version {main_version}, not {version}", main.display());
    }
    let packed = npm(main, &["pack", "--silent", "--pack-destination", path(output)?])?;
    let packed = output.join(packed.lines().last().context("npm pack printed no name")?);
    let folder = output.join("main");
    fs::create_dir_all(&folder)?;
    let unpack = ["-xzf", path(&packed)?, "-C", path(&folder)?, "--strip-components=1"];
    tools::output("tar", &unpack)?;
    fs::remove_file(packed)?;
    let dependencies: Vec<_> = names
        .iter()
        .map(|name| format!("optionalDependencies[@llm-context-pack/{name}]={version}"))
        .collect();
    let set = ["pkg", "set"].into_iter().chain(dependencies.iter().map(String::as_str));
    npm(&folder, &set.collect::<Vec<_>>())?;
    Ok(())
}

/// Tests the launcher, and installs packages that [`run`] writes, with a script as the command.
///
/// # Errors
///
/// Returns an error if a test fails or if npm is not installed.
pub(crate) fn check() -> Result<()> {
    tools::run("node".as_ref(), &["--test", "js/bin/lcp.test.mjs"])?;
    let folder = tools::target_folder()?.join("npm-check");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let (main, archives, user) = (folder.join("js"), folder.join("archives"), folder.join("user"));
    for new in [&main.join("bin"), &archives, &user] {
        fs::create_dir_all(new)?;
    }
    write_sample_archive(&archives)?;
    for file in ["bin/lcp.js", "bin/platform.js"] {
        fs::copy(crate::workspace().join("js").join(file), main.join(file))?;
    }
    let manifest = format!(
        r#"{{ "name": "llm-context-pack", "version": "{}", "type": "module",
  "bin": {{ "lcp": "bin/lcp.js", "llm-context-pack": "bin/lcp.js" }} }}"#,
        env!("CARGO_PKG_VERSION")
    );
    fs::write(main.join("package.json"), manifest)?;
    fs::write(user.join("package.json"), "{}")?;

    let output = folder.join("npm");
    run(&Args { archives, main, output: output.clone() })?;
    let mut install = vec!["install".to_owned(), "--offline".into(), "--no-audit".into()];
    let platforms = fs::read_dir(output.join("platforms"))?.map(|entry| Ok(entry?.path()));
    for package in platforms.chain([Ok(output.join("main"))]).collect::<Result<Vec<_>>>()? {
        let packed = npm(&package, &["pack", "--silent", "--pack-destination", path(&user)?])?;
        install.push(format!("./{}", packed.trim()));
    }
    npm(&user, &install.iter().map(String::as_str).collect::<Vec<_>>())?;
    for name in ["llm-context-pack", "lcp"] {
        let printed = npm(&user, &["exec", "--offline", "--", name, "render", "a b"])?;
        if printed != "lcp:render:a b:" {
            bail!("npx {name} printed {printed:?}");
        }
    }
    Ok(())
}

/// Writes an archive for this platform, with a script that prints its arguments as the command.
fn write_sample_archive(archives: &Path) -> Result<()> {
    let stem = dist::archive_name(env!("CARGO_PKG_VERSION"), &dist::host()?);
    let content = archives.join(&stem);
    fs::create_dir(&content)?;
    let script = "#!/bin/sh\nprintf %s: lcp \"$@\"\n";
    for (name, text) in [("lcp", script), ("LICENSE-APACHE", ""), ("LICENSE-MIT", "")] {
        fs::write(content.join(name), text)?;
    }
    // The mode is that of a program which is executable in this workspace.
    fs::set_permissions(
        content.join("lcp"),
        fs::metadata(std::env::current_exe()?)?.permissions(),
    )?;
    dist::write_archive(archives, &stem)?;
    Ok(())
}

/// Runs npm in a folder, and returns its standard output.
fn npm(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut npm = Command::new("npm");
    let output = npm.args(arguments).current_dir(folder).output().context("cannot run npm")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("npm {} in {} failed:\n{errors}", arguments.join(" "), folder.display());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the address of the repository, which npm compares with the origin of a package.
fn repository() -> Result<String> {
    let mut metadata = MetadataCommand::new();
    let metadata = metadata.current_dir(crate::workspace()).no_deps().exec()?;
    let package = metadata.packages.into_iter().find(|package| package.name == "lcp-cli");
    package.and_then(|package| package.repository).context("lcp-cli names no repository")
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_builds_every_platform() {
        let workflow = crate::workspace().join(".github/workflows/release.yml");
        let workflow = fs::read_to_string(workflow).unwrap();
        for platform in PLATFORMS {
            assert!(workflow.contains(platform.target), "{}", platform.target);
        }
    }

    #[test]
    fn manifest_limits_the_package_to_its_platform() {
        let names: Vec<_> = PLATFORMS.iter().map(Platform::name).collect();
        assert_eq!(names[0], "linux-x64-gnu");
        assert_eq!(names[5..], ["darwin-arm64", "win32-x64"]);
        let [gnu, .., windows] = PLATFORMS else { unreachable!() };
        let gnu = gnu.manifest("1.2.3", "https://example.org/lcp");
        for line in [
            r#"  "name": "@llm-context-pack/linux-x64-gnu","#,
            r#"  "version": "1.2.3","#,
            r#"  "os": ["linux"],"#,
            r#"  "cpu": ["x64"],"#,
            r#"  "libc": ["glibc"],"#,
            r#"  "files": ["lcp", "LICENSE-*"],"#,
        ] {
            assert!(gnu.lines().any(|other| other == line), "{line}");
        }
        let windows = windows.manifest("1.2.3", "https://example.org/lcp");
        assert!(!windows.contains("libc") && windows.contains(r#""files": ["lcp.exe", "#));
    }

    #[test]
    fn archive_of_another_release_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = || {
            let result = write_platforms(folder.path(), &folder.path().join("npm"), "1.2.3");
            result.unwrap_err().to_string()
        };
        assert!(error().starts_with("no archive in "));
        fs::write(folder.path().join("lcp-1.2.2-x86_64-apple-darwin.tar.gz"), "").unwrap();
        assert_eq!(
            error(),
            "lcp-1.2.2-x86_64-apple-darwin.tar.gz is not an archive of version 1.2.3 for a platform \
             of releases"
        );
    }
}

//! The TypeScript package: its WebAssembly module, its JavaScript, and its tests.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::tools::{self, cargo, output};

/// The largest size of the WebAssembly module in bytes, compressed by gzip.
const MODULE_GZIP_BYTES_MAX: u64 = 1_500_000;

const TARGET: &str = "wasm32-unknown-unknown";

/// Counting takes half of the time with these instructions, which all supported environments have.
const RUSTFLAGS: &str = "-C target-feature=+simd128";

/// Debian's compiler with the sources of the standard library.
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library";

const HINT: &str = "hint: run `rustup target add wasm32-unknown-unknown`, or on Debian \
    `apt-get install rustc-web cargo-web rust-web-src`; both need clang, lld and llvm";

/// Checks the TypeScript package, builds it with a compiled module, and runs its tests against the
/// installed package. The tests compare its output with that of the command.
///
/// # Errors
///
/// Returns an error if a program fails, or if the module is larger than [`MODULE_GZIP_BYTES_MAX`].
pub(super) fn run(module: &Path, lcp: &Path, texts: &Path) -> Result<()> {
    let manifest = ["--manifest-path", "js/Cargo.toml"];
    tools::run(&cargo(), &[&["fmt", "--all", "--check"], &manifest[..]].concat())?;
    let target = tools::target_folder()?;
    let folder = target.join("packages/js");
    let target = target.to_str().context("the path of the build folder is not UTF-8")?;
    let lints = ["--workspace", "--locked", "--target-dir", target, "--", "-D", "warnings"];
    let package = crate::workspace().join("js");
    std::thread::scope(|scope| {
        // The programs of npm are downloaded while clippy runs.
        let programs = scope.spawn(|| {
            npm(&package, &["ci"])?;
            prepare_tests(&package, &folder)
        });
        tools::run(&cargo(), &[&["clippy"], &manifest[..], &lints].concat())?;
        programs.join().map_err(|_| anyhow!("the installation of the programs panicked"))??;
        build_module(&package, module, target)
    })?;
    npm(&package, &["run", "check"])?;
    npm(&package, &["run", "build"])?;
    fill_playground(&package.join("dist"))?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(crate::workspace().join(license), package.join(license))?;
    }
    test(&package, &folder, &[("LCP", lcp), ("LCP_TEXTS", texts)])
}

/// Builds `dist/wasm/` and `dist/vocabularies/`.
fn build_module(package: &Path, module: &Path, target: &str) -> Result<()> {
    let dist = package.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    let files = dist.join("wasm");
    let bindgen = ["run", "--quiet", "--locked", "--target-dir", target];
    let bindgen = bindgen.iter().chain(&["--manifest-path", "js/Cargo.toml"]);
    let bindgen = bindgen.chain(&["--package", "lcp-js-bindgen", "--"]).map(OsStr::new);
    let bindgen = bindgen.chain([module.as_os_str(), files.as_os_str()]);
    output(cargo(), &bindgen.collect::<Vec<_>>())?;
    let wasm = files.join("lcp_bg.wasm");
    let optimize = ["-O2", "--strip-debug", "-o"].map(OsStr::new);
    let optimize = [&optimize[..], &[wasm.as_os_str(), wasm.as_os_str()]].concat();
    output(package.join("node_modules/.bin/wasm-opt"), &optimize)?;
    let zipped = Command::new("gzip").args(["-9", "-c"]).arg(&wasm).output();
    let bytes = zipped.context("cannot run gzip")?.stdout.len() as u64;
    eprintln!("{}: {bytes} bytes, compressed", wasm.display());
    if bytes > MODULE_GZIP_BYTES_MAX {
        bail!("the compressed module has {bytes} bytes, more than {MODULE_GZIP_BYTES_MAX}");
    }
    let vocabularies = dist.join("vocabularies");
    fs::create_dir_all(&vocabularies)?;
    for file in fs::read_dir(crate::workspace().join("crates/lcp-tokens/data"))? {
        let path = file?.path();
        if let (Some("bpe"), Some(name)) =
            (path.extension().and_then(OsStr::to_str), path.file_name())
        {
            fs::copy(&path, vocabularies.join(name))?;
        }
    }
    Ok(())
}

/// Copies the files of the package and the sample into the playground of the guide.
fn fill_playground(dist: &Path) -> Result<()> {
    let folder = crate::workspace().join("docs/playground/lcp");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    copy(dist, &folder)?;
    // Workers ignore import maps, so `#files` must be a path.
    let module = folder.join("module.js");
    let text = fs::read_to_string(&module)?;
    fs::write(&module, text.replace("\"#files\"", "\"./files_web.js\""))?;
    fs::copy(crate::workspace().join("samples/session.lcp"), folder.join("session.lcp"))?;
    Ok(())
}

/// Compiles the module, and returns its path. Without the standard library of the target, Debian's
/// compiler builds it from its sources.
///
/// # Errors
///
/// Returns an error if there is no compiler for WebAssembly, or if it fails.
pub(super) fn compile() -> Result<PathBuf> {
    let target_folder = tools::target_folder()?.join("packages/js-target");
    let has_target = output("rustc", &["--print", "target-libdir", "--target", TARGET])
        .is_ok_and(|folder| Path::new(folder.trim()).exists());
    let mut command = if has_target {
        Command::new(cargo())
    } else if Path::new(DEBIAN_CARGO).exists() && Path::new(DEBIAN_SOURCES).exists() {
        let mut command = Command::new(DEBIAN_CARGO);
        // Only nightly compilers build the standard library without this variable.
        command.env("RUSTC_BOOTSTRAP", "1").env("RUSTC", "/usr/bin/rustc");
        command.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC_WRAPPER");
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
        command.arg("-Zbuild-std=std,panic_abort");
        command
    } else {
        bail!("no compiler for {TARGET}\n{HINT}");
    };
    command.current_dir(crate::workspace()).env("RUSTFLAGS", RUSTFLAGS);
    command.env("CARGO_TARGET_DIR", &target_folder);
    command.env("CC_wasm32_unknown_unknown", "clang");
    if let Some(archiver) = archiver() {
        command.env("AR_wasm32_unknown_unknown", archiver);
    }
    command.args(["build", "--release", "--locked", "--lib", "--target", TARGET]);
    command.args(["--manifest-path", "js/Cargo.toml"]);
    let status = command.status().with_context(|| format!("cannot run cargo\n{HINT}"))?;
    if !status.success() {
        bail!("the build of the WebAssembly module failed: {status}\n{HINT}");
    }
    Ok(target_folder.join(TARGET).join("release/lcp.wasm"))
}

/// Returns the archiver of LLVM. Debian's name has the version.
fn archiver() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?)
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("llvm-ar"))
        })
        .collect();
    found.sort();
    found.into_iter().next()
}

/// Copies the tests into an empty folder, and installs their programs.
fn prepare_tests(package: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    copy(&package.join("tests"), &folder.join("tests"))?;
    fs::copy(package.join("README.md"), folder.join("README.md"))?;
    npm(&folder.join("tests"), &["ci"])
}

/// Installs the packed package in the folder of the tests, and runs them with these variables.
fn test(package: &Path, folder: &Path, variables: &[(&str, &Path)]) -> Result<()> {
    let destination = folder.join("package");
    fs::create_dir_all(&destination)?;
    let name = destination.to_str().context("the path of the build folder is not UTF-8")?;
    npm(package, &["pack", "--silent", "--pack-destination", name])?;
    let mut packed = fs::read_dir(&destination)?;
    let packed = packed.next().context("npm packed no package")??.path();
    let tests = folder.join("tests");
    // The package itself, not a link to its folder.
    let packed = packed.to_str().context("the path of the build folder is not UTF-8")?;
    npm(&tests, &["install", packed])?;
    let programs = tests.join("node_modules/.bin");
    for (program, arguments) in [("tsc", &[][..]), ("vitest", &["run"])] {
        let mut command = Command::new(programs.join(program));
        command.args(arguments).current_dir(&tests);
        command.envs(variables.iter().copied()).env("LCP_REPOSITORY", crate::workspace());
        tools::run_command(&mut command)?;
    }
    Ok(())
}

/// Copies the files of a folder, except for installed packages.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "node_modules" {
                copy(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs npm in a folder, without the audit, which needs another service.
fn npm(folder: &Path, arguments: &[&str]) -> Result<()> {
    let program: OsString = if cfg!(windows) { "npm.cmd".into() } else { "npm".into() };
    let mut command = Command::new(program);
    command.args(arguments).args(["--no-audit", "--no-fund"]).current_dir(folder);
    let status = command.status().context("cannot run npm\nhint: install Node 20 or later")?;
    if !status.success() {
        bail!("npm {} failed: {status}", arguments.join(" "));
    }
    Ok(())
}

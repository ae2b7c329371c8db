//! Renders packs with the command. The packages must render the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::tools::{self, cargo, output};

const MODES: [&str; 3] = ["xml", "markdown", "minimal"];

/// The maximum tokens of a text.
const BUDGET: &str = "8000";

/// The least number of packs.
const PACKS_MIN: usize = 50;

/// The question for which folders are packed.
const QUERY: &str = "where are limits checked?";

/// Builds the command, and returns its path.
pub(super) fn build_command() -> Result<PathBuf> {
    // Has the features of the test build, so that cargo reuses it. An example enables those of
    // dev-dependencies.
    let features = ["--locked", "--workspace", "--all-features", "--example", "count"];
    tools::run(&cargo(), &[&["build", "--bin", "lcp"], &features[..]].concat())?;
    let program = tools::target_folder()?.join("debug/lcp");
    Ok(program.with_extension(std::env::consts::EXE_EXTENSION))
}

/// Writes packs of the samples and of folders of this repository, and the text of each in each mode:
/// `NAME.lcp` and `NAME.MODE.txt`. Returns their folder.
///
/// # Errors
///
/// Returns an error if the command fails, or if there are too few packs.
pub(super) fn write(lcp: &Path) -> Result<PathBuf> {
    let folder = tools::target_folder()?.join("packages/texts");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for sample in entries(&crate::workspace().join("samples"))? {
        if sample.extension().is_some_and(|ending| ending == "lcp") {
            fs::copy(&sample, folder.join(sample.file_name().context("a file has no name")?))?;
        }
    }
    let sources = sources()?;
    in_parallel(&sources, |source| {
        let pack = folder.join(source.replace('/', "-")).with_extension("lcp");
        let options = ["--query", QUERY, "--history", "off", "-o"];
        let words = ["pack", source].into_iter().chain(options).map(AsRef::as_ref);
        output(lcp, &words.chain([pack.as_os_str()]).collect::<Vec<_>>()).map(drop)
    })?;
    let packs = entries(&folder)?;
    if packs.len() < PACKS_MIN {
        bail!("expected at least {PACKS_MIN} packs, got {}", packs.len());
    }
    in_parallel(&packs, |pack| {
        for mode in MODES {
            let options = ["--mode", mode, "--budget", BUDGET, "-o"].map(AsRef::as_ref);
            let text = pack.with_extension(format!("{mode}.txt"));
            let words = ["render".as_ref(), pack.as_os_str()].into_iter().chain(options);
            output(lcp, &words.chain([text.as_os_str()]).collect::<Vec<_>>())?;
        }
        Ok(())
    })?;
    Ok(folder)
}

/// Returns the folders that are packed.
fn sources() -> Result<Vec<String>> {
    let mut folders =
        ["bench", "docs", "js/lib", "python/lcp", "rfcs", "xtask/src"].map(String::from).to_vec();
    for each in entries(&crate::workspace().join("crates"))? {
        let name =
            each.file_name().and_then(|name| name.to_str()).context("a name is not UTF-8")?;
        let parts = ["src", "tests"].into_iter().filter(|part| each.join(part).exists());
        folders.extend(parts.map(|part| format!("crates/{name}/{part}")));
    }
    Ok(folders)
}

/// Returns the paths of a folder's entries, in their order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Does the same for all items, in two threads.
fn in_parallel<T: Sync>(items: &[T], run: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let (first, second) = items.split_at(items.len() / 2);
    thread::scope(|scope| {
        let first = scope.spawn(|| first.iter().try_for_each(&run));
        second.iter().try_for_each(&run)?;
        first.join().map_err(|_| anyhow!("a thread panicked"))?
    })
}

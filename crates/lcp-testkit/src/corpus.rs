//! Text that nobody here wrote, from files that every machine has: the sources
//! of crates, as Cargo keeps them.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files in a folder and those below, sorted by their paths; larger ones
/// than `bytes_max` are left out, because programs wrote them.
pub fn files_in(folder: &Path, bytes_max: u64) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                open.push(entry.path());
            } else if metadata.is_file() && metadata.len() <= bytes_max {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file is Markdown or a licence.
#[must_use]
pub fn is_prose(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.extension().is_some_and(|ending| ending == "md") || name.starts_with("LICENSE")
}

/// The text of the documentation comments of a Rust file.
///
/// ```
/// assert_eq!(lcp_testkit::comments("/// Says it.\nfn f() {} // not this\n"), "Says it.\n");
/// ```
#[must_use]
pub fn comments(code: &str) -> String {
    let lines = code.lines().map(str::trim_start);
    let text = lines.filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    text.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

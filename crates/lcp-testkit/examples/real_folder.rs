//! Writes the folder that `docs/packing.md` shows, to try `lcp` and other programs on it:
//! `cargo run -p lcp-testkit --example real_folder -- FOLDER`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| std::io::Error::other("usage: real_folder FOLDER"))?;
    std::fs::create_dir_all(&folder)?;
    lcp_testkit::real_folder::write(&folder)
}

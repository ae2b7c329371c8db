//! Converts a folder to blocks, and lists the files with and without a block:
//!
//! ```text
//! cargo run -p lcp-ingest --example pack_folder
//! ```

#![allow(clippy::print_stdout, reason = "the example prints lists of files")]

use std::error::Error;
use std::path::PathBuf;

use lcp_ingest::outline::{InputKind, OutlineOptions, outline};
use lcp_ingest::{IngestOptions, ingest};
use lcp_types::BlockContent;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The sources of this crate. Files that `.gitignore` excludes are not found.
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let options =
        IngestOptions { paths: vec![folder], max_file_bytes: 8 << 10, ..IngestOptions::default() };
    let result = ingest(&options)?;

    // The first block is the tree of the folder. Each text file is one further block.
    println!("{} blocks, {} bytes of files", result.blocks.len(), result.report.bytes());
    for skipped in &result.report.skipped {
        println!("skipped {}: {}", skipped.path, skipped.reason.name());
    }

    // An outline is a summary without a model: the declarations of code, the headings of documents,
    // the first and last lines of other texts. Code needs the feature of its language.
    for block in &result.blocks {
        let BlockContent::Code(code) = &block.content else { continue };
        let Some(text) = code.content.as_str() else { continue };
        if let Some(outline) = outline(InputKind::Code(code.lang), text, &OutlineOptions::default())
        {
            println!("{}: {} bytes, outline {}", code.path, text.len(), outline.len());
        }
    }
    Ok(())
}

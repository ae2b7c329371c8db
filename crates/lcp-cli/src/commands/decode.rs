//! The command `decode`: converts a pack to a JSON manifest.

use std::path::PathBuf;

use crate::Result;
use crate::files;
use crate::output::Output;
use lcp_app::render;

/// Convert a pack to a JSON manifest
///
/// Annotations are printed as blocks, so `encode` of the output gives the same blocks, and the same
/// bytes if nothing was compressed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp decode samples/every-type.lcp")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    /// Write the manifest to this file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Prints the manifest.
pub fn run(args: &Args, output: &Output) -> Result {
    let out = args.output.as_deref().map(|path| ("-o", path));
    files::check_distinct_paths(&[(files::PACK, &args.pack)], out.as_slice(), |_, _| false)?;
    let bytes = files::read(&args.pack, output)?;
    let pack = files::decode(&args.pack, &bytes)?;
    for warning in &pack.warnings {
        output.warn(format!("{warning} [{}]", warning.code()));
    }
    if let Some(warning) = render::index_warning(&bytes) {
        output.warn(warning);
    }
    files::write(args.output.as_deref(), lcp_encoder::manifest::to_json(&pack.blocks).as_bytes())
}

//! `encode`: a JSON manifest in, a pack out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lcp_encoder::EncodeOptions;
use lcp_encoder::manifest::{Manifest, ManifestError, ManifestErrorKind};

use crate::Result;
use crate::failure::{Code, Failure};
use crate::files;
use crate::form::{Form, refuse_terminal};

/// Make a pack of a JSON manifest
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  lcp encode samples/priorities.json -o /tmp/priorities.lcp --compress block")]
pub struct Args {
    /// The manifest; `-` for standard input. Files that it names are looked
    /// for beside it
    manifest: PathBuf,
    /// Write the pack there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// Writes the pack.
pub fn run(args: &Args) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let pack = encode(&args.manifest, args.form.options())?;
    files::write(args.output.as_deref(), &pack)
}

/// Encodes the manifest at `path`.
pub fn encode(path: &Path, options: EncodeOptions) -> Result<Vec<u8>> {
    let json = files::read(path)?;
    let folder = if path == OsStr::new(files::STANDARD) { None } else { path.parent() };
    let mut load = |name: &str| match folder {
        Some(folder) => std::fs::read(folder.join(name)),
        None => std::fs::read(name),
    };
    Manifest::parse(&json, &mut load)
        .and_then(|manifest| manifest.encode(options))
        .map_err(|error| malformed(path, &error))
}

fn malformed(path: &Path, error: &ManifestError) -> Failure {
    let code = match error.kind {
        ManifestErrorKind::Limit => Code::Limit,
        ManifestErrorKind::Io => Code::Io,
        _ => Code::Malformed,
    };
    Failure::new(code, format!("{error} ({})", files::name(path)))
}

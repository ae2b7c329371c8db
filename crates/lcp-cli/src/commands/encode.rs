//! `encode`: a JSON manifest in, a pack out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lcp_encoder::EncodeOptions;
use lcp_encoder::manifest::{Manifest, ManifestError, ManifestErrorKind};

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::tokenizer_args::TokenizerArgs;
use lcp_app::Reporter;
use lcp_app::pack_output::warn_if_uncompressed;
use lcp_app::{Error, ErrorKind};

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
    form: PackOutputArgs,
    /// What counts for --index-costs.
    #[command(flatten)]
    counting: TokenizerArgs,
}

/// Writes the pack.
pub fn run(args: &Args, output: &Output) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let tokenizer = args.counting.options();
    let writer = args.form.encoder_alone(&args.counting, &tokenizer, output)?;
    let options = args.form.encode_options();
    let (mut pack, parts) = encoded(&args.manifest, options, output)?;
    let out = args.output.as_deref().map(|path| ("-o", path));
    let parts = parts.iter().map(|path| ("a file of the manifest", path.as_path()));
    let inputs: Vec<_> = parts.chain([("the manifest", args.manifest.as_path())]).collect();
    // A file may be named twice.
    files::check_distinct_paths(&inputs, out.as_slice(), |_, flag| flag != "-o")?;
    if writer.counts() {
        let blocks = files::decode(&args.manifest, &pack)?.blocks;
        pack = writer.encode(&blocks, &files::display_name(&args.manifest), output)?;
    } else {
        warn_if_uncompressed(&pack, options, output);
    }
    files::write(args.output.as_deref(), &pack)
}

/// Encodes the manifest at `path`.
pub fn encode(path: &Path, options: EncodeOptions, reporter: &dyn Reporter) -> Result<Vec<u8>> {
    encoded(path, options, reporter).map(|(pack, _)| pack)
}

/// The pack of a manifest, and the files that were read for it.
fn encoded(
    path: &Path,
    options: EncodeOptions,
    reporter: &dyn Reporter,
) -> Result<(Vec<u8>, Vec<PathBuf>)> {
    encoded_of(path, &files::read(path, reporter)?, options)
}

/// Encodes a manifest that was read from `path`.
pub fn manifest(path: &Path, json: &[u8], options: EncodeOptions) -> Result<Vec<u8>> {
    encoded_of(path, json, options).map(|(pack, _)| pack)
}

fn encoded_of(path: &Path, json: &[u8], options: EncodeOptions) -> Result<(Vec<u8>, Vec<PathBuf>)> {
    let folder = if path == OsStr::new(files::STANDARD) { None } else { path.parent() };
    let mut parts = Vec::new();
    let mut load = |name: &str| {
        let part = folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
        let read = std::fs::read(&part);
        parts.push(part);
        read
    };
    let pack = Manifest::parse(json, &mut load)
        .and_then(|manifest| manifest.to_pack(options))
        .map_err(|error| malformed(path, &error))?;
    Ok((pack, parts))
}

fn malformed(path: &Path, error: &ManifestError) -> Error {
    let code = match error.kind {
        ManifestErrorKind::Limit => ErrorKind::Limit,
        ManifestErrorKind::Io => ErrorKind::Io,
        _ => ErrorKind::Malformed,
    };
    Error::new(code, format!("{error} ({})", files::display_name(path)))
}

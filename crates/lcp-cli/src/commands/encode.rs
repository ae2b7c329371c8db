//! The command `encode`: converts a JSON manifest to a pack.

use std::path::PathBuf;

use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::tokenizer_args::TokenizerArgs;
use lcp_app::pack_output::{encode_manifest, warn_if_uncompressed};

/// Convert a JSON manifest to a pack
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp encode samples/priorities.json -o /tmp/priorities.lcp --compress block")]
pub struct Args {
    /// Manifest to read; `-` for standard input
    ///
    /// Paths in the manifest are relative to its folder.
    manifest: PathBuf,
    /// Write the pack to this file [default: standard output]
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    form: PackOutputArgs,
    /// The flags of the tokenizer for --index-costs.
    #[command(flatten)]
    counting: TokenizerArgs,
}

/// Writes the pack.
pub fn run(args: &Args, output: &Output) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let tokenizer = args.counting.to_options();
    let writer = args.form.encoder_alone(&args.counting, &tokenizer, None, output)?;
    let options = args.form.encode_options();
    let json = files::read(&args.manifest, output)?;
    let (mut pack, parts) = encode_manifest(&args.manifest, &json, options)?;
    let out = args.output.as_deref().map(|path| ("-o", path));
    let parts = parts.iter().map(|path| ("a file of the manifest", path.as_path()));
    let inputs: Vec<_> = parts.chain([("the manifest", args.manifest.as_path())]).collect();
    // The manifest may name a file several times; only an input that equals the output is an error.
    files::check_distinct_paths(&inputs, out.as_slice(), |_, flag| flag != "-o")?;
    if writer.counts() {
        let blocks = files::decode(&args.manifest, &pack)?.blocks;
        pack = writer.encode(&blocks, &files::display_name(&args.manifest), output)?;
    } else {
        warn_if_uncompressed(&pack, options, output);
    }
    files::write(args.output.as_deref(), &pack)
}

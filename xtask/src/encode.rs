//! `encode`: a JSON manifest in, a pack out.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lcp_encoder::manifest::{Manifest, ManifestError, ManifestErrorKind};
use lcp_encoder::{Compression, EncodeOptions, Magic};

use crate::Result;
use crate::failure::{Code, Failure};
use crate::files;

/// Make a pack of a JSON manifest
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  cargo xtask encode samples/priorities.json -o /tmp/priorities.lcp --compress block")]
pub(crate) struct Args {
    /// The manifest; `-` for standard input. Files that it names are looked
    /// for beside it
    manifest: PathBuf,
    /// Write the pack there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// How a pack is written.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Form {
    /// The magic: `bcp` for readers of the Bit Context Protocol
    #[arg(long, value_enum, default_value = "lcp")]
    magic: MagicName,
    /// What is compressed
    #[arg(long, value_enum, default_value = "none")]
    compress: Compress,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MagicName {
    Lcp,
    Bcp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Compress {
    None,
    Block,
    Payload,
}

pub(crate) fn run(args: &Args) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let pack = encode(&args.manifest, args.form.options())?;
    files::write(args.output.as_deref(), &pack)
}

/// Refuses to write a pack to a terminal.
pub(crate) fn refuse_terminal(output: Option<&Path>) -> Result {
    if output.is_none() && std::io::stdout().is_terminal() {
        let failure =
            Failure::new(Code::Usage, "a pack is binary, and standard output is a terminal");
        return Err(failure.hint("name a file with -o, or pipe it"));
    }
    Ok(())
}

impl Form {
    pub(crate) fn options(self) -> EncodeOptions {
        EncodeOptions {
            magic: match self.magic {
                MagicName::Lcp => Magic::Lcp,
                MagicName::Bcp => Magic::Bcp,
            },
            compression: match self.compress {
                Compress::None => Compression::None,
                Compress::Block => Compression::Block,
                Compress::Payload => Compression::Payload,
            },
        }
    }
}

/// Encodes the manifest at `path`.
pub(crate) fn encode(path: &Path, options: EncodeOptions) -> Result<Vec<u8>> {
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

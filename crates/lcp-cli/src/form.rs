//! How a pack is written: the flags that say it, and where it may go.

use std::io::IsTerminal;
use std::path::Path;

use clap::ValueEnum;
use lcp_encoder::{Compression, EncodeOptions, Magic};
use lcp_types::Block;

use crate::Result;
use crate::failure::{Code, Failure};

/// How a pack is written.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Form {
    /// The magic: `bcp` for readers of the Bit Context Protocol
    #[arg(long, value_enum, default_value = "lcp")]
    magic: MagicName,
    /// What is compressed
    #[arg(long, value_enum, default_value = "none")]
    compress: Compress,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum MagicName {
    #[default]
    Lcp,
    Bcp,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Compress {
    #[default]
    None,
    Block,
    Payload,
}

/// Refuses to write a pack to a terminal.
pub fn refuse_terminal(output: Option<&Path>) -> Result {
    if output.is_none() && std::io::stdout().is_terminal() {
        let failure =
            Failure::new(Code::Usage, "a pack is binary, and standard output is a terminal");
        return Err(failure.hint("name a file with -o, or pipe it"));
    }
    Ok(())
}

impl Form {
    /// The pack of these blocks; `what` is what errors call it.
    pub fn encode(self, blocks: &[Block<'_>], what: &str) -> Result<Vec<u8>> {
        lcp_encoder::encode(blocks, self.options())
            .map_err(|error| Failure::new(Code::Limit, format!("{error} ({what})")))
    }

    /// What the encoder is told.
    pub fn options(self) -> EncodeOptions {
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
            ..EncodeOptions::default()
        }
    }
}

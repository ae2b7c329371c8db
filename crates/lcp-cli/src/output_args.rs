//! Flags of commands that write a pack.

use std::io::IsTerminal;
use std::path::Path;

use lcp_app::config::Config;
use lcp_app::pack_output::{PackEncoder, PackOutputOptions};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_driver::{Warning, WarningCode};
use lcp_encoder::{Compression, EncodeOptions, Magic};

use crate::arguments::by_name;
use crate::output::Output;
use crate::tokenizer_args::{TokenizerArgs, encoding};
use crate::{Result, files};
use lcp_app::{Error, ErrorKind};

const MAGICS: [(&str, Magic); 2] = [("lcp", Magic::Lcp), ("bcp", Magic::Bcp)];

/// The kinds of compression by name.
pub const COMPRESSIONS: [(&str, Compression); 3] =
    [("none", Compression::None), ("block", Compression::Block), ("payload", Compression::Payload)];

/// The flags that select the encoding of a pack.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PackOutputArgs {
    /// File magic; `bcp` for readers of the Bit Context Protocol
    #[arg(long, value_parser = by_name(MAGICS), default_value = "lcp")]
    magic: Magic,
    /// Unit of compression: each block or the whole payload
    #[arg(long, value_parser = by_name(COMPRESSIONS), default_value = "none")]
    compress: Compression,
    /// Omit the index and its checksums (RFC 0003)
    #[arg(long, alias = "no-trailer")]
    no_index: bool,
    #[arg(
        long,
        alias = "counts",
        value_name = "ENCODING",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        value_parser = encoding,
        help = "Store token costs in the index, for one or more encodings",
        long_help = "Store token costs in the index, for one or more encodings\n\n\
                     A render within a budget can then use these costs instead of counting. \
                     Separate encodings by commas. Without a value, the encoding is that of \
                     --encoding"
    )]
    index_costs: Option<Vec<String>>,
}

/// Refuses to write a pack to a terminal.
pub fn refuse_terminal(output: Option<&Path>) -> Result {
    if output.is_none() && std::io::stdout().is_terminal() {
        let failure = Error::new(ErrorKind::Usage, "cannot write a binary pack to a terminal");
        return Err(failure.with_hint("pass -o FILE, or pipe the output"));
    }
    Ok(())
}

/// Returns whether a pack goes to standard output, where it can be neither on a terminal nor next to
/// a JSON report.
pub fn is_pack_on_stdout(output: Option<&Path>, json: bool) -> Result<bool> {
    if output != Some(Path::new(files::STANDARD)) {
        return Ok(false);
    }
    refuse_terminal(None)?;
    if json {
        let message = "--json and a pack cannot both go to standard output";
        return Err(Error::new(ErrorKind::Usage, message).with_hint("pass -o FILE"));
    }
    Ok(true)
}

impl PackOutputArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> PackOutputOptions {
        PackOutputOptions { encode: self.encode_options(), costs: self.index_costs.clone() }
    }

    /// Returns the encoder of the pack, after checking that the flags are valid together.
    pub fn encoder<'c>(
        &self,
        tokenizer: &'c TokenizerOptions,
        config: &Config,
    ) -> Result<PackEncoder<'c>> {
        PackEncoder::new(&self.to_options(), tokenizer, config)
    }

    /// Returns the encoder for a command that needs a tokenizer only for `--index-costs`. Warns
    /// about tokenizer flags without `--index-costs`. `config` has the settings if the command
    /// needs them for another purpose as well.
    pub fn encoder_alone<'c>(
        &self,
        args: &TokenizerArgs,
        tokenizer: &'c TokenizerOptions,
        config: Option<&Config>,
        output: &Output,
    ) -> Result<PackEncoder<'c>> {
        if self.index_costs.is_some() {
            return match config {
                Some(config) => self.encoder(tokenizer, config),
                None => self.encoder(tokenizer, &args.read_config()?),
            };
        }
        for flag in args.given().filter(|flag| config.is_none() || *flag != "--config") {
            let message = format!("{flag} has no effect without --index-costs");
            output.warn(Warning::new(WarningCode::NoEffect, None, message));
        }
        self.encoder(tokenizer, &Config::default())
    }

    /// Returns the options for the encoder of the block stream.
    pub fn encode_options(&self) -> EncodeOptions {
        EncodeOptions { magic: self.magic, compression: self.compress, index: !self.no_index }
    }
}

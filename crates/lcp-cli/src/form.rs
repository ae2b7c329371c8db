//! How a pack is written: the flags that say it, and where it may go.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use lcp_decoder::{DecodeOptions, Event, Events};
use lcp_driver::{IndexCosts, Warning, WarningCode};
use lcp_encoder::{Compression, EncodeOptions, Magic};
use lcp_tokens::TokenEstimator;
use lcp_types::Block;

use crate::Result;
use crate::config::Config;
use crate::counting::{Counting, encoding};
use crate::failure::{Code, Failure, Output};

/// How a pack is written.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Form {
    /// The magic: `bcp` for readers of the Bit Context Protocol
    #[arg(long, value_enum, default_value = "lcp")]
    magic: MagicName,
    /// What is compressed
    #[arg(long, value_enum, default_value = "none")]
    compress: Compress,
    /// Leave out the index and the checks behind the blocks (RFC 0003)
    #[arg(long)]
    no_trailer: bool,
    #[arg(
        long,
        value_name = "ENCODING",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        value_parser = encoding,
        help = "Count what the blocks cost and keep it in the pack, so that a render need not; \
                several encodings by commas, without one that of --encoding"
    )]
    counts: Option<Vec<String>>,
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
    /// What writes the pack, once it is known that it can: before long work.
    pub fn writer<'c>(&self, counting: &'c Counting, config: &Config) -> Result<Writer<'c>> {
        let options = self.options();
        let Some(named) = &self.counts else {
            return Ok(Writer { options, counting, estimators: Vec::new() });
        };
        if !options.has_trailer() {
            let message = "--counts needs a trailer, which this pack has not";
            return Err(Failure::new(Code::Usage, message)
                .hint("leave out --no-trailer, --magic bcp and --compress payload"));
        }
        Ok(Writer { options, counting, estimators: counting.for_costs(named, config)? })
    }

    /// The same for a command that counts for nothing else.
    pub fn writer_alone<'c>(&self, counting: &'c Counting, output: &Output) -> Result<Writer<'c>> {
        if self.counts.is_some() {
            return self.writer(counting, &counting.config()?);
        }
        for flag in counting.given() {
            let message = format!("{flag} has no effect without --counts");
            output.warn(Warning::new(WarningCode::NoEffect, None, message));
        }
        self.writer(counting, &Config::default())
    }

    /// What the encoder is told.
    pub fn options(&self) -> EncodeOptions {
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
            trailer: !self.no_trailer,
        }
    }
}

/// Warns of a pack whose payload was to be compressed and is not.
pub fn uncompressed(pack: &[u8], options: EncodeOptions, output: &Output) {
    let wanted = options.compression == Compression::Payload;
    let header = Events::new(pack, DecodeOptions::default()).next();
    if wanted && matches!(header, Some(Ok(Event::Header(it))) if !it.payload_compressed()) {
        output.warn(
            "the pack is not compressed: a reader would take so many blocks of so few bytes for an \
             attack (BLOCK_MEMORY_BYTES_MAX)",
        );
    }
}

/// Writes packs, with what their blocks cost where that is asked for.
pub struct Writer<'c> {
    options: EncodeOptions,
    counting: &'c Counting,
    /// What counts, each for itself.
    estimators: Vec<Arc<dyn TokenEstimator>>,
}

impl Writer<'_> {
    /// Whether blocks are counted.
    pub const fn counts(&self) -> bool {
        !self.estimators.is_empty()
    }

    /// The pack of these blocks; `what` is what errors call it.
    pub fn encode(&self, blocks: &[Block<'_>], what: &str, output: &Output) -> Result<Vec<u8>> {
        let mut costs = Vec::with_capacity(self.estimators.len());
        let bar = output.bar("counting");
        bar.expect(blocks.len() * self.estimators.len());
        for estimator in &self.estimators {
            let counter = self.counting.cached(Arc::clone(estimator), output)?;
            costs.extend(
                IndexCosts::new(&counter.estimator).progress(&mut || bar.step()).count(blocks),
            );
            counter.keep(output);
        }
        drop(bar);
        let pack = lcp_encoder::encode_with(blocks, self.options, &costs).map_err(|error| {
            let code = if error.is_limit() { Code::Limit } else { Code::Io };
            Failure::new(code, format!("{error} ({what})"))
        })?;
        uncompressed(&pack, self.options, output);
        Ok(pack)
    }
}

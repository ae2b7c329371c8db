//! What tools work with: the roots, the packs that were made, the settings.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, Events};
use lcp_tokens::TOKENIZER_NAMES;
use lcp_types::limits;

use super::fault::{Fault, Outcome, UNKNOWN_PACK};
use super::packs::{ADDRESS, Packs, is_id};
use super::roots::Roots;
use super::tools::Sittings;
use crate::failure::Output;
use crate::files;
use lcp_app::Silent;
use lcp_app::config::Config;
use lcp_app::tokenizer::TokenizerOptions;

/// How a server is set up.
#[derive(Debug)]
pub struct Setup {
    /// What is read.
    pub roots: Roots,
    /// What the `lcp.toml` says that was given at the start; no other is read.
    pub config: Config,
    /// Whether git may be run, with the settings of the repositories that it finds.
    pub git: bool,
    /// Where sessions are kept.
    pub sittings: Sittings,
    /// What is said beside the protocol.
    pub output: Output,
}

/// What tools work with.
#[derive(Debug)]
pub struct Desk {
    pub(super) setup: Setup,
    pub(super) packs: Packs,
    /// Warnings are in the answers.
    pub(super) quiet: Silent,
}

/// A pack, and what errors call it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: PathBuf,
    pub(super) bytes: Arc<[u8]>,
    /// What a journal beside its file means, where there is something to tell.
    pub(super) said: Option<&'static str>,
}

impl Desk {
    /// Without a pack yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { setup, packs: Packs::default(), quiet: Silent }
    }

    /// A pack by its id, its address, or its path.
    pub(super) fn pack(&self, said: &str) -> Outcome<Found> {
        let id = said.strip_prefix(ADDRESS).unwrap_or(said);
        let name = PathBuf::from(said.escape_debug().to_string());
        if is_id(id) {
            let kept = self.packs.find(id).ok_or_else(|| unknown(id))?;
            return Ok(Found { name, bytes: kept.bytes, said: None });
        }
        if id.len() < said.len() {
            return Err(unknown(id));
        }
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        let (bytes, beside) = self.setup.roots.read_beside(said, max)?;
        refuse_many(&name, &bytes)?;
        Ok(Found { name, bytes: bytes.into(), said: beside.message() })
    }
}

/// Blocks of a pack from a file, at most: each takes a kilobyte or so while it is planned,
/// and a few bytes of a file can be millions of them.
const BLOCKS_MAX: u64 = 1 << 18;

/// Refuses a pack of too many blocks. Whatever else is wrong with it, its reader tells.
fn refuse_many(name: &Path, pack: &[u8]) -> Outcome<()> {
    let options = DecodeOptions { blocks_max: BLOCKS_MAX, ..DecodeOptions::default() };
    let error = Events::new(pack, options).find_map(Result::err);
    match error.filter(lcp_decoder::Error::is_limit) {
        Some(error) => Err(files::malformed(name, pack, &error).into()),
        None => Ok(()),
    }
}

fn unknown(id: &str) -> Fault {
    Fault::new(UNKNOWN_PACK, format!("there is no pack {id:?}"))
        .hint("the tool `pack` makes one; of many the oldest are forgotten")
}

/// What counts, as a tool is told. Only names: a path would be read.
pub(super) fn counting(
    encoding: Option<String>,
    model: Option<String>,
) -> Outcome<TokenizerOptions> {
    if let Some(name) = encoding.as_deref().filter(|name| !TOKENIZER_NAMES.contains(name)) {
        let message = format!("there is no encoding {name:?}");
        return Err(Fault::usage(message).hint(format!("it may be {}", TOKENIZER_NAMES.join(", "))));
    }
    Ok(TokenizerOptions { encoding, model, ..TokenizerOptions::default() })
}

/// The first of many.
pub(super) fn first<T>(mut all: Vec<T>, max: usize) -> (Vec<T>, usize) {
    let more = all.len().saturating_sub(max);
    all.truncate(max);
    (all, more)
}

/// The first of many, as long as they have these bytes together.
pub(super) fn first_within<T>(
    all: Vec<T>,
    max: usize,
    mut bytes: usize,
    size: impl Fn(&T) -> usize,
) -> (Vec<T>, usize) {
    let fits = |one: &T| match bytes.checked_sub(size(one)) {
        Some(left) => {
            bytes = left;
            true
        }
        None => false,
    };
    let count = all.iter().take(max).map(fits).take_while(|fits| *fits).count();
    first(all, count)
}

/// Text of other people in a line.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    lcp_driver::escape_control(text)
}

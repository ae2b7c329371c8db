//! The state that tools share: roots, packs in memory and settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, EventIter};
use lcp_tokens::TOKENIZER_NAMES;
use lcp_types::limits;

use super::error::{ToolError, ToolResult, UNKNOWN_PACK};
use super::pack_cache::{PackCache, URI_PREFIX, is_id};
use super::sandbox::Roots;
use super::session_store::LazySessionStore;
use lcp_app::config::Config;
use lcp_app::files;
use lcp_app::tokenizer::{LoadedTokenizer, TokenizerOptions};
use lcp_app::{Reporter, Silent};

/// The configuration of a server.
pub struct ServerConfig {
    /// The folders that the server may read.
    pub roots: Roots,
    /// The settings of the `lcp.toml` that was given at the start. The server reads no other one.
    pub settings: Config,
    /// `true` if the server may run git, which uses the settings of the repositories.
    pub git: bool,
    /// The session store.
    pub sessions: LazySessionStore,
    /// The receiver of messages outside of the protocol.
    pub reporter: Box<dyn Reporter + Send>,
}

/// The state that tools share.
pub struct ServerState {
    pub(crate) config: ServerConfig,
    pub(crate) packs: PackCache,
    /// A reporter that discards messages, because results contain the warnings.
    pub(crate) quiet: Silent,
}

/// A pack, with its name for error messages.
#[derive(Debug)]
pub(crate) struct LoadedPack {
    pub(crate) name: PathBuf,
    pub(crate) bytes: Arc<[u8]>,
    /// A warning about the journal of the pack file, if there is one.
    pub(crate) journal_warning: Option<&'static str>,
}

impl ServerState {
    /// Creates the state of a server without packs.
    #[must_use]
    pub fn new(config: ServerConfig) -> Self {
        Self { config, packs: PackCache::default(), quiet: Silent }
    }

    /// Loads the tokenizer that the arguments select. `strict` forbids a substitute.
    pub(crate) fn tokenizer(
        &self,
        encoding: Option<String>,
        model: Option<String>,
        strict: bool,
    ) -> ToolResult<LoadedTokenizer> {
        let (options, config) = (counting(encoding, model)?, &self.config.settings);
        // The size of the context window is not needed here.
        let (model, _) = options.find_model(config, true)?;
        Ok(options.load(config, model.as_ref(), strict, &self.quiet)?)
    }

    /// Returns a pack by its id, URI or path.
    pub(crate) fn pack(&self, reference: &str) -> ToolResult<LoadedPack> {
        let id = reference.strip_prefix(URI_PREFIX).unwrap_or(reference);
        let name = PathBuf::from(reference.escape_debug().to_string());
        if is_id(id) {
            let pack = self.packs.get(id).ok_or_else(|| unknown_pack(id))?;
            return Ok(LoadedPack { name, bytes: pack.bytes, journal_warning: None });
        }
        if id.len() < reference.len() {
            return Err(unknown_pack(id));
        }
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        let (bytes, journal) = self.config.roots.read_with_journal(reference, max)?;
        check_block_count(&name, &bytes)?;
        Ok(LoadedPack { name, bytes: bytes.into(), journal_warning: journal.message() })
    }
}

/// The maximum number of blocks of a pack from a file. Planning takes about a kilobyte per block,
/// and a few bytes of a file can expand to millions of blocks.
const BLOCKS_MAX: u64 = 1 << 18;

/// Refuses a pack with too many blocks. Other errors are left to the reader of the pack.
fn check_block_count(name: &Path, pack: &[u8]) -> ToolResult<()> {
    let options = DecodeOptions { blocks_max: BLOCKS_MAX, ..DecodeOptions::default() };
    let error = EventIter::new(pack, options).find_map(Result::err);
    match error.filter(lcp_decoder::Error::is_limit) {
        Some(error) => Err(files::malformed(name, pack, &error).into()),
        None => Ok(()),
    }
}

fn unknown_pack(id: &str) -> ToolError {
    ToolError::new(UNKNOWN_PACK, format!("pack {id:?} does not exist"))
        .with_hint("create it again with `pack`; the server drops the oldest packs")
}

/// Returns the tokenizer options of the arguments. The encoding must be a known name, because a
/// path would be read.
pub(crate) fn counting(
    encoding: Option<String>,
    model: Option<String>,
) -> ToolResult<TokenizerOptions> {
    if let Some(name) = encoding.as_deref().filter(|name| !TOKENIZER_NAMES.contains(name)) {
        let message = format!("unknown encoding {name:?}");
        return Err(ToolError::usage(message)
            .with_hint(format!("use one of {}", TOKENIZER_NAMES.join(", "))));
    }
    Ok(TokenizerOptions { encoding, model, ..TokenizerOptions::default() })
}

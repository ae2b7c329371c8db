//! Merging of several packs.

use std::path::Path;

use lcp_packfile::{Properties, unreadable_handoffs};
use lcp_types::Block;

use crate::config::Config;
use crate::dedup::{self, DedupOptions};
use crate::error::Result;
use crate::files;
use crate::render;
use crate::reporter::Reporter;
#[cfg(feature = "messages")]
use crate::secrets;
use crate::tokenizer::TokenizerOptions;

/// The options of a merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// The options of deduplication.
    pub dedup: DedupOptions,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
    /// Properties to set on all blocks.
    pub properties: Properties,
}

/// The blocks of several packs.
#[derive(Debug)]
pub struct MergedPack<'b> {
    /// The blocks in the order of the packs.
    pub blocks: Vec<Block<'b>>,
    /// The number of blocks before duplicates were removed.
    pub blocks_before: usize,
}

impl MergeOptions {
    /// Merges packs, each with the path that it was read from, and reports warnings.
    ///
    /// # Errors
    ///
    /// Returns an error if a pack is malformed, or if duplicates are removed and the tokenizer or
    /// the model is missing.
    pub fn merge<'b>(
        &self,
        packs: &'b [(&Path, Vec<u8>)],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<MergedPack<'b>> {
        #[cfg(feature = "messages")]
        let mut redactor = lcp_secrets::Redactor::default();
        let decoded = packs.iter().enumerate().map(|(at, (path, bytes))| {
            let pack = files::decode(path, bytes)?;
            let name = files::display_name(path);
            for warning in &pack.warnings {
                reporter.warn(&format!("{warning} [{}] ({name})", warning.code()));
            }
            if let Some(warning) = render::index_warning(bytes) {
                reporter.warn(&format!("{warning} ({name})"));
            }
            // The blocks of the first pack keep their indices.
            for index in unreadable_handoffs(&pack.blocks).filter(|_| at > 0) {
                reporter.warn(&format!(
                    "cannot update the block numbers of a hand-off, which may now refer to other \
                     blocks: its index is damaged or from a newer version ({name}, block {index})"
                ));
            }
            let mut blocks = pack.blocks;
            #[cfg(feature = "messages")]
            if at == 0 {
                secrets::reserve_numbers(&blocks, &mut redactor);
            } else {
                secrets::renumber(&mut blocks, &mut redactor);
            }
            self.properties.set_all(&mut blocks);
            Ok(blocks)
        });
        let merged = lcp_packfile::merge(decoded.collect::<Result<_>>()?);
        let blocks_before = merged.len();
        let blocks = self.deduplicated(merged, config, reporter)?;
        Ok(MergedPack { blocks, blocks_before })
    }

    /// Removes duplicates if deduplication is on.
    fn deduplicated<'b>(
        &self,
        merged: Vec<Block<'b>>,
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<Vec<Block<'b>>> {
        if let Some(warning) = self.dedup.ineffective(&config.dedup) {
            reporter.warn(&warning);
        }
        let Some(options) = self.dedup.effective(&config.dedup, false) else {
            return Ok(merged);
        };
        let counter = self.tokenizer.load_without_budget(config, false, reporter)?;
        let deduped = dedup::pack(&merged, &options, &counter.estimator)?;
        for warning in &deduped.warnings {
            reporter.warn(warning);
        }
        let saved = deduped.duplicates.tokens_saved();
        reporter.note(&format!(
            "reduced {} to {}; saved {}",
            lcp_driver::plural(merged.len(), "block"),
            deduped.blocks.len(),
            lcp_driver::plural(saved, "token")
        ));
        counter.save_cache(reporter);
        Ok(deduped.blocks)
    }
}

//! Sessions of a store that is opened by options.

use lcp_tokens::Model;

use super::{HandoffSettings, Sessions, StoreOptions};
use crate::config::{Config, Setting};
use crate::error::Result;
use crate::interrupt::{self, Hook};
use crate::reporter::Reporter;
use crate::tokenizer::{LoadedTokenizer, TokenizerOptions};

/// The choice of a store and a tokenizer.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The store.
    pub store: StoreOptions,
    /// The tokenizer and the settings.
    pub tokenizer: TokenizerOptions,
}

/// Sessions, until this is dropped given back where the process is interrupted.
pub struct SessionHandle {
    /// The sessions.
    pub sessions: Sessions,
    counter: LoadedTokenizer,
    _hooks: [Option<Hook>; 2],
}

impl SessionOptions {
    /// What `lcp.toml` says, and the model that is named.
    pub fn config(
        &self,
        has_window: bool,
        reporter: &dyn Reporter,
    ) -> Result<(Config, Option<Setting<Model>>)> {
        let config = self.tokenizer.read_config()?;
        let (model, unknown) = self.tokenizer.model(&config, has_window)?;
        if let Some(warning) = unknown {
            reporter.warn(&warning);
        }
        Ok((config, model))
    }

    /// Opens the store; `may_begin`: makes it where it is not there.
    pub fn open(
        &self,
        (config, model): (&Config, Option<&Setting<Model>>),
        handoff: &HandoffSettings,
        may_begin: bool,
        reporter: &dyn Reporter,
    ) -> Result<SessionHandle> {
        let counter = self.tokenizer.counter(config, model, false, reporter)?;
        let store = self.store.open(config, self.tokenizer.config.is_named(), may_begin)?;
        let summarizer = handoff.summarizer(&config.continuity);
        let stopping = summarizer.as_ref().map(|summarizer| {
            let filter = summarizer.filter().clone();
            interrupt::on_interrupt(move || filter.stop())
        });
        let sessions = Sessions::new(
            store,
            std::sync::Arc::clone(&counter.estimator),
            handoff.config(&config.continuity),
            summarizer,
        )
        .with_summary_of_size(handoff.summary.is_some());
        let held = sessions.held().clone();
        let giving = interrupt::on_interrupt(move || held.release_all());
        Ok(SessionHandle { sessions, counter, _hooks: [stopping, Some(giving)] })
    }

    /// The files of the store, where it is one that files hold.
    pub fn store_files(&self, config: &Config) -> Result<Vec<std::path::PathBuf>> {
        self.store.files(config, self.tokenizer.config.is_named())
    }
}

impl SessionHandle {
    /// Keeps the counts that are to be kept.
    pub fn keep_counts(&self, reporter: &dyn Reporter) {
        self.counter.save_cache(reporter);
    }
}

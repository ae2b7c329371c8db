//! Options for opening sessions: a store and a tokenizer.

use std::sync::Arc;

use lcp_tokens::Model;

use super::{HandoffSettings, Sessions, open_store};
use crate::config::{Config, Continuity, Setting};
use crate::error::Result;
use crate::reporter::Reporter;
use crate::tokenizer::{LoadedTokenizer, TokenizerOptions};

/// The choice of a store and a tokenizer.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// A SQLite file or the address of a database. The default is the store of the settings or that
    /// of the user.
    pub store: Option<String>,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
    /// The maximum time to wait for another holder of a conversation in seconds. The default is
    /// that of the settings, or 2.
    pub wait: Option<u32>,
}

impl SessionOptions {
    /// Returns the model that the options or settings name.
    pub fn find_model(
        &self,
        config: &Config,
        has_window: bool,
        reporter: &dyn Reporter,
    ) -> Result<Option<Setting<Model>>> {
        let (model, unknown) = self.tokenizer.find_model(config, has_window)?;
        if let Some(warning) = unknown {
            reporter.warn(&warning);
        }
        Ok(model)
    }

    /// Opens the sessions, and returns them with their tokenizer. With `may_begin`, a missing store
    /// is created.
    pub fn open(
        &self,
        config: &Config,
        model: Option<&Setting<Model>>,
        handoff: &HandoffSettings,
        may_begin: bool,
        reporter: &dyn Reporter,
    ) -> Result<(Sessions, LoadedTokenizer)> {
        let counter = self.tokenizer.load(config, model, false, reporter)?;
        let store = open_store(self.store.as_deref(), config, may_begin)?;
        let estimator = Arc::clone(&counter.estimator);
        let file = &config.continuity;
        let wait_seconds = self.wait.or(file.wait_seconds);
        let file = Continuity { wait_seconds, ..file.clone() };
        let sessions = Sessions::new(store, estimator, handoff, &file).with_usage(config.usage);
        Ok((sessions, counter))
    }
}

//! Sessions as the flags of a command say.

use lcp_tokens::Model;

use super::{Making, Sessions, StoreFlag};
use crate::Result;
use crate::config::{Config, Setting};
use crate::counting::{Counter, Counting};
use crate::failure::Output;
use crate::interrupt::{self, Hook};

/// What `track`, `handoff` and `resume` have in common.
#[derive(Debug, clap::Args)]
pub struct SessionFlags {
    #[command(flatten)]
    store: StoreFlag,
    #[command(flatten)]
    counting: Counting,
}

/// Sessions, until this is dropped given back where the process is interrupted.
pub struct Opened {
    /// The sessions.
    pub sessions: Sessions,
    counter: Counter,
    _hooks: [Option<Hook>; 2],
}

impl SessionFlags {
    /// What `lcp.toml` says, and the model that is named.
    pub fn config(
        &self,
        has_window: bool,
        output: &Output,
    ) -> Result<(Config, Option<Setting<Model>>)> {
        let config = self.counting.config()?;
        let (model, unknown) = self.counting.model(&config, has_window)?;
        if let Some(warning) = unknown {
            output.warn(warning);
        }
        Ok((config, model))
    }

    /// Opens the store; `may_begin`: makes it where it is not there.
    pub fn open(
        &self,
        (config, model): (&Config, Option<&Setting<Model>>),
        making: &Making,
        may_begin: bool,
        output: &Output,
    ) -> Result<Opened> {
        let counter = self.counting.counter(config, model, false, output)?;
        let store = self.store.open(config, self.counting.file.is_named(), may_begin)?;
        let summarizer = making.summarizer(&config.continuity);
        let stopping = summarizer.as_ref().map(|summarizer| {
            let filter = summarizer.filter().clone();
            interrupt::on_interrupt(move || filter.stop())
        });
        let sessions = Sessions::new(
            store,
            std::sync::Arc::clone(&counter.estimator),
            making.config(&config.continuity),
            summarizer,
        )
        .with_summary_of_size(making.summary.is_some());
        let held = sessions.held().clone();
        let giving = interrupt::on_interrupt(move || held.give_back());
        Ok(Opened { sessions, counter, _hooks: [stopping, Some(giving)] })
    }

    /// The files of the store, where it is one that files hold.
    pub fn store_files(&self, config: &Config) -> Result<Vec<std::path::PathBuf>> {
        self.store.files(config, self.counting.file.is_named())
    }
}

impl Opened {
    /// Keeps the counts that are to be kept.
    pub fn keep_counts(&self, output: &Output) {
        self.counter.keep(output);
    }
}

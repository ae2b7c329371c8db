//! The settings in force: flags, else `lcp.toml`, else the defaults.

use std::sync::Arc;

use lcp_continuity::extract::CommandSummarizer;
use lcp_continuity::store::{NewConversation, Store};
use lcp_continuity::{
    ContinuityConfig, ManualClock, SessionContinuityService, Timestamp, TriggerMode,
};
use lcp_tokens::{Model, TokenEstimator};
use tempfile::TempDir;

use super::Args;
use lcp_app::Error;
use lcp_app::config::{Config, Setting};
use lcp_app::sessions::{StoreLocation, Window};
use lcp_cli::Result;
use lcp_cli::output::Output;

/// 2026-01-01 00:00 UTC. With this fixed time, a temporary store has the same content in every run.
const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

/// The settings in force.
pub(super) struct Settings {
    pub(super) mode: Mode,
    pub(super) window: u32,
    pub(super) output_reserve: u32,
    config: ContinuityConfig,
    /// The settings of `lcp.toml`.
    file: Config,
    /// The store, or `None` for a temporary file.
    store: Option<StoreLocation>,
    summarizer: Option<CommandSummarizer>,
}

/// The action when a window is almost full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Automatic,
    Manual,
    Compact,
}

/// The conversation of the demo; a temporary store is removed when this is dropped.
pub(super) struct DemoConversation {
    pub(super) conversation: NewConversation,
    _temporary: Option<TempDir>,
}

impl Mode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
            Self::Compact => "compact",
        }
    }
}

impl Settings {
    /// Resolves the settings of the flags, of `lcp.toml` and of the model.
    ///
    /// # Errors
    ///
    /// Returns an error if the output reserve leaves no window, or if the store is not a path or an
    /// address.
    pub(super) fn resolve(
        args: &Args,
        config: &Config,
        model: Option<&Setting<Model>>,
        output: &Output,
    ) -> Result<Self> {
        let Window { tokens: window, output_reserve, warning, .. } =
            args.window.to_options().resolve(config, model)?;
        if let Some(warning) = warning {
            output.warn(warning);
        }
        let file = &config.continuity;
        let is_manual = args.manual || file.auto == Some(false);
        let mode = match (args.compact, is_manual) {
            (true, _) => Mode::Compact,
            (false, true) => Mode::Manual,
            (false, false) => Mode::Automatic,
        };
        let trigger =
            if mode == Mode::Manual { TriggerMode::Manual } else { TriggerMode::Automatic };
        Ok(Self {
            mode,
            window,
            output_reserve,
            config: ContinuityConfig { mode: trigger, ..args.handoff.to_options().config(file) },
            file: config.clone(),
            store: StoreLocation::from_flag(args.store.as_deref(), config)?,
            summarizer: args.handoff.to_options().summarizer(file),
        })
    }

    /// Returns the tokens of the window that messages may fill.
    pub(super) fn effective_window(&self) -> u32 {
        self.window.saturating_sub(self.output_reserve)
    }

    /// Returns whether the store is permanent.
    pub(super) const fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Opens the store and a service on it.
    pub(super) fn open(
        &self,
        counter: Arc<dyn TokenEstimator>,
    ) -> Result<(DemoConversation, SessionContinuityService)> {
        let (store, temporary) = self.store()?;
        let mut service =
            SessionContinuityService::new(store, counter).with_config(self.config.clone());
        if let Some(summarizer) = &self.summarizer {
            service = service.with_summarizer(summarizer.clone());
        }
        let id = if temporary.is_some() {
            service = service.with_clock(Arc::new(ManualClock::new(EPOCH)));
            "demo".to_owned()
        } else {
            // A permanent store may contain conversations of earlier runs.
            format!("demo-{}", Timestamp::now().0)
        };
        let conversation = NewConversation {
            id,
            window_tokens: self.window,
            output_reserve_tokens: self.output_reserve,
        };
        Ok((DemoConversation { conversation, _temporary: temporary }, service))
    }

    fn store(&self) -> Result<(Arc<dyn Store>, Option<TempDir>)> {
        if let Some(location) = &self.store {
            return Ok((location.open(&self.file, true)?, None));
        }
        let folder =
            TempDir::new().map_err(|error| Error::io("create", "a temporary folder", &error))?;
        let location = StoreLocation::File(folder.path().join("demo.sqlite"));
        Ok((location.open(&self.file, true)?, Some(folder)))
    }
}

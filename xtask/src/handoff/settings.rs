//! What is in force: flags, else `lcp.toml`, else the defaults.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::store::{NewConversation, SqliteOptions, SqliteStore, Store};
use lcp_continuity::words::{CommandOptions, CommandSummarizer};
use lcp_continuity::{
    ContinuityConfig, HandoffOptions, ManualClock, SessionContinuityService, Timestamp, TriggerMode,
};
use lcp_tokens::{Model, TokenEstimator};
use tempfile::TempDir;

use super::Args;
use super::address::{self, is_address};
use lcp_cli::Result;
use lcp_cli::config::{Config, Continuity, Found, Setting};
use lcp_cli::failure::{Code, Failure};

/// Tokens of a window where nothing says otherwise.
const WINDOW: u32 = 64_000;

/// 2026-01-01 00:00 UTC: what a temporary store has is the same every time.
const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

/// What is in force.
pub(super) struct Settings {
    pub(super) what: What,
    pub(super) window: u32,
    pub(super) output_reserve: u32,
    config: ContinuityConfig,
    /// A file or an address; a temporary file if there is none.
    store: Option<String>,
    expiry: Option<Duration>,
    summarizer: Option<CommandSummarizer>,
}

/// What is done where a window comes near its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Automatic,
    Manual,
    Compact,
}

/// Where the conversation is kept, until this is dropped if that is temporary.
pub(super) struct Place {
    pub(super) conversation: NewConversation,
    _temporary: Option<TempDir>,
}

impl What {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
            Self::Compact => "compact",
        }
    }
}

impl Settings {
    /// Puts together what is said.
    ///
    /// # Errors
    ///
    /// A window that leaves nothing; a store that is none.
    pub(super) fn resolve(
        args: &Args,
        config: &Config,
        model: Option<&Setting<Model>>,
    ) -> Result<Self> {
        let (file, budget) = (&config.continuity, &config.budget);
        let of_model = || model.map(|model| model.value.window);
        let window = args.window.or(said(budget.total_tokens.as_ref()));
        let window = window.or(said(budget.window.as_ref())).or_else(of_model);
        let window = window.unwrap_or(WINDOW);
        let reserve = args.output_reserve.or(said(budget.response_reserve.as_ref()));
        let output_reserve = reserve.unwrap_or(0);
        if output_reserve >= window {
            let message =
                format!("a window of {window} tokens less {output_reserve} for the output is none");
            return Err(Failure::new(Code::Usage, message)
                .hint("give a larger --window, or a smaller --output-reserve"));
        }
        let is_manual = args.manual || file.auto.as_ref().is_some_and(|auto| !auto.value);
        let what = match (args.compact, is_manual) {
            (true, _) => What::Compact,
            (false, true) => What::Manual,
            (false, false) => What::Automatic,
        };
        Ok(Self {
            what,
            window,
            output_reserve,
            config: service_config(args, file, what),
            store: stored(args, config)?,
            expiry: said(file.expiry_days.as_ref())
                .map(|days| Duration::from_secs(u64::from(days) * SECONDS_A_DAY)),
            summarizer: summarizer(args, file),
        })
    }

    /// Tokens of the window that messages may fill.
    pub(super) fn effective_window(&self) -> u32 {
        self.window.saturating_sub(self.output_reserve)
    }

    /// Whether what is recorded stays when this ends.
    pub(super) const fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// The store, and a service on it.
    pub(super) fn open(
        &self,
        counter: Arc<dyn TokenEstimator>,
    ) -> Result<(Place, SessionContinuityService)> {
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
            // A store that stays may have those of earlier runs.
            format!("demo-{}", Timestamp::now().0)
        };
        let conversation = NewConversation {
            id,
            window_tokens: self.window,
            output_reserve_tokens: self.output_reserve,
        };
        Ok((Place { conversation, _temporary: temporary }, service))
    }

    fn store(&self) -> Result<(Arc<dyn Store>, Option<TempDir>)> {
        let mut options = SqliteOptions::default();
        options.expiry = self.expiry.unwrap_or(options.expiry);
        let sqlite = |path: PathBuf| {
            let store = SqliteStore::open_with(path, &options).map_err(super::failed)?;
            Ok::<Arc<dyn Store>, Failure>(Arc::new(store))
        };
        match &self.store {
            Some(url) if is_address(url) => Ok((self.database(url)?, None)),
            Some(path) => Ok((sqlite(path.into())?, None)),
            None => {
                let folder = TempDir::new()
                    .map_err(|error| Failure::io("make", "a temporary folder", &error))?;
                Ok((sqlite(folder.path().join("demo.sqlite"))?, Some(folder)))
            }
        }
    }

    #[cfg(feature = "postgres")]
    fn database(&self, url: &str) -> Result<Arc<dyn Store>> {
        use lcp_continuity::store::{PostgresOptions, PostgresStore};
        let mut options = PostgresOptions::default();
        options.expiry = self.expiry.unwrap_or(options.expiry);
        Ok(Arc::new(PostgresStore::open_with(url, &options).map_err(super::failed)?))
    }

    #[cfg(not(feature = "postgres"))]
    #[expect(clippy::unused_self, reason = "with the feature it is used")]
    fn database(&self, _url: &str) -> Result<Arc<dyn Store>> {
        Err(Failure::new(Code::Usage, "stores in PostgreSQL are not built in")
            .hint("cargo run -p xtask --features postgres -- handoff … has them"))
    }
}

fn service_config(args: &Args, file: &Continuity, what: What) -> ContinuityConfig {
    let default = ContinuityConfig::default();
    let options = HandoffOptions::default();
    let summary = args.summary.or(said(file.summary_tokens.as_ref()));
    let lease = said(file.lease_seconds.as_ref());
    ContinuityConfig {
        mode: if what == What::Manual { TriggerMode::Manual } else { TriggerMode::Automatic },
        thresholds: file.thresholds,
        target_token_budget: args.target.or(said(file.target_tokens.as_ref())),
        handoff: HandoffOptions {
            target_summary_tokens: summary.unwrap_or(options.target_summary_tokens),
            recent_tokens: said(file.recent_tokens.as_ref()).unwrap_or(options.recent_tokens),
            summary_level: said(file.summary_level.as_ref()).unwrap_or(options.summary_level),
            style: args.style.or(said(file.style.as_ref())).unwrap_or(options.style),
            mode: args.mode.or(said(file.mode.as_ref())).unwrap_or(options.mode),
            ..options
        },
        lease: lease.map_or(default.lease, |seconds| Duration::from_secs(seconds.into())),
        ..default
    }
}

fn summarizer(args: &Args, file: &Continuity) -> Option<CommandSummarizer> {
    let line = args.summarizer_cmd.clone()?;
    let mut options = CommandOptions::default();
    let seconds = args.summarizer_timeout.or(said(file.summarizer_timeout_seconds.as_ref()));
    if let Some(seconds) = seconds {
        options.timeout = Duration::from_secs(seconds.into());
    }
    Some(CommandSummarizer::shell(line).with_options(options))
}

/// The store that is said; the path of the file is relative to it.
fn stored(args: &Args, config: &Config) -> Result<Option<String>> {
    let in_file = config.continuity.store.as_ref();
    let Some(store) = args.store.as_ref().or(in_file.map(|store| &store.value)) else {
        return Ok(None);
    };
    address::check(store)?;
    if args.store.is_some() || is_address(store) {
        return Ok(Some(store.clone()));
    }
    Ok(Some(config.folder().join(store).to_string_lossy().into_owned()))
}

fn said<T: Clone>(found: Option<&Found<T>>) -> Option<T> {
    found.map(|found| found.value.clone())
}

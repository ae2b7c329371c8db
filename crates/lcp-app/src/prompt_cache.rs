//! Options of stable plans, and the plan of the previous turn (RFC 0005 §6).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_driver::prompt_cache::{PreviousPlan, StableOptions, Watermarks};
use lcp_driver::{DriverConfig, Verbosity, Warning, WarningCode};

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::Reporter;

/// The flag that writes the plan of this turn.
pub const PLAN: &str = "--plan";

/// The flag that reads the plan of the previous turn.
pub const PREVIOUS: &str = "--previous";

/// The options of prompt caching.
#[derive(Clone, Debug, Default)]
pub struct PromptCacheOptions {
    /// The plan of the previous turn. If the file does not exist, this is the first turn.
    pub previous: Option<PathBuf>,
    /// The parts of the budget at which a text is repacked.
    pub watermarks: Option<Watermarks>,
}

/// The options of a stable plan for a render, and a warning about them.
#[derive(Debug, Default)]
pub struct ResolvedPromptCache {
    /// The options of the driver.
    pub stable: Option<StableOptions>,
    warning: Option<Warning>,
    /// The path in the warning. Reports leave it out, so that they do not depend on the location of
    /// files.
    path: Option<PathBuf>,
}

impl PromptCacheOptions {
    /// Resolves the options for a render with `config`. `writes` is `true` if the plan is saved,
    /// which requires a stable plan as well.
    ///
    /// # Errors
    ///
    /// Returns an error without a budget, with a verbosity other than adaptive, and for a file that
    /// cannot be read. A file that is not a plan gives a warning. So does a missing file if no plan
    /// is saved.
    pub fn resolve(
        &self,
        writes: bool,
        file: &Config,
        config: &DriverConfig,
    ) -> Result<ResolvedPromptCache> {
        let flag = match &self.previous {
            Some(_) => PREVIOUS,
            None if writes => PLAN,
            None => return Ok(self.unused()),
        };
        if config.verbosity != Verbosity::Adaptive {
            let message =
                format!("{flag} needs --verbosity adaptive, because the others ignore the budget");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        if config.token_budget.is_none() {
            let message = format!("{flag} requires a budget: without one, no block is shortened");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("pass --budget, --window, or a --model with a known window"));
        }
        let (previous, warning) = match self.previous.as_deref() {
            None => (None, None),
            Some(path) => match read(path, writes)? {
                Ok(previous) => (previous.map(Arc::new), None),
                Err(why) => (None, Some(Warning::new(WarningCode::PreviousRefused, None, why))),
            },
        };
        let watermarks = self.watermarks.unwrap_or_else(|| file.stable.watermarks());
        let stable = Some(StableOptions { watermarks, previous });
        Ok(ResolvedPromptCache { stable, warning, path: self.previous.clone() })
    }

    fn unused(&self) -> ResolvedPromptCache {
        let warning = self.watermarks.map(|_| {
            let message = format!("--repack-at has no effect without {PREVIOUS} or {PLAN}");
            Warning::new(WarningCode::NoEffect, None, message)
        });
        ResolvedPromptCache { warning, ..ResolvedPromptCache::default() }
    }
}

impl ResolvedPromptCache {
    /// Reports the warning, and returns it for the report of the render.
    pub fn warn(&self, reporter: &dyn Reporter) -> Option<&Warning> {
        let warning = self.warning.as_ref()?;
        match &self.path {
            Some(path) => reporter.warn(&format!("{warning} ({})", path.display())),
            None => reporter.warn(&warning),
        }
        Some(warning)
    }
}

/// Reads the previous plan. The inner error is a warning that it cannot be used. If this turn
/// writes a plan, a missing file means that it is the first turn.
fn read(path: &Path, writes: bool) -> Result<Result<Option<PreviousPlan>, String>> {
    if path == Path::new(files::STANDARD) {
        let message = format!("{PREVIOUS} requires a file: standard input is reserved for packs");
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let Some(bytes) = files::read_if_exists(path)? else {
        return Ok(if writes {
            Ok(None)
        } else {
            Err("the previous plan does not exist yet; started a new one".to_owned())
        });
    };
    let plan = str::from_utf8(&bytes).map_err(|error| format!("the plan is not UTF-8: {error}"));
    let plan =
        plan.and_then(|json| PreviousPlan::from_json(json).map_err(|error| error.to_string()));
    Ok(plan.map(Some).map_err(|why| format!("{why}; started a new one")))
}

//! The budget of a text: options, settings and model together.

use lcp_driver::{Warning, WarningCode};
use lcp_tokens::Model;

pub use crate::config::BudgetOptions;
use crate::config::{Config, EmptyBudgetError, Origin, Setting, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::{TokenizerOptions, with_location};

/// What is in force.
pub struct EffectiveBudget {
    /// What `lcp.toml` says.
    pub config: Config,
    /// The model, if one is named.
    pub model: Option<Setting<Model>>,
    /// Options, file and defaults together.
    pub settings: Settings,
    /// What is odd about it.
    pub warnings: Vec<Warning>,
}

/// Where the text may be more than its reader can take.
fn exceeded(settings: &Settings, model: Option<&Setting<Model>>) -> Option<Warning> {
    let (tokens, model) = (settings.budget.as_ref()?.value.tokens, &model?.value);
    let (name, window) = (&model.name, model.window);
    let message =
        format!("a text of {tokens} tokens does not fit into {name}: its window is {window}");
    (tokens > window).then(|| Warning::new(WarningCode::WindowExceeded, None, message))
}

/// Returns a warning for each option that changes nothing.
fn ineffective(settings: &Settings) -> impl Iterator<Item = Warning> {
    settings.idle.iter().filter_map(|idle| match idle.from {
        Origin::Flag(name) => {
            let message = format!("{name} has no effect: {idle}");
            Some(Warning::new(WarningCode::NoEffect, None, message))
        }
        _ => None,
    })
}

/// Returns the error of a window of which nothing is left.
fn empty_budget_error(error: &EmptyBudgetError, config: &Config) -> Error {
    let failure = Error::new(ErrorKind::Usage, with_location(error, error.from, config));
    match error.most {
        Some((_, Origin::Flag(name))) => {
            failure.with_hint(format!("lower {name}, which takes most, or give a larger --window"))
        }
        Some((key, from)) => failure.with_hint(format!(
            "lower {}, which takes most, or give a larger --window",
            with_location(&key, from, config)
        )),
        None => failure.with_hint("give a larger --window"),
    }
}

impl BudgetOptions {
    /// Returns what is in force with the settings that the tokenizer options name.
    ///
    /// # Errors
    ///
    /// If nothing is left of the window, or the model is not known.
    pub fn resolve(self, tokenizer: &TokenizerOptions) -> Result<EffectiveBudget> {
        self.resolve_with(tokenizer.read_config()?, tokenizer)
    }

    /// Returns what is in force with these settings.
    ///
    /// # Errors
    ///
    /// If nothing is left of the window, or the model is not known.
    pub(crate) fn resolve_with(
        self,
        config: Config,
        tokenizer: &TokenizerOptions,
    ) -> Result<EffectiveBudget> {
        let is_sized = self.budget.is_some() || self.window.is_some();
        let (model, unknown) = tokenizer.model(&config, is_sized)?;
        let settings = Settings::resolve(self, &config, model.as_ref())
            .map_err(|error| empty_budget_error(&error, &config))?;
        let warnings = unknown.into_iter();
        let warnings =
            warnings.chain(exceeded(&settings, model.as_ref())).chain(ineffective(&settings));
        let warnings = warnings.collect();
        Ok(EffectiveBudget { config, model, settings, warnings })
    }
}

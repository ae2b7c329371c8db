//! The budget of a text, resolved from options, settings and the model.

use lcp_driver::shares::{ContextBudget, Share};
use lcp_driver::window::{ContextWindow, WindowError};
use lcp_driver::{
    DriverConfig, Excerpts, Objective, Overflow, Warning, WarningCode, group_thousands, plural,
};
use lcp_tokens::Model;
use serde_json::Value;

use crate::config::keys::{
    CATEGORIES, EXCERPTS, FILL, OBJECTIVE, OVERFLOW, RESPONSE_RESERVE, SAFETY, SHARES,
    SYSTEM_PROMPT_RESERVE, TOTAL_TOKENS, WINDOW,
};
use crate::config::{Config, NamedShares, Origin, Setting};
use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::TokenizerOptions;

/// The options that limit a text. Each takes precedence over the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetOptions {
    /// Tokens of the text.
    pub budget: Option<u32>,
    /// Tokens of the model's window, before the safety factor and the reserves.
    pub window: Option<u32>,
    /// Tokens reserved for the system prompt.
    pub system_prompt_reserve: Option<u32>,
    /// Tokens reserved for the response.
    pub response_reserve: Option<u32>,
    /// The division of the budget.
    pub shares: Option<NamedShares>,
    /// `true` if leftover budget shows Low and Background blocks in full.
    pub fill: Option<bool>,
    /// The setting for excerpts of blocks.
    pub excerpts: Option<Excerpts>,
    /// The objective; the table of values comes from the settings.
    pub objective: Option<Objective>,
    /// The reaction if Critical blocks exceed the budget.
    pub overflow: Option<Overflow>,
}

/// The budget of a text and its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedBudget {
    /// Tokens of the text.
    pub tokens: u32,
    /// The key or flag that gives it.
    pub key: &'static str,
    /// The window that leaves these tokens; `None` for a budget of the text itself.
    pub window: Option<ContextWindow>,
    /// `true` if the window is `total_tokens`, to which no safety factor applies.
    pub is_total: bool,
}

/// The settings of a text, with its model and warnings.
#[derive(Clone, Debug)]
pub struct EffectiveBudget {
    /// The model, if the options or settings name one.
    pub model: Option<Setting<Model>>,
    /// The settings from options, file and defaults.
    pub settings: Settings,
    /// The warnings about the settings.
    pub warnings: Vec<Warning>,
}

/// The settings in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The budget; `None` shows everything in full.
    pub budget: Option<Setting<ResolvedBudget>>,
    /// The part of a window that may be used.
    pub safety: Setting<f64>,
    /// Tokens of a window set aside for the system prompt.
    pub system_prompt_reserve: Setting<u32>,
    /// Tokens of a window set aside for the response.
    pub response_reserve: Setting<u32>,
    /// The division of the budget, if there is one.
    pub shares: Option<Setting<NamedShares>>,
    /// `true` if leftover budget shows Low and Background blocks in full.
    pub fill: Setting<bool>,
    /// The setting for excerpts of blocks.
    pub excerpts: Setting<Excerpts>,
    /// The objective, with the table of values.
    pub objective: Setting<Objective>,
    /// The reaction if Critical blocks exceed the budget.
    pub overflow: Setting<Overflow>,
    /// The given settings that change nothing.
    pub ineffective: Vec<IneffectiveSetting>,
}

/// A setting that changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct IneffectiveSetting {
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Its origin.
    pub origin: Origin,
    /// The reason.
    pub reason: String,
}

impl BudgetOptions {
    /// Combines the options with these settings.
    ///
    /// The budget is the first of these: the budget of the options, their window, the total of
    /// the file, its window, the window of the model.
    ///
    /// # Errors
    ///
    /// Returns an error if the window leaves no budget, or if the model is unknown.
    pub fn resolve(
        &self,
        config: &Config,
        tokenizer: &TokenizerOptions,
    ) -> Result<EffectiveBudget> {
        let is_sized = self.budget.is_some() || self.window.is_some();
        let (model, unknown) = tokenizer.find_model(config, is_sized)?;
        let settings = Settings::new(self.clone(), config, model.as_ref())?;
        let mut warnings: Vec<_> = unknown.into_iter().collect();
        warnings.extend(settings.window_exceeded(model.as_ref()));
        for setting in &settings.ineffective {
            if let Origin::Flag(name) = setting.origin {
                let message = format!("{name} has no effect: {}", setting.reason);
                warnings.push(Warning::new(WarningCode::NoEffect, None, message));
            }
        }
        Ok(EffectiveBudget { model, settings, warnings })
    }
}

impl Settings {
    fn new(flags: BudgetOptions, config: &Config, model: Option<&Setting<Model>>) -> Result<Self> {
        let file = &config.budget;
        let shares = match flags.shares {
            Some(value) => Some(Setting { value, origin: Origin::Flag("--shares") }),
            None => file.shares.clone().map(|shares| match config.origin(SHARES) {
                Origin::Default => config.setting(CATEGORIES, shares),
                from => Setting { value: shares, origin: from },
            }),
        };
        let mut settings = Self {
            budget: None,
            safety: config.setting(SAFETY, file.safety),
            system_prompt_reserve: config.setting_or_flag(
                flags.system_prompt_reserve, "--system-prompt-reserve", SYSTEM_PROMPT_RESERVE,
                file.system_prompt_reserve,
            ),
            response_reserve: config.setting_or_flag(
                flags.response_reserve, "--response-reserve", RESPONSE_RESERVE,
                file.response_reserve,
            ),
            shares,
            fill: config.setting_or_flag(flags.fill, "--fill", FILL, file.fill),
            excerpts: config.setting_or_flag(flags.excerpts, "--excerpts", EXCERPTS, file.excerpts),
            objective: config
                .setting_or_flag(flags.objective, "--objective", OBJECTIVE, file.objective),
            overflow: config.setting_or_flag(flags.overflow, "--overflow", OVERFLOW, file.overflow),
            ineffective: Vec::new(),
        };
        settings.budget = if let Some(tokens) = flags.budget {
            let value = ResolvedBudget { tokens, key: "budget", window: None, is_total: false };
            Some(Setting { value, origin: Origin::Flag("--budget") })
        } else {
            let window = settings.window(flags.window, config, model);
            window.map(|(key, window)| settings.left_of(key, window, config)).transpose()?
        };
        if let Objective::Value(values) = &mut settings.objective.value {
            *values = config.values;
        }
        settings.ineffective = settings.find_ineffective(flags.window, config);
        Ok(settings)
    }

    /// Returns the window and its key.
    fn window(
        &self,
        flag: Option<u32>,
        config: &Config,
        model: Option<&Setting<Model>>,
    ) -> Option<(&'static str, Setting<ContextWindow>)> {
        let file = &config.budget;
        let window = |tokens| ContextWindow {
            safety: self.safety.value,
            ..ContextWindow::from_model(tokens)
        };
        let (key, mut setting) = if let Some(tokens) = flag {
            (WINDOW, Setting { value: window(tokens), origin: Origin::Flag("--window") })
        } else if let Some(total) = file.total_tokens {
            (TOTAL_TOKENS, config.setting(TOTAL_TOKENS, ContextWindow::from_total(total)))
        } else if let Some(tokens) = file.window {
            (WINDOW, config.setting(WINDOW, window(tokens)))
        } else {
            ("model.window", model?.map(|model| window(model.window)))
        };
        let reserves = (self.system_prompt_reserve.value, self.response_reserve.value);
        setting.value = setting.value.with_reserves(reserves.0, reserves.1);
        Some((key, setting))
    }

    /// Returns the rest of a window after its reserves.
    fn left_of(
        &self,
        key: &'static str,
        window: Setting<ContextWindow>,
        config: &Config,
    ) -> Result<Setting<ResolvedBudget>> {
        let tokens = window
            .value
            .available()
            .map_err(|error| self.empty_window_error(key, &window, &error, config))?;
        let is_total = key == TOTAL_TOKENS;
        Ok(window.map(|window| ResolvedBudget { tokens, key, window: Some(*window), is_total }))
    }

    /// Returns the error for a window that its reserves use up.
    fn empty_window_error(
        &self,
        key: &str,
        window: &Setting<ContextWindow>,
        error: &WindowError,
        config: &Config,
    ) -> Error {
        let message = match window.origin {
            _ if window.value.tokens > 0 => error.to_string(),
            Origin::Flag(name) => format!("{name} must be greater than 0"),
            _ => format!("{key} must be greater than 0"),
        };
        let (system_prompt, response) = (&self.system_prompt_reserve, &self.response_reserve);
        let (key, largest) = if system_prompt.value > response.value {
            (SYSTEM_PROMPT_RESERVE, system_prompt)
        } else {
            (RESPONSE_RESERVE, response)
        };
        let hint = match largest.origin {
            _ if largest.value == 0 => "pass a larger --window".to_owned(),
            Origin::Flag(name) => format!("lower {name} or pass a larger --window"),
            from => {
                format!("lower {} or pass a larger --window", config.with_location(&key, from))
            }
        };
        Error::new(ErrorKind::Usage, config.with_location(&message, window.origin)).with_hint(hint)
    }

    /// Returns the driver configuration for these settings.
    pub(crate) fn to_driver_config(&self) -> DriverConfig {
        DriverConfig {
            token_budget: self.budget.as_ref().map(|budget| budget.value.tokens),
            fill: self.fill.value,
            excerpts: self.excerpts.value,
            objective: self.objective.value,
            shares: self.shares.as_ref().map(|shares| shares.value.shares.clone()),
            overflow: self.overflow.value,
            ..DriverConfig::default()
        }
    }

    /// Returns the shares. Without shares, the slice is empty.
    pub fn shares(&self) -> &[Share] {
        self.shares.as_ref().map_or(&[], |shares| shares.value.shares.as_slice())
    }

    /// Divides the budget among the shares. Returns `None` without a budget or shares.
    pub fn divide(&self) -> Option<ContextBudget> {
        let tokens = self.budget.as_ref()?.value.tokens;
        Some(self.shares.as_ref()?.value.shares.divide(tokens))
    }

    /// Returns a warning if the budget exceeds the window of the model.
    fn window_exceeded(&self, model: Option<&Setting<Model>>) -> Option<Warning> {
        let (tokens, model) = (self.budget.as_ref()?.value.tokens, &model?.value);
        let (name, window) = (&model.name, model.window);
        let message = format!(
            "the budget of {} exceeds the window of {name}, which is {}",
            plural(tokens, "token"),
            group_thousands(window.into())
        );
        (tokens > window).then(|| Warning::new(WarningCode::WindowExceeded, None, message))
    }

    /// Returns the settings that change nothing.
    fn find_ineffective(&self, window: Option<u32>, config: &Config) -> Vec<IneffectiveSetting> {
        let file = &config.budget;
        let budget = self.budget.as_ref();
        let reason = match budget {
            None => "no window is set".to_owned(),
            Some(Setting { origin: Origin::Flag(name), .. }) => format!("overridden by {name}"),
            Some(budget) => format!("overridden by {}", budget.value.key),
        };
        let has_window = budget.is_some_and(|budget| budget.value.window.is_some());
        let is_total = budget.is_some_and(|budget| budget.value.is_total);
        let is_flag = |flag| budget.is_some_and(|budget| budget.origin == Origin::Flag(flag));
        let is_budget = is_flag("--budget");
        let is_sized = is_budget || is_flag("--window");
        let mut settings = Vec::new();
        let mut push = |is_idle, key, setting: Setting<Value>| {
            if is_idle && setting.origin != Origin::Default {
                let (value, from, reason) = (setting.value, setting.origin, reason.clone());
                settings.push(IneffectiveSetting { key, value, origin: from, reason });
            }
        };
        if let Some(window) = window {
            let setting = Setting { value: window.into(), origin: Origin::Flag("--window") };
            push(is_budget, WINDOW, setting);
        }
        push(is_sized, TOTAL_TOKENS, config.setting(TOTAL_TOKENS, file.total_tokens.into()));
        push(is_sized || is_total, WINDOW, config.setting(WINDOW, file.window.into()));
        push(!has_window || is_total, SAFETY, config.setting(SAFETY, file.safety.into()));
        for (key, reserve) in [
            (SYSTEM_PROMPT_RESERVE, &self.system_prompt_reserve),
            (RESPONSE_RESERVE, &self.response_reserve),
        ] {
            push(!has_window, key, reserve.map(|&tokens| tokens.into()));
        }
        if self.objective.value == Objective::Strict {
            let values = config.values().filter(|(_, value)| value.origin != Origin::Default);
            settings.extend(values.map(|(key, Setting { value, origin: from })| {
                let reason = "the objective is strict".to_owned();
                IneffectiveSetting { key, value: value.into(), origin: from, reason }
            }));
        }
        settings
    }
}

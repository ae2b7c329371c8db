//! What is in force: what flags say, else the file, else the defaults.

use std::fmt;

use lcp_driver::window::{ContextWindow, DEFAULT_SAFETY, WindowError};
use lcp_driver::{Excerpts, Objective, Overflow};
use lcp_tokens::Model;
use serde_json::Value;

use super::{Budget, Config, Located, NamedShares};

pub(crate) const WINDOW: &str = "context.budget.window";
pub(crate) const TOTAL_TOKENS: &str = "context.budget.total_tokens";
pub(crate) const SAFETY: &str = "context.budget.safety";
pub(crate) const SYSTEM_PROMPT_RESERVE: &str = "context.budget.system_prompt_reserve";
pub(crate) const RESPONSE_RESERVE: &str = "context.budget.response_reserve";

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// A flag.
    Flag(&'static str),
    /// The file, on this line.
    File(usize),
}

/// A value in force, and who said so.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Who said it.
    pub from: Origin,
}

impl<T> Setting<T> {
    fn pick(
        flag: Option<T>,
        name: &'static str,
        file: Option<&Located<T>>,
        default: impl FnOnce() -> T,
    ) -> Self
    where
        T: Clone,
    {
        match (flag, file) {
            (Some(value), _) => Self { value, from: Origin::Flag(name) },
            (None, Some(found)) => Self::from_file(found),
            (None, None) => Self { value: default(), from: Origin::Default },
        }
    }

    /// What the file says.
    fn from_file(found: &Located<T>) -> Self
    where
        T: Clone,
    {
        Self { value: found.value.clone(), from: Origin::File(found.line) }
    }

    /// What the file says, else the default.
    pub fn or(file: Option<&Located<T>>, default: T) -> Self
    where
        T: Clone,
    {
        Self::pick(None, "", file, || default)
    }
}

/// The options that bound a text; each wins over the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetOptions {
    /// `--budget`.
    pub budget: Option<u32>,
    /// `--window`.
    pub window: Option<u32>,
    /// `--system-prompt-reserve`.
    pub system_prompt_reserve: Option<u32>,
    /// `--response-reserve`.
    pub response_reserve: Option<u32>,
    /// `--shares`.
    pub shares: Option<NamedShares>,
    /// `--fill`.
    pub fill: Option<bool>,
    /// `--excerpts`.
    pub excerpts: Option<Excerpts>,
    /// `--objective`; the table of values is not filled in.
    pub objective: Option<Objective>,
    /// `--overflow`.
    pub overflow: Option<Overflow>,
}

/// A budget of a text, and what it was taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedBudget {
    /// Tokens of the text.
    pub tokens: u32,
    /// The key or flag that says it.
    pub key: &'static str,
    /// The window that they are left of; `None` for a budget of the text itself.
    pub window: Option<ContextWindow>,
    /// Whether it is a total that is taken as it is, without the safety factor.
    pub is_total: bool,
}

/// What is in force for a render.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What the text may have; `None` for everything in full.
    pub budget: Option<Setting<ResolvedBudget>>,
    /// The part of a window that may be used.
    pub safety: Setting<f64>,
    /// Tokens of a window set aside for the system prompt.
    pub system_prompt_reserve: Setting<u32>,
    /// Tokens of a window set aside for the answer.
    pub response_reserve: Setting<u32>,
    /// How the budget is divided, if it is.
    pub shares: Option<Setting<NamedShares>>,
    /// Whether leftover budget shows Low and Background blocks in full.
    pub fill: Setting<bool>,
    /// Whether blocks may be shown in part.
    pub excerpts: Setting<Excerpts>,
    /// How blocks compete, with the table of values.
    pub objective: Setting<Objective>,
    /// What to do where Critical blocks exceed the budget.
    pub overflow: Setting<Overflow>,
    /// What is given and changes nothing.
    pub idle: Vec<IneffectiveSetting>,
}

/// A window of which nothing is left, and who said how large it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EmptyBudgetError {
    /// All numbers; boxed, as an error should be small.
    error: Box<WindowError>,
    /// The tokens of the window.
    tokens: u32,
    /// The key of the window.
    key: &'static str,
    /// Who said it.
    pub(crate) from: Origin,
    /// The larger reserve and its key, if a reserve takes anything.
    pub(crate) most: Option<(&'static str, Origin)>,
}

impl fmt::Display for EmptyBudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            Origin::Flag(name) if self.tokens == 0 => write!(f, "{name} is 0, nothing is left"),
            _ if self.tokens == 0 => write!(f, "{} is 0, nothing is left", self.key),
            _ => self.error.fmt(f),
        }
    }
}

impl Settings {
    /// Puts together what is said.
    ///
    /// What the text may have is the first of: the budget of the flags, their
    /// window, the total of the file, its window, the window of the model.
    ///
    /// # Errors
    ///
    /// [`EmptyBudgetError`].
    pub(crate) fn resolve(
        flags: BudgetOptions,
        config: &Config,
        model: Option<&Setting<Model>>,
    ) -> Result<Self, EmptyBudgetError> {
        let file = &config.budget;
        let excerpts = file.excerpts.as_ref().map(|found| Located {
            value: if found.value { Excerpts::On } else { Excerpts::Off },
            line: found.line,
        });
        let shares = match flags.shares {
            Some(value) => Some(Setting { value, from: Origin::Flag("--shares") }),
            None => file.shares.as_ref().map(Setting::from_file),
        };
        let mut settings = Self {
            budget: None,
            safety: Setting::or(file.safety.as_ref(), DEFAULT_SAFETY),
            system_prompt_reserve: Setting::pick(
                flags.system_prompt_reserve,
                "--system-prompt-reserve",
                file.system_prompt_reserve.as_ref(),
                || 0,
            ),
            response_reserve: Setting::pick(
                flags.response_reserve,
                "--response-reserve",
                file.response_reserve.as_ref(),
                || 0,
            ),
            shares,
            fill: Setting::pick(flags.fill, "--fill", file.fill.as_ref(), || false),
            excerpts: Setting::pick(
                flags.excerpts,
                "--excerpts",
                excerpts.as_ref(),
                Excerpts::default,
            ),
            objective: Setting::pick(
                flags.objective,
                "--objective",
                file.objective.as_ref(),
                Objective::default,
            ),
            overflow: Setting::pick(
                flags.overflow,
                "--overflow",
                file.overflow.as_ref(),
                Overflow::default,
            ),
            idle: Vec::new(),
        };
        settings.budget = if let Some(tokens) = flags.budget {
            let value = ResolvedBudget { tokens, key: "budget", window: None, is_total: false };
            Some(Setting { value, from: Origin::Flag("--budget") })
        } else {
            let window = settings.window(flags.window, file, model);
            window.map(|window| window.left(&settings)).transpose()?
        };
        if let Objective::Value(values) = &mut settings.objective.value {
            *values = config.values.values();
        }
        settings.idle = IneffectiveSetting::all(flags.window, config, &settings);
        Ok(settings)
    }

    /// The reserve that takes most, and its key.
    fn largest_reserve(&self) -> Option<(&'static str, Origin)> {
        let (system_prompt, response) = (&self.system_prompt_reserve, &self.response_reserve);
        let (key, largest) = if system_prompt.value > response.value {
            (SYSTEM_PROMPT_RESERVE, system_prompt)
        } else {
            (RESPONSE_RESERVE, response)
        };
        (largest.value > 0).then_some((key, largest.from))
    }

    /// The window and its key.
    fn window(
        &self,
        flag: Option<u32>,
        file: &Budget,
        model: Option<&Setting<Model>>,
    ) -> Option<Setting<(&'static str, ContextWindow)>> {
        let window = |tokens| ContextWindow {
            safety: self.safety.value,
            ..ContextWindow::from_model(tokens)
        };
        let found = |key, found: &Located<u32>, window| Setting {
            value: (key, window),
            from: Origin::File(found.line),
        };
        let mut setting = if let Some(tokens) = flag {
            Setting { value: (WINDOW, window(tokens)), from: Origin::Flag("--window") }
        } else if let Some(total) = &file.total_tokens {
            found(TOTAL_TOKENS, total, ContextWindow::from_total(total.value))
        } else if let Some(tokens) = &file.window {
            found(WINDOW, tokens, window(tokens.value))
        } else {
            let model = model?;
            Setting { value: ("model.window", window(model.value.window)), from: model.from }
        };
        let (system_prompt, response) =
            (self.system_prompt_reserve.value, self.response_reserve.value);
        setting.value.1 = setting.value.1.with_reserves(system_prompt, response);
        Some(setting)
    }
}

impl Setting<(&'static str, ContextWindow)> {
    fn left(self, settings: &Settings) -> Result<Setting<ResolvedBudget>, EmptyBudgetError> {
        let Self { value: (key, window), from } = self;
        let tokens = window.available().map_err(|error| EmptyBudgetError {
            error: Box::new(error),
            tokens: window.tokens,
            key,
            from,
            most: settings.largest_reserve(),
        })?;
        let is_total = key == TOTAL_TOKENS;
        Ok(Setting { value: ResolvedBudget { tokens, key, window: Some(window), is_total }, from })
    }
}

/// A setting that changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct IneffectiveSetting {
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Who said it.
    pub from: Origin,
    why: Reason,
}

/// Reason a setting changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// This wins over it.
    Overridden(&'static str),
    /// It belongs to a window.
    NoWindow,
    /// It belongs to the objective `value`.
    NotByValue,
}

impl fmt::Display for IneffectiveSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            Reason::Overridden(by) => write!(f, "overridden by {by}"),
            Reason::NoWindow => f.write_str("there is no window"),
            Reason::NotByValue => f.write_str("the objective is strict"),
        }
    }
}

impl IneffectiveSetting {
    /// All of them, where the budget of `settings` is in force.
    pub(super) fn all(window: Option<u32>, config: &Config, settings: &Settings) -> Vec<Self> {
        let file = &config.budget;
        let budget = settings.budget.as_ref();
        let why = budget.map_or(Reason::NoWindow, |budget| {
            Reason::Overridden(match budget.from {
                Origin::Flag(name) => name,
                _ => budget.value.key,
            })
        });
        let has_window = budget.is_some_and(|budget| budget.value.window.is_some());
        let is_total = budget.is_some_and(|budget| budget.value.is_total);
        let is_flag = |flag| budget.is_some_and(|budget| budget.from == Origin::Flag(flag));
        let mut idle = Vec::new();
        let mut push = |holds: bool, key, setting: Option<Setting<Value>>| {
            let Some(Setting { value, from }) = setting.filter(|_| holds) else { return };
            idle.push(Self { key, value, from, why });
        };
        let file_of = |line, value| Setting { value, from: Origin::File(line) };
        let flag = window.map(|n| Setting { value: n.into(), from: Origin::Flag("--window") });
        push(is_flag("--budget"), WINDOW, flag);
        let is_flag = is_flag("--budget") || is_flag("--window");
        let total = file.total_tokens.as_ref();
        push(is_flag, TOTAL_TOKENS, total.map(|found| file_of(found.line, found.value.into())));
        let window = file.window.as_ref();
        push(is_flag || is_total, WINDOW, window.map(|f| file_of(f.line, f.value.into())));
        let safety = file.safety.as_ref();
        push(!has_window || is_total, SAFETY, safety.map(|f| file_of(f.line, f.value.into())));
        for (key, reserve) in [
            (SYSTEM_PROMPT_RESERVE, &settings.system_prompt_reserve),
            (RESPONSE_RESERVE, &settings.response_reserve),
        ] {
            let given = reserve.from != Origin::Default;
            let reserve = Setting { value: reserve.value.into(), from: reserve.from };
            push(!has_window && given, key, Some(reserve));
        }
        let given = config.values.given().iter().map(|(key, found)| {
            let Setting { value, from } = Setting::from_file(found);
            Self { key, value: value.into(), from, why: Reason::NotByValue }
        });
        let is_strict = settings.objective.value == Objective::Strict;
        idle.extend(given.filter(|_| is_strict));
        idle
    }
}

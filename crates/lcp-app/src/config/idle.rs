//! What is given and changes nothing, because something else wins or is not there.

use std::fmt;

use lcp_driver::Objective;
use serde_json::Value;

use super::settings::{RESPONSE_RESERVE, SAFETY, SYSTEM_PROMPT_RESERVE, TOTAL_TOKENS, WINDOW};
use super::{Config, Origin, Setting, Settings};

/// A setting that changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    pub key: &'static str,
    pub value: Value,
    /// Who said it.
    pub from: Origin,
    why: Why,
}

/// Why a setting changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// This wins over it.
    Overridden(&'static str),
    /// It belongs to a window.
    NoWindow,
    /// It belongs to the objective `value`.
    NotByValue,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            Why::Overridden(by) => write!(f, "overridden by {by}"),
            Why::NoWindow => f.write_str("there is no window"),
            Why::NotByValue => f.write_str("the objective is strict"),
        }
    }
}

impl Idle {
    /// All of them, where the budget of `settings` is in force.
    pub(super) fn all(window: Option<u32>, config: &Config, settings: &Settings) -> Vec<Self> {
        let file = &config.budget;
        let allowance = settings.budget.as_ref();
        let why = allowance.map_or(Why::NoWindow, |budget| {
            Why::Overridden(match budget.from {
                Origin::Flag(name) => name,
                _ => budget.value.key,
            })
        });
        let has_window = allowance.is_some_and(|budget| budget.value.window.is_some());
        let is_total = allowance.is_some_and(|budget| budget.value.is_total);
        let is_flag = |flag| allowance.is_some_and(|budget| budget.from == Origin::Flag(flag));
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
            let Setting { value, from } = Setting::of(found);
            Self { key, value: value.into(), from, why: Why::NotByValue }
        });
        let is_strict = settings.objective.value == Objective::Strict;
        idle.extend(given.filter(|_| is_strict));
        idle
    }
}

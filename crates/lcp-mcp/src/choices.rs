//! Choices in the input of tools.

use lcp_dedup::DedupLevel as Level;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{Objective, OutputMode, Overflow, ValueModel, Verbosity};
use schemars::JsonSchema;
use serde::Deserialize;

/// The format of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Mode {
    #[default]
    Xml,
    Markdown,
    Minimal,
}

impl From<Mode> for OutputMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Xml => Self::Xml,
            Mode::Markdown => Self::Markdown,
            Mode::Minimal => Self::Minimal,
        }
    }
}

/// How much of each block is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Detail {
    Full,
    Summary,
    #[default]
    Adaptive,
}

impl From<Detail> for Verbosity {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Full => Self::Full,
            Detail::Summary => Self::Summary,
            Detail::Adaptive => Self::Adaptive,
        }
    }
}

/// How blocks compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum ObjectiveChoice {
    Strict,
    Value,
}

impl From<ObjectiveChoice> for Objective {
    fn from(objective: ObjectiveChoice) -> Self {
        match objective {
            ObjectiveChoice::Strict => Self::Strict,
            // The table is that of the settings.
            ObjectiveChoice::Value => Self::Value(ValueModel::default()),
        }
    }
}

/// What happens where critical blocks exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum OnOverflow {
    Allow,
    Deny,
}

impl From<OnOverflow> for Overflow {
    fn from(overflow: OnOverflow) -> Self {
        match overflow {
            OnOverflow::Allow => Self::Allow,
            OnOverflow::Deny => Self::Deny,
        }
    }
}

/// A level of deduplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum DedupLevel {
    Off,
    Exact,
    Overlap,
    Near,
}

impl From<DedupLevel> for Option<Level> {
    fn from(level: DedupLevel) -> Self {
        match level {
            DedupLevel::Off => None,
            DedupLevel::Exact => Some(Level::Exact),
            DedupLevel::Overlap => Some(Level::Overlap),
            DedupLevel::Near => Some(Level::Near),
        }
    }
}

/// A policy for special tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum SpecialTokensChoice {
    #[serde(alias = "report")]
    Warn,
    #[serde(alias = "neutralise")]
    Escape,
    Reject,
}

impl From<SpecialTokensChoice> for SpecialTokens {
    fn from(policy: SpecialTokensChoice) -> Self {
        match policy {
            SpecialTokensChoice::Warn => Self::Warn,
            SpecialTokensChoice::Escape => Self::Escape,
            SpecialTokensChoice::Reject => Self::Reject,
        }
    }
}

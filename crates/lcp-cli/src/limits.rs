//! The flags that say what a text may have, and what is in force with them.

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use lcp_driver::shares::Shares;
use lcp_driver::{Excerpts, Objective, Overflow, ValueModel, Warning, WarningCode};
use lcp_tokens::Model;

use crate::Result;
use crate::arguments::tokens;
use crate::config::{Config, Flags, NamedShares, NothingLeft, Origin, Setting, Settings};
use crate::counting::{Counting, place};
use crate::failure::{Code, Failure};

/// The flags that bound a text.
#[derive(Debug, Default, clap::Args)]
pub struct Limits {
    /// Tokens that the whole text may have; without it what the window
    /// leaves, or everything in full where there is none
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub budget: Option<u32>,
    /// Tokens of the window: the safety factor (0.8) and the reserves are
    /// taken off; without it that of lcp.toml, or of the model
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub window: Option<u32>,
    /// Tokens of the window set aside for the system prompt
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub system_prompt_reserve: Option<u32>,
    /// Tokens of the window set aside for the answer
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub response_reserve: Option<u32>,
    /// Divide the budget into the shares of a preset
    #[arg(long, value_name = "PRESET",
        value_parser = PossibleValuesParser::new(Shares::PRESETS.iter().copied()))]
    pub shares: Option<String>,
    /// Let what is left of the budget show Low and Background blocks in full
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "on")]
    pub fill: Option<Switch>,
    /// Whether blocks that do not fit may be shown in part; with --fill unless
    /// it is said
    #[arg(long, value_name = "WHEN")]
    pub excerpts: Option<Switch>,
    /// How blocks compete: `strict`, tier by tier, or `value`, by what they are
    /// worth for their tokens; strict unless lcp.toml says otherwise
    #[arg(long)]
    pub objective: Option<Competition>,
    /// What to do where the Critical and pinned blocks alone exceed the budget;
    /// to allow it unless lcp.toml says otherwise
    #[arg(long)]
    pub overflow: Option<OnOverflow>,
    /// The same as --overflow deny
    #[arg(long)]
    pub strict: bool,
}

/// Something that is wanted or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "they say it")]
pub enum Switch {
    On,
    Off,
}

/// How blocks compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", schemars(inline))]
#[expect(missing_docs, reason = "they say it")]
pub enum Competition {
    Strict,
    Value,
}

/// What is done where Critical blocks exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", schemars(inline))]
#[expect(missing_docs, reason = "they say it")]
pub enum OnOverflow {
    Allow,
    Deny,
}

/// What is in force.
pub struct InForce {
    /// What `lcp.toml` says.
    pub config: Config,
    /// The model, if one is named.
    pub model: Option<Setting<Model>>,
    /// Flags, file and defaults together.
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

/// Flags that change nothing; what the file says beside them is only general.
fn idle(settings: &Settings) -> impl Iterator<Item = Warning> {
    settings.idle.iter().filter_map(|idle| match idle.from {
        Origin::Flag(name) => {
            let message = format!("{name} has no effect: {idle}");
            Some(Warning::new(WarningCode::NoEffect, None, message))
        }
        _ => None,
    })
}

fn nothing_left(nothing: &NothingLeft, config: &Config) -> Failure {
    let failure = Failure::new(Code::Usage, place(nothing, nothing.from, config));
    match nothing.most {
        Some((_, Origin::Flag(name))) => {
            failure.hint(format!("lower {name}, which takes most, or give a larger --window"))
        }
        Some((key, from)) => failure.hint(format!(
            "lower {}, which takes most, or give a larger --window",
            place(&key, from, config)
        )),
        None => failure.hint("give a larger --window"),
    }
}

impl Limits {
    /// Puts these flags, the file and the model together.
    pub fn in_force(&self, counting: &Counting) -> Result<InForce> {
        self.in_force_with(counting.config()?, counting)
    }

    /// The same with what `lcp.toml` says.
    pub fn in_force_with(&self, config: Config, counting: &Counting) -> Result<InForce> {
        let flags = self.flags()?;
        let is_sized = self.budget.is_some() || self.window.is_some();
        let (model, unknown) = counting.model(&config, is_sized)?;
        let settings = Settings::resolve(flags, &config, model.as_ref())
            .map_err(|nothing| nothing_left(&nothing, &config))?;
        let warnings = unknown.into_iter();
        let warnings = warnings.chain(exceeded(&settings, model.as_ref())).chain(idle(&settings));
        let warnings = warnings.collect();
        Ok(InForce { config, model, settings, warnings })
    }

    fn flags(&self) -> Result<Flags> {
        let overflow = match (self.overflow, self.strict) {
            (Some(OnOverflow::Allow), true) => {
                let message = "--strict is --overflow deny, it cannot be with --overflow allow";
                return Err(Failure::new(Code::Usage, message));
            }
            (Some(OnOverflow::Deny), _) | (None, true) => Some(Overflow::Deny),
            (Some(OnOverflow::Allow), false) => Some(Overflow::Allow),
            (None, false) => None,
        };
        let shares = self.shares.as_deref().and_then(|name| {
            Some(NamedShares { name: name.to_owned(), shares: Shares::preset(name)? })
        });
        Ok(Flags {
            budget: self.budget,
            window: self.window,
            system_prompt_reserve: self.system_prompt_reserve,
            response_reserve: self.response_reserve,
            shares,
            fill: self.fill.map(|fill| fill == Switch::On),
            excerpts: self.excerpts.map(|excerpts| match excerpts {
                Switch::On => Excerpts::On,
                Switch::Off => Excerpts::Off,
            }),
            objective: self.objective.map(|objective| match objective {
                Competition::Strict => Objective::Strict,
                // The table is that of lcp.toml.
                Competition::Value => Objective::Value(ValueModel::default()),
            }),
            overflow,
        })
    }
}

//! Flags that bound a text.

use clap::builder::PossibleValuesParser;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::NamedShares;
use lcp_app::names::{OVERFLOWS, objectives};
use lcp_driver::shares::Shares;
use lcp_driver::{Excerpts, Objective, Overflow};

use crate::Result;
use crate::arguments::{by_name, on_off, parse_tokens};
use lcp_app::{Error, ErrorKind};

const EXCERPTS: [(&str, Excerpts); 2] = [("on", Excerpts::On), ("off", Excerpts::Off)];

/// Flags that bound a text.
#[derive(Debug, Default, clap::Args)]
pub struct BudgetArgs {
    /// Tokens that the whole text may have; without it what the window
    /// leaves, or everything in full where there is none
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub budget: Option<u32>,
    /// Tokens of the window: the safety factor (0.8) and the reserves are
    /// taken off; without it that of lcp.toml, or of the model
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub window: Option<u32>,
    /// Tokens of the window set aside for the system prompt
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub system_prompt_reserve: Option<u32>,
    /// Tokens of the window set aside for the answer
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub response_reserve: Option<u32>,
    /// Divide the budget into the shares of a preset
    #[arg(long, value_name = "PRESET",
        value_parser = PossibleValuesParser::new(Shares::PRESETS.iter().copied()))]
    pub shares: Option<String>,
    /// Use leftover budget for low-priority blocks
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "on", value_parser = on_off())]
    pub fill: Option<bool>,
    /// Whether blocks that do not fit may be shown in part; with --fill unless
    /// it is said
    #[arg(long, value_name = "WHEN", value_parser = by_name(EXCERPTS))]
    pub excerpts: Option<Excerpts>,
    /// How blocks compete: `strict`, tier by tier, or `value`, by what they are
    /// worth for their tokens; strict unless lcp.toml says otherwise
    #[arg(long, value_parser = by_name(objectives()))]
    pub objective: Option<Objective>,
    /// What to do where the Critical and pinned blocks alone exceed the budget;
    /// to allow it unless lcp.toml says otherwise
    #[arg(long, value_parser = by_name(OVERFLOWS))]
    pub overflow: Option<Overflow>,
    /// The same as --overflow deny
    #[arg(long)]
    pub strict: bool,
}

impl BudgetArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> Result<BudgetOptions> {
        let overflow = match (self.overflow, self.strict) {
            (Some(Overflow::Allow), true) => {
                let message = "--strict is --overflow deny, it cannot be with --overflow allow";
                return Err(Error::new(ErrorKind::Usage, message));
            }
            (Some(Overflow::Deny), _) | (None, true) => Some(Overflow::Deny),
            (Some(Overflow::Allow), false) => Some(Overflow::Allow),
            (None, false) => None,
        };
        let shares = self.shares.as_deref().and_then(|name| {
            Some(NamedShares { name: name.to_owned(), shares: Shares::preset(name)? })
        });
        Ok(BudgetOptions {
            budget: self.budget,
            window: self.window,
            system_prompt_reserve: self.system_prompt_reserve,
            response_reserve: self.response_reserve,
            shares,
            fill: self.fill,
            excerpts: self.excerpts,
            objective: self.objective,
            overflow,
        })
    }
}

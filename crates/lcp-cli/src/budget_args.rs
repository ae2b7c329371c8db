//! Flags of the token budget.

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

/// The flags that limit the size of a text and divide its budget.
#[derive(Debug, Default, clap::Args)]
pub struct BudgetArgs {
    /// Maximum number of tokens of the whole text [default: from the window]
    ///
    /// By default, the budget is the part of the window that the safety factor and the reserves
    /// leave. Without a window, everything is shown in full.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub budget: Option<u32>,
    /// Tokens of the context window [default: that of lcp.toml, else of the model]
    ///
    /// The budget is the window times the safety factor (0.8 unless set in lcp.toml), minus the
    /// reserves.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub window: Option<u32>,
    /// Tokens of the window reserved for the system prompt [default: 0]
    ///
    /// `system_prompt_reserve` of lcp.toml changes the default.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub system_prompt_reserve: Option<u32>,
    /// Tokens of the window reserved for the response [default: 0]
    ///
    /// `response_reserve` of lcp.toml changes the default.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub response_reserve: Option<u32>,
    /// Divide the budget into the shares of a preset
    ///
    /// By default, the budget is divided only if lcp.toml divides it.
    #[arg(long, value_name = "PRESET",
        value_parser = PossibleValuesParser::new(Shares::PRESETS.iter().copied()))]
    pub shares: Option<String>,
    /// Use leftover budget for low- and background-priority blocks [default: off]
    ///
    /// Such blocks are then shown in full if they fit. `fill` of lcp.toml changes the default.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "on", value_parser = on_off())]
    pub fill: Option<bool>,
    /// Show excerpts of blocks that do not fit [default: on]
    ///
    /// `excerpts` of lcp.toml changes the default.
    #[arg(long, value_name = "WHEN", value_parser = by_name(EXCERPTS))]
    pub excerpts: Option<Excerpts>,
    /// Order in which blocks get budget [default: strict]
    ///
    /// `strict` goes through the priorities in order; `value` prefers blocks with a high value per
    /// token. `objective` of lcp.toml changes the default.
    #[arg(long, value_parser = by_name(objectives()))]
    pub objective: Option<Objective>,
    /// Action if critical and pinned blocks exceed the budget [default: allow]
    ///
    /// `allow` prints a warning, `deny` fails with exit code 4. The same applies if they exceed the
    /// cap of their share. If the tokenizer file is invalid, `allow` estimates token counts with a
    /// warning, and `deny` fails with exit code 1. `overflow` of lcp.toml changes the default.
    #[arg(long, value_parser = by_name(OVERFLOWS))]
    pub overflow: Option<Overflow>,
    /// Same as --overflow deny
    #[arg(long)]
    pub strict: bool,
}

impl BudgetArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> Result<BudgetOptions> {
        let overflow = match (self.overflow, self.strict) {
            (Some(Overflow::Allow), true) => {
                let message = "--strict cannot be used with --overflow allow";
                return Err(Error::new(ErrorKind::Usage, message));
            }
            (Some(Overflow::Deny), _) | (None, true) => Some(Overflow::Deny),
            (Some(Overflow::Allow), false) => Some(Overflow::Allow),
            (None, false) => None,
        };
        let shares = self.shares.as_deref().and_then(NamedShares::preset);
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

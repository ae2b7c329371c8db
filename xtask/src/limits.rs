//! The flags that say what a text may have, and what is in force with them.

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use lcp_driver::shares::Shares;
use lcp_driver::{Excerpts, Overflow};
use lcp_tokens::Model;

use crate::Result;
use crate::config::{Config, Flags, NamedShares, Setting, Settings};
use crate::counting::{Counting, place};
use crate::failure::{Code, Failure, Output};

#[derive(Debug, clap::Args)]
pub(crate) struct Limits {
    /// Tokens that the whole text may have; without it what the window
    /// leaves, or everything in full where there is none
    #[arg(long, value_name = "N")]
    budget: Option<u32>,
    /// Tokens of the window: the safety factor (0.8) and the reserves are
    /// taken off; without it that of lcp.toml, or of the model
    #[arg(long, value_name = "N")]
    window: Option<u32>,
    /// Tokens of the window set aside for the system prompt
    #[arg(long, value_name = "N")]
    system_prompt_reserve: Option<u32>,
    /// Tokens of the window set aside for the answer
    #[arg(long, value_name = "N")]
    response_reserve: Option<u32>,
    /// Divide the budget into the shares of a preset
    #[arg(long, value_name = "PRESET",
        value_parser = PossibleValuesParser::new(Shares::PRESETS.iter().copied()))]
    shares: Option<String>,
    /// Let what is left of the budget show Low and Background blocks in full
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "on")]
    fill: Option<Switch>,
    /// Whether blocks that do not fit may be shown in part; with --fill unless
    /// it is said
    #[arg(long, value_name = "WHEN")]
    excerpts: Option<Switch>,
    /// What to do where the Critical blocks alone exceed the budget; to allow
    /// it unless lcp.toml says otherwise
    #[arg(long)]
    overflow: Option<OnOverflow>,
    /// The same as --overflow deny
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnOverflow {
    Allow,
    Deny,
}

/// What is in force.
pub(crate) struct InForce {
    pub(crate) config: Config,
    pub(crate) model: Option<Setting<Model>>,
    pub(crate) settings: Settings,
}

impl InForce {
    /// Says where the text may be more than its reader can take.
    pub(crate) fn warn(&self, output: &Output) {
        if let (Some(budget), Some(model)) = (&self.settings.budget, &self.model)
            && budget.value.tokens > model.value.window
        {
            let (tokens, window) = (budget.value.tokens, model.value.window);
            let name = &model.value.name;
            output.warn(format!(
                "a text of {tokens} tokens does not fit into {name}: its window is {window}"
            ));
        }
    }
}

impl Limits {
    /// Puts these flags, the file and the model together.
    pub(crate) fn in_force(&self, counting: &Counting) -> Result<InForce> {
        let flags = self.flags()?;
        let config = counting.config()?;
        let model = counting.model(&config)?;
        let settings = Settings::resolve(flags, &config, model.as_ref()).map_err(|nothing| {
            Failure::new(Code::Usage, place(&nothing.error, nothing.from, &config)).hint(
                "lower the reserves (--system-prompt-reserve, --response-reserve), or give a \
                 larger --window",
            )
        })?;
        Ok(InForce { config, model, settings })
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
            overflow,
        })
    }
}

//! `[context.budget]`: the budget of the text, and its shares.

use lcp_driver::shares::{Share, Shares};
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::window::DEFAULT_SAFETY;
use lcp_driver::{Excerpts, Objective, Overflow};

use super::reader::{Entry, Result, Section};
use crate::names;

/// The name of [`NamedShares`] from a list of categories.
const CATEGORIES: &str = "categories";

/// Shares with a name: that of a preset, or `categories`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedShares {
    /// The name.
    pub name: String,
    /// The shares.
    pub shares: Shares,
}

impl NamedShares {
    /// Returns the preset with this name.
    pub fn preset(name: &str) -> Option<Self> {
        Some(Self { name: name.to_owned(), shares: Shares::preset(name)? })
    }
}

/// `[context.budget]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Tokens of the window, without a safety factor.
    pub total_tokens: Option<u32>,
    /// Tokens of the window, before the safety factor.
    pub window: Option<u32>,
    /// The part of a window that may be used, above 0 and up to 1.
    pub safety: f64,
    /// Tokens set aside for the system prompt.
    pub system_prompt_reserve: u32,
    /// Tokens set aside for the response.
    pub response_reserve: u32,
    /// A preset, or the categories with their sizes.
    pub shares: Option<NamedShares>,
    /// `true` if leftover budget shows Low and Background blocks in full.
    pub fill: bool,
    /// The setting for excerpts of blocks.
    pub excerpts: Excerpts,
    /// The objective, without the table of values.
    pub objective: Objective,
    /// The reaction if Critical blocks exceed the budget.
    pub overflow: Overflow,
    /// The policy for special tokens.
    pub special_tokens: SpecialTokens,
}

/// The default of front ends. The library has SPEC_08's, which is off without `fill`. A text of one
/// large file would then contain nothing of it.
const EXCERPTS_DEFAULT: Excerpts = Excerpts::On;

impl Default for Budget {
    fn default() -> Self {
        Self {
            total_tokens: None,
            window: None,
            safety: DEFAULT_SAFETY,
            system_prompt_reserve: 0,
            response_reserve: 0,
            shares: None,
            fill: false,
            excerpts: EXCERPTS_DEFAULT,
            objective: Objective::default(),
            overflow: Overflow::default(),
            special_tokens: SpecialTokens::default(),
        }
    }
}

impl Budget {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = context.section("budget")? else { return Ok(Self::default()) };
        let is_part = |part: f64| part > 0.0 && part <= 1.0;
        let safety = "must be above 0 and at most 1";
        let budget = Self {
            total_tokens: section.integer("total_tokens")?,
            window: section.integer("window")?,
            safety: section.number("safety", is_part, safety)?.unwrap_or(DEFAULT_SAFETY),
            system_prompt_reserve: section.integer("system_prompt_reserve")?.unwrap_or(0),
            response_reserve: section.integer("response_reserve")?.unwrap_or(0),
            shares: shares(section.take("shares"), section.take(CATEGORIES))?,
            fill: section.boolean("fill")?.unwrap_or(false),
            excerpts: section.boolean("excerpts")?.map_or(EXCERPTS_DEFAULT, names::excerpts),
            objective: section.choice("objective", &names::objectives())?.unwrap_or_default(),
            overflow: section.choice("overflow", &names::OVERFLOWS)?.unwrap_or_default(),
            special_tokens: section
                .choice("special_tokens", &names::SPECIAL_TOKENS)?
                .unwrap_or_default(),
        };
        section.finish()?;
        Ok(budget)
    }
}

fn shares(preset: Option<Entry<'_>>, categories: Option<Entry<'_>>) -> Result<Option<NamedShares>> {
    match (preset, categories) {
        (Some(preset), Some(_)) => {
            Err(preset.key_error("cannot be combined with context.budget.categories"))
        }
        (Some(preset), None) => {
            let presets: Vec<_> = Shares::PRESETS.iter().map(|name| (*name, *name)).collect();
            Ok(NamedShares::preset(preset.choice(&presets)?))
        }
        (None, Some(entry)) => categories_of(&entry).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads a list of categories in the order of the file, which decides ties.
fn categories_of(entry: &Entry<'_>) -> Result<NamedShares> {
    let shares: Result<Vec<Share>> = entry.section()?.into_entries().iter().map(share).collect();
    let shares = Shares::new(shares?).map_err(|error| entry.key_error(error))?;
    Ok(NamedShares { name: CATEGORIES.to_owned(), shares })
}

fn share(entry: &Entry<'_>) -> Result<Share> {
    const MUST: &str = "must be a percentage of the available tokens, 0 or more";
    // The maximum is that of `Shares`.
    let is_percent = |percent: f64| (0.0..=Shares::RATIO_MAX).contains(&percent);
    let name = entry.key.clone();
    if !entry.is_table() {
        return Ok(Share::ratio(name, entry.number(is_percent, MUST)? / 100.0));
    }
    let mut section = entry.section()?;
    let percent = section.number("percent", is_percent, MUST)?;
    let tokens = section.integer("tokens")?;
    let cap = section.integer("cap")?;
    section.finish()?;
    match (percent, tokens) {
        (Some(percent), None) => Ok(Share { cap, ..Share::ratio(name, percent / 100.0) }),
        (None, Some(tokens)) => Ok(Share { cap, ..Share::tokens(name, tokens) }),
        _ => Err(entry.key_error("must have either percent or tokens")),
    }
}

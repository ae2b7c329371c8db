//! The sections of an `lcp.toml`.

use lcp_driver::shares::{Share, Shares};
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::usage::{UsageMonitor, UsageThresholds};
use lcp_driver::{Objective, OutputMode, Overflow, ValueModel};
use lcp_tokens::ENCODINGS;

use super::reader::{Entry, Located, Result, Section, choice, near};

/// The name of [`NamedShares`] that are listed one by one.
pub(super) const CATEGORIES: &str = "categories";

/// A tokenizer type that means the encoding of the model, which must be one of OpenAI's.
pub(crate) const TIKTOKEN: &str = "tiktoken";

/// Output modes by their names.
pub const MODES: [(&str, OutputMode); 3] = [
    (OutputMode::Xml.name(), OutputMode::Xml),
    (OutputMode::Markdown.name(), OutputMode::Markdown),
    (OutputMode::Minimal.name(), OutputMode::Minimal),
];

/// Shares, and what they are called: a preset, or `categories`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedShares {
    /// The name.
    pub name: String,
    /// The shares.
    pub shares: Shares,
}

/// `[context.budget]`: what the text may have, and how it is divided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens of the window, taken as they are.
    pub total_tokens: Option<Located<u32>>,
    /// Tokens of the window, of which the safety factor takes a part.
    pub window: Option<Located<u32>>,
    /// The part of a window that may be used, above 0 and up to 1.
    pub safety: Option<Located<f64>>,
    /// Tokens set aside for the system prompt.
    pub system_prompt_reserve: Option<Located<u32>>,
    /// Tokens set aside for the answer.
    pub response_reserve: Option<Located<u32>>,
    /// A preset, or the categories with their sizes.
    pub shares: Option<Located<NamedShares>>,
    /// Whether leftover budget shows Low and Background blocks in full.
    pub fill: Option<Located<bool>>,
    /// Whether blocks may be shown in part.
    pub excerpts: Option<Located<bool>>,
    /// How blocks compete; the table of values is not filled in.
    pub objective: Option<Located<Objective>>,
    /// What to do where Critical blocks exceed the budget.
    pub overflow: Option<Located<Overflow>>,
    /// What is done about special tokens.
    pub special_tokens: Option<Located<SpecialTokens>>,
}

impl Budget {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = context.section("budget")? else { return Ok(Self::default()) };
        let is_part = |part: f64| part > 0.0 && part <= 1.0;
        let budget = Self {
            total_tokens: section.integer("total_tokens")?,
            window: section.integer("window")?,
            safety: section.number("safety", is_part, "must be above 0 and at most 1")?,
            system_prompt_reserve: section.integer("system_prompt_reserve")?,
            response_reserve: section.integer("response_reserve")?,
            shares: shares(section.take("shares"), section.take(CATEGORIES))?,
            fill: section.boolean("fill")?,
            excerpts: section.boolean("excerpts")?,
            objective: section.take("objective").map(|entry| objective(&entry)).transpose()?,
            overflow: section.take("overflow").map(|entry| overflow(&entry)).transpose()?,
            special_tokens: section
                .take("special_tokens")
                .map(|entry| special_tokens(&entry))
                .transpose()?,
        };
        section.finish()?;
        Ok(budget)
    }
}

fn objective(entry: &Entry<'_>) -> Result<Located<Objective>> {
    let by_value = Objective::Value(ValueModel::default());
    let word = entry.word(&[Objective::Strict.name(), by_value.name()])?;
    let objective = if word.value == by_value.name() { by_value } else { Objective::Strict };
    Ok(entry.location().located(objective))
}

fn overflow(entry: &Entry<'_>) -> Result<Located<Overflow>> {
    let word = entry.word(&["allow", "deny"])?;
    let overflow = if word.value == "deny" { Overflow::Deny } else { Overflow::Allow };
    Ok(entry.location().located(overflow))
}

fn special_tokens(entry: &Entry<'_>) -> Result<Located<SpecialTokens>> {
    let policy = match entry.text()?.value.as_str() {
        // Former names.
        "report" => SpecialTokens::Warn,
        "neutralise" => SpecialTokens::Escape,
        _ => return choice(entry, &SpecialTokens::ALL.map(|policy| (policy.name(), policy))),
    };
    Ok(entry.location().located(policy))
}

fn shares(
    preset: Option<Entry<'_>>,
    categories: Option<Entry<'_>>,
) -> Result<Option<Located<NamedShares>>> {
    match (preset, categories) {
        (Some(preset), Some(_)) => {
            Err(preset.location().fail("a preset and categories exclude each other"))
        }
        (Some(preset), None) => {
            let name = preset.word(Shares::PRESETS)?.value;
            let shares = Shares::preset(name).unwrap_or_else(Shares::agent);
            Ok(Some(preset.location().located(NamedShares { name: name.to_owned(), shares })))
        }
        (None, Some(entry)) => categories_of(entry).map(Some),
        (None, None) => Ok(None),
    }
}

/// A list of categories, in the order of the file: that decides ties.
fn categories_of(entry: Entry<'_>) -> Result<Located<NamedShares>> {
    let location = entry.location();
    let shares: Result<Vec<Share>> = entry.section()?.take_all().into_iter().map(share).collect();
    let shares = Shares::new(shares?).map_err(|error| location.fail(error))?;
    Ok(location.located(NamedShares { name: CATEGORIES.to_owned(), shares }))
}

fn share(entry: Entry<'_>) -> Result<Share> {
    const MUST: &str = "must be a percentage of what is available, 0 or more";
    // As in `Shares`: larger ones mean nothing.
    let is_percent = |percent: f64| (0.0..=Shares::RATIO_MAX).contains(&percent);
    let name = entry.key.clone();
    if !entry.is_table() {
        return Ok(Share::ratio(name, entry.number(is_percent, MUST)?.value / 100.0));
    }
    let location = entry.location();
    let mut section = entry.section()?;
    let percent = section.number("percent", is_percent, MUST)?;
    let tokens = section.integer("tokens")?;
    let cap = section.integer("cap")?.map(|cap| cap.value);
    section.finish()?;
    match (percent, tokens) {
        (Some(percent), None) => Ok(Share { cap, ..Share::ratio(name, percent.value / 100.0) }),
        (None, Some(tokens)) => Ok(Share { cap, ..Share::tokens(name, tokens.value) }),
        _ => Err(location.fail("it must have either percent or tokens")),
    }
}

/// `[context.tokenizer]`: what counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tokenizer {
    /// `tiktoken`, one of [`ENCODINGS`], or a file.
    pub kind: Option<Located<String>>,
    /// The model that reads the text.
    pub model: Option<Located<String>>,
}

impl Tokenizer {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = context.section("tokenizer")? else { return Ok(Self::default()) };
        let kind = section.take("type").map(|entry| tokenizer(&entry)).transpose()?;
        let model = section.take("model").map(|entry| entry.text()).transpose()?;
        section.finish()?;
        Ok(Self { kind, model })
    }
}

fn tokenizer(entry: &Entry<'_>) -> Result<Located<String>> {
    let found = entry.text()?;
    let name = found.value.as_str();
    let known: Vec<&str> = [&[TIKTOKEN], ENCODINGS].concat();
    // A misspelt name must not pass for a file.
    if known.contains(&name) || name.contains(['.', '/', '\\']) {
        return Ok(found);
    }
    let near = near(name, &known);
    let may = if near.is_empty() { known } else { near };
    Err(entry.value_error(&format!("must be a tokenizer file, or {}", may.join(", "))))
}

/// `[context.usage]`: when the use of a budget is told of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Where the level Warning begins, as a part of the whole.
    pub warning: Option<Located<f64>>,
    /// Above what the level is Critical.
    pub critical: Option<Located<f64>>,
    /// Below what a raised level is Normal again.
    pub clear: Option<Located<f64>>,
    /// Records between two warnings.
    pub cooldown: Option<Located<u32>>,
}

impl Usage {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(entry) = context.take("usage") else { return Ok(Self::default()) };
        let location = entry.location();
        let mut section = entry.section()?;
        let usage = Self {
            warning: section.number("warning", is_ratio, FROM_0_TO_1)?,
            critical: section.number("critical", is_ratio, FROM_0_TO_1)?,
            clear: section.number("clear", is_ratio, FROM_0_TO_1)?,
            cooldown: section.integer("cooldown")?,
        };
        section.finish()?;
        // Each may be right and all of them out of order.
        UsageMonitor::new(usage.thresholds()).map_err(|error| location.fail(error))?;
        Ok(usage)
    }

    /// The thresholds, by default where the file has none.
    pub fn thresholds(&self) -> UsageThresholds {
        let default = UsageThresholds::default();
        let or =
            |found: &Option<Located<f64>>, default| found.as_ref().map_or(default, |f| f.value);
        UsageThresholds {
            warning: or(&self.warning, default.warning),
            critical: or(&self.critical, default.critical),
            clear: or(&self.clear, default.clear),
        }
    }
}

/// `[context.segments]`: how the segments of a conversation are divided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segments {
    /// Tokens for recent messages in full.
    pub recent_messages_full_budget: Option<Located<u32>>,
    /// Tokens for segments with anchors.
    pub anchor_budget: Option<Located<u32>>,
    /// How little of what is left lifts older segments, from 0 to 1.
    pub compression_aggressiveness: Option<Located<f64>>,
    /// Segments that have their Brief before others get more.
    pub min_segments_at_brief: Option<Located<u32>>,
}

impl Segments {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = context.section("segments")? else { return Ok(Self::default()) };
        let aggressiveness = section.number("compression_aggressiveness", is_ratio, FROM_0_TO_1)?;
        let segments = Self {
            recent_messages_full_budget: section.integer("recent_messages_full_budget")?,
            anchor_budget: section.integer("anchor_budget")?,
            compression_aggressiveness: aggressiveness,
            min_segments_at_brief: section.integer("min_segments_at_brief")?,
        };
        section.finish()?;
        Ok(segments)
    }
}

pub(super) const FROM_0_TO_1: &str = "must be from 0 to 1";

pub(super) fn is_ratio(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

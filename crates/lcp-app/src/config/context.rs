//! The smaller sections of `[context]`.

use std::ops::RangeInclusive;

use lcp_dedup::{DedupLevel, Options, Survivor};
use lcp_driver::prompt_cache::Watermarks;
use lcp_driver::segments::BudgetAllocationOptions;
use lcp_driver::usage::{UsageMonitor, UsageThresholds};
use lcp_driver::{ValueModel, Warning, WarningCode};
use lcp_tokens::ENCODINGS;

use super::TIKTOKEN;
use super::reader::{Entry, Result, Section, near};

const FROM_0_TO_1: &str = "must be from 0 to 1";

fn is_ratio(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

/// `[context.tokenizer]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tokenizer {
    /// `tiktoken`, one of [`ENCODINGS`], or a file.
    pub kind: Option<String>,
    /// The model that reads the text.
    pub model: Option<String>,
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

fn tokenizer(entry: &Entry<'_>) -> Result<String> {
    let name = entry.text()?;
    let known: Vec<&str> = [&[TIKTOKEN], ENCODINGS].concat();
    // A misspelt name must not be taken for a file.
    if known.contains(&&*name) || name.contains(['.', '/', '\\']) {
        return Ok(name);
    }
    let near = near(&name, &known);
    let may = if near.is_empty() { known } else { near };
    Err(entry.value_error(&format!("must be a tokenizer file or one of {}", may.join(", "))))
}

/// `[context.dedup]`: deduplication (RFC 0006).
#[derive(Clone, Debug, PartialEq)]
pub struct DedupSettings {
    /// `true` if duplicates are replaced.
    pub enabled: bool,
    /// The kinds of duplicates and their thresholds.
    pub options: Options,
    /// `true` if the file sets the survivor of two duplicates.
    pub has_keep: bool,
    /// `true` if the file sets the maximum size of a merged chunk.
    pub has_merged_bytes: bool,
}

impl Default for DedupSettings {
    fn default() -> Self {
        let options = Options::new(DedupLevel::Overlap);
        Self { enabled: false, options, has_keep: false, has_merged_bytes: false }
    }
}

impl DedupSettings {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let default = Self::default();
        let Some(mut section) = context.section("dedup")? else { return Ok(default) };
        let is_near = |number: f64| (0.5..=1.0).contains(&number);
        let levels = DedupLevel::ALL.map(|level| (level.name(), level));
        let keeps = Survivor::ALL.map(|keep| (keep.name(), keep));
        let mut options = default.options;
        let enabled = section.boolean("enabled")?.unwrap_or(default.enabled);
        options.level = section.choice("level", &levels)?.unwrap_or(options.level);
        let keep = section.choice("keep", &keeps)?;
        options.survivor = keep.unwrap_or(options.survivor);
        let overlap = section.number("overlap_threshold", is_ratio, FROM_0_TO_1)?;
        options.overlap_threshold = overlap.unwrap_or(options.overlap_threshold);
        let merge = section.boolean("merge_overlapping")?;
        options.merge_overlapping = merge.unwrap_or(options.merge_overlapping);
        let merged_bytes = section.integer("merged_bytes")?;
        options.merged_bytes = merged_bytes.map_or(options.merged_bytes, |bytes| bytes as usize);
        let near = section.number("near_threshold", is_near, "must be from 0.5 to 1")?;
        options.near_threshold = near.unwrap_or(options.near_threshold);
        section.finish()?;
        let (has_keep, has_merged_bytes) = (keep.is_some(), merged_bytes.is_some());
        Ok(Self { enabled, options, has_keep, has_merged_bytes })
    }
}

/// `[context.stable]`: the watermarks of a stable text (RFC 0005 §6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatermarkSettings {
    /// The part of the budget above which a text is repacked.
    pub high: f64,
    /// The part of the budget that a repacked text shrinks to.
    pub low: f64,
}

impl Default for WatermarkSettings {
    fn default() -> Self {
        // The fields of `Watermarks` are private.
        let (high, low) = Watermarks::default().tokens(1_000);
        Self { high: f64::from(high) / 1_000.0, low: f64::from(low) / 1_000.0 }
    }
}

impl WatermarkSettings {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        const MUST: &str = "must be above 0 and at most 1";
        let default = Self::default();
        let Some(entry) = context.take("stable") else { return Ok(default) };
        let mut section = entry.section()?;
        let is_part = |part: f64| part > 0.0 && part <= 1.0;
        let high = section.number("high_watermark", is_part, MUST)?.unwrap_or(default.high);
        let low = section.number("low_watermark", is_part, MUST)?.unwrap_or(default.low);
        section.finish()?;
        // Two valid values may be in the wrong order.
        Watermarks::new(high, low).map_err(|error| entry.key_error(error))?;
        Ok(Self { high, low })
    }

    /// Returns the watermarks.
    pub fn watermarks(&self) -> Watermarks {
        // `read` has checked them.
        Watermarks::new(self.high, self.low).unwrap_or_default()
    }
}

/// `[context.usage]`: the levels of the usage of a budget, and its warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// The thresholds of the levels.
    pub thresholds: UsageThresholds,
    /// The number of records between two warnings.
    pub cooldown: u32,
}

impl Usage {
    /// Returns a monitor with these settings.
    pub fn monitor(&self) -> UsageMonitor {
        // `read` has checked the thresholds.
        UsageMonitor::new(self.thresholds).unwrap_or_default().with_cooldown(self.cooldown)
    }

    /// Returns the warning about a text that shows everything in `used` tokens of a budget. Other
    /// warnings report a text that exceeds its budget.
    pub(crate) fn budget_warning(&self, used: u64, budget: Option<u32>) -> Option<Warning> {
        let budget = budget?;
        let used = u32::try_from(used).ok().filter(|used| *used <= budget)?;
        let line = self.monitor().record(used, budget).warning_line?;
        Some(Warning::new(WarningCode::BudgetUsage, None, line))
    }

    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(entry) = context.take("usage") else { return Ok(Self::default()) };
        let mut section = entry.section()?;
        let default = UsageThresholds::default();
        let mut ratio = |key, default| {
            section.number(key, is_ratio, FROM_0_TO_1).map(|ratio| ratio.unwrap_or(default))
        };
        let thresholds = UsageThresholds {
            warning: ratio("warning", default.warning)?,
            critical: ratio("critical", default.critical)?,
            clear: ratio("clear", default.clear)?,
        };
        let cooldown = section.integer("cooldown")?.unwrap_or(0);
        section.finish()?;
        // Valid values may be in the wrong order.
        UsageMonitor::new(thresholds).map_err(|error| entry.key_error(error))?;
        Ok(Self { thresholds, cooldown })
    }
}

/// Reads `[context.segments]`.
pub(super) fn read_segments(context: &mut Section<'_>) -> Result<BudgetAllocationOptions> {
    let default = BudgetAllocationOptions::default();
    let Some(mut section) = context.section("segments")? else { return Ok(default) };
    let aggressiveness = section.number("compression_aggressiveness", is_ratio, FROM_0_TO_1)?;
    let recent = section.integer("recent_messages_full_budget")?;
    let anchors = section.integer("anchor_budget")?;
    let brief = section.integer("min_segments_at_brief")?;
    section.finish()?;
    Ok(BudgetAllocationOptions {
        recent_messages_full_budget: recent.unwrap_or(default.recent_messages_full_budget),
        anchor_budget: anchors.unwrap_or(default.anchor_budget),
        compression_aggressiveness: aggressiveness.unwrap_or(default.compression_aggressiveness),
        min_segments_at_brief: brief.map_or(default.min_segments_at_brief, |brief| brief as usize),
    })
}

/// A key of `[context.values]`, the range of its value, and the field that it sets.
type ValueKey = (&'static str, RangeInclusive<u32>, fn(&mut ValueModel) -> &mut u32);

const WEIGHT: RangeInclusive<u32> = 0..=ValueModel::WEIGHT_MAX;

/// The range of a conveyed part, in thousandths of the content.
const CONVEYED: RangeInclusive<u32> = 0..=1_000;

/// The range of a factor, in thousandths. A rank never lowers the value of a block.
const FACTOR: RangeInclusive<u32> = 1_000..=ValueModel::HIGHEST_RANK_MAX;

pub(super) const VALUES: [ValueKey; 10] = [
    ("context.values.high", WEIGHT, |values| &mut values.high),
    ("context.values.normal", WEIGHT, |values| &mut values.normal),
    ("context.values.low", WEIGHT, |values| &mut values.low),
    ("context.values.background", WEIGHT, |values| &mut values.background),
    ("context.values.full", CONVEYED, |values| &mut values.full),
    ("context.values.detailed", CONVEYED, |values| &mut values.detailed),
    ("context.values.summary", CONVEYED, |values| &mut values.summary),
    ("context.values.tags", CONVEYED, |values| &mut values.tags),
    ("context.values.placeholder", CONVEYED, |values| &mut values.placeholder),
    ("context.values.highest_rank", FACTOR, |values| &mut values.highest_rank),
];

/// Reads `[context.values]`.
pub(super) fn read_values(context: &mut Section<'_>) -> Result<ValueModel> {
    let mut values = ValueModel::default();
    let Some(mut section) = context.section("values")? else { return Ok(values) };
    for (key, range, field) in VALUES {
        if let Some(value) = section.integer_in(key.trim_start_matches("context.values."), range)? {
            *field(&mut values) = value;
        }
    }
    section.finish()?;
    Ok(values)
}

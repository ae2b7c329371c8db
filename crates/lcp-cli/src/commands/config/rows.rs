//! The settings in force, one row each, under their keys in `lcp.toml`.

use lcp_driver::segments::BudgetAllocationOptions;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::usage::UsageThresholds;
use lcp_driver::{Excerpts, Objective, Overflow};
use serde_json::Value;

use super::Row;
use lcp_app::budget::EffectiveBudget;
use lcp_app::config::{Config, Dedup, Origin, Setting, Settings};
use lcp_app::prompt_cache::{PLAN, PREVIOUS};

/// Every setting in force, and what is given and changes nothing. What is taken
/// off a window is there only where the budget comes from one, or it is given.
pub(super) fn rows(in_force: &EffectiveBudget, encoding: Setting<&str>) -> Vec<Row> {
    let EffectiveBudget { config, model, settings, .. } = in_force;
    let model = model.as_ref().map(|model| map(model, |model| model.name.as_str()));
    let mut rows = vec![optional("context.tokenizer.model", model)];
    rows.push(row("context.tokenizer.type", encoding));
    window(&mut rows, settings);
    rows.extend(settings.idle.iter().map(|idle| {
        let setting = Setting { value: idle.value.clone(), from: idle.from };
        Row { idle: Some(idle.to_string()), ..row(idle.key, setting) }
    }));
    division(&mut rows, settings);
    let special = config.budget.special_tokens.as_ref().map(|found| found.map(|of| of.name()));
    let special = Setting::or(special.as_ref(), SpecialTokens::default().name());
    rows.push(row("context.budget.special_tokens", special));
    if let Objective::Value(_) = settings.objective.value {
        rows.extend(config.values.settings().into_iter().map(|(key, value)| row(key, value)));
    }
    watermarks(&mut rows, config);
    duplicates(&mut rows, &config.dedup);
    let of_renders = rows.len();
    usage(&mut rows, config);
    segments(&mut rows, config);
    for row in &mut rows[of_renders..] {
        row.idle = Some("for programs".to_owned());
    }
    rows
}

/// What is done about what stands twice.
fn duplicates(rows: &mut Vec<Row>, dedup: &Dedup) {
    let options = dedup.options(Dedup::LEVEL);
    let enabled = Setting::or(dedup.enabled.as_ref(), false);
    let idle = (!enabled.value).then(|| "only with --dedup".to_owned());
    rows.push(row("context.dedup.enabled", enabled));
    let of_enabled = rows.len();
    let level = dedup.level.as_ref().map(|found| found.map(|level| level.name()));
    rows.push(row("context.dedup.level", Setting::or(level.as_ref(), Dedup::LEVEL.name())));
    let keep = dedup.keep.as_ref().map(|found| found.map(|keep| keep.name()));
    rows.push(row("context.dedup.keep", Setting::or(keep.as_ref(), options.keep.name())));
    let merge = Setting::or(dedup.merge_overlapping.as_ref(), options.merge_overlapping);
    rows.push(row("context.dedup.merge_overlapping", merge));
    let bytes = dedup.merged_bytes.as_ref().map(|found| found.map(|&bytes| u64::from(bytes)));
    let bytes = Setting::or(bytes.as_ref(), options.merged_bytes as u64);
    rows.push(row("context.dedup.merged_bytes", bytes));
    let threshold = Setting::or(dedup.overlap_threshold.as_ref(), options.overlap_threshold);
    rows.push(row("context.dedup.overlap_threshold", threshold));
    let near = Setting::or(dedup.near_threshold.as_ref(), options.near_threshold);
    rows.push(row("context.dedup.near_threshold", near));
    for row in &mut rows[of_enabled..] {
        row.idle.clone_from(&idle);
    }
}

fn window(rows: &mut Vec<Row>, settings: &Settings) {
    let Some(budget) = &settings.budget else {
        rows.push(optional("budget", None::<Setting<u32>>));
        return;
    };
    let Some(window) = budget.value.window else {
        rows.push(row(budget.value.key, map(budget, |resolved| resolved.tokens)));
        return;
    };
    rows.push(row(budget.value.key, map(budget, |_| window.tokens)));
    if !budget.value.is_total {
        rows.push(row("context.budget.safety", settings.safety.clone()));
    }
    let reserves = [
        ("context.budget.system_prompt_reserve", &settings.system_prompt_reserve),
        ("context.budget.response_reserve", &settings.response_reserve),
    ];
    rows.extend(reserves.map(|(key, reserve)| row(key, reserve.clone())));
}

fn division(rows: &mut Vec<Row>, settings: &Settings) {
    let shares = settings.shares.as_ref().map(|shares| map(shares, |named| named.name.as_str()));
    let excerpts = map(&settings.excerpts, |excerpts| match excerpts {
        Excerpts::WithFill => Value::from("with fill"),
        Excerpts::On => Value::from(true),
        Excerpts::Off => Value::from(false),
    });
    let overflow = map(&settings.overflow, |overflow| match overflow {
        Overflow::Allow => "allow",
        Overflow::Deny => "deny",
    });
    rows.push(optional("context.budget.shares", shares));
    rows.push(row("context.budget.fill", settings.fill.clone()));
    rows.push(row("context.budget.excerpts", excerpts));
    rows.push(row("context.budget.objective", map(&settings.objective, |by| by.name())));
    rows.push(row("context.budget.overflow", overflow));
}

fn watermarks(rows: &mut Vec<Row>, config: &Config) {
    let (high, low) = config.stable.parts();
    let marks = [("context.stable.high_watermark", high), ("context.stable.low_watermark", low)];
    rows.extend(marks.map(|(key, mark)| {
        let idle = Some(format!("only with {PREVIOUS} or {PLAN}"));
        Row { idle, ..row(key, mark) }
    }));
}

fn usage(rows: &mut Vec<Row>, config: &Config) {
    let (usage, default) = (&config.usage, UsageThresholds::default());
    let thresholds = [
        ("context.usage.warning", &usage.warning, default.warning),
        ("context.usage.critical", &usage.critical, default.critical),
        ("context.usage.clear", &usage.clear, default.clear),
    ];
    let threshold =
        |(key, found, default): (_, &Option<_>, _)| row(key, Setting::or(found.as_ref(), default));
    rows.extend(thresholds.map(threshold));
    rows.push(row("context.usage.cooldown", Setting::or(usage.cooldown.as_ref(), 0)));
}

fn segments(rows: &mut Vec<Row>, config: &Config) {
    let (segments, default) = (&config.segments, BudgetAllocationOptions::default());
    let recent = segments.recent_messages_full_budget.as_ref();
    rows.push(row(
        "context.segments.recent_messages_full_budget",
        Setting::or(recent, default.recent_messages_full_budget),
    ));
    let anchors = Setting::or(segments.anchor_budget.as_ref(), default.anchor_budget);
    rows.push(row("context.segments.anchor_budget", anchors));
    let aggressiveness = segments.compression_aggressiveness.as_ref();
    rows.push(row(
        "context.segments.compression_aggressiveness",
        Setting::or(aggressiveness, default.compression_aggressiveness),
    ));
    let brief =
        segments.min_segments_at_brief.as_ref().map(|found| found.map(|&value| value as usize));
    let brief = Setting::or(brief.as_ref(), default.min_segments_at_brief);
    rows.push(row("context.segments.min_segments_at_brief", brief));
}

/// What the file asks for and is not in force yet; nothing where it does not.
fn row<T: Into<Value>>(key: &'static str, setting: Setting<T>) -> Row {
    Row { key, value: setting.value.into(), from: setting.from, idle: None }
}

fn optional<T: Into<Value>>(key: &'static str, setting: Option<Setting<T>>) -> Row {
    match setting {
        Some(setting) => row(key, setting),
        None => row(key, Setting { value: Value::Null, from: Origin::Default }),
    }
}

fn map<'s, T, U>(setting: &'s Setting<T>, value: impl FnOnce(&'s T) -> U) -> Setting<U> {
    Setting { value: value(&setting.value), from: setting.from }
}

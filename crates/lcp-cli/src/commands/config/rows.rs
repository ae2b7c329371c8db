//! The rows of `config`: the settings in force, under their keys in `lcp.toml`.

use lcp_driver::{Excerpts, Objective, Overflow};
use serde_json::Value;

use super::Row;
use lcp_app::budget::{EffectiveBudget, Settings};
use lcp_app::config::{Config, Origin, Setting};
use lcp_app::prompt_cache::{PLAN, PREVIOUS};

/// Returns a row for every setting in force, and for every given setting that has no effect. The
/// safety factor and the reserves have rows only if the budget comes from a window, or if they
/// are given.
pub(super) fn rows(budget: &EffectiveBudget, config: &Config, encoding: Setting<&str>) -> Vec<Row> {
    let EffectiveBudget { model, settings, .. } = budget;
    let model = model.as_ref().map(|model| model.map(|model| model.name.as_str()));
    let mut rows = vec![optional("context.tokenizer.model", model)];
    rows.push(row("context.tokenizer.type", encoding));
    window(&mut rows, settings);
    rows.extend(settings.ineffective.iter().map(|idle| {
        let setting = Setting { value: idle.value.clone(), origin: idle.origin };
        Row { ineffective: Some(idle.reason.clone()), ..row(idle.key, setting) }
    }));
    division(&mut rows, settings);
    let special_tokens = config.budget.special_tokens.name();
    rows.push(of_file(config, "context.budget.special_tokens", special_tokens));
    if let Objective::Value(_) = settings.objective.value {
        rows.extend(config.values().map(|(key, value)| row(key, value)));
    }
    for (key, mark) in [
        ("context.stable.high_watermark", config.stable.high),
        ("context.stable.low_watermark", config.stable.low),
    ] {
        let idle = Some(format!("only with {PREVIOUS} or {PLAN}"));
        rows.push(Row { ineffective: idle, ..of_file(config, key, mark) });
    }
    duplicates(&mut rows, config);
    usage(&mut rows, settings, config);
    segments(&mut rows, config);
    rows
}

fn window(rows: &mut Vec<Row>, settings: &Settings) {
    let Some(budget) = &settings.budget else {
        rows.push(optional("budget", None::<Setting<u32>>));
        return;
    };
    let Some(window) = budget.value.window else {
        rows.push(row(budget.value.key, budget.map(|resolved| resolved.tokens)));
        return;
    };
    rows.push(row(budget.value.key, budget.map(|_| window.tokens)));
    if !budget.value.is_total {
        rows.push(row("context.budget.safety", settings.safety));
    }
    rows.push(row("context.budget.system_prompt_reserve", settings.system_prompt_reserve));
    rows.push(row("context.budget.response_reserve", settings.response_reserve));
}

fn division(rows: &mut Vec<Row>, settings: &Settings) {
    let shares = settings.shares.as_ref().map(|shares| shares.map(|named| named.name.as_str()));
    let excerpts = settings.excerpts.map(|excerpts| match excerpts {
        Excerpts::WithFill => Value::from("with fill"),
        Excerpts::On => Value::from(true),
        Excerpts::Off => Value::from(false),
    });
    let overflow = settings.overflow.map(|overflow| match overflow {
        Overflow::Allow => "allow",
        Overflow::Deny => "deny",
    });
    rows.push(optional("context.budget.shares", shares));
    rows.push(row("context.budget.fill", settings.fill));
    rows.push(row("context.budget.excerpts", excerpts));
    rows.push(row("context.budget.objective", settings.objective.map(|by| by.name())));
    rows.push(row("context.budget.overflow", overflow));
}

/// Adds the settings of deduplication.
fn duplicates(rows: &mut Vec<Row>, config: &Config) {
    let (enabled, options) = (config.dedup.enabled, &config.dedup.options);
    rows.push(of_file(config, "context.dedup.enabled", enabled));
    let idle = (!enabled).then(|| "only with --dedup".to_owned());
    let settings: [(_, Value); 6] = [
        ("context.dedup.level", options.level.name().into()),
        ("context.dedup.keep", options.survivor.name().into()),
        ("context.dedup.merge_overlapping", options.merge_overlapping.into()),
        ("context.dedup.merged_bytes", options.merged_bytes.into()),
        ("context.dedup.overlap_threshold", options.overlap_threshold.into()),
        ("context.dedup.near_threshold", options.near_threshold.into()),
    ];
    rows.extend(
        settings
            .map(|(key, value)| Row { ineffective: idle.clone(), ..of_file(config, key, value) }),
    );
}

/// Adds the settings of segments.
fn segments(rows: &mut Vec<Row>, config: &Config) {
    let segments = &config.segments;
    let settings: [(_, Value); 4] = [
        (
            "context.segments.recent_messages_full_budget",
            segments.recent_messages_full_budget.into(),
        ),
        ("context.segments.anchor_budget", segments.anchor_budget.into()),
        ("context.segments.compression_aggressiveness", segments.compression_aggressiveness.into()),
        ("context.segments.min_segments_at_brief", segments.min_segments_at_brief.into()),
    ];
    rows.extend(settings.map(|(key, value)| Row {
        ineffective: Some("only with --segments".to_owned()),
        ..of_file(config, key, value)
    }));
}

/// Adds the settings of usage. Only the threshold of warnings matters for a render.
fn usage(rows: &mut Vec<Row>, settings: &Settings, config: &Config) {
    let usage = &config.usage;
    let no_budget = settings.budget.is_none().then(|| "no budget is set".to_owned());
    let only_sessions = Some("only for sessions".to_owned());
    let settings: [(_, Value, _); 4] = [
        ("context.usage.warning", usage.thresholds.warning.into(), no_budget),
        ("context.usage.critical", usage.thresholds.critical.into(), only_sessions.clone()),
        ("context.usage.clear", usage.thresholds.clear.into(), only_sessions.clone()),
        ("context.usage.cooldown", usage.cooldown.into(), only_sessions),
    ];
    rows.extend(
        settings
            .map(|(key, value, ineffective)| Row { ineffective, ..of_file(config, key, value) }),
    );
}

/// Returns the row of a setting that has no flag.
fn of_file(config: &Config, key: &'static str, value: impl Into<Value>) -> Row {
    row(key, config.setting(key, value))
}

fn row<T: Into<Value>>(key: &'static str, setting: Setting<T>) -> Row {
    Row { key, value: setting.value.into(), from: setting.origin, ineffective: None }
}

fn optional<T: Into<Value>>(key: &'static str, setting: Option<Setting<T>>) -> Row {
    match setting {
        Some(setting) => row(key, setting),
        None => row(key, Setting { value: Value::Null, origin: Origin::Default }),
    }
}

//! Stable plans in reports.

use std::sync::Arc;

use expect_test::expect;
use lcp_driver::prompt_cache::{
    PreviousPlan, RepackReason, StableOptions, StableOutcome, TextReuse,
};
use lcp_driver::report::{TableOptions, to_json, to_table};
use lcp_driver::{DecisionReason, DefaultDriver, DriverConfig, Excerpts, Plan, RenderDecision};
use lcp_types::Block;
use serde_json::{Value, json};

use super::{by_value, empty_plan};
use crate::packs::{O200K, bare_file, file};

/// Returns the outcome of a turn that kept all of the previous text.
pub(super) fn appended() -> StableOutcome {
    let saved = concat!(
        r#"{"schema":"lcp.plan.v1","renderer":1,"encoding":"o200k_base","mode":"markdown","#,
        r#""parts":[],"unshown":[],"check":"7e088740ceb1de17f9bbc9dc1ab5cf73"}"#,
        "\n"
    );
    StableOutcome {
        reuse: TextReuse::Appended,
        repack_reason: None,
        high_tokens: 90_000,
        low_tokens: 70_000,
        prefix_bytes: 301_122,
        prefix_tokens: 72_900,
        previous_tokens: 72_000,
        kept_bytes: 297_300,
        kept_tokens: 72_000,
        order: Vec::new(),
        next_plan: PreviousPlan::from_json(saved).unwrap(),
    }
}

/// Returns the outcome of a turn that was repacked.
pub(super) fn repacked() -> StableOutcome {
    StableOutcome {
        reuse: TextReuse::Repacked,
        repack_reason: Some(RepackReason::HighWatermark),
        kept_bytes: 4_007,
        kept_tokens: 1_234,
        ..appended()
    }
}

fn plan(stable: StableOutcome) -> Plan {
    Plan { stable: Some(stable), ..empty_plan(100_000, 72_950) }
}

fn report(plan: &Plan) -> Value {
    serde_json::from_str(&to_json(plan)).unwrap()
}

fn table(plan: &Plan) -> String {
    to_table(plan, &TableOptions::default())
}

#[test]
fn json_report_has_stable_reuse_figures() {
    assert_eq!(
        report(&plan(repacked()))["stable"],
        json!({
            "turn": "repacked", "cause": "high_watermark",
            "high_tokens": 90_000, "low_tokens": 70_000,
            "prefix_bytes": 301_122, "prefix_tokens": 72_900,
            "previous_tokens": 72_000, "kept_bytes": 4_007, "kept_tokens": 1_234,
        })
    );
    let appended = report(&plan(appended()));
    assert_eq!(appended["stable"]["turn"], "appended");
    assert_eq!(appended["stable"].get("cause"), None);
    assert_eq!(report(&empty_plan(100, 0)).get("stable"), None);
    assert!(!table(&empty_plan(100, 0)).contains("Cache"));
}

#[test]
fn table_shows_cacheable_tokens() {
    let this = Plan { stable: Some(appended()), ..by_value(995, 1_000) };
    expect![[r"
        Token Budget Report
        ────────────────────
        Total Budget: 90,000

        Total Used: 51,700 / 90,000 (57%)
        Objective: value 995 of at most 1,000 (gap 0.50%)

        Cache:
          Kept: all 72,000 tokens of the previous text
          Prefix: 72,900 tokens (301,122 bytes), cacheable
    "]]
    .assert_eq(&table(&this));
}

#[test]
fn table_shows_repack_reasons() {
    let fresh = StableOutcome {
        reuse: TextReuse::Fresh,
        previous_tokens: 0,
        kept_bytes: 0,
        kept_tokens: 0,
        ..appended()
    };
    let mut turns = vec![fresh];
    for (turn, cause) in [
        (TextReuse::Repacked, RepackReason::HighWatermark),
        (TextReuse::Repacked, RepackReason::BecameCritical),
        (TextReuse::Repacked, RepackReason::NewestUserTurn),
        (TextReuse::Repacked, RepackReason::SplitToolCall),
        (TextReuse::Appended, RepackReason::CriticalAboveLow),
        (TextReuse::Appended, RepackReason::TurnAboveGap),
    ] {
        turns.push(StableOutcome { reuse: turn, repack_reason: Some(cause), ..repacked() });
    }
    let said: String = turns
        .into_iter()
        .map(|turn| {
            let table = table(&plan(turn));
            assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
            table[table.find("Cache:").unwrap()..].to_owned()
        })
        .collect();
    expect![[r"
        Cache:
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Fresh: no previous text to keep
        Cache:
          Kept: 1,234 of 72,000 tokens of the previous text (2%)
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Repacked: the text would have exceeded the high watermark of 90,000 tokens
        Cache:
          Kept: 1,234 of 72,000 tokens of the previous text (2%)
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Repacked: a block that was not shown in full became critical or pinned
        Cache:
          Kept: 1,234 of 72,000 tokens of the previous text (2%)
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Repacked: the newest user turn was not shown in full, and more of it is shown now
        Cache:
          Kept: 1,234 of 72,000 tokens of the previous text (2%)
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Repacked: a tool call would have been separated from its result
        Cache:
          Kept: 1,234 of 72,000 tokens of the previous text (2%)
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Appended: critical and pinned blocks and the newest user turn reach the low watermark of 70,000
        Cache:
          Kept: 1,234 of 72,000 tokens of the previous text (2%)
          Prefix: 72,900 tokens (301,122 bytes), cacheable
          Appended: the turn is larger than the 20,000 tokens between the watermarks
    "]]
    .assert_eq(&said);
}

/// Returns the plan of three files, the first of which is shown as its summary or less.
fn small() -> Plan {
    let blocks = [bare_file("src/a.rs", 90), bare_file("src/b.rs", 60), bare_file("src/c.rs", 9)];
    let config =
        DriverConfig { token_budget: Some(500), excerpts: Excerpts::On, ..DriverConfig::default() };
    DefaultDriver::new(O200K).plan(&blocks, &config).unwrap()
}

#[test]
fn unchanged_and_deferred_blocks_are_not_cuts() {
    let mut plan = small();
    let cuts = |plan: &Plan| report(plan)["cuts"].as_array().unwrap().len();
    assert!(cuts(&plan) > 1 && plan.suggestion().is_some());
    for item in &mut plan.items {
        match item.decision {
            RenderDecision::Full => {}
            RenderDecision::Excerpt(_) => item.reason = DecisionReason::Unchanged,
            _ => item.reason = DecisionReason::Deferred,
        }
    }
    assert_eq!(cuts(&plan), 0);
    assert!(!table(&plan).contains("Largest Cuts"));
    let by_reason = &report(&plan)["by_reason"];
    assert_eq!(
        (&by_reason["kept"]["blocks"], &by_reason["waits"]["blocks"]),
        (&1.into(), &1.into())
    );
}

/// In real turns, the second one keeps all of the first one's text.
#[test]
fn report_of_second_turn_shows_full_reuse() {
    let turn = |blocks: &[Block<'_>], previous: Option<PreviousPlan>| {
        let stable = StableOptions { previous: previous.map(Arc::new), ..StableOptions::default() };
        let config = DriverConfig {
            token_budget: Some(600),
            stable: Some(stable),
            ..DriverConfig::default()
        };
        DefaultDriver::new(O200K).plan(blocks, &config).unwrap()
    };
    let mut blocks = vec![bare_file("src/a.rs", 4), bare_file("src/b.rs", 60), file("src/c.rs", 9)];
    let first = turn(&blocks, None);
    let before = report(&first)["stable"].clone();
    assert_eq!((&before["turn"], &before["kept_tokens"]), (&"fresh".into(), &0.into()));
    let written = first.stable.unwrap().next_plan.to_json();
    blocks.push(file("src/d.rs", 2));
    let second = turn(&blocks, Some(PreviousPlan::from_json(&written).unwrap()));
    let now = report(&second);
    assert_eq!((&now["stable"]["turn"], now["stable"].get("cause")), (&"appended".into(), None));
    for kept in ["kept_tokens", "previous_tokens"] {
        assert_eq!(now["stable"][kept], before["prefix_tokens"], "{kept}");
    }
    assert_eq!(now["stable"]["kept_bytes"], before["prefix_bytes"]);
    assert_eq!(now["blocks"][0]["reason"], "kept");
    assert!(now["cuts"].as_array().unwrap().is_empty(), "{now}");
    // A larger budget would show more, but not while the text is only appended to.
    assert!(turn(&blocks, None).suggestion().is_some());
    assert!(now.get("wanted_budget").is_none() && now.get("suggestion").is_none(), "{now}");
}

//! Properties of every report: each block occurs once with a reason, and the sums add up.

use std::cmp::Reverse;

use lcp_driver::report::{TableOptions, to_html, to_json, to_table};
use lcp_driver::{DefaultDriver, DriverConfig, Verbosity};
use proptest::prelude::*;
use serde_json::Value;

use crate::packs::{O200K, any_config, any_pack};

fn sum<'v>(rows: impl IntoIterator<Item = &'v Value>) -> u64 {
    rows.into_iter().map(|row| row["tokens"].as_u64().unwrap()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn report_explains_every_block_and_tokens_add_up(
        blocks in any_pack(),
        config in any_config(),
        verbosity in prop::sample::select(&Verbosity::ALL[..]),
        budget in prop::option::of(0u32..2_000),
    ) {
        let config = DriverConfig { token_budget: budget, verbosity, ..config };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        let report: Value = serde_json::from_str(&to_json(&plan)).unwrap();
        let rows = report["blocks"].as_array().unwrap();
        prop_assert_eq!(rows.len(), blocks.len());
        for (i, row) in rows.iter().enumerate() {
            prop_assert_eq!(&row["index"], i);
            prop_assert!(!row["reason"].as_str().unwrap().is_empty());
            prop_assert!(!row["decision"].as_str().unwrap().is_empty());
        }
        let used = report["used_tokens"].as_u64().unwrap();
        let overhead = report["overhead_tokens"].as_u64().unwrap();
        prop_assert_eq!(sum(rows) + overhead, used);
        let by = |key: &str| sum(report[key].as_object().unwrap().values());
        prop_assert_eq!(by("by_decision") + overhead, used);
        prop_assert_eq!(by("by_priority") + overhead, used);
        prop_assert_eq!(by("by_category") + overhead, used);
        prop_assert_eq!(by("by_reason") + overhead, used);
        prop_assert_eq!(by("by_level"), used);
        if config.shares.is_some() && budget.is_some() && verbosity == Verbosity::Adaptive {
            prop_assert_eq!(by("by_share") + overhead, used);
        }
        let cuts = report["cuts"].as_array().unwrap();
        let cut = |row: &Value| {
            let tokens = row["full_tokens"].as_u64().unwrap().saturating_sub(row["tokens"].as_u64().unwrap());
            let lacks = ["over_budget", "share_cap", "background"].map(Value::from).contains(&row["reason"]);
            let excerpt = row["decision"] == "excerpt" && row["reason"] != "kept";
            (excerpt || lacks && tokens > 0).then_some(tokens)
        };
        prop_assert_eq!(cuts.len(), rows.iter().filter_map(cut).count());
        for row in cuts {
            let index = usize::try_from(row["index"].as_u64().unwrap()).unwrap();
            prop_assert_eq!(row["tokens_cut"].as_u64(), cut(&rows[index]));
        }
        let order = |row: &Value| (Reverse(row["tokens_cut"].as_u64()), row["index"].as_u64());
        prop_assert!(cuts.is_sorted_by_key(order));
    }

    /// Labels, names and messages of a pack reach a terminal or a browser only as text, and the
    /// same plan gives the same bytes.
    #[test]
    fn pack_text_is_escaped_in_table_and_page(blocks in any_pack(), config in any_config(), budget in 0u32..600) {
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        let table = to_table(&plan, &TableOptions::default());
        prop_assert!(!table.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{}", table);
        let page = to_html(&plan, &[]);
        let (_, data) = page.split_once("id=\"data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        prop_assert!(!data.contains('<'));
        prop_assert!(!data.contains(char::is_control));
        prop_assert!(serde_json::from_str::<Value>(data).is_ok());
        prop_assert_eq!(page, to_html(&plan.clone(), &[]));
    }
}

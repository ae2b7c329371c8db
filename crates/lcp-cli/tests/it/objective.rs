//! `--objective` and `[context.values]` (`docs/cli.md`).

use serde_json::Value;

use crate::command::{LCP, Project, encode, printed, run, sample, stderr};
use crate::config::SHOW;

/// Every row of `[context.values]`: key, value, who said it, why it is idle.
fn values(project: &Project, flags: &[&str]) -> Vec<String> {
    let shown = project.json(&[&SHOW[..], flags].concat());
    let rows = shown["settings"].as_array().unwrap().iter();
    let of_values = rows.filter(|row| row["key"].as_str().unwrap().starts_with("context.values."));
    of_values
        .map(|row| format!("{} {} {} {}", row["key"], row["value"], row["from"], row["note"]))
        .map(|row| row.replace('"', "").replace("context.values.", ""))
        .collect()
}

fn objective(project: &Project, flags: &[&str]) -> Value {
    let shown = project.json(&[&SHOW[..], flags].concat());
    let rows = shown["settings"].as_array().unwrap().iter();
    let row = rows.clone().find(|row| row["key"] == "context.budget.objective").unwrap();
    row["value"].clone()
}

#[test]
fn objective_flag_overrides_the_config_file() {
    let project = LCP.project("");
    assert_eq!(objective(&project, &[]), "strict");
    assert_eq!(objective(&project, &["--objective", "value"]), "value");
    project.write("context.budget.objective = \"value\"\n");
    assert_eq!(objective(&project, &[]), "value");
    assert_eq!(objective(&project, &["--objective", "strict"]), "strict");
}

/// The table is in force with the objective; else what is given of it is listed
/// with the reason.
#[test]
fn value_table_is_shown_if_the_objective_uses_it() {
    let project = LCP.project("");
    assert_eq!(values(&project, &[]), [""; 0]);
    let defaults = [
        "high 64", "normal 16", "low 4", "background 1", "full 1000", "detailed 800",
        "summary 500", "tags 200", "placeholder 50", "highest_rank 2000",
    ];
    let by_value = ["--objective", "value"];
    assert_eq!(values(&project, &by_value), defaults.map(|row| format!("{row} default null")));
    project.write("[context.values]\nhighest_rank = 10000\nhigh = 0\n");
    let given = values(&project, &by_value);
    assert_eq!(given[0], "high 0 lcp.toml:3 null");
    assert_eq!(given[1], "normal 16 default null");
    assert_eq!(given[9], "highest_rank 10000 lcp.toml:2 null");
    assert_eq!(
        values(&project, &[]),
        [
            "high 0 lcp.toml:3 the objective is strict",
            "highest_rank 10000 lcp.toml:2 the objective is strict"
        ]
    );
    let said = stderr(&project.run(&SHOW));
    assert_eq!(said, "", "the file is for every run");
}

#[test]
fn invalid_objective_values_are_rejected() {
    let project = LCP.project("");
    for (toml, says) in [
        (
            "context.budget.objective = \"best\"",
            "context.budget.objective must be strict or value, got \"best\", at line 1",
        ),
        (
            "[context.values]\nhigh = 1000001",
            "context.values.high must be an integer from 0 to 1000000, got 1000001, at line 2, \
             column 8",
        ),
        ("context.values.background = -1", "must be an integer from 0 to 1000000, got -1"),
        (
            "context.values.low = 0.5",
            "context.values.low must be an integer from 0 to 1000000, got 0.5",
        ),
        ("context.values.summary = 1001", "must be an integer from 0 to 1000, got 1001"),
        ("context.values.highest_rank = 999", "must be an integer from 1000 to 10000,"),
        ("context.values.highest_rank = 10001", "must be an integer from 1000 to 10000,"),
        ("context.values.sumary = 1", "similar: context.values.summary, at line 1, column 16"),
        ("context.values = 1", "context.values must be a table, got 1"),
    ] {
        project.write(toml);
        project.assert_usage_error(&SHOW, says);
    }
}

/// Many small Normal blocks are worth more for their tokens than a large High one,
/// which tiers take first; unless the file says that it is worth more.
#[test]
fn value_objective_prefers_many_small_blocks() {
    let project = LCP.project("");
    let long = "The quick brown fox jumps over the lazy dog.\\n".repeat(40);
    let mut blocks = vec![format!(
        r#"{{"type":"document","title":"long","content":"{long}","priority":"high"}}"#
    )];
    let short = "A few words that somebody may want to read. ".repeat(4);
    blocks.extend(
        (0..20).map(|number| {
            format!(r#"{{"type":"document","title":"n{number}","content":"{short}"}}"#)
        }),
    );
    encode(&format!(r#"{{"blocks":[{}]}}"#, blocks.join(",")), &project.path("a.lcp"));
    let report = |flags: &[&str]| {
        let report = ["report", "a.lcp", "--budget", "700", "--mode", "minimal", "--json"];
        project.json(&[&report[..], flags].concat())
    };
    let full = |report: &Value| {
        let blocks = report["blocks"].as_array().unwrap().iter();
        blocks.filter(|block| block["decision"] == "full").count()
    };
    let (strict, by_value) = (report(&[]), report(&["--objective", "value"]));
    assert_eq!((&strict["objective"], &by_value["objective"]), (&"strict".into(), &"value".into()));
    assert_eq!(strict["blocks"][0]["decision"], "full");
    assert_ne!(by_value["blocks"][0]["decision"], "full");
    assert!(full(&by_value) > full(&strict) + 5, "{} {}", full(&by_value), full(&strict));
    assert!(strict["value"].is_null());
    let certificate = &by_value["value"];
    let value = certificate["value"].as_u64().unwrap();
    assert!(value <= certificate["bound"].as_u64().unwrap());
    project.write("[context.budget]\nobjective = \"value\"\n[context.values]\nhigh = 1000000\n");
    let heavy = report(&[]);
    assert_eq!(heavy["blocks"][0]["decision"], "full");
    assert!(heavy["value"]["value"].as_u64().unwrap() > value);
}

/// Pinned blocks and the blocks of a call, in the sample that is for them.
#[test]
fn tool_call_and_result_are_shown_together() {
    let pairs = sample("pairs.lcp");
    for budget in (150..=400).step_by(25) {
        let budget = budget.to_string();
        for objective in ["strict", "value"] {
            let arguments = ["report", &pairs, "--json", "--budget", &budget, "--objective"];
            let output = run(&[&arguments[..], &[objective]].concat());
            let report: Value = serde_json::from_str(&printed(&output)).unwrap();
            let decision = |block: usize| report["blocks"][block]["decision"].as_str().unwrap();
            let is_shown = |block| !["rolled_up", "omit"].contains(&decision(block));
            let indices = report["blocks"].as_array().unwrap();
            let of = |kind: &str, nth: usize| {
                let found = indices.iter().filter(|block| block["type"] == kind).nth(nth).unwrap();
                usize::try_from(found["index"].as_u64().unwrap()).unwrap()
            };
            assert_eq!(report["blocks"][of("conversation", 0)]["reason"], "pinned");
            assert_eq!(decision(of("conversation", 0)), "full");
            assert_eq!(is_shown(of("conversation", 2)), is_shown(of("tool-result", 0)), "{budget}");
            assert_eq!(is_shown(of("conversation", 4)), is_shown(of("tool-result", 1)), "{budget}");
        }
    }
}

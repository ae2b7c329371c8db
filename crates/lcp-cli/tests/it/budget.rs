//! Budgets from end to end: `config`, `report`, and the flags of `render`
//! that belong to them (`docs/cli.md`).

use std::process::Command;

use expect_test::expect;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde_json::Value;

use crate::command::{LCP, Project, encode, printed, run, sample, stderr};
use crate::config::EXAMPLE;

fn report(arguments: &[&str]) -> Value {
    let session = sample("session.lcp");
    let output = run(&[&["report", &session, "--json"], arguments].concat());
    serde_json::from_str(&printed(&output)).unwrap()
}

fn render(arguments: &[&str]) -> String {
    let session = sample("session.lcp");
    printed(&run(&[&["render", &session], arguments].concat()))
}

fn count(text: &str) -> u64 {
    Tiktoken::new(Encoding::O200kBase).estimate(text).into()
}

/// The breakdown of the requirements, with its numbers (T16-EX-01).
#[test]
fn config_prints_the_budget_breakdown() {
    let shown = LCP.project(EXAMPLE).stdout_of(&["config"]);
    expect![[r#"
        Total Context Window: 100,000 tokens
        ├── System Prompt Reserve: 2,000 tokens
        ├── Response Reserve: 8,000 tokens
        └── Available for Context: 90,000 tokens
            ├── Tool Results (40%): 36,000 tokens
            ├── Open Files (30%): 27,000 tokens
            ├── Search Results (20%): 18,000 tokens
            └── References (10%): 9,000 tokens

        context.tokenizer.model                       gpt-4        lcp.toml:19
        context.tokenizer.type                        cl100k_base  lcp.toml:18
        context.budget.total_tokens                   100,000      lcp.toml:2
        context.budget.system_prompt_reserve          2,000        lcp.toml:3
        context.budget.response_reserve               8,000        lcp.toml:4
        context.budget.shares                         categories   lcp.toml:6
        context.budget.fill                           false        default
        context.budget.excerpts                       true         default
        context.budget.objective                      strict       default
        context.budget.overflow                       allow        default
        context.budget.special_tokens                 warn         default
        context.stable.high_watermark                 0.9          default  (only with --previous or --plan)
        context.stable.low_watermark                  0.7          default  (only with --previous or --plan)
        context.dedup.enabled                         true         lcp.toml:13
        context.dedup.level                           overlap      default
        context.dedup.keep                            best         default
        context.dedup.merge_overlapping               true         lcp.toml:15
        context.dedup.merged_bytes                    16,384       default
        context.dedup.overlap_threshold               0.8          lcp.toml:14
        context.dedup.near_threshold                  0.8          default
        context.usage.warning                         0.8          default
        context.usage.critical                        0.9          default  (only for sessions)
        context.usage.clear                           0.7          default  (only for sessions)
        context.usage.cooldown                        0            default  (only for sessions)
        context.segments.recent_messages_full_budget  2,000        default  (only with --segments)
        context.segments.anchor_budget                1,000        default  (only with --segments)
        context.segments.compression_aggressiveness   0.5          default  (only with --segments)
        context.segments.min_segments_at_brief        3            default  (only with --segments)
    "#]]
    .assert_eq(&shown);
}

/// A window, a cap, a fixed number of tokens, and what is nobody's.
#[test]
fn config_prints_shares_caps_and_safety_margin() {
    let project = LCP.project(
        "[context.budget.categories]\ntool_results = { percent = 33.3, cap = 1000 }\n\
         open_files = { tokens = 2000 }\n\"my notes\" = 5\n",
    );
    let shown = project.stdout_of(&["config", "--model", "gpt-4", "--response-reserve", "53"]);
    expect![[r#"
        Total Context Window: 8,192 tokens
        ├── Safety Margin (20%): 1,639 tokens
        ├── System Prompt Reserve: 0 tokens
        ├── Response Reserve: 53 tokens
        └── Available for Context: 6,500 tokens
            ├── Tool Results (33.3%, cap 1,000): 1,000 tokens
            ├── Open Files (fixed): 2,000 tokens
            ├── "my notes" (5%): 325 tokens
            └── Unassigned: 3,175 tokens

        context.tokenizer.model                       gpt-4        --model
        context.tokenizer.type                        cl100k_base  --model
        model.window                                  8,192        --model
        context.budget.safety                         0.8          default
        context.budget.system_prompt_reserve          0            default
        context.budget.response_reserve               53           --response-reserve
        context.budget.shares                         categories   lcp.toml:1
        context.budget.fill                           false        default
        context.budget.excerpts                       true         default
        context.budget.objective                      strict       default
        context.budget.overflow                       allow        default
        context.budget.special_tokens                 warn         default
        context.stable.high_watermark                 0.9          default  (only with --previous or --plan)
        context.stable.low_watermark                  0.7          default  (only with --previous or --plan)
        context.dedup.enabled                         false        default
        context.dedup.level                           overlap      default  (only with --dedup)
        context.dedup.keep                            best         default  (only with --dedup)
        context.dedup.merge_overlapping               true         default  (only with --dedup)
        context.dedup.merged_bytes                    16,384       default  (only with --dedup)
        context.dedup.overlap_threshold               0.8          default  (only with --dedup)
        context.dedup.near_threshold                  0.8          default  (only with --dedup)
        context.usage.warning                         0.8          default
        context.usage.critical                        0.9          default  (only for sessions)
        context.usage.clear                           0.7          default  (only for sessions)
        context.usage.cooldown                        0            default  (only for sessions)
        context.segments.recent_messages_full_budget  2,000        default  (only with --segments)
        context.segments.anchor_budget                1,000        default  (only with --segments)
        context.segments.compression_aggressiveness   0.5          default  (only with --segments)
        context.segments.min_segments_at_brief        3            default  (only with --segments)
    "#]]
    .assert_eq(&shown);
    let shown = project.stdout_of(&["config", "--budget", "4000"]);
    let tree: String = shown.split_inclusive('\n').take(5).collect();
    expect![[r#"
        Budget: 4,000 tokens
        ├── Tool Results (33.3%, cap 1,000): 1,000 tokens
        ├── Open Files (fixed): 2,000 tokens
        ├── "my notes" (5%): 200 tokens
        └── Unassigned: 800 tokens
    "#]]
    .assert_eq(&tree);
    let shown = project.stdout_of(&["config"]);
    let tree: String = shown.split_inclusive('\n').take(4).collect();
    expect![[r#"
        No budget: everything is shown in full
        ├── Tool Results (33.3%, cap 1,000)
        ├── Open Files (fixed)
        └── "my notes" (5%)
    "#]]
    .assert_eq(&tree);
}

/// The sections are rounded down, as in the comparison of models (CBS-EX-06).
#[test]
fn conversation_shares_match_the_documented_models() {
    let rows = [
        ("gpt-3.5-turbo", 4_096, 327, 1_146),
        ("gpt-4", 8_192, 655, 2_293),
        ("gpt-4-32k", 32_768, 2_621, 9_174),
        ("claude-3-opus", 200_000, 16_000, 56_000),
    ];
    for (model, window, memory, recent) in rows {
        let window = window.to_string();
        let flags = ["--model", model, "--window", &window, "--shares", "conversation", "--json"];
        for command in [&["config"][..], &["budget", "show"]] {
            let shown = LCP.project("").json(&[command, &flags].concat());
            let tokens = |at: usize| shown["shares"][at]["tokens"].clone();
            assert_eq!((tokens(2), tokens(6)), (memory.into(), recent.into()), "{model}");
        }
    }
    let flags = ["budget", "show", "--model", "gpt-4-32k", "--shares", "conversation"];
    let tree = LCP.project("").stdout_of(&flags);
    assert!(tree.contains("── Recent Messages (35%): 9,174 tokens\n"), "{tree}");
    assert!(tree.contains("── Unassigned: 4 tokens\n"), "{tree}");
}

#[test]
fn shares_above_100_percent_show_the_percentage_in_effect() {
    let project = LCP.project(
        "[context.budget.categories]\ntool_results = 80\nopen_files = 60\nsearch_results = 40\n\
         references = { percent = 20, cap = 500 }\n",
    );
    let tree = |lines: usize, flags: &[&str]| -> String {
        let shown = project.stdout_of(&[&["config"], flags].concat());
        shown.split_inclusive('\n').take(lines).collect()
    };
    expect![[r#"
        Budget: 10,000 tokens
        ├── Tool Results (40%, configured 80%): 4,000 tokens
        ├── Open Files (30%, configured 60%): 3,000 tokens
        ├── Search Results (20%, configured 40%): 2,000 tokens
        ├── References (10%, configured 20%, cap 500): 500 tokens
        └── Unassigned: 500 tokens
    "#]]
    .assert_eq(&tree(6, &["--budget", "10000"]));
    expect![[r#"
        No budget: everything is shown in full
        ├── Tool Results (40%, configured 80%)
        ├── Open Files (30%, configured 60%)
        ├── Search Results (20%, configured 40%)
        └── References (10%, configured 20%, cap 500)
    "#]]
    .assert_eq(&tree(5, &[]));
    let shown = project.json(&["config", "--budget", "10000", "--json"]);
    let percents = |key: &str| -> Vec<f64> {
        let shares = shown["shares"].as_array().unwrap().iter();
        shares.map(|share| share[key].as_f64().unwrap()).collect()
    };
    assert_eq!(percents("percent"), [40.0, 30.0, 20.0, 10.0]);
    assert_eq!(percents("configured_percent"), [80.0, 60.0, 40.0, 20.0]);

    // Fixed sizes come first. If they alone exceed the budget, they are scaled down.
    project
        .write("[context.budget.categories]\ntool_results = 80\nopen_files = { tokens = 6000 }\n");
    expect![[r#"
        Budget: 10,000 tokens
        ├── Tool Results (40%, configured 80%): 4,000 tokens
        └── Open Files (fixed): 6,000 tokens
    "#]]
    .assert_eq(&tree(3, &["--budget", "10000"]));
    expect![[r#"
        Budget: 5,000 tokens
        ├── Tool Results (0%, configured 80%): 0 tokens
        └── Open Files (fixed, configured 6,000): 5,000 tokens
    "#]]
    .assert_eq(&tree(3, &["--budget", "5000"]));
}

#[test]
fn reserve_larger_than_the_window_is_a_usage_error() {
    let session = sample("session.lcp");
    let arguments = ["--model", "gpt-4", "--response-reserve", "8000"];
    for command in [&["render", &session][..], &["report", &session], &["config"]] {
        let output = run(&[command, &arguments].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(
                "no budget left: window 8192 × safety 0.8 = 6553 tokens, minus 0 (system prompt) and \
                 8000 (response)"
            ),
            "{said}"
        );
        assert!(
            said.contains("hint: lower --response-reserve or pass a larger --window"),
            "{said}"
        );
    }
}

/// What to change is named: the largest reserve, or the window.
#[test]
fn empty_budget_error_names_the_setting_to_change() {
    let project = LCP.project(
        "[context.budget]\ntotal_tokens = 50\nsystem_prompt_reserve = 40\nresponse_reserve = 10\n",
    );
    let says = |flags: &[&str], says: &str| {
        let output = project.run(&[&["config"], flags].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    let key = "hint: lower context.budget.system_prompt_reserve (lcp.toml, line 3) or pass";
    says(&[], key);
    says(&["--window", "0"], "error: --window must be greater than 0\n");
    project.write("context.budget.total_tokens = 0\n");
    says(
        &[],
        "context.budget.total_tokens must be greater than 0 (lcp.toml, line 1)\nhint: pass a larger",
    );
}

#[test]
fn should_show_budget_report_via_cli() {
    let session = sample("session.lcp");
    let window = ["--window", "12500", "--response-reserve", "2000", "--shares", "agent"];
    let output = run(&[&["report", &session], &window[..]].concat());
    let table = printed(&output);
    let report = report(&window);
    assert_eq!(report["budget"], 8_000);
    let used = report["used_tokens"].as_u64().unwrap();
    for line in [
        "Token Budget Report\n".to_owned(),
        "Total Budget: 12,500\nAvailable: 8,000\n".to_owned(),
        format!("Total Used: {},{:03} / 8,000", used / 1_000, used % 1_000),
    ] {
        assert!(table.contains(&line), "{line}\n{table}");
    }
    // The same plan as that of a render, and nothing but the table.
    assert_eq!(used, count(&render(&window)));
    assert!(!table.contains('\x1b'));
    let coloured = run(&["--color", "always", "report", &session, "--budget", "8000"]);
    assert!(printed(&coloured).contains('\x1b'));
    assert!(!run(&["report", &session, "-o", "x"]).status.success(), "it writes no text");
}

#[test]
fn should_budget_for_agent_context() {
    for (preset, names) in [
        ("agent", &["tool_results", "open_files", "search_results", "references", ""][..]),
        (
            "conversation",
            &[
                "system_prompt", "goal", "memory", "working_state", "conversation_summary",
                "retrieved_context", "recent_messages", "scaffolding_reminder",
            ],
        ),
    ] {
        for budget in [3_000, 8_000, 30_000] {
            let flags = ["--shares", preset, "--fill", "--budget", &budget.to_string()];
            let report = report(&flags);
            let used = report["used_tokens"].as_u64().unwrap();
            assert!(used <= budget && used > budget * 97 / 100, "{preset}: {used} of {budget}");
            let shares = report["shares"].as_array().unwrap();
            let found: Vec<_> =
                shares.iter().map(|share| share["name"].as_str().unwrap()).collect();
            assert_eq!(found, names);
            let own: u64 = shares.iter().map(|share| share["tokens"].as_u64().unwrap()).sum();
            assert!(own <= budget && own > budget * 99 / 100 - 50, "{preset}: {own} of {budget}");
            let blocks = report["blocks"].as_array().unwrap();
            assert!(blocks.iter().all(|block| block["reason"].is_string()));
        }
    }
}

/// A real session, in every mode: shares, cuts and the count of the text agree.
#[test]
fn should_manage_real_context() {
    for mode in ["xml", "markdown", "minimal"] {
        let flags = ["--shares", "agent", "--excerpts", "on", "--budget", "6000", "--mode", mode];
        let (report, text) = (report(&flags), render(&flags));
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        assert_eq!(number(&report["used_tokens"]), count(&text), "{mode}");
        let shares = report["shares"].as_array().unwrap().iter();
        let of_shares: u64 = shares.map(|share| number(&share["used"])).sum();
        let overhead = number(&report["overhead_tokens"]);
        assert_eq!(of_shares + overhead, number(&report["used_tokens"]), "{mode}");
        let excerpts = number(&report["by_decision"]["excerpt"]["blocks"]);
        let marked = text.matches("tokens omitted …").count() as u64;
        assert!(excerpts > 0 && excerpts == marked, "{mode}: {excerpts}, {marked}");
    }
}

/// User verification, scenario 1: too much content is trimmed to the budget.
#[test]
fn rendered_text_fits_the_budget() {
    let whole = count(&render(&[]));
    for budget in [200_u64, 1_000, 5_000] {
        let text = render(&["--budget", &budget.to_string()]);
        assert!(count(&text) <= budget && budget < whole, "{budget}");
    }
}

/// User verification, scenario 3: limits of categories are respected.
#[test]
fn category_caps_are_respected() {
    let project = LCP.project(
        "context.budget.total_tokens = 8000\n[context.budget.categories]\n\
         open_files = { percent = 50, cap = 1500 }\nreferences = { tokens = 3000, cap = 2500 }\n\
         conversation = 20\ntool_results = 10\n",
    );
    let session = sample("session.lcp");
    let report = project.json(&["report", &session, "--fill", "--json"]);
    let by_category = |name: &str| {
        let tokens = &report["by_category"][name]["tokens"];
        tokens.as_u64().unwrap_or_default()
    };
    assert!((1..=1_500).contains(&by_category("open_files")), "{}", report["by_category"]);
    assert!((1..=2_500).contains(&by_category("references")), "{}", report["by_category"]);
    for share in report["shares"].as_array().unwrap() {
        let (used, cap) = (share["used"].as_u64().unwrap(), share["cap"].as_u64());
        assert!(cap.is_none_or(|cap| used <= cap), "{share}");
    }
}

/// User verification, scenario 4: the figures are those of the text.
#[test]
fn report_totals_add_up_to_the_tokens_of_the_text() {
    for flags in [&["--budget", "2000"][..], &["--budget", "9000", "--fill", "--shares", "agent"]] {
        let report = report(flags);
        let used = report["used_tokens"].as_u64().unwrap();
        assert_eq!(used, count(&render(flags)));
        let sum = |rows: &Value| -> u64 {
            let rows = rows.as_object().unwrap().values();
            rows.map(|row| row["tokens"].as_u64().unwrap()).sum()
        };
        let overhead = report["overhead_tokens"].as_u64().unwrap();
        assert_eq!(sum(&report["by_decision"]) + overhead, used);
        assert_eq!(sum(&report["by_priority"]) + overhead, used);
        assert_eq!(sum(&report["by_category"]) + overhead, used);
    }
}

#[test]
fn excerpts_are_shown_unless_they_are_off() {
    let decisions = |flags: &[&str]| report(flags)["by_decision"].clone();
    let budget = ["--budget", "6000"];
    let with = |more: &[&str]| decisions(&[&budget[..], more].concat());
    assert!(with(&[])["excerpt"].is_object());
    assert!(with(&["--excerpts", "on"])["excerpt"].is_object());
    assert!(with(&["--excerpts", "off"])["excerpt"].is_null());
    assert!(with(&["--fill", "--excerpts", "off"])["excerpt"].is_null());
}

#[test]
fn html_report_is_deterministic() {
    let project = LCP.project("");
    let session = sample("session.lcp");
    let arguments = ["render", &session, "--budget", "3000", "--html", "page.html"];
    let text = project.stdout_of(&arguments);
    assert_eq!(text, render(&["--budget", "3000"]), "the text is the same");
    let page = std::fs::read(project.path("page.html")).unwrap();
    assert!(page.starts_with(b"<!doctype html>"));
    project.stdout_of(&arguments);
    assert_eq!(std::fs::read(project.path("page.html")).unwrap(), page);
    let output = project.run(&["render", &session, "--html", "-"]);
    assert_eq!(output.status.code(), Some(2));
    // Small budgets of the slider do not fail where the text does not.
    project.stdout_of(&["render", &session, "--strict", "--window", "9000", "--html", "page.html"]);
}

#[test]
fn debug_budget_variable_prints_one_budget_line() {
    let session = sample("session.lcp");
    let said_by = |name: &str, value: Option<&str>, flags: &[&str]| {
        let mut command = Command::new(LCP.0);
        command.args(["-q", "render", &session, "--no-config"]).args(flags);
        command.env_remove("DEBUG_BUDGET").env_remove("LCP_DEBUG_BUDGET");
        command.envs(value.map(|value| (name, value)));
        stderr(&command.output().unwrap())
    };
    let said = |value: Option<&str>, flags: &[&str]| said_by("DEBUG_BUDGET", value, flags);
    let budget = ["--budget", "3000"];
    let used = report(&budget)["used_tokens"].as_u64().unwrap();
    let line = format!("[Budget] Used {used} / 3000 tokens ({}%)\n", used * 100 / 3_000);
    assert_eq!(said(Some("1"), &budget), line);
    assert_eq!(said_by("LCP_DEBUG_BUDGET", Some("1"), &budget), line);
    assert_eq!(said(Some("0"), &budget), "");
    assert_eq!(said(None, &budget), "");
    assert_eq!(said(Some("1"), &[]), "", "there is no budget to speak of");

    // With shares, a second line has the use of each section.
    let shares = ["--budget", "3000", "--shares", "conversation"];
    let rows = report(&shares)["shares"].as_array().unwrap().clone();
    let section = |row: &Value| {
        let name = row["name"].as_str().filter(|name| !name.is_empty()).unwrap_or("other");
        format!("{name} {} / {}", row["used"], row["tokens"])
    };
    let sections: Vec<_> = rows.iter().map(section).collect();
    let shown = said(Some("1"), &shares);
    let line = format!("[Budget] Section usage: {}\n", sections.join(", "));
    assert!(shown.ends_with(&line) && shown.lines().count() == 2, "{shown}\n{line}");
    assert!(line.contains("recent_messages") && line.contains("memory 0 / 300"), "{line}");
}

/// Lines about the use of the budget can be limited to debugging: `-q` prints no warning, and the
/// variable turns on the lines about the budget alone.
#[test]
fn quiet_render_prints_budget_lines_only_for_debugging() {
    let session = sample("session.lcp");
    let said = |flags: &[&str], debug: bool| {
        let mut command = Command::new(LCP.0);
        command.args(["render", &session, "--no-config", "--encoding", "heuristic"]).args(flags);
        command.env_remove("DEBUG_BUDGET").env_remove("LCP_DEBUG_BUDGET");
        command.envs(debug.then_some(("LCP_DEBUG_BUDGET", "1")));
        stderr(&command.output().unwrap())
    };
    let budget = ["--budget", "3000"];
    let quiet = ["--budget", "3000", "-q"];
    assert!(said(&budget, false).contains("[estimated_counts]"));
    assert_eq!(said(&quiet, false), "");
    let line = said(&quiet, true);
    assert!(line.starts_with("[Budget] Used ") && line.lines().count() == 1, "{line}");
}

#[test]
fn explicit_default_flags_change_no_output() {
    let flags = ["--budget", "900", "--objective", "strict", "--dedup", "off", "--fill=off"];
    assert_eq!(render(&flags), render(&["--budget", "900"]));
    let deny = ["--budget", "900", "--strict", "--overflow", "deny"];
    assert_eq!(render(&deny), render(&["--budget", "900"]));
    for wrong in [["--objective", "best"], ["--dedup", "all"], ["--shares", "mine"]] {
        let output = run(&["render", &sample("session.lcp"), wrong[0], wrong[1]]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(stderr(&output).contains("possible values"), "{}", stderr(&output));
    }
}

/// Critical blocks over the cap of their share: a warning, or an error for who
/// denies it.
#[test]
fn critical_blocks_over_a_cap_warn_or_fail_if_strict() {
    let project = LCP.project(
        "context.budget.total_tokens = 3000\n\
         context.budget.categories.conversation = { percent = 50, cap = 5 }\n",
    );
    let session = sample("session.lcp");
    let output = project.run(&["render", &session]);
    assert!(output.status.success() && stderr(&output).contains("[LCP-BUD-002]"));
    let denied = project.run(&["render", &session, "--strict"]);
    let said = stderr(&denied);
    assert_eq!(denied.status.code(), Some(4), "{said}");
    assert!(said.contains("[LCP-BUD-002]") && said.contains("hint: raise the cap of "), "{said}");
    assert!(denied.stdout.is_empty());
}

/// CBS-INT-08, CBS-INT-09, CBS-TS-05: a text that shows everything and nearly fills the budget. A
/// text that was cut fills it by design, and other warnings report an excess.
#[test]
fn text_that_nearly_fills_the_budget_is_warned_about() {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("chat.lcp");
    let blocks = serde_json::json!({ "blocks": [
        { "type": "conversation", "role": "user", "content": "word ".repeat(800) },
        { "type": "conversation", "role": "assistant", "content": "Done." },
    ]});
    encode(&blocks.to_string(), &pack);
    let pack = pack.to_str().unwrap();
    for command in ["render", "report", "export"] {
        let to: &[&str] = if command == "export" { &["--to", "openai"] } else { &[] };
        let project = LCP.project("");
        let run = |flags: &[&str]| {
            let output = project.run(&[&[command, pack][..], to, flags].concat());
            assert!(output.status.success(), "{}", stderr(&output));
            stderr(&output)
        };
        let used = used_tokens(&project, command, pack, to);
        let warned = |budget: u64| {
            let said = run(&["--budget", &budget.to_string()]);
            let (percent, left) = (used * 100 / budget, budget - used.min(budget));
            let warning = format!(
                "warning: [Budget] Warning: {percent}% of token budget used. {left} tokens \
                 remaining. [budget_usage]\n"
            );
            assert!(said.is_empty() || said == warning, "{command}: {said}");
            !said.is_empty()
        };
        // Exactly 80 %, one token less, and everything.
        let exact = used.div_ceil(4) * 5;
        assert!(used * 100 < exact * 80 || warned(exact), "{command}");
        assert!(!warned(exact + 5) && warned(used + 1) && warned(used), "{command}");
        // Shortened: no warning about the fill level.
        let cut = run(&["--budget", &(used - 100).to_string()]);
        assert!(!cut.contains("[budget_usage]"), "{command}: {cut}");
        let window = (used * 12_500 / 8_450).to_string();
        assert!(run(&["--window", &window]).contains("[Budget] Warning: 84% of token budget"));
        assert_eq!(run(&["--window", &window, "-q"]), "");
        project.write("context.usage.warning = 0.9\n");
        assert_eq!(run(&["--window", &window]), "");
        assert!(warned(used));
    }
}

/// The tokens that a command uses without a budget.
fn used_tokens(project: &Project, command: &str, pack: &str, flags: &[&str]) -> u64 {
    let path = project.path("report.json");
    let report = match command {
        "report" => vec!["report", pack, "--json"],
        command => [&[command, pack, "--report", "report.json"], flags].concat(),
    };
    let printed = project.stdout_of(&report);
    let json = std::fs::read_to_string(path).unwrap_or(printed);
    serde_json::from_str::<Value>(&json).unwrap()["used_tokens"].as_u64().unwrap()
}

//! `lcp.toml`: what it may say, where it is looked for, what wins
//! (`docs/cli.md`).

use std::path::Path;

use serde_json::Value;

use crate::command::{LCP, Project, printed, sample, stderr};

/// The configuration that the requirements show.
pub(crate) const EXAMPLE: &str = r#"[context.budget]
total_tokens = 100000
system_prompt_reserve = 2000
response_reserve = 8000

[context.budget.categories]
tool_results = 40
open_files = 30
search_results = 20
references = 10

[context.dedup]
enabled = true
overlap_threshold = 0.8
merge_overlapping = true

[context.tokenizer]
type = "tiktoken"
model = "gpt-4"
"#;

/// The value of a setting, and who said it.
#[track_caller]
fn setting(shown: &Value, key: &str) -> (Value, String) {
    let settings = shown["settings"].as_array().unwrap();
    let row = settings.iter().find(|row| row["key"] == key).unwrap();
    (row["value"].clone(), row["from"].as_str().unwrap().to_owned())
}

pub(crate) const SHOW: [&str; 2] = ["config", "--json"];

#[test]
fn should_load_config() {
    let project = LCP.project(EXAMPLE);
    let shown = project.json(&SHOW);
    for (key, value, line) in [
        ("context.budget.total_tokens", Value::from(100_000), 2),
        ("context.budget.system_prompt_reserve", 2_000.into(), 3),
        ("context.budget.response_reserve", 8_000.into(), 4),
        ("context.budget.shares", "categories".into(), 6),
        ("context.dedup.enabled", true.into(), 13),
        ("context.dedup.overlap_threshold", 0.8.into(), 14),
        ("context.dedup.merge_overlapping", true.into(), 15),
        ("context.tokenizer.type", "cl100k_base".into(), 18),
        ("context.tokenizer.model", "gpt-4".into(), 19),
    ] {
        assert_eq!(setting(&shown, key), (value, format!("lcp.toml:{line}")), "{key}");
    }
    let fill = setting(&shown, "context.budget.fill");
    assert_eq!(fill, (false.into(), "default".to_owned()));
    assert_eq!(shown["available"], 90_000);
}

/// Every key that there is besides those of the example.
#[test]
fn config_reads_keys_outside_the_example() {
    let project = LCP.project(
        r#"
[context.budget]
window = 10000
safety = 0.7
fill = true
excerpts = false
objective = "value"
overflow = "deny"
special_tokens = "escape"
shares = "conversation"

[context.values]
placeholder = 0

[context.stable]
high_watermark = 1
low_watermark = 0.25

[context.usage]
warning = 0.9
critical = 0.95
clear = 0.85
cooldown = 3

[context.segments]
recent_messages_full_budget = 1
anchor_budget = 2
compression_aggressiveness = 1
min_segments_at_brief = 4
"#,
    );
    let shown = project.json(&SHOW);
    assert_eq!(shown["available"], 7_000);
    for (key, value) in [
        ("context.budget.safety", Value::from(0.7)),
        ("context.budget.fill", true.into()),
        ("context.budget.excerpts", false.into()),
        ("context.budget.objective", "value".into()),
        ("context.budget.overflow", "deny".into()),
        ("context.budget.special_tokens", "escape".into()),
        ("context.values.placeholder", 0.into()),
        ("context.stable.high_watermark", 1.0.into()),
        ("context.stable.low_watermark", 0.25.into()),
        ("context.budget.shares", "conversation".into()),
        ("context.usage.warning", 0.9.into()),
        ("context.usage.critical", 0.95.into()),
        ("context.usage.clear", 0.85.into()),
        ("context.usage.cooldown", 3.into()),
        ("context.segments.recent_messages_full_budget", 1.into()),
        ("context.segments.anchor_budget", 2.into()),
        ("context.segments.compression_aggressiveness", 1.0.into()),
        ("context.segments.min_segments_at_brief", 4.into()),
    ] {
        let (found, from) = setting(&shown, key);
        assert_eq!(found, value, "{key}");
        assert!(from.starts_with("lcp.toml:"), "{key}: {from}");
    }
}

/// The file that the documentation shows, with every key.
#[test]
fn documented_config_is_valid_and_complete() {
    let document = include_str!("../../../../docs/cli.md");
    let (_, behind) = document.split_once("```toml\n").unwrap();
    let (toml, _) = behind.split_once("```").unwrap();
    let project = LCP.project(toml);
    let shown = project.json(&SHOW);
    assert_eq!(shown["available"], 90_000);
    let tokens: Vec<_> =
        shown["shares"].as_array().unwrap().iter().map(|share| &share["tokens"]).collect();
    assert_eq!(tokens, [36_000, 25_000, 18_000, 9_000]);
    let none: Vec<_> = shown["settings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["from"] == "default")
        .map(|row| &row["key"])
        .collect();
    // Which of two stays depends on the run; to say it would be to say it for all.
    assert_eq!(none, ["context.dedup.keep"]);
    let render = project.run(&["render", &sample("session.lcp"), "--dedup", "off"]);
    let said = stderr(&render);
    assert!(!said.contains("[window_exceeded]") && !said.contains("[no_effect]"), "{said}");
    let preset =
        toml.replace("# shares", "shares").replace("[context.budget.categories]", "[other]");
    project.write(preset.split("[other]").next().unwrap());
    assert_eq!(setting(&project.json(&SHOW), "context.budget.shares").0, "agent");
}

#[test]
fn should_apply_config_settings() {
    let project = LCP.project(EXAMPLE);
    let report = project.json(&["report", &sample("session.lcp"), "--json"]);
    assert_eq!((&report["budget"], &report["encoding"]), (&90_000.into(), &"cl100k_base".into()));
    let shares: Vec<_> =
        report["shares"].as_array().unwrap().iter().map(|s| &s["tokens"]).collect();
    assert_eq!(shares, [36_000, 27_000, 18_000, 9_000, 0]);
    assert!(report["dedup"].is_object(), "the file asks for it");
    let output = project.run(&["render", &sample("session.lcp")]);
    let said = stderr(&output);
    assert!(
        said.contains("exceeds the window of gpt-4, which is 8,192 [window_exceeded]"),
        "{said}"
    );
    let off = project.json(&["report", &sample("session.lcp"), "--json", "--dedup", "off"]);
    assert!(off["dedup"].is_null());
}

#[test]
fn should_respect_config_changes() {
    let project = LCP.project("context.budget.total_tokens = 3000\n");
    let tokens = || {
        let report = project.json(&["report", &sample("session.lcp"), "--json"]);
        report["used_tokens"].as_u64().unwrap()
    };
    assert!((2_900..=3_000).contains(&tokens()));
    project.write("context.budget.total_tokens = 3000\ncontext.budget.response_reserve = 1000\n");
    assert!((1_900..=2_000).contains(&tokens()));
    project.write("context.budget = { window = 1000 }\n");
    assert!((700..=800).contains(&tokens()));
    // A cap on open files, which are most of this pack, leaves tokens idle.
    project.write("context.budget.total_tokens = 3000\n[context.budget.categories]\nopen_files = { percent = 100, cap = 500 }\n");
    assert!(tokens() < 2_000);
}

#[test]
fn nearest_config_in_parent_folders_is_used() {
    let project = LCP.project("context.budget.total_tokens = 111\n");
    let inner = project.path("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let show = |more: &[&str]| {
        let output = LCP.run_in(&inner, &[&SHOW[..], more].concat(), &[]);
        serde_json::from_str::<Value>(&printed(&output)).unwrap()
    };
    let above = Path::new("..").join("..").join("lcp.toml");
    let total = |from: &Path| (Value::from(111), format!("{}:1", from.display()));
    assert_eq!(setting(&show(&[]), "context.budget.total_tokens"), total(&above));
    assert_eq!(show(&["--no-config"])["available"], Value::Null);
    std::fs::write(project.path("a/lcp.toml"), "context.budget.total_tokens = 222\n").unwrap();
    assert_eq!(show(&[])["available"], 222);
    // One that is named, whatever is near.
    let named = project.path("lcp.toml");
    assert_eq!(show(&["--config", named.to_str().unwrap()])["available"], 111);
    let output = project.run(&["config", "--config", "missing.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot read missing.toml"));
    let both = ["config", "--config", "lcp.toml", "--no-config"];
    project.assert_usage_error(&both, "cannot be used with");
}

/// It may be of anybody: nothing that would wait or never end is read.
#[cfg(unix)]
#[test]
fn config_must_be_a_regular_file_of_limited_size() {
    let project = LCP.project("");
    std::fs::remove_file(project.path("lcp.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.path("lcp.toml")).unwrap();
    project.assert_usage_error(&SHOW, "the settings must be a regular file (lcp.toml)");
    std::fs::remove_file(project.path("lcp.toml")).unwrap();
    let large = std::fs::File::create(project.path("lcp.toml")).unwrap();
    large.set_len((1 << 20) + 1).unwrap();
    project
        .assert_usage_error(&SHOW, "the settings must not be larger than 1048576 bytes (lcp.toml)");
}

#[test]
fn flags_override_the_config_file() {
    let project = LCP.project(EXAMPLE);
    let show = |flags: &[&str]| project.json(&[&SHOW[..], flags].concat());
    assert_eq!(show(&["--budget", "500"])["available"], 500);
    assert_eq!(show(&["--window", "20000"])["available"], 6_000);
    let reserves = ["--system-prompt-reserve", "0", "--response-reserve=1"];
    assert_eq!(show(&reserves)["available"], 99_999);
    // The model of the file is not asked for its window: the file has a total.
    assert_eq!(show(&["--model", "gpt-4o"])["available"], 90_000);
    let shown = show(&["--model", "gpt-4o", "--shares", "agent", "--excerpts", "on"]);
    for (key, value, flag) in [
        ("context.tokenizer.type", "o200k_base".into(), "--model"),
        ("context.budget.shares", "agent".into(), "--shares"),
        ("context.budget.excerpts", Value::from(true), "--excerpts"),
    ] {
        assert_eq!(setting(&shown, key), (value, flag.to_owned()), "{key}");
    }
    project.write("[context.budget]\nfill = true\noverflow = \"deny\"\n");
    let shown = show(&["--fill=off", "--overflow", "allow"]);
    assert_eq!(setting(&shown, "context.budget.fill").0, false);
    assert_eq!(setting(&shown, "context.budget.overflow").0, "allow");
}

/// What a text may have: the first that is given.
#[test]
fn budget_flag_precedes_window_total_and_model() {
    let model = "[[model]]\nname = \"ours\"\nwindow = 1000\n";
    let project = LCP.project(&format!(
        "context.budget.total_tokens = 5000\ncontext.budget.window = 4000\ncontext.tokenizer = {{ model = \"ours\", type = \"heuristic\" }}\n{model}"
    ));
    let available =
        |flags: &[&str]| project.json(&[&SHOW[..], flags].concat())["available"].clone();
    assert_eq!(available(&["--budget", "50", "--window", "100"]), 50);
    assert_eq!(available(&["--window", "100"]), 80);
    assert_eq!(available(&[]), 5_000);
    project.write(&format!(
        "context.budget.window = 4000\ncontext.tokenizer.model = \"ours\"\n{model}"
    ));
    assert_eq!(available(&[]), 3_200);
    project.write(&format!("context.tokenizer.model = \"ours\"\n{model}"));
    assert_eq!(available(&[]), 800);
    project.write(&format!(
        "context.budget.safety = 0.7\ncontext.tokenizer.model = \"ours\"\n{model}"
    ));
    assert_eq!(available(&[]), 700);
    project.write(model);
    assert_eq!(available(&["--model", "ours"]), 800);
    assert_eq!(available(&[]), Value::Null);
}

#[test]
fn tokenizer_is_chosen_by_flags_then_config() {
    let project = LCP.project("");
    let counter = |toml: &str, flags: &[&str]| {
        project.write(toml);
        setting(&project.json(&[&SHOW[..], flags].concat()), "context.tokenizer.type")
    };
    let file = |name: &str| (Value::from(name), "lcp.toml:1".to_owned());
    assert_eq!(counter("context.tokenizer.type = \"claude\"", &[]), file("claude"));
    assert_eq!(counter("context.tokenizer.type = \"tiktoken\"", &[]), file("o200k_base"));
    assert_eq!(counter("context.tokenizer.model = \"gpt-4\"", &[]), file("cl100k_base"));
    let flag = |name: &str, flag: &str| (Value::from(name), flag.to_owned());
    let toml = "context.tokenizer = { type = \"tiktoken\", model = \"gpt-4\" }";
    let claude = counter(toml, &["--model", "claude-sonnet-4.5"]);
    assert_eq!(claude, flag("claude", "--model"));
    let encoding = counter(toml, &["--encoding", "heuristic"]);
    assert_eq!(encoding, flag("heuristic", "--encoding"));

    // A file, from the folder of lcp.toml; `count` takes it too.
    let inner = project.path("inner");
    std::fs::create_dir_all(&inner).unwrap();
    project.write("context.tokenizer.type = \"inner/tokenizer.json\"");
    std::fs::write(inner.join("tokenizer.json"), "{\"model\": ").unwrap();
    let output = LCP.run_in(&inner, &["count", &sample("session.lcp")], &[]);
    assert!(stderr(&output).contains("error: tokenizer.json: "), "{}", stderr(&output));
    assert!(!stderr(&output).contains("cannot read"), "{}", stderr(&output));

    project.write("context.tokenizer = { type = \"tiktoken\", model = \"claude-sonnet-4.5\" }");
    project.assert_usage_error(
        &SHOW,
        "model claude-sonnet-4.5 has no tiktoken encoding (lcp.toml, line 1)",
    );
    project.write("context.tokenizer.model = \"gtp-4\"");
    project.assert_usage_error(&SHOW, "similar names: gpt-4");
    project.assert_usage_error(
        &SHOW,
        "hint: add a [[model]] entry to lcp.toml, or pass --encoding, and --budget or --window",
    );
}

/// Each mistake with its place, and the number.
#[test]
fn invalid_config_is_rejected_with_its_location() {
    let project = LCP.project("");
    let categories = |line: &str| format!("[context.budget.categories]\n{line}");
    for (toml, says) in [
        ("context = ", "at line 1, column 1"),
        (
            "[budget]",
            "unknown key budget; expected one of model, continuity, gateway, hooks, import, pack, context, at line 1, column 2",
        ),
        (
            "[context.budget]\ntotal_token = 1",
            "unknown key context.budget.total_token; similar: context.budget.total_tokens, at line 2, \
             column 1",
        ),
        ("[context.dedupe]", "similar: context.dedup, at line 1, column 10"),
        ("context.\"a\\u001B\" = 1", "unknown key context.\"a\\u{1b}\"; "),
        (
            "[context.budget]\nzzzzzzzzz = 1",
            "unknown key context.budget.zzzzzzzzz, at line 2, column 1 (lcp.toml)\nhint: correct or \
             remove the key; run `lcp config --no-config` to list the settings of a render",
        ),
        ("context.usage.zzzzzzzzz = 1", "expected one of context.usage.warning, "),
        (
            "[context.budget]\n\nwindow = -5",
            "context.budget.window must be an integer from 0 to 4294967295, got -5, at line 3, \
             column 10",
        ),
        (
            "context.budget.window = 1.5",
            "context.budget.window must be an integer from 0 to 4294967295, got 1.5",
        ),
        ("context.budget.window = 4294967296", "4294967295, got 4294967296"),
        ("context.budget.safety = 0", "context.budget.safety must be above 0 and at most 1, got 0"),
        ("context.budget.safety = 1.01", "must be above 0 and at most 1, got 1.01"),
        ("context.budget.safety = nan", "must be above 0 and at most 1, got nan"),
        ("context.budget.fill = \"yes\"", "must be true or false, got \"yes\""),
        ("context.budget.overflow = \"no\"", "must be allow or deny"),
        (
            "context.budget.shares = \"agents\"",
            "context.budget.shares must be conversation, agent, ",
        ),
        (
            "context.budget.shares = \"agent\"\ncontext.budget.categories.a = 1",
            "context.budget.shares: cannot be combined with context.budget.categories",
        ),
        ("context.budget = 1", "context.budget must be a table, got 1"),
        (&categories("a = -1"), "context.budget.categories.a must be a percentage"),
        (&categories("a = nan"), "tokens, 0 or more, got nan"),
        (
            &categories("a = 0\nb = 0.0"),
            "context.budget.categories: at least one share must be above 0 (number of shares: 2), at line 1",
        ),
        (&categories(""), "at least one share is required"),
        (&categories("a = {}"), "a: must have either percent or tokens, at line 2, column 1"),
        (&categories("a = { percent = 1, tokens = 1 }"), "either percent or tokens"),
        (&categories("a = { tokens = 1, caps = 1 }"), "similar: context.budget.categories.a.cap"),
        ("context.dedup.overlap_threshold = 80", "must be from 0 to 1, got 80"),
        ("context.tokenizer.type = \"tiktokn\"", "one of tiktoken, got \"tiktokn\", at line 1"),
        ("context.usage.warning = 0.5", "context.usage: thresholds must satisfy"),
        ("context.segments.compression_aggressiveness = inf", "must be from 0 to 1, got inf"),
        ("[[model]]\nname = \"ours\"", "model \"ours\": missing key window, at line 1, column 1"),
        ("[[model]]\nname = \"a\"\nwindow = 0", "must not be 0, at line 3, column 10"),
        (
            "context.budget = { total_tokens = 7, response_reserve = 8 }",
            "no budget left: window 7 × safety 1 = 7 tokens, minus 0 (system prompt) and 8 (response) (lcp.toml, line 1)",
        ),
    ] {
        project.write(toml);
        project.assert_usage_error(&SHOW, says);
    }
    project.assert_usage_error(
        &["render", &sample("chat.lcp")],
        "minus 0 (system prompt) and 8 (response)",
    );
}

/// Categories in the order of the file, which decides ties; more than all is
/// scaled down, with a warning.
#[test]
fn category_shares_are_ordered_and_scaled_down() {
    let project = LCP.project(
        "context.budget.total_tokens = 101\n[context.budget.categories]\nz = 50\na = 50\n",
    );
    let shares = |project: &Project| {
        let shown = project.json(&SHOW);
        let shares = shown["shares"].as_array().unwrap().iter();
        shares
            .map(|share| {
                (share["name"].as_str().unwrap().to_owned(), share["tokens"].as_u64().unwrap())
            })
            .collect::<Vec<_>>()
    };
    let expected = |shares: &[(&str, u64)]| {
        shares.iter().map(|(name, tokens)| ((*name).to_owned(), *tokens)).collect::<Vec<_>>()
    };
    assert_eq!(shares(&project), expected(&[("z", 51), ("a", 50)]));
    project.write("context.budget.total_tokens = 1000\n[context.budget.categories]\na = { tokens = 400 }\nb = { percent = 60, cap = 100 }\nc = 60\n");
    assert_eq!(shares(&project), expected(&[("a", 400), ("b", 100), ("c", 300)]));
    let output = project.run(&["config"]);
    let (said, shown) = (stderr(&output), printed(&output));
    assert!(said.contains("the ratios of the shares ask for 1,200 tokens"), "{said}");
    assert!(said.contains("[shares_normalised]"), "{said}");
    assert!(shown.contains("\nNote: the ratios of the shares ask for 1,200 tokens"), "{shown}");
}

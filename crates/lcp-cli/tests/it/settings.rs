//! Settings that change nothing or cannot be: what is said of them, and where
//! (`docs/cli.md`).

use serde_json::Value;

use crate::command::{LCP, Project, sample, stderr};
use crate::config::{EXAMPLE, SHOW};

/// What is given and changes nothing is listed with its reason; a flag is warned of.
#[test]
fn settings_without_effect_are_listed_with_a_reason() {
    let idle = |project: &Project, flags: &[&str]| -> Vec<String> {
        let shown = project.json(&[&SHOW[..], flags].concat());
        let rows = shown["settings"].as_array().unwrap().iter();
        rows.filter(|row| row["in_effect"] == false)
            .filter(|row| row["from"] != "default")
            .map(|row| format!("{} {} {}", row["key"], row["from"], row["note"]).replace('"', ""))
            .collect()
    };
    let warned = |project: &Project, flags: &[&str]| {
        stderr(&project.run(&[&SHOW[..], flags].concat())).replace("warning: ", "")
    };
    let project = LCP.project(
        "[context.budget]\ntotal_tokens = 900\nwindow = 800\nsafety = 0.5\nresponse_reserve = 7\n",
    );
    let window = "context.budget.window lcp.toml:3";
    let safety = "context.budget.safety lcp.toml:4";
    let total = "context.budget.total_tokens";
    assert_eq!(
        idle(&project, &[]),
        [format!("{window} overridden by {total}"), format!("{safety} overridden by {total}")]
    );
    assert_eq!(
        idle(&project, &["--window", "100"]),
        [
            format!("{total} lcp.toml:2 overridden by --window"),
            format!("{window} overridden by --window")
        ]
    );
    let both = ["--budget", "50", "--window", "100", "--system-prompt-reserve", "1"];
    assert_eq!(
        idle(&project, &both),
        [
            "context.budget.window --window overridden by --budget".to_owned(),
            format!("{total} lcp.toml:2 overridden by --budget"),
            format!("{window} overridden by --budget"),
            format!("{safety} overridden by --budget"),
            "context.budget.system_prompt_reserve --system-prompt-reserve overridden by --budget"
                .to_owned(),
            "context.budget.response_reserve lcp.toml:5 overridden by --budget".to_owned(),
        ]
    );
    assert_eq!(
        warned(&project, &both),
        "--window has no effect: overridden by --budget [no_effect]\n--system-prompt-reserve has \
         no effect: overridden by --budget [no_effect]\n"
    );
    assert_eq!(warned(&project, &["--budget", "50"]), "", "the file is for every run");
    project.write("context.budget.safety = 0.5\n");
    let reserve = ["--response-reserve", "9"];
    assert_eq!(
        idle(&project, &reserve),
        [
            "context.budget.safety lcp.toml:1 no window is set",
            "context.budget.response_reserve --response-reserve no window is set"
        ]
    );
    let none = "--response-reserve has no effect: no window is set [no_effect]\n";
    assert_eq!(warned(&project, &reserve), none);
    let window = ["--response-reserve", "9", "--window", "100"];
    assert_eq!((idle(&project, &window), warned(&project, &window)), (vec![], String::new()));

    let shown = project.json(&SHOW);
    let rows = shown["settings"].as_array().unwrap().iter();
    let effect = |key: &str| {
        let row = rows.clone().find(|row| row["key"] == key).unwrap();
        (row["in_effect"].clone(), row["note"].clone())
    };
    assert_eq!(effect("context.budget.fill"), (true.into(), Value::Null));
    assert_eq!(effect("context.usage.clear"), (false.into(), "only for sessions".into()));
    let segments = (false.into(), "only with --segments".into());
    assert_eq!(effect("context.segments.anchor_budget"), segments);
}

/// What the command knows besides the plan stands in the report, with a code.
#[test]
fn report_includes_warnings_about_settings() {
    let project = LCP.project(EXAMPLE);
    let codes = |flags: &[&str]| -> Vec<Value> {
        let report = project.json(&[&["report", &sample("session.lcp"), "--json"], flags].concat());
        report["warnings"].as_array().unwrap().iter().map(|w| w["code"].clone()).collect()
    };
    assert_eq!(codes(&[])[..1], ["window_exceeded"]);
    let fits = codes(&["--budget", "3000", "--dedup", "off"]);
    assert!(fits.iter().all(|code| code != "window_exceeded" && code != "no_effect"), "{fits:?}");
    // Whatever the file is called.
    std::fs::rename(project.path("lcp.toml"), project.path("mine.toml")).unwrap();
    let output = project.run(&["config", "--config", "mine.toml"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("mine.toml:2"), "{shown}");
}

/// A model of which nothing is needed need not be known.
#[test]
fn unknown_model_is_ignored_if_flags_replace_it() {
    let project = LCP.project("");
    let session = sample("session.lcp");
    let named = ["--model", "nobodys-model"];
    let encoding = ["--encoding", "cl100k_base"];
    for sized in [["--budget", "900"], ["--window", "900"]] {
        let all = [&["render", &session][..], &named, &encoding, &sized].concat();
        let output = project.run(&all);
        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("nobodys-model")
                && said.contains("ignored it, because the encoding is given"),
            "{said}"
        );
        project.assert_usage_error(&[&SHOW[..], &named, &sized].concat(), "nobodys-model");
    }
    project.assert_usage_error(
        &[&SHOW[..], &named, &encoding].concat(),
        "hint: add a [[model]] entry to lcp.toml, or pass --encoding",
    );
    let counted = project.run(&[&["count", &session][..], &named, &encoding].concat());
    assert!(counted.status.success(), "{}", stderr(&counted));
    project.assert_usage_error(
        &[&["count", &session][..], &named].concat(),
        "hint: add a [[model]] entry",
    );
}

/// Where the file names a tokenizer that there is not, standard error says where.
#[test]
fn missing_tokenizer_message_names_the_config_line() {
    let project = LCP.project("\ncontext.tokenizer.type = \"missing.json\"\n");
    let session = sample("session.lcp");
    for command in [&["render", &session][..], &["report", &session], &["config"]] {
        let said = stderr(&project.run(command));
        assert!(said.contains("[tokenizer_fallback] (lcp.toml, line 2)\n"), "{said}");
    }
    for command in [&["render", "--strict", &session][..], &["count", &session]] {
        let output = project.run(command);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("[LCP-BUD-003] (lcp.toml, line 2)\n"), "{said}");
    }
}

#[test]
fn folder_named_lcp_toml_is_an_io_error() {
    let project = LCP.project("");
    std::fs::remove_file(project.path("lcp.toml")).unwrap();
    std::fs::create_dir(project.path("lcp.toml")).unwrap();
    let output = project.run(&SHOW);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot read lcp.toml"), "{}", stderr(&output));
}

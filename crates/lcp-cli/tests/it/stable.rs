//! `--previous`, `--plan`, `--repack-at`: from turn to turn (`docs/cli.md`).

use std::fmt::Write;

use serde_json::Value;

use crate::command::{LCP, Project, encode, printed, sample, stderr};
use crate::config::SHOW;

/// A session of so many turns, each a question and a long answer.
fn session(turns: usize) -> String {
    let answer = "Nobody knows for certain, but many have an opinion. ".repeat(8);
    let mut blocks =
        r#"{"type":"conversation","role":"system","content":"Be brief.","priority":"critical"}"#
            .to_owned();
    for turn in 0..turns {
        write!(
            blocks,
            r#",{{"type":"conversation","role":"user","content":"Question {turn}?"}},{{"type":"conversation","role":"assistant","content":"Answer {turn}: {answer}"}}"#
        )
        .unwrap();
    }
    format!(r#"{{"blocks":[{blocks}]}}"#)
}

/// A folder with the pack of a session.
fn project(turns: usize) -> Project {
    let project = LCP.project("");
    encode(&session(turns), &project.path("turn.lcp"));
    project
}

/// The line that renders a turn within a budget, whichever it is.
const TURN: [&str; 7] =
    ["render", "turn.lcp", "--previous", "plan.json", "--plan", "plan.json", "--budget"];

fn report(project: &Project, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(project.path(name)).unwrap()).unwrap()
}

fn codes(report: &Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// While there is room, a text begins with the whole prefix of the one before.
#[test]
fn appended_turn_preserves_the_previous_prefix() {
    let project = LCP.project("");
    let mut before: Option<(String, usize)> = None;
    for turns in 1..=3 {
        encode(&session(turns), &project.path("turn.lcp"));
        let output = project.run(&[&TURN[..], &["1000", "--report", "report.json"]].concat());
        let text = printed(&output);
        let report = report(&project, "report.json");
        let stable = &report["stable"];
        let turn = if before.is_some() { "appended" } else { "fresh" };
        assert_eq!(stable["turn"], turn);
        assert!(!codes(&report).contains(&"previous_refused"), "{report}");
        let prefix = usize::try_from(stable["prefix_bytes"].as_u64().unwrap()).unwrap();
        if let Some((before, prefix)) = &before {
            assert!(text.starts_with(&before[..*prefix]), "{before}\n\n{text}");
            assert_eq!(stable["kept_bytes"], *prefix);
        }
        assert!(
            text.contains(&format!("Answer {}: ", turns - 1)) && text[..prefix].ends_with('\n')
        );
        before = Some((text, prefix));
    }
}

/// Above the high watermark a text is packed anew, down to the low one, and the
/// next turns keep that.
#[test]
fn long_session_is_repacked_above_the_high_watermark() {
    let project = LCP.project("");
    let (mut repacked, mut before) = (Vec::new(), None::<String>);
    for turns in 1..=20 {
        encode(&session(turns), &project.path("turn.lcp"));
        let marks = ["700", "--repack-at", "0.8,0.4", "--report", "report.json", "-v"];
        let output = project.run(&[&TURN[..], &marks].concat());
        let (text, report) = (printed(&output), report(&project, "report.json"));
        let stable = &report["stable"];
        let at = |key: &str| usize::try_from(stable[key].as_u64().unwrap()).unwrap();
        assert_eq!((at("high_tokens"), at("low_tokens")), (560, 280));
        let used = report["used_tokens"].as_u64().unwrap();
        assert!(used <= 560, "{used}");
        if let Some(before) = &before {
            assert_eq!(text[..at("kept_bytes")], before[..at("kept_bytes")]);
        }
        if stable["turn"] == "repacked" {
            assert_eq!(stable["cause"], "high_watermark");
            assert!(used <= 280, "{used}");
            let said = stderr(&output);
            assert!(said.contains("note: repacked (high_watermark): "), "{said}");
            repacked.push(turns);
        }
        before = Some(text);
    }
    assert!((2..=8).contains(&repacked.len()), "{repacked:?}");
}

#[test]
fn missing_previous_plan_starts_a_new_one() {
    let project = project(2);
    let output = project.run(&[&TURN[..], &["1000", "--report", "report.json"]].concat());
    let text = printed(&output);
    assert!(!stderr(&output).contains("previous_refused"), "{}", stderr(&output));
    assert!(text.contains("Answer 1") && project.path("plan.json").is_file());
    let report = std::fs::read_to_string(project.path("report.json")).unwrap();
    assert!(!report.contains("previous_refused"), "{report}");
    // Without a plan to write, the name may be wrong.
    let flags = ["--budget", "1000", "--previous", "plam.json", "--report", "report.json"];
    let output = project.run(&[&["render", "turn.lcp"], &flags[..]].concat());
    let warned = "warning: the previous plan does not exist yet; started a new one \
                  [previous_refused] (plam.json)\n";
    assert!(stderr(&output).contains(warned), "{}", stderr(&output));
    // The path is not in the report.
    let report = std::fs::read_to_string(project.path("report.json")).unwrap();
    assert!(report.contains("previous_refused") && !report.contains("plam.json"), "{report}");
    // The first text is that of a plan that nobody asked for a previous one of.
    let first = project.run(&["render", "turn.lcp", "--plan", "other.json", "--budget", "1000"]);
    assert_eq!(printed(&first), text);
    assert!(!stderr(&first).contains("previous_refused"), "{}", stderr(&first));
    let plans = ["plan.json", "other.json"].map(|name| std::fs::read(project.path(name)).unwrap());
    assert_eq!(plans[0], plans[1]);
}

/// Whatever is wrong with it, the text is there, and a plan that can be used.
#[test]
fn damaged_previous_plan_is_replaced() {
    let project = project(2);
    let turn = [&TURN[..], &["1000"]].concat();
    let text = printed(&project.run(&turn));
    let plan = std::fs::read_to_string(project.path("plan.json")).unwrap();
    assert_eq!(stderr(&project.run(&turn)), "", "it is used");
    let other = plan.replacen("o200k_base", "o200k_bise", 1);
    let cut = &plan[..plan.len() / 2];
    for (damaged, says) in [
        (&b""[..], "the plan is not valid JSON"),
        (b"\xFF", "the plan is not UTF-8: invalid utf-8"),
        (b"{\"schema\": 1}", "the plan has an invalid field"),
        (b"{\"schema\": \"lcp.report.v1\"}", "plan with schema lcp.plan.v1, got \"lcp.report.v1\""),
        (cut.as_bytes(), "line "),
        (other.as_bytes(), "checksum"),
    ] {
        std::fs::write(project.path("plan.json"), damaged).unwrap();
        let output = project.run(&turn);
        let said = stderr(&output);
        assert_eq!(printed(&output), text);
        assert!(said.contains("; started a new one [previous_refused] (plan.json)\n"), "{said}");
        assert!(said.contains(says) && said.lines().count() == 1, "{says}: {said}");
        assert_eq!(std::fs::read_to_string(project.path("plan.json")).unwrap(), plan);
    }
}

/// A plan for another mode, encoding or pack is refused by the driver, and so told.
#[test]
fn mismatched_previous_plan_is_refused() {
    let project = project(2);
    let plan = ["render", "turn.lcp", "--plan", "plan.json", "--budget", "1000"];
    project.stdout_of(&plan);
    let chat = sample("chat.lcp");
    for changed in [
        &["report", "turn.lcp", "--mode", "minimal"][..],
        &["report", "turn.lcp", "--encoding", "cl100k_base"],
        &["report", &chat],
    ] {
        let more = ["--previous", "plan.json", "--budget", "1000", "--json"];
        let output = project.run(&[changed, &more].concat());
        let report: Value = serde_json::from_str(&printed(&output)).unwrap();
        assert_eq!(report["stable"]["turn"], "fresh", "{changed:?}");
        assert_eq!(codes(&report), ["previous_refused"], "{changed:?}");
        assert!(stderr(&output).contains("[previous_refused]"), "{}", stderr(&output));
    }
}

/// `report` tells of the turn that `render` makes, and writes nothing.
#[test]
fn report_equals_the_report_from_render() {
    let project = project(2);
    project.stdout_of(&["render", "turn.lcp", "--plan", "plan.json", "--budget", "1000"]);
    let plan = std::fs::read(project.path("plan.json")).unwrap();
    encode(&session(3), &project.path("turn.lcp"));
    let arguments = ["report", "turn.lcp", "--previous", "plan.json", "--budget", "1000", "--json"];
    let told = project.json(&arguments);
    assert_eq!(std::fs::read(project.path("plan.json")).unwrap(), plan);
    project.stdout_of(&[&TURN[..], &["1000", "--report", "report.json"]].concat());
    assert_eq!(told, report(&project, "report.json"));
    project.assert_usage_error(&["report", "turn.lcp", "--plan", "plan.json"], "--plan");
}

#[test]
fn unreadable_or_unwritable_plan_is_an_io_error() {
    let project = project(1);
    std::fs::create_dir(project.path("folder")).unwrap();
    let arguments = ["render", "turn.lcp", "--budget", "1000", "--previous", "folder"];
    let output = project.run(&arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot read folder: ") && output.stdout.is_empty(), "{said}");
    let missing = ["render", "turn.lcp", "--budget", "1000", "--plan", "missing/plan.json"];
    let output = project.run(&missing);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write missing/plan.json"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn plan_flags_need_a_budget_and_adaptive_verbosity() {
    let project = project(1);
    let render = ["render", "turn.lcp"];
    let refused = |flags: &[&str], says: &str| {
        project.assert_usage_error(&[&render[..], flags].concat(), says);
        assert!(!project.path("plan.json").exists());
    };
    refused(&["--plan", "plan.json"], "error: --plan requires a budget: ");
    refused(&["--plan", "plan.json"], "\nhint: pass --budget, --window, or a --model");
    refused(&["--plan", "plan.json", "--previous", "plan.json"], "--previous requires a budget");
    for verbosity in ["full", "summary"] {
        let flags = ["--plan", "plan.json", "--budget", "1000", "--verbosity", verbosity];
        refused(&flags, "--plan needs --verbosity adaptive");
    }
    refused(&["--plan", "-", "--budget", "9"], "--plan requires a file");
    refused(&["--previous", "-", "--budget", "9"], "--previous requires a file");
    // A window gives a budget too.
    let window = ["--plan", "plan.json", "--window", "1000"];
    assert!(project.run(&[&render[..], &window].concat()).status.success());
}

#[test]
fn failed_render_writes_no_plan() {
    let project = project(1);
    let denied = ["render", "turn.lcp", "--plan", "plan.json", "--budget", "2", "--strict"];
    assert_eq!(project.run(&denied).status.code(), Some(4));
    assert!(!project.path("plan.json").exists());
    let missing =
        ["render", "turn.lcp", "--plan", "plan.json", "--budget", "1000", "-o", "missing/x"];
    assert_eq!(project.run(&missing).status.code(), Some(1));
    assert!(!project.path("plan.json").exists());
}

/// The next turn goes on from the text that was written last.
#[test]
#[cfg(target_os = "linux")]
fn stdout_write_error_leaves_the_previous_plan() {
    let project = project(1);
    let turn = [&TURN[..], &["1000"]].concat();
    project.stdout_of(&turn);
    let before = std::fs::read(project.path("plan.json")).unwrap();
    encode(&session(2), &project.path("turn.lcp"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(LCP.0)
        .args(&turn)
        .current_dir(project.path(""))
        .stdout(full)
        .output()
        .unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write standard output: "), "{said}");
    assert_eq!(std::fs::read(project.path("plan.json")).unwrap(), before);
    project.stdout_of(&turn);
    assert_ne!(std::fs::read(project.path("plan.json")).unwrap(), before);
}

/// The budgets of the slider are those of a text that nothing stood before.
#[test]
fn html_slider_budgets_ignore_the_previous_plan() {
    let project = project(20);
    project.stdout_of(&[&TURN[..], &["700"]].concat());
    encode(&session(21), &project.path("turn.lcp"));
    let plans = |flags: &[&str]| {
        let render = ["render", "turn.lcp", "--budget", "700", "--html", "page.html"];
        project.stdout_of(&[&render[..], flags].concat());
        let page = std::fs::read_to_string(project.path("page.html")).unwrap();
        let data = page.split_once(r#"id="data">"#).unwrap().1.split_once("</script>").unwrap().0;
        let data: Value = serde_json::from_str(data).unwrap();
        data["plans"].as_array().unwrap().clone()
    };
    let budgets = |plans: &[Value]| -> Vec<_> {
        plans.iter().map(|plan| plan["budget"].as_u64().unwrap()).collect()
    };
    let kept = plans(&["--previous", "plan.json"]);
    let alone = plans(&[]);
    assert_eq!(budgets(&kept), budgets(&alone));
    assert!(budgets(&kept).last() > Some(&2_000), "{:?}", budgets(&kept));
    for (kept, alone) in kept.iter().zip(&alone) {
        if kept["budget"] == 700 {
            assert_eq!(kept["stable"]["turn"], "appended");
        } else {
            assert_eq!((&kept["used"], &kept["t"]), (&alone["used"], &alone["t"]));
            assert!(kept["stable"].is_null(), "it keeps nothing");
        }
    }
}

#[test]
fn repack_at_flag_overrides_configured_watermarks() {
    let project = project(1);
    let marks = |flags: &[&str]| {
        let report = ["report", "turn.lcp", "--previous", "none", "--budget", "1000", "--json"];
        let stable = project.json(&[&report[..], flags].concat())["stable"].clone();
        (stable["high_tokens"].clone(), stable["low_tokens"].clone())
    };
    assert_eq!(marks(&[]), (900.into(), 700.into()));
    assert_eq!(marks(&["--repack-at", "1, 0.25"]), (1_000.into(), 250.into()));
    project.write("context.stable.high_watermark = 0.95\n");
    assert_eq!(marks(&[]), (950.into(), 700.into()));
    project.write("context.stable = { high_watermark = 0.6, low_watermark = 0.5 }\n");
    assert_eq!(marks(&[]), (600.into(), 500.into()));
    assert_eq!(marks(&["--repack-at", "0.9,0.8"]), (900.into(), 800.into()));
    let shown = project.json(&SHOW);
    let rows = shown["settings"].as_array().unwrap();
    let high = rows.iter().find(|row| row["key"] == "context.stable.high_watermark").unwrap();
    assert_eq!(
        (&high["value"], &high["from"], &high["note"]),
        (&0.6.into(), &"lcp.toml:1".into(), &"only with --previous or --plan".into())
    );
}

#[test]
fn invalid_watermarks_are_rejected() {
    let project = project(1);
    let budget = ["render", "turn.lcp", "--plan", "plan.json", "--budget", "1000", "--repack-at"];
    for (marks, says) in [
        ("0.9", "expected two fractions of the budget, such as 0.9,0.7"),
        ("90,70", "0 < low < high <= 1, got high 90 and low 70"),
        ("0.7,0.9", "got high 0.7 and low 0.9"),
        ("nan,0.5", "got high NaN and low 0.5"),
        ("0.9,0", "0 < low < high <= 1, got high 0.9 and low 0"),
        ("high,low", "expected two fractions of the budget"),
    ] {
        project.assert_usage_error(&[&budget[..], &[marks]].concat(), says);
    }
    for (toml, says) in [
        (
            "[context.stable]\nhigh_watermark = 90",
            "context.stable.high_watermark must be above 0 and at most 1, got 90, at line 2, \
             column 18",
        ),
        ("context.stable.low_watermark = 0", "must be above 0 and at most 1, got 0,"),
        ("context.stable.low_watermark = 0.9", "got high 0.9 and low 0.9, at line 1, column 9"),
        ("context.stable.high_watermark = 0.5", "context.stable: watermarks must satisfy"),
        ("context.stable.enabled = true", "unknown key context.stable.enabled; expected one of "),
    ] {
        project.write(toml);
        project.assert_usage_error(&SHOW, says);
    }
}

/// Only the flag is warned of: the file is for every run.
#[test]
fn repack_at_without_a_plan_warns() {
    let project = project(1);
    let render = ["render", "turn.lcp", "--budget", "1000"];
    let output = project.run(&[&render[..], &["--repack-at", "0.9,0.5"]].concat());
    assert!(output.status.success());
    assert_eq!(
        stderr(&output),
        "warning: --repack-at has no effect without --previous or --plan [no_effect]\n"
    );
    project.write("context.stable.high_watermark = 0.95\n");
    assert_eq!(stderr(&project.run(&render)), "");
}

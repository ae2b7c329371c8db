//! The window of a session: set, changed with the model, or assumed.

use serde_json::{Value, json};

use crate::command::stderr;
use crate::sessions::{fails, project, track, write};

/// CBS-INT-04: the window of a session that goes on with another one.
#[test]
fn another_window_moves_the_thresholds() {
    let project = project();
    write(&project, 8);
    let record = |flags: &[&str]| {
        project.stdout_of(&[&["session", "record", "c", "history.md"], flags].concat())
    };
    assert!(!record(&["--window", "200000"]).contains("instead of"));
    let due = record(&["--window", "1000"]);
    assert!(due.contains("\nwindow: 1,000 tokens instead of 200,000\nmessages: 17 "), "{due}");
    assert!(due.contains("\nhand over: context window utilization exceeded 85%"), "{due}");
    assert!(due.contains("\ncompact: less than 20% of the budget is left\n"), "{due}");
    // Without the flag, the window remains.
    let same = track(&project, "c", &[]);
    assert_eq!((&same["window"], &same["previous_window"]), (&json!(1_000), &Value::Null));
    assert_eq!((&same["decision"], &same["compaction_due"]), (&json!("hand_off"), &json!(true)));
    let id = project.stdout_of(&["session", "handoff", "c", "--if-due"]);

    let larger = track(&project, "c", &["--window", "200000", "--output-reserve", "500"]);
    assert_eq!(larger["previous_window"], json!({ "window": 1_000, "output_reserve": 0 }));
    assert_eq!((&larger["window"], &larger["output_reserve"]), (&json!(200_000), &json!(500)));
    assert_eq!((&larger["decision"], &larger["compaction_due"]), (&json!("none"), &json!(false)));
    assert_eq!(project.stdout_of(&["session", "handoff", "c", "--if-due"]), "");
    let again = record(&["--window", "1000"]);
    let line = "\nwindow: 1,000 tokens instead of 200,000\n";
    assert!(again.contains(line), "{again}");
    // What was prepared for another window does not stop another hand-off.
    assert_ne!(project.stdout_of(&["session", "handoff", "c", "--if-due"]), id);
    let reserve = record(&["--output-reserve", "700"]);
    assert!(reserve.contains("\noutput reserve: 700 tokens instead of 500\n"), "{reserve}");
    let too_small = ["session", "record", "c", "--window", "700"];
    fails(&project, &too_small, 2, "the output reserve (700 tokens) must be smaller");
}

#[test]
fn another_model_changes_the_window_and_the_same_one_keeps_it() {
    let project = project();
    write(&project, 2);
    let window = |flags: &[&str]| {
        let tracked = track(&project, "c", flags);
        (tracked["window"].clone(), tracked["previous_window"]["window"].clone())
    };
    // The model may be served with a smaller window.
    let small = ["--window", "8000", "--model", "gpt-4o"];
    assert_eq!(window(&small), (json!(8_000), Value::Null));
    assert_eq!(window(&["--model", "gpt-4o"]), (json!(8_000), Value::Null));
    assert_eq!(window(&["--model", "gpt-4"]), (json!(8_192), json!(8_000)));
    assert_eq!(window(&["--model", "gpt-4o"]), (json!(128_000), json!(8_192)));
    assert_eq!(window(&small), (json!(8_000), json!(128_000)));
    // A query may name the model too, but begins nothing.
    let query = ["session", "record", "c", "--model", "gpt-4"];
    assert!(project.stdout_of(&query).contains("\nwindow: 8,192 tokens instead of 8,000\n"));
    fails(&project, &["session", "record", "x", "--model", "gpt-4"], 1, "[unknown_conversation]");
    assert_eq!(window(&small), (json!(8_000), json!(8_192)));
    // The session that resumes a hand-off knows the model.
    let id = project.stdout_of(&["session", "handoff", "c", "--force"]);
    project.stdout_of(&["session", "resume", id.trim_end(), "--as", "d"]);
    let record = |model| {
        let record = ["session", "record", "d", "--usage", "1", "--json", "--model", model];
        project.json(&record)["previous_window"].clone()
    };
    assert_eq!(record("gpt-4o"), Value::Null);
    assert_eq!(record("gpt-4"), json!({ "window": 8_000, "output_reserve": 0 }));
}

/// The settings name a model for new sessions, and a change of it is noticed.
#[test]
fn model_of_the_settings_changes_the_window_only_if_it_is_another() {
    let project = project();
    write(&project, 2);
    let settings = |model: &str| {
        project.write(&format!(
            "[context.tokenizer]\nmodel = \"{model}\"\n[continuity]\nstore = \"kept.sqlite\"\n"
        ));
    };
    assert_eq!(track(&project, "c", &["--window", "8000"])["window"], 8_000);
    settings("gpt-4o");
    assert_eq!(track(&project, "c", &[])["window"], 8_000);
    settings("gpt-4");
    let other = track(&project, "c", &[]);
    assert_eq!(
        (&other["window"], &other["previous_window"]["window"]),
        (&json!(8_192), &json!(8_000))
    );
}

#[test]
fn assumed_window_is_reported_once() {
    let project = project();
    write(&project, 1);
    let record = ["session", "record", "c", "history.md"];
    let warning = "no window is set, so 64,000 tokens are assumed; set the window of the model \
                   with `--window N` or `--model NAME`";
    let output = project.run(&record);
    assert!(output.status.success() && stderr(&output).contains(warning), "{}", stderr(&output));
    assert_eq!(stderr(&project.run(&record)), "");
    let json = track(&project, "d", &[]);
    assert_eq!((&json["window"], &json["warnings"]), (&json!(64_000), &json!([warning])));
    for (id, flags) in [("e", ["--window", "64000"]), ("f", ["--model", "gpt-4"])] {
        assert_eq!(track(&project, id, &flags)["warnings"], json!([]), "{flags:?}");
    }
    // A model that is named later sets it.
    assert_eq!(track(&project, "c", &["--model", "gpt-4"])["window"], 8_192);
}

#[test]
fn warning_says_how_much_is_left() {
    let project = project();
    write(&project, 1);
    track(&project, "c", &["--window", "10000"]);
    let usage = ["session", "record", "c", "--usage", "8000"];
    let text = project.stdout_of(&usage);
    assert!(text.contains("\napproaching the limit: 0 turns left\n"), "{text}");
    let json = project.json(&["session", "record", "c", "--json"]);
    assert_eq!((&json["decision"], &json["reason"]), (&json!("warning"), &json!("0 turns left")));
    // Without a message, the length of a turn is not known.
    let text =
        project.stdout_of(&["session", "record", "new", "--window", "10000", "--usage", "8000"]);
    assert!(text.contains("\napproaching the limit: 20% of the window left\n"), "{text}");
}

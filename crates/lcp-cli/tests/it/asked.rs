//! Sessions: what is asked for explicitly, and histories that grow.

use serde_json::{Value, json};

use crate::command::{LCP, Project};

fn project(history: &str) -> Project {
    let project = LCP.project("[continuity]\nstore = \"kept.sqlite\"\n");
    write(&project, history);
    project.stdout_of(&["track", "c", "history.md"]);
    project
}

fn write(project: &Project, history: &str) {
    let text = format!("# aider chat started at 2026-01-01 10:00:00\n\n{history}");
    std::fs::write(project.path("history.md"), text).unwrap();
}

fn history() -> String {
    let turn = |at| format!("#### Now step {at}.\n\nStep {at} moves a function.\n\n");
    (0..4).map(turn).collect()
}

/// What waits is given again only where it is what is asked for.
#[cfg(unix)]
#[test]
fn pending_handoff_is_reused_only_if_flags_match() {
    let project = project(&history());
    let hand = |flags: &[&str]| -> Value {
        project.json(&[&["handoff", "c", "--force", "--json"], flags].concat())
    };
    let is = |made: &Value, new: bool, by: &str| {
        assert_eq!((&made["new"], &made["handoff"]["summarizer"]), (&json!(new), &json!(by)));
    };
    let plain = hand(&[]);
    let builtin = plain["handoff"]["summarizer"].as_str().unwrap();
    is(&hand(&[]), false, builtin);
    let said = "cat > /dev/null; echo NewMessages otherwise.";
    is(&hand(&["--summarizer-cmd", said]), true, said);
    is(&hand(&["--summarizer-cmd", said]), false, said);
    // Without the flag anybody's summary will do.
    is(&hand(&[]), false, said);
    // How large a summary was to be, no hand-off says.
    is(&hand(&["--summary", "50"]), true, builtin);
}

/// The program adds lines to what it said last.
#[test]
fn growing_aider_history_is_recorded_incrementally() {
    let begin = format!("{}> Applied edit to a.rs\n", history());
    let project = project(&begin);
    let track = || -> Value { project.json(&["track", "c", "history.md", "--json"]) };
    assert_eq!(track()["messages"], 8);
    let more = format!("{begin}> Commit 123 done\n");
    write(&project, &more);
    assert_eq!(track()["messages"], 8);
    write(&project, &format!("{more}\n#### And now?\n"));
    let tracked = track();
    assert_eq!((&tracked["messages"], &tracked["recorded"]), (&json!(10), &json!(2)));
}

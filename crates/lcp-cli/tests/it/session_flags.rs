//! Flags of `lcp session` with values that leave nothing to do.

use serde_json::Value;

use crate::command::stderr;
use crate::sessions::{project, track, write};

#[test]
fn skip_beyond_the_file_gives_a_warning() {
    let project = project();
    write(&project, 1);
    let record = |skip| {
        let flags = ["--skip", skip, "--window", "9000"];
        stderr(&project.run(&[&["session", "record", "work", "history.md"], &flags[..]].concat()))
    };
    let warning = "warning: --skip 50 leaves nothing to record: the file has 3 messages\n";
    assert!(record("50").contains(warning), "{}", record("50"));
    // The new session has no messages yet.
    assert!(!record("3").contains("--skip"), "{}", record("3"));
}

#[test]
fn target_without_room_for_content_is_refused() {
    let project = project();
    write(&project, 4);
    track(&project, "work", &["--window", "9000"]);
    let handoff =
        |target: &str| project.run(&["session", "handoff", "work", "--force", "--target", target]);
    let output = handoff("10");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty());
    assert!(
        text.contains("at most 10 tokens has no room for content [target_too_small]"),
        "{text}"
    );
    let hint = text.lines().find_map(|line| line.strip_prefix("hint: pass --target ")).unwrap();
    let least = hint.strip_suffix(" or more").unwrap();
    // Nothing was stored, and the smallest target works.
    assert_eq!(track(&project, "work", &[])["handoff"], Value::Null);
    let id = String::from_utf8(handoff(least).stdout).unwrap();
    let prompt = project.stdout_of(&["session", "resume", id.trim_end()]);
    assert!(prompt.contains("<document"), "{prompt}");
}

//! Coverage: the parts of a hand-off that a text retains.

use lcp_continuity::coverage::{COVERAGE_MIN, Ratio, measure};
use lcp_continuity::{AnchorKind, PendingTask, SessionHandoff, SessionState};

use crate::resume_prompt::{anchor, empty};

/// Returns a hand-off with `of` anchors of `kind`, and a text with `kept` of them.
fn anchored(kind: AnchorKind, of: usize, kept: usize) -> (SessionHandoff, String) {
    let words = |at: usize| format!("<anchor {at}>");
    let anchors = (0..of).map(|at| anchor(kind, &words(at), 0.5)).collect();
    let text: String = (0..kept).map(words).collect();
    (SessionHandoff { anchors, ..empty() }, text)
}

#[test]
fn empty_handoff_is_fully_covered_by_any_text() {
    let fidelity = measure(&empty(), "");
    assert_eq!((fidelity.score, fidelity.ok), (1.0, true));
    assert_eq!(fidelity.anchors, Ratio { retained: 0, total: 0 });
}

#[test]
fn coverage_score_below_0_85_is_not_ok() {
    let (handoff, text) = anchored(AnchorKind::CriticalFact, 20, 17);
    let fidelity = measure(&handoff, &text);
    assert_eq!((fidelity.score, fidelity.ok), (COVERAGE_MIN, true));
    assert_eq!(fidelity.lost[0], "critical fact \"<anchor 17>\"");
    let (handoff, text) = anchored(AnchorKind::CriticalFact, 20, 16);
    assert!(!measure(&handoff, &text).ok);
}

#[test]
fn lost_state_is_ok_but_not_with_a_lost_step() {
    let (mut handoff, mut text) = anchored(AnchorKind::Preference, 3, 3);
    let steps = (0..7).map(|step| format!("<step {step}>")).collect();
    handoff.pending_tasks = vec![PendingTask { remaining_steps: steps, ..PendingTask::default() }];
    handoff.state =
        Some(SessionState { branch: Some("main".to_owned()), ..SessionState::default() });
    text.push_str("<step 0><step 1><step 2><step 3><step 4><step 5>");
    assert!(!measure(&handoff, &text).ok);
    text.push_str("<step 6>");
    // The score is (50 + 35) ÷ 100, which has no exact binary fraction.
    let fidelity = measure(&handoff, &text);
    assert!((fidelity.score - 0.85).abs() < 1e-12 && fidelity.ok);
    // Without a state, the other parts make up the whole score: 85 of 85.
    handoff.state = None;
    assert!((measure(&handoff, &text).score - 1.0).abs() < 1e-12);
}

#[test]
fn lost_binding_anchor_is_never_ok() {
    for kind in AnchorKind::ALL {
        let (handoff, text) = anchored(kind, 100, 99);
        assert_eq!(measure(&handoff, &text).ok, !kind.is_binding(), "{kind:?}");
    }
}

#[test]
fn superseded_anchors_are_not_required() {
    let (mut handoff, _) = anchored(AnchorKind::Decision, 1, 0);
    handoff.anchors[0].superseded_by = Some("newer".to_owned());
    assert!(measure(&handoff, "").ok);
}

#[test]
fn changed_bytes_count_as_lost_anchor() {
    let text = "Use “SQLite”.";
    let handoff =
        SessionHandoff { anchors: vec![anchor(AnchorKind::Decision, text, 0.5)], ..empty() };
    assert!(measure(&handoff, &format!("before {text} behind")).ok);
    assert!(!measure(&handoff, "Use \"SQLite\".").ok);
}

#[test]
fn losses_are_listed_by_kind_and_beginning() {
    let long = "a".repeat(61);
    let state = SessionState {
        variables: [("PORT".to_owned(), "80".to_owned())].into(),
        active_files: vec!["a.rs".to_owned()],
        recent_commands: vec!["make\nall".to_owned()],
        working_directory: Some("/w".to_owned()),
        branch: Some("main".to_owned()),
    };
    let task = PendingTask { done_steps: vec![long], ..PendingTask::default() };
    let handoff = SessionHandoff { pending_tasks: vec![task], state: Some(state), ..empty() };
    let fidelity = measure(&handoff, "PORT a.rs");
    let step = format!("step \"{}…\"", "a".repeat(60));
    assert_eq!(
        fidelity.lost,
        [
            step.as_str(),
            "directory \"/w\"",
            "branch \"main\"",
            "command \"make\\nall\"",
            "variable \"PORT\"",
        ],
    );
    assert_eq!(fidelity.state, Ratio { retained: 1, total: 5 });
    // A fifth of the state is covered, and no step.
    assert!((fidelity.score - 0.2 * 15.0 / 50.0).abs() < 1e-12);
}

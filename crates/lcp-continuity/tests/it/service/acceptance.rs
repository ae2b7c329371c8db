//! The acceptance criteria and scenarios of Session Continuity Service, by name.

use std::sync::Arc;

use lcp_continuity::store::MemoryStore;
use lcp_continuity::{HandoffOptions, Message, SessionContinuityService};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use super::support::{Fixture, PLAN, conversation, words};

/// Criterion 1.
#[test]
fn tracking_counts_each_message_accurately() {
    let counter = Arc::new(Tiktoken::new(Encoding::O200kBase));
    let store = Arc::new(MemoryStore::new());
    let service = SessionContinuityService::new(store, Arc::clone(&counter) as _);
    service.open(&conversation("c", 100_000)).unwrap();
    let texts = ["Hello, world!", "", "fn main() {}\n", "日本語のテキスト"];
    let mut sum = 0;
    for text in texts {
        let usage = service.record_message("c", Message::user(text)).unwrap();
        sum += counter.estimate(text);
        assert_eq!(usage.last_message_tokens, counter.estimate(text), "{text}");
        assert_eq!(usage.total_tokens, sum);
    }
}

/// Criterion 2.
#[test]
fn utilization_divides_used_by_window_tokens() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(250)));
    let usage = fixture.service.usage("c");
    assert!((usage.utilization(1_000) - 0.25).abs() < f32::EPSILON);
    assert!(usage.utilization(0).abs() < f32::EPSILON);
}

/// Criterion 3.
#[test]
fn trigger_is_true_at_85_percent() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(849)));
    assert!(!fixture.service.should_handoff("c", 1_000).should_handoff);
    fixture.say("c", Message::user(words(1)));
    assert!(fixture.service.should_handoff("c", 1_000).should_handoff);
}

/// Criterion 4.
#[test]
fn handoff_is_a_complete_package() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("Please move the parser into files of its own."));
    fixture.say("c", Message::assistant(PLAN));
    fixture.say("c", Message::assistant("DECISION: One file for each rule of the grammar."));
    fixture.say("c", Message::tool_call("1", "{\"command\": \"cargo test -p parser\"}"));
    fixture.say("c", Message::tool_result("1", "bash", lcp_types::Status::Ok, "all passed"));
    let handoff = fixture.service.prepare_handoff("c", 4_000, &HandoffOptions::default()).unwrap();
    assert!(!handoff.summary.is_empty());
    assert_eq!(handoff.anchors[0].text, "One file for each rule of the grammar.");
    let task = &handoff.pending_tasks[0];
    assert_eq!((task.done_steps.len(), task.remaining_steps.len()), (1, 6));
    assert_eq!(task.description, "Plan: move the parser");
    assert_eq!(task.remaining_steps[0], "split lexer.rs");
    assert_eq!(handoff.state.unwrap().recent_commands, ["cargo test -p parser"]);
    let metadata = &handoff.metadata;
    assert_eq!(metadata.messages, 5);
    assert!(metadata.tokens_before > 0 && metadata.tokens_after > 0);
    assert_eq!(metadata.reason, "Requested");
    assert!(metadata.coverage.ok, "{:?}", metadata.coverage);
}

/// Criterion 5.
#[test]
fn resume_restores_the_context() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("Please move the parser into files of its own."));
    fixture.say("c", Message::assistant(PLAN));
    let handoff = fixture.service.prepare_handoff("c", 4_000, &HandoffOptions::default()).unwrap();
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    assert_eq!(resumed.previous_conversation_id, "c");
    let intent = resumed.directive.user_intent.as_deref();
    assert_eq!(intent, Some("Please move the parser into files of its own."));
    let context = fixture.service.context(&resumed.new_conversation_id).unwrap();
    assert_eq!(context[0].text(), resumed.directive.text);
    let usage = fixture.service.usage(&resumed.new_conversation_id);
    assert_eq!(usage.total_tokens, resumed.directive.tokens);
    assert_eq!(usage.epoch, 1);
}

#[test]
fn scenario_token_tracking_accumulates_correctly() {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    for _ in 0..10 {
        fixture.say("c", Message::user(words(100)));
    }
    let usage = fixture.service.usage("c");
    assert_eq!((usage.total_tokens, usage.average_tokens_per_turn), (1_000, 100));
    assert_eq!(usage.message_count, 10);
}

#[test]
fn scenario_handoff_triggered_at_85_percent_utilization() {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    fixture.say("c", Message::user(words(85_000)));
    let decision = fixture.service.should_handoff("c", 100_000);
    assert!(decision.should_handoff);
    assert_eq!(decision.reason, "Context window utilization exceeded 85% threshold");
}

#[test]
fn scenario_session_resumption_restores_context() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::assistant(PLAN));
    fixture.say("c", Message::user("DECISION: The lexer stays private."));
    let handoff = fixture.service.prepare_handoff("c", 4_000, &HandoffOptions::default()).unwrap();
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    assert!(!resumed.directive.immediate_actions.is_empty());
    let decisions: Vec<_> = resumed.restored_anchors.iter().map(|a| a.text.as_str()).collect();
    assert_eq!(decisions, ["The lexer stays private."]);
}

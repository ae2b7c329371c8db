//! Compaction of a recorded conversation.

use std::time::Duration;

use lcp_continuity::compact::CompactionOptions;
use lcp_continuity::extract::{Summarizer, SummaryError, SummaryRequest};
use lcp_continuity::{CheckOutcome, ContinuityConfig, HandoffOptions, Message, TriggerMode};
use lcp_types::Role;

use super::support::{Fixture, words};

fn filled() -> Fixture {
    let config = ContinuityConfig { mode: TriggerMode::Manual, ..ContinuityConfig::default() };
    let fixture = Fixture::with(config);
    fixture.open("c", 1_000);
    fixture.say("c", Message::system("You are a careful engineer."));
    fixture.say("c", Message::user("DECISION: Nothing is deleted."));
    for turn in 0..40 {
        fixture.say("c", Message::user(format!("Question {turn}: {}", words(18))));
    }
    fixture
}

/// CBS-INT-01, CBS-EX-04: in a window of 8,000, above 5,120 tokens (80 % of 6,400).
#[test]
fn compaction_starts_above_80_percent_of_the_effective_window() {
    let fixture = Fixture::new();
    fixture.open("c", 8_000);
    for _ in 0..16 {
        fixture.say("c", Message::user(words(320)));
    }
    assert_eq!(fixture.service.usage("c").total_tokens, 5_120);
    assert_eq!(fixture.service.compact_if_low("c").unwrap(), None);
    fixture.say("c", Message::user(words(180)));
    let compaction = fixture.service.compact_if_low("c").unwrap().unwrap();
    assert_eq!((compaction.target_tokens, compaction.budget.total()), (4_000, 6_400));
    let lines = compaction.lines();
    assert_eq!(lines[0], "[Budget] Low budget alert! 1100 tokens remaining (17%)");
    assert_eq!(fixture.service.usage("c").total_tokens, compaction.tokens_after);
}

#[test]
fn output_reserve_lowers_the_start_of_compaction() {
    for (tokens, is_compacted) in [(4_800, false), (4_801, true)] {
        let fixture = Fixture::new();
        let mut conversation = super::support::conversation("c", 8_000);
        conversation.output_reserve_tokens = 400;
        fixture.service.open(&conversation).unwrap();
        fixture.say("c", Message::user(words(tokens - 10)));
        fixture.say("c", Message::user(words(10)));
        assert_eq!(fixture.service.compact_if_low("c").unwrap().is_some(), is_compacted);
    }
}

#[test]
fn single_message_cannot_be_compacted() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(641)));
    let before = fixture.store.conversation("c").unwrap();
    assert_eq!(fixture.service.compact_if_low("c").unwrap_err().code(), "not_compacted");
    assert_eq!(fixture.store.conversation("c").unwrap(), before);
    assert_eq!(fixture.service.usage("c").total_tokens, 641);
}

#[test]
fn low_budget_is_compacted_to_half_the_window() {
    let fixture = filled();
    let before = fixture.service.usage("c");
    assert!(before.total_tokens > 800);
    let compaction = fixture.service.compact_if_low("c").unwrap().unwrap();
    assert!(compaction.tokens_after <= 500);
    let after = fixture.service.usage("c");
    assert_eq!((after.total_tokens, after.epoch), (compaction.tokens_after, 1));
    let context = fixture.service.context("c").unwrap();
    let counted: u32 = context.iter().map(|m| super::prepare::counted(&m.text())).sum();
    assert_eq!(counted, compaction.tokens_after);
    assert_eq!(context[0].text(), "You are a careful engineer.");
    assert!(context[1].text().starts_with("[Persistent Memory]\n"));
    assert!(context[1].text().contains("Nothing is deleted."));
    assert_eq!(context.last().unwrap().text(), format!("Question 39: {}", words(18)));
    // Nothing is deleted.
    assert!(fixture.store.messages("c", 0, 100).unwrap().len() > 42);
}

#[test]
fn reopened_compacted_conversation_is_compacted_again() {
    let fixture = filled();
    fixture.service.compact("c", &CompactionOptions::default()).unwrap();
    let context = fixture.service.context("c").unwrap();
    fixture.service.close("c").unwrap();
    let other = fixture.another("other");
    other.service.reopen("c").unwrap();
    assert_eq!(other.service.context("c").unwrap(), context);
    for turn in 40..70 {
        other.say("c", Message::user(format!("Question {turn}: {}", words(18))));
    }
    let compaction = other.service.compact_if_low("c").unwrap().unwrap();
    let context = other.service.context("c").unwrap();
    let memories = context.iter().filter(|m| m.text().starts_with("[Persistent Memory]")).count();
    assert_eq!(memories, 1);
    assert!(context.iter().any(|message| message.text().contains("Nothing is deleted.")));
    let counted: u32 = context.iter().map(|m| super::prepare::counted(&m.text())).sum();
    assert_eq!((counted, other.service.usage("c").epoch), (compaction.tokens_after, 2));
}

#[test]
fn compaction_rearms_trigger_in_new_epoch() {
    let fixture = filled();
    fixture.say("c", Message::user(words(60)));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::Due);
    fixture.service.compact("c", &CompactionOptions::default()).unwrap();
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::NoAction);
    fixture.say("c", Message::user(words(500)));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::Due);
}

#[test]
fn handoff_after_compaction_includes_archived_anchors() {
    let fixture = filled();
    fixture.service.compact("c", &CompactionOptions::default()).unwrap();
    let handoff = fixture.service.prepare_handoff("c", 400, &HandoffOptions::default()).unwrap();
    assert_eq!(handoff.anchors[0].text, "Nothing is deleted.");
    assert!(handoff.recent.iter().all(|message| message.message.role() != Role::System));
    assert_eq!(handoff.epoch, 1);
}

/// A summarizer that returns the previous summary.
struct Before;

impl Summarizer for Before {
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        Ok(request.before.unwrap_or("what was said").trim().to_owned())
    }

    fn name(&self) -> &'static str {
        "before"
    }
}

fn memories(context: &[Message]) -> usize {
    context.iter().filter(|m| m.text().starts_with("[Persistent Memory]\n")).count()
}

#[test]
fn outdated_memory_is_dropped_at_next_compaction() {
    let mut fixture = filled();
    fixture.service = fixture.service.with_summarizer(Before);
    fixture.open("c", 1_000);
    let memory = || {
        let options = CompactionOptions::default();
        let compaction = fixture.service.compact("c", &options).unwrap();
        compaction.memory.unwrap().message.text().into_owned()
    };
    let asked = "Which port does the server use?";
    fixture.service.reopen("c").unwrap();
    fixture.say("c", Message::user(asked));
    fixture.say("c", Message::user(words(400)));
    let first = memory();
    assert!(first.contains("- decision: Nothing is deleted.\n"), "{first}");
    assert!(first.contains(asked), "{first}");
    fixture.say("c", Message::assistant("Port 8022."));
    fixture.say("c", Message::user("DECISION: Old rows are deleted."));
    let anchors = fixture.service.prepare_handoff("c", 400, &HandoffOptions::default());
    let anchors = anchors.unwrap().anchors;
    fixture.service.supersede_anchor("c", &anchors[0].id, &anchors[1].id).unwrap();
    fixture.say("c", Message::user(words(400)));
    let second = memory();
    assert!(second.contains("- decision: Old rows are deleted.\n"), "{second}");
    assert!(second.contains("Remembered from before:\nMessages"), "{second}");
    assert!(!second.contains("Nothing is deleted.") && !second.contains(asked), "{second}");
}

#[test]
fn configured_superseded_anchors_apply_to_compaction() {
    let fixture = filled();
    let mut config = fixture.service.config().clone();
    let handoff = fixture.service.prepare_handoff("c", 400, &HandoffOptions::default()).unwrap();
    config.handoff.superseded_anchors = vec![(handoff.anchors[0].id.clone(), "x".into())];
    fixture.service.close("c").unwrap();
    let fixture = fixture.configured(config);
    fixture.service.reopen("c").unwrap();
    let compaction = fixture.service.compact("c", &CompactionOptions::default()).unwrap();
    let memory = compaction.memory.unwrap().message.text().into_owned();
    assert!(!memory.contains("- decision: Nothing is deleted."), "{memory}");
}

#[test]
fn system_turn_that_resembles_memory_stays_a_prompt() {
    let config = ContinuityConfig { mode: TriggerMode::Manual, ..ContinuityConfig::default() };
    let fixture = Fixture::with(config);
    fixture.open("c", 1_000);
    let imported = Message::system("[Persistent Memory]\nThe user likes tea.");
    fixture.say("c", imported.clone());
    let say = || {
        for turn in 0..40 {
            fixture.say("c", Message::user(format!("Question {turn}: {}", words(18))));
        }
    };
    say();
    assert_eq!(fixture.service.context("c").unwrap()[0], imported);
    for _ in 0..2 {
        let compaction = fixture.service.compact("c", &CompactionOptions::default()).unwrap();
        let context = fixture.service.context("c").unwrap();
        assert_eq!((&context[0], memories(&context)), (&imported, 2));
        assert_eq!(fixture.service.usage("c").total_tokens, compaction.tokens_after);
        fixture.service.close("c").unwrap();
        fixture.service.reopen("c").unwrap();
        assert_eq!(fixture.service.context("c").unwrap(), context);
        say();
    }
    // A fork shows all messages, and not our memory.
    let all = fixture.service.messages("c").unwrap().len() as u64;
    for (parent, fork) in [("c", "fork"), ("fork", "fork of it")] {
        let usage = fixture.service.fork(parent, all, fork).unwrap();
        let context = fixture.service.context(fork).unwrap();
        assert_eq!((context.len(), memories(&context)), (121, 1));
        let counted: u32 = context.iter().map(|m| super::prepare::counted(&m.text())).sum();
        assert_eq!(usage.total_tokens, counted);
    }
}

#[test]
fn older_status_identifies_memories_by_first_line() {
    let fixture = filled();
    fixture.service.compact("c", &CompactionOptions::default()).unwrap();
    let context = fixture.service.context("c").unwrap();
    fixture.service.close("c").unwrap();
    let status = fixture.store.conversation("c").unwrap().status.unwrap();
    let mut status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert!(status.as_object_mut().unwrap().remove("memories").is_some());
    let lease = fixture.store.lease("c", "an earlier version", Duration::from_secs(1)).unwrap();
    fixture.store.append(&lease, &[], Some(&status.to_string())).unwrap();
    fixture.store.release(&lease).unwrap();
    fixture.service.reopen("c").unwrap();
    assert_eq!(fixture.service.context("c").unwrap(), context);
    let messages = fixture.service.messages("c").unwrap().len() as u64;
    fixture.service.fork("c", messages, "fork").unwrap();
    assert_eq!(memories(&fixture.service.context("fork").unwrap()), 0);
}

#[test]
fn status_size_does_not_grow_with_recent_messages() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(4_000)));
    let turns = (0..500).map(|_| Message::user("on")).collect();
    fixture.service.record_messages("c", turns).unwrap();
    fixture.say("c", Message::system("Be brief."));
    fixture.say("c", Message::user("Go on."));
    let compaction = fixture.service.compact("c", &CompactionOptions::default()).unwrap();
    assert_eq!(compaction.recent.len(), 501);
    let status = fixture.store.conversation("c").unwrap().status.unwrap();
    assert!(status.len() < 1_000, "{status}");
    assert_eq!(fixture.service.context("c").unwrap().len(), 503);
}

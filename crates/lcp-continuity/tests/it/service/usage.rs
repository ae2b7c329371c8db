//! The usage of a conversation and its history, also after the process ended.

use std::time::Duration;

use lcp_continuity::compact::CompactionOptions;
use lcp_continuity::{HandoffOptions, Message, ReportedUsage};

use super::support::{Fixture, words};

fn used(fixture: &Fixture, id: &str) -> Vec<(u32, u32)> {
    let inspected = fixture.service.inspect_usage(id).unwrap();
    inspected.history.entries().map(|entry| (entry.used, entry.total)).collect()
}

fn reported(input_tokens: u32, output_tokens: u32) -> ReportedUsage {
    ReportedUsage { input_tokens, output_tokens, ..ReportedUsage::default() }
}

fn turn(fixture: &Fixture, id: &str, tokens: usize) {
    fixture.say(id, Message::user(words(tokens)));
    fixture.say(id, Message::assistant(words(tokens)));
}

#[test]
fn history_has_the_usage_after_each_answer() {
    let fixture = Fixture::new();
    fixture.open("c", 8_000);
    turn(&fixture, "c", 100);
    turn(&fixture, "c", 50);
    assert_eq!(used(&fixture, "c"), [(200, 6_400), (300, 6_400)]);
    fixture.service.record_reported("c", reported(5_000, 440)).unwrap();
    assert_eq!(used(&fixture, "c"), [(200, 6_400), (5_440, 6_400)]);
    // Another window changes only later records.
    fixture.service.set_window("c", 16_000, 0, Some("large")).unwrap();
    turn(&fixture, "c", 10);
    let inspected = fixture.service.inspect_usage("c").unwrap();
    let newest = inspected.history.entries().next_back().unwrap();
    assert_eq!(
        (newest.model.as_deref(), newest.used, newest.total),
        (Some("large"), 5_460, 12_800)
    );
    assert_eq!((inspected.budget_tokens, inspected.usage.total_tokens), (12_800, 5_460));
}

#[test]
fn history_survives_the_process_and_needs_no_lease() {
    let fixture = Fixture::new();
    fixture.open("c", 8_000);
    turn(&fixture, "c", 100);
    fixture.service.record_reported("c", reported(900, 60)).unwrap();
    let before = fixture.service.inspect_usage("c").unwrap();
    // The other service reads it while this one holds the lease.
    let other = fixture.another("other");
    let record = fixture.store.conversation("c").unwrap();
    assert_eq!(other.service.inspect_usage("c").unwrap(), before);
    assert_eq!(fixture.store.conversation("c").unwrap(), record);
    // It is not open there.
    assert_eq!(other.service.usage("c").total_tokens, 0);
    assert_eq!(other.service.messages("c").unwrap_err().code(), "not_open");
    fixture.service.close("c").unwrap();
    other.service.reopen("c").unwrap();
    turn(&other, "c", 20);
    assert_eq!(used(&other, "c"), [(960, 6_400), (1_000, 6_400)]);
    // A hand-off that was resumed ends the conversation, not its history.
    let handoff = other.service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    other.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    assert_eq!(used(&other, "c"), [(960, 6_400), (1_000, 6_400)]);
}

#[test]
fn history_goes_on_after_a_compaction() {
    let fixture = Fixture::new();
    fixture.open("c", 8_000);
    for _ in 0..20 {
        turn(&fixture, "c", 140);
    }
    let options = CompactionOptions::default();
    let planned = fixture.service.inspect_compaction("c", &options).unwrap();
    assert_eq!(fixture.service.usage("c").total_tokens, 5_600);
    let compacted = fixture.service.compact("c", &options).unwrap();
    assert_eq!(planned, compacted);
    turn(&fixture, "c", 10);
    let used = used(&fixture, "c");
    assert_eq!(used.len(), 21);
    assert_eq!(used[19].0, 5_600);
    assert_eq!(used[20].0, compacted.tokens_after + 20);
}

/// A fork has no stored usage of its own before its first record.
#[test]
fn fork_has_the_history_of_its_messages() {
    let fixture = Fixture::new();
    fixture.open("c", 8_000);
    turn(&fixture, "c", 100);
    turn(&fixture, "c", 50);
    fixture.store.fork("c", 2, "d").unwrap();
    assert_eq!(used(&fixture, "d"), [(200, 6_400)]);
}

#[test]
fn failed_record_adds_nothing_to_the_history() {
    let fixture = Fixture::new();
    fixture.open("c", 8_000);
    turn(&fixture, "c", 100);
    let other = fixture.another("other");
    fixture.wait(Duration::from_secs(600));
    other.service.reopen("c").unwrap();
    let late = fixture.service.record_message("c", Message::assistant("late"));
    assert_eq!(late.unwrap_err().code(), "lease_lost");
    assert_eq!(used(&other, "c"), [(200, 6_400)]);
}

//! The use of context windows by conversations.

use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::{
    ConversationTokenTracker, ManualClock, Message, ReportedUsage, Timestamp, TokenUsage,
    UsageSource,
};
use lcp_tokens::{Encoding, HeuristicEstimator, Tiktoken, TokenEstimator};
use lcp_types::{Block, Diff, DiffHunk, MediaType, Role, Status, UnknownFields};
use proptest::prelude::*;

/// A tokenizer that counts words.
pub(crate) struct Words;

impl TokenEstimator for Words {
    fn estimate(&self, text: &str) -> u32 {
        let words = text.split_whitespace().count().max(usize::from(!text.is_empty()));
        u32::try_from(words).unwrap()
    }

    fn name(&self) -> &'static str {
        "words"
    }
}

fn tracker() -> ConversationTokenTracker {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
    ConversationTokenTracker::new(Arc::new(Words)).with_clock(clock)
}

fn reported(input_tokens: u32, output_tokens: u32) -> ReportedUsage {
    ReportedUsage { input_tokens, cached_input_tokens: 0, output_tokens }
}

/// SCS-AC-01.
#[test]
fn record_message_accurately_counts_tokens_for_each_message() {
    let o200k = Arc::new(Tiktoken::new(Encoding::O200kBase));
    let tracker = ConversationTokenTracker::new(Arc::clone(&o200k) as Arc<dyn TokenEstimator>);
    let mut total = 0;
    for (messages, text) in (1..).zip([
        "What does `parse` do?",
        "It reads a block: the type, the length, the body.\n",
        "  \n\n",
        "naïve — 東京 🦀",
    ]) {
        total += o200k.estimate(text);
        let usage = tracker.record_message("c", &Message::user(text));
        assert_eq!(usage.last_message_tokens, o200k.estimate(text));
        assert_eq!((usage.total_tokens, usage.message_count), (total, messages));
    }
}

#[test]
fn messages_without_text_count_zero() {
    let tracker = tracker();
    let image = Message::new(Block::image(MediaType::Png, "", vec![1_u8, 2, 3]));
    for message in [Message::user(""), image] {
        assert_eq!(tracker.count(&message), 0);
    }
}

/// Blocks without text are counted as they are shown.
#[test]
fn diffs_and_images_count_their_rendered_text() {
    let tracker = tracker();
    let image = Block::image(MediaType::Png, "a picture of words", vec![1_u8, 2, 3]);
    assert_eq!(tracker.count(&Message::new(image)), 4);
    let hunk = DiffHunk {
        old_start: 1,
        new_start: 1,
        lines: "-one\n+two\n".into(),
        unknown: UnknownFields::new(),
    };
    let diff = Diff { path: "a.rs".into(), hunks: vec![hunk], unknown: UnknownFields::new() };
    let result = Message::new(Block::new(diff)).answering("call_1");
    assert_eq!((result.role(), result.text().as_ref()), (Role::Tool, "@@ -1 +1 @@\n-one\n+two"));
    assert_eq!(tracker.count(&result), 6);
}

/// SCS-SC-01.
#[test]
fn token_tracking_accumulates_correctly() {
    let tracker = tracker();
    let message = Message::user("word ".repeat(100));
    for _ in 0..10 {
        tracker.record_message("c", &message);
    }
    let usage = tracker.usage("c");
    assert_eq!((usage.total_tokens, usage.average_tokens_per_turn), (1_000, 100));
    assert_eq!(tracker.estimate_remaining_turns(&usage, 1_550), 5);
}

/// SCS-AC-02.
#[test]
fn utilization_divides_usage_by_max_tokens() {
    let tracker = tracker();
    let usage = tracker.record_counted("c", Role::User, 850);
    for (max, part) in [(1_000, 0.85), (850, 1.0), (425, 2.0), (0, 0.0)] {
        assert!((tracker.utilization(&usage, max) - part).abs() < 1e-6, "{max}");
    }
}

#[test]
fn usage_has_all_expected_figures() {
    let tracker = tracker();
    tracker.record_counted("c", Role::System, 40);
    tracker.record_counted("c", Role::User, 10);
    tracker.record_counted("c", Role::Tool, 11);
    assert_eq!(
        tracker.usage("c"),
        TokenUsage {
            conversation_id: "c".into(),
            total_tokens: 61,
            system_prompt_tokens: 40,
            conversation_history_tokens: 21,
            last_message_tokens: 11,
            message_count: 3,
            average_tokens_per_turn: 11, // 10.5, rounded up
            last_updated: Timestamp(1_000),
            epoch: 0,
            source: UsageSource::Counted,
            cached_input_tokens: 0,
            output_tokens: 0,
        }
    );
}

#[test]
fn unknown_conversation_has_zero_usage_dated_now() {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
    let tracker = tracker().with_clock(Arc::clone(&clock) as _);
    clock.advance(Duration::from_secs(1));
    let zeros = TokenUsage {
        conversation_id: "new".into(),
        last_updated: Timestamp(2_000),
        ..TokenUsage::default()
    };
    assert_eq!(tracker.usage("new"), zeros);
    assert_eq!(tracker.conversations(), 0, "asking is not recording");
    assert_eq!(zeros.estimate_remaining_turns(1_000), 0);
}

#[test]
fn last_updated_is_time_of_newest_record() {
    let clock = Arc::new(ManualClock::new(Timestamp(0)));
    let tracker = tracker().with_clock(Arc::clone(&clock) as _);
    let at = |record: &dyn Fn() -> TokenUsage| {
        clock.advance(Duration::from_millis(5));
        record().last_updated
    };
    assert_eq!(at(&|| tracker.record_counted("c", Role::User, 1)), Timestamp(5));
    assert_eq!(at(&|| tracker.record_reported("c", reported(1, 1))), Timestamp(10));
    assert_eq!(at(&|| tracker.usage("c")), Timestamp(10));
}

#[test]
fn reported_usage_replaces_the_sum() {
    let tracker = tracker();
    tracker.record_counted("c", Role::System, 100);
    tracker.record_counted("c", Role::User, 50);
    tracker.record_counted("c", Role::Assistant, 30);
    let usage = tracker.record_reported(
        "c",
        ReportedUsage {
            input_tokens: 400,
            cached_input_tokens: 500, // more than there is
            output_tokens: 60,
        },
    );
    assert_eq!((usage.total_tokens, usage.source), (460, UsageSource::Reported));
    assert_eq!((usage.cached_input_tokens, usage.output_tokens), (400, 60));
    assert_eq!((usage.system_prompt_tokens, usage.conversation_history_tokens), (100, 360));
    assert_eq!((usage.message_count, usage.average_tokens_per_turn), (3, 180));

    let usage = tracker.record_counted("c", Role::User, 40);
    assert_eq!((usage.total_tokens, usage.source), (500, UsageSource::Reported));
    let usage = tracker.record_reported("c", reported(500, 10));
    assert_eq!(usage.total_tokens, 510, "reports are not added up");
}

#[test]
fn report_below_system_prompt_caps_it_until_next_report() {
    let tracker = tracker();
    tracker.record_counted("c", Role::System, 100);
    let usage = tracker.record_reported("c", reported(30, 0));
    assert_eq!((usage.system_prompt_tokens, usage.conversation_history_tokens), (30, 0));
    let usage = tracker.record_reported("c", reported(300, 0));
    assert_eq!((usage.system_prompt_tokens, usage.conversation_history_tokens), (100, 200));
}

#[test]
fn reset_begins_a_new_epoch() {
    let tracker = tracker();
    assert_eq!(tracker.reset("unknown"), 1);
    tracker.record_counted("c", Role::User, 10);
    tracker.record_reported("c", reported(100, 0));
    assert_eq!((tracker.reset("c"), tracker.reset("c")), (1, 2));
    let zeros = TokenUsage {
        conversation_id: "c".into(),
        last_updated: Timestamp(1_000),
        epoch: 2,
        ..TokenUsage::default()
    };
    assert_eq!(tracker.usage("c"), zeros);
    let usage = tracker.record_counted("c", Role::User, 10);
    assert_eq!((usage.epoch, usage.source), (2, UsageSource::Counted));
}

#[test]
fn begin_resets_usage_only_for_later_epochs() {
    let tracker = tracker();
    tracker.begin("c", 3);
    tracker.record_counted("c", Role::User, 10);
    for (epoch, (now, total)) in [(3, (3, 10)), (2, (3, 10)), (4, (4, 0))] {
        tracker.begin("c", epoch);
        let usage = tracker.usage("c");
        assert_eq!((usage.epoch, usage.total_tokens), (now, total), "begin {epoch}");
    }
}

#[test]
fn forget_removes_one_conversation() {
    let tracker = tracker();
    tracker.record_counted("a", Role::User, 10);
    tracker.record_counted("b", Role::User, 20);
    assert_eq!((tracker.forget("a"), tracker.forget("a")), (true, false));
    assert_eq!((tracker.conversations(), tracker.usage("a").total_tokens), (1, 0));
    assert_eq!(tracker.usage("b").total_tokens, 20);
}

#[test]
fn token_sums_saturate() {
    let tracker = tracker();
    tracker.record_counted("c", Role::System, u32::MAX);
    tracker.record_counted("c", Role::System, 5);
    let usage = tracker.record_counted("c", Role::User, u32::MAX);
    assert_eq!((usage.total_tokens, usage.system_prompt_tokens), (u32::MAX, u32::MAX));
    assert_eq!(tracker.record_reported("c", reported(u32::MAX, 1)).total_tokens, u32::MAX);
}

/// SCS-ALG-04.
#[test]
fn concurrent_threads_count_every_message() {
    const THREADS: u32 = 8;
    const MESSAGES: u32 = 600;
    let tracker = tracker();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let tracker = &tracker;
            scope.spawn(move || {
                for message in 0..MESSAGES {
                    let conversation = ["a", "b", "c"][((thread + message) % 3) as usize];
                    if message % 2 == 0 {
                        tracker.record_message(conversation, &Message::user("three words each"));
                    } else {
                        tracker.record_counted(conversation, Role::System, 3);
                    }
                    let usage = tracker.usage(conversation);
                    assert_eq!(
                        usage.total_tokens,
                        usage.system_prompt_tokens + usage.conversation_history_tokens
                    );
                }
            });
        }
    });
    let all = ["a", "b", "c"].map(|conversation| tracker.usage(conversation));
    let sum = |of: fn(&TokenUsage) -> u32| all.iter().map(of).sum::<u32>();
    assert_eq!(sum(|usage| usage.message_count), THREADS * MESSAGES);
    assert_eq!(sum(|usage| usage.total_tokens), THREADS * MESSAGES * 3);
    assert_eq!(sum(|usage| usage.system_prompt_tokens), THREADS * MESSAGES / 2 * 3);
}

#[test]
fn tool_results_count_only_their_text() {
    let tracker = ConversationTokenTracker::new(Arc::new(HeuristicEstimator));
    let result = Message::tool_result("call_1", "read_file", Status::Ok, "fn main() {}");
    assert_eq!(tracker.count(&result), HeuristicEstimator.estimate("fn main() {}"));
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Record(Role, u32),
    Report(u32, u32),
    Reset,
}

fn any_op() -> impl Strategy<Value = Op> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::Tool]);
    prop_oneof![
        8 => (role, 0..500_u32).prop_map(|(role, tokens)| Op::Record(role, tokens)),
        2 => (0..5_000_u32, 0..500_u32).prop_map(|(input, output)| Op::Report(input, output)),
        1 => Just(Op::Reset),
    ]
}

fn apply(tracker: &ConversationTokenTracker, op: Op) {
    match op {
        Op::Record(role, tokens) => {
            tracker.record_counted("c", role, tokens);
        }
        Op::Report(input, output) => {
            tracker.record_reported("c", reported(input, output));
        }
        Op::Reset => {
            tracker.reset("c");
            tracker.record_counted("c", Role::System, 70);
        }
    }
}

proptest! {
    /// A tracker with restored usage continues like the original, exact to the token if there is
    /// one system turn.
    #[test]
    fn restored_usage_continues_like_the_original(
        before in prop::collection::vec(any_op(), 1..20),
        after in prop::collection::vec(any_op(), 0..10),
    ) {
        let whole = tracker();
        whole.record_counted("c", Role::System, 70);
        for &op in &before {
            apply(&whole, op);
        }
        let put_down = whole.usage("c");
        let taken_up = tracker();
        let json = serde_json::to_string(&put_down).unwrap();
        taken_up.restore(serde_json::from_str(&json).unwrap());
        prop_assert_eq!(taken_up.usage("c"), put_down.clone());
        // A report that is smaller than the system prompt loses the prompt's size.
        prop_assume!(put_down.system_prompt_tokens == 70);
        for &op in &after {
            apply(&whole, op);
            apply(&taken_up, op);
            prop_assert_eq!(taken_up.usage("c"), whole.usage("c"));
        }
    }

    /// Restored figures add up from the next record on, even if they were inconsistent.
    #[test]
    fn inconsistent_figures_add_up_after_restore(
        figures in prop::array::uniform6(prop_oneof![0..9_u32, any::<u32>()]),
        op in any_op(),
    ) {
        let [total, system, history, last, count, average] = figures;
        let tracker = tracker();
        tracker.restore(TokenUsage {
            conversation_id: "c".into(),
            total_tokens: total,
            system_prompt_tokens: system,
            conversation_history_tokens: history,
            last_message_tokens: last,
            message_count: count,
            average_tokens_per_turn: average,
            ..TokenUsage::default()
        });
        apply(&tracker, op);
        let usage = tracker.usage("c");
        prop_assert_eq!(
            usage.total_tokens,
            usage.system_prompt_tokens + usage.conversation_history_tokens
        );
    }
}

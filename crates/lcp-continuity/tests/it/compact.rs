//! Compaction within a session.

mod laws;

use std::fmt::Write as _;

use expect_test::expect;
use lcp_continuity::command::CommandError;
use lcp_continuity::compact::{
    Compaction, CompactionError, CompactionOptions, CompactionRequest, CompactionWarning,
    MEMORY_HEADING, compact,
};
use lcp_continuity::extract::{Summarizer, SummaryError, SummaryRequest};
use lcp_continuity::{AnchorKind, AnchorPoint, AnchorSource, Message, Recorded};
use lcp_driver::shares::Shares;
use lcp_driver::window::{ContextWindow, WindowError};
use lcp_tokens::TokenEstimator;
use lcp_types::Status;

use crate::tracker::Words;

/// A summarizer whose summary states the number of messages and the beginning of the first one.
struct Says;

impl Summarizer for Says {
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let first = request.messages.first().map(|recorded| recorded.message.text());
        let first = first.as_deref().or(request.before).unwrap_or_default();
        let first = first.split_whitespace().next().unwrap_or_default();
        Ok(format!("{} messages from {first} on", request.messages.len()))
    }

    fn name(&self) -> &'static str {
        "says"
    }
}

/// A summarizer that fails.
struct Fails;

impl Summarizer for Fails {
    fn summarize(&self, _: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        Err(SummaryError::Other("no model".into()))
    }

    fn name(&self) -> &'static str {
        "fails"
    }
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

/// Returns `count` words, beginning with `name`.
fn words(name: &str, count: usize) -> String {
    let mut text = name.to_owned();
    for word in 1..count {
        write!(text, " w{word}").unwrap();
    }
    text
}

fn recorded(messages: impl IntoIterator<Item = Message>) -> Vec<Recorded> {
    let recorded = |(position, message)| Recorded { position, epoch: 0, tokens: 0, message };
    (0..).zip(messages).map(recorded).collect()
}

fn anchor(kind: AnchorKind, text: &str, importance: f64) -> AnchorPoint {
    AnchorPoint::new(kind, text, importance, AnchorSource::default())
}

/// The parameters of a compaction that tests change. The default window has 8,000 tokens.
struct Case<'a> {
    messages: &'a [Recorded],
    memory: Option<u64>,
    window: ContextWindow,
    used: u32,
    anchors: &'a [AnchorPoint],
    summarizer: &'a dyn Summarizer,
    counter: &'a dyn TokenEstimator,
    options: CompactionOptions,
}

impl<'a> Case<'a> {
    fn new(messages: &'a [Recorded], window: u32) -> Self {
        Self {
            messages,
            memory: None,
            window: ContextWindow::from_model(window),
            used: 0,
            anchors: &[],
            summarizer: &Says,
            counter: &Words,
            options: CompactionOptions::default(),
        }
    }

    fn compact(&self) -> Result<Compaction, CompactionError> {
        compact(&CompactionRequest {
            messages: self.messages,
            memory: self.memory,
            window: self.window,
            used_tokens: self.used,
            anchors: self.anchors,
            summarizer: self.summarizer,
            counter: self.counter,
            shares: &Shares::conversation(),
            options: self.options,
        })
    }
}

/// Describes the shown messages, one per line: the role, the first word, and the tokens.
fn shown(compaction: &Compaction) -> String {
    let line = |message: &Message| {
        let text = message.text();
        let first = text.lines().next().unwrap_or_default();
        let first = if first == MEMORY_HEADING { first } else { first.split(' ').next().unwrap() };
        format!("{} {first} {}", message.role(), Words.estimate(&text))
    };
    compaction.messages().map(line).collect::<Vec<_>>().join("\n")
}

fn memory(compaction: &Compaction) -> String {
    compaction.memory.as_ref().map_or(String::new(), |memory| memory.message.text().into_owned())
}

/// CBS-EX-04: 1,100 of 6,400 tokens remain in a window of 8,000.
#[test]
fn example_4_handling_low_budget_warnings() {
    let mut messages = vec![Message::system(words("prompt", 300))];
    for turn in 0..10 {
        messages.push(Message::user(words(&format!("ask{turn}"), 100)));
        messages.push(Message::assistant(words(&format!("answer{turn}"), 400)));
    }
    let messages = recorded(messages);
    let case = Case { used: 5_300, ..Case::new(&messages, 8_000) };
    assert!(case.options.is_low(5_300, 6_400));
    let compaction = case.compact().unwrap();
    let fresh = &compaction.budget;
    assert_eq!((fresh.total(), fresh.used_total()), (6_400, 0));
    assert_eq!(fresh.tokens("recent_messages"), Some(2_240));
    assert!(compaction.tokens_after <= 4_000);
    expect![[r"
        [Budget] Low budget alert! 1100 tokens remaining (17%)
        [Memory] Context threshold reached, compressing...
        [Memory] Compressed: 5300 → 3227 tokens (archived 3 chunks)
        [Budget] Compressed and adjusted budget for next call"]]
    .assert_eq(&compaction.lines().join("\n"));
    expect![[r"
        [Persistent Memory]
        Messages 1 to 4:
        4 messages from ask0 on
        Messages 5 to 8:
        4 messages from ask2 on
        Message 9:
        1 messages from ask4 on"]]
    .assert_eq(&memory(&compaction));
}

#[test]
fn is_low_below_twenty_percent_remaining() {
    let options = CompactionOptions::default();
    for (used, total, low) in [
        (5_119, 6_400, false),
        (5_120, 6_400, false), // 20 %
        (5_121, 6_400, true),
        (7_000, 6_400, true),
        (0, 0, false),
        (u32::MAX, u32::MAX, true),
        (0, u32::MAX, false),
    ] {
        assert_eq!(options.is_low(used, total), low, "{used} of {total}");
    }
}

#[test]
fn sufficient_budget_gives_no_alert() {
    let messages = recorded((0..5).map(|at| Message::user(words(&format!("m{at}"), 100))));
    let compaction = Case { used: 400, ..Case::new(&messages, 700) }.compact().unwrap();
    assert_eq!(compaction.lines().len(), 2);
    let low = Case { used: 500, ..Case::new(&messages, 700) }.compact().unwrap();
    assert_eq!(low.lines().len(), 4);
}

#[test]
fn target_is_half_window_capped_by_available_tokens() {
    let target = |window| CompactionOptions::default().target_tokens(&window);
    assert_eq!(target(ContextWindow::from_model(8_001)), Ok(4_000));
    assert_eq!(target(ContextWindow::from_model(8_000).with_reserves(400, 3_000)), Ok(3_000));
    let nothing = ContextWindow::from_model(8_000).with_reserves(400, 6_000);
    assert!(matches!(
        target(nothing),
        Err(CompactionError::Window(WindowError::NothingLeft { .. }))
    ));
}

#[test]
fn invalid_memory_percent_is_an_error() {
    let messages = recorded([Message::user("hello")]);
    let options = CompactionOptions { memory_percent: 101, ..CompactionOptions::default() };
    let error = Case { options, ..Case::new(&messages, 100) }.compact().unwrap_err();
    assert_eq!(error.to_string(), "memory_percent must be from 1 to 100, got 101");
}

#[test]
fn compaction_without_savings_is_futile() {
    for messages in [vec![], vec![Message::user("hello"), Message::assistant("hello there")]] {
        let messages = recorded(messages);
        let error = Case::new(&messages, 1_000).compact().unwrap_err();
        assert!(matches!(error, CompactionError::Futile { needed_tokens, tokens_before, .. }
                if needed_tokens == tokens_before));
    }
}

#[test]
fn required_messages_above_target_make_compaction_futile() {
    let messages = recorded([
        Message::system(words("prompt", 30)),
        Message::user(words("old", 100)),
        Message::tool_call("c", words("call", 5)),
        Message::tool_result("c", "read_file", Status::Ok, words("result", 66)),
    ]);
    let case = Case::new(&messages, 200);
    let error = case.compact().unwrap_err();
    assert_eq!(
        error.to_string(),
        "compaction is futile: 101 of 201 tokens would remain, but the target is 100"
    );
    assert!(Case { window: ContextWindow::from_model(202), ..case }.compact().is_ok());
}

#[test]
fn overhead_tokens_count_toward_target() {
    let messages = recorded((0..10).map(|at| Message::user(words(&format!("m{at}"), 100))));
    let compaction = Case { used: 1_300, ..Case::new(&messages, 2_000) }.compact().unwrap();
    assert_eq!((compaction.overhead_tokens, compaction.tokens_before), (300, 1_300));
    // 700 tokens are left for messages, 200 of them for the memory.
    assert_eq!(compaction.recent.len(), 5);
    assert_eq!(compaction.tokens_after, 300 + 500 + Words.estimate(&memory(&compaction)));
    // A usage that is older than the messages is ignored.
    let compaction = Case { used: 900, ..Case::new(&messages, 2_000) }.compact().unwrap();
    assert_eq!((compaction.overhead_tokens, compaction.tokens_before), (0, 1_000));
}

#[test]
fn summary_that_does_not_fit_gives_no_memory() {
    let messages =
        recorded([Message::assistant(words("old", 60)), Message::user(words("newest", 60))]);
    // A summary of 16 tokens does not fit.
    let compaction = Case::new(&messages, 180).compact().unwrap();
    assert_eq!(compaction.memory, None);
    assert_eq!(shown(&compaction), "user newest 60");
    assert_eq!(compaction.warnings, [CompactionWarning::NotSummarized { first: 0, last: 0 }]);
}

#[test]
fn calls_stay_with_their_results() {
    let call = |id: &str, name: &str| Message::tool_call(id, words(name, 10));
    let result =
        |id: &str, name: &str| Message::tool_result(id, "tool", Status::Ok, words(name, 10));
    let messages = recorded([
        Message::user(words("old", 100)),
        Message::user(words("ask", 10)),
        call("1", "call1"),
        result("1", "result1"),
        call("2", "call2"),
        call("3", "call3"),
        result("3", "result3"),
        result("2", "result2"),
        call("4", "call4"), // has no result yet
        Message::user(words("wait", 10)),
    ]);
    // One more message fits besides the last two and the user's, but not four.
    let options = CompactionOptions { memory_percent: 1, ..CompactionOptions::default() };
    for (window, expected) in
        [(100, "user wait 10"), (118, "user wait 10"), (122, "call2"), (160, "call2")]
    {
        let case = Case { options, ..Case::new(&messages, window) };
        let compaction = case.compact().unwrap();
        let shown = shown(&compaction);
        assert!(shown.ends_with("assistant call4 10\nuser wait 10"), "{window}: {shown}");
        assert_eq!(shown.contains("call2"), expected == "call2", "{window}: {shown}");
        for (call, result) in [("call1", "result1"), ("call2", "result2"), ("call3", "result3")] {
            assert_eq!(shown.contains(call), shown.contains(result), "{window}: {shown}");
        }
    }
}

#[test]
fn newest_user_request_stays_before_many_tool_calls() {
    let mut messages =
        vec![Message::user(words("earlier", 50)), Message::user(words("request", 50))];
    for step in 0..20 {
        let id = format!("c{step}");
        messages.push(Message::tool_call(&id, words(&format!("call{step}"), 5)));
        messages.push(Message::tool_result(&id, "tool", Status::Ok, words("result", 45)));
    }
    let messages = recorded(messages);
    let compaction = Case::new(&messages, 800).compact().unwrap();
    expect![[r"
        [Persistent Memory]
        user request 50
        assistant call15 5
        tool result 45"]]
    .assert_eq(
        &shown(&compaction)
            .lines()
            .map(|line| if line.starts_with("system") { MEMORY_HEADING } else { line })
            .take(4)
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let positions: Vec<_> =
        compaction.archived.iter().map(|chunk| (chunk.first, chunk.last)).collect();
    let runs = [(0, 0), (2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 29), (30, 31)];
    assert_eq!(positions, runs);
}

#[test]
fn oversized_user_request_is_archived_with_warning() {
    let messages =
        recorded([Message::user(words("request", 500)), Message::assistant(words("answer", 50))]);
    let compaction = Case::new(&messages, 500).compact().unwrap();
    assert_eq!(compaction.warnings, [CompactionWarning::UserMessageArchived { position: 0 }]);
    assert_eq!(compaction.archived[0].first, 0);
}

#[test]
fn memory_starts_with_verbatim_anchors_and_warns_on_omission() {
    let decision = anchor(AnchorKind::Decision, "Use  SQLite,\nnot files.", 0.2);
    let fact = anchor(AnchorKind::CriticalFact, "The limit is 4 MiB.", 0.9);
    let question = anchor(AnchorKind::OpenQuestion, &words("Which", 30), 0.5);
    let preference = anchor(AnchorKind::Preference, "No emoji.", 0.4);
    let said = anchor(AnchorKind::Decision, "newest w1", 1.0);
    let old = AnchorPoint { superseded_by: Some("x".into()), ..said.clone() };
    let anchors = [fact, question.clone(), preference, decision, said, old];
    let messages = recorded([Message::user(words("old", 200)), Message::user(words("newest", 60))]);
    let case = Case { anchors: &anchors, ..Case::new(&messages, 260) };
    let compaction = case.compact().unwrap();
    expect![[r"
        [Persistent Memory]
        - decision: Use  SQLite,
        not files.
        - critical fact: The limit is 4 MiB.
        - preference: No emoji."]]
    .assert_eq(&memory(&compaction));
    let AnchorPoint { id, kind, text, .. } = question;
    assert_eq!(
        compaction.warnings,
        [
            CompactionWarning::AnchorLeftOut { id, kind, text },
            CompactionWarning::NotSummarized { first: 0, last: 0 },
        ]
    );
}

#[test]
fn earlier_memory_is_included_in_next_memory() {
    let mut messages = recorded((0..12).map(|at| Message::user(words(&format!("m{at}"), 100))));
    let first = Case::new(&messages, 1_200).compact().unwrap();
    let remembered = first.memory.clone().unwrap().message;
    let mut position = 100;
    let mut add = |message: Message| {
        position += 1;
        Recorded { position, epoch: 1, tokens: 0, message }
    };
    messages = vec![add(remembered)];
    messages.extend(first.recent);
    messages.extend((0..8).map(|at| add(Message::assistant(words(&format!("n{at}"), 100)))));
    let case = Case { memory: Some(101), ..Case::new(&messages, 1_200) };
    let second = case.compact().unwrap();
    assert_eq!(second.system, [], "a memory is no prompt");
    expect![[r"
        [Persistent Memory]
        Remembered from before:
        0 messages from Message on
        Message 104:
        1 messages from n2 on
        Message 105:
        1 messages from n3 on
        Message 106:
        1 messages from n4 on"]]
    .assert_eq(&memory(&second));
}

#[test]
fn message_that_resembles_a_memory_stays_a_prompt() {
    let text = format!("{MEMORY_HEADING}\nThe user likes tea.");
    let mut messages = vec![Message::system(text.clone())];
    messages.extend((0..12).map(|at| Message::user(words(&format!("m{at}"), 100))));
    let messages = recorded(messages);
    // A message that is not a system turn is not a memory either.
    for memory in [None, Some(1), Some(99)] {
        let compaction = Case { memory, ..Case::new(&messages, 1_200) }.compact().unwrap();
        let system: Vec<_> = compaction.system.iter().map(|it| it.message.text()).collect();
        assert_eq!(system, [text.as_str()]);
        assert!(!self::memory(&compaction).contains("before"), "{memory:?}");
    }
}

#[test]
fn anchors_from_old_memory_are_not_repeated() {
    let decision = anchor(AnchorKind::Decision, "Use SQLite.", 0.5);
    let memory_before = format!("{MEMORY_HEADING}\n- decision: Use SQLite.\nMessage 0:\nhello");
    let mut messages = vec![Message::system(memory_before)];
    messages.extend((0..10).map(|at| Message::user(words(&format!("m{at}"), 100))));
    let messages = recorded(messages);
    let case = Case {
        memory: Some(0),
        anchors: &[decision],
        summarizer: &Before,
        ..Case::new(&messages, 1_600)
    };
    let compaction = case.compact().unwrap();
    expect![[r"
        [Persistent Memory]
        - decision: Use SQLite.
        Remembered from before:
        Message 0:
        hello"]]
    .assert_eq(memory(&compaction).split("\nMessages").next().unwrap());
}

#[test]
fn outdated_anchors_are_dropped_from_old_memory() {
    let anchors = "- decision: Use  files:\n- of text\n- or none\n- open question: Which?\n                   - correction: Message 7: is wrong.";
    let rest = "Remembered from before:\nuser: hello\nMessages 4 to 19:\n- decision: said";
    for (said, expected) in [
        (format!("{anchors}\n{rest}"), rest),
        (format!("{anchors}\nMessage 12:\nhello"), "Message 12:\nhello"),
        (anchors.to_owned(), ""),
        (rest.to_owned(), rest),
        // This memory is not in the format that we write.
        ("The user likes tea.".to_owned(), "The user likes tea."),
    ] {
        let mut messages = vec![Message::system(format!("{MEMORY_HEADING}\n{said}"))];
        messages.extend((0..10).map(|at| Message::user(words(&format!("m{at}"), 100))));
        let messages = recorded(messages);
        let case = Case { memory: Some(0), summarizer: &Before, ..Case::new(&messages, 1_600) };
        let compaction = case.compact().unwrap();
        let memory = memory(&compaction);
        let before = memory.strip_prefix("[Persistent Memory]\nRemembered from before:\n");
        let before = before.map_or("", |before| before.split("\nMessages 1 to").next().unwrap());
        assert_eq!(before, expected, "{memory}");
    }
}

#[test]
fn unavailable_summarizer_is_called_once() {
    use std::sync::atomic::{AtomicU32, Ordering};
    /// A summarizer that counts its requests and fails.
    #[derive(Default)]
    struct Gone(AtomicU32);
    impl Summarizer for Gone {
        fn summarize(&self, _: &SummaryRequest<'_>) -> Result<String, SummaryError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(CommandError::TimedOut { program: "gone".into(), seconds: 60 }.into())
        }
        fn name(&self) -> &'static str {
            "gone"
        }
    }
    let gone = Gone::default();
    let messages = recorded((0..20).map(|at| Message::user(words(&format!("m{at}"), 100))));
    let case = Case { summarizer: &gone, ..Case::new(&messages, 2_000) };
    let compaction = case.compact().unwrap();
    assert_eq!(gone.0.load(Ordering::Relaxed), 1);
    assert!(compaction.archived.len() > 1);
    assert_eq!(compaction.warnings.len(), compaction.archived.len(), "each is named");
}

#[test]
fn failed_summarizer_warns_and_falls_back_to_builtin() {
    let messages = recorded([
        Message::user("Fix the parser in src/parser.rs. It fails on empty lines."),
        Message::assistant(words("long", 300)),
        Message::user(words("newest", 60)),
    ]);
    let case = Case { summarizer: &Fails, ..Case::new(&messages, 800) };
    let compaction = case.compact().unwrap();
    let failed =
        |warning: &CompactionWarning| matches!(warning, CompactionWarning::SummarizerFailed { .. });
    assert!(compaction.warnings.iter().any(failed), "{:?}", compaction.warnings);
    assert!(memory(&compaction).contains("Fix the parser"), "{}", memory(&compaction));
}

//! Events, as a subscriber receives them.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::sync::{Arc, Once};

use expect_test::expect;
use lcp_driver::budget::TokenEstimator;
use lcp_driver::prompt_cache::StableOptions;
use lcp_driver::{Objective, ValueModel};
use tracing::callsite::rebuild_interest_cache;
use tracing::field::{Field, Visit};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber, span};

use super::*;

thread_local! {
    /// The most verbose level of the thread's subscription, and the recorded events with level,
    /// target, message and fields.
    static HEARD: RefCell<Option<(Level, Vec<String>)>> = const { RefCell::new(None) };
}

/// The subscriber of the whole process. One per thread would not work, because `tracing` caches for
/// all threads that a call site has no subscriber.
struct Listener;

impl Subscriber for Listener {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        HEARD.with_borrow(|heard| heard.as_ref().is_some_and(|(most, _)| metadata.level() <= most))
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let line = format!("{level} {target}: {}{}", line.message, line.fields);
        HEARD.with_borrow_mut(|heard| heard.as_mut().unwrap().1.push(line));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        unreachable!("there are no spans");
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            write!(self.message, "{value:?}").unwrap();
        } else {
            write!(self.fields, " {}={value:?}", field.name()).unwrap();
        }
    }

    /// Records the value unchanged, without escaping.
    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.fields, " {}={value}", field.name()).unwrap();
    }
}

/// Returns the events of `f` up to the level `most`.
fn events<T>(most: Level, f: impl FnOnce() -> T) -> Vec<String> {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        set_global_default(Listener).unwrap();
        rebuild_interest_cache();
    });
    HEARD.set(Some((most, Vec::new())));
    f();
    HEARD.take().unwrap().1
}

#[test]
fn decisions_are_debug_events_and_runs_info_events() {
    let events = events(Level::DEBUG, run);
    expect![[r#"
        DEBUG lcp_driver: decided index=0 label=src/f.rs decision=summary reason=over_budget tokens=12
        DEBUG lcp_driver: decided index=1 label="src/evil\u{A}\u{1B}[31m.rs" decision=placeholder reason=over_budget tokens=13
        DEBUG lcp_driver: decided index=2 label=user decision=full reason=fits tokens=6
        WARN lcp_driver: token counts are estimates (heuristic) code=estimated_counts
        INFO lcp_driver: planned 3 blocks: 31/60 tokens; full 1, placeholder 1, summary 1
    "#]].assert_eq(&(events.join("\n") + "\n"));
}

#[test]
fn indexed_run_is_one_info_event() {
    let events = events(Level::INFO, run_by_index);
    expect!["INFO lcp_driver: planned 3 blocks by the index: 45/60 tokens; shown 3"]
        .assert_eq(&events.join("\n"));
}

#[test]
fn events_report_covering_blocks_and_saved_tokens() {
    let events = events(Level::DEBUG, deduplicated);
    expect![[r#"
        DEBUG lcp_driver: decided index=0 label=src/f.rs decision=summary reason=over_budget tokens=12
        DEBUG lcp_driver: decided index=1 label="src/evil\u{A}\u{1B}[31m.rs" decision=duplicate reason=contained tokens=0 covered_by=0
        DEBUG lcp_driver: decided index=2 label=user decision=full reason=fits tokens=6
        WARN lcp_driver: token counts are estimates (heuristic) code=estimated_counts
        INFO lcp_driver: planned 3 blocks: 18/60 tokens; duplicate 1, full 1, summary 1; saved 1000 tokens: 1 removed, 0 merged, 0 superseded
    "#]].assert_eq(&(events.join("\n") + "\n"));
}

#[test]
fn plan_emits_the_same_events_as_a_run() {
    let plan = || DefaultDriver::default().plan(&blocks(), &config()).unwrap();
    assert_eq!(events(Level::DEBUG, plan), events(Level::DEBUG, run));
}

#[test]
fn info_event_without_budget_has_no_budget() {
    let config = DriverConfig { token_budget: None, ..config() };
    let events = events(Level::INFO, || DefaultDriver::default().plan(&[], &config).unwrap());
    assert_eq!(events.last().unwrap(), "INFO lcp_driver: planned 0 blocks: 0 tokens");
}

#[test]
fn info_event_reports_value_and_reuse() {
    let mut config = DriverConfig {
        objective: Objective::Value(ValueModel::default()),
        stable: Some(StableOptions::default()),
        ..config()
    };
    let line = |config: &DriverConfig| {
        let plan = || DefaultDriver::default().plan(&blocks(), config).unwrap();
        events(Level::INFO, plan).pop().unwrap()
    };
    expect!["INFO lcp_driver: planned 3 blocks: 31/60 tokens; full 1, placeholder 1, summary 1; value 136800 of at most 136800; fresh, kept 0 of 0 tokens"]
        .assert_eq(&line(&config));
    let plan = DefaultDriver::default().plan(&blocks(), &config).unwrap();
    let previous = plan.stable.map(|stable| Arc::new(stable.next_plan));
    config.stable = Some(StableOptions { previous, ..StableOptions::default() });
    expect!["INFO lcp_driver: planned 3 blocks: 31/60 tokens; full 1, placeholder 1, summary 1; appended, kept 31 of 31 tokens"].assert_eq(&line(&config));
}

#[test]
fn caller_chooses_the_log_level() {
    let level = |most| events(most, run).len();
    assert_eq!(level(Level::ERROR), 0);
    assert_eq!(level(Level::WARN), 1);
    assert_eq!(level(Level::INFO), 2);
    assert_eq!(level(Level::DEBUG), 5);
}

#[test]
fn control_characters_are_escaped_in_events() {
    for line in events(Level::DEBUG, run) {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}

/// A tokenizer with wrong counts, and a caveat with control characters.
struct Odd;

impl TokenEstimator for Odd {
    fn estimate(&self, text: &str) -> u32 {
        u32::from(!text.is_empty())
    }

    fn caveat(&self) -> Option<&str> {
        Some("made up\n\u{1b}[2J\u{202e}")
    }
}

#[test]
fn warning_events_are_one_line_and_name_the_block() {
    let blocks = [Block::code(Lang::Rust, "a.rs", b"\xff".to_vec())];
    let run = || DefaultDriver::new(Odd).run(&blocks, &config()).unwrap();
    expect![[r"
        WARN lcp_driver: token counts are estimates (custom) code=estimated_counts
        WARN lcp_driver: made up\u{a}\u{1b}[2J\u{202e} code=tokenizer_fallback
        WARN lcp_driver: content is not valid UTF-8; invalid bytes are shown as U+FFFD code=non_utf8_content block=0
    "]].assert_eq(&(events(Level::WARN, run).join("\n") + "\n"));
}

#[test]
fn allocation_emits_comp_budget_line() {
    let events = events(Level::INFO, allocated);
    let info: Vec<_> = events.iter().filter(|line| line.starts_with("INFO")).collect();
    assert_eq!(
        info,
        ["INFO lcp_driver: [COMP:BUDGET] Allocated 1240/1250 tokens across 3 segments"],
    );
    assert_eq!(
        events[0],
        "WARN lcp_driver: ignored level tags of segment \"s1\": it costs 700 tokens, no less than a \
         fuller level (40) code=costly_level",
    );
}

#[test]
fn rebalance_emits_comp_budget_line() {
    use lcp_driver::segments::rebalance;

    let (current, options) = (allocated(), BudgetAllocationOptions::default());
    let focus = PreferredSegments { expanded: vec!["s1".into()], ..PreferredSegments::default() };
    let rebalanced = || rebalance(&segments(), &current, 1_300, &options, &focus).unwrap();
    assert_eq!(
        events(Level::INFO, rebalanced).last().unwrap(),
        "INFO lcp_driver: [COMP:BUDGET] Allocated 1280/1300 tokens across 4 segments",
    );
}

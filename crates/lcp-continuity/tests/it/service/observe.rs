//! Log lines and metrics, as a subscriber and a recorder receive them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use lcp_continuity::{CheckOutcome, Message};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit, with_local_recorder,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, with_default};
use tracing::{Event, Subscriber};

use super::support::{Fixture, words};

/// A subscriber that collects the messages of our targets, with their level.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    // Threads without a subscriber also pass these call sites.
    fn register_callsite(&self, _: &'static tracing::Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        ["lcp_continuity", "lcp_driver"].contains(&metadata.target())
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let text = text.0;
        self.0.lock().unwrap().push(match target {
            "lcp_continuity" => format!("{level} {text}"),
            other => format!("{level} {other}: {text}"),
        });
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A recorder that collects all values of each metric.
#[derive(Clone, Default)]
struct Figures(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

struct One {
    key: String,
    all: Figures,
}

impl One {
    fn new(all: &Figures, key: &Key) -> Arc<Self> {
        let labels = key.labels().map(|label| format!(" {}={}", label.key(), label.value()));
        let key = labels.fold(key.name().to_owned(), |key, label| key + &label);
        Arc::new(Self { key, all: all.clone() })
    }

    fn push(&self, value: f64) {
        self.all.0.lock().unwrap().entry(self.key.clone()).or_default().push(value);
    }
}

impl GaugeFn for One {
    fn increment(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn decrement(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn set(&self, value: f64) {
        self.push(value);
    }
}

impl HistogramFn for One {
    fn record(&self, value: f64) {
        self.push(value);
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.push(f64::from(u32::try_from(value).unwrap()));
    }

    fn absolute(&self, _: u64) {
        unreachable!("counters are incremented");
    }
}

impl Recorder for Figures {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(One::new(self, key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(One::new(self, key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(One::new(self, key))
    }
}

/// Returns the log lines and metrics of a session up to its successor.
fn observed() -> (Lines, Figures) {
    let (lines, figures) = (Lines::default(), Figures::default());
    let fixture = Fixture::new();
    fixture.open("a\u{202e}b", 1_000);
    with_default(lines.clone(), || {
        with_local_recorder(&figures, || {
            let id = "a\u{202e}b";
            fixture.say(id, Message::user(words(760)));
            assert_eq!(fixture.service.check(id).unwrap().outcome, CheckOutcome::Warned);
            fixture.say(id, Message::user(words(100)));
            let outcome = fixture.service.check(id).unwrap().outcome;
            let CheckOutcome::Prepared(handoff) = outcome else { panic!("{outcome:?}") };
            fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
        });
    });
    (lines, figures)
}

#[test]
fn log_lines_and_metrics_match_the_requirements() {
    // The interest in a line is cached when it is first reached, which another test may do at the
    // same moment. So only the second run is compared.
    observed();
    tracing::callsite::rebuild_interest_cache();
    let (lines, figures) = observed();
    let lines: Vec<_> = lines.0.lock().unwrap().clone();
    let info = |percent| {
        format!("INFO [CONT] Context utilization {percent}% for conversation a\\u{{202e}}b")
    };
    assert_eq!(
        lines[..3],
        [info(76), "WARN [CONT] Approaching context limit: 0 turns remaining".to_owned(), info(86),]
    );
    assert!(lines.contains(&"INFO [CONT] Hand-off prepared".to_owned()), "{lines:?}");
    let resumed = "INFO [CONT] Session resumed as conversation c-";
    assert!(lines.iter().any(|line| line.starts_with(resumed)), "{lines:?}");
    // Contents are never logged.
    assert!(lines.iter().all(|line| !line.contains("word")));
    let figures = figures.0.lock().unwrap();
    let gauge = &figures["Agents.Continuity.TokenUsage conversation=a\u{202e}b"];
    assert_eq!(gauge[..], [760.0, 860.0]);
    let parts: Vec<_> =
        figures["Agents.Continuity.Utilization"].iter().map(|p| (p * 100.0).round()).collect();
    assert_eq!(parts, [76.0, 86.0]);
    assert_eq!(figures["Agents.Continuity.HandoffsTriggered"][..], [1.0]); // The attempts to fit the resume prompt are no events, and no renders.
    let of_driver: Vec<_> = lines.iter().filter(|line| line.contains(" lcp_driver: ")).collect();
    assert!(of_driver.is_empty(), "{of_driver:?}");
    let renders = figures.keys().filter(|key| key.starts_with("Agents.Compression."));
    assert_eq!(renders.count(), 0);
}

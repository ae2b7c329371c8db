//! Gauges, as a recorder receives them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lcp_driver::Excerpts;
use metrics::{
    Counter, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};

use super::*;

/// The last value of each gauge, by name and labels.
#[derive(Clone, Default)]
struct Gauges(Arc<Mutex<BTreeMap<String, f64>>>);

struct One {
    key: String,
    all: Gauges,
}

impl GaugeFn for One {
    fn increment(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn decrement(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn set(&self, value: f64) {
        self.all.0.lock().unwrap().insert(self.key.clone(), value);
    }
}

impl Recorder for Gauges {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        unreachable!("nothing is counted");
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let labels = key.labels().map(|label| format!(" {}={}", label.key(), label.value()));
        let key = labels.fold(key.name().to_owned(), |key, label| key + &label);
        Gauge::from_arc(Arc::new(One { key, all: self.clone() }))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        unreachable!("nothing is measured");
    }
}

impl Gauges {
    fn total(&self) -> f64 {
        self.0.lock().unwrap()["Agents.Compression.Budget.TotalAllocated"]
    }

    fn level(&self, level: &str) -> f64 {
        self.0.lock().unwrap()[&format!("Agents.Compression.Budget.ByLevel level={level}")]
    }

    /// Returns a gauge of deduplication.
    fn dedup(&self, what: &str) -> f64 {
        self.0.lock().unwrap()[&format!("Agents.Compression.Dedup.{what}")]
    }

    /// Returns the sum over all levels.
    fn levels(&self) -> f64 {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(key, _)| key.contains(".ByLevel ")).map(|(_, value)| value).sum()
    }
}

fn is(gauge: f64, tokens: u32) {
    assert!((gauge - f64::from(tokens)).abs() < f64::EPSILON, "{gauge} is not {tokens}");
}

#[test]
fn gauges_report_segment_tokens_by_level() {
    let gauges = Gauges::default();
    let allocation = with_local_recorder(&gauges, allocated);
    is(gauges.total(), 1_240);
    is(gauges.total(), allocation.used_tokens);
    is(gauges.level("full"), 1_200);
    is(gauges.level("detailed"), 0);
    is(gauges.level("brief"), 40);
    is(gauges.level("tags"), 0);
    is(gauges.levels(), 1_240);
}

#[test]
fn gauges_report_run_tokens_by_level() {
    let gauges = Gauges::default();
    let plan = with_local_recorder(&gauges, run);
    is(gauges.total(), plan.used_tokens);
    is(gauges.level("full"), plan.items[2].tokens);
    is(gauges.level("brief"), plan.items[0].tokens);
    is(gauges.level("placeholder"), plan.items[1].tokens);
    is(gauges.levels(), plan.used_tokens);
    // The next run replaces all values of the previous one.
    with_local_recorder(&gauges, allocated);
    is(gauges.level("placeholder"), 0);
    is(gauges.levels(), 1_240);
}

#[test]
fn gauges_of_an_indexed_run_equal_a_full_run() {
    let (gauges, of_all) = (Gauges::default(), Gauges::default());
    with_local_recorder(&gauges, deduplicated);
    let rendered = with_local_recorder(&gauges, run_by_index);
    is(gauges.total(), rendered.used_tokens);
    let run = || DefaultDriver::new(O200K).run(&blocks(), &config()).unwrap();
    with_local_recorder(&of_all, run);
    assert_eq!(*gauges.0.lock().unwrap(), *of_all.0.lock().unwrap());
}

#[test]
fn gauges_report_excerpt_tokens() {
    let gauges = Gauges::default();
    let config = DriverConfig { token_budget: Some(300), excerpts: Excerpts::On, ..config() };
    let run = || DefaultDriver::default().run(&blocks(), &config).unwrap().plan;
    let plan = with_local_recorder(&gauges, run);
    assert_eq!(plan.items[1].decision.name(), "excerpt");
    is(gauges.level("excerpt"), plan.items[1].tokens);
    is(gauges.levels(), plan.used_tokens);
}

#[test]
fn gauges_report_dedup_savings() {
    let gauges = Gauges::default();
    with_local_recorder(&gauges, deduplicated);
    is(gauges.dedup("TokensSaved"), 1_000);
    is(gauges.dedup("Removed"), 1);
    is(gauges.dedup("Merged"), 0);
    is(gauges.dedup("Superseded"), 0);
    // A run without deduplication reports no savings.
    with_local_recorder(&gauges, run);
    is(gauges.dedup("TokensSaved"), 0);
    is(gauges.dedup("Removed"), 0);
}

#[test]
fn gauges_report_tokens_after_rebalancing() {
    use lcp_driver::segments::rebalance;

    let (gauges, current) = (Gauges::default(), allocated());
    let options = BudgetAllocationOptions::default();
    with_local_recorder(&gauges, || {
        rebalance(&segments(), &current, 100, &options, &PreferredSegments::default()).unwrap()
    });
    is(gauges.total(), 80);
    is(gauges.level("brief"), 80);
}

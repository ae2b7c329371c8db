//! The bill of sessions, with the edits and without them (RFC 0016 §6).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::request::{INPUT, READ, WRITTEN, WRITTEN_HOUR};
use crate::store::{Row, Unedited};
use crate::usage::Usage;

/// The figures of a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The version of this form.
    pub schema: &'static str,
    /// `true` if the edits were only computed, and the requests were sent unchanged.
    pub dry_run: bool,
    /// All sessions together.
    pub total: SessionStats,
    /// The sessions, the newest first.
    pub sessions: Vec<SessionStats>,
}

/// The figures of a session. Costs are in input tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionStats {
    /// The id of the session. The total has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The model of its newest request.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The time of its newest request, in seconds since 1970.
    pub last_request: i64,
    /// The number of requests.
    pub requests: u64,
    /// Requests whose usage could not be read. They are not part of the other figures.
    pub requests_without_usage: u64,
    /// Requests of a form that the gateway does not edit, such as those with `previous_response_id`.
    pub unsupported_requests: u64,
    /// Requests whose edit failed. They were sent unchanged.
    pub failed_edits: u64,
    /// Tokens that no cache had, and that were not written to it.
    pub input_tokens: u64,
    /// Tokens that were written to the cache for five minutes.
    pub written_tokens: u64,
    /// Tokens that were written to the cache for an hour.
    pub written_hour_tokens: u64,
    /// Tokens that were read from the cache.
    pub read_tokens: u64,
    /// Tokens of the responses.
    pub output_tokens: u64,
    /// The cost of the requests with the edits. In a dry run, it is computed.
    pub cost_with_edits: u64,
    /// The cost of the same requests without edits. Except in a dry run, it is computed.
    pub cost_without_edits: u64,
    /// The number of edits by their reasons.
    pub edits: BTreeMap<String, u64>,
    /// The mean time to edit a request, in microseconds.
    pub mean_micros: u64,
    /// The maximum of that time, in microseconds.
    pub max_micros: u64,
}

impl SessionStats {
    /// Returns the mean time to edit a request in milliseconds, with one decimal place.
    #[must_use]
    pub fn mean_millis(&self) -> String {
        format!("{}.{}", self.mean_micros / 1_000, self.mean_micros / 100 % 10)
    }
}

impl Stats {
    /// Computes the figures from the requests, the newest last.
    pub(crate) fn new(rows: &[Row], dry_run: bool) -> Self {
        let mut total = Sum::default();
        let mut sessions: BTreeMap<&str, Sum> = BTreeMap::new();
        for row in rows {
            total.add(row, dry_run);
            let sum = sessions.entry(&row.session).or_default();
            sum.add(row, dry_run);
            sum.stats.session.clone_from(&row.session);
            if !row.model.is_empty() {
                sum.stats.model.clone_from(&row.model);
            }
        }
        let mut sessions: Vec<_> = sessions.into_values().map(Sum::finish).collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_request));
        Self { schema: "lcp.gateway.v1", dry_run, total: total.finish(), sessions }
    }

    /// Returns the figures in the text format of Prometheus.
    #[must_use]
    pub fn prometheus(&self) -> String {
        use std::fmt::Write as _;
        let total = &self.total;
        let tokens = [
            ("input", total.input_tokens),
            ("written", total.written_tokens),
            ("written_hour", total.written_hour_tokens),
            ("read", total.read_tokens),
            ("output", total.output_tokens),
        ];
        let costs = [("with", total.cost_with_edits), ("without", total.cost_without_edits)];
        let edits: Vec<_> = total.edits.iter().map(|(reason, count)| (&**reason, *count)).collect();
        let usage = [
            ("read", total.requests - total.requests_without_usage),
            ("unread", total.requests_without_usage),
        ];
        let unedited =
            [("unsupported", total.unsupported_requests), ("failed", total.failed_edits)];
        let mut text = String::new();
        for (name, help, label, rows) in [
            (
                "lcp_gateway_requests",
                "Requests with a usage that was read, and others",
                "usage",
                &usage[..],
            ),
            (
                "lcp_gateway_unedited_requests",
                "Requests that were sent unchanged because they could not be edited",
                "reason",
                &unedited,
            ),
            ("lcp_gateway_tokens", "Tokens as billed", "kind", &tokens),
            ("lcp_gateway_cost_tokens", "Cost in input tokens", "edits", &costs),
            ("lcp_gateway_edits", "Edits by reason", "reason", &edits),
        ] {
            // Old requests are deleted, so these are no counters.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
            for (value, count) in rows {
                let _ = writeln!(text, "{name}{{{label}=\"{value}\"}} {count}");
            }
        }
        let _ = writeln!(
            text,
            "# HELP lcp_gateway_added_seconds Mean time to edit a request\n\
             # TYPE lcp_gateway_added_seconds gauge\n\
             lcp_gateway_added_seconds {}.{:06}",
            total.mean_micros / 1_000_000,
            total.mean_micros % 1_000_000,
        );
        text
    }
}

/// Figures before they are rounded.
#[derive(Default)]
struct Sum {
    stats: SessionStats,
    with: u64,
    without: u64,
    micros: u64,
}

impl Sum {
    fn add(&mut self, row: &Row, dry_run: bool) {
        let stats = &mut self.stats;
        stats.requests += 1;
        stats.last_request = stats.last_request.max(row.time);
        stats.max_micros = stats.max_micros.max(row.micros);
        self.micros += row.micros;
        match row.unedited {
            Some(Unedited::Unsupported) => stats.unsupported_requests += 1,
            Some(Unedited::Failed) => stats.failed_edits += 1,
            None => {}
        }
        for reason in &row.edits {
            *stats.edits.entry(reason.clone()).or_default() += 1;
        }
        let Some(usage) = row.usage else {
            stats.requests_without_usage += 1;
            return;
        };
        stats.input_tokens += usage.input;
        stats.written_tokens += usage.written;
        stats.written_hour_tokens += usage.written_hour;
        stats.read_tokens += usage.read;
        stats.output_tokens += usage.output;
        let billed = cost(&usage);
        let (saved, lost) = difference(row, &usage, dry_run);
        let (with, without) = if dry_run {
            ((billed + lost).saturating_sub(saved), billed)
        } else {
            (billed, (billed + saved).saturating_sub(lost))
        };
        self.with += with;
        self.without += without;
    }

    fn finish(mut self) -> SessionStats {
        self.stats.cost_with_edits = self.with.div_ceil(INPUT);
        self.stats.cost_without_edits = self.without.div_ceil(INPUT);
        self.stats.mean_micros = self.micros / self.stats.requests.max(1);
        self.stats
    }
}

/// Returns the cost of a request as billed.
const fn cost(usage: &Usage) -> u64 {
    usage.input * INPUT
        + usage.written * WRITTEN
        + usage.written_hour * WRITTEN_HOUR
        + usage.read * READ
}

/// Returns the savings of the edits of a request, and their cost because the provider had to write a
/// warm prefix again.
fn difference(row: &Row, usage: &Usage, dry_run: bool) -> (u64, u64) {
    let write = match (usage.written_hour, usage.written) {
        (0, 0) => INPUT,
        (0, _) => WRITTEN,
        _ => WRITTEN_HOUR,
    };
    // If only the head was written, messages that were removed would not have been written either.
    let is_uncached = usage.input > usage.written + usage.written_hour;
    let cold_price = if is_uncached { INPUT } else { write };
    // If nothing was read, nothing would have been.
    let read = if usage.read > 0 || row.broken_tokens > 0 { READ } else { write };
    let (warm, cold) = row.saved_tokens;
    // In a dry run, the provider read the prefix that the edit would have changed.
    let affected = if dry_run { usage.read } else { usage.request_tokens() - usage.read };
    let lost = row.broken_tokens.min(affected);
    (warm * read + cold * cold_price, lost * (write - READ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(usage: Usage, saved_tokens: (u64, u64), broken_tokens: u64) -> Row {
        Row { usage: Some(usage), saved_tokens, broken_tokens, ..Row::default() }
    }

    #[track_caller]
    fn check(row: &Row, with: u64, without: u64) {
        let total = Stats::new(std::slice::from_ref(row), false).total;
        assert_eq!((total.cost_with_edits, total.cost_without_edits), (with, without));
    }

    #[test]
    fn removed_tokens_would_have_been_read_or_written() {
        let usage = Usage { input: 10, written: 100, written_hour: 0, read: 1_000, output: 7 };
        check(&row(usage, (0, 0), 0), 235, 235);
        // 50 of the warm prefix, and 20 behind it: 5 + 25 more.
        check(&row(usage, (50, 20), 0), 235, 265);
        let hour = Usage { written: 0, written_hour: 100, ..usage };
        check(&row(hour, (50, 20), 0), 310, 355);
        // Only the head is written.
        let head = Usage { input: 1_000, written: 100, ..Usage::default() };
        check(&row(head, (0, 20), 0), 1_125, 1_145);
        // Fractions are rounded in the same way.
        let fraction = Usage { input: 10, read: 1_003, ..Usage::default() };
        check(&row(fraction, (0, 0), 0), 111, 111);
        // Without a cache, all tokens cost the same.
        let plain = Usage { input: 1_000, ..Usage::default() };
        check(&row(plain, (50, 20), 0), 1_000, 1_070);
    }

    #[test]
    fn broken_cache_is_a_loss() {
        let usage = Usage { input: 0, written: 1_000, written_hour: 0, read: 0, output: 7 };
        // The 1,000 tokens would have been read, and so would the 100 that were removed.
        check(&row(usage, (100, 0), 1_000), 1_250, 110);
    }

    #[test]
    fn dry_run_computes_the_other_cost() {
        let usage = Usage { input: 10, written: 100, written_hour: 0, read: 1_000, output: 7 };
        let total = Stats::new(&[row(usage, (50, 20), 0)], true).total;
        assert_eq!((total.cost_with_edits, total.cost_without_edits), (205, 235));
        // 400 tokens would be written instead of read.
        let total = Stats::new(&[row(usage, (50, 20), 400)], true).total;
        assert_eq!((total.cost_with_edits, total.cost_without_edits), (665, 235));
    }

    #[test]
    fn unread_usage_is_counted_and_left_out() {
        let usage = Usage { input: 10, ..Usage::default() };
        let unedited = Some(Unedited::Failed);
        let unread =
            Row { session: "b".into(), time: 5, saved_tokens: (9, 9), unedited, ..Row::default() };
        let read = Row { session: "a".into(), edits: vec!["cold".into()], ..row(usage, (0, 0), 0) };
        let stats = Stats::new(&[read, unread], false);
        assert_eq!((stats.total.requests, stats.total.requests_without_usage), (2, 1));
        assert_eq!((stats.total.cost_with_edits, stats.total.cost_without_edits), (10, 10));
        let names: Vec<_> = stats.sessions.iter().map(|session| &*session.session).collect();
        assert_eq!(names, ["b", "a"]);
        let text = stats.prometheus();
        for line in [
            "lcp_gateway_requests{usage=\"unread\"} 1",
            "lcp_gateway_unedited_requests{reason=\"unsupported\"} 0",
            "lcp_gateway_unedited_requests{reason=\"failed\"} 1",
            "lcp_gateway_edits{reason=\"cold\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{text}");
        }
    }
}

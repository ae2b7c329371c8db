//! The metrics of a server, in the text format of Prometheus.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{describe_counter, describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::MetricKindMask;

/// The number of open connections.
const CONNECTIONS: &str = "lcp_mcp_connections";

/// The number of sessions of clients.
const SESSIONS: &str = "lcp_mcp_sessions";

/// The upper limits of the buckets for shares of a window.
const SHARES: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.85, 0.95, 1.0];

/// The time after which a gauge that was not set disappears. Otherwise, the gauges of conversations
/// would stay until the process ends.
const GAUGE_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval for the maintenance of histograms, which grow until then.
const UPKEEP: Duration = Duration::from_secs(5);

/// The recorder of this process.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Returns the metrics of this process. The first call starts their recording.
pub(super) fn recorder() -> &'static PrometheusHandle {
    RECORDER.get_or_init(|| {
        let builder =
            PrometheusBuilder::new().idle_timeout(MetricKindMask::GAUGE, Some(GAUGE_TIME));
        let utilization = Matcher::Suffix("Utilization".to_owned());
        // The only error is an empty list of buckets.
        let recorder = builder
            .set_buckets_for_metric(utilization, &SHARES)
            .unwrap_or_default()
            .build_recorder();
        let handle = recorder.handle();
        // It fails only in a program that records metrics itself.
        if metrics::set_global_recorder(recorder).is_ok() {
            describe_gauge!(CONNECTIONS, "Open connections");
            describe_gauge!(SESSIONS, "Sessions of clients");
            describe_counter!(crate::server::CALLS, "Calls by tool and outcome");
        }
        handle
    })
}

/// Maintains the metrics until the process ends.
pub(super) async fn maintain() {
    let mut interval = tokio::time::interval(UPKEEP);
    loop {
        interval.tick().await;
        recorder().run_upkeep();
    }
}

pub(super) fn set_connections(count: usize) {
    gauge!(CONNECTIONS).set(as_f64(count));
}

pub(super) fn set_sessions(count: usize) {
    gauge!(SESSIONS).set(as_f64(count));
}

#[expect(clippy::cast_precision_loss, reason = "the limits are far below 2^52")]
const fn as_f64(count: usize) -> f64 {
    count as f64
}

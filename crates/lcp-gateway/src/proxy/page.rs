//! The pages of a gateway: its figures for people and for programs.

use std::fmt::Write as _;

use crate::bill::{SessionStats, Stats};

/// Returns the figures as JSON.
pub(super) fn json(stats: &Stats) -> String {
    serde_json::to_string_pretty(stats).unwrap_or_default()
}

/// Returns the metrics in the text format of Prometheus.
pub(super) fn metrics(stats: &Stats, failures: u64) -> String {
    format!(
        "{}# HELP lcp_gateway_failures_total Requests that could not be edited or recorded\n\
         # TYPE lcp_gateway_failures_total counter\nlcp_gateway_failures_total {failures}\n",
        stats.prometheus()
    )
}

/// Returns the figures as a page.
pub(super) fn html(stats: &Stats, failures: u64) -> String {
    let mut rows = String::new();
    for (name, session) in std::iter::once(("all", &stats.total))
        .chain(stats.sessions.iter().map(|session| (&*session.session, session)))
    {
        let _ = writeln!(
            rows,
            "<tr><td>{}<td>{}{}",
            escape(name),
            escape(&session.model),
            cells(session)
        );
    }
    let note = if stats.dry_run {
        "<p>Dry run: all requests were sent unchanged. The cost with edits is computed."
    } else {
        "<p>The cost without edits is computed from the same usage."
    };
    let count = |what: &str, count: u64| match count {
        0 => String::new(),
        count => format!("<p>{what}: {count}"),
    };
    let total = &stats.total;
    let unsupported = count("Unsupported requests, sent unchanged", total.unsupported_requests);
    let failed = count("Failed edits, sent unchanged", total.failed_edits);
    let failures = count("Failures to edit or to record since the start", failures);
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>LCP gateway</title>\
         <style>body{{font:14px system-ui;margin:2em}}td,th{{padding:.2em .8em;text-align:right}}\
         td:nth-child(-n+2),th:nth-child(-n+2){{text-align:left}}tr:nth-child(2){{font-weight:bold}}\
         </style><h1>LCP gateway</h1><p>Costs are in input tokens, from the usage that providers \
         report: writes to the cache count 1.25 or 2, reads 0.1.{note}{unsupported}{failed}{failures}\n\
         <table><tr><th>session<th>model<th>requests<th>without usage<th>input<th>written<th>read\
         <th>output<th>cost with edits<th>cost without<th>edits<th>added ms\n{rows}</table></html>\n"
    )
}

fn cells(session: &SessionStats) -> String {
    let edits: Vec<_> =
        session.edits.iter().map(|(reason, count)| format!("{count} {}", escape(reason))).collect();
    format!(
        "<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
        session.requests,
        session.requests_without_usage,
        session.input_tokens,
        session.written_tokens + session.written_hour_tokens,
        session.read_tokens,
        session.output_tokens,
        session.cost_with_edits,
        session.cost_without_edits,
        edits.join(", "),
        session.mean_millis(),
    )
}

/// Escapes a text of a client.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_clients_are_escaped() {
        let session = SessionStats {
            session: "<b>&".into(),
            model: "<i>".into(),
            mean_micros: 350,
            ..SessionStats::default()
        };
        let total =
            SessionStats { unsupported_requests: 4, failed_edits: 5, ..SessionStats::default() };
        let stats = Stats { sessions: vec![session], total, ..Stats::default() };
        let page = html(&stats, 0);
        assert!(page.contains(
            "Unsupported requests, sent unchanged: 4<p>Failed edits, sent unchanged: 5\n"
        ));
        assert!(
            page.contains("<td>&lt;b&gt;&amp;<td>&lt;i&gt;") && page.contains("<td>0.3\n"),
            "{page}"
        );
        assert!(!page.contains("Failures") && html(&stats, 3).contains("since the start: 3\n"));
        assert!(metrics(&stats, 3).ends_with("lcp_gateway_failures_total 3\n"));
        let json: serde_json::Value = serde_json::from_str(&json(&stats)).unwrap();
        assert_eq!(json["sessions"][0]["session"], "<b>&");
    }
}

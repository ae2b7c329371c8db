//! The usage that a gateway reads in responses, and records.

use std::io::Write as _;

use lcp_gateway::{Api, SessionStats, Stats, read_stats};

use crate::histories::{Step, request};
use crate::server::{EVENTS, bodies, gateway, send_failing, stream};
use crate::upstream::{Provider, respond, send};

#[test]
fn usage_of_streams_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(|_, out| stream(out, &EVENTS[..2], true));
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
    send(&gateway.url(), "/v1/messages", &[("x-claude-code-session-id", "s1")], &body);
    drop(gateway);
    let stats = read_stats(folder.path(), false).unwrap();
    assert_eq!(stats.sessions[0].session, "s1");
    assert_eq!((stats.total.input_tokens, stats.total.output_tokens), (5, 1));
    assert_eq!((stats.total.cost_with_edits, stats.total.cost_without_edits), (5, 5));
}

/// Compresses a response.
type Encode = fn(&[u8]) -> Vec<u8>;

#[test]
fn compressed_responses_are_passed_as_they_came_and_their_usage_is_read() {
    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }
    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }
    let encodings: [(&str, Encode); 2] = [("gzip", gzip), ("zstd", zstd)];
    for (name, encode) in encodings {
        let folder = tempfile::tempdir().unwrap();
        let body = encode(EVENTS.concat().as_bytes());
        let sent = body.clone();
        let provider = Provider::start(move |_, out| {
            let kind = format!("text/event-stream\r\ncontent-encoding: {name}");
            respond(out, "200 OK", &kind, &sent);
        });
        let gateway = gateway(&provider.url, folder.path(), |_| {});
        let request = request(Api::Anthropic, &[Step::Turn("hello".into())]);
        let response = send(&gateway.url(), "/v1/messages", &[], &request);
        assert_eq!((response.header("content-encoding"), &response.body), (Some(name), &body));
        drop(gateway);
        let total = read_stats(folder.path(), false).unwrap().total;
        assert_eq!(
            (total.input_tokens, total.output_tokens, total.requests_without_usage),
            (5, 1, 0)
        );
    }
}

/// Sends a request to a gateway, and returns the figures.
fn stats_after(target: &str, headers: &[(&str, &str)], body: &[u8]) -> Stats {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(|_, out| {
        let body = br#"{"model":"m-1","usage":{"input_tokens":7,"output_tokens":5}}"#;
        respond(out, "200 OK", "application/json", body);
    });
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    assert_eq!(send(&gateway.url(), target, headers, body).status(), 200);
    assert_eq!(bodies(&provider), [body]);
    drop(gateway);
    read_stats(folder.path(), false).unwrap()
}

#[test]
fn usage_of_unsupported_requests_is_recorded() {
    const MESSAGES: &str = "/v1/messages";
    const RESPONSES: &str = "/v1/responses";
    let unsupported = [
        (RESPONSES, "identity", r#"{"model":"m","previous_response_id":"r","input":[]}"#),
        (RESPONSES, "identity", r#"{"model":"m","input":"hello"}"#),
        (MESSAGES, "identity", r#"{"model":"m","messages":[],"messages":[]}"#),
        (MESSAGES, "gzip", "anything"),
        (MESSAGES, "zstd", "not compressed"),
    ];
    for (target, encoding, body) in unsupported {
        let encoding = ("content-encoding", encoding);
        let stats = stats_after(target, &[encoding], body.as_bytes());
        let expected = SessionStats {
            requests: 1,
            unsupported_requests: 1,
            input_tokens: 7,
            output_tokens: 5,
            cost_with_edits: 7,
            cost_without_edits: 7,
            last_request: stats.total.last_request,
            mean_micros: stats.total.mean_micros,
            max_micros: stats.total.max_micros,
            ..SessionStats::default()
        };
        assert_eq!(stats.total, expected, "{body}");
        let session = &stats.sessions[0];
        assert_eq!((&*session.session, &*session.model), ("unknown", "m-1"));
        let headers = [encoding, ("session_id", "s1")];
        assert_eq!(stats_after(target, &headers, body.as_bytes()).sessions[0].session, "s1");
        let count = stats_after("/v1/messages/count_tokens", &[encoding], body.as_bytes());
        assert_eq!(count.total.requests, 0);
    }
    assert_eq!(stats_after("/v1/embeddings", &[], b"{}").total.requests, 0);
}

#[test]
fn usage_of_a_request_whose_edit_failed_is_recorded() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let (_, originals) = send_failing(&gateway, &provider);
    drop(gateway);
    std::fs::remove_file(&originals).unwrap();
    let stats = read_stats(folder.path(), false).unwrap();
    let (total, session) = (&stats.total, &stats.sessions[0]);
    assert_eq!((total.requests, total.failed_edits, total.unsupported_requests), (1, 1, 0));
    assert_eq!((total.read_tokens, total.cost_with_edits), (1_000, 232));
    // The first message identifies the session.
    assert!(session.session.len() == 12 && session.model == "claude-x", "{session:?}");
    assert!(session.max_micros > 0);
}

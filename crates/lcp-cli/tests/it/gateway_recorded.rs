//! Replays the sessions of `gateway_agents.rs`, recorded with Claude Code 2.1.197 and Codex 0.171.0, because CI
//! does not install the agents.
//!
//! Each line of a file is the body of a request. Only one or two tool definitions are included, and
//! placeholders replace the texts of the agents, ids and paths. The rest is unchanged.

use std::path::Path;

use lcp_gateway::{Api, Request};
use serde_json::Value;

use crate::command::LCP;
use crate::gateway::start;
use crate::gateway_agents::{Exchange, check_repeated};
use crate::gateway_histories::between_results;
use crate::gateway_upstream::{Provider, send};

/// Returns the requests of a recorded session.
fn recorded(name: &str) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    let bodies = std::fs::read_to_string(file).unwrap();
    bodies.lines().map(|body| body.as_bytes().to_vec()).collect()
}

/// Sends requests to gateways with this configuration. Each gateway is killed after a request.
#[track_caller]
fn replay(bodies: Vec<Vec<u8>>, path: &str, config: &str) -> Vec<Exchange> {
    let (project, provider) = (LCP.project(config), Provider::strict());
    for body in &bodies {
        let (mut gateway, url) = start(&project, &provider.url, "data", &[]);
        let response = send(&url, path, &[], body);
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        assert_eq!(response.status(), 200, "{}", String::from_utf8_lossy(&response.body));
    }
    let sent = provider.requests().into_iter().map(|request| request.body);
    assert_eq!(sent.len(), bodies.len());
    bodies.into_iter().zip(sent).map(|(received, sent)| Exchange { received, sent }).collect()
}

/// Returns a request with results of four times their length.
fn with_long_results(api: Api, body: &[u8]) -> Vec<u8> {
    let (mut longer, mut start) = (Vec::new(), 0);
    for result in Request::parse(api, body).unwrap().results() {
        longer.extend_from_slice(&body[start..result.place.start]);
        longer.extend(Value::from(result.text.repeat(4)).to_string().into_bytes());
        start = result.place.end;
    }
    longer.extend_from_slice(&body[start..]);
    longer
}

#[test]
fn recorded_sessions_get_references_and_keep_their_prefixes() {
    check_repeated(
        Api::Anthropic,
        &replay(recorded("claude_code.jsonl"), "/v1/messages?beta=true", ""),
    );
    check_repeated(Api::OpenAiResponses, &replay(recorded("codex.jsonl"), "/v1/responses", ""));
}

#[test]
fn recorded_sessions_over_the_budget_get_stubs() {
    for (api, name, path) in [
        (Api::Anthropic, "claude_code.jsonl", "/v1/messages?beta=true"),
        (Api::OpenAiResponses, "codex.jsonl", "/v1/responses"),
    ] {
        let mut stubs = 0;
        let bodies = recorded(name).iter().map(|body| with_long_results(api, body)).collect();
        for Exchange { received, sent } in replay(bodies, path, "[gateway]\nbudget = 2000\n") {
            let (before, after) = (Request::parse(api, &received), Request::parse(api, &sent));
            let (before, after) = (before.unwrap(), after.unwrap());
            assert_eq!(between_results(&before, &received), between_results(&after, &sent));
            let is_stub = |text: &str| text.starts_with("[lcp: this output of ");
            stubs += after.results().iter().filter(|result| is_stub(&result.text)).count();
        }
        assert!(stubs > 0, "{name}");
    }
}

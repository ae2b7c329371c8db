//! Replays the sessions of `gateway_agents.rs`, recorded with Claude Code 2.1.197 and Codex 0.171.0, because CI
//! does not install the agents.
//!
//! Each line of a file is the body of a request. Only one or two tool definitions are included, and
//! placeholders replace the texts of the agents, ids and paths. The rest is unchanged.

use std::path::Path;

use lcp_gateway::Api;

use crate::command::LCP;
use crate::gateway::start;
use crate::gateway_agents::{Exchange, check_repeated};
use crate::gateway_upstream::{Provider, send};

/// Sends the requests of a recorded session. The gateway is killed after each, and another one is started.
#[track_caller]
fn replay(name: &str, path: &str) -> Vec<Exchange> {
    let (project, provider) = (LCP.project(""), Provider::strict());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    let bodies = std::fs::read_to_string(file).unwrap();
    for body in bodies.lines() {
        let (mut gateway, url) = start(&project, &provider.url, "data", &[]);
        let response = send(&url, path, &[], body.as_bytes());
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        assert_eq!(response.status(), 200, "{}", String::from_utf8_lossy(&response.body));
    }
    let bodies = bodies.lines().map(|body| body.as_bytes().to_vec());
    let sent = provider.requests().into_iter().map(|request| request.body);
    assert_eq!(sent.len(), bodies.clone().count());
    bodies.zip(sent).map(|(received, sent)| Exchange { received, sent }).collect()
}

#[test]
fn recorded_sessions_get_references_and_keep_their_prefixes() {
    check_repeated(Api::Anthropic, &replay("claude_code.jsonl", "/v1/messages?beta=true"));
    check_repeated(Api::OpenAiResponses, &replay("codex.jsonl", "/v1/responses"));
}

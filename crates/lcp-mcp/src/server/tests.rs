//! Panics, the end of the server, definitions of tools.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{LazySessionStore, Roots, ServerConfig};
use lcp_app::config::Config;

#[expect(dead_code, reason = "`main` serves on standard input")]
#[path = "../../examples/serve.rs"]
mod example;

/// A server that reads the current folder.
pub(crate) fn server() -> Server {
    let config = ServerConfig {
        roots: Roots::new(&[".".into()]).unwrap(),
        settings: Config::default(),
        git: false,
        sessions: LazySessionStore::default(),
        reporter: Box::new(lcp_app::Silent),
    };
    Server::new(ServerState::new(config))
}

/// Keeps all further calls waiting until the result is dropped.
#[cfg(feature = "http")]
pub(crate) fn hold_calls(server: &Server) -> tokio::sync::OwnedSemaphorePermit {
    let calls = u32::try_from(CALLS_MAX).unwrap();
    Arc::clone(&server.calls).try_acquire_many_owned(calls).unwrap()
}

#[test]
fn panic_is_reported_and_the_server_continues() {
    let (server, runtime) = (server(), start_runtime().unwrap());
    for _ in 0..=CALLS_MAX {
        let result = runtime.block_on(server.run(|_| -> ToolResult<()> { panic!("a test") }));
        assert_eq!(result.unwrap_err().code, "internal");
    }
    assert_eq!(runtime.block_on(server.run(|_| Ok(7))), Ok(7));
}

#[test]
fn interrupt_hooks_run_when_the_server_ends() {
    let is_done = Arc::new(AtomicBool::new(false));
    let hook = interrupt::on_interrupt({
        let is_done = Arc::clone(&is_done);
        move || is_done.store(true, Ordering::Relaxed)
    });
    let state = Arc::into_inner(server().state).unwrap();
    let over = serve_on(state, (tokio::io::empty(), tokio::io::sink()));
    assert_eq!(start_runtime().unwrap().block_on(over), Ok(()));
    assert!(is_done.load(Ordering::Relaxed));
    drop(hook);
}

#[test]
fn example_server_runs_until_end_of_input() {
    let state = example::state(".".into()).unwrap();
    let served = serve_on(state, (tokio::io::empty(), tokio::io::sink()));
    assert_eq!(start_runtime().unwrap().block_on(served), Ok(()));
}

/// The tokens that the definitions of all tools may take from each agent that connects.
const DEFINITION_TOKENS_MAX: u32 = 1_500;

#[test]
fn tool_definitions_are_within_the_token_limit() {
    let all = serde_json::to_string(&tool_list()).unwrap();
    let tokenizer = server().state.tokenizer(Some("o200k_base".to_owned()), None, true).unwrap();
    let tokens = tokenizer.estimator.estimate(&all);
    assert!(tokens <= DEFINITION_TOKENS_MAX, "{tokens} tokens: {all}");
}

#[test]
fn every_tool_has_a_schema_and_rejects_unknown_arguments() {
    let server = server();
    for entry in tools::ALL {
        let tool = (entry.describe)();
        assert_eq!(tool.input_schema["type"], "object", "{}", entry.name);
        assert!(!tool.input_schema["properties"].as_object().unwrap().is_empty(), "{}", entry.name);
        let unknown = serde_json::json!({ "nothing": 1 });
        let error = (entry.call)(&server.state, unknown.as_object().unwrap().clone()).unwrap_err();
        assert!(error.message.contains("unknown field `nothing`"), "{error:?}");
    }
}

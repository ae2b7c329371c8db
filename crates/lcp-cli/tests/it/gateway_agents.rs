//! Sessions of real agents with thinking, parallel calls, resumes and a compaction. Each prompt has its own
//! process of the agent, and its own gateway, which is killed after it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use lcp_gateway::{Api, Request};
use serde_json::{Value, json};

use crate::command::{LCP, Project, stderr};
use crate::gateway::{agent, set_environment, start};
use crate::gateway_histories::{between_results, lines, messages};
use crate::gateway_model::{
    END, anthropic_events, openai_events, openai_message, provider_for_agents, read_call,
    respond_without_model, shell_call,
};
use crate::gateway_upstream::{Message, Provider, respond, send};

/// The prompts of a session. After each, the model reads files at once.
const PROMPTS: [&str; 4] = ["Read two files.", "Read the next.", "Read more.", "Read the last."];

/// The files that the model reads after each prompt.
type Files = [&'static [usize]; 4];

const DISTINCT: Files = [&[0, 1], &[2, 3], &[4, 5], &[6, 7]];

/// File 0 is read again by a new process and after the compaction; file 4 is read twice in parallel.
const REPEATED: Files = [&[0, 1], &[0, 3], &[4, 4], &[0, 7]];

/// More files than the newest results that stay.
const MANY: Files = [&[0, 1, 2, 3, 4, 5, 6, 7, 8], &[], &[], &[]];

/// A budget that is above the requests with many files, and far below eight times as much.
const MANY_BUDGET: &str = "[gateway]\nbudget = 80000\n";

/// Returns the index of the prompt that a request ends with.
fn newest_prompt(body: &Value) -> Option<usize> {
    let list = body["messages"].as_array().or(body["input"].as_array())?;
    let text = list.last()?["content"].as_array()?.last()?["text"].as_str()?;
    PROMPTS.iter().position(|prompt| text.contains(prompt))
}

/// Returns the events of a model that thinks, and reads files if the request ends with a prompt.
fn reply(body: &Value, folder: &Path, files: Files) -> Vec<Value> {
    let calls: Vec<_> = newest_prompt(body)
        .into_iter()
        .flat_map(|prompt| {
            let files = files[prompt].iter().enumerate();
            files.map(move |(at, file)| {
                (1 + prompt + at, format!("{prompt}_{at}"), path(folder, *file))
            })
        })
        .collect();
    let is_end = calls.is_empty();
    if let Some(items) = body["input"].as_array() {
        let id = items.len().to_string();
        let mut reply = vec![json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [],
            "encrypted_content": "AAAA" })];
        reply.extend(calls.iter().map(|(_, call, file)| shell_call(body, call, file).unwrap()));
        if is_end {
            reply.push(openai_message(&id));
        }
        return openai_events(body, &reply);
    }
    let mut reply = vec![
        json!({ "type": "thinking", "thinking": "Read it.", "signature": "c2ln" }),
        json!({ "type": "redacted_thinking", "data": "cmVk" }),
    ];
    // Claude Code itself answers a second read of the same lines.
    reply.extend(
        calls.iter().map(|(line, call, file)| {
            read_call(body, &format!("call_{call}"), file, *line).unwrap()
        }),
    );
    if is_end {
        reply.push(json!({ "type": "text", "text": END }));
    }
    anthropic_events(body, &reply)
}

/// Returns the path of a file that the model reads.
fn path(folder: &Path, file: usize) -> PathBuf {
    folder.join(format!("{file}.txt"))
}

/// A session of an agent.
struct Session {
    project: Project,
    provider: Provider,
    /// The rules that requests broke.
    broken: Arc<Mutex<Vec<String>>>,
    /// Records the requests of the agent, and forwards them to the gateway.
    recorder: Provider,
    /// The URL of the gateway that runs now.
    gateway_url: Arc<Mutex<String>>,
}

/// A request as the agent sent it, and as the gateway forwarded it.
pub(crate) struct Exchange {
    pub(crate) received: Vec<u8>,
    pub(crate) sent: Vec<u8>,
}

impl Session {
    /// Creates a session with files of this length in lines, and with this configuration of the gateway.
    fn new(files: Files, length: usize, config: &str) -> Self {
        let project = LCP.project(config);
        let folder = project.path("work");
        std::fs::create_dir_all(&folder).unwrap();
        for file in files.concat() {
            std::fs::write(path(&folder, file), lines(file, 0, length)).unwrap();
        }
        let (provider, broken) = provider_for_agents(move |body| reply(body, &folder, files));
        let gateway_url: Arc<Mutex<String>> = Arc::default();
        let url = Arc::clone(&gateway_url);
        let recorder = Provider::start(move |request, stream| {
            if !request.line.starts_with("POST ") {
                return respond_without_model(stream);
            }
            let url = url.lock().unwrap().clone();
            let response = forward(request, &url);
            let (_, status) = response.line.split_once(' ').unwrap();
            respond(stream, status, response.header("content-type").unwrap(), &response.body);
        });
        Self { project, provider, broken, recorder, gateway_url }
    }

    /// Runs an agent for one prompt, with a new gateway.
    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str], variables: &[(&str, &str)]) {
        let (mut gateway, url) = start(&self.project, &self.provider.url, "data", &[]);
        *self.gateway_url.lock().unwrap() = url;
        let mut command = Command::new(agent(program));
        command.args(arguments).current_dir(self.project.path("work")).stdin(Stdio::null());
        set_environment(&mut command, &self.project);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(self.broken.lock().unwrap()[..], [""; 0]);
        assert!(output.status.success(), "{arguments:?}: {text}{}", stderr(&output));
    }

    /// Runs Claude Code for one prompt.
    #[track_caller]
    fn run_claude(&self, arguments: &[&str]) {
        let options = [
            "-p", "--model", "claude-sonnet-4-5", "--output-format", "json", "--allowedTools=Read",
        ];
        let program = "node_modules/@anthropic-ai/claude-code-linux-x64/claude";
        let variables =
            [("ANTHROPIC_BASE_URL", &*self.recorder.url), ("ENABLE_TOOL_SEARCH", "true")];
        self.run(program, &[&options, arguments].concat(), &variables);
    }

    /// Runs Codex for one prompt.
    #[track_caller]
    fn run_codex(&self, arguments: &[&str]) {
        let config = format!(
            "model = \"gpt-5.2-codex\"\nmodel_provider = \"mine\"\n\
            sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n\
            [model_providers.mine]\nname = \"mine\"\nbase_url = \"{}/v1\"\n\
            env_key = \"DUMMY_KEY\"\nwire_api = \"responses\"\n",
            self.recorder.url,
        );
        std::fs::create_dir_all(self.project.path("home/.codex")).unwrap();
        std::fs::write(self.project.path("home/.codex/config.toml"), config).unwrap();
        let arguments = [&["exec", "--skip-git-repo-check", "--json"], arguments].concat();
        self.run("node_modules/.bin/codex", &arguments, &[]);
    }

    /// Lets the cache of the provider expire.
    fn expire_cache(&self) {
        let store = rusqlite::Connection::open(self.project.path("data/gateway.sqlite")).unwrap();
        for table in ["beginnings", "decisions"] {
            let update = format!("UPDATE {table} SET expires = expires - 100000");
            assert!(store.execute(&update, []).unwrap() > 0);
        }
    }

    /// Checks that the last request has stubs whose files have the results, and that the one before has none.
    #[track_caller]
    fn check_stubs(&self, api: Api) {
        let exchanges = self.exchanges();
        let [.., before, last] = &exchanges[..] else { panic!("too few requests") };
        assert_eq!(before.received, before.sent);
        let (received, sent) =
            (Request::parse(api, &last.received), Request::parse(api, &last.sent));
        let (received, sent) = (received.unwrap(), sent.unwrap());
        assert_eq!(between_results(&received, &last.received), between_results(&sent, &last.sent));
        let (received, sent) = (received.results(), sent.results());
        assert_eq!(received.len(), MANY[0].len());
        let mut stubs = 0;
        for (at, (received, sent)) in received.iter().zip(&sent).enumerate() {
            if received.text != sent.text {
                assert!(at < MANY[0].len() - 6 && sent.text.starts_with("[lcp: this output of "));
                let (_, path) = sent.text.trim_end_matches(']').split_once(" is in ").unwrap();
                assert_eq!(std::fs::read_to_string(path).unwrap(), received.text);
                stubs += 1;
            }
        }
        assert!(stubs > 0, "{} bytes", last.received.len());
    }

    /// Returns the requests of the session in their order.
    fn exchanges(&self) -> Vec<Exchange> {
        let bodies = |provider: &Provider| -> Vec<Vec<u8>> {
            let requests = provider.requests().into_iter();
            let is_turn =
                |it: &Message| it.line.starts_with("POST ") && !it.line.contains("/count_tokens");
            requests.filter(is_turn).map(|it| it.body).collect()
        };
        let (received, sent) = (bodies(&self.recorder), bodies(&self.provider));
        assert_eq!(received.len(), sent.len());
        received.into_iter().zip(sent).map(|(received, sent)| Exchange { received, sent }).collect()
    }
}

/// Forwards a request to a gateway. Returns its response.
pub(crate) fn forward(request: &Message, gateway: &str) -> Message {
    let headers = request.headers.iter().map(|(name, value)| (&**name, &**value));
    let framing = ["host", "content-length", "transfer-encoding", "connection"];
    let headers: Vec<_> = headers.filter(|(name, _)| !framing.contains(name)).collect();
    send(gateway, request.line.split(' ').nth(1).unwrap(), &headers, &request.body)
}

/// Checks that requests were forwarded unchanged, except for repeated reads of a file, which must be
/// references. Returns the number of references.
#[track_caller]
fn check_references(api: Api, exchanges: &[Exchange]) -> usize {
    let references = exchanges.iter().map(|Exchange { received, sent }| {
        let (before, after) = (Request::parse(api, received), Request::parse(api, sent));
        let (before, after) = (before.unwrap(), after.unwrap());
        assert_eq!(between_results(&before, received), between_results(&after, sent));
        let (mut shown, mut references) = (Vec::new(), 0);
        for (before, after) in before.results().iter().zip(after.results()) {
            let file = before.text.split(" of file ").nth(1).unwrap().split(',').next().unwrap();
            if shown.iter().any(|known| known == file) {
                assert!(after.text.contains("[lcp: lines "), "{}", after.text);
                references += 1;
            } else {
                assert_eq!(before.text, after.text);
                shown.push(file.to_owned());
            }
        }
        assert_eq!(received == sent, references == 0);
        references
    });
    references.sum()
}

/// Returns the parts of all messages with their roles. Messages are too coarse for a comparison, because a
/// compaction of Claude Code adds a part to the last one.
fn parts(body: &[u8]) -> Vec<Value> {
    let parts = messages(body).into_iter().flat_map(|message| match &message["content"] {
        Value::Array(parts) => {
            parts.iter().map(|part| json!([message["role"], part])).collect::<Vec<_>>()
        }
        _ => vec![message],
    });
    parts.collect()
}

/// Checks that each request begins with the one before if the agent did not change its history. Returns the
/// number of such requests.
#[track_caller]
fn check_prefixes(exchanges: &[Exchange]) -> usize {
    let pairs = exchanges.windows(2).filter(|pair| {
        let [before, now] = pair else { unreachable!() };
        let is_prefix = parts(&now.received).starts_with(&parts(&before.received));
        let is_sent_prefix = parts(&now.sent).starts_with(&parts(&before.sent));
        assert_eq!(is_sent_prefix, is_prefix);
        is_prefix
    });
    pairs.count()
}

/// Returns the kinds of the newest parts of a request.
fn newest_kinds(exchange: &Exchange, count: usize) -> Vec<String> {
    let parts = parts(&exchange.sent);
    let kinds = parts[parts.len() - count..].iter().map(|part| {
        let part = if part.is_array() { &part[1] } else { part };
        part["type"].as_str().unwrap().to_owned()
    });
    kinds.collect()
}

/// Checks the shape of a session with a compaction before the last prompt. Requests with new results must end
/// with parts of the kinds `calls`.
#[track_caller]
fn check_shape(api: Api, exchanges: &[Exchange], calls: &[&str]) {
    let results = |it: &Exchange| Request::parse(api, &it.sent).unwrap().results().len();
    let results: Vec<_> = exchanges.iter().map(results).collect();
    // Two requests for each prompt, and one for the summary, after which no result is left.
    assert_eq!(results, [0, 2, 2, 4, 4, 6, 6, 0, 2]);
    assert!(String::from_utf8_lossy(&exchanges[7].sent).contains(END));
    for at in [1, 3, 5, 8] {
        assert_eq!(newest_kinds(&exchanges[at], calls.len()), calls, "request {at}");
    }
}

/// Runs a session of Claude Code.
#[track_caller]
fn claude_session(files: Files) -> Vec<Exchange> {
    let session = Session::new(files, 16, "");
    session.run_claude(&[PROMPTS[0]]);
    for prompt in [PROMPTS[1], PROMPTS[2], "/compact", PROMPTS[3]] {
        session.run_claude(&["--continue", prompt]);
    }
    let exchanges = session.exchanges();
    let calls =
        ["thinking", "redacted_thinking", "tool_use", "tool_use", "tool_result", "tool_result"];
    check_shape(Api::Anthropic, &exchanges, &calls);
    exchanges
}

/// Runs a session of Codex.
#[track_caller]
fn codex_session(files: Files) -> Vec<Exchange> {
    let session = Session::new(files, 16, "");
    session.run_codex(&[PROMPTS[0]]);
    for prompt in &PROMPTS[1..3] {
        session.run_codex(&["resume", "--last", prompt]);
    }
    // Below the usage of the last response, and above that of a response after the compaction.
    let limit = "model_auto_compact_token_limit=27000";
    session.run_codex(&["resume", "--last", "-c", limit, PROMPTS[3]]);
    let exchanges = session.exchanges();
    let calls = [
        "reasoning", "function_call", "function_call", "function_call_output",
        "function_call_output",
    ];
    check_shape(Api::OpenAiResponses, &exchanges, &calls);
    exchanges
}

/// Checks a session with the repeated files, real or recorded.
#[track_caller]
pub(crate) fn check_repeated(api: Api, exchanges: &[Exchange]) {
    // The first request has no predecessor, and the first one after the compaction has another beginning.
    assert_eq!(check_prefixes(exchanges), exchanges.len() - 2);
    // Two requests have one reference, and two have two. After the compaction, file 0 is sent in full,
    // because the summary does not contain it.
    assert_eq!(check_references(api, exchanges), 2 + 2 * 2);
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn claude_code_resumes_and_compacts_with_a_gateway() {
    check_repeated(Api::Anthropic, &claude_session(REPEATED));
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn codex_resumes_and_compacts_with_a_gateway() {
    check_repeated(Api::OpenAiResponses, &codex_session(REPEATED));
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn claude_code_gets_stubs_after_a_pause_with_a_gateway() {
    let session = Session::new(MANY, 100, MANY_BUDGET);
    // Claude Code writes the state of the repository into the system prompt.
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments);
        assert!(git.current_dir(session.project.path("work")).output().unwrap().status.success());
    };
    git(&["init"]);
    git(&["add", "."]);
    git(&["commit", "-m", "Add files"]);
    session.run_claude(&[PROMPTS[0]]);
    session.expire_cache();
    std::fs::write(session.project.path("work/changed.txt"), "changed").unwrap();
    session.run_claude(&["--continue", PROMPTS[1]]);
    session.check_stubs(Api::Anthropic);
    let exchanges = session.exchanges();
    let system = |it: &Exchange| {
        let body: Value = serde_json::from_slice(&it.received).unwrap();
        body["system"].to_string()
    };
    let [.., before, last] = &exchanges[..] else { unreachable!() };
    assert_ne!(system(before), system(last));
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn codex_gets_stubs_after_a_pause_with_a_gateway() {
    let session = Session::new(MANY, 100, MANY_BUDGET);
    session.run_codex(&[PROMPTS[0]]);
    session.expire_cache();
    session.run_codex(&["resume", "--last", PROMPTS[1]]);
    session.check_stubs(Api::OpenAiResponses);
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn sessions_without_duplicates_are_unchanged_with_a_gateway() {
    assert_eq!(check_references(Api::Anthropic, &claude_session(DISTINCT)), 0);
    assert_eq!(check_references(Api::OpenAiResponses, &codex_session(DISTINCT)), 0);
}

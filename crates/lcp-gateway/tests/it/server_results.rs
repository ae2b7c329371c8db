//! Results that become stubs, and results that stay: those that the newest turn needs, and those that the user lists.

use std::path::Path;

use lcp_app::config::Config;
use lcp_gateway::{Api, Request, read_stats};
use serde_json::json;

use crate::histories::{Step, lines, request};
use crate::server::{APIS, bodies, gateway, path};
use crate::upstream::{Provider, respond, send};

#[test]
fn results_that_the_newest_turn_needs_stay_at_a_cold_point() {
    let topics = [
        "apples", "bridges", "candles", "dolphins", "engines", "forests", "glaciers", "harbors",
        "islands", "jackets", "kettles", "lanterns", "mirrors", "needles", "oysters",
    ];
    let read = |topic: &&str| Step::Call {
        input: format!("{topic}.txt"),
        output: format!("The notes tell about {topic}.\n").repeat(60),
    };
    for (api, topic) in APIS.into_iter().zip(["candles", "forests", "apples"]) {
        let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
        let gateway = gateway(&provider.url, folder.path(), |it| it.edits.budget = Some(20_000));
        let mut steps = vec![Step::Turn("Read the notes.".into())];
        steps.extend(topics.iter().map(read));
        steps.push(Step::Turn(format!("What do the notes tell about {topic}?")));
        // The client changes its first result.
        for step in [read(&"zebras"), read(&topics[0])] {
            steps[1] = step;
            let response = send(&gateway.url(), path(api), &[], &request(api, &steps));
            assert_eq!(response.status(), 200);
        }
        let sent = String::from_utf8(bodies(&provider).remove(1)).unwrap();
        let stays = |topic: &&&str| sent.contains(&format!("The notes tell about {topic}."));
        let older: Vec<_> = topics[..9].iter().filter(stays).collect();
        assert_eq!(older, [&topic], "{api:?}");
    }
}

#[test]
fn results_of_raw_commands_and_of_listed_tools_and_paths_stay() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let settings = "[gateway]\nbudget = 4000\nkeep_tools = ['ask_*']\nkeep_paths = ['*.lock']\n";
    let gateway = gateway(&provider.url, folder.path(), |it| {
        it.edits.settings = Config::parse(Path::new("lcp.toml"), settings).unwrap();
    });
    let calls = [
        ("shell", json!({ "command": "cat a.txt # lcp: raw" })),
        ("shell", json!({ "command": "cat a.txt" })),
        ("ask_database", json!({ "question": "a" })),
        ("read", json!({ "path": "/project/Cargo.lock" })),
        ("read", json!({ "path": "/project/Cargo.toml" })),
    ];
    let mut messages = vec![json!({ "role": "user", "content": "Read all." })];
    // Each call twice, and then results that are newer.
    let calls: Vec<_> = calls.iter().chain(&calls).chain([&calls[1]; 6]).collect();
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        let id = format!("call_{at}");
        let function = json!({ "name": tool, "arguments": arguments.to_string() });
        let call = json!({ "id": id, "type": "function", "function": function });
        let file = if at < 10 { at % 5 } else { at };
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": lines(file, 0, 30) }));
    }
    messages.push(json!({ "role": "user", "content": "And now?" }));
    let body = json!({ "model": "my-model", "messages": messages }).to_string();
    let response = send(&gateway.url(), path(Api::OpenAiChat), &[], body.as_bytes());
    assert_eq!(response.status(), 200);
    let (body, sent) = (body.into_bytes(), bodies(&provider).remove(0));
    let parse = |body| Request::parse(Api::OpenAiChat, body).unwrap();
    let (before, after) = (parse(&body), parse(&sent));
    let (before, after) = (before.results(), after.results());
    let is_edited = before.iter().zip(&after).map(|(before, after)| before.text != after.text);
    let edited: Vec<_> = is_edited.take(10).collect();
    let expected = [false, true, false, false, true];
    assert_eq!(edited, [expected, expected].concat());
}

#[test]
fn usage_without_a_cache_makes_the_next_request_cold() {
    for (written, is_cut) in [(0, true), (9_000, false)] {
        let provider = Provider::start(move |_, stream| {
            let usage = json!({ "input_tokens": 9_000, "cache_creation_input_tokens": written,
                "cache_read_input_tokens": 0, "output_tokens": 1 });
            let message = json!({ "type": "message", "content": [], "usage": usage }).to_string();
            respond(stream, "200 OK", "application/json", message.as_bytes());
        });
        let folder = tempfile::tempdir().unwrap();
        let gateway = gateway(&provider.url, folder.path(), |it| it.edits.budget = Some(40_000));
        let mut steps = vec![Step::Turn("Read the files.".into())];
        steps.extend((0..12).map(|at| Step::Call { input: "a".into(), output: lines(at, 0, 60) }));
        for number in 1..=2 {
            let body = request(Api::Anthropic, &steps);
            assert_eq!(send(&gateway.url(), path(Api::Anthropic), &[], &body).status(), 200);
            let is_edited = bodies(&provider)[number - 1] != body;
            assert_eq!(
                is_edited,
                is_cut && number == 2,
                "{written} tokens written, request {number}"
            );
            // The usage is recorded when the response has ended.
            while read_stats(folder.path(), false).unwrap().total.requests < number as u64 {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            steps.push(Step::Turn("And now?".into()));
        }
    }
}

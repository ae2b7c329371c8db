//! Results that become stubs, and results that stay: those that the newest turn needs, and those that the user lists.

use std::path::Path;
use std::sync::atomic::Ordering;

use lcp_app::config::Config;
use lcp_gateway::{Api, Request, read_stats};
use serde_json::{Value, json};

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

const OVERLOADED: [u64; 3] = [0; 3];

/// A change of a request.
type Change = fn(&mut Value);

/// Sends requests, each with one more turn than the last one. The provider reports these tokens as input, read and
/// written. Without any, it is overloaded, and the next request is the same. Returns whether the last request is
/// edited; the others must not be.
#[track_caller]
fn is_last_edited(budget: u32, requests: &[([u64; 3], Change)]) -> bool {
    let usages: Vec<_> = requests.iter().map(|(usage, _)| *usage).collect();
    let next = std::sync::atomic::AtomicUsize::default();
    let provider = Provider::start(move |_, stream| {
        let [input, read, written] = usages[next.fetch_add(1, Ordering::SeqCst)];
        if input + read + written == 0 {
            return respond(stream, "529 Overloaded", "application/json", b"{}");
        }
        let usage = json!({ "input_tokens": input, "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read, "output_tokens": 1 });
        let message = json!({ "type": "message", "content": [], "usage": usage }).to_string();
        respond(stream, "200 OK", "application/json", message.as_bytes());
    });
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(&provider.url, folder.path(), |it| it.edits.budget = Some(budget));
    let mut steps = vec![Step::Turn("Read the files.".into())];
    steps.extend((0..12).map(|at| Step::Call { input: "a".into(), output: lines(at, 0, 60) }));
    let (mut edited, mut recorded) = (Vec::new(), 0);
    for (usage, change) in requests {
        let mut body = serde_json::from_slice(&request(Api::Anthropic, &steps)).unwrap();
        change(&mut body);
        let body = body.to_string().into_bytes();
        let status = send(&gateway.url(), path(Api::Anthropic), &[], &body).status();
        edited.push(bodies(&provider).pop().unwrap() != body);
        assert_eq!(status, if *usage == OVERLOADED { 529 } else { 200 });
        if *usage == OVERLOADED {
            continue;
        }
        recorded += 1;
        // The usage is recorded when the response has ended.
        while read_stats(folder.path(), false).unwrap().total.requests < recorded {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        steps.push(Step::Turn("And now?".into()));
    }
    let last = edited.pop().unwrap();
    assert!(!edited.contains(&true));
    last
}

fn keep(_: &mut Value) {}

fn remove_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(remove_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_marks),
        _ => {}
    }
}

fn set_other_model(value: &mut Value) {
    value["model"] = "deepseek-chat".into();
}

#[test]
fn usage_without_a_cache_makes_the_next_request_cold() {
    let send = |usage| is_last_edited(40_000, &[(usage, keep), (usage, keep)]);
    assert!(send([9_000, 0, 0]));
    assert!(!send([9_000, 0, 9_000]));
}

/// Providers other than Anthropic cache unasked.
#[test]
fn usage_with_a_cache_keeps_requests_without_marks_warm() {
    let send = |usage| is_last_edited(36_000, &[(usage, remove_marks), (usage, remove_marks)]);
    assert!(send([9_000, 0, 0]));
    // An attempt before failed.
    let uncached = ([9_000, 0, 0], remove_marks as Change);
    assert!(is_last_edited(36_000, &[(OVERLOADED, remove_marks), uncached, uncached]));
    // Only the head is cached.
    assert!(send([9_000, 5, 0]));
    assert!(!send([1_000, 8_000, 0]));
    assert!(!send([9_000, 8_000, 0]));
}

/// Other providers do not report that they have just cached the request, and they ignore marks.
#[test]
fn usage_of_other_models_shows_no_missing_cache() {
    let marked: Change = set_other_model;
    let unmarked: Change = |body| {
        remove_marks(body);
        set_other_model(body);
    };
    let usage = [9_000, 0, 0];
    for change in [marked, unmarked] {
        assert!(!is_last_edited(40_000, &[(usage, change), (usage, change)]));
    }
    // Unless a response reported that.
    let written = [9_000, 0, 9_000];
    assert!(is_last_edited(40_000, &[(written, marked), (usage, marked), (usage, marked)]));
}

#[test]
fn requests_without_marks_leave_the_cache_of_others_warm() {
    let (cached, uncached) = ([9_000, 0, 9_000], [9_000, 0, 0]);
    let requests = [(cached, keep as Change), (uncached, remove_marks), (cached, keep)];
    assert!(!is_last_edited(40_000, &requests));
}

#[test]
fn bill_of_a_request_without_a_cache_has_no_broken_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(|_, stream| {
        let usage = json!({ "input_tokens": 9_000, "output_tokens": 1 });
        let message = json!({ "type": "message", "content": [], "usage": usage }).to_string();
        respond(stream, "200 OK", "application/json", message.as_bytes());
    });
    let gateway = gateway(&provider.url, folder.path(), |it| it.edits.budget = Some(10_000));
    let mut steps = vec![Step::Turn("Read the files.".into())];
    steps.extend((0..12).map(|at| Step::Call { input: "a".into(), output: lines(at, 0, 60) }));
    steps.push(Step::Turn("And now?".into()));
    // The prefix was never sent, so it may be warm.
    let mut body = serde_json::from_slice(&request(Api::Anthropic, &steps)).unwrap();
    remove_marks(&mut body);
    send(&gateway.url(), path(Api::Anthropic), &[], body.to_string().as_bytes());
    drop(gateway);
    let total = read_stats(folder.path(), false).unwrap().total;
    assert!(total.edits.contains_key("over_budget"), "{total:?}");
    assert!(total.cost_with_edits == 9_000 && total.cost_without_edits > 12_000, "{total:?}");
}

#[test]
fn head_alone_is_no_cache_after_edits() {
    let folder = tempfile::tempdir().unwrap();
    let system = lines(99, 0, 400);
    let head = system.len() as u64 / 4;
    let provider = Provider::start(move |request, stream| {
        let input = request.body.len() as u64 / 4 - head;
        let usage = json!({ "input_tokens": input, "cache_read_input_tokens": head });
        let message = json!({ "type": "message", "content": [], "usage": usage }).to_string();
        respond(stream, "200 OK", "application/json", message.as_bytes());
    });
    let gateway = gateway(&provider.url, folder.path(), |it| it.edits.budget = Some(60_000));
    let mut steps = vec![Step::Turn("Read the files.".into())];
    for at in 0..60 {
        steps.push(Step::Call { input: "a".into(), output: lines(at, 0, 60) });
        let mut body = serde_json::from_slice(&request(Api::Anthropic, &steps)).unwrap();
        remove_marks(&mut body);
        let mark = json!({ "type": "ephemeral" });
        body["system"] = json!([{ "type": "text", "text": system, "cache_control": mark }]);
        send(&gateway.url(), path(Api::Anthropic), &[], body.to_string().as_bytes());
        while read_stats(folder.path(), false).unwrap().total.requests <= at as u64 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    let stats = read_stats(folder.path(), false).unwrap().total;
    // Each request is cut down to half of the budget.
    assert!(stats.edits["cold"] > 20 && !stats.edits.contains_key("over_budget"), "{stats:?}");
}

//! Laws of edits, for random histories of the three APIs.

use lcp_gateway::{Api, Reason, Request};
use lcp_tokens::{HeuristicEstimator, TokenEstimator as _};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::histories::{Step, between_results, lines, messages, request};
use crate::simulator::{Sent, Simulator};

pub(crate) const APIS: [Api; 3] = [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses];

/// A budget that no history of these tests exceeds.
pub(crate) const LARGE: u32 = 10_000_000;

/// A call that reads lines of a file.
fn call() -> impl Strategy<Value = (String, String)> {
    (0..4_usize, 0..60_usize, 1..80_usize).prop_map(|(file, start, length)| {
        let input = if file == 3 { "raw.txt".to_owned() } else { format!("{file}.txt") };
        (input, lines(file, start, start + length))
    })
}

fn step() -> impl Strategy<Value = Step> {
    let turn = "[a-zß]{3,40}".prop_map(Step::Turn);
    let call_alone = call().prop_map(|(input, output)| Step::Call { input, output });
    let calls = prop::collection::vec(call(), 2..5).prop_map(Step::Calls);
    prop_oneof![2 => turn, 5 => call_alone, 2 => calls]
}

/// A history, and the seconds before each request.
fn history() -> impl Strategy<Value = (Vec<Step>, Vec<u64>)> {
    let first = "[a-z]{3,40}".prop_map(Step::Turn);
    let steps = (first, prop::collection::vec(step(), 1..24));
    let steps = steps.prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect());
    let gap = prop_oneof![9 => 1..60_u64, 1 => 4_000..9_000_u64];
    (steps, prop::collection::vec(gap, 24))
}

/// Returns all strings of a value as lines.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(values) => values.iter().map(strings).collect(),
        Value::Object(fields) => {
            let lines = fields.iter().flat_map(|(name, value)| [name.clone(), strings(value)]);
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the ends of the requests of a history: each before the model speaks.
fn ends(steps: &[Step]) -> impl Iterator<Item = usize> {
    1..=steps.len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn sent_requests_are_prefixes_while_the_cache_is_warm((steps, gaps) in history(), budget in 1_500..20_000_u32) {
        for api in APIS {
            let mut simulator = Simulator::default();
            let mut before: Option<Vec<Value>> = None;
            for (end, gap) in ends(&steps).zip(&gaps) {
                simulator.now += gap;
                let body = request(api, &steps[..end]);
                let sent = simulator.send(api, &body, budget);
                let now = messages(&sent.body);
                let seconds = if api == Api::Anthropic { 300 } else { 3_600 };
                let is_free = *gap > seconds || sent.reasons.contains(&Reason::OverBudget);
                if let Some(before) = before.filter(|_| !is_free) {
                    prop_assert!(now.len() >= before.len() && now[..before.len()] == before[..]);
                }
                before = Some(now);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn only_texts_of_results_change((steps, _) in history(), budget in 1_500..20_000_u32) {
        for api in APIS {
            let mut simulator = Simulator::default();
            for end in ends(&steps) {
                let body = request(api, &steps[..end]);
                let sent = simulator.send(api, &body, budget).body;
                let (old, new) = (Request::parse(api, &body).unwrap(), Request::parse(api, &sent).unwrap());
                prop_assert_eq!(between_results(&old, &body), between_results(&new, &sent));
                for (old, new) in old.results().iter().zip(new.results()) {
                    prop_assert_eq!(old.call, new.call);
                    prop_assert!(!new.text.is_empty());
                    if old.text != new.text {
                        prop_assert!(new.text.len() < old.text.len());
                        let hash = blake3::hash(&body[old.place.clone()]);
                        prop_assert_eq!(&simulator.originals[hash.as_bytes()], &old.text);
                    }
                }
            }
        }
    }

    #[test]
    fn requests_after_a_pause_are_cut_as_far_as_possible((steps, gaps) in history(), budget in 1_500..20_000_u32) {
        for api in APIS {
            let mut simulator = Simulator::default();
            for (end, gap) in ends(&steps).zip(&gaps) {
                simulator.now += gap;
                let body = request(api, &steps[..end]);
                let sent = simulator.send(api, &body, budget);
                // Counts of parts differ a little from that of the request.
                let text = strings(&serde_json::from_slice(&sent.body).unwrap());
                if *gap < 4_000 || HeuristicEstimator.estimate(&text) <= budget / 8 + budget / 16 {
                    continue;
                }
                let request = Request::parse(api, &sent.body).unwrap();
                let results = request.results();
                let (older, newest) = results.split_at(results.len().saturating_sub(6));
                let inputs = steps[..end].iter().flat_map(Step::calls).map(|(input, _)| input);
                let uncut = older.iter().zip(inputs).filter(|(result, input)| {
                    // A stub would save little of a short result.
                    let is_cut = result.text.contains("[lcp: ") || result.text.len() < 1_000;
                    let reference = format!("of the earlier call {};", result.call);
                    let is_target = newest.iter().any(|it| it.text.contains(&reference));
                    *input != "raw.txt" && !is_cut && !is_target
                });
                let uncut: Vec<_> = uncut.map(|(result, _)| &*result.text).collect();
                let tokens: u32 = uncut.iter().map(|text| HeuristicEstimator.estimate(text)).sum();
                // The watermark is an eighth of the budget. A quarter of it can stay.
                prop_assert!(tokens <= budget / 32, "{tokens} tokens in {uncut:?}");
            }
        }
    }

    /// An agent can write the state of its environment into the system prompt when it resumes a session.
    #[test]
    fn changed_head_hides_no_pause(
        (mut steps, gaps) in history(),
        budget in 1_500..20_000_u32,
        pause in prop_oneof![1..300_u64, 4_000..9_000_u64],
    ) {
        for api in APIS {
            let mut simulator = Simulator::default();
            let mut before = Vec::new();
            for (end, gap) in ends(&steps).zip(&gaps) {
                simulator.now += gap;
                before = messages(&simulator.send(api, &request(api, &steps[..end]), budget).body);
            }
            simulator.now += pause;
            steps.push(Step::Turn("And now?".into()));
            let body = request(api, &steps);
            let changed = String::from_utf8(body.clone()).unwrap().replace("1.5", "1.75");
            let same_head = simulator.clone().send(api, &body, budget);
            let changed = simulator.send(api, changed.as_bytes(), budget);
            let sent = messages(&changed.body);
            if pause >= 4_000 {
                prop_assert_eq!(&sent, &messages(&same_head.body));
            } else if !changed.reasons.contains(&Reason::OverBudget) {
                prop_assert!(sent.starts_with(&before));
            }
            steps.pop();
        }
    }

    /// Within the budget, the decisions of a known session may be stored after the request was sent. A
    /// session can begin without the gateway.
    #[test]
    fn lost_decisions_are_repeated(
        (steps, gaps) in history(),
        first in any::<prop::sample::Index>(),
        lost in any::<prop::sample::Index>(),
    ) {
        for api in APIS {
            let mut simulator = Simulator::default();
            let lost = lost.index(steps.len());
            let mut sent = Vec::new();
            let requests = ends(&steps).enumerate().zip(&gaps).skip(first.index(steps.len()));
            for ((number, end), gap) in requests {
                simulator.now += gap;
                let before = simulator.clone();
                let Sent { body, is_known, .. } =
                    simulator.send(api, &request(api, &steps[..end]), LARGE);
                let body = messages(&body);
                prop_assert!(body.starts_with(&sent), "request {number}");
                sent = body;
                if number == lost && is_known {
                    simulator = before;
                }
            }
        }
    }

    #[test]
    fn restarts_change_nothing((steps, gaps) in history(), budget in 1_500..20_000_u32) {
        let api = Api::Anthropic;
        let mut simulator = Simulator::default();
        for (end, gap) in ends(&steps).zip(&gaps) {
            simulator.now += gap;
            let body = request(api, &steps[..end]);
            let first = simulator.send(api, &body, budget).body;
            // A client sends a request again if the connection was lost.
            let second = simulator.send(api, &body, budget);
            prop_assert_eq!(first, second.body);
            prop_assert!(second.reasons.is_empty());
        }
    }
}

#[test]
fn histories_without_duplicates_are_sent_unchanged() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let steps: Vec<_> = (0..60)
            .map(|at| match at % 5 {
                0 => Step::Turn(format!("question {at}")),
                _ => Step::Call { input: "a.txt".into(), output: lines(at, 0, 50) },
            })
            .collect();
        for end in ends(&steps) {
            simulator.now += 10;
            let body = request(api, &steps[..end]);
            assert_eq!(simulator.send(api, &body, LARGE).body, body);
        }
    }
}

#[test]
fn repeated_lines_become_a_reference_once() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let read = |start, end| Step::Call { input: "a.txt".into(), output: lines(0, start, end) };
        let steps = [Step::Turn("Read it.".into()), read(0, 100), read(20, 120), read(20, 120)];
        let mut sizes = Vec::new();
        for end in 2..=steps.len() {
            simulator.now += 10;
            let body = request(api, &steps[..end]);
            let sent = simulator.send(api, &body, LARGE);
            assert_eq!(sent.reasons.len(), usize::from(end > 2));
            sizes.push(body.len() - sent.body.len());
        }
        // 80 lines of the second result, and of the third one, are in the first.
        assert!(sizes[0] == 0 && sizes[1] > 3_000 && sizes[2] > 2 * sizes[1] - 1_000, "{sizes:?}");
    }
}

fn read(file: usize) -> Step {
    Step::Call { input: "a".into(), output: lines(file, 0, 60) }
}

/// Returns a session that reads 30 files from `first` on.
fn reads(turn: &str, first: usize) -> Vec<Step> {
    std::iter::once(Step::Turn(turn.to_owned())).chain((first..first + 30).map(read)).collect()
}

#[test]
fn pauses_and_nothing_else_make_stubs_below_the_budget() {
    for (api, cold) in APIS.into_iter().zip([421, 3_721, 3_721]) {
        for (pause, is_cut) in [(cold - 2, false), (cold, true)] {
            let mut simulator = Simulator::default();
            let mut steps = reads("Read all files.", 0);
            simulator.send(api, &request(api, &steps), 40_000);
            steps.push(Step::Turn("And now?".into()));
            simulator.now += pause;
            let sent = simulator.send(api, &request(api, &steps), 40_000);
            let size = HeuristicEstimator.estimate(&String::from_utf8_lossy(&sent.body));
            assert_eq!(sent.reasons.contains(&Reason::Cold), is_cut, "{api:?} {pause} {size}");
            assert_eq!(sent.body != request(api, &steps), is_cut);
        }
    }
}

#[test]
fn changed_history_makes_stubs_within_the_time_of_the_cache() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let mut steps = reads("Read all files.", 0);
        simulator.send(api, &request(api, &steps), 40_000);
        // The client resumes the session, and writes its 11th result differently.
        steps[11] = read(99);
        steps.push(Step::Turn("And now?".into()));
        simulator.now += 10;
        let body = request(api, &steps);
        let sent = simulator.send(api, &body, 40_000);
        assert!(sent.reasons.contains(&Reason::Cold), "{api:?}");
        let (body, sent) =
            (Request::parse(api, &body).unwrap(), Request::parse(api, &sent.body).unwrap());
        let (before, after) = (body.results(), sent.results());
        let first_cut = before.iter().zip(&after).position(|(old, new)| old.text != new.text);
        assert_eq!(first_cut, Some(10));
    }
}

#[test]
fn unknown_results_in_a_session_with_a_changed_head_are_warm() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let mut steps = reads("Read all files.", 0);
        simulator.send(api, &request(api, &steps), 40_000);
        simulator.now += 8_000;
        // The session went on without the gateway.
        steps.extend([read(30), Step::Turn("And now?".into())]);
        let body = String::from_utf8(request(api, &steps)).unwrap().replace("1.5", "1.75");
        assert_eq!(simulator.send(api, body.as_bytes(), 40_000).body, body.as_bytes());
    }
}

#[test]
fn results_that_another_model_has_in_its_cache_stay() {
    let marked = APIS.into_iter().zip([420, 3_720, 3_720]).map(|(api, time)| (api, time, true));
    for (api, seconds, is_marked) in marked.chain([(Api::Anthropic, 3_720, false)]) {
        let mut simulator = Simulator::default();
        let mut steps = vec![Step::Turn("Read all files.".into())];
        steps.extend((0..30).map(|at| Step::Call { input: "a".into(), output: lines(at, 0, 60) }));
        let mut send = |model: &str, time: u64| {
            simulator.now = time;
            let mut body = String::from_utf8(request(api, &steps)).unwrap();
            if !is_marked {
                body = body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
                body = body.replace("\"cache_control\":{\"type\":\"ephemeral\"},", "");
                assert!(!body.contains("cache_control"));
            }
            let body = body.replacen("\"model\":\"", &format!("\"model\":\"{model}"), 1);
            let sent = simulator.send(api, body.as_bytes(), 40_000);
            steps.push(Step::Turn("And now?".into()));
            sent.reasons
        };
        assert_eq!(send("one", 0), []);
        assert_eq!(send("two", 0), []);
        assert_eq!(send("one", seconds - 100), []);
        // The cache of this model has expired, that of the other one has not.
        assert_eq!(send("two", seconds + 1), []);
        assert_eq!(send("one", seconds + 2), []);
        assert!(send("two", 2 * seconds + 3).contains(&Reason::Cold));
    }
}

#[test]
fn results_that_the_model_has_not_seen_stay_within_the_budget() {
    let call = |at: usize| {
        let function = json!({ "name": "read", "arguments": "{}" });
        json!({ "id": format!("call_{at}"), "type": "function", "function": function })
    };
    let result = |at: usize| json!({ "role": "tool", "tool_call_id": format!("call_{at}"), "content": lines(at, 0, 60) });
    let mut messages = vec![
        json!({ "role": "user", "content": "Read all files." }),
        json!({ "role": "assistant", "content": null, "tool_calls": (0..20).map(call).collect::<Vec<_>>() }),
    ];
    messages.extend((0..20).map(result));
    let mut simulator = Simulator::default();
    let body = |messages: &[Value]| json!({ "model": "gpt-5", "messages": messages }).to_string();
    let unseen = body(&messages);
    let tokens = HeuristicEstimator.estimate(&unseen);
    let sent = simulator.send(Api::OpenAiChat, unseen.as_bytes(), tokens * 3 / 2);
    assert_eq!(sent.body, unseen.as_bytes());
    // Later, they can become stubs.
    messages.push(json!({ "role": "assistant", "content": "I have read them." }));
    simulator.now += 8_000;
    let sent = simulator.send(Api::OpenAiChat, body(&messages).as_bytes(), tokens * 3 / 2);
    assert!(sent.reasons.contains(&Reason::Cold));
}

#[test]
fn requests_without_a_cache_are_cut_at_any_time() {
    let largest = largest_without_cached_messages(false, true);
    assert!(largest <= 17_000 && largest > 10_000, "{largest}");
}

#[test]
fn requests_with_a_mark_only_in_the_head_are_cut_like_those_without_a_cache() {
    let largest = largest_without_cached_messages(true, true);
    assert!(largest <= 17_000 && largest > 10_000, "{largest}");
}

/// Other providers with the API of Anthropic cache unasked.
#[test]
fn requests_that_are_cached_unasked_are_cut_above_the_budget() {
    for keeps_head in [false, true] {
        let largest = largest_without_cached_messages(keeps_head, false);
        assert!(largest <= 33_000 && largest > 27_000, "{largest}");
    }
}

/// Sends a session of requests without marks in the messages and a budget of 30,000 tokens. Returns the tokens of
/// the largest one. If `is_uncached`, each response reports that nothing is cached.
#[track_caller]
fn largest_without_cached_messages(keeps_head: bool, is_uncached: bool) -> u32 {
    let (budget, mut largest) = (30_000, 0);
    let mut simulator = Simulator::default();
    let mut steps = vec![Step::Turn("Read all files.".into())];
    for at in 0..40 {
        steps.push(Step::Call { input: "a".into(), output: lines(at, 0, 60) });
        let mut body: Value = serde_json::from_slice(&request(Api::Anthropic, &steps)).unwrap();
        let messages = body["messages"].as_array_mut().unwrap();
        let last = messages.last_mut().unwrap()["content"].as_array_mut().unwrap();
        last.last_mut().unwrap().as_object_mut().unwrap().remove("cache_control");
        if !keeps_head {
            body["system"] = "Be brief.".into();
        }
        let body = body.to_string();
        assert_eq!(body.matches("cache_control").count(), usize::from(keeps_head));
        let sent = simulator.send(Api::Anthropic, body.as_bytes(), budget);
        if is_uncached {
            simulator.expire();
        }
        let tokens = HeuristicEstimator.estimate(&String::from_utf8(sent.body).unwrap());
        largest = largest.max(tokens);
        assert!(is_uncached || !sent.reasons.contains(&Reason::Cold));
    }
    largest
}

#[test]
fn reference_to_a_result_that_the_client_cleared_is_taken_back() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let call = |output: String| Step::Call { input: "a.txt".into(), output };
        let read = || call(lines(0, 0, 100));
        let mut steps = vec![Step::Turn("Read it.".into()), read(), call(lines(1, 0, 50)), read()];
        let sent = simulator.send(api, &request(api, &steps), LARGE);
        assert_eq!(sent.reasons, [Reason::Duplicate]);
        steps[1] = call("[cleared]".into());
        let body = request(api, &steps);
        assert_eq!(simulator.send(api, &body, LARGE).body, body);
        // The decision is that of the newest request.
        steps.push(Step::Turn("And now?".into()));
        let body = request(api, &steps);
        assert_eq!(simulator.send(api, &body, LARGE).body, body);
    }
}

#[test]
fn results_that_are_long_only_in_json_stay() {
    let call = |at: usize| Step::Call {
        input: "a".into(),
        output: format!("{at}{}", "\u{1b}".repeat(170)),
    };
    let mut steps = vec![Step::Turn("Run it.".into())];
    steps.extend((0..20).map(call));
    let body = request(Api::OpenAiChat, &steps);
    assert_eq!(Simulator::default().send(Api::OpenAiChat, &body, 500).body, body);
}

#[test]
fn results_with_the_same_id_stay() {
    let call = json!({ "id": "call_0", "type": "function", "function": { "name": "read", "arguments": "{}" } });
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let result = json!({ "role": "tool", "tool_call_id": "call_0", "content": lines(0, 0, 60) });
    let turn = json!({ "role": "user", "content": "Read it twice." });
    let body = json!({ "model": "gpt-5", "messages": [turn, call, result, call, result] });
    let body = body.to_string().into_bytes();
    assert_eq!(Simulator::default().send(Api::OpenAiChat, &body, 100).body, body);
}

#[test]
fn results_after_those_with_the_same_id_are_compared() {
    let message = |(id, text): (&str, String)| {
        let function = json!({ "name": "read", "arguments": "{}" });
        let call = json!({ "id": id, "type": "function", "function": function });
        [
            json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            json!({ "role": "tool", "tool_call_id": id, "content": text }),
        ]
    };
    let results =
        [("x", 0), ("x", 1), ("a", 2), ("b", 2)].map(|(id, file)| (id, lines(file, 0, 60)));
    let mut messages = vec![json!({ "role": "user", "content": "Read them." })];
    messages.extend(results.into_iter().flat_map(message));
    let body = json!({ "model": "gpt-5", "messages": messages }).to_string().into_bytes();
    let sent = Simulator::default().send(Api::OpenAiChat, &body, LARGE);
    assert_eq!(sent.reasons, [Reason::Duplicate]);
    let sent = String::from_utf8(sent.body).unwrap();
    assert!(sent.contains("[lcp: lines 1 to 60 of this output are lines 1 to 60 of the output of the earlier call a;"), "{sent}");
}

#[test]
fn raw_results_stay() {
    let mut simulator = Simulator::default();
    let read = || Step::Call { input: "raw.txt".into(), output: lines(3, 0, 400) };
    let mut steps = vec![Step::Turn("Read it.".into())];
    steps.extend((0..20).map(|_| read()));
    let body = request(Api::Anthropic, &steps);
    assert_eq!(simulator.send(Api::Anthropic, &body, 2_000).body, body);
}

#[test]
fn calls_of_another_session_with_the_same_ids_say_nothing() {
    for api in APIS {
        let mut simulator = Simulator::default();
        simulator.send(api, &request(api, &reads("Read all files.", 0)), 40_000);
        simulator.now += 8_000;
        // It began without the gateway.
        let mut other = reads("Read the others.", 100);
        other.push(Step::Turn("And now?".into()));
        let body = request(api, &other);
        assert!(simulator.send(api, &body, 40_000).body == body, "{api:?}");
    }
}

#[test]
fn some_older_results_stay_after_a_pause() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let mut steps = vec![Step::Turn("Read all files.".into())];
        let outputs: Vec<_> = (0..40).map(|at| lines(at, 0, 60)).collect();
        let call = |output: &String| Step::Call { input: "a".into(), output: output.clone() };
        steps.extend(outputs.iter().map(call));
        let budget = 8 * HeuristicEstimator.estimate(&outputs[..20].concat());
        simulator.send(api, &request(api, &steps), budget);
        steps.push(Step::Turn("And now?".into()));
        simulator.now += 8_000;
        let sent = simulator.send(api, &request(api, &steps), budget);
        let sent = strings(&serde_json::from_slice(&sent.body).unwrap());
        let shown = outputs.iter().map(|output| sent.contains(output)).collect::<Vec<_>>();
        // A quarter of an eighth of the budget, and the newest six.
        let older = shown[..34].iter().filter(|is_shown| **is_shown).count();
        assert!((4..=5).contains(&older) && shown[34..] == [true; 6], "{api:?}: {shown:?}");
    }
}

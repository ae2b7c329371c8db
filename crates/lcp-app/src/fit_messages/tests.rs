//! Tests of fitted messages.

use serde_json::{Value, json};

use super::*;
use crate::reporter::Silent;

fn options(budget: u32) -> FitOptions {
    let budget = BudgetOptions { budget: Some(budget), ..BudgetOptions::default() };
    FitOptions { budget, headroom: 0.0, ..FitOptions::default() }
}

fn append(options: &FitOptions, fitted: &Fitted, messages: &Value) -> Option<Fitted> {
    options.append(fitted, messages.to_string().as_bytes(), &Config::default())
}

fn fit(options: &FitOptions, messages: &Value) -> Fitted {
    let messages = messages.to_string();
    options.fit(messages.as_bytes(), &Config::default(), &Silent).unwrap()
}

/// A conversation whose model reads a long file in each of its turns.
fn history(turns: usize) -> Value {
    let turn = |at: usize| {
        let file = format!("line {at} of a file that the model reads\n").repeat(60);
        let call = json!({
            "id": format!("call_{at}"), "type": "function",
            "function": { "name": "read", "arguments": format!("{{\"path\":\"{at}.txt\"}}") },
        });
        [
            json!({ "role": "user", "content": format!("What does file {at} say?") }),
            json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            json!({ "role": "tool", "tool_call_id": format!("call_{at}"), "content": file }),
            json!({ "role": "assistant", "content": format!("It repeats line {at}.") }),
        ]
    };
    let system = json!({ "role": "system", "content": "Answer briefly." });
    let last = json!({ "role": "user", "content": "And what do all of them say?" });
    std::iter::once(system).chain((0..turns).flat_map(turn)).chain([last]).collect()
}

#[test]
fn messages_that_fit_are_the_input() {
    let messages = json!([
        { "role": "user", "content": "Hello", "name": "ada", "x_own": [1, 2.50] },
        { "content": [{ "type": "text", "text": "Hi" }], "role": "assistant" },
    ]);
    let fitted = fit(&options(1_000), &messages);
    assert!(fitted.is_unchanged);
    assert_eq!(fitted.json, messages.to_string());
}

#[test]
fn long_history_fits_with_its_calls_and_newest_turn() {
    let messages = history(12);
    let fitted = fit(&options(1_500), &messages);
    assert!(!fitted.is_unchanged && fitted.note.is_none());
    assert!(fitted.report.used_tokens() <= 1_500);
    let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
    assert_eq!(list[0]["content"], "Answer briefly.");
    assert_eq!(list.last().unwrap()["content"], "And what do all of them say?");
    let ids = |key: &str| -> Vec<&str> {
        let found = list.iter().filter_map(|it| it.pointer(key)?.as_str());
        found.collect()
    };
    assert!(!ids("/tool_calls/0/id").is_empty());
    assert_eq!(ids("/tool_calls/0/id"), ids("/tool_call_id"));
    // A second fit changes nothing.
    let again = options(1_500).fit(fitted.json.as_bytes(), &Config::default(), &Silent);
    assert_eq!(again.unwrap().json, fitted.json);
}

#[test]
fn pinned_messages_stay_complete_with_their_calls() {
    let messages = history(12);
    let is_original =
        |fitted: &Fitted, index| fitted.messages.contains(&FittedMessage::Original(index));
    // The call and the result of an old turn.
    let (call, result) = (6, 7);
    let without = fit(&options(2_500), &messages);
    assert!(!is_original(&without, result));
    for pinned in [vec![result], vec![result, call]] {
        let options = FitOptions { pinned, ..options(2_500) };
        let fitted = fit(&options, &messages);
        assert!(is_original(&fitted, call) && is_original(&fitted, result));
        assert!(fitted.report.used_tokens() <= 2_500);
        // The next turn fits all messages again if a pinned message was cut before.
        assert!(append(&options, &fitted, &json!([])).is_some());
        assert!(append(&options, &without, &json!([])).is_none());
    }
}

#[test]
fn pinned_messages_that_were_merged_are_appended_to() {
    let user = |text: &str| json!({ "role": "user", "content": text.repeat(50) });
    let answer = json!({ "role": "assistant", "content": "An answer. ".repeat(200) });
    let messages =
        json!([user("One. "), answer, user("Two. "), user("Three. "), answer, user("?")]);
    let options = FitOptions { format: Some(Format::Anthropic), pinned: vec![3], ..options(900) };
    let fitted = fit(&options, &messages);
    assert!(!fitted.is_unchanged && !fitted.messages.contains(&FittedMessage::Original(3)));
    assert!(fitted.json.contains(&"Three. ".repeat(50)));
    assert!(append(&options, &fitted, &json!([])).is_some());
}

#[test]
fn pinned_messages_must_exist_and_fit() {
    let messages = history(2);
    let error = |pinned, budget, messages: &Value| {
        let options = FitOptions { pinned, ..options(budget) };
        let messages = messages.to_string();
        options.fit(messages.as_bytes(), &Config::default(), &Silent).unwrap_err()
    };
    let missing = error(vec![3, 10], 2_000, &messages);
    assert_eq!(missing.message, "pinned: expected an index below 10, got 10");
    let request = json!({ "messages": messages });
    let message = error(vec![0], 2_000, &request).message;
    assert_eq!(message, "pinned: expected a list of messages, got a request");
    let large = error(vec![3], 500, &messages);
    assert_eq!(large.kind, ErrorKind::OverBudget);
}

#[test]
fn messages_are_those_of_the_input_or_new() {
    let messages = history(12);
    let fitted = fit(&options(1_500), &messages);
    let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
    assert_eq!(list.len(), fitted.messages.len());
    let (mut originals, mut news) = (0, 0);
    for (message, value) in fitted.messages.iter().zip(&list) {
        match message {
            FittedMessage::Original(index) => {
                assert_eq!(value, &messages[index]);
                originals += 1;
            }
            FittedMessage::New { origin, json } => {
                let source = origin.map(|index| &messages[index]["role"]);
                assert!(source.is_none_or(|role| *role == value["role"]));
                news += usize::from(origin.is_some());
                assert_eq!(&serde_json::from_str::<Value>(json).unwrap(), value);
                assert!(messages.as_array().unwrap().iter().all(|message| message != value));
            }
        }
    }
    assert!((2..list.len()).contains(&originals), "{originals} of {}", list.len());
    assert!(news > 0);
}

#[test]
fn headroom_stays_free_unless_the_newest_turn_needs_it() {
    let options = FitOptions { headroom: 0.25, ..options(2_000) };
    let tokens = |messages| fit(&options, messages).report.used_tokens();
    let cut = tokens(&history(20));
    // A tenth of the headroom may be used.
    assert!((1_000..=1_550).contains(&cut), "{cut}");
    let words = "word ".repeat(1_800);
    let long = json!([
        { "role": "user", "content": "An older question. ".repeat(200) },
        { "role": "assistant", "content": "An answer." },
        { "role": "user", "content": words },
    ]);
    let fitted = fit(&options, &long);
    assert!((1_800..=2_000).contains(&fitted.report.used_tokens()));
    assert!(fitted.messages.contains(&FittedMessage::Original(2)));
}

#[test]
fn appended_messages_follow_the_fitted_ones_while_they_fit() {
    let options = FitOptions { headroom: 0.3, ..options(6_000) };
    let all = history(30);
    let all = all.as_array().unwrap();
    // The history without its last question, and then a turn of four messages at a time.
    let mut fitted = fit(&options, &all[..61].into());
    let mut turns = 0;
    for end in (65..=121).step_by(4) {
        let messages: Value = all[end - 4..end].into();
        let Some(appended) = append(&options, &fitted, &messages) else { break };
        let tokens = appended.report.used_tokens();
        assert!(tokens <= 6_000 && appended.report.is_appended());
        let start = fitted.json.strip_suffix(']').unwrap();
        assert!(appended.json.starts_with(start));
        assert_eq!(appended.messages.last(), Some(&FittedMessage::Original(end - 1)));
        // The same tokens as those of a fit of the list, which is complete.
        let again = fit(&options, &serde_json::from_str(&appended.json).unwrap());
        assert_eq!((again.is_unchanged, again.report.used_tokens()), (true, tokens));
        let report = appended.report.to_json();
        assert_eq!(report["messages"].as_array().unwrap().len(), appended.messages.len());
        fitted = appended;
        turns += 1;
    }
    assert!((1..15).contains(&turns), "{turns} turns");
}

#[test]
fn messages_that_depend_on_the_fitted_ones_are_not_appended() {
    let options = options(5_000);
    let fitted = fit(&options, &history(3));
    let orphan = json!([{ "role": "tool", "tool_call_id": "call_1", "content": "again" }]);
    assert!(append(&options, &fitted, &orphan).is_none());
    let call =
        json!({ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{}" } });
    let open = json!([{ "role": "assistant", "content": null, "tool_calls": [call] }]);
    assert!(append(&options, &fitted, &open).is_none());
    let part = json!({ "type": "tool_use", "id": "t", "name": "read", "input": {} });
    let other = json!([{ "role": "assistant", "content": [part] }]);
    assert!(append(&options, &fitted, &other).is_none());
    // The same messages again.
    let again = append(&options, &fitted, &json!([])).unwrap();
    assert_eq!((&again.json, &again.messages), (&fitted.json, &fitted.messages));
    assert!(append(&options, &fitted, &json!("text")).is_none());
}

#[test]
fn items_of_responses_are_appended_with_the_thinking_before_them() {
    let options = options(1_000);
    let question = json!({ "role": "user", "content": "Read it." });
    let reasoning =
        json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA" });
    let call = json!({ "type": "function_call", "call_id": "c", "name": "r", "arguments": "{}" });
    let result = json!({ "type": "function_call_output", "call_id": "c", "output": "text" });
    let system = json!({ "role": "system", "content": "Be brief." });
    let fitted = fit(&options, &json!([question, call, result]));
    assert!(append(&options, &fitted, &json!([system, question])).is_some());
    // A list cannot end with thinking, so the first fit leaves it out.
    let fitted = fit(&options, &json!([question, reasoning]));
    assert_eq!(fitted.messages, [FittedMessage::Original(0)]);
    assert!(append(&options, &fitted, &json!([call, result])).is_none());
    // The model was interrupted.
    let fitted = fit(&options, &json!([question, reasoning, question]));
    assert!(append(&options, &fitted, &json!([call, result])).is_some());
}

#[test]
fn appended_messages_of_anthropic_begin_with_the_model() {
    let question = json!([{ "role": "user", "content": "Read it." }]);
    let tokenizer = TokenizerOptions {
        model: Some("claude-x".into()),
        encoding: Some("o200k_base".into()),
        ..TokenizerOptions::default()
    };
    let options = FitOptions { tokenizer, ..options(1_000) };
    let fitted = fit(&options, &question);
    let call = json!({ "type": "tool_use", "id": "t", "name": "read", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "text" });
    let step = json!([
        { "role": "assistant", "content": [call] }, { "role": "user", "content": [result] }
    ]);
    let appended = append(&options, &fitted, &step).unwrap();
    let answer = json!([{ "role": "assistant", "content": "Done." }]);
    let appended = append(&options, &appended, &answer).unwrap();
    let again = fit(&options, &serde_json::from_str(&appended.json).unwrap());
    assert!(again.is_unchanged);
    assert_eq!(again.report.used_tokens(), appended.report.used_tokens());
}

#[test]
fn request_stays_a_request_and_its_tools_count() {
    let tools = json!([{ "type": "function", "function": { "name": "read" } }]);
    let request = json!({ "model": "gpt-5", "messages": history(12), "tools": tools });
    let fitted = fit(&options(1_500), &request);
    let result: Value = serde_json::from_str(&fitted.json).unwrap();
    assert_eq!((&result["model"], &result["tools"]), (&request["model"], &request["tools"]));
    assert!(fitted.report.overhead_tokens() > 0);
    assert!(fitted.report.used_tokens() <= 1_500);
}

#[test]
fn note_about_omissions_is_returned_if_no_message_can_contain_it() {
    let turns = (0..40).map(|at| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("Words of turn {at}. ").repeat(20) })
    });
    let format = Some(Format::Anthropic);
    let fitted = fit(&FitOptions { format, ..options(600) }, &turns.collect());
    let note = fitted.note.unwrap();
    assert!(note.contains("omitted"), "{note}");
    let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
    assert!(list.iter().all(|message| message["role"] != "system"));
}

#[test]
fn unchanged_gemini_contents_stay_originals_if_a_note_is_added() {
    let turns = (0..40).map(|at| {
        let role = if at % 2 == 0 { "user" } else { "model" };
        json!({ "role": role, "parts": [{ "text": format!("Words of turn {at}. ").repeat(20) }] })
    });
    let fitted = fit(&options(600), &turns.collect());
    assert!(fitted.note.as_ref().is_some_and(|note| note.contains("omitted")), "{:?}", fitted.note);
    let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
    assert_eq!(fitted.messages.len(), list.len());
    assert_eq!(fitted.messages.last(), Some(&FittedMessage::Original(39)));
}

#[test]
fn calls_of_the_newest_turn_have_their_thinking() {
    let step = |at: usize| {
        let thinking = format!("I read file {at} next, for a reason. ").repeat(20);
        let thinking = json!({ "type": "thinking", "thinking": thinking, "signature": "c2ln" });
        let id = format!("toolu_{at}");
        let input = json!({ "path": format!("{at}.txt") });
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": input });
        let file = format!("line {at} of a file\n").repeat(30);
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": file });
        [
            json!({ "role": "assistant", "content": [thinking, call] }),
            json!({ "role": "user", "content": [result] }),
        ]
    };
    let question = json!({ "role": "user", "content": "What do the files say?" });
    let messages: Value = std::iter::once(question).chain((0..12).flat_map(step)).collect();
    let mut calls = 0;
    for budget in (200..6_000).step_by(100) {
        let fitted = fit(&options(budget), &messages);
        assert!(fitted.report.used_tokens() <= u64::from(budget));
        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
        for message in list.iter().filter(|message| message["role"] == "assistant") {
            let types: Vec<_> = message["content"].as_array().unwrap().iter().collect();
            let types: Vec<_> = types.iter().map(|part| &part["type"]).collect();
            assert_eq!(types, ["thinking", "tool_use"], "budget {budget}");
            calls += 1;
        }
    }
    assert!(calls > 100, "{calls} calls");
}

/// Returns a request of a user, and steps of a model, one of them with long thinking.
fn steps_with_long_thinking(long: usize) -> Vec<Value> {
    let mut messages = vec![json!({ "role": "user", "content": "Read the files." })];
    for at in 0..7 {
        let thinking =
            "I read the next file, for a reason. ".repeat(if at == long { 800 } else { 5 });
        let thinking = json!({ "type": "thinking", "thinking": thinking, "signature": "c2ln" });
        let input = json!({ "path": format!("{at}.rs"), "reason": "to know it. ".repeat(60) });
        let call =
            json!({ "type": "tool_use", "id": format!("c{at}"), "name": "read", "input": input });
        let result = json!({ "type": "tool_result", "tool_use_id": format!("c{at}"),
            "content": format!("fn f{at}() {{}}") });
        messages.push(json!({ "role": "assistant", "content": [thinking, call] }));
        messages.push(json!({ "role": "user", "content": [result] }));
    }
    messages
}

#[test]
fn long_thinking_leaves_room_for_other_messages() {
    let mut messages = steps_with_long_thinking(0);
    messages.push(json!({ "role": "assistant", "content": "Each file has one function." }));
    let used = |budget| fit(&options(budget), &json!(messages)).report.used_tokens();
    let complete = used(1_000_000);
    // Without the longest thinking, all messages fit.
    for budget in (3_000..u32::try_from(complete).unwrap()).step_by(500) {
        assert!(used(budget) > 1_800, "{budget}: {}", used(budget));
    }
}

#[test]
fn newest_step_keeps_its_long_thinking() {
    let messages = json!(steps_with_long_thinking(6));
    for budget in [9_500, 10_000, 10_500] {
        let fitted = fit(&options(budget), &messages);
        assert!(fitted.json.contains("\"c6\""), "{budget}");
    }
}

#[test]
fn calls_of_the_newest_turn_have_their_reasoning() {
    let step = |at: usize| {
        let text = format!("I read file {at} next, for a reason. ").repeat(20);
        let summary = json!([{ "type": "summary_text", "text": text }]);
        let file = format!("line {at} of a file\n").repeat(30);
        let id = format!("call_{at}");
        [
            json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": summary }),
            json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": "{}" }),
            json!({ "type": "function_call_output", "call_id": id, "output": file }),
        ]
    };
    let question = json!({ "role": "user", "content": "What do the files say?" });
    let items: Value = std::iter::once(question).chain((0..12).flat_map(step)).collect();
    let mut calls = 0;
    for budget in (200..6_000).step_by(100) {
        let fitted = fit(&options(budget), &items);
        assert!(fitted.report.used_tokens() <= u64::from(budget));
        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
        for (at, _) in list.iter().enumerate().filter(|(_, it)| it["type"] == "function_call") {
            assert_eq!(list[at - 1]["type"], "reasoning", "budget {budget}");
            calls += 1;
        }
    }
    assert!(calls > 100, "{calls} calls");
}

#[test]
fn answer_stays_without_the_reasoning_before_searches() {
    let step = |at: usize| {
        let text = format!("I search {at} next, for a reason. ").repeat(20);
        let summary = json!([{ "type": "summary_text", "text": text }]);
        let action = json!({ "type": "search", "query": format!("query {at}") });
        [
            json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": summary }),
            json!({ "type": "web_search_call", "id": format!("ws_{at}"), "action": action, "status": "completed" }),
        ]
    };
    let question = json!({ "role": "user", "content": "What is new?" });
    let answer = json!({ "type": "message", "role": "assistant", "content": "Nothing is." });
    let items = std::iter::once(question).chain((0..12).flat_map(step)).chain([answer.clone()]);
    let items: Value = items.collect();
    for budget in (400..3_000).step_by(100) {
        let fitted = fit(&options(budget), &items);
        assert!(fitted.report.used_tokens() <= u64::from(budget));
        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!(list.last().unwrap()["content"], answer["content"], "budget {budget}");
    }
}

#[test]
fn newest_question_is_complete_or_an_error() {
    let question = json!({ "role": "user", "content": "word ".repeat(300) });
    for messages in [json!([question]), json!([{ "role": "user", "content": "Hi" }, question])] {
        let text = messages.to_string();
        for budget in (10..400).step_by(5) {
            let fitted = options(budget).fit(text.as_bytes(), &Config::default(), &Silent);
            match fitted {
                Ok(fitted) => {
                    let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
                    assert_eq!(list.last(), Some(&question));
                    assert!(fitted.report.used_tokens() <= u64::from(budget));
                }
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::OverBudget);
                    assert!(budget < 310, "{}", error.message);
                }
            }
        }
    }
}

#[test]
fn newest_question_keeps_its_images() {
    for url in ["https://example.org/a.png", "data:image/png;base64,iVBORw0KGgo="] {
        let image = json!({ "type": "image_url", "image_url": { "url": url } });
        let question = json!({ "type": "text", "text": "What does the image show?" });
        let mut messages = history(12);
        let last = messages.as_array_mut().unwrap().last_mut().unwrap();
        *last = json!({ "role": "user", "content": [question, image] });
        for budget in (100..3_000).step_by(100) {
            let options = FitOptions { image_tokens: 50, ..options(budget) };
            let fitted = fit(&options, &messages);
            let result: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
            assert_eq!(result.last(), messages.as_array().unwrap().last(), "budget {budget}");
        }
    }
}

#[test]
fn images_count_where_they_are_shown() {
    let question = |at: usize| {
        let url = format!("https://example.org/{at}.png");
        let data = "data:image/png;base64,iVBORw0KGgo=";
        json!({ "role": "user", "content": [
            { "type": "text", "text": format!("Look at image {at}.") },
            { "type": "image_url", "image_url": { "url": if at.is_multiple_of(2) { data } else { &url } } },
        ] })
    };
    let answer = json!({ "role": "assistant", "content": "It shows a cat." });
    let last = json!({ "role": "user", "content": "Which image is the best?" });
    let turns = (0..10).flat_map(|at| [question(at), answer.clone()]);
    let messages: Value = turns.chain([last]).collect();

    let options = FitOptions { image_tokens: 500, ..options(3_000) };
    assert!(fit(&FitOptions { image_tokens: 0, ..options.clone() }, &messages).is_unchanged);
    let fitted = fit(&options, &messages);
    let images = fitted.json.matches(r#""image_url":"#).count() as u64;
    assert!((2..=5).contains(&images), "{images} images");
    assert_eq!(fitted.report.to_json()["image_tokens"], images * 500);
    let used = fitted.report.used_tokens();
    assert!((images * 500..=3_000).contains(&used), "{used} tokens");

    let next = json!([answer, question(1)]);
    assert!(append(&options, &fitted, &next).is_none());
    let budget = BudgetOptions { budget: Some(4_000), ..BudgetOptions::default() };
    let appended = append(&FitOptions { budget, ..options }, &fitted, &next).unwrap();
    assert_eq!(appended.report.to_json()["image_tokens"], (images + 1) * 500);
    assert!((used + 500..used + 550).contains(&appended.report.used_tokens()));
}

#[test]
fn texts_and_images_share_the_budget() {
    let turn = |at: usize| {
        let text = format!("Line {at} of a log that the user pastes.\n").repeat(130);
        let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } });
        let content = json!([{ "type": "text", "text": text }, image]);
        let answer = json!({ "role": "assistant", "content": "It shows a cat." });
        [json!({ "role": "user", "content": content }), answer]
    };
    let final_question = json!({ "role": "user", "content": "Which image is the best?" });
    let messages: Value = (0..20).flat_map(turn).chain([final_question]).collect();
    for budget in [10_000, 30_000, 50_000] {
        let fitted = fit(&options(budget), &messages);
        let images = fitted.report.to_json()["image_tokens"].as_u64().unwrap();
        let used = fitted.report.used_tokens();
        let (least, budget) = (u64::from(budget) * 3 / 4, u64::from(budget));
        assert!((least..=budget).contains(&used), "{used} of {budget}, {images} for images");
        assert!((budget / 4..=budget / 2 + 1_600).contains(&images), "{images} of {budget}");
    }

    let content = messages[0]["content"].clone();
    let messages = json!([{ "role": "user", "content": content }]).to_string();
    let error = options(1_000).fit(messages.as_bytes(), &Config::default(), &Silent).unwrap_err();
    assert!(error.message.contains("(1,600 of them for images)"), "{}", error.message);
}

#[test]
fn images_without_text_stay_and_those_of_gemini_count() {
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } });
    let mut messages = history(30);
    *messages.as_array_mut().unwrap().last_mut().unwrap() =
        json!({ "role": "user", "content": [image] });
    let fitted = fit(&options(3_000), &messages);
    assert!(fitted.json.contains("image_url"), "the newest message of the user stays");
    assert!(fitted.report.used_tokens() <= 3_000);

    for part in [
        r#"{"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b"}}"#,
        r#"{"inlineData":{"mimeType":"image/heic","data":"AAAA"}}"#,
    ] {
        let messages = format!(r#"[{{"role": "user", "parts": [{{"text": "What?"}}, {part}]}}]"#);
        let options = FitOptions { format: Some(Format::Gemini), ..options(3_000) };
        let fitted = options.fit(messages.as_bytes(), &Config::default(), &Silent).unwrap();
        assert_eq!(fitted.report.to_json()["image_tokens"], 1_600, "{part}");
    }
}

#[test]
fn other_formats_and_broken_messages_are_errors() {
    let fails = |options: FitOptions, messages: &[u8], expected: &str| {
        let error = options.fit(messages, &Config::default(), &Silent).unwrap_err();
        assert!(error.message.contains(expected), "{}", error.message);
    };
    fails(options(100), b"[{\"role\": ", "messages");
    let format = Some(Format::Markdown);
    fails(FitOptions { format, ..options(100) }, b"# User\nHi", "not the format of a chat API");
    let format = Some(Format::Anthropic);
    let system = br#"[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]"#;
    fails(FitOptions { format, ..options(100) }, system, "has no system messages");
    let messages = history(1).to_string();
    fails(options(3), messages.as_bytes(), "over the budget of 3");
}

//! Sessions by tools.

use std::time::Duration;

use lcp_continuity::store::{SqliteStore, Store};
use serde_json::{Value, json};

use super::Place;
use super::client::{Client, facts_of};

/// The id of a hand-off of a conversation that was begun with it.
fn handed_over(client: &mut Client) -> Value {
    let said = json!([{ "role": "user", "text": "You must never panic in the parser." }]);
    client.facts("record_usage", json!({ "conversation": "c", "messages": said, "window": 9000 }));
    let arguments = json!({ "conversation": "c", "force": true });
    client.facts("handoff", arguments)["handoff"]["id"].clone()
}

/// Where its answer was lost, it is had again; nobody else has it by that.
#[test]
fn resume_with_again_returns_the_same_result() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let id = handed_over(&mut client);
    let again = json!({ "handoff": id, "again": true });
    let fault = client.fault("resume", again.clone());
    assert!(fault["message"].as_str().unwrap().contains("[not_resumed]"), "{fault}");
    let named = json!({ "handoff": id, "again": true, "conversation": "d" });
    assert_eq!(client.fault("resume", named)["code"], "usage");
    let resumed = client.facts("resume", json!({ "handoff": id, "conversation": "d" }));
    let fault = client.fault("resume", json!({ "handoff": id }));
    assert!(fault["message"].as_str().unwrap().contains("[already_resumed]"), "{fault}");
    assert!(fault["hint"].as_str().unwrap().contains("`again`"), "{fault}");
    assert_eq!(client.facts("resume", again.clone()), resumed);
    drop(client);
    assert_eq!(place.client(&[]).facts("resume", again), resumed);
}

#[test]
fn cancelled_resume_is_not_lost() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let id = handed_over(&mut client);
    let call = client.send(
        "tools/call",
        &json!({ "name": "resume", "arguments": {
            "handoff": id, "conversation": "d",
        }}),
    );
    client.notify("notifications/cancelled", &json!({ "requestId": call }));
    // It was done or it was not: either way it is had.
    let known = client.facts("should_handoff", json!({ "conversation": "d" }));
    let is_done = known["window"] != 0;
    let resumed = client.facts("resume", json!({ "handoff": id, "again": is_done }));
    assert!(resumed["text"].as_str().unwrap().contains("never panic"), "{resumed}");
}

/// A text that no answer has room for leaves the hand-off to whoever has it.
#[test]
fn oversized_resume_leaves_the_handoff_unclaimed() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let id = handed_over(&mut client);
    let said = json!([{ "role": "user", "text": "a line of a log\n".repeat(600_000) }]);
    let arguments = json!({ "conversation": "c", "messages": said, "encoding": "heuristic" });
    client.facts("record_usage", arguments);
    let arguments = json!({ "handoff": id, "encoding": "heuristic" });
    let fault = client.fault("resume", arguments);
    assert_eq!(fault["code"], "limit");
    assert!(
        fault["hint"].as_str().unwrap().contains("run `lcp session resume`, which prints"),
        "{fault}"
    );
    let store = SqliteStore::open(place.path("sessions.sqlite")).unwrap();
    assert_eq!(store.latest("c").unwrap().as_deref(), id.as_str());
}

/// Else it would be nobody's until the lease ends.
#[test]
fn end_of_input_releases_the_lease_of_a_running_call() {
    let place = Place::new();
    let mut client = place.client(&[]);
    handed_over(&mut client);
    let store = SqliteStore::open(place.path("sessions.sqlite")).unwrap();
    let said = json!([{ "role": "user", "text": "a word, and another one. ".repeat(100_000) }]);
    let arguments = json!({ "conversation": "c", "messages": said });
    client.send("tools/call", &json!({ "name": "record_usage", "arguments": arguments }));
    loop {
        let record = store.conversation("c").unwrap();
        if record.holder.is_some() || record.messages > 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.end(), Some(0));
    assert_eq!(store.conversation("c").unwrap().holder, None);
}

#[test]
fn messages_have_a_text_or_a_content_as_providers_write_it() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let part = |text: &str| json!({ "type": "text", "text": text });
    let said =
        |message: Value| json!({ "conversation": "c", "messages": [message], "window": 9000 });
    let first = json!({ "role": "user", "text": "One. Two." });
    client.facts("record_usage", said(first));
    for content in
        [json!("One. Two."), json!([part("One. "), part("Two.")]), json!(["One. ", "Two."])]
    {
        let mut arguments = said(json!({ "role": "user", "content": content }));
        arguments["whole"] = json!(true);
        // The recorded message has the same text.
        assert_eq!(client.facts("record_usage", arguments)["recorded"], 0, "{content}");
    }
    let image = json!({ "type": "image", "source": {} });
    for (message, wanted) in [
        (json!({ "role": "user" }), "neither `text` nor `content`"),
        (json!({ "role": "user", "text": "a", "content": "a" }), "both `text` and `content`"),
        (json!({ "role": "user", "content": 1 }), "neither a text nor a list of parts"),
        (json!({ "role": "user", "content": [part("a"), image] }), "a part of type image"),
    ] {
        let fault = client.fault("record_usage", said(message));
        assert_eq!(fault["code"], "usage");
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains("`messages[0]") && message.contains(wanted), "{message}");
    }
}

#[test]
fn tools_record_hand_off_and_resume_a_session() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let said = json!([
        { "role": "system", "text": "You write Rust." },
        { "role": "user", "text": "You must never panic in the parser. Fix <s> it." },
        { "role": "assistant", "text": "cargo test", "tool_call_id": "1" },
        { "role": "tool", "text": "ok", "tool_name": "shell", "tool_call_id": "1" },
    ]);
    let arguments = json!({ "conversation": "c", "messages": said, "window": 9000 });
    let known = client.facts("record_usage", arguments);
    assert_eq!((&known["messages"], &known["new"]), (&json!(4), &json!(true)));
    // The whole again is nothing new.
    let arguments = json!({ "conversation": "c", "messages": said, "whole": true });
    assert_eq!(client.facts("record_usage", arguments)["recorded"], 0);
    let known = client.facts("should_handoff", json!({ "conversation": "c" }));
    assert_eq!((&known["decision"], &known["source"]), (&json!("none"), &json!("counted")));
    let none = client.facts("handoff", json!({ "conversation": "c" }));
    assert!(none["handoff"].is_null());

    let arguments =
        json!({ "conversation": "c", "input_tokens": 8500, "cached_input_tokens": 8000 });
    let known = client.facts("record_usage", arguments);
    let wanted = (&json!("hand_off"), &json!("reported"));
    assert_eq!((&known["decision"], &known["source"]), wanted);
    let made = client.facts("handoff", json!({ "conversation": "c" }))["handoff"].clone();
    assert_eq!(made["messages"], 4);
    // It is a pack as any other.
    let shown = client.facts("render", json!({ "pack": made["pack"] }));
    assert!(shown["text"].as_str().unwrap().contains("never panic"));
    // Another server goes on.
    drop(client);
    let mut client = place.client(&[]);
    let arguments = json!({ "handoff": made["id"], "conversation": "d" });
    let result = client.call("resume", arguments.clone());
    let resumed = facts_of(&result);
    assert_eq!((&resumed["conversation"], &resumed["previous"]), (&json!("d"), &json!("c")));
    assert!(resumed["text"].as_str().unwrap().contains("never panic"), "{resumed}");
    // The text has the anchors, so the facts do not.
    assert_eq!((&resumed["anchors"], &resumed["anchors_not_in_text"]), (&json!(1), &json!([])));
    let facts = result["content"][1]["text"].as_str().unwrap();
    assert!(!facts.contains("never panic"), "{facts}");
    let warning = resumed["warnings"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(warning.contains("[special_tokens]"), "{resumed}");
    assert_eq!(client.fault("resume", arguments)["code"], "already_resumed");
}

/// No hand-off says how large a summary was asked for.
#[test]
fn pending_handoff_is_not_reused_for_another_summary_size() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let id = handed_over(&mut client);
    let arguments = json!({ "conversation": "c", "force": true });
    assert_eq!(client.facts("handoff", arguments)["handoff"]["id"], id);
    let arguments = json!({ "conversation": "c", "force": true, "summary": 50 });
    assert_eq!(client.facts("handoff", arguments)["handoff"]["new"], true);
}

#[test]
fn handoff_tool_excludes_pending_tasks_on_request() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let plan = "Plan: move it\n\n- [x] write tests\n- [ ] split it\n";
    let said = json!([
        { "role": "user", "text": "Please move the parser." },
        { "role": "assistant", "text": plan },
    ]);
    let arguments = json!({ "conversation": "c", "messages": said, "window": 9000 });
    client.facts("record_usage", arguments);
    let mut tasks = |include: Value| {
        let arguments = json!({ "conversation": "c", "force": true, "pending_tasks": include });
        client.facts("handoff", arguments)["handoff"]["pending_tasks"].clone()
    };
    assert_eq!(tasks(Value::Null), 1);
    assert_eq!(tasks(json!(false)), 0);
}

#[test]
fn handoff_tool_compacts_a_full_conversation() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let turns = |from: u32, to: u32| {
        let turn = |n: u32| {
            let text =
                format!("You must keep rule {n}. {}", "We talk about the parser. ".repeat(50));
            let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
            json!({ "role": role, "text": text })
        };
        (from..to).map(turn).collect::<Vec<_>>()
    };
    let arguments = json!({ "conversation": "c", "messages": turns(0, 8), "window": 8000 });
    let known = client.facts("record_usage", arguments);
    assert_eq!(known["compaction_due"], false);
    let early = client.facts("handoff", json!({ "conversation": "c", "compact": true }));
    assert!(early.get("compaction").is_none(), "{early}");
    assert!(early["reason"].as_str().unwrap().starts_with("no compaction is due"), "{early}");

    let arguments = json!({ "conversation": "c", "messages": turns(8, 24) });
    let known = client.facts("record_usage", arguments);
    assert_eq!(known["compaction_due"], true, "{known}");
    let facts = client.facts("handoff", json!({ "conversation": "c", "compact": true }));
    let compaction = &facts["compaction"];
    assert_eq!(compaction["tokens_before"], known["total_tokens"]);
    assert!(compaction["tokens_after"].as_u64().unwrap() <= 4000, "{facts}");
    assert!(compaction["archived"].as_u64().unwrap() > 0 && facts["handoff"].is_null(), "{facts}");
    let shown = client.facts("render", json!({ "pack": compaction["pack"] }));
    let text = shown["text"].as_str().unwrap();
    assert!(text.contains("[Persistent Memory]") && text.contains("rule 23"), "{text}");
    let known = client.facts("should_handoff", json!({ "conversation": "c" }));
    assert_eq!(known["total_tokens"], compaction["tokens_after"]);

    let arguments = json!({ "conversation": "c", "compact": true, "target": 5 });
    assert_eq!(client.fault("handoff", arguments)["code"], "usage");
}

#[test]
fn record_usage_reads_a_transcript_below_the_root() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let arguments = json!({ "conversation": "c", "transcript": "session.lcp", "window": 64000 });
    let known = client.facts("record_usage", arguments.clone());
    assert!(known["recorded"].as_u64().unwrap() > 0 && known["recorded"] == known["messages"]);
    assert_eq!(client.facts("record_usage", arguments)["recorded"], 0);
}

#[test]
fn should_handoff_returns_zeros_for_an_unknown_conversation() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let mut check = || {
        let facts = client.facts("should_handoff", json!({ "conversation": "nobody" }));
        let zeros =
            ["messages", "window", "total_tokens", "utilization_percent", "remaining_turns"];
        assert!(zeros.iter().all(|name| facts[name] == 0), "{facts}");
        assert_eq!((&facts["should_handoff"], &facts["decision"]), (&json!(false), &json!("none")));
        assert_eq!((&facts["conversation"], &facts["handoff"]), (&json!("nobody"), &json!(null)));
        client.facts("record_usage", json!({ "conversation": "c", "input_tokens": 1 }));
    };
    // Without a store, and with one.
    check();
    check();
}

#[test]
fn invalid_session_calls_have_an_error_code() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for (tool, arguments, code) in [
        ("record_usage", json!({ "conversation": "c" }), "usage"),
        ("record_usage", json!({ "conversation": "", "input_tokens": 1 }), "usage"),
        ("record_usage", json!({ "conversation": "c", "output_tokens": 1 }), "usage"),
        (
            "record_usage",
            json!({ "conversation": "c", "input_tokens": 1, "cached_input_tokens": 2 }),
            "usage",
        ),
        (
            "record_usage",
            json!({ "conversation": "c", "messages": [{ "role": "nobody", "text": "a" }] }),
            "usage",
        ),
        ("handoff", json!({ "conversation": "nobody" }), "unknown_conversation"),
        ("handoff", json!({ "conversation": "c", "force": true, "if_due": true }), "usage"),
        ("handoff", json!({ "conversation": "c", "style": "florid" }), "usage"),
        ("resume", json!({ "handoff": "nothing" }), "unknown_handoff"),
        ("resume", json!({ "handoff": "h", "window": 5, "output_reserve": 5 }), "usage"),
    ] {
        let fault = client.fault(tool, arguments.clone());
        assert_eq!(fault["code"], code, "{tool} {arguments}: {fault}");
    }
}

/// CBS-INT-04.
#[test]
fn another_model_or_window_changes_the_thresholds() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let said = json!([{ "role": "user", "text": "You must never panic in the parser." }]);
    let arguments = json!({ "conversation": "c", "messages": said, "input_tokens": 8000 });
    let known = client.facts("record_usage", arguments);
    assert_eq!((&known["window"], &known["decision"]), (&json!(64_000), &json!("none")));
    assert!(known["warnings"][0].as_str().unwrap().contains("64,000 tokens are assumed"));
    let mut record = |more: Value| {
        let mut arguments = json!({ "conversation": "c", "input_tokens": 8000 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.facts("record_usage", arguments)
    };
    let small = record(json!({ "model": "gpt-4" }));
    assert_eq!((&small["window"], &small["previous_window"]), (&json!(8_192), &json!(64_000)));
    assert_eq!((&small["decision"], &small["compaction_due"]), (&json!("hand_off"), &json!(true)));
    let warning = "[Budget] Warning: 122% of token budget used. 0 tokens remaining, 1447 over.";
    assert_eq!(small["warnings"], json!([warning]));
    assert_eq!(
        (&small["budget_level"], &small["budget_percent"], &small["budget_remaining"]),
        (&json!("critical"), &json!(122), &json!(0))
    );
    assert_eq!((&known["budget_level"], &known["trend"]), (&json!("normal"), &json!(8_000)));
    let large = record(json!({ "window": 100_000 }));
    assert_eq!((&large["previous_window"], &large["decision"]), (&json!(8_192), &json!("none")));
    let same = record(json!({ "model": "gpt-4" }));
    assert_eq!((&same["window"], &same["previous_window"]), (&json!(100_000), &Value::Null));
    let due = record(json!({ "window": 9_000, "output_reserve": 500 }));
    assert_eq!((&due["previous_window"], &due["decision"]), (&json!(100_000), &json!("hand_off")));
}

/// CBS-EX-03, CBS-TS-05: the settings of the server decide.
#[test]
fn usage_warnings_honour_the_settings() {
    let place = Place::new();
    place.write("lcp.toml", "context.usage.warning = 0.9\n");
    let mut client = place.client(&["--config", &place.text("lcp.toml")]);
    let mut record = |tokens: u32| {
        let arguments = json!({ "conversation": "c", "input_tokens": tokens, "window": 8_000 });
        let facts = client.facts("record_usage", arguments);
        (facts["budget_level"].clone(), facts["warnings"].as_array().unwrap().len())
    };
    assert_eq!(record(5_440), (json!("normal"), 0));
    assert_eq!(record(5_760), (json!("warning"), 1));
    let facts = client.facts("should_handoff", json!({ "conversation": "c" }));
    assert_eq!((&facts["budget_percent"], &facts["trend"]), (&json!(90), &json!(5_600)));
}

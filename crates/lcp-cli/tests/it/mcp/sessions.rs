//! Sessions by tools.

use serde_json::json;

use super::Place;

#[test]
fn a_session_is_recorded_handed_over_and_resumed() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let said = json!([
        { "role": "system", "text": "You write Rust." },
        { "role": "user", "text": "You must never panic in the parser. Fix it." },
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
    let resumed = &result["structuredContent"];
    assert_eq!((&resumed["conversation"], &resumed["previous"]), (&json!("d"), &json!("c")));
    assert!(resumed["text"].as_str().unwrap().contains("never panic"), "{resumed}");
    assert_eq!(result["content"][0]["text"], resumed["text"]);
    assert_eq!(client.fault("resume", arguments)["code"], "io");
}

#[test]
fn a_transcript_below_the_roots_is_recorded() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let arguments = json!({ "conversation": "c", "transcript": "session.lcp", "window": 64000 });
    let known = client.facts("record_usage", arguments.clone());
    assert!(known["recorded"].as_u64().unwrap() > 0 && known["recorded"] == known["messages"]);
    assert_eq!(client.facts("record_usage", arguments)["recorded"], 0);
}

#[test]
fn what_cannot_be_recorded() {
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
        ("should_handoff", json!({ "conversation": "nobody" }), "io"),
        ("handoff", json!({ "conversation": "c", "force": true, "if_due": true }), "usage"),
        ("handoff", json!({ "conversation": "c", "style": "florid" }), "usage"),
        ("resume", json!({ "handoff": "nothing" }), "io"),
        ("resume", json!({ "handoff": "h", "window": 5, "output_reserve": 5 }), "usage"),
    ] {
        let fault = client.fault(tool, arguments.clone());
        assert_eq!(fault["code"], code, "{tool} {arguments}: {fault}");
    }
}

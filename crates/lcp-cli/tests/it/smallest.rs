//! `export` where next to nothing fits, or is there: what is left, and what is said of it.

use expect_test::expect;
use lcp_encoder::PackWriter;
use lcp_transcripts::Provider;
use serde_json::{Value, json};

use crate::command::{run_with, sample, stderr};
use crate::export::turns;

/// The pack of a chat: what the system says, and so many turns.
fn chat(system: &str, turns: usize) -> Vec<u8> {
    let mut messages = vec![json!({"role": "system", "content": system})];
    for turn in 0..turns {
        messages.push(json!({"role": "user", "content": format!("Question {turn}?")}));
        messages.push(json!({"role": "assistant", "content": format!("Answer {turn}.")}));
    }
    run_with(&["-q", "import", "-"], Value::from(messages).to_string().as_bytes()).stdout
}

fn exported(pack: &[u8], arguments: &[&str]) -> (Option<i32>, Value, String) {
    let output = run_with(&[&["export", "-"], arguments].concat(), pack);
    let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), json, stderr(&output))
}

/// What is asked last is worth more than the line that says what is not shown.
#[test]
fn small_budget_exports_the_newest_question() {
    let pack = chat("be nice", 10);
    for to in Provider::ALL.map(Provider::name) {
        for budget in ["24", "30", "36", "60"] {
            let (code, json, said) = exported(&pack, &["--to", to, "--budget", budget]);
            assert_eq!(code, Some(0), "{said}");
            let messages =
                ["messages", "input", "contents"].iter().find_map(|key| json[key].as_array());
            let last = messages.unwrap().iter().rfind(|message| message["role"] == "user").unwrap();
            let text = last.get("content").unwrap_or(&last["parts"][0]["text"]);
            assert_eq!(text, "Question 9?", "{to} {budget} {json}");
        }
    }
}

#[test]
fn export_fails_if_no_message_fits() {
    let blocks = turns(10, false);
    let mut builder = PackWriter::default();
    for block in &blocks {
        builder.add(block).unwrap();
    }
    let pack = builder.finish().unwrap();
    for to in Provider::ALL.map(Provider::name) {
        let (code, json, said) = exported(&pack, &["--to", to, "--budget", "5"]);
        assert_eq!((code, json), (Some(2), Value::Null), "{said}");
        expect![[r#"
            error: the messages need 11 tokens, 6 over the budget of 5 [LCP-BUD-001] (standard input)
            hint: raise --budget to at least 11
        "#]].assert_eq(&said);
        let denied = ["--to", to, "--budget", "5", "--overflow", "deny"];
        let (code, _, denied) = exported(&pack, &denied);
        assert_eq!((code, denied), (Some(4), said));
        assert_eq!(exported(&pack, &["--to", to, "--budget", "12"]).0, Some(0));
    }
}

/// What is Critical may exceed the budget: with a message that makes it a history, and one
/// warning, of the budget that was asked for.
#[test]
fn over_budget_export_warns_once_about_the_messages() {
    let pack = chat("be nice", 10);
    let (code, json, said) = exported(&pack, &["--to", "anthropic", "--budget", "5"]);
    assert_eq!(code, Some(0), "{said}");
    let user = json!([{"role": "user", "content": "(Nothing of this conversation is shown.)"}]);
    assert_eq!((&json["system"], &json["messages"]), (&"be nice".into(), &user));
    expect![[r#"
        warning: the messages need 21 tokens, 16 over the budget of 5: only critical and pinned blocks remain [over_budget]
        warning: only system messages remain; added a placeholder user message [inserted]
    "#]].assert_eq(&said);
    let (_, _, said) = exported(&pack, &["--to", "openai", "--budget", "5"]);
    expect![[r#"
        warning: the messages need 9 tokens, 4 over the budget of 5: only critical and pinned blocks remain [over_budget]
    "#]].assert_eq(&said);
    let denied = ["--to", "openai", "--budget", "5", "--overflow", "deny"];
    let (code, _, said) = exported(&pack, &denied);
    assert_eq!(code, Some(4));
    expect![[r#"
        error: the messages need 9 tokens, 4 over the budget of 5 [LCP-BUD-001] (standard input)
        hint: raise --budget to at least 9
    "#]]
    .assert_eq(&said);
    let (_, _, said) = exported(&pack, &["--to", "openai", "--budget", "30"]);
    expect![[r#"
        warning: budget of 30 tokens is too small to list omitted content [below_floor]
    "#]]
    .assert_eq(&said);
}

#[test]
fn export_rejects_a_pack_without_messages() {
    let unanswered = br#"[{"role":"assistant","tool_calls":[
        {"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]"#;
    let unanswered = run_with(&["-q", "import", "-"], unanswered).stdout;
    let empty = std::fs::read(sample("empty.lcp")).unwrap();
    for to in Provider::ALL.map(Provider::name) {
        let (code, _, said) = exported(&unanswered, &["--to", to]);
        assert_eq!(code, Some(2));
        expect![[r#"
            warning: dropped 1 tool call without a result [unanswered]
            error: no block can be exported as a message (standard input)
            hint: run `lcp inspect` to list the blocks
        "#]]
        .assert_eq(&said);
        let (code, json, said) = exported(&empty, &["--to", to, "--budget", "50"]);
        assert_eq!((code, json), (Some(2), Value::Null));
        assert!(
            said.starts_with("error: no block can be exported as a message (standard input)"),
            "{said}"
        );
    }
}

#[test]
fn system_message_alone_is_exported() {
    let pack = chat("be nice", 0);
    let (code, json, said) = exported(&pack, &["--to", "anthropic"]);
    assert_eq!((code, json["messages"].as_array().map(Vec::len)), (Some(0), Some(1)));
    assert!(said.contains("added a placeholder user message"), "{said}");
    let (code, json, said) = exported(&pack, &["--to", "openai"]);
    assert_eq!(
        (code, json),
        (Some(0), json!({"messages": [{"role": "system", "content": "be nice"}]}))
    );
    assert_eq!(said, "");
}

//! Claude Code sessions: the lines that belong to the conversation.

use lcp_transcripts::{Format, ImportResult, Options, Provider, annotation_keys, import};
use lcp_types::{Annotation, Block, BlockContent, BlockMeta, Priority};
use serde_json::{Value, json};

use crate::support::{exported, imported, value};

/// Returns a line with its id, the id of its parent, its role and its content.
fn line(id: &str, before: Option<&str>, role: &str, content: impl Into<Value>) -> Value {
    json!({"uuid": id, "parentUuid": before, "sessionId": "s", "type": role,
        "message": {"role": role, "content": content.into()}})
}

fn call(id: &str) -> Value {
    json!([{"type": "tool_use", "id": id, "name": "f", "input": {}}])
}

fn answer(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": id}])
}

fn session(lines: &[Value]) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns the texts, and the number of lines that were rewound.
fn texts_and_rewound(lines: &[Value]) -> (Vec<String>, u64) {
    let ImportResult { blocks, report, .. } = imported(Format::ClaudeCode, &session(lines));
    let said = blocks.iter().filter_map(|block| match &block.content {
        BlockContent::Conversation(turn) => Some(turn.content.to_str_lossy().into_owned()),
        BlockContent::ToolResult(result) => Some(result.content.to_str_lossy().into_owned()),
        _ => None,
    });
    (said.collect(), report.skipped.get("rewound").copied().unwrap_or(0))
}

#[track_caller]
fn check(lines: &[Value], expected: &[&str], rewound: u64) {
    let (said, found) = texts_and_rewound(lines);
    assert_eq!(
        (said.iter().map(String::as_str).collect::<Vec<_>>(), found),
        (expected.to_vec(), rewound)
    );
}

#[test]
fn rewound_turns_are_dropped_and_counted() {
    let lines = [
        line("a", None, "user", "Delete everything"),
        line("b", Some("a"), "assistant", "Deleting."),
        line("c", None, "user", "Keep everything"),
    ];
    check(&lines, &["Keep everything"], 2);
    // Two lines in the middle were rewound, with a program's note between them.
    let lines = [
        line("a", None, "user", "q1"),
        line("b", Some("a"), "assistant", "a1"),
        json!({"uuid": "n", "parentUuid": "b", "type": "system", "subtype": "turn_duration"}),
        line("c", Some("n"), "user", "wrong"),
        line("d", Some("c"), "assistant", call("1")),
        line("e", Some("d"), "user", answer("1")),
        line("f", Some("b"), "user", "wrong again"),
        line("g", Some("n"), "user", "q2"),
        line("h", Some("g"), "assistant", "a2"),
    ];
    check(&lines, &["q1", "a1", "q2", "a2"], 4);
}

#[test]
fn parallel_calls_keep_their_results() {
    // The chain continues from one of the results.
    for last in ["r1", "r2"] {
        let lines = [
            line("a", None, "user", "q"),
            line("c1", Some("a"), "assistant", call("1")),
            line("c2", Some("c1"), "assistant", call("2")),
            line("r1", Some("c1"), "user", answer("1")),
            line("r2", Some("c2"), "user", answer("2")),
            line("b", Some(last), "assistant", "done"),
            line("d", Some("b"), "user", "next"),
        ];
        check(&lines, &["q", "f {}", "f {}", "1", "2", "done", "next"], 0);
    }
}

#[test]
fn broken_parent_chains_lose_no_messages() {
    let boundary = |before: Value| {
        json!({"uuid": "x", "parentUuid": null, "logicalParentUuid": before,
        "type": "system", "subtype": "compact_boundary"})
    };
    let mut summary = line("s", Some("x"), "user", "summary");
    summary["isCompactSummary"] = json!(true);
    summary["isVisibleInTranscriptOnly"] = json!(true);
    let rest = || [summary.clone(), line("d", Some("s"), "assistant", "on")];
    let first = [line("a", None, "user", "q"), line("b", Some("a"), "assistant", "a")];
    let all = ["q", "a", "summary", "on"];
    for before in [json!("b"), json!("gone"), json!(null)] {
        check(&[&first[..], &[boundary(before)], &rest()].concat(), &all, 0);
    }
    // A summary without a parent, and a line whose parent does not exist.
    let mut alone = summary.clone();
    alone["parentUuid"] = json!(null);
    check(&[&first[..], &[alone], &rest()[1..]].concat(), &all, 0);
    let elsewhere = line("c", Some("gone"), "user", "q2");
    check(&[&first[..], &[elsewhere]].concat(), &["q", "a", "q2"], 0);
    // A hook is the first line of a resumed session.
    let hook = json!({"uuid": "h", "parentUuid": null, "type": "progress", "data": {}});
    let resumed = line("c", Some("h"), "user", "q2");
    check(&[&first[..], &[hook, resumed]].concat(), &["q", "a", "q2"], 0);
    // A prompt with the same parent as an answer was not rewound.
    let queued = line("c", Some("a"), "user", "and this");
    check(&[first[0].clone(), queued, first[1].clone()], &["q", "and this", "a"], 0);
    // Streams have no parent ids. A repeated id refers to the first line that has it.
    let mut stream = first.clone();
    for line in &mut stream {
        line.as_object_mut().unwrap().remove("parentUuid");
    }
    check(&[&stream[..], &stream].concat(), &["q", "a", "q", "a"], 0);
    let circle = [line("a", Some("b"), "user", "q"), line("b", Some("a"), "assistant", "a")];
    check(&circle, &["q", "a"], 0);
}

#[test]
fn sidechains_are_skipped_or_tagged() {
    let aside = |id, before, role, content: &str| {
        let mut line = line(id, before, role, content);
        line["isSidechain"] = json!(true);
        line
    };
    let main = [line("a", None, "user", "q"), line("b", Some("a"), "assistant", "a")];
    let side = [aside("s", None, "user", "find it"), aside("t", Some("s"), "assistant", "found")];
    let lines = [&main[..1], &side, &main[1..]].concat();
    check(&lines, &["q", "a"], 0);
    let text = session(&lines);
    assert_eq!(imported(Format::ClaudeCode, &text).report.skipped["sidechain"], 2);

    let mut options = Options::default();
    options.sidechains = true;
    let found = import(Format::ClaudeCode, text.as_bytes(), &options).unwrap();
    assert_eq!((found.report.messages, found.report.skipped.get("sidechain")), (4, None));
    let metas = BlockMeta::resolve_all(&found.blocks, &mut |_, _| panic!("an annotation is wrong"));
    let shown =
        found.blocks.iter().zip(&metas).filter(|(block, _)| block.as_annotation().is_none());
    let priorities: Vec<_> = shown.map(|(_, meta)| meta.priority).collect();
    let (low, normal) = (Priority::Low, Priority::Normal);
    assert_eq!(priorities, [normal, low, low, normal]);
    let told = found.blocks.iter().filter_map(Block::as_annotation);
    let told =
        told.filter_map(Annotation::as_tag).filter(|tag| tag.key == annotation_keys::SIDECHAIN);
    assert_eq!(told.filter_map(|tag| tag.value).collect::<Vec<_>>(), ["s", "s"]);

    // A separate file of an agent is an ordinary conversation.
    check(&side, &["find it", "found"], 0);
    // An agent is dropped together with its rewound call.
    let lines = [&main[..], &side, &[line("c", None, "user", "q2")]].concat();
    assert_eq!(texts_and_rewound(&lines), (vec!["q2".to_owned()], 4));
}

#[test]
fn line_metadata_is_stored_but_not_exported() {
    let mut lines = [
        line("a", None, "user", "q"),
        line("b", Some("a"), "assistant", "a"),
        line("c", Some("b"), "user", "q2"),
    ];
    for (line, time) in lines.iter_mut().zip(["10:00", "10:01", "10:02"]) {
        line["timestamp"] = json!(time);
        line["cwd"] = json!("/src");
    }
    lines[1]["message"]["usage"] = json!({"input_tokens": 3});
    lines[1]["message"]["stop_reason"] = json!("end_turn");
    let found = imported(Format::ClaudeCode, &session(&lines));
    let told = found.blocks.iter().filter_map(|block| block.as_annotation()?.as_tag());
    let notes =
        told.filter(|tag| tag.key == "claude-code.item").map(|tag| value(&tag.value.unwrap()));
    // Unchanged values are not repeated.
    assert_eq!(
        notes.collect::<Vec<_>>(),
        [
            json!({"timestamp": "10:00", "cwd": "/src", "sessionId": "s"}),
            json!({"timestamp": "10:01",
                "message": {"usage": {"input_tokens": 3}, "stop_reason": "end_turn"}}),
            json!({"timestamp": "10:02"}),
        ]
    );
    let back = value(&exported(Provider::Anthropic, &found.blocks).json());
    let expected = [("user", "q"), ("assistant", "a"), ("user", "q2")]
        .map(|(role, content)| json!({"role": role, "content": content}));
    assert_eq!(back, json!({"messages": expected}));
}

/// The model did not see it, but it is kept if the message has no result.
#[test]
fn tool_use_result_is_skipped_unless_message_lacks_result() {
    let mut answered = line("b", Some("a"), "user", answer("1"));
    answered["toolUseResult"] = json!({"stdout": "1"});
    let mut alone = line("c", Some("b"), "user", "Look.");
    alone["toolUseResult"] = json!({"stdout": "only here"});
    let lines = [line("a", None, "assistant", call("1")), answered, alone];
    let report = imported(Format::ClaudeCode, &session(&lines)).report;
    assert_eq!((report.skipped["toolUseResult"], report.unknown["toolUseResult"]), (1, 1));
}

//! Exports of handmade packs, of a plan's selection, and of content that must be changed.

use std::fmt::Write;

use expect_test::{Expect, expect};
use lcp_transcripts::{ExportBlock, ExportDetail, Format, Provider, export};
use lcp_types::{
    Annotation, Block, DataFormat, DiffHunk, FileEntry, FormatHint, Lang, MediaType, Role, Status,
    Tag,
};
use serde_json::json;

use crate::support::{exported, imported, value};
use crate::valid::{keys, valid};

fn answering(target: u64, id: &str) -> Block<'static> {
    Block::new(Annotation::tag(target, &Tag::new(Tag::TOOL_CALL_ID, id)))
}

fn call(id: &'static str) -> Block<'static> {
    Block::conversation_with_call(Role::Assistant, "run {}", id)
}

#[track_caller]
fn check(target: Provider, blocks: &[Block<'static>], expected: &Expect) {
    let found = exported(target, blocks);
    let messages = found.json().replace("},{\"role\"", "},\n{\"role\"");
    expected.assert_eq(&format!("{messages}\n{:?}\n", found.report));
}

#[test]
fn other_blocks_become_user_messages() {
    let blocks = [
        Block::code_lines(Lang::Rust, "a.rs", "fn a() {}\n", 3, 3),
        Block::document("Title", "Text", FormatHint::Plain),
        Block::structured_data(DataFormat::Json, "{}"),
        Block::diff("a.rs", vec![DiffHunk::new(1, 1, "-a\n+b\n")]),
        Block::file_tree("src", vec![FileEntry::directory("d", vec![FileEntry::file("f", 1)])]),
        Block::image(MediaType::Png, "a dog", vec![1]),
        Block::image(MediaType::Svg, "a cat", "<svg/>"),
        Block::extension("acme", "note", "hello"),
        Block::raw(0x42, vec![1]),
        Block::embedding_ref(vec![1], vec![2], "m"),
    ];
    check(
        Provider::OpenAi,
        &blocks,
        &expect![[r#"
        {"messages":[{"role":"user","content":"a.rs (3-3)\nfn a() {}\n"},
        {"role":"user","content":"Title\nText"},
        {"role":"user","content":"{}"},
        {"role":"user","content":"a.rs\n@@ -1 +1 @@\n-a\n+b\n"},
        {"role":"user","content":"src\n  d\n    f"},
        {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AQ=="}}]},
        {"role":"user","content":"[image: a cat]"},
        {"role":"user","content":"hello"}]}
        ExportReport { messages: 8, calls: 0, unanswered: 0, orphans: 0, empty: 0, renamed: 0, inserted: 0, left_out: {"embedding-ref": 1, "image": 1, "type 0x42": 1} }
    "#]],
    );
    check(
        Provider::Anthropic,
        &blocks,
        &expect![[r#"
        {"messages":[{"role":"user","content":[{"type":"text","text":"a.rs (3-3)\nfn a() {}\n"},{"type":"text","text":"Title\nText"},{"type":"text","text":"{}"},{"type":"text","text":"a.rs\n@@ -1 +1 @@\n-a\n+b\n"},{"type":"text","text":"src\n  d\n    f"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQ=="}},{"type":"text","text":"[image: a cat]"},{"type":"text","text":"hello"}]}]}
        ExportReport { messages: 1, calls: 0, unanswered: 0, orphans: 0, empty: 0, renamed: 0, inserted: 0, left_out: {"embedding-ref": 1, "image": 1, "type 0x42": 1} }
    "#]],
    );
}

#[test]
fn results_follow_their_calls_and_unpaired_ones_are_dropped() {
    let blocks = [
        Block::conversation(Role::User, "go"),
        call("one"),
        call("two"),
        call("three"),
        Block::conversation(Role::User, "meanwhile"),
        Block::tool_result("run", Status::Ok, "of two"),
        answering(5, "two"),
        Block::tool_result("run", Status::Timeout, "of one"),
        answering(7, "one"),
        Block::tool_result("run", Status::Ok, "of one again"),
        answering(9, "one"),
        Block::tool_result("run", Status::Ok, "of nobody"),
        Block::conversation_with_call(Role::Tool, "turn of a tool", "four"),
    ];
    check(
        Provider::OpenAi,
        &blocks,
        &expect![[r#"
        {"messages":[{"role":"user","content":"go"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"one","type":"function","function":{"name":"run","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"one","content":"of one"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"two","type":"function","function":{"name":"run","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"two","content":"of two"},
        {"role":"user","content":"meanwhile"}]}
        ExportReport { messages: 6, calls: 2, unanswered: 1, orphans: 3, empty: 0, renamed: 0, inserted: 0, left_out: {"is_error": 1} }
    "#]],
    );
    check(
        Provider::Anthropic,
        &blocks,
        &expect![[r#"
        {"messages":[{"role":"user","content":"go"},
        {"role":"assistant","content":[{"type":"tool_use","id":"one","name":"run","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"one","content":"of one","is_error":true}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"two","name":"run","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"two","content":"of two"},{"type":"text","text":"meanwhile"}]}]}
        ExportReport { messages: 5, calls: 2, unanswered: 1, orphans: 3, empty: 0, renamed: 0, inserted: 0, left_out: {} }
    "#]],
    );
}

#[test]
fn invalid_anthropic_call_ids_are_renamed_with_results() {
    let mut blocks = vec![];
    for id in ["run:0", "run:0", "run_0", "fine-1"] {
        let at = blocks.len() as u64;
        blocks.extend([
            Block::conversation_with_call(Role::Assistant, "run not json", id),
            Block::tool_result("run", Status::Ok, "x"),
            answering(at + 1, id),
        ]);
    }
    check(
        Provider::Anthropic,
        &blocks,
        &expect![[r#"
        {"messages":[{"role":"user","content":"(The beginning of this conversation is not shown.)"},
        {"role":"assistant","content":[{"type":"tool_use","id":"run_0","name":"run","input":{"arguments":"not json"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"run_0","content":"x"}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"run_0_2","name":"run","input":{"arguments":"not json"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"run_0_2","content":"x"}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"run_0_3","name":"run","input":{"arguments":"not json"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"run_0_3","content":"x"}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"fine-1","name":"run","input":{"arguments":"not json"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"fine-1","content":"x"}]}]}
        ExportReport { messages: 9, calls: 4, unanswered: 0, orphans: 0, empty: 0, renamed: 3, inserted: 1, left_out: {"arguments": 4} }
    "#]],
    );
}

#[test]
fn invalid_tool_names_are_renamed_everywhere() {
    let long = "x".repeat(70);
    let tools = ["fs.read", "fs_read", "fs read", "fs.read", long.as_str()];
    let definitions: Vec<_> = [&tools[..3], &["never.called", "fine"]]
        .concat()
        .into_iter()
        .map(|name| json!({"type": "function", "function": {"name": name, "strict": true}}))
        .collect();
    let mut messages = vec![json!({"role": "user", "content": "Read."})];
    for (at, name) in tools.iter().enumerate() {
        let function = json!({"name": name, "arguments": "{}"});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": format!("c{at}"), "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": "x"}));
    }
    let choice = json!({"type": "function", "function": {"name": "fs.read"}});
    let request = json!({"messages": messages, "tools": definitions, "tool_choice": choice});
    let blocks = imported(Format::OpenAiChat, &request.to_string()).blocks;
    let wanted = ["fs_read_2", "fs_read", "fs_read_3", "fs_read_2", &long[..64]];
    for target in Provider::ALL {
        let exported = exported(target, &blocks);
        let json = value(&exported.json());
        let called = json[keys(target).1].as_array().unwrap().iter().filter_map(|message| {
            let call = match target {
                Provider::OpenAi => &message["tool_calls"][0]["function"],
                Provider::OpenAiResponses => message,
                Provider::Anthropic => &message["content"][0],
                Provider::Gemini => &message["parts"][0]["functionCall"],
            };
            call["name"].as_str()
        });
        // Gemini accepts a dot.
        let wanted = match target {
            Provider::Gemini => ["fs.read", "fs_read", "fs_read_2", "fs.read", &long[..64]],
            _ => wanted,
        };
        assert_eq!(called.collect::<Vec<_>>(), wanted, "{target}");
        assert_eq!(exported.renamed_tools["fs read"], wanted[2]);
        // The selection of blocks makes no difference.
        let mut some: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
        some[1].detail = ExportDetail::Omitted;
        assert_eq!(export(target, &some, None).renamed_tools, exported.renamed_tools);
    }
    let json = value(&exported(Provider::OpenAi, &blocks).json());
    let defined = json["tools"].as_array().unwrap().iter();
    let defined: Vec<_> = defined.map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(defined, ["fs_read_2", "fs_read", "fs_read_3", "never_called", "fine"]);
    assert_eq!(json["tools"][0]["function"]["strict"], true);
    assert_eq!(json["tool_choice"]["function"]["name"], "fs_read_2");
}

#[test]
fn tool_names_are_renamed_in_the_requests_of_each_provider() {
    let call = json!({"functionCall": {"name": "9 lives", "args": {}}});
    let result = json!({"functionResponse": {"name": "9 lives", "response": {"output": ""}}});
    let gemini = json!({
        "contents": [{"role": "user", "parts": [{"text": "Hi."}]},
            {"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}],
        "tools": [{"functionDeclarations": [{"name": "a:b"}, {"name": "9 lives"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["9 lives"]}},
    });
    let wanted = gemini.to_string().replace("9 lives", "_9_lives");
    let found = exported(Provider::Gemini, &imported(Format::Gemini, &gemini.to_string()).blocks);
    assert_eq!(value(&found.json()), value(&wanted));
    let responses = json!({
        "input": [{"type": "message", "role": "user", "content": "Hi."}],
        "tools": [{"type": "function", "name": "fs.read"}],
        "tool_choice": {"type": "allowed_tools", "tools": [{"type": "function", "name": "fs.read"}]},
    });
    let wanted = responses.to_string().replace("fs.read", "fs_read");
    let blocks = imported(Format::OpenAiResponses, &responses.to_string()).blocks;
    assert_eq!(value(&exported(Provider::OpenAiResponses, &blocks).json()), value(&wanted));
}

#[test]
fn overlong_openai_call_ids_are_shortened_with_results() {
    let long = |end: &str| format!("{}{end}", "i".repeat(40));
    let ids = [long("a"), long("b"), "i".repeat(40), "any:id".to_owned()];
    let mut blocks = vec![];
    for id in &ids {
        let at = blocks.len() as u64;
        blocks.extend([
            Block::conversation_with_call(Role::Assistant, "run {}", id.clone()),
            Block::tool_result("run", Status::Ok, "x"),
            answering(at + 1, id),
        ]);
    }
    let of_responses = exported(Provider::OpenAiResponses, &blocks);
    assert_eq!((of_responses.report.renamed, of_responses.report.calls), (0, 4));
    let exported = exported(Provider::OpenAi, &blocks);
    assert_eq!((exported.report.renamed, exported.report.calls), (2, 4));
    let json = value(&exported.json());
    let id = |at: usize| json["messages"][at * 2]["tool_calls"][0]["id"].as_str().unwrap();
    let i = |count: usize| "i".repeat(count);
    let wanted = [format!("{}_2", i(38)), format!("{}_3", i(38)), i(40), "any:id".to_owned()];
    assert_eq!([0, 1, 2, 3].map(id), wanted.each_ref().map(String::as_str));
}

#[test]
fn request_extras_returns_tools_and_response_format() {
    let request = r#"{"model":"m","temperature":0.5,"tools":[{"type":"function","function":{"name":"f"}}],
        "response_format":{"type":"json_object"},"messages":[{"role":"user","content":"Hi."}]}"#;
    let blocks = imported(Format::OpenAiChat, request).blocks;
    let beside = exported(Provider::OpenAi, &blocks).request_extras().unwrap();
    let wanted = r#"{"tools":[{"type":"function","function":{"name":"f"}}],"response_format":{"type":"json_object"}}"#;
    assert_eq!(beside, wanted);
    assert_eq!(exported(Provider::Anthropic, &blocks).request_extras(), None);
}

#[test]
fn replaced_and_omitted_blocks_follow_the_plan() {
    let blocks = [
        Block::conversation(Role::System, "Rules."),
        Block::conversation(Role::User, "A long question"),
        call("c"),
        Block::tool_result("run", Status::Ok, "a long result"),
        answering(3, "c"),
        Block::conversation(Role::Assistant, "left out"),
        Block::image(MediaType::Png, "", vec![1]),
        Block::conversation(Role::User, "The question"),
    ];
    let mut shown: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
    shown[1].detail = ExportDetail::Replaced("A question".into());
    shown[2].detail = ExportDetail::Replaced("run …".into());
    shown[3].detail = ExportDetail::Replaced("a result".into());
    shown[5].detail = ExportDetail::Omitted;
    shown[6].detail = ExportDetail::Replaced("[image]".into());
    let mut all = String::new();
    for target in Provider::ALL {
        let found = export(target, &shown, Some("1 more block is not shown."));
        assert_eq!(valid(target, &found), Ok(()));
        all += &found.json().replace("},{\"role\"", "},\n{\"role\"");
        all.push('\n');
        for message in &found.messages {
            let (text, blocks) = (&message.text, &message.blocks);
            writeln!(all, "{} {text:?} {blocks:?}", message.role).expect("a string takes all");
        }
    }
    expect![[r#"
        {"messages":[{"role":"system","content":"Rules."},
        {"role":"system","content":"1 more block is not shown."},
        {"role":"user","content":"A question"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{\"shortened\":\"run …\"}"}}]},
        {"role":"tool","tool_call_id":"c","content":"a result"},
        {"role":"user","content":"[image]"},
        {"role":"user","content":"The question"}]}
        system "Rules." [0]
        system "1 more block is not shown." []
        user "A question" [1]
        assistant "run{\"shortened\":\"run …\"}" [2]
        tool "a result" [3]
        user "[image]" [6]
        user "The question" [7]
        {"input":[{"type":"message","role":"system","content":"Rules."},{"type":"message","role":"system","content":"1 more block is not shown."},{"type":"message","role":"user","content":"A question"},{"type":"function_call","call_id":"c","name":"run","arguments":"{\"shortened\":\"run …\"}"},{"type":"function_call_output","call_id":"c","output":"a result"},{"type":"message","role":"user","content":"[image]"},{"type":"message","role":"user","content":"The question"}]}
        system "Rules." [0]
        system "1 more block is not shown." []
        user "A question" [1]
        assistant "run{\"shortened\":\"run …\"}" [2]
        tool "a result" [3]
        user "[image]" [6]
        user "The question" [7]
        {"system":[{"type":"text","text":"Rules."},{"type":"text","text":"1 more block is not shown."}],"messages":[{"role":"user","content":"A question"},
        {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"run","input":{"shortened":"run …"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a result"},{"type":"text","text":"[image]"},{"type":"text","text":"The question"}]}]}
        system "Rules.1 more block is not shown." [0]
        user "A question" [1]
        assistant "run{\"shortened\":\"run …\"}" [2]
        user "a result[image]The question" [3, 6, 7]
        {"systemInstruction":{"parts":[{"text":"Rules."},{"text":"1 more block is not shown."}]},"contents":[{"role":"user","parts":[{"text":"A question"}]},
        {"role":"model","parts":[{"functionCall":{"id":"c","name":"run","args":{"shortened":"run …"}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"c","name":"run","response":{"output":"a result"}}},{"text":"[image]"},{"text":"The question"}]}]}
        system "Rules.1 more block is not shown." [0]
        user "A question" [1]
        model "run{\"shortened\":\"run …\"}" [2]
        user "runa result[image]The question" [3, 6, 7]
    "#]].assert_eq(&all);
}

#[test]
fn function_call_form_is_used_only_for_single_calls() {
    let mut blocks = vec![];
    for (id, message) in [("one", "0"), ("two", "0"), ("three", "1")] {
        let at = blocks.len() as u64;
        blocks.push(call(id));
        for tag in [Tag::new("message", message), Tag::new("call", "function")] {
            blocks.push(Block::new(Annotation::tag(at, &tag)));
        }
    }
    for id in ["one", "two", "three"] {
        blocks.push(Block::tool_result("run", Status::Ok, id));
        blocks.push(answering(blocks.len() as u64 - 1, id));
    }
    check(
        Provider::OpenAi,
        &blocks,
        &expect![[r#"
        {"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"one","type":"function","function":{"name":"run","arguments":"{}"}},{"id":"two","type":"function","function":{"name":"run","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"one","content":"one"},
        {"role":"tool","tool_call_id":"two","content":"two"},
        {"role":"assistant","content":null,"function_call":{"name":"run","arguments":"{}"}},
        {"role":"function","name":"run","content":"three"}]}
        ExportReport { messages: 5, calls: 3, unanswered: 0, orphans: 0, empty: 0, renamed: 0, inserted: 0, left_out: {} }
    "#]],
    );
}

#[test]
fn result_without_id_answers_the_only_preceding_call() {
    let result = |text: &'static str| Block::tool_result("run", Status::Ok, text);
    let blocks = [
        Block::conversation(Role::User, "go"),
        call("one"),
        result("of one"),
        call("two"),
        call("three"),
        result("of three"),
        result("of two"),
        answering(6, "two"),
        call("four"),
        call("five"),
        result("of four or five"),
        Block::conversation(Role::User, "on"),
        call("six"),
        Block::tool_result("look", Status::Ok, "of another tool"),
        Block::conversation(Role::User, "and on"),
        call("seven"),
        Block::conversation(Role::User, "meanwhile"),
        result("too late"),
    ];
    let found = exported(Provider::OpenAi, &blocks);
    let answers: Vec<_> = found.messages.iter().filter(|message| message.role == "tool").collect();
    let said: Vec<_> = answers.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(said, ["of one", "of two", "of three"], "{}", found.json());
    assert_eq!((found.report.calls, found.report.unanswered, found.report.orphans), (3, 4, 3));
    assert!(found.json().contains(r#""tool_call_id":"three","content":"of three""#));
    exported(Provider::Anthropic, &blocks);

    // It never becomes the result of a call whose actual result is not shown.
    let mut shown: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
    for unseen in [4, 6] {
        shown[unseen].detail = ExportDetail::Omitted;
    }
    let found = export(Provider::OpenAi, &shown, None);
    assert!(!found.json().contains("of three"), "{}", found.json());
}

#[test]
fn message_extras_are_dropped_with_their_parts() {
    let (message, beside) = (Tag::new("message", "0"), r#"{"refusal": "No.", "name": "x"}"#);
    let blocks = [
        Block::conversation(Role::Assistant, "Perhaps."),
        Block::new(Annotation::tag(0, &message)),
        Block::new(Annotation::tag(0, &Tag::new("openai-chat.part", r#"{"citations": ["a"]}"#))),
        Block::extension("openai-chat", "message", beside),
        Block::new(Annotation::tag(3, &message)),
        Block::new(Annotation::tag(3, &Tag::new("role", "assistant"))),
        Block::conversation(Role::User, "a"),
    ];
    let found = exported(Provider::OpenAi, &blocks);
    assert_eq!(found.messages[0].text, r#"Perhaps."citations":["a"]"refusal":"No.""name":"x""#);
    assert_eq!(found.messages[0].blocks, [0, 3]);
    let mut shown: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
    shown[0].detail = ExportDetail::Omitted;
    let found = export(Provider::OpenAi, &shown, None);
    assert_eq!(found.json(), r#"{"messages":[{"role":"user","content":"a"}]}"#);
}

/// Results of parallel calls come in the order in which the calls finish.
#[test]
fn results_keep_their_order() {
    let blocks = [
        Block::conversation(Role::User, "go"),
        Block::conversation_with_call(Role::Assistant, "run {}", "a:1"),
        Block::new(Annotation::tag(1, &Tag::new("message", "1"))),
        Block::conversation_with_call(Role::Assistant, "run {}", "b:2"),
        Block::new(Annotation::tag(3, &Tag::new("message", "1"))),
        Block::tool_result("run", Status::Ok, "of b"),
        answering(5, "b:2"),
        Block::tool_result("run", Status::Ok, "of a"),
        answering(7, "a:1"),
    ];
    check(
        Provider::OpenAi,
        &blocks,
        &expect![[r#"
            {"messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"a:1","type":"function","function":{"name":"run","arguments":"{}"}},{"id":"b:2","type":"function","function":{"name":"run","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"b:2","content":"of b"},
            {"role":"tool","tool_call_id":"a:1","content":"of a"}]}
            ExportReport { messages: 4, calls: 2, unanswered: 0, orphans: 0, empty: 0, renamed: 0, inserted: 0, left_out: {} }
        "#]],
    );
    check(
        Provider::Anthropic,
        &blocks,
        &expect![[r#"
            {"messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":[{"type":"tool_use","id":"a_1","name":"run","input":{}},{"type":"tool_use","id":"b_2","name":"run","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"b_2","content":"of b"},{"type":"tool_result","tool_use_id":"a_1","content":"of a"}]}]}
            ExportReport { messages: 3, calls: 2, unanswered: 0, orphans: 0, empty: 0, renamed: 2, inserted: 0, left_out: {} }
        "#]],
    );
}

#[test]
fn export_always_has_a_message() {
    let user = r#"{"role":"user","content":"(Nothing of this conversation is shown.)"}"#;
    let system = Block::conversation(Role::System, "be nice");
    for (target, blocks, expected) in [
        (Provider::OpenAi, vec![], format!(r#"{{"messages":[{user}]}}"#)),
        (Provider::Anthropic, vec![call("unanswered")], format!(r#"{{"messages":[{user}]}}"#)),
        (
            Provider::Anthropic,
            vec![Block::conversation(Role::User, " \n")],
            format!(r#"{{"messages":[{user}]}}"#),
        ),
        (
            Provider::Anthropic,
            vec![system.clone()],
            format!(r#"{{"system":"be nice","messages":[{user}]}}"#),
        ),
        (
            Provider::OpenAi,
            vec![system],
            r#"{"messages":[{"role":"system","content":"be nice"}]}"#.to_owned(),
        ),
    ] {
        let found = exported(target, &blocks);
        assert_eq!(found.json(), expected);
        assert_eq!(found.report.inserted, u64::from(expected.contains(user)));
    }
}

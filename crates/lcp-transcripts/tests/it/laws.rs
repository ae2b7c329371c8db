//! Properties of every transcript and every pack.

use std::collections::HashSet;

use lcp_testkit::known_block;
use lcp_transcripts::{ExportBlock, ExportDetail, Format, Provider, export};
use lcp_types::{Annotation, Block, Role, Status, Tag};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::comes_back;
use crate::valid::{uncounted, valid};

/// Generates texts that are not empty.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,12}[a-z]",
        1 => vec(any::<char>(), 0..8).prop_map(|text| text.into_iter().chain(['x']).collect()),
        1 => select(vec!["a\u{0}b", "{\"a\": 1}", "日本語\n", "     1\tfn main() {}\n", "<tag>"])
            .prop_map(str::to_owned),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![5 => text(), 1 => Just(String::new())]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-zA-Z_]{1,8}", 1 => Just("two words".to_owned())]
}

/// Adds an unknown field if `extra` is set.
fn extra(mut of: Value, extra: bool) -> Value {
    if extra {
        of["x_extra"] = json!({"n": [1, 2.5, "three"]});
    }
    of
}

/// Generates an order of up to four values.
fn shuffle() -> impl Strategy<Value = Vec<usize>> {
    Just((0..4).collect::<Vec<_>>()).prop_shuffle()
}

/// Returns the values in this order.
fn shuffled(of: &[Value], order: &[usize]) -> Vec<Value> {
    order.iter().filter_map(|at| of.get(*at).cloned()).collect()
}

/// Generates the content of an OpenAI message.
fn chat_content(user: bool) -> BoxedStrategy<Value> {
    let part = (text(), any::<bool>())
        .prop_map(|(text, more)| extra(json!({"type": "text", "text": text}), more));
    let other = select(vec![
        json!({"type": "image_url", "image_url": {"url": "data:image/gif;base64,AAEC"}}),
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,/w==", "detail": "high"}}),
        json!({"type": "image_url", "image_url": {"url": "https://example.org/"}}),
        json!({"type": "file", "file": {"file_id": "f"}}),
    ]);
    let part = if user { prop_oneof![3 => part, 1 => other].boxed() } else { part.boxed() };
    prop_oneof![3 => text().prop_map(Value::from), 1 => vec(part, 1..4).prop_map(Value::from)]
        .boxed()
}

/// Generates messages without content.
fn silence() -> impl Strategy<Value = Value> {
    select(vec!["system", "user", "assistant"]).prop_flat_map(|role| {
        select(vec![
            json!({"role": role}),
            json!({"role": role, "content": null}),
            json!({"role": role, "content": ""}),
            json!({"role": role, "content": []}),
            json!({"role": role, "content": [{"type": "text", "text": ""}]}),
        ])
    })
}

/// Generates a valid sequence of messages: a turn, or calls with their results.
fn chat_step() -> BoxedStrategy<Vec<Value>> {
    let turn = (select(vec!["system", "developer", "user", "assistant"]), any::<bool>())
        .prop_flat_map(|(role, more)| {
            chat_content(role == "user").prop_map(move |content| {
                vec![extra(json!({"role": role, "content": content}), more)]
            })
        });
    let call = (name(), any_text(), any_text(), any::<[bool; 3]>());
    let said = prop_oneof![
        2 => any_text().prop_map(|text| json!({"role": "assistant", "content": text})),
        1 => Just(json!({"role": "assistant", "content": null})),
        1 => Just(json!({"role": "assistant"})),
    ];
    let calls = (said, vec(call, 1..4), shuffle()).prop_map(|(mut message, calls, order)| {
        let (mut asked, mut answers) = (Vec::new(), Vec::new());
        for (at, (name, arguments, result, [custom, more, listed])) in calls.into_iter().enumerate() {
            let call = if custom {
                json!({"id": format!("c{at}"), "type": "custom", "custom": {"name": name, "input": arguments}})
            } else {
                json!({"id": format!("c{at}"), "type": "function", "function": {"name": name, "arguments": arguments}})
            };
            asked.push(extra(call, more));
            let content = if listed { json!([{"type": "text", "text": result}]) } else { json!(result) };
            let answer = json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": content});
            answers.push(extra(answer, more));
        }
        message["tool_calls"] = Value::from(asked);
        let mut messages = vec![message];
        messages.extend(shuffled(&answers, &order));
        messages
    });
    let silence = silence().prop_map(|message| vec![message]);
    prop_oneof![4 => turn, 2 => calls, 1 => silence].boxed()
}

fn anthropic_parts(more: bool) -> BoxedStrategy<Vec<Value>> {
    let text = text().prop_map(move |text| extra(json!({"type": "text", "text": text}), more));
    let picture = Just(
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "AA=="}}),
    );
    let document = Just(json!({"type": "document", "source": {"type": "url", "url": "u"}}));
    vec(prop_oneof![3 => text, 1 => picture, 1 => document], 1..4).boxed()
}

/// Generates messages of the user and of the model, which may call tools, each with the results.
fn anthropic_transcript() -> BoxedStrategy<Value> {
    let call = (name(), any::<u64>(), any_text(), any::<[bool; 3]>());
    let step = (any::<bool>(), text(), vec(call, 0..4), any::<bool>(), shuffle());
    let steps = vec(
        step.prop_flat_map(|(plain, said, calls, more, order)| {
            anthropic_parts(more).prop_map(move |parts| {
                (plain, parts, said.clone(), calls.clone(), more, order.clone())
            })
        }),
        1..5,
    );
    (any::<bool>(), steps).prop_map(|(system, steps)| {
        let (mut messages, mut results, mut made) = (Vec::new(), Vec::<Value>::new(), 0);
        for (plain, parts, said, calls, thinks, order) in steps {
            let content = if plain && results.is_empty() { json!(said) } else {
                results.extend(parts);
                Value::from(std::mem::take(&mut results))
            };
            messages.push(json!({"role": "user", "content": content}));
            let mut content = Vec::new();
            if thinks {
                content.push(json!({"type": "thinking", "thinking": said, "signature": "s"}));
            }
            content.push(json!({"type": "text", "text": said}));
            for (name, n, result, [failed, more, listed]) in calls {
                made += 1;
                let id = format!("toolu_{made}");
                content.push(extra(json!({"type": "tool_use", "id": id, "name": name, "input": {"n": n}}), more));
                let said = if listed {
                    json!([{"type": "text", "text": result}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAEC"}}])
                } else {
                    json!(result)
                };
                results.push(extra(json!({"type": "tool_result", "tool_use_id": id, "content": said, "is_error": failed}), more));
            }
            results = shuffled(&results, &order);
            messages.push(json!({"role": "assistant", "content": content}));
        }
        if !results.is_empty() {
            messages.push(json!({"role": "user", "content": results}));
        }
        let mut whole = json!({"messages": messages});
        if system {
            whole["system"] = json!("Be kind.");
        }
        whole
    }).boxed()
}

/// Generates ids that often collide, as they are or after normalization.
fn id() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "a_2", "a:2", "b", "b", ""])
}

/// Generates EXTENSION blocks of the formats: valid ones, and ones that only look valid.
fn extension() -> impl Strategy<Value = Block<'static>> {
    let json = select(vec![
        "{}",
        "[",
        r#"{"type": "thinking", "thinking": "x"}"#,
        r#"{"type": "tool_use", "id": "a", "name": "n", "input": {}}"#,
        r#"{"type": "tool_result", "tool_use_id": "a"}"#,
        r#"{"type": "text"}"#,
        r#"{"type": "server_tool_use", "id": "s"}"#,
        r#"{"type": "web_search_tool_result", "tool_use_id": "s"}"#,
        r#"{"tool_calls": [1], "role": "tool", "messages": 1, "content": ""}"#,
        r#"{"refusal": "No.", "x_extra": [1], "id": "m", "usage": {"input_tokens": 1}}"#,
    ]);
    let format = select(vec![Format::OpenAiChat, Format::Anthropic, Format::Codex]);
    let name = select(vec!["message", "part", "part", "request"]);
    (format, name, json)
        .prop_map(|(format, name, json)| Block::extension(format.name(), name, json))
}

/// Generates blocks with their tags.
fn tagged() -> impl Strategy<Value = (Block<'static>, Vec<Tag<'static>>)> {
    let answer = |id: &'static str| vec![Tag::new(Tag::TOOL_CALL_ID, id)];
    let call = (id(), any_text()).prop_map(|(id, text)| {
        let block = Block::conversation_with_call(Role::Assistant, format!("run {text}"), id);
        (block, Vec::new())
    });
    let result = (id(), any_text())
        .prop_map(move |(id, text)| (Block::tool_result("run", Status::Ok, text), answer(id)));
    let answered = (id(), prop_oneof![extension(), known_block()])
        .prop_map(move |(id, block)| (block, answer(id)));
    let turn = (select(Role::ALL), any_text(), id())
        .prop_map(|(role, text, id)| (Block::conversation_with_call(role, text, id), Vec::new()));
    let untagged = prop_oneof![extension(), known_block()].prop_map(|block| (block, Vec::new()));
    let block = prop_oneof![4 => call, 4 => result, 1 => answered, 2 => turn, 2 => untagged];
    let more = prop_oneof![
        3 => (0..3u64).prop_map(|n| Tag::new("message", n.to_string())),
        1 => select(vec!["assistant", "system", "developer", "tool"])
            .prop_map(|role| Tag::new("role", role)),
        1 => select(vec!["function", "custom"]).prop_map(|call| Tag::new("call", call)),
        1 => select(vec!["anthropic.part", "openai-chat.part", "anthropic.result", "openai-chat.result"])
            .prop_map(|key| Tag::new(key, r#"{"type": "text", "id": "x", "y": 1}"#)),
    ];
    (block, vec(more, 0..3)).prop_map(|((block, mut tags), more)| {
        tags.extend(more);
        (block, tags)
    })
}

/// Generates the blocks of arbitrary packs, with right or wrong tags.
fn blocks() -> impl Strategy<Value = Vec<Block<'static>>> {
    vec(tagged(), 0..16).prop_map(|tagged| {
        let mut blocks = Vec::new();
        for (block, tags) in tagged {
            let target = blocks.len() as u64;
            blocks.push(block);
            blocks.extend(tags.iter().map(|tag| Block::new(Annotation::tag(target, tag))));
        }
        blocks
    })
}

proptest! {
    #[test]
    fn chat_messages_round_trip(first in text(), steps in vec(chat_step(), 0..6)) {
        let mut messages = vec![json!({"role": "user", "content": first})];
        messages.extend(steps.into_iter().flatten());
        let found = comes_back(Format::OpenAiChat, &Value::from(messages).to_string());
        prop_assert_eq!((found.report.orphans, found.report.unanswered), (0, 0));
        let numbers = found.blocks.iter().filter_map(|block| block.as_annotation()?.as_tag());
        let numbers = numbers.filter(|tag| tag.key == "message").filter_map(|tag| tag.value);
        let seen = numbers.collect::<HashSet<_>>().len() as u64;
        let empty = found.report.skipped.get("empty").copied().unwrap_or(0);
        prop_assert_eq!(seen + empty, found.report.messages);
    }

    #[test]
    fn anthropic_messages_round_trip(whole in anthropic_transcript()) {
        let found = comes_back(Format::Anthropic, &whole.to_string());
        prop_assert_eq!((found.report.orphans, found.report.unanswered), (0, 0));
    }

    #[test]
    fn every_export_is_valid(blocks in blocks(), shown in vec(0..6u8, 64), note in any::<bool>()) {
        let blocks: Vec<_> = blocks.iter().zip(shown).map(|(block, shown)| {
            let shown = match shown {
                0 => ExportDetail::Omitted,
                1 => ExportDetail::Replaced("short".into()),
                _ => ExportDetail::Full,
            };
            ExportBlock { block, detail: shown }
        }).collect();
        for target in Provider::ALL {
            let found = export(target, &blocks, note.then_some("Something is not shown."));
            prop_assert_eq!(valid(target, &found), Ok(()), "{}", found.json);
            prop_assert_eq!(uncounted(target, &found), None, "{}", found.json);
            for message in &found.messages {
                prop_assert!(message.blocks.iter().all(|index| *index < blocks.len()));
            }
        }
    }
}

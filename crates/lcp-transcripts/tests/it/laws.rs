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
    prop_oneof![
        4 => "[a-zA-Z_]{1,8}",
        1 => Just("two words".to_owned()),
        // Its results get a category.
        1 => Just("grep".to_owned()),
    ]
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

/// Generates the parts of a message to the responses API.
fn input_parts() -> impl Strategy<Value = Value> {
    let part = prop_oneof![
        3 => (text(), any::<bool>())
            .prop_map(|(text, more)| extra(json!({"type": "input_text", "text": text}), more)),
        1 => select(vec![
            json!({"type": "input_image", "image_url": "data:image/gif;base64,AAEC", "detail": "high"}),
            json!({"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"}),
            json!({"type": "input_file", "file_id": "f"}),
        ]),
    ];
    prop_oneof![3 => text().prop_map(Value::from), 1 => vec(part, 1..4).prop_map(Value::from)]
}

/// Generates a valid sequence of items: a message, or reasoning with calls and their results.
fn response_step() -> BoxedStrategy<Vec<Value>> {
    let message = (select(vec!["system", "developer"]), text(), any::<bool>()).prop_map(
        |(role, text, more)| {
            vec![extra(json!({"type": "message", "role": role, "content": text}), more)]
        },
    );
    let question = (input_parts(), any::<bool>())
        .prop_map(|(content, more)| vec![extra(json!({"role": "user", "content": content}), more)]);
    let said = (vec(text(), 1..3), any::<[bool; 3]>()).prop_map(|(texts, [id, cites, refuses])| {
        if !id {
            return vec![json!({"role": "assistant", "content": texts[0], "phase": "commentary"})];
        }
        let annotations = if cites { json!([{"type": "url_citation", "url": "u"}]) } else { json!([]) };
        let part = |text| json!({"type": "output_text", "text": text, "annotations": annotations});
        let mut parts: Vec<_> = texts.into_iter().map(part).collect();
        if refuses {
            parts.push(json!({"type": "refusal", "refusal": "No."}));
        }
        vec![
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}),
        ]
    });
    let call = (name(), any_text(), any_text(), any::<[bool; 3]>());
    let calls = (vec(call, 1..4), shuffle(), any::<bool>()).prop_map(|(calls, order, waits)| {
        let (mut items, mut outputs) = (Vec::new(), Vec::new());
        for (at, (name, arguments, result, [custom, more, listed])) in calls.into_iter().enumerate()
        {
            let id = format!("call_{at}");
            let (call, output, key) = if custom {
                ("custom_tool_call", "custom_tool_call_output", "input")
            } else {
                ("function_call", "function_call_output", "arguments")
            };
            items.push(extra(
                json!({"type": call, "call_id": id, "id": "fc_1", "name": name, key: arguments}),
                more,
            ));
            let content = if listed {
                json!([{"type": "input_text", "text": result}])
            } else {
                json!(result)
            };
            outputs.push(extra(json!({"type": output, "call_id": id, "output": content}), more));
        }
        if waits {
            items.push(json!({"type": "message", "role": "developer", "content": "Wait."}));
        }
        items.extend(shuffled(&outputs, &order));
        items
    });
    let other = select(vec![
        json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}),
        json!({"type": "compaction", "encrypted_content": "x"}),
    ]);
    let other = other.prop_map(|item| vec![item]);
    prop_oneof![1 => message, 2 => question, 3 => said, 3 => calls, 1 => other].boxed()
}

/// Numbers the ids of calls, which must be unique in an input.
fn number_calls(steps: Vec<Vec<Value>>) -> Vec<Value> {
    let numbered = steps.into_iter().enumerate().flat_map(|(step, mut items)| {
        for item in &mut items {
            if let Some(id) = item.get("call_id").and_then(Value::as_str) {
                item["call_id"] = json!(format!("{id}_{step}"));
            }
        }
        items
    });
    numbered.collect()
}

/// Generates contents of Gemini: parts of the user and of the model, which may call functions, each
/// with the results.
fn gemini_transcript() -> BoxedStrategy<Value> {
    let part = prop_oneof![
        3 => (text(), any::<bool>()).prop_map(|(text, more)| extra(json!({"text": text}), more)),
        1 => select(vec![
            json!({"inlineData": {"mimeType": "image/png", "data": "AAEC"}}),
            json!({"inlineData": {"mimeType": "audio/mp3", "data": "AAEC"}}),
            json!({"fileData": {"mimeType": "image/png", "fileUri": "gs://a"}}),
        ]),
    ];
    let call = (select(vec!["run", "read.file", "a:b"]), any::<u64>(), any_text(), 0..5u8);
    let step = (vec(part, 1..4), text(), vec(call, 0..4), any::<[bool; 3]>(), shuffle());
    (any::<bool>(), vec(step, 1..5))
        .prop_map(|(system, steps)| {
            let (mut contents, mut results) = (Vec::new(), Vec::<Value>::new());
            for (at, (parts, said, calls, [thinks, signs, named], order)) in
                steps.into_iter().enumerate()
            {
                results.extend(parts);
                contents.push(json!({"role": "user", "parts": std::mem::take(&mut results)}));
                let mut parts = Vec::new();
                if thinks {
                    parts.push(json!({"text": said, "thought": true}));
                }
                parts.push(json!({"text": said}));
                if signs {
                    parts.push(json!({"text": "", "thoughtSignature": "c2ln"}));
                }
                for (place, (name, n, text, form)) in calls.into_iter().enumerate() {
                    let mut call = json!({"name": name, "args": {"n": n}});
                    let response = match form {
                        0 => json!({"error": text}),
                        1 => json!({"output": text, "more": [1]}),
                        2 => json!({"result": {"text": text}}),
                        _ => json!({"output": text}),
                    };
                    let mut result = json!({"name": name, "response": response});
                    // Without ids, results have the order of the calls.
                    if named {
                        call["id"] = json!(format!("c{at}_{place}"));
                        result["id"] = call["id"].clone();
                    }
                    if form == 3 {
                        result["parts"] =
                            json!([{"inlineData": {"mimeType": "image/png", "data": "AAEC"}}]);
                        result["willContinue"] = json!(false);
                    }
                    let mut part = json!({"functionCall": call});
                    if signs {
                        part["thoughtSignature"] = json!("c2ln");
                    }
                    parts.push(part);
                    results.push(json!({"functionResponse": result}));
                }
                if named {
                    results = shuffled(&results, &order);
                }
                contents.push(json!({"role": "model", "parts": parts}));
            }
            if !results.is_empty() {
                contents.push(json!({"role": "user", "parts": results}));
            }
            let mut whole = json!({"contents": contents, "tools": [{"googleSearch": {}}]});
            if system {
                whole["systemInstruction"] = json!({"parts": [{"text": "Be kind."}]});
            }
            whole
        })
        .boxed()
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
        r#"{"type": "reasoning", "id": "r", "summary": []}"#,
        r#"{"type": "reasoning", "text": "x"}"#,
        r#"{"type": "refusal", "refusal": "No."}"#,
        r#"{"type": "input_file", "file_id": "f"}"#,
        r#"{"type": "web_search_call", "id": "w", "action": {}, "status": "completed"}"#,
        r#"{"type": "web_search_call"}"#,
        r#"{"type": "shell_call", "call_id": "s", "action": {}}"#,
        r#"{"type": "shell_call_output", "call_id": "s", "output": []}"#,
        r#"{"type": "function_call", "call_id": "a", "name": "n"}"#,
        r#"{"text": "x", "thought": true}"#,
        r#"{"subject": "x"}"#,
        r#"{"fileData": {"fileUri": "x"}}"#,
        r#"{"toolCall": {"id": "s"}}"#,
        r#"{"toolResponse": {"id": "s"}}"#,
        r#"{"functionCall": {"name": "n"}}"#,
    ]);
    let format = select(vec![
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::Gemini,
        Format::Codex,
        Format::GeminiCli,
    ]);
    let name = select(vec!["message", "part", "part", "part", "reasoning", "request"]);
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
        1 => select(vec!["assistant", "system", "developer", "instructions", "tool"])
            .prop_map(|role| Tag::new("role", role)),
        1 => select(vec!["function", "custom", "without-id"]).prop_map(|call| Tag::new("call", call)),
        1 => Just(Tag::new("form", "object")),
        1 => select(vec!["anthropic.part", "openai-chat.part", "anthropic.result", "openai-chat.result",
                "openai-responses.part", "openai-responses.result", "openai-responses.item"])
            .prop_map(|key| Tag::new(key, r#"{"type": "text", "id": "x", "y": 1}"#)),
        1 => select(vec!["gemini.part", "gemini.result"]).prop_map(|key| {
            Tag::new(key, r#"{"thoughtSignature": "s", "functionResponse": {"parts": [], "z": 1}, "y": 1}"#)
        }),
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
    fn responses_items_round_trip(
        instructions in any::<bool>(), first in text(), steps in vec(response_step(), 0..6)
    ) {
        let mut items = vec![json!({"role": "user", "content": first})];
        items.extend(number_calls(steps));
        let mut whole = json!({"model": "m", "input": items});
        if instructions {
            whole["instructions"] = json!("Be brief.");
        }
        let found = comes_back(Format::OpenAiResponses, &whole.to_string());
        prop_assert_eq!((found.report.orphans, found.report.unanswered), (0, 0));
    }

    #[test]
    fn gemini_contents_round_trip(whole in gemini_transcript()) {
        let found = comes_back(Format::Gemini, &whole.to_string());
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
            prop_assert_eq!(valid(target, &found), Ok(()), "{}", found.json());
            prop_assert_eq!(uncounted(target, &found), None, "{}", found.json());
            for message in &found.messages {
                prop_assert!(message.blocks.iter().all(|index| *index < blocks.len()));
            }
        }
    }
}

//! Helpers for the tests: imports, exports, and messages in a normal form.

use std::fmt::Write;

use lcp_transcripts::{
    ExportBlock, ExportResult, Format, ImportResult, Options, Provider, export, import,
};
use lcp_types::{Block, BlockContent, Tag};
use serde_json::{Map, Value, json};

use crate::valid::{keys, valid};

#[track_caller]
pub(crate) fn imported(format: Format, text: &str) -> ImportResult {
    import(format, text.as_bytes(), &Options::default()).expect("a transcript")
}

/// Exports all blocks, and checks that the result is valid.
#[track_caller]
pub(crate) fn exported(target: Provider, blocks: &[Block<'static>]) -> ExportResult {
    let blocks: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
    let exported = export(target, &blocks, None);
    if let Err(wrong) = valid(target, &exported) {
        panic!("{wrong}\n{}", exported.json());
    }
    exported
}

pub(crate) fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

/// Imports and exports a transcript, and checks that the messages are the same.
#[track_caller]
pub(crate) fn comes_back(format: Format, text: &str) -> ImportResult {
    let imported = imported(format, text);
    let target = format.provider().expect("a target");
    let exported = exported(target, &imported.blocks);
    // Invalid tool names are replaced as in the export.
    let text = exported.renamed_tools.iter().fold(text.to_owned(), |text, (name, new)| {
        text.replace(&json!(name).to_string(), &json!(new).to_string())
    });
    let text = text.as_str();
    assert_eq!(normal(target, &value(&exported.json())), normal(target, &value(text)), "{text}");
    imported
}

/// Returns the messages of a list or a request in a normal form. A content of one plain text
/// becomes a string, and null or empty fields are removed, except for content next to calls.
pub(crate) fn normal(target: Provider, whole: &Value) -> Value {
    let (system, list) = keys(target);
    match target {
        Provider::OpenAi | Provider::Anthropic => {}
        Provider::OpenAiResponses => {
            let items = whole.get(list).unwrap_or(whole).as_array().expect("a list");
            let items: Vec<_> = items.iter().filter_map(normal_item).collect();
            return json!({"system": whole.get(system), "items": items});
        }
        Provider::Gemini => {
            let contents = whole.get(list).unwrap_or(whole).as_array().expect("a list");
            return json!({"system": whole.get(system), "contents": normal_contents(contents)});
        }
    }
    let list = whole.get("messages").unwrap_or(whole).as_array().expect("a list");
    let mut messages: Vec<Value> = Vec::new();
    for said in list {
        let mut message = object(said);
        let is_answer = matches!(message["role"].as_str(), Some("tool" | "function"));
        normal_content(&mut message);
        if is_answer {
            message.entry("content").or_insert(json!(""));
        }
        for call in
            message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten()
        {
            let is_custom = call.get("custom").is_some();
            call["type"] = json!(if is_custom { "custom" } else { "function" });
        }
        // Empty content next to calls must be preserved exactly.
        if target == Provider::OpenAi && message["role"] == "assistant" && message.len() > 1 {
            message.entry("content").or_insert(no_content(said));
        }
        // Empty messages are dropped.
        if message.len() > 1 {
            messages.push(Value::Object(message));
        }
    }
    match target {
        Provider::OpenAi => Value::Array(messages),
        Provider::Anthropic => {
            let mut system = Map::new();
            system.insert("content".to_owned(), whole.get("system").cloned().unwrap_or_default());
            normal_content(&mut system);
            json!({"system": system.get("content"), "messages": messages})
        }
        Provider::OpenAiResponses | Provider::Gemini => unreachable!(),
    }
}

/// Returns an item of the responses API in a normal form. A text becomes a list of parts, and values
/// that the API assumes are removed. `None` for messages without content.
fn normal_item(item: &Value) -> Option<Value> {
    let mut item = object(item);
    if item.contains_key("role") {
        item.entry("type").or_insert(json!("message"));
    }
    if item["type"] == "message" && item.get("status") == Some(&json!("completed")) {
        item.remove("status");
    }
    for key in ["content", "output"] {
        let mut parts = match item.remove(key) {
            None => continue,
            Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
            Some(parts) => parts.as_array().cloned().unwrap_or_default(),
        };
        parts.retain(|part| part["text"] != "");
        for part in &mut parts {
            let part = part.as_object_mut().expect("a part");
            if part["type"] == "input_text" || part["type"] == "output_text" {
                part.insert("type".to_owned(), json!("text"));
            }
            part.retain(|key, value| {
                let is_assumed = key == "detail" && value == "auto";
                !(is_assumed || *value == json!([]))
            });
        }
        if !parts.is_empty() {
            item.insert(key.to_owned(), Value::Array(parts));
        }
    }
    let is_empty = item["type"] == "message" && !item.contains_key("content");
    (!is_empty).then_some(Value::Object(item))
}

/// Returns contents of Gemini in a normal form: neighbors of the same role are joined, and empty
/// texts and contents are removed.
fn normal_contents(contents: &[Value]) -> Vec<Value> {
    let mut found: Vec<(String, Vec<Value>)> = Vec::new();
    for content in contents {
        let role = match content["role"].as_str() {
            Some("model") => "model",
            _ => "user",
        };
        let mut parts = content["parts"].as_array().cloned().unwrap_or_default();
        parts.retain(|part| *part != json!({"text": ""}));
        for part in &mut parts {
            if let Some(call) = part.get_mut("functionCall") {
                call.as_object_mut().expect("a call").entry("args").or_insert(json!({}));
            }
        }
        match found.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, joined)) if *last == role => joined.extend(parts),
            _ => found.push((role.to_owned(), parts)),
        }
    }
    found.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

/// Returns a distinct marker for each kind of empty content.
fn no_content(message: &Value) -> Value {
    match message.get("content") {
        None => json!(["absent"]),
        Some(Value::String(_)) => json!(["empty"]),
        Some(_) => json!(["null"]),
    }
}

/// Returns an object without its null fields.
fn object(value: &Value) -> Map<String, Value> {
    let fields = value.as_object().expect("an object").clone();
    fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

fn normal_content(of: &mut Map<String, Value>) {
    let mut parts = match of.remove("content") {
        Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(parts)) => parts,
        Some(other) if !other.is_null() => vec![other],
        _ => Vec::new(),
    };
    parts.retain(|part| part["type"] != "text" || part["text"] != "");
    for part in &mut parts {
        if part["type"] == "tool_result" {
            let mut result = object(part);
            normal_content(&mut result);
            if result.get("is_error") == Some(&json!(false)) {
                result.remove("is_error");
            }
            *part = Value::Object(result);
        }
    }
    let plain = match parts.as_slice() {
        [part]
            if part["type"] == "text" && part.as_object().is_some_and(|part| part.len() == 2) =>
        {
            Some(part["text"].clone())
        }
        _ => None,
    };
    if let Some(content) = plain.or_else(|| (!parts.is_empty()).then_some(Value::Array(parts))) {
        of.insert("content".to_owned(), content);
    }
}

/// Describes each block that is not an annotation in one line.
pub(crate) fn lines(blocks: &[Block<'_>]) -> String {
    let mut lines = String::new();
    for (index, block) in blocks.iter().enumerate() {
        if block.as_annotation().is_some() {
            continue;
        }
        let head = match &block.content {
            BlockContent::Conversation(turn) => match &turn.tool_call_id {
                Some(id) => format!("{} calls {id}", turn.role),
                None => turn.role.to_string(),
            },
            BlockContent::ToolResult(result) => {
                format!("result of {} {}", result.tool_name, result.status)
            }
            BlockContent::Image(image) => {
                format!("{} of {} bytes", image.media_type, image.data.len())
            }
            BlockContent::Extension(extension) => {
                format!("{} {}", extension.namespace, extension.type_name)
            }
            other => other.block_type().to_string(),
        };
        let tags = blocks.iter().filter_map(|other| {
            let annotation = other.as_annotation()?;
            // Every rank is that of the message. See `ranks`.
            let tag = annotation.as_tag().filter(|tag| tag.key != Tag::RANK)?;
            (annotation.target_block_id == index as u64).then(|| tag.to_string())
        });
        let tags: Vec<_> = tags.collect();
        let text = block.content.text().map(|text| text.to_str_lossy()).unwrap_or_default();
        writeln!(lines, "{head}: {text:?} [{}]", tags.join(", ")).expect("a string takes all");
    }
    lines
}

//! Checks that a provider accepts an export, without using the crate's own code.

use std::collections::HashSet;

use lcp_transcripts::{ExportResult, Provider};
use serde_json::Value;

/// Returns the first problem of an export's messages as an error.
pub(crate) fn valid(target: Provider, exported: &ExportResult) -> Result<(), String> {
    let whole: Value = serde_json::from_str(&exported.json()).map_err(|error| error.to_string())?;
    let (system, list) = keys(target);
    let messages = whole[list].as_array().ok_or("no list of messages")?;
    let system = usize::from(whole.get(system).is_some());
    if exported.messages.len() != messages.len() + system {
        return Err(format!("{} messages are counted", exported.messages.len()));
    }
    if messages.is_empty() {
        return Err("no messages".to_owned());
    }
    match target {
        Provider::OpenAi => openai(messages),
        Provider::OpenAiResponses => {
            if whole.get("instructions").is_some_and(|text| text.as_str().is_none_or(str::is_empty))
            {
                return Err("instructions without a text".to_owned());
            }
            responses(messages)
        }
        Provider::Gemini => {
            if let Some(system) = whole.get("systemInstruction") {
                gemini_parts(system, "system", &mut Vec::new())?;
            }
            gemini(messages)
        }
        Provider::Anthropic => {
            if let Some(system) = whole.get("system") {
                check_content(system, false).map_err(|wrong| format!("system: {wrong}"))?;
            }
            anthropic(messages)
        }
    }
}

/// Returns the keys of the system prompt and of the messages of a request.
pub(crate) fn keys(target: Provider) -> (&'static str, &'static str) {
    match target {
        Provider::OpenAi => ("", "messages"),
        Provider::OpenAiResponses => ("instructions", "input"),
        Provider::Anthropic => ("system", "messages"),
        Provider::Gemini => ("systemInstruction", "contents"),
    }
}

/// Checks that content exists: a text, or parts that are not empty.
fn check_content(content: &Value, may_be_empty: bool) -> Result<(), String> {
    match content {
        Value::String(text) if may_be_empty || !text.is_empty() => Ok(()),
        Value::Array(parts) if !parts.is_empty() => {
            for part in parts {
                let kind = part["type"].as_str().ok_or("a part without a type")?;
                let is_empty = part["text"].as_str().is_none_or(str::is_empty);
                if matches!(kind, "text" | "input_text") && is_empty {
                    return Err("an empty text".to_owned());
                }
            }
            Ok(())
        }
        other => Err(format!("content {other}")),
    }
}

/// Returns whether a text consists of letters, digits, `_` and `-`, as ids and names must.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

fn is_name(name: &Value) -> bool {
    name.as_str().is_some_and(|name| is_plain(name) && name.len() <= 64)
}

fn openai(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut function: Option<String> = None;
    for (at, message) in messages.iter().enumerate() {
        let wrong = |what: String| format!("message {at}: {what}");
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(place) = open.iter().position(|open| open == id) else {
                return Err(wrong(format!("answers {id:?}, which is not open")));
            };
            open.remove(place);
            check_content(&message["content"], true).map_err(wrong)?;
            continue;
        }
        if role == "function" {
            if function.take().as_deref() != message["name"].as_str() {
                return Err(wrong("answers another function".to_owned()));
            }
            continue;
        }
        if !open.is_empty() || function.is_some() {
            return Err(wrong(format!("stands before the results of {open:?}")));
        }
        let calls = message["tool_calls"].as_array();
        for call in calls.into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            let kind = call["type"].as_str().unwrap_or_default();
            let is_named = is_name(&call[kind]["name"]);
            let arguments = if kind == "custom" { "input" } else { "arguments" };
            if !is_named
                || !call[kind][arguments].is_string()
                || !(1..=40).contains(&id.chars().count())
                || open.contains(&id)
            {
                return Err(wrong(format!("bad call {call}")));
            }
            open.push(id);
        }
        function = message["function_call"]["name"].as_str().map(str::to_owned);
        if function.is_some() && !is_name(&message["function_call"]["name"]) {
            return Err(wrong(format!("function {function:?}")));
        }
        match role {
            "system" | "developer" | "user" => {
                check_content(&message["content"], false).map_err(wrong)?;
            }
            "assistant" => {
                let is_call = !open.is_empty() || function.is_some();
                let is_said = ["refusal", "audio"].iter().any(|key| !message[*key].is_null());
                let may_be_empty = is_call || is_said;
                if !may_be_empty || !message["content"].is_null() {
                    check_content(&message["content"], may_be_empty).map_err(wrong)?;
                }
            }
            other => return Err(wrong(format!("role {other:?}"))),
        }
    }
    if open.is_empty() && function.is_none() { Ok(()) } else { Err(format!("open: {open:?}")) }
}

/// The types of items of the responses API that have an output, in addition to calls of functions.
const CALLS: [&str; 5] =
    ["apply_patch_call", "computer_call", "program", "shell_call", "tool_search_call"];

fn responses(items: &[Value]) -> Result<(), String> {
    let (mut open, mut ids) = (HashSet::<String>::new(), HashSet::<String>::new());
    let mut thinks = false;
    for (at, item) in items.iter().enumerate() {
        let wrong = |what: String| format!("item {at}: {what}");
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let kind = text("type");
        let is_output = kind.ends_with("_output");
        if thinks && (is_output || kind == "message" && text("role") != "assistant") {
            return Err(wrong("no item of the model follows a thought".to_owned()));
        }
        thinks = kind == "reasoning";
        match (kind.as_str(), text("role").as_str()) {
            ("message", "user" | "system" | "developer") => {
                check_content(&item["content"], false).map_err(wrong)?;
                for part in item["content"].as_array().into_iter().flatten() {
                    if !["input_text", "input_image", "input_file"]
                        .contains(&part["type"].as_str().unwrap_or_default())
                    {
                        return Err(wrong(format!("part {part}")));
                    }
                }
            }
            ("message", "assistant") => match &item["content"] {
                Value::String(text) if !text.is_empty() && item.get("id").is_none() => {}
                Value::Array(parts)
                    if !parts.is_empty()
                        && item["id"].is_string()
                        && item["status"].is_string() =>
                {
                    let is_part = |part: &Value| match part["type"].as_str() {
                        Some("output_text") => part["annotations"].is_array() && part["text"] != "",
                        Some("refusal") => part["refusal"].is_string(),
                        _ => false,
                    };
                    if !parts.iter().all(is_part) {
                        return Err(wrong(format!("content {}", item["content"])));
                    }
                }
                content => return Err(wrong(format!("content {content}"))),
            },
            ("message", role) => return Err(wrong(format!("role {role:?}"))),
            ("function_call" | "custom_tool_call", _) => {
                let arguments = if kind == "function_call" { "arguments" } else { "input" };
                let id = text("call_id");
                let is_id = (1..=64).contains(&id.chars().count()) && ids.insert(id.clone());
                if !is_id || !is_name(&item["name"]) || !item[arguments].is_string() {
                    return Err(wrong(format!("bad call {item}")));
                }
                open.insert(id);
            }
            ("function_call_output" | "custom_tool_call_output", _) => {
                if !open.remove(&text("call_id")) {
                    return Err(wrong(format!("{item} is of no open call")));
                }
                check_content(&item["output"], true).map_err(wrong)?;
            }
            ("mcp_approval_request", _) => {
                open.insert(format!("built-in {}", text("id")));
            }
            ("mcp_approval_response", _)
                if !open.remove(&format!("built-in {}", text("approval_request_id"))) =>
            {
                return Err(wrong(format!("{item} is of no open call")));
            }
            (kind, _) if CALLS.contains(&kind) => {
                open.insert(format!("built-in {}", text("call_id")));
            }
            (_, _) if is_output && !open.remove(&format!("built-in {}", text("call_id"))) => {
                return Err(wrong(format!("{item} is of no open call")));
            }
            ("reasoning", _) if !item["summary"].is_array() => {
                return Err(wrong("reasoning without a summary".to_owned()));
            }
            ("" | "text" | "input_text" | "input_image" | "input_file" | "refusal", _) => {
                return Err(wrong(format!("{item} is no item")));
            }
            _ => {}
        }
    }
    if thinks {
        return Err("the model ends in a thought".to_owned());
    }
    if open.is_empty() { Ok(()) } else { Err(format!("open: {open:?}")) }
}

/// The keys of the data of parts of Gemini.
const DATA: [&str; 9] = [
    "text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode",
    "codeExecutionResult", "toolCall", "toolResponse",
];

fn gemini(contents: &[Value]) -> Result<(), String> {
    let mut open = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let wrong = |what: String| format!("content {at}: {what}");
        let role = content["role"].as_str().unwrap_or_default();
        if role != ["user", "model"][at % 2] {
            return Err(wrong(format!("role {role:?} out of turn")));
        }
        gemini_parts(content, role, &mut open).map_err(wrong)?;
        if role == "user" && !open.is_empty() {
            return Err(wrong(format!("no results of {open:?}")));
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("open: {open:?}")) }
}

/// Checks the parts of a content. `open` has the ids and names of the calls without a result.
fn gemini_parts(content: &Value, role: &str, open: &mut Vec<(Value, Value)>) -> Result<(), String> {
    let parts = content["parts"].as_array().ok_or("no parts")?;
    let mut others = false;
    if parts.is_empty() {
        return Err("no parts".to_owned());
    }
    for part in parts {
        let data: Vec<_> = DATA.iter().filter(|key| part.get(**key).is_some()).collect();
        let [data] = data.as_slice() else { return Err(format!("part {part}")) };
        let inner = &part[**data];
        match (**data, role) {
            ("text", _) if inner != "" || part.get("thoughtSignature").is_some() => others = true,
            ("functionCall", "model") => {
                let name = inner["name"].as_str().unwrap_or_default();
                let is_valid = (1..=64).contains(&name.len())
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
                    && !name.starts_with(|c: char| c.is_ascii_digit() || "-.:".contains(c));
                if !is_valid || !inner["args"].is_object() {
                    return Err(format!("bad call {part}"));
                }
                open.push((inner["id"].clone(), inner["name"].clone()));
            }
            ("functionResponse", "user") => {
                let key = (inner["id"].clone(), inner["name"].clone());
                let Some(place) = open.iter().position(|call| *call == key) else {
                    return Err(format!("{part} is of no open call"));
                };
                if others {
                    return Err("a result behind other parts".to_owned());
                }
                if !inner["response"].is_object() {
                    return Err(format!("bad result {part}"));
                }
                open.remove(place);
            }
            ("inlineData", "user" | "model") => {
                if inner["mimeType"] == "image/gif" || inner["mimeType"] == "image/svg+xml" {
                    return Err(format!("part {part}"));
                }
                others = true;
            }
            ("fileData", "user" | "model") => others = true,
            ("executableCode" | "codeExecutionResult" | "toolCall" | "toolResponse", "model") => {}
            _ => return Err(format!("{part} of {role}")),
        }
        if part.get("thought").is_some() && role != "model" {
            return Err(format!("{part} of {role}"));
        }
    }
    Ok(())
}

/// Fields of Anthropic's responses that are invalid in the messages of a request.
const NOT_OF_MESSAGES: [&str; 6] = ["id", "type", "model", "usage", "stop_reason", "stop_sequence"];

fn anthropic(messages: &[Value]) -> Result<(), String> {
    let (mut open, mut ids) = (Vec::<String>::new(), HashSet::new());
    let mut served = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let wrong = |what: String| format!("message {at}: {what}");
        let role = message["role"].as_str().unwrap_or_default();
        if role != ["user", "assistant"][at % 2] {
            return Err(wrong(format!("role {role:?} out of turn")));
        }
        check_content(&message["content"], false).map_err(wrong)?;
        let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut others = false;
        for part in parts {
            let text = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
            match (text("type").as_str(), role) {
                ("tool_use", "assistant") => {
                    let id = text("id");
                    if !is_plain(&id) || !ids.insert(id.clone()) {
                        return Err(wrong(format!("bad id {id:?}")));
                    }
                    if !part["input"].is_object() || !is_name(&part["name"]) {
                        return Err(wrong(format!("bad call {part}")));
                    }
                    open.push(id);
                }
                ("tool_result", "user") => {
                    let id = text("tool_use_id");
                    let Some(place) = open.iter().position(|open| *open == id) else {
                        return Err(wrong(format!("answers {id:?}, which is not open")));
                    };
                    if others {
                        return Err(wrong("a result behind other parts".to_owned()));
                    }
                    open.remove(place);
                    if let Some(content) = part.get("content") {
                        check_content(content, true).map_err(wrong)?;
                    }
                }
                ("tool_use" | "tool_result", _) => return Err(wrong(format!("{part} of {role}"))),
                (kind, _) if kind.ends_with("_tool_use") => {
                    served.insert(text("id"));
                }
                (kind, _)
                    if kind.ends_with("_tool_result") && !served.remove(&text("tool_use_id")) =>
                {
                    return Err(wrong(format!("{part} has no call")));
                }
                ("thinking" | "redacted_thinking", "user") => {
                    return Err(wrong(format!("{part} of a user")));
                }
                ("image", "assistant") => return Err(wrong("a picture of the model".to_owned())),
                ("text", _) if text("text").trim().is_empty() => {
                    return Err(wrong("a text without a word".to_owned()));
                }
                _ => others = true,
            }
        }
        let last = parts.last().and_then(|last| last["type"].as_str()).unwrap_or_default();
        if role == "assistant" && matches!(last, "thinking" | "redacted_thinking") {
            return Err(wrong("the model ends in a thought".to_owned()));
        }
        if let Some(key) = NOT_OF_MESSAGES.iter().find(|key| message.get(**key).is_some()) {
            return Err(wrong(format!("{key} is of answers")));
        }
        if role == "user" && !open.is_empty() {
            return Err(wrong(format!("no results of {open:?}")));
        }
    }
    let is_done = open.is_empty() && served.is_empty();
    if is_done { Ok(()) } else { Err(format!("open: {open:?} {served:?}")) }
}

/// Returns a text of a message that is missing from the counted texts, if there is one.
pub(crate) fn uncounted(target: Provider, exported: &ExportResult) -> Option<String> {
    let whole: Value = serde_json::from_str(&exported.json()).expect("JSON");
    let (system, list) = keys(target);
    let system = whole.get(system);
    let messages = whole[list].as_array().expect("a list");
    let said = system.into_iter().chain(messages);
    let mut counted = exported.messages.iter();
    said.into_iter().find_map(|message| {
        let text = &counted.next()?.text;
        leaves(message).into_iter().find(|leaf| !text.contains(leaf))
    })
}

/// Keys that define the structure of messages, and the data of pictures.
const FORM: [&str; 17] = [
    "role", "type", "id", "tool_call_id", "tool_use_id", "is_error", "media_type", "data", "url",
    "input", "call_id", "status", "detail", "args", "mimeType", "thoughtSignature", "phase",
];

/// Returns all contents of a value without its structure, as JSON or as text.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| !FORM.contains(&key.as_str()));
            fields.flat_map(|(_, value)| leaves(value)).collect()
        }
        Value::Array(values) => values.iter().flat_map(leaves).collect(),
        Value::String(text) if text.starts_with("data:image/") => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Null => Vec::new(),
        other => vec![other.to_string()],
    }
}

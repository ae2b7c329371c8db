//! Which format an input is in.

use serde_json::value::RawValue;

use crate::json::{self, Document, Fields, Source};
use crate::{Format, codex, mcp};

/// Lines and items that are looked at.
const LOOKED_AT_MAX: usize = 200;

/// The format of a transcript, by its structure: not by a name, and without a model.
///
/// Text that is no JSON is [`Format::Markdown`]. `None` for what is no text, for JSON of
/// another kind and for JSON that cannot be read.
///
/// ```
/// use lcp_convert::{Format, detect};
///
/// let chat = br#"[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"#;
/// assert_eq!(detect(chat), Some(Format::OpenAiChat));
/// assert_eq!(detect(b"## User\n\nhi\n"), Some(Format::Markdown));
/// assert_eq!(detect(b"{}"), None);
/// ```
#[must_use]
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let source = Source::new(bytes).ok()?;
    let text = source.text().trim_start();
    if text.is_empty() || text.contains('\0') {
        return None;
    }
    match source.document() {
        Ok(Document::One(value)) => match json::array(value) {
            Some(list) => of_list(&list, None),
            None => of_object(&Fields::read(value)?),
        },
        Ok(Document::Lines(lines)) => {
            let values = lines.iter().filter_map(|line| line.value.as_ref().ok());
            let objects = values.take(LOOKED_AT_MAX).filter_map(|value| Fields::read(value));
            let mut found = objects.filter_map(|fields| of_object(&fields));
            found.next()
        }
        // What begins as JSON and is none was meant to be.
        Err(_) => (!looks_like_json(text)).then_some(Format::Markdown),
    }
}

fn looks_like_json(text: &str) -> bool {
    let inner = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || inner.is_some_and(|inner| inner.starts_with(['{', '"', ']', '[']))
}

fn of_object(fields: &Fields<'_>) -> Option<Format> {
    let kind = fields.string("type");
    let has = |key: &str| fields.get(key).is_some();
    // An answer of Anthropic's is a message as well.
    let is_item = kind.as_deref() != Some("message")
        || has("payload")
        || of_message(fields) == Some(Format::OpenAiResponses);
    if is_item && codex::is_line(fields) {
        return Some(Format::Codex);
    }
    let is_session =
        ["sessionId", "session_id", "leafUuid", "parentUuid", "uuid"].iter().any(|key| has(key));
    if kind.is_some() && (is_session || kind.as_deref() == Some("file-history-snapshot")) {
        return Some(Format::ClaudeCode);
    }
    let list = |key: &str| fields.get(key).and_then(json::array);
    if let Some(messages) = list("messages") {
        let system = has("system").then_some(Format::Anthropic);
        return of_list(&messages, system.or(Some(Format::OpenAiChat)));
    }
    if has("choices") {
        return Some(Format::OpenAiChat);
    }
    if kind.as_deref() == Some("message") && has("role") {
        return Some(Format::Anthropic);
    }
    if has("jsonrpc") {
        return Some(Format::Mcp);
    }
    if list("output").is_some() || has("input") && (has("model") || list("input").is_some()) {
        return Some(Format::OpenAiResponses);
    }
    if has("role") {
        return Some(of_message(fields).unwrap_or(Format::OpenAiChat));
    }
    if mcp::is_message(fields) {
        return Some(Format::Mcp);
    }
    // Lines of batches.
    ["body", "params", "response"]
        .iter()
        .filter_map(|key| fields.get(key).and_then(Fields::read))
        .find_map(|inner| of_object(&inner))
}

/// The format of a list of messages or items; `else_is` where they do not tell.
fn of_list(list: &[&RawValue], else_is: Option<Format>) -> Option<Format> {
    let objects = || list.iter().take(LOOKED_AT_MAX).filter_map(|value| Fields::read(value));
    let mut is_chat = else_is;
    for fields in objects() {
        let has_role = fields.get("role").is_some();
        if codex::is_line(&fields) && fields.get("payload").is_none() && else_is.is_none() {
            return Some(Format::OpenAiResponses);
        }
        if let Some(found) = of_message(&fields) {
            return Some(found);
        }
        if has_role {
            is_chat = is_chat.or(Some(Format::OpenAiChat));
        } else if mcp::is_message(&fields) {
            return Some(Format::Mcp);
        }
    }
    is_chat
}

/// The format that only this message can be of.
fn of_message(fields: &Fields<'_>) -> Option<Format> {
    let role = fields.string("role")?;
    let is_openai = matches!(role.as_str(), "system" | "developer" | "tool" | "function")
        || ["tool_calls", "function_call", "refusal", "audio"]
            .iter()
            .any(|key| fields.get(key).is_some());
    let parts = fields.get("content").and_then(json::array).unwrap_or_default();
    let kinds = parts.iter().filter_map(|part| Fields::read(part)?.string("type"));
    let mut found = kinds.filter_map(|kind| match kind.as_str() {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document" => {
            Some(Format::Anthropic)
        }
        "input_text" | "output_text" | "input_image" | "input_file" => {
            Some(Format::OpenAiResponses)
        }
        "image_url" | "input_audio" | "refusal" | "file" => Some(Format::OpenAiChat),
        _ => None,
    });
    found.next().or(is_openai.then_some(Format::OpenAiChat))
}

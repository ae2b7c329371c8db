//! Writes messages of the `OpenAI` chat completions API.

use lcp_types::MediaType;
use serde_json::value::RawValue;

use super::openai_content::Content;
use super::turn::{
    Call, CallSyntax, EMPTY_HISTORY_NOTE, Part, PartKind, Speaker, ToolResult, Turn, no_picture,
};
use super::{ExportReport, ExportedMessage, ProviderMessages};
use crate::images;
use crate::raw_json::{self, Fields, Object};

/// Writes the messages.
pub(super) fn write(turns: &[Turn<'_>], report: &mut ExportReport) -> ProviderMessages {
    let mut writer = Writer { report, json: Vec::new(), messages: Vec::new() };
    for turn in turns {
        match turn.speaker {
            Speaker::System | Speaker::Instructions => writer.plain("system", turn),
            Speaker::Developer => writer.plain("developer", turn),
            Speaker::User => writer.plain("user", turn),
            Speaker::Assistant => writer.assistant(turn),
            Speaker::Tool => writer.answers(turn),
        }
    }
    if writer.messages.is_empty() {
        writer.report.inserted += 1;
        writer.plain("user", &Turn::note(Speaker::User, EMPTY_HISTORY_NOTE));
    }
    ProviderMessages { system: None, items: writer.json, messages: writer.messages }
}

struct Writer<'r> {
    report: &'r mut ExportReport,
    json: Vec<String>,
    messages: Vec<ExportedMessage>,
}

impl Writer<'_> {
    /// Writes a message of the user or the system.
    fn plain(&mut self, role: &'static str, turn: &Turn<'_>) {
        let mut content = Content::new("text");
        for part in &turn.parts {
            self.part(&mut content, part, role == "user");
        }
        let Some(json) = content.json() else { return self.report.leave_out_fields(turn) };
        let mut object = Object::default();
        object.text("role", role).raw("content", &json);
        self.push_turn(role, object, turn, content.counted);
    }

    /// Writes a part that is not a call.
    fn part(&mut self, content: &mut Content, part: &Part<'_>, has_pictures: bool) {
        match &part.kind {
            PartKind::Text(text) if text.is_empty() => self.report.empty += 1,
            PartKind::Text(text) => content.text(part, text, part.fields.as_deref()),
            PartKind::Image { media, alt, data } => {
                if let Some(object) = picture(*media, data, part).filter(|_| has_pictures) {
                    return content.object(part, object);
                }
                self.report.leave_out("image");
                content.text(part, &no_picture(alt), None);
            }
            PartKind::Raw(json) => content.raw(part, json),
            PartKind::Call(_) | PartKind::ToolResult(_) => {}
        }
    }

    fn assistant(&mut self, turn: &Turn<'_>) {
        let (mut content, mut calls, mut function) = (Content::new("text"), Vec::new(), None);
        for part in &turn.parts {
            let PartKind::Call(call) = &part.kind else {
                self.part(&mut content, part, false);
                continue;
            };
            content.counted.text.push_str(&call.name);
            content.counted.text.push_str(&call.arguments);
            content.counted.blocks.extend(&part.blocks);
            let object = match call.syntax {
                CallSyntax::Function => function_call(call, part),
                _ => tool_call(call, part),
            };
            content.counted.text.push_str(object.extra());
            match call.syntax {
                CallSyntax::Function => function = Some(object.finish()),
                _ => calls.push(object.finish()),
            }
        }
        // A message with a refusal or audio is valid without content.
        let fields = turn.fields.iter().filter_map(|fields| Fields::parse(&fields.json));
        let is_said = fields
            .into_iter()
            .any(|fields| fields.get("refusal").is_some() || fields.get("audio").is_some());
        let json = content.json();
        if json.is_none() && calls.is_empty() && function.is_none() && !is_said {
            return self.report.leave_out_fields(turn);
        }
        let mut object = Object::default();
        object.text("role", "assistant");
        if let Some(json) = json.as_deref().or_else(|| no_content(turn)) {
            object.raw("content", json);
        }
        if !calls.is_empty() {
            object.raw("tool_calls", &raw_json::list(&calls));
        }
        if let Some(function) = function {
            object.raw("function_call", &function);
        }
        self.push_turn("assistant", object, turn, content.counted);
    }

    /// Writes each result as a message, followed by a user message with their images.
    fn answers(&mut self, turn: &Turn<'_>) {
        let mut pictures = Content::new("text");
        for part in &turn.parts {
            let PartKind::ToolResult(answer) = &part.kind else { continue };
            self.answer(answer, part, &mut pictures);
        }
        let Some(json) = pictures.json() else { return };
        let mut object = Object::default();
        object.text("role", "user").raw("content", &json);
        self.push("user", object, pictures.counted);
    }

    fn answer(&mut self, answer: &ToolResult<'_>, whole: &Part<'_>, pictures: &mut Content) {
        let mut content = Content::new("text");
        for part in &answer.parts {
            match &part.kind {
                PartKind::Image { media, data, .. } if images::mime_type(*media).is_some() => {
                    if let Some(object) = picture(*media, data, part) {
                        pictures.object(part, object);
                    }
                }
                // An empty result of a tool is complete, so it does not count as an omission.
                PartKind::Text(text) if text.is_empty() => {
                    content.counted.blocks.extend(&part.blocks);
                }
                _ => self.part(&mut content, part, false),
            }
        }
        if answer.failed && answer.syntax != CallSyntax::Function {
            self.report.leave_out("is_error");
        }
        let mut object = Object::default();
        let role = if answer.syntax == CallSyntax::Function {
            object.text("role", "function").text("name", &answer.name);
            content.counted.text.push_str(&answer.name);
            "function"
        } else {
            object.text("role", "tool").text("tool_call_id", &answer.id);
            "tool"
        };
        object.raw("content", content.json().as_deref().unwrap_or("\"\""));
        object.all(whole.fields.as_deref());
        self.push(role, object, content.counted);
    }

    /// Writes a message with the extra fields of its turn.
    fn push_turn(
        &mut self,
        role: &'static str,
        mut object: Object,
        turn: &Turn<'_>,
        mut counted: ExportedMessage,
    ) {
        for fields in &turn.fields {
            object.all(Some(&fields.json));
            counted.blocks.push(fields.block);
        }
        self.push(role, object, counted);
    }

    fn push(&mut self, role: &'static str, object: Object, mut counted: ExportedMessage) {
        counted.text.push_str(object.extra());
        self.json.push(object.finish());
        self.messages.push(ExportedMessage { role, ..counted });
    }
}

/// Returns the content field of a message without content: its original value, by default null.
/// `None` if the message had no such field.
fn no_content(turn: &Turn<'_>) -> Option<&'static str> {
    let stood = turn.content.as_deref().and_then(Fields::parse);
    match stood.map(|stood| stood.get("content").map(RawValue::get)) {
        Some(None) => None,
        Some(Some("\"\"")) => Some("\"\""),
        Some(Some(_)) | None => Some("null"),
    }
}

fn tool_call(call: &Call<'_>, part: &Part<'_>) -> Object {
    let (kind, key) = match call.syntax {
        CallSyntax::Custom => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let mut inner = Object::default();
    inner.text("name", &call.name).text(key, &call.arguments).all(part.field(kind).as_deref());
    let mut object = Object::default();
    object.text("id", &call.id).text("type", kind).object(kind, inner);
    object.all(part.fields.as_deref());
    object
}

fn function_call(call: &Call<'_>, part: &Part<'_>) -> Object {
    let mut object = Object::default();
    object.text("name", &call.name).text("arguments", &call.arguments);
    object.all(part.fields.as_deref());
    object
}

/// Returns an image as a part of a user message.
fn picture(media: MediaType, data: &[u8], part: &Part<'_>) -> Option<Object> {
    let uri = format!("data:{};base64,{}", images::mime_type(media)?, images::encode(data));
    let mut inner = Object::default();
    inner.text("url", &uri).all(part.field("image_url").as_deref());
    let mut object = Object::default();
    object.text("type", "image_url").object("image_url", inner);
    object.all(part.fields.as_deref());
    Some(object)
}

//! Writes messages of Anthropic.

use super::turn::{
    CUT_HISTORY_NOTE, Call, EMPTY_HISTORY_NOTE, Part, PartKind, Speaker, ToolResult, Turn,
    no_picture,
};
use super::{ExportReport, ExportedMessage, ProviderMessages};
use crate::images;
use crate::raw_json::{self, Fields, Object};

const ASSISTANT: &str = "assistant";

/// The type under which the report counts omitted thinking.
const THINKING: &str = "thinking";

/// Writes the system prompt and the messages.
pub(super) fn write(turns: &[Turn<'_>], report: &mut ExportReport) -> ProviderMessages {
    let mut writer = Writer { report };
    let (mut system, mut messages) = (Message::new("system"), Vec::<Message>::new());
    for turn in turns {
        let parts = writer.parts(turn);
        if turn.speaker.is_system() || parts.is_empty() {
            writer.report.leave_out_fields(turn);
            system.parts.extend(parts);
            continue;
        }
        let mut message = Message::new(role(turn.speaker));
        message.parts = parts;
        message.fields.extend(turn.fields.iter().map(|of| (of.block, of.json.to_string())));
        add(&mut messages, message);
    }
    let mut messages = writer.without_last_thoughts(messages);
    if messages.first().is_none_or(|first| first.role == ASSISTANT) {
        writer.report.inserted += 1;
        let text = if messages.is_empty() { EMPTY_HISTORY_NOTE } else { CUT_HISTORY_NOTE };
        let mut first = Message::new("user");
        first.parts.push(WrittenPart::text(&[], text, None));
        messages.insert(0, first);
    }
    let mut counted = Vec::new();
    let system_json = content(&system.parts);
    if system_json.is_some() {
        counted.push(system.write().1);
    }
    let (items, of_messages): (Vec<_>, Vec<_>) = messages.into_iter().map(Message::write).unzip();
    counted.extend(of_messages);
    ProviderMessages { system: system_json, items, messages: counted }
}

const fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Assistant => ASSISTANT,
        _ => "user",
    }
}

/// Adds a message, or merges it into the previous message if both have the same role.
fn add(messages: &mut Vec<Message>, message: Message) {
    match messages.last_mut() {
        Some(last) if last.role == message.role => {
            last.parts.extend(message.parts);
            last.fields.extend(message.fields);
        }
        _ => messages.push(message),
    }
}

/// A part as JSON, with its text to count.
struct WrittenPart {
    json: String,
    text: String,
    /// `true` if the part is a text without further fields.
    plain: bool,
    /// `true` if the part is thinking of the model.
    thought: bool,
    blocks: Vec<usize>,
}

impl WrittenPart {
    fn text(blocks: &[usize], text: &str, fields: Option<&str>) -> Self {
        let mut object = Object::default();
        object.text("type", "text").text("text", text).all(fields);
        Self { plain: fields.is_none(), ..Self::object(blocks, text, object) }
    }

    fn object(blocks: &[usize], text: &str, object: Object) -> Self {
        let text = format!("{text}{}", object.extra());
        let blocks = blocks.to_vec();
        Self { json: object.finish(), text, plain: false, thought: false, blocks }
    }

    fn raw(blocks: &[usize], json: &str) -> Self {
        let kind = Fields::parse(json).and_then(|fields| fields.string("type"));
        let thought = matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"));
        let (json, text, blocks) = (json.to_owned(), json.to_owned(), blocks.to_vec());
        Self { json, text, plain: false, thought, blocks }
    }
}

struct Message {
    role: &'static str,
    parts: Vec<WrittenPart>,
    /// The further fields of the message: the index of their block, and a JSON object.
    fields: Vec<(usize, String)>,
}

impl Message {
    const fn new(role: &'static str) -> Self {
        Self { role, parts: Vec::new(), fields: Vec::new() }
    }

    /// Returns the message as JSON, and its text to count.
    fn write(self) -> (String, ExportedMessage) {
        let mut object = Object::default();
        object.text("role", self.role);
        object.raw("content", content(&self.parts).as_deref().unwrap_or("[]"));
        let mut counted = counted(self.role, self.parts);
        for (block, fields) in &self.fields {
            object.all(Some(fields));
            counted.blocks.push(*block);
        }
        counted.text.push_str(object.extra());
        (object.finish(), counted)
    }
}

/// Returns the content of a message: a string for a single plain text, else a list. `None` without
/// parts.
fn content(parts: &[WrittenPart]) -> Option<String> {
    match parts {
        [] => None,
        [only] if only.plain => Some(raw_json::quote(&only.text)),
        parts => Some(raw_json::list(&parts.iter().map(|part| &part.json).collect::<Vec<_>>())),
    }
}

fn counted(role: &'static str, parts: Vec<WrittenPart>) -> ExportedMessage {
    let mut counted = ExportedMessage { role, ..ExportedMessage::default() };
    for part in parts {
        counted.text.push_str(&part.text);
        counted.blocks.extend(part.blocks);
    }
    counted
}

struct Writer<'r> {
    report: &'r mut ExportReport,
}

impl Writer<'_> {
    fn parts(&mut self, turn: &Turn<'_>) -> Vec<WrittenPart> {
        let mut parts = Vec::new();
        for part in &turn.parts {
            match &part.kind {
                PartKind::Call(call) => parts.push(self.call(call, part)),
                PartKind::ToolResult(answer) => parts.push(self.answer(answer, part)),
                _ => parts.extend(self.part(part, turn.speaker)),
            }
        }
        parts
    }

    /// Writes a part that is neither a call nor a result.
    fn part(&mut self, part: &Part<'_>, speaker: Speaker) -> Option<WrittenPart> {
        match &part.kind {
            PartKind::Text(text) if text.trim().is_empty() => {
                self.report.empty += 1;
                None
            }
            PartKind::Text(text) => {
                Some(WrittenPart::text(&part.blocks, text, part.fields.as_deref()))
            }
            PartKind::Image { media, alt, data } => {
                let has_pictures = matches!(speaker, Speaker::User | Speaker::Tool);
                let written = images::mime_type(*media)
                    .filter(|_| has_pictures)
                    .map(|mime| WrittenPart::object(&part.blocks, "", picture(mime, data, part)));
                Some(written.unwrap_or_else(|| {
                    self.report.leave_out("image");
                    WrittenPart::text(&part.blocks, &no_picture(alt), None)
                }))
            }
            PartKind::Raw(json) => {
                let written = WrittenPart::raw(&part.blocks, json);
                // Only the assistant can have thinking.
                let is_taken = !written.thought || speaker == Speaker::Assistant;
                if !is_taken {
                    self.report.leave_out(THINKING);
                }
                is_taken.then_some(written)
            }
            PartKind::Call(_) | PartKind::ToolResult(_) => None,
        }
    }

    fn call(&mut self, call: &Call<'_>, part: &Part<'_>) -> WrittenPart {
        let input = match call.arguments.trim() {
            "" => "{}".to_owned(),
            _ if raw_json::is_json_object(&call.arguments) => call.arguments.to_string(),
            // The API requires an object as input, even if the model wrote something else.
            _ => {
                self.report.leave_out("arguments");
                let mut object = Object::default();
                object.text("arguments", &call.arguments);
                object.finish()
            }
        };
        let text = format!("{}{input}", call.name);
        let mut object = Object::default();
        object.text("type", "tool_use").text("id", &call.id).text("name", &call.name);
        object.raw("input", &input).all(part.fields.as_deref());
        WrittenPart::object(&part.blocks, &text, object)
    }

    fn answer(&mut self, answer: &ToolResult<'_>, whole: &Part<'_>) -> WrittenPart {
        let (mut parts, mut empty) = (Vec::new(), Vec::<usize>::new());
        for part in &answer.parts {
            match &part.kind {
                // An empty result of a tool is complete, so it does not count as an omission.
                PartKind::Text(text) if text.is_empty() => empty.extend(&part.blocks),
                // A text may be blank only if it is the only part.
                PartKind::Text(text) if answer.parts.len() == 1 && part.fields.is_none() => {
                    parts.push(WrittenPart::text(&part.blocks, text, None));
                }
                _ => parts.extend(self.part(part, Speaker::Tool)),
            }
        }
        let mut object = Object::default();
        object.text("type", "tool_result").text("tool_use_id", &answer.id);
        if let Some(json) = content(&parts) {
            object.raw("content", &json);
        }
        if answer.failed {
            object.raw("is_error", "true");
        }
        object.all(whole.fields.as_deref());
        let mut counted = counted("user", parts);
        counted.blocks.extend(empty);
        counted.blocks.sort_unstable();
        WrittenPart::object(&counted.blocks, &counted.text, object)
    }

    /// Removes thinking from the end of messages, and messages that consist only of thinking.
    fn without_last_thoughts(&mut self, messages: Vec<Message>) -> Vec<Message> {
        let mut kept = Vec::with_capacity(messages.len());
        for mut message in messages {
            while message.parts.pop_if(|last| last.thought).is_some() {
                self.report.leave_out(THINKING);
            }
            if !message.parts.is_empty() {
                add(&mut kept, message);
                continue;
            }
            for _ in &message.fields {
                self.report.leave_out("message");
            }
        }
        kept
    }
}

fn picture(mime: &str, data: &[u8], part: &Part<'_>) -> Object {
    let mut source = Object::default();
    source.text("type", "base64").text("media_type", mime);
    source.text("data", &images::encode(data)).all(part.field("source").as_deref());
    let mut object = Object::default();
    object.text("type", "image").object("source", source).all(part.fields.as_deref());
    object
}

//! Messages of Anthropic.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::turn::{Answer, Call, Part, Speaker, Turn, What, no_picture};
use super::{ExportReport, ExportedMessage};
use crate::json::{self, Fields, Object};
use crate::pictures;

/// What the user says where a history would begin with the model.
const BEGINNING: &str = "(The beginning of this conversation is not shown.)";

/// The fields `system` and `messages`, and what is counted of each message.
pub(super) fn write(
    turns: &[Turn<'_>],
    report: &mut ExportReport,
) -> (String, Vec<ExportedMessage>) {
    let mut writer = Writer { report, ids: HashMap::new() };
    let (mut system, mut messages) = (Message::new("system"), Vec::<Message>::new());
    let mut renamed = Vec::new();
    for turn in turns {
        let parts = writer.parts(turn, &mut renamed);
        if turn.speaker.is_system() {
            system.extend(parts);
            continue;
        }
        if parts.is_empty() {
            continue;
        }
        let role = if turn.speaker == Speaker::Assistant { "assistant" } else { "user" };
        if messages.is_empty() && role == "assistant" {
            writer.report.inserted += 1;
            let mut first = Message::new("user");
            first.push(Written::text(&[], BEGINNING, None));
            messages.push(first);
        }
        if messages.last().is_none_or(|last| last.counted.role != role) {
            messages.push(Message::new(role));
        }
        let Some(message) = messages.last_mut() else { continue };
        message.extend(parts);
        message.fields =
            message.fields.take().or_else(|| turn.fields.as_deref().map(str::to_owned));
    }
    let mut object = Object::default();
    let mut counted = Vec::new();
    if let Some(content) = system.content() {
        object.raw("system", &content);
        counted.push(system.counted);
    }
    let json: Vec<_> = messages.iter().filter_map(Message::json).collect();
    object.raw("messages", &json::list(&json));
    counted.extend(messages.into_iter().map(|message| message.counted));
    (object.finish(), counted)
}

/// A part as JSON, and what is counted of it.
struct Written {
    json: String,
    text: String,
    /// Whether it is a text and nothing more.
    plain: bool,
    blocks: Vec<usize>,
}

impl Written {
    fn text(blocks: &[usize], text: &str, fields: Option<&str>) -> Self {
        let mut object = Object::default();
        object.text("type", "text").text("text", text).all(fields);
        let (text, blocks) = (text.to_owned(), blocks.to_vec());
        Self { json: object.finish(), text, plain: fields.is_none(), blocks }
    }
}

struct Message {
    parts: Vec<String>,
    /// The text, where it is the only part and nothing more.
    plain: Option<String>,
    fields: Option<String>,
    counted: ExportedMessage,
}

impl Message {
    fn new(role: &'static str) -> Self {
        let counted = ExportedMessage { role, ..ExportedMessage::default() };
        Self { parts: Vec::new(), plain: None, fields: None, counted }
    }

    fn push(&mut self, part: Written) {
        self.counted.text.push_str(&part.text);
        self.counted.blocks.extend(part.blocks);
        self.plain = (part.plain && self.parts.is_empty()).then_some(part.text);
        self.parts.push(part.json);
    }

    fn extend(&mut self, parts: Vec<Written>) {
        for part in parts {
            self.push(part);
        }
    }

    fn content(&self) -> Option<String> {
        match (&self.plain, self.parts.as_slice()) {
            (_, []) => None,
            (Some(text), [_]) => Some(json::quote(text)),
            (_, parts) => Some(json::list(parts)),
        }
    }

    fn json(&self) -> Option<String> {
        let mut object = Object::default();
        object.text("role", self.counted.role).raw("content", &self.content()?);
        object.all(self.fields.as_deref());
        Some(object.finish())
    }
}

struct Writer<'r> {
    report: &'r mut ExportReport,
    /// The ids of all calls, and how often each was there: it may be only once.
    ids: HashMap<String, u64>,
}

impl Writer<'_> {
    /// The parts of a turn. `renamed` are the ids of the calls of the newest turn that
    /// has any, in their order, as its results take them.
    fn parts(&mut self, turn: &Turn<'_>, renamed: &mut Vec<String>) -> Vec<Written> {
        let mut parts = Vec::new();
        let mut ids = Vec::new();
        let mut answered = std::mem::take(renamed).into_iter();
        for part in &turn.parts {
            match &part.what {
                What::Call(call) => {
                    let id = self.id(&call.id);
                    parts.push(self.call(call, &id, part));
                    ids.push(id);
                }
                What::Answer(answer) => {
                    let id = answered.next().unwrap_or_else(|| answer.id.to_string());
                    parts.push(self.answer(answer, &id, part));
                }
                _ => parts.extend(self.part(part, turn.speaker == Speaker::User)),
            }
        }
        *renamed = ids;
        parts
    }

    /// A part that is neither a call nor a result.
    fn part(&mut self, part: &Part<'_>, has_pictures: bool) -> Option<Written> {
        match &part.what {
            What::Text(text) if text.trim().is_empty() => {
                self.report.empty += 1;
                None
            }
            What::Text(text) => Some(Written::text(&part.blocks, text, part.fields.as_deref())),
            What::Picture { media, alt, data } => {
                let written = pictures::seen(*media).filter(|_| has_pictures).map(|mime| {
                    let json = picture(mime, data, part);
                    Written { json, text: String::new(), plain: false, blocks: part.blocks.clone() }
                });
                Some(written.unwrap_or_else(|| {
                    self.report.leave_out("image");
                    Written::text(&part.blocks, &no_picture(alt), None)
                }))
            }
            What::Raw(json) => Some(Written {
                json: json.to_string(),
                text: json.to_string(),
                plain: false,
                blocks: part.blocks.clone(),
            }),
            What::Call(_) | What::Answer(_) => None,
        }
    }

    fn call(&mut self, call: &Call<'_>, id: &str, part: &Part<'_>) -> Written {
        let input = match call.arguments.trim() {
            "" => "{}".to_owned(),
            _ if json::is_json_object(&call.arguments) => call.arguments.to_string(),
            // An input is an object, whatever the model wrote.
            _ => {
                self.report.leave_out("arguments");
                let mut object = Object::default();
                object.text("arguments", &call.arguments);
                object.finish()
            }
        };
        let text = format!("{}{input}", call.name);
        let mut object = Object::default();
        object.text("type", "tool_use").text("id", id).text("name", &call.name);
        object.raw("input", &input).all(part.fields.as_deref());
        Written { json: object.finish(), text, plain: false, blocks: part.blocks.clone() }
    }

    fn answer(&mut self, answer: &Answer<'_>, id: &str, whole: &Part<'_>) -> Written {
        let mut content = Message::new("user");
        for part in &answer.parts {
            match &part.what {
                // A tool that gave nothing gave nothing: that is not left out.
                What::Text(text) if text.is_empty() => content.counted.blocks.extend(&part.blocks),
                // Only among other parts a text must say something.
                What::Text(text) if answer.parts.len() == 1 && part.fields.is_none() => {
                    content.push(Written::text(&part.blocks, text, None));
                }
                _ => content.extend(self.part(part, true).into_iter().collect()),
            }
        }
        let mut object = Object::default();
        object.text("type", "tool_result").text("tool_use_id", id);
        if let Some(json) = content.content() {
            object.raw("content", &json);
        }
        if answer.failed {
            object.raw("is_error", "true");
        }
        object.all(whole.fields.as_deref());
        let ExportedMessage { text, blocks, .. } = content.counted;
        Written { json: object.finish(), text, plain: false, blocks }
    }

    /// The id as Anthropic takes it: of letters, digits, `_` and `-`, and used once.
    fn id(&mut self, id: &str) -> String {
        let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let plain: String = id.chars().map(|c| if is_taken(c) { c } else { '_' }).collect();
        let mut unique = plain.clone();
        while let Some(times) = self.ids.get_mut(&unique) {
            *times += 1;
            unique = format!("{plain}_{times}");
        }
        self.ids.insert(unique.clone(), 1);
        if unique != id {
            self.report.renamed += 1;
        }
        unique
    }
}

fn picture(mime: &str, data: &[u8], part: &Part<'_>) -> String {
    let fields = part.fields.as_deref();
    let inner = fields.and_then(Fields::parse).and_then(|fields| fields.get("source"));
    let mut source = Object::default();
    source.text("type", "base64").text("media_type", mime);
    source.text("data", &pictures::encode(data)).all(inner.map(RawValue::get));
    let mut object = Object::default();
    object.text("type", "image").raw("source", &source.finish()).all(fields);
    object.finish()
}

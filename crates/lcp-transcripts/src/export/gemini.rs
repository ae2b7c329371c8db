//! Writes contents of Gemini.

use super::turn::{
    CUT_HISTORY_NOTE, Call, CallSyntax, EMPTY_HISTORY_NOTE, Part, PartKind, Speaker, ToolResult,
    Turn, no_picture,
};
use super::{ExportReport, ExportedMessage, ProviderMessages};
use crate::gemini::parts::{RAW_KEYS, THOUGHT};
use crate::images;
use crate::raw_json::{self, Fields, Object};
use lcp_types::MediaType;

const USER: &str = "user";
const MODEL: &str = "model";

/// The keys of parts that have a block type of their own.
const DATA_KEYS: [&str; 3] = ["text", "functionCall", "functionResponse"];

/// The signature that the API accepts for a call of another model.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// Returns whether JSON of this API is a part that has no block type of its own.
pub(super) fn is_raw(json: &str) -> bool {
    let Some(fields) = Fields::parse(json) else { return false };
    let has = |key: &str| fields.get(key).is_some();
    has("text") || RAW_KEYS.iter().any(|(camel, snake)| has(camel) || has(snake))
}

/// Writes the system prompt and the contents. `is_own` is `true` for a history of Gemini, which has
/// signatures of its own.
pub(super) fn write(
    turns: &[Turn<'_>],
    is_own: bool,
    report: &mut ExportReport,
) -> ProviderMessages {
    // The calls from this turn on need a signature. The API checks those after the last question.
    let is_question = |turn: &Turn<'_>| turn.speaker == Speaker::User;
    let signed_from = if is_own {
        turns.len()
    } else {
        turns.iter().rposition(is_question).map_or(0, |at| at + 1)
    };
    let mut writer = Writer { report };
    let (mut system, mut contents) = (Content::new("system"), Vec::<Content>::new());
    for (at, turn) in turns.iter().enumerate() {
        let parts = writer.parts(turn, at >= signed_from);
        if turn.speaker.is_system() || parts.is_empty() {
            writer.report.leave_out_fields(turn);
            system.parts.extend(parts);
            continue;
        }
        let role = if turn.speaker == Speaker::Assistant { MODEL } else { USER };
        let fields = turn.fields.iter().map(|of| (of.block, of.json.to_string()));
        match contents.last_mut() {
            Some(last) if last.role == role => {
                last.parts.extend(parts);
                last.fields.extend(fields);
            }
            _ => contents.push(Content { role, parts, fields: fields.collect() }),
        }
    }
    if contents.first().is_none_or(|first| first.role == MODEL) {
        writer.report.inserted += 1;
        let text = if contents.is_empty() { EMPTY_HISTORY_NOTE } else { CUT_HISTORY_NOTE };
        let parts = vec![WrittenPart::text(&Part::new(PartKind::Text(text.into())), text)];
        contents.insert(0, Content { role: USER, parts, fields: Vec::new() });
    }
    let (mut system_json, mut counted) = (None, Vec::new());
    if !system.parts.is_empty() {
        let (json, of_system) = system.write();
        system_json = Some(raw_json::without(&json, &["role"]));
        counted.push(of_system);
    }
    let (items, of_contents): (Vec<_>, Vec<_>) = contents.into_iter().map(Content::write).unzip();
    counted.extend(of_contents);
    ProviderMessages { system: system_json, items, messages: counted }
}

/// A part as JSON, with its text to count.
struct WrittenPart {
    json: String,
    text: String,
    blocks: Vec<usize>,
}

impl WrittenPart {
    fn new(part: &Part<'_>, text: String, object: Object) -> Self {
        let text = text + object.extra();
        Self { json: object.finish(), text, blocks: part.blocks.clone() }
    }

    fn raw(part: &Part<'_>, json: &str) -> Self {
        Self { json: json.to_owned(), text: json.to_owned(), blocks: part.blocks.clone() }
    }

    fn text(part: &Part<'_>, text: &str) -> Self {
        let mut object = Object::default();
        object.text("text", text).all(extra(part).as_deref());
        Self::new(part, text.to_owned(), object)
    }
}

struct Content {
    role: &'static str,
    parts: Vec<WrittenPart>,
    /// The further fields of the content: the index of their block, and a JSON object.
    fields: Vec<(usize, String)>,
}

impl Content {
    const fn new(role: &'static str) -> Self {
        Self { role, parts: Vec::new(), fields: Vec::new() }
    }

    /// Returns the content as JSON, and its text to count.
    fn write(self) -> (String, ExportedMessage) {
        let json: Vec<_> = self.parts.iter().map(|part| &part.json).collect();
        let mut object = Object::default();
        object.text("role", self.role).raw("parts", &raw_json::list(&json));
        let mut counted = ExportedMessage { role: self.role, ..ExportedMessage::default() };
        for part in self.parts {
            counted.text.push_str(&part.text);
            counted.blocks.extend(part.blocks);
        }
        for (block, fields) in &self.fields {
            object.all(Some(fields));
            counted.blocks.push(*block);
        }
        counted.text.push_str(object.extra());
        (object.finish(), counted)
    }
}

struct Writer<'r> {
    report: &'r mut ExportReport,
}

impl Writer<'_> {
    fn parts(&mut self, turn: &Turn<'_>, is_signed: bool) -> Vec<WrittenPart> {
        let mut parts = Vec::new();
        // The images of results follow all of them.
        let mut pictures = Vec::new();
        let mut is_first = is_signed;
        for part in &turn.parts {
            match &part.kind {
                PartKind::Call(call) => {
                    let signs = std::mem::take(&mut is_first);
                    parts.push(self.call(call, part, signs));
                }
                PartKind::ToolResult(result) => {
                    parts.push(self.result(result, part, &mut pictures));
                }
                _ => parts.extend(self.part(part, turn.speaker)),
            }
        }
        parts.extend(pictures);
        parts
    }

    /// Writes a part that is neither a call nor a result.
    fn part(&mut self, part: &Part<'_>, speaker: Speaker) -> Option<WrittenPart> {
        match &part.kind {
            PartKind::Text(text) if text.is_empty() => {
                self.report.empty += 1;
                None
            }
            PartKind::Text(text) => Some(WrittenPart::text(part, text)),
            PartKind::Image { media, alt, data } => {
                let object = picture(*media, data, part).filter(|_| !speaker.is_system());
                Some(match object {
                    Some(object) => WrittenPart::new(part, String::new(), object),
                    None => self.left_out_picture(part, alt),
                })
            }
            PartKind::Raw(json) => {
                let is_thought = Fields::parse(json).is_some_and(|of| of.get(THOUGHT).is_some());
                // The system has only texts, and only the model has thoughts.
                let is_taken = match speaker {
                    Speaker::Assistant => true,
                    speaker => !is_thought && !speaker.is_system(),
                };
                if !is_taken {
                    self.report.leave_out(if is_thought { THOUGHT } else { "part" });
                    return None;
                }
                Some(WrittenPart::raw(part, json))
            }
            PartKind::Call(_) | PartKind::ToolResult(_) => None,
        }
    }

    fn left_out_picture(&mut self, part: &Part<'_>, alt: &str) -> WrittenPart {
        self.report.leave_out("image");
        let mut object = Object::default();
        object.text("text", &no_picture(alt));
        WrittenPart::new(part, no_picture(alt), object)
    }

    fn call(&mut self, call: &Call<'_>, part: &Part<'_>, is_signed: bool) -> WrittenPart {
        let arguments = match call.arguments.trim() {
            "" => "{}".to_owned(),
            _ if raw_json::is_json_object(&call.arguments) => call.arguments.to_string(),
            // The API requires an object, even if the model wrote something else.
            _ => {
                self.report.leave_out("arguments");
                let mut object = Object::default();
                object.text("arguments", &call.arguments);
                object.finish()
            }
        };
        let mut inner = Object::default();
        if call.syntax != CallSyntax::WithoutId {
            inner.text("id", &call.id);
        }
        inner.text("name", &call.name).raw("args", &arguments);
        inner.all(part.field("functionCall").as_deref());
        let mut object = Object::default();
        object.object("functionCall", inner).all(extra(part).as_deref());
        if is_signed {
            object.text("thoughtSignature", FOREIGN_SIGNATURE);
        }
        WrittenPart::new(part, format!("{}{arguments}", call.name), object)
    }

    fn result(
        &mut self,
        result: &ToolResult<'_>,
        whole: &Part<'_>,
        pictures: &mut Vec<WrittenPart>,
    ) -> WrittenPart {
        let fields = whole.field("functionResponse");
        let has_parts = fields.as_deref().and_then(Fields::parse).is_some_and(|of| of.has("parts"));
        let (mut texts, mut inner_parts) = (Vec::new(), Vec::new());
        let mut blocks = Vec::new();
        for part in &result.parts {
            match &part.kind {
                PartKind::Text(text) => texts.push(text.as_ref()),
                PartKind::Image { media, alt, data } => match picture(*media, data, part) {
                    Some(object) if has_parts => {
                        inner_parts.push(WrittenPart::new(part, String::new(), object));
                    }
                    Some(object) => {
                        pictures.push(WrittenPart::new(part, String::new(), object));
                        continue;
                    }
                    None => {
                        pictures.push(self.left_out_picture(part, alt));
                        continue;
                    }
                },
                PartKind::Raw(json) if has_parts => {
                    inner_parts.push(WrittenPart::raw(part, json));
                }
                PartKind::Raw(_) => self.report.leave_out("part"),
                PartKind::Call(_) | PartKind::ToolResult(_) => {}
            }
            blocks.extend(&part.blocks);
        }
        let text = texts.join("\n");
        let mut response = Object::default();
        response.text(if result.failed { "error" } else { "output" }, &text);
        let mut response = response.finish();
        if result.is_object && raw_json::is_json_object(&text) {
            response.clone_from(&text);
        }
        let mut inner = Object::default();
        if result.syntax != CallSyntax::WithoutId {
            inner.text("id", &result.id);
        }
        inner.text("name", &result.name).raw("response", &response);
        let (json, of_parts): (Vec<_>, Vec<_>) =
            inner_parts.into_iter().map(|part| (part.json, part.text)).unzip();
        if !json.is_empty() {
            inner.raw("parts", &raw_json::list(&json));
        }
        inner.all(fields.map(|json| raw_json::without(&json, &["parts"])).as_deref());
        let mut object = Object::default();
        object.object("functionResponse", inner).all(extra(whole).as_deref());
        let text = [&*result.name, &text, &of_parts.concat()].concat();
        WrittenPart { blocks, ..WrittenPart::new(whole, text, object) }
    }
}

/// Returns the extra fields of a part, without those that hold its data.
fn extra(part: &Part<'_>) -> Option<String> {
    let raw_keys = RAW_KEYS.iter().flat_map(|(camel, snake)| [*camel, *snake]);
    let keys: Vec<_> = DATA_KEYS.into_iter().chain(raw_keys).collect();
    part.fields.as_deref().map(|json| raw_json::without(json, &keys))
}

/// Returns an image as a part. `None` for types that the API does not accept.
fn picture(media: MediaType, data: &[u8], part: &Part<'_>) -> Option<Object> {
    let mime = images::mime_type(media).filter(|_| media != MediaType::Gif)?;
    let mut inner = Object::default();
    inner.text("mimeType", mime).text("data", &images::encode(data));
    inner.all(part.field("inlineData").as_deref());
    let mut object = Object::default();
    object.object("inlineData", inner).all(extra(part).as_deref());
    Some(object)
}

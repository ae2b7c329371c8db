//! Writes items of the `OpenAI` responses API.

use super::openai_content::Content;
use super::turn::{
    Call, CallSyntax, EMPTY_HISTORY_NOTE, Part, PartKind, Speaker, ToolResult, Turn, no_picture,
};
use super::{ExportReport, ExportedMessage, ProviderMessages};
use crate::images;
use crate::raw_json::{self, Fields, Object};
use lcp_types::MediaType;

/// The type of items that hold thoughts of the model.
pub(super) const REASONING: &str = "reasoning";

/// The types of items that are written as they were read, with the fields that they must have.
const ITEMS: [(&str, &[&str]); 23] = [
    ("additional_tools", &["role", "tools"]),
    ("apply_patch_call", &["call_id", "operation", "status"]),
    ("apply_patch_call_output", &["call_id", "status"]),
    ("code_interpreter_call", &["id", "code", "container_id", "outputs", "status"]),
    ("compaction", &["encrypted_content"]),
    ("computer_call", &["id", "call_id", "pending_safety_checks", "status"]),
    ("computer_call_output", &["call_id", "output"]),
    ("configuration_update", &[]),
    ("file_search_call", &["id", "queries", "status"]),
    ("image_generation_call", &["id", "result", "status"]),
    ("item_reference", &["id"]),
    ("mcp_approval_request", &["id", "arguments", "name", "server_label"]),
    ("mcp_approval_response", &["approval_request_id", "approve"]),
    ("mcp_call", &["id", "arguments", "name", "server_label"]),
    ("mcp_list_tools", &["id", "server_label", "tools"]),
    ("program", &["id", "call_id", "code", "fingerprint"]),
    ("program_output", &["id", "call_id", "result", "status"]),
    // Old rollouts and the printed output of Codex have reasoning in another form.
    (REASONING, &["id", "summary"]),
    ("shell_call", &["action", "call_id"]),
    ("shell_call_output", &["call_id", "output"]),
    ("tool_search_call", &["arguments"]),
    ("tool_search_output", &["tools"]),
    ("web_search_call", &["id", "action", "status"]),
];

/// The types of parts of a message or result that are written as they were read.
const PARTS: [&str; 2] = ["input_file", "input_image"];

/// The type of a part in which the model refuses to answer.
const REFUSAL: &str = "refusal";

/// The fields that identify a stored item. They are not counted.
const ID_KEYS: [&str; 2] = ["id", "status"];

/// The prefix of fields that only Codex writes.
const INTERNAL: &str = "internal_";

/// Returns whether JSON of this API is a part or an item that a request can contain.
pub(super) fn is_raw(json: &str) -> bool {
    let Some(fields) = Fields::parse(json) else { return false };
    let kind = fields.string("type").unwrap_or_default();
    match required(&kind) {
        Some(keys) => keys.iter().all(|key| fields.has(key)),
        None => is_part(&kind) || kind == REFUSAL,
    }
}

/// Returns the fields that an item of this type must have.
fn required(kind: &str) -> Option<&'static [&'static str]> {
    ITEMS.iter().find(|(name, _)| *name == kind).map(|(_, keys)| *keys)
}

fn is_part(kind: &str) -> bool {
    PARTS.contains(&kind)
}

/// Writes the instructions and the items.
///
/// With `keeps_ids`, items keep the ids under which the API stores them. An item whose reasoning is
/// left out cannot keep its id, because the API requires both.
pub(super) fn write(
    turns: &[Turn<'_>],
    keeps_ids: bool,
    report: &mut ExportReport,
) -> ProviderMessages {
    let mut writer = Writer { report, keeps_ids, items: Vec::new() };
    let (mut system, mut messages) = (None, Vec::new());
    for (at, turn) in turns.iter().enumerate() {
        match turn.speaker {
            Speaker::Instructions if at == 0 && turn.only_text().is_some() => {
                let text = turn.only_text().unwrap_or_default().to_owned();
                system = Some(raw_json::quote(&text));
                let blocks = turn.parts.iter().flat_map(|part| part.blocks.clone()).collect();
                messages.push(ExportedMessage { role: "system", text, blocks });
            }
            Speaker::System | Speaker::Instructions => writer.message("system", turn),
            Speaker::Developer => writer.message("developer", turn),
            Speaker::User => writer.message("user", turn),
            Speaker::Assistant => writer.assistant(turn),
            Speaker::Tool => writer.results(turn),
        }
    }
    writer.drop_last_thoughts();
    if writer.items.is_empty() {
        writer.report.inserted += 1;
        writer.message("user", &Turn::note(Speaker::User, EMPTY_HISTORY_NOTE));
    }
    let (items, counted): (Vec<_>, Vec<_>) =
        writer.items.into_iter().map(|item| (item.json, item.counted)).unzip();
    messages.extend(counted);
    ProviderMessages { system, items, messages }
}

struct Item {
    json: String,
    counted: ExportedMessage,
    kind: ItemKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Reasoning,
    /// Any other item that the model wrote.
    Model,
    Other,
}

struct Writer<'r> {
    report: &'r mut ExportReport,
    keeps_ids: bool,
    items: Vec<Item>,
}

impl Writer<'_> {
    /// Writes a message of the user or the system.
    fn message(&mut self, role: &'static str, turn: &Turn<'_>) {
        let mut content = Content::new("input_text");
        for part in &turn.parts {
            match &part.kind {
                // An empty text says nothing.
                PartKind::Text(text) if text.is_empty() => self.report.empty += 1,
                _ => self.part(&mut content, part, role == "user"),
            }
        }
        let Some(json) = content.json() else { return };
        let mut object = Object::default();
        object.text("type", "message").text("role", role).raw("content", &json);
        self.add_fields(&mut object, turn.item.as_deref());
        self.push(role, object, content.counted, ItemKind::Other);
    }

    /// Writes a part of a message or result that is not from the model.
    fn part(&mut self, content: &mut Content, part: &Part<'_>, has_pictures: bool) {
        match &part.kind {
            PartKind::Text(text) => content.text(part, text, part.fields.as_deref()),
            PartKind::Image { media, alt, data } => {
                if let Some(object) = picture(*media, data, part).filter(|_| has_pictures) {
                    return content.object(part, object);
                }
                self.report.leave_out("image");
                content.text(part, &no_picture(alt), None);
            }
            PartKind::Raw(json) if has_pictures && is_part(&kind(json)) => {
                content.raw(part, json);
            }
            PartKind::Raw(json) => self.report.leave_out(&kind(json)),
            PartKind::Call(_) | PartKind::ToolResult(_) => {}
        }
    }

    /// Writes a turn of the model: texts, calls and other items, in order.
    fn assistant(&mut self, turn: &Turn<'_>) {
        let mut said = Vec::new();
        for part in &turn.parts {
            match &part.kind {
                PartKind::Text(text) if text.is_empty() => self.report.empty += 1,
                PartKind::Text(_) => said.push(part),
                PartKind::Raw(json) if kind(json) == REFUSAL => said.push(part),
                PartKind::Image { alt, .. } => {
                    self.report.leave_out("image");
                    self.push_turn_parts(turn, &std::mem::take(&mut said));
                    self.plain(turn, part, &no_picture(alt));
                }
                _ => {
                    self.push_turn_parts(turn, &std::mem::take(&mut said));
                    self.item(part);
                }
            }
        }
        self.push_turn_parts(turn, &said);
    }

    /// Writes texts of the model: as one message if it has an id, else as a message each.
    fn push_turn_parts(&mut self, turn: &Turn<'_>, parts: &[&Part<'_>]) {
        let item = turn.item.as_deref().and_then(Fields::parse).unwrap_or_default();
        if parts.is_empty() {
            return;
        }
        if item.get("id").is_none() || !self.keeps_ids {
            for part in parts {
                match &part.kind {
                    PartKind::Text(text) => self.plain(turn, part, text),
                    _ => self.report.leave_out(REFUSAL),
                }
            }
            return;
        }
        let mut content = Content::new("input_text");
        for part in parts {
            match &part.kind {
                PartKind::Text(text) => {
                    let mut object = Object::default();
                    object.text("type", "output_text").text("text", text);
                    object.all(part.fields.as_deref()).raw_if_missing("annotations", "[]");
                    content.counted.text.push_str(text);
                    content.object(part, object);
                }
                PartKind::Raw(json) => content.raw(part, json),
                _ => {}
            }
        }
        let mut object = Object::default();
        object.text("type", "message").text("role", "assistant");
        object.raw("content", content.json().as_deref().unwrap_or("[]"));
        self.add_fields(&mut object, turn.item.as_deref());
        object.raw_if_missing("status", "\"completed\"");
        self.push("assistant", object, content.counted, ItemKind::Model);
    }

    /// Writes a text of the model as a message without an id.
    fn plain(&mut self, turn: &Turn<'_>, part: &Part<'_>, text: &str) {
        let mut object = Object::default();
        object.text("type", "message").text("role", "assistant").text("content", text);
        let phase = turn.item.as_deref().and_then(Fields::parse);
        if let Some(phase) = phase.and_then(|item| item.get("phase")) {
            object.raw("phase", phase.get());
        }
        let counted = ExportedMessage { text: text.to_owned(), ..counted(part) };
        self.push("assistant", object, counted, ItemKind::Model);
    }

    /// Writes a part of the model that is an item of its own.
    fn item(&mut self, part: &Part<'_>) {
        match &part.kind {
            PartKind::Call(call) => self.call(call, part),
            PartKind::Raw(json) if is_part(&kind(json)) => self.report.leave_out(&kind(json)),
            PartKind::Raw(json) => {
                let kind = kind(json);
                let mut object = Object::default();
                // Optional fields that are null and fields that only Codex writes are left out.
                for (key, value) in Fields::parse(json).unwrap_or_default().rest() {
                    if !key.starts_with(INTERNAL) {
                        object.raw(key, value.get());
                    }
                }
                for key in required(&kind).unwrap_or_default() {
                    object.raw_if_missing(key, "null");
                }
                let text = object.finish();
                let item_kind = match kind.as_str() {
                    REASONING => ItemKind::Reasoning,
                    _ if kind.ends_with("_output") => ItemKind::Other,
                    _ => ItemKind::Model,
                };
                let counted =
                    ExportedMessage { role: "assistant", text: text.clone(), ..counted(part) };
                self.items.push(Item { json: text, counted, kind: item_kind });
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Call<'_>, part: &Part<'_>) {
        let (kind, key) = match call.syntax {
            CallSyntax::Custom => ("custom_tool_call", "input"),
            _ => ("function_call", "arguments"),
        };
        let mut object = Object::default();
        object.text("type", kind).text("call_id", &call.id).text("name", &call.name);
        object.text(key, &call.arguments);
        self.add_fields(&mut object, part.fields.as_deref());
        let text = format!("{}{}", call.name, call.arguments);
        let counted = ExportedMessage { text, ..counted(part) };
        self.push("assistant", object, counted, ItemKind::Model);
    }

    fn results(&mut self, turn: &Turn<'_>) {
        for part in &turn.parts {
            if let PartKind::ToolResult(result) = &part.kind {
                self.result(result, part);
            }
        }
    }

    fn result(&mut self, result: &ToolResult<'_>, whole: &Part<'_>) {
        let mut content = Content::new("input_text");
        for part in &result.parts {
            match &part.kind {
                // An empty result of a tool is complete, so it does not count as an omission.
                PartKind::Text(text) if text.is_empty() => {
                    content.counted.blocks.extend(&part.blocks);
                }
                _ => self.part(&mut content, part, true),
            }
        }
        if result.failed {
            self.report.leave_out("is_error");
        }
        let kind = match result.syntax {
            CallSyntax::Custom => "custom_tool_call_output",
            _ => "function_call_output",
        };
        let mut object = Object::default();
        object.text("type", kind).text("call_id", &result.id);
        object.raw("output", content.json().as_deref().unwrap_or("\"\""));
        self.add_fields(&mut object, whole.fields.as_deref());
        self.push("tool", object, content.counted, ItemKind::Other);
    }

    /// Adds the fields of an item that its block cannot hold.
    fn add_fields(&self, object: &mut Object, fields: Option<&str>) {
        let fields = fields.and_then(Fields::parse).unwrap_or_default();
        let mut extra = Object::default();
        for (key, value) in fields.rest() {
            if ID_KEYS.contains(&key) {
                if self.keeps_ids {
                    object.raw(key, value.get());
                }
            } else if !key.starts_with(INTERNAL) {
                extra.raw(key, value.get());
            }
        }
        object.all(extra.finish_some().as_deref());
    }

    fn push(
        &mut self,
        role: &'static str,
        object: Object,
        mut counted: ExportedMessage,
        kind: ItemKind,
    ) {
        counted.role = role;
        counted.text.push_str(object.extra());
        self.items.push(Item { json: object.finish(), counted, kind });
    }

    /// Removes reasoning that is not directly before another item of the model.
    fn drop_last_thoughts(&mut self) {
        let mut kept = Vec::with_capacity(self.items.len());
        let mut next = ItemKind::Other;
        for item in std::mem::take(&mut self.items).into_iter().rev() {
            if item.kind == ItemKind::Reasoning && next == ItemKind::Other {
                self.report.leave_out(REASONING);
                continue;
            }
            next = item.kind;
            kept.push(item);
        }
        kept.reverse();
        self.items = kept;
    }
}

fn kind(json: &str) -> String {
    Fields::parse(json).and_then(|fields| fields.string("type")).unwrap_or_default()
}

fn counted(part: &Part<'_>) -> ExportedMessage {
    ExportedMessage { blocks: part.blocks.clone(), ..ExportedMessage::default() }
}

/// Returns an image as a part of a message or result.
fn picture(media: MediaType, data: &[u8], part: &Part<'_>) -> Option<Object> {
    let uri = format!("data:{};base64,{}", images::mime_type(media)?, images::encode(data));
    let mut object = Object::default();
    object.text("type", "input_image").text("image_url", &uri);
    object.all(part.fields.as_deref());
    object.raw_if_missing("detail", "\"auto\"");
    Some(object)
}

//! Reads sessions of Gemini CLI, which contain parts of Gemini, and its output in the format
//! `stream-json`.
//!
//! A session is a list of records, one per line. A record with the id of an earlier one replaces it,
//! and some records change several messages at once. Older versions write one JSON object.

mod stream;

use std::collections::{HashMap, HashSet};

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::gemini::parts;
use crate::raw_json::{self, Fields, Line, Object};
use crate::{Format, ImportResult, Result, reader};

/// The keys of a record that changes the session, and of one that takes messages back.
const SET: &str = "$set";
const REWIND: &str = "$rewindTo";

/// The fields of a message or call that hold its content.
const CONTENT_KEYS: [&str; 8] =
    ["id", "type", "content", "thoughts", "toolCalls", "name", "args", "result"];

/// The fields that say how the program displays a message or call, some with a copy of a file.
const DISPLAY_KEYS: [&str; 5] =
    ["displayContent", "resultDisplay", "description", "displayName", "renderOutputAsMarkdown"];

/// The types under which the report counts messages that the user took back, further versions of a
/// message, and fields for the display.
const REWOUND: &str = "rewound";
const UPDATE: &str = "update";
const DISPLAY: &str = "display";

pub(crate) fn import(bytes: &[u8]) -> Result<ImportResult> {
    let looked_for = "lines with a \"sessionId\" and a \"projectHash\", or messages with an \"id\"";
    reader::import_lines(Format::GeminiCli, looked_for, bytes, |lines| {
        let mut session = Session::new(lines);
        let texts = stream::texts(lines);
        move |builder, value: &RawValue| match Fields::read(value) {
            Some(fields) if stream::is_event(&fields) => {
                stream::event(&texts, builder, fields, value);
                true
            }
            Some(fields) => session.record(builder, fields, value),
            None => {
                builder.push_detached("line", value.get());
                false
            }
        }
    })
}

/// Returns whether a line is a record of a session, other than a message of the user, or the first
/// event of an output.
pub(crate) fn is_line(fields: &Fields<'_>) -> bool {
    let has = |key: &str| fields.get(key).is_some();
    match fields.string("type").as_deref() {
        Some("gemini") => has("id"),
        Some("init") => has("session_id") && has("model") && has("timestamp"),
        Some(_) => false,
        None => has("sessionId") && has("projectHash") || has(SET) || has(REWIND),
    }
}

/// Returns the messages of a record that has several of them.
fn messages<'a>(fields: &Fields<'a>) -> Vec<&'a RawValue> {
    fields.get("messages").and_then(raw_json::array).unwrap_or_default()
}

fn id(value: &RawValue) -> Option<String> {
    Fields::read(value)?.string("id")
}

struct Session {
    /// The newest version of each message by its id. A message is removed when it is imported.
    newest: HashMap<String, String>,
    rewound: HashSet<String>,
    /// The ids of calls that have a result.
    answered: HashSet<String>,
}

impl Session {
    fn new(lines: &[Line<'_>]) -> Self {
        let (mut newest, mut order) = (HashMap::new(), Vec::<String>::new());
        let mut rewound = HashSet::new();
        for value in lines.iter().filter_map(|line| line.value.as_ref().ok()) {
            let Some(fields) = Fields::read(value) else { continue };
            if let Some(first) = fields.string(REWIND) {
                let from = order.iter().position(|id| *id == first).unwrap_or(0);
                rewound.extend(order.drain(from..));
                continue;
            }
            if let Some(id) = fields.string("id") {
                if newest.insert(id.clone(), value.get().to_owned()).is_none() {
                    order.push(id);
                }
                continue;
            }
            // A record with several messages may shorten those that are already known.
            let set = fields.get(SET).and_then(Fields::read);
            for value in messages(&set.unwrap_or(fields)) {
                let Some(id) = id(value) else { continue };
                if !newest.contains_key(&id) {
                    newest.insert(id.clone(), value.get().to_owned());
                    order.push(id);
                }
            }
        }
        Self { newest, rewound, answered: HashSet::new() }
    }

    /// Reads one line. Returns whether it belongs to a session.
    fn record(
        &mut self,
        builder: &mut BlockBuilder,
        mut fields: Fields<'_>,
        value: &RawValue,
    ) -> bool {
        if fields.get(REWIND).is_some() {
            return true;
        }
        if fields.string("id").is_some() {
            return self.message(builder, value);
        }
        let is_ours = is_line(&fields);
        if let Some(set) = fields.get(SET).and_then(Fields::read) {
            fields = set;
        }
        let list = messages(&fields);
        fields.take("messages");
        // The time of the last change is noted after each message.
        let is_note = fields.only().is_some_and(|(key, _)| key == "lastUpdated");
        if let Some(rest) = fields.rest_json().filter(|_| !is_note) {
            builder.push_record("session", &rest);
        }
        for value in list {
            self.message(builder, value);
        }
        is_ours
    }

    /// Adds the newest version of a message, at the position of the first version.
    fn message(&mut self, builder: &mut BlockBuilder, value: &RawValue) -> bool {
        let Some(id) = id(value) else {
            builder.push_detached("message", value.get());
            return false;
        };
        let Some(newest) = self.newest.remove(&id) else {
            builder.skip(UPDATE);
            return true;
        };
        if self.rewound.contains(&id) {
            builder.skip(REWOUND);
            return true;
        }
        let fields = Fields::parse(&newest).unwrap_or_default();
        match fields.string("type").as_deref() {
            Some("user") => self.user(builder, &fields),
            Some("gemini") => self.model(builder, &fields),
            Some(kind) => builder.push_record(kind, &newest),
            None => {
                builder.push_detached("message", &newest);
                return false;
            }
        }
        true
    }

    fn user(&mut self, builder: &mut BlockBuilder, fields: &Fields<'_>) {
        let Some(content) = fields.get("content") else { return };
        let list = raw_json::array(content).unwrap_or_else(|| vec![content]);
        // The message of the model already has the results of its calls.
        let (repeated, list): (Vec<_>, Vec<_>) =
            list.into_iter().partition(|value| self.is_answered(value));
        for _ in &repeated {
            builder.skip("functionResponse");
        }
        if list.is_empty() && !repeated.is_empty() {
            return;
        }
        builder.begin_message(Role::User);
        for value in list {
            parts::part(builder, value);
        }
        note(builder, fields);
    }

    fn is_answered(&self, part: &RawValue) -> bool {
        let of = Fields::read(part).and_then(|part| Fields::read(part.get("functionResponse")?));
        of.and_then(|of| of.string("id")).is_some_and(|id| self.answered.contains(&id))
    }

    fn model(&mut self, builder: &mut BlockBuilder, fields: &Fields<'_>) {
        let list = |key: &str| fields.get(key).and_then(raw_json::array).unwrap_or_default();
        let of_content: Vec<_> = list("content").into_iter().filter_map(Fields::read).collect();
        let has = |key: &str| of_content.iter().any(|part| part.get(key).is_some());
        builder.begin_message(Role::Assistant);
        for thought in list("thoughts").into_iter().filter(|_| !has(parts::THOUGHT)) {
            builder.push_extension(parts::THOUGHT, thought.get());
        }
        if let Some(content) = fields.get("content") {
            parts::content(builder, content);
        }
        note(builder, fields);
        let calls: Vec<_> = list("toolCalls").into_iter().filter_map(Fields::read).collect();
        for call in calls.iter().filter(|_| !has("functionCall")) {
            let of = |key: &str| call.string(key).unwrap_or_default();
            // Older versions write JSON with indentation.
            let arguments = raw_json::compact(call.get("args").map_or("{}", RawValue::get));
            builder.push_call(&of("id"), &of("name"), &arguments);
            note(builder, call);
        }
        if calls.iter().any(|call| call.get("result").is_some()) {
            builder.begin_message(Role::Tool);
        }
        for call in &calls {
            self.result(builder, call);
        }
    }

    fn result(&mut self, builder: &mut BlockBuilder, call: &Fields<'_>) {
        let (Some(result), Some(id)) = (call.get("result"), call.string("id")) else { return };
        let failed = matches!(call.string("status").as_deref(), Some("error" | "cancelled"));
        let status = if failed { Status::Error } else { Status::Ok };
        match (builder.string(result), raw_json::array(result)) {
            (Some(text), _) => builder.push_result(&id, None, status, &text),
            (None, Some(list)) => list.into_iter().for_each(|value| parts::part(builder, value)),
            (None, None) => parts::part(builder, result),
        }
        self.answered.insert(id);
    }
}

/// Tags the last block with the notes of the program about its message or call.
fn note(builder: &mut BlockBuilder, fields: &Fields<'_>) {
    let mut notes = Object::default();
    let mut is_display = false;
    for (key, value) in fields.rest() {
        if DISPLAY_KEYS.contains(&key) {
            is_display = true;
        } else if !CONTENT_KEYS.contains(&key) {
            notes.raw(key, value.get());
        }
    }
    if is_display {
        builder.skip(DISPLAY);
    }
    if let Some(notes) = notes.finish_some()
        && !builder.try_tag_item_fields(&notes)
    {
        builder.skip("notes");
    }
}

//! Reads sessions of Claude Code: JSON lines that contain messages of Anthropic.
//!
//! Streams (`stream-json`) have the same lines. The notes of the program about a message, such as
//! times, paths and costs, become a tag.

mod rewound_turns;

use std::collections::{HashMap, HashSet};

use lcp_types::Role;
use serde_json::value::RawValue;

use crate::anthropic::{RESPONSE_KEYS, parts};
use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields, Line, Object, ParseLine};
use crate::{Format, ImportResult, Options, Result, annotation_keys, reader};

/// The fields that only lines of a session have.
const SESSION_KEYS: [&str; 5] = ["uuid", "sessionId", "session_id", "leafUuid", "messageId"];

/// The fields that hold a result as the program received it. The message contains the result as the
/// model saw it.
const RESULTS: [&str; 2] = ["toolUseResult", "tool_use_result"];

/// The flags of lines that come from the program and not from the user or the model.
const META: [&str; 3] = ["isMeta", "isVisibleInTranscriptOnly", "isApiErrorMessage"];

/// The fields that hold the message or its position in the session. Blocks have a position of their
/// own.
#[rustfmt::skip]
const POSITION_KEYS: [&str; 9] = [
    "type", "message", "uuid", "parentUuid", "logicalParentUuid", "sourceToolAssistantUUID",
    "isSidechain", "agentId", "parent_tool_use_id",
];

/// The type under which the report counts lines of rewound turns.
const REWOUND: &str = "rewound";

/// The type under which the report counts notes that do not fit in a tag.
const NOTES: &str = "notes";

pub(crate) fn import(bytes: &[u8], options: &Options) -> Result<ImportResult> {
    let looked_for = "lines with a \"type\" and a \"uuid\" or a \"sessionId\"";
    reader::import_lines(Format::ClaudeCode, looked_for, bytes, |lines| {
        let mut session = Session::new(lines, options);
        move |builder, line: SessionLine<'_>| session.line(builder, line)
    })
}

/// Returns whether a line comes from the program and not from the user or the model. The summary of a
/// compaction does not, although the program shows it only in the transcript.
fn is_meta(fields: &Fields<'_>) -> bool {
    META.iter().any(|key| is_set(fields, key)) && !is_summary(fields)
}

/// Returns whether a line is the summary of a compaction, with which the conversation goes on.
fn is_summary(fields: &Fields<'_>) -> bool {
    is_set(fields, "isCompactSummary")
}

fn is_set(fields: &Fields<'_>, flag: &str) -> bool {
    fields.get(flag).and_then(raw_json::boolean) == Some(true)
}

/// Returns whether a line is part of a side conversation.
fn is_aside(fields: &Fields<'_>) -> bool {
    is_set(fields, "isSidechain") || fields.get("parent_tool_use_id").is_some()
}

/// The treatment of side conversations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sidechains {
    Skipped,
    Tagged,
    /// Imported as the main conversation, because the file of a subagent contains nothing else.
    Main,
}

/// A line of a session.
struct SessionLine<'a> {
    json: &'a str,
    /// `None` if the line is not an object.
    fields: Option<LineFields<'a>>,
}

/// The fields of a line, and those of its message.
struct LineFields<'a> {
    line: Fields<'a>,
    message: Option<Fields<'a>>,
}

impl<'a> SessionLine<'a> {
    fn new(json: &'a str) -> Self {
        let fields = Fields::parse(json).map(|line| {
            let message = line.get("message").and_then(Fields::read);
            LineFields { line, message }
        });
        Self { json: json.trim(), fields }
    }
}

impl<'a> ParseLine<'a> for SessionLine<'a> {
    fn parse(json: &'a str) -> serde_json::Result<Self> {
        let line = Self::new(json);
        if line.fields.is_none() {
            let _: &RawValue = serde_json::from_str(json)?;
        }
        Ok(line)
    }

    fn from_value(value: &'a RawValue) -> Self {
        Self::new(value.get())
    }
}

struct Session {
    asides: Sidechains,
    /// The ids of the lines of rewound turns.
    rewound: HashSet<String>,
    /// The id and the sidechain of the response that the next line may continue.
    open: Option<(String, Option<String>)>,
    /// The sidechain of each line that has one, by the id of the line.
    sidechains: HashMap<String, String>,
    /// The notes of lines.
    line_notes: Notes,
    /// The notes of messages.
    message_notes: Notes,
}

/// The newest value of each note, by its key.
#[derive(Default)]
struct Notes(HashMap<String, String>);

impl Notes {
    /// Stores a note. Returns whether its value differs from the previous value.
    fn update(&mut self, key: &str, value: &RawValue) -> bool {
        let value = value.get();
        match self.0.get_mut(key) {
            Some(known) if known == value => return false,
            Some(known) => value.clone_into(known),
            None => drop(self.0.insert(key.to_owned(), value.to_owned())),
        }
        true
    }
}

impl Session {
    fn new(lines: &[Line<'_, SessionLine<'_>>], options: &Options) -> Self {
        let fields = || lines.iter().filter_map(|line| line.value.as_ref().ok()?.fields.as_ref());
        let has_main = fields().any(|it| it.line.get("message").is_some() && !is_aside(&it.line));
        let asides = match (has_main, options.sidechains) {
            (false, _) => Sidechains::Main,
            (true, true) => Sidechains::Tagged,
            (true, false) => Sidechains::Skipped,
        };
        Self {
            asides,
            rewound: rewound_turns::rewound_ids(fields()),
            open: None,
            sidechains: HashMap::new(),
            line_notes: Notes::default(),
            message_notes: Notes::default(),
        }
    }

    fn line(&mut self, builder: &mut BlockBuilder, line: SessionLine<'_>) -> bool {
        let SessionLine { json, fields } = line;
        let Some(LineFields { line: fields, message }) = fields else {
            builder.push_detached("line", json);
            return false;
        };
        let kind = fields.string("type").unwrap_or_else(|| "line".to_owned());
        let is_meta = is_meta(&fields);
        let is_ours = SESSION_KEYS.iter().any(|key| fields.get(key).is_some());
        if fields.string("uuid").is_some_and(|id| self.rewound.contains(&id)) {
            builder.skip(REWOUND);
            return true;
        }
        let mut sidechain = None;
        if is_aside(&fields) {
            match self.asides {
                Sidechains::Skipped => {
                    builder.skip(annotation_keys::SIDECHAIN);
                    return is_ours;
                }
                Sidechains::Tagged => sidechain = Some(self.sidechain(&fields)),
                Sidechains::Main => {}
            }
        }
        let role = match kind.as_str() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => None,
        };
        if let Some(role) = role.filter(|_| !is_meta)
            && let Some(message) = message
            && let Some(content) = message.get("content")
        {
            self.message(builder, role, sidechain, message, fields.clone());
            let results = RESULTS.iter().filter_map(|key| fields.get(key));
            for result in results {
                if rewound_turns::has_result(content) {
                    builder.skip(RESULTS[0]);
                } else {
                    builder.push_detached(RESULTS[0], result.get());
                }
            }
            return true;
        }
        match fields.string("subtype") {
            // The model sees these messages, too.
            _ if is_meta => builder.push_detached(&format!("{kind}.meta"), json),
            Some(subtype) => builder.push_record(&format!("{kind}.{subtype}"), json),
            None => builder.push_record(&kind, json),
        }
        is_ours
    }

    fn message(
        &mut self,
        builder: &mut BlockBuilder,
        role: Role,
        sidechain: Option<String>,
        mut message: Fields<'_>,
        mut line: Fields<'_>,
    ) {
        let id = message.string("id").filter(|_| role == Role::Assistant);
        let key = id.map(|id| (id, sidechain.clone()));
        let content = message.take("content");
        // Each part of a response has a line of its own.
        if key.is_none() || self.open != key {
            builder.begin_message(role);
            if let Some(sidechain) = sidechain {
                builder.tag_message(annotation_keys::SIDECHAIN, &sidechain);
            }
        }
        self.open = key;
        if let Some(content) = content {
            parts::content(builder, content);
        }
        message.take("role");
        let mut notes = Object::default();
        let mut of_answer = Object::default();
        for key in RESPONSE_KEYS {
            if let Some(value) = message.take(key).filter(|_| key != "type")
                && self.message_notes.update(key, value)
            {
                of_answer.raw(key, value.get());
            }
        }
        for key in POSITION_KEYS.iter().chain(&RESULTS) {
            line.take(key);
        }
        for (key, value) in line.rest() {
            if self.line_notes.update(key, value) {
                notes.raw(key, value.get());
            }
        }
        if let Some(of_answer) = of_answer.finish_some() {
            notes.raw("message", &of_answer);
        }
        if let Some(notes) = notes.finish_some()
            && !builder.try_tag_item_fields(&notes)
        {
            builder.skip(NOTES);
        }
        if let Some(rest) = message.rest_json() {
            builder.push_detached("message", &rest);
        }
    }

    /// Returns the sidechain of a line: the id of its call, its agent or its first line.
    fn sidechain(&mut self, fields: &Fields<'_>) -> String {
        if let Some(call) = fields.string("parent_tool_use_id") {
            return call;
        }
        let own = fields.string("uuid");
        let parent = fields.string("parentUuid");
        let chain = fields
            .string("agentId")
            .or_else(|| self.sidechains.get(&parent?).cloned())
            .or_else(|| own.clone())
            .unwrap_or_default();
        if let Some(own) = own {
            self.sidechains.insert(own, chain.clone());
        }
        chain
    }
}

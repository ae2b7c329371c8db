//! Builds blocks from the parts of messages, with their annotations (RFC 0010 §5.1).

mod calls;

use std::collections::HashMap;

use lcp_types::limits::TEXT_BYTES_MAX;
use lcp_types::{
    Annotation, Block, FormatHint, MediaType, Priority, Role, SessionRecord, Status, Tag,
    escape_for_display,
};
use serde_json::value::RawValue;

use crate::import::{ImportReport, ImportResult};
use crate::raw_json::{self, Fields, LineIndex, Object, Source};
use crate::{Error, Format, annotation_keys, typed_results};
use calls::CallTracker;

/// The maximum length, in bytes, of arguments that a result repeats in its tag `args`. Longer
/// arguments get no tag.
const ARGS_BYTES_MAX: usize = 4096;

/// The maximum length of the type name of an extension, in bytes. Longer names are cut.
const TYPE_NAME_BYTES_MAX: usize = 64;

/// The type under which the report counts messages without content.
const EMPTY: &str = "empty";

/// The annotation that makes a system message critical.
#[derive(Clone, Copy)]
struct PriorityNote {
    /// The index of the block of the message.
    block: usize,
    /// The number of the message.
    message: u64,
    /// The index of the annotation.
    index: usize,
}

/// Makes the blocks of a transcript, part by part.
pub(crate) struct BlockBuilder {
    format: Format,
    blocks: Vec<Block<'static>>,
    report: ImportReport,
    /// The number of the current message.
    message: Option<u64>,
    role: Role,
    /// The index of the first block of the message.
    first: Option<usize>,
    /// The tags for all blocks of the message.
    tags: Vec<(String, String)>,
    /// The priorities of system messages, by their texts.
    system_priorities: HashMap<String, PriorityNote>,
    lines: LineIndex,
    line: Option<usize>,
    calls: CallTracker,
    /// The index of the block that new annotations refer to.
    last: usize,
    /// The index of the first block of the newest result.
    result: usize,
}

impl BlockBuilder {
    /// Creates an empty builder. Extensions get the name of the format as their namespace.
    pub(crate) fn new(format: Format, source: &Source<'_>) -> Self {
        Self {
            format,
            lines: source.lines.clone(),
            blocks: Vec::new(),
            report: ImportReport::default(),
            message: None,
            role: Role::User,
            first: None,
            tags: Vec::new(),
            system_priorities: HashMap::new(),
            line: None,
            calls: CallTracker::default(),
            last: 0,
            result: 0,
        }
    }

    /// Sets the line of further warnings to the line of this part of the text.
    pub(crate) fn move_to(&mut self, part: &str) {
        self.line = Some(self.lines.line(part));
    }

    pub(crate) fn begin_message(&mut self, role: Role) {
        self.end_message();
        self.message = Some(self.report.messages);
        self.report.messages += 1;
        self.role = role;
        self.first = None;
        self.tags.clear();
    }

    /// Adds a tag to all further blocks of this message.
    pub(crate) fn tag_message(&mut self, key: &str, value: &str) {
        self.tags.push((key.to_owned(), value.to_owned()));
    }

    /// Adds a text of the message. An empty text is ignored.
    pub(crate) fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(Block::conversation(self.role, text.to_owned()));
        }
    }

    /// Adds a tool call and returns its id. A call without an id gets a new one.
    pub(crate) fn push_call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        if !fits(id) || !fits(name) {
            let mut call = Object::default();
            call.text("id", id).text("name", name).text("arguments", arguments);
            let message = "tool call ID or name is too long; imported as an extension block";
            self.warn(message.to_owned());
            self.push_extension("tool_call", &call.finish());
            return id.to_owned();
        }
        let id = if id.is_empty() { self.calls.new_id() } else { id.to_owned() };
        let plain = !name.is_empty() && !name.contains(' ');
        let text = match (arguments, name) {
            ("", name) => name.to_owned(),
            (arguments, name) => format!("{name} {arguments}"),
        };
        self.push(Block::conversation_with_call(Role::Assistant, text, id.clone()));
        if !plain {
            self.tag(annotation_keys::NAME, name);
        }
        self.report.calls += 1;
        self.calls.record(&id, name, arguments, (self.line, self.message));
        id
    }

    /// Returns the id of the call that a result without an id answers.
    pub(crate) fn open_call(&self, name: Option<&str>) -> Option<String> {
        self.calls.oldest_open(name)
    }

    pub(crate) fn push_result(&mut self, id: &str, name: Option<&str>, status: Status, text: &str) {
        self.begin_result(id, name);
        self.push_result_text(id, name, status, text);
    }

    /// Counts a result. Add its parts afterwards, with [`Self::push_result_text`] and similar
    /// methods.
    pub(crate) fn begin_result(&mut self, id: &str, name: Option<&str>) {
        self.begin_orphan_result(id);
        self.result = self.blocks.len();
        if !self.calls.mark_answered(id) {
            self.report.orphans += 1;
            let of = name.map(|name| format!(" of {}", escape_for_display(name.as_bytes())));
            let (of, id) = (of.unwrap_or_default(), escape_for_display(id.as_bytes()));
            self.warn(format!("tool result{of} for {id} does not match an open tool call"));
        }
    }

    /// Counts a result without looking for its call, as in transcripts that do not record calls.
    /// Add its parts afterwards.
    pub(crate) fn begin_orphan_result(&mut self, id: &str) {
        self.report.results += 1;
        if !fits(id) {
            let message = "tool result ID is too long; imported the ID as an extension block";
            self.warn(message.to_owned());
            self.push_extension(Tag::TOOL_CALL_ID, &raw_json::quote(id));
        }
    }

    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.calls.find(id).is_some()
    }

    /// Counts the previous message as empty if it has no block.
    fn end_message(&mut self) {
        if self.message.is_some() && self.first.is_none() {
            self.skip(EMPTY);
        }
    }

    /// Counts a part that is skipped because it is empty, repeated or not imported.
    pub(crate) fn skip(&mut self, type_name: &str) {
        let type_name = cut(type_name).to_owned();
        *self.report.skipped.entry(type_name).or_default() += 1;
    }

    /// Adds text that is not a message as a DOCUMENT.
    pub(crate) fn push_document(&mut self, title: &str, text: &str) {
        let title = if fits(title) { title } else { "" };
        let (title, text) = (title.to_owned(), text.to_owned());
        self.push(Block::document(title, text, FormatHint::Markdown));
    }

    pub(crate) fn push_result_text(
        &mut self,
        id: &str,
        name: Option<&str>,
        status: Status,
        text: &str,
    ) {
        let known = self.calls.find(id);
        let tool = name.or(known.map(|call| call.name.as_str())).filter(|name| fits(name));
        let arguments = known.map(|call| call.arguments.clone());
        // Only a TOOL_RESULT has a field for a failure.
        if status == Status::Ok
            && let Some((block, form)) = typed_results::block(arguments.as_deref(), text)
        {
            self.push(block);
            self.tag(annotation_keys::FORM, &form);
        } else {
            let tool = tool.unwrap_or_default().to_owned();
            self.push(Block::tool_result(tool, status, text.to_owned()));
        }
        self.tag_as_result_of(id);
        if let Some(arguments) = arguments.filter(|arguments| arguments.len() <= ARGS_BYTES_MAX) {
            self.tag(Tag::ARGS, &arguments);
        }
    }

    /// Tags the last block as a part of the result of this call.
    pub(crate) fn tag_as_result_of(&mut self, id: &str) {
        if !id.is_empty() && fits(id) {
            self.tag(Tag::TOOL_CALL_ID, id);
        }
    }

    pub(crate) fn push_image(&mut self, media: MediaType, alt: &str, data: Vec<u8>) {
        self.push(Block::image(media, alt.to_owned(), data));
        self.tag_role();
        self.report.images += 1;
    }

    /// Adds the JSON of a part of this message that has no block type of its own, unchanged.
    pub(crate) fn push_extension(&mut self, type_name: &str, json: &str) {
        self.extension(type_name, json);
        self.tag_role();
    }

    /// Adds text that does not belong to a message, unchanged.
    pub(crate) fn push_detached(&mut self, type_name: &str, text: &str) {
        let (message, tags) = (self.message.take(), std::mem::take(&mut self.tags));
        self.extension(type_name, text);
        (self.message, self.tags) = (message, tags);
    }

    /// Adds a record that is not part of the conversation, unchanged, as metadata.
    pub(crate) fn push_record(&mut self, type_name: &str, text: &str) {
        let type_name = cut(type_name);
        *self.report.records.entry(type_name.to_owned()).or_default() += 1;
        let record = SessionRecord::new(self.format.name(), type_name, text);
        self.blocks.push(Block::new(record.to_extension()));
    }

    /// Adds the remaining fields of this message, if there are any, as an extension.
    pub(crate) fn push_message_fields(&mut self, json: Option<&str>) {
        if let Some(json) = json {
            self.push_extension("message", json);
        }
    }

    /// Tags the last block of the message with its remaining fields, for fields that a model does
    /// not need. If the message has no block, adds them as an extension.
    pub(crate) fn tag_item_fields(&mut self, json: Option<&str>) {
        if let (Some(json), true) = (json, self.first.is_some()) {
            self.tag(&annotation_keys::format_key(self.format, annotation_keys::ITEM), json);
        } else {
            self.push_message_fields(json);
        }
    }

    /// Tags the last block with notes, a JSON object. Returns `false` if the message has no block
    /// or the notes are too long for a tag.
    pub(crate) fn try_tag_item_fields(&mut self, json: &str) -> bool {
        let fits = self.first.is_some() && fits(json);
        if fits {
            self.tag(&annotation_keys::format_key(self.format, annotation_keys::ITEM), json);
        }
        fits
    }

    /// Tags the first block of this message, if it has one, with a key of this format.
    pub(crate) fn tag_first(&mut self, key: &str, json: &str) {
        if let Some(first) = self.first {
            self.tag_block(first, &annotation_keys::format_key(self.format, key), json);
        }
    }

    /// Tags the last block.
    pub(crate) fn tag(&mut self, key: &str, value: &str) {
        self.tag_block(self.last, key, value);
    }

    fn tag_block(&mut self, block: usize, key: &str, value: &str) {
        self.blocks.push(Block::new(Annotation::tag(block as u64, &Tag::new(key, value))));
    }

    /// Tags the last block with the fields of its part that the block cannot hold.
    pub(crate) fn tag_part_fields(&mut self, json: Option<&str>) {
        if let Some(json) = json {
            self.tag(&annotation_keys::format_key(self.format, annotation_keys::PART), json);
        }
    }

    /// Tags the newest result with its remaining fields, if there are any.
    pub(crate) fn tag_result_fields(&mut self, json: Option<&str>) {
        if let Some(json) = json {
            let key = annotation_keys::format_key(self.format, annotation_keys::RESULT);
            self.tag_block(self.result, &key, json);
        }
    }

    /// Returns the text of a JSON string. Warns if the string contains half of a surrogate pair.
    pub(crate) fn string(&mut self, value: &RawValue) -> Option<String> {
        let (text, is_lossy) = raw_json::string_and_loss(value)?;
        if is_lossy {
            self.warn("replaced an unpaired surrogate with U+FFFD".to_owned());
        }
        Some(text)
    }

    /// Removes the text under a key and returns it. A value of another type stays.
    pub(crate) fn take_text(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<String> {
        let text = self.string(fields.get(key)?)?;
        fields.take(key);
        Some(text)
    }

    /// Adds a line that is not JSON as an extension, with a warning.
    pub(crate) fn push_broken_line(&mut self, text: &str, error: &Error) {
        // The warning has a line number of its own.
        self.warn(Error { line: 0, column: 0, ..error.clone() }.to_string());
        self.push_detached("line", text);
    }

    /// Adds a warning about the current line.
    pub(crate) fn warn(&mut self, message: String) {
        self.report.warn(self.line, message);
    }

    /// Adds a warning about the transcript as a whole.
    pub(crate) fn warn_globally(&mut self, message: String) {
        self.report.warn(None, message);
    }

    /// Returns the number of messages so far.
    pub(crate) const fn message_count(&self) -> u64 {
        self.report.messages
    }

    pub(crate) fn finish(mut self) -> ImportResult {
        self.end_message();
        for (id, line) in self.calls.open() {
            self.report.unanswered += 1;
            let shown = escape_for_display(id.as_bytes());
            self.report.warn(line, format!("tool call {shown} has no result"));
        }
        ImportResult { blocks: self.blocks, report: self.report }
    }

    fn extension(&mut self, type_name: &str, content: &str) {
        let type_name = cut(type_name).to_owned();
        *self.report.unknown.entry(type_name.clone()).or_default() += 1;
        self.push(Block::extension(self.format.name(), type_name, content.to_owned()));
        if !self.is_aside() {
            self.priority(Priority::Low);
        }
    }

    fn push(&mut self, block: Block<'static>) {
        let is_critical = self.role == Role::System && !self.is_aside();
        let text = block.content.text().filter(|_| is_critical);
        let text = text.map(|text| text.to_str_lossy().into_owned());
        self.last = self.blocks.len();
        self.blocks.push(block);
        if let Some(message) = self.message {
            self.first.get_or_insert(self.last);
            let number = message.to_string();
            self.tag(annotation_keys::MESSAGE, &number);
            // The position of a critical message does not affect its rank.
            if !is_critical {
                self.tag(Tag::RANK, &number);
            }
        }
        for (key, value) in std::mem::take(&mut self.tags) {
            self.tag(&key, &value);
            self.tags.push((key, value));
        }
        if self.is_aside() {
            self.priority(Priority::Low);
        } else if is_critical {
            self.replace_system_text(text);
            self.priority(Priority::Critical);
        }
    }

    /// Makes the last block replace an earlier system message with the same text as the critical one.
    /// Codex repeats such messages. The earlier one gets the rank of a normal message.
    fn replace_system_text(&mut self, text: Option<String>) {
        let (Some(text), Some(message)) = (text, self.message) else { return };
        let note = PriorityNote { block: self.last, message, index: self.blocks.len() };
        if let Some(PriorityNote { block, message, index }) =
            self.system_priorities.insert(text, note)
        {
            let rank = Tag::new(Tag::RANK, message.to_string());
            self.blocks[index] = Block::new(Annotation::tag(block as u64, &rank));
        }
    }

    fn priority(&mut self, priority: Priority) {
        self.blocks.push(Block::new(Annotation::priority(self.last as u64, priority)));
    }

    /// Returns whether this message is part of a side conversation.
    fn is_aside(&self) -> bool {
        self.tags.iter().any(|(key, _)| key == annotation_keys::SIDECHAIN)
    }

    /// Tags the last block with the role of its message, for blocks without a field for the role.
    /// The user is the default.
    fn tag_role(&mut self) {
        let given = self.tags.iter().any(|(key, _)| key == annotation_keys::ROLE);
        if let (Some(_), Role::System | Role::Assistant, false) = (self.message, self.role, given) {
            self.tag(annotation_keys::ROLE, self.role.name().unwrap_or_default());
        }
    }
}

/// Cuts the name of a type to [`TYPE_NAME_BYTES_MAX`].
fn cut(type_name: &str) -> &str {
    let mut ends = (0..=type_name.len().min(TYPE_NAME_BYTES_MAX)).rev();
    let end = ends.find(|end| type_name.is_char_boundary(*end)).unwrap_or_default();
    &type_name[..end]
}

/// Returns whether a text is short enough for an id, a name or a tag of a pack.
fn fits(text: &str) -> bool {
    text.len() as u64 <= TEXT_BYTES_MAX
}

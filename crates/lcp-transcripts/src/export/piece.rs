//! What each block is in a message.

use std::borrow::Cow;
use std::collections::HashMap;

use lcp_types::{BlockContent, Conversation, Extension, Role, Status, Tag};

use super::said::Tags;
use super::turn::{Answer, Call, Form, Part, Speaker, What};
use super::{ExportBlock, Shown, others};
use crate::anthropic::OF_ANSWERS;
use crate::json::{self, Object, strict};
use crate::{Format, Provider, annotation_keys, forms};

/// Keys of messages that an export writes itself, of what it knows.
const MADE_HERE: [&str; 5] = ["role", "content", "tool_calls", "function_call", "tool_call_id"];

/// What a block is in a message.
pub(super) struct Piece<'b> {
    pub(super) speaker: Speaker,
    pub(super) what: Option<What<'b>>,
    /// The fields of the message, where the block is these.
    pub(super) fields: Option<Cow<'b, str>>,
}

impl<'b> Piece<'b> {
    fn of(speaker: Speaker, what: What<'b>) -> Self {
        Self { speaker, what: Some(what), fields: None }
    }
}

/// What a block is in a message; `None` if there is no place for it. `unnamed` has the
/// calls of results without an id.
pub(super) fn piece<'b>(
    target: Provider,
    index: usize,
    block: &'b ExportBlock<'_>,
    tags: &Tags<'b>,
    unnamed: &HashMap<usize, Cow<'b, str>>,
) -> Option<Piece<'b>> {
    let role = match tags.get(index, annotation_keys::ROLE).as_deref() {
        Some("system") => Some(Speaker::System),
        Some("developer") => Some(Speaker::Developer),
        Some("assistant") => Some(Speaker::Assistant),
        _ => None,
    };
    let shown = match &block.shown {
        Shown::Replaced(text) => Some(Cow::Borrowed(text.as_ref())),
        Shown::Full | Shown::Omitted => None,
    };
    let answered = tags.get(index, Tag::TOOL_CALL_ID).filter(|id| !id.is_empty());
    let answered = answered.or_else(|| unnamed.get(&index).cloned());
    let what = match &block.block.content {
        BlockContent::Conversation(turn) => {
            return Some(conversation(index, turn, shown, role, answered, tags));
        }
        BlockContent::ToolResult(result) => {
            let text = shown.unwrap_or_else(|| result.content.to_str_lossy());
            let failed = result.status != Status::Ok;
            return Some(answer(answered, failed, What::Text(text)));
        }
        BlockContent::Image(image) => match shown {
            Some(text) => What::Text(text),
            None => What::Picture {
                media: image.media_type,
                alt: &image.alt_text,
                data: image.data.as_slice(),
            },
        },
        BlockContent::Extension(extension) if Format::from_name(&extension.namespace).is_some() => {
            tags.get(index, annotation_keys::MESSAGE)?;
            let json = whole_part(target, extension, &block.shown)?;
            if extension.type_name == "message" {
                let speaker = role.unwrap_or(Speaker::User);
                let fields = beside(target, json)?;
                return Some(Piece { speaker, what: None, fields: Some(fields.into()) });
            }
            // A part of a known type is here since it was broken.
            let kind = json::Fields::parse(json)?.string("type")?;
            if matches!(kind.as_str(), "text" | "tool_use" | "tool_result") {
                return None;
            }
            What::Raw(json.into())
        }
        _ => {
            let form = tags.get(index, annotation_keys::FORM).filter(|_| answered.is_some());
            let written = form.and_then(|form| forms::text(&form, block.block)).map(Cow::Owned);
            What::Text(shown.or(written).or_else(|| others::text(block.block))?)
        }
    };
    Some(match answered {
        Some(id) => answer(Some(id), false, what),
        None => Piece::of(role.unwrap_or(Speaker::User), what),
    })
}

/// What a message has beside what an export writes itself, as far as the provider takes
/// it in a request; `None` where that is nothing.
fn beside(target: Provider, json: &str) -> Option<String> {
    let refused = match target {
        Provider::OpenAi => &[][..],
        Provider::Anthropic => &OF_ANSWERS,
    };
    let mut object = Object::default();
    for (key, value) in json::Fields::parse(json)?.rest() {
        let audio = || json::Fields::read(value)?.get("id");
        match key {
            _ if MADE_HERE.contains(&key) || refused.contains(&key) => {}
            // What was heard is asked for by its id; its data is no input.
            "audio" if target == Provider::OpenAi => match audio() {
                Some(id) => {
                    let mut inner = Object::default();
                    object.object(key, std::mem::take(inner.raw("id", id.get())));
                }
                None => {
                    object.raw(key, value.get());
                }
            },
            key => {
                object.raw(key, value.get());
            }
        }
    }
    object.finish_some()
}

/// The JSON of a part of this provider; shortened it would be none.
fn whole_part<'b>(
    target: Provider,
    extension: &'b Extension<'_>,
    shown: &Shown<'_>,
) -> Option<&'b str> {
    let format = Format::from_name(&extension.namespace)?;
    let text = extension.content.as_str()?;
    let is_part =
        format.has_parts_of(target) && *shown == Shown::Full && json::is_json_object(text);
    is_part.then_some(text)
}

fn conversation<'b>(
    index: usize,
    turn: &'b Conversation<'_>,
    shown: Option<Cow<'b, str>>,
    role: Option<Speaker>,
    answered: Option<Cow<'b, str>>,
    tags: &Tags<'b>,
) -> Piece<'b> {
    let id = turn.tool_call_id.as_deref().filter(|id| !id.is_empty()).map(Cow::Borrowed);
    let text = turn.content.to_str_lossy();
    match (turn.role, id) {
        (Role::Tool, id) => answer(id.or(answered), false, What::Text(shown.unwrap_or(text))),
        (Role::Assistant, Some(id)) => {
            let form = match tags.get(index, annotation_keys::CALL).as_deref() {
                Some(annotation_keys::FUNCTION) => Form::Function,
                Some(annotation_keys::CUSTOM) => Form::Custom,
                _ => Form::Tool,
            };
            let name = tags.get(index, annotation_keys::NAME);
            let call = call(id, &text, name.as_deref(), form, shown);
            Piece::of(Speaker::Assistant, What::Call(call))
        }
        (said, _) => {
            let speaker = match said {
                Role::System => role.filter(|role| role.is_system()).unwrap_or(Speaker::System),
                Role::Assistant => Speaker::Assistant,
                Role::User | Role::Tool | Role::Other(_) => Speaker::User,
            };
            Piece::of(speaker, What::Text(shown.unwrap_or(text)))
        }
    }
}

/// The tool that `NAME ARGUMENTS` calls. A tag says the name where there is a space in it.
pub(super) fn tool_name<'t>(text: &'t str, tag: Option<&str>) -> &'t str {
    let end = match tag {
        Some(name) if text.starts_with(name) => name.len(),
        _ => text.find(' ').unwrap_or(text.len()),
    };
    text.get(..end).unwrap_or(text)
}

/// The call that `NAME ARGUMENTS` says. A shorter text in its place is an argument of
/// its own, so that the call is still one.
fn call<'b>(
    id: Cow<'b, str>,
    text: &str,
    name: Option<&str>,
    form: Form,
    shown: Option<Cow<'b, str>>,
) -> Call<'b> {
    let name = tool_name(text, name);
    let arguments = text.get(name.len()..).unwrap_or_default();
    let (name, arguments) = (name.to_owned(), arguments.strip_prefix(' ').unwrap_or(arguments));
    let arguments = match shown {
        None if form == Form::Custom => Cow::Owned(arguments.to_owned()),
        // JSON inside of a text, where no writer of the whole would look.
        None => Cow::Owned(strict(arguments.to_owned())),
        Some(shown) if form == Form::Custom => shown,
        Some(shown) => {
            let mut object = Object::default();
            object.text("shortened", &shown);
            object.finish().into()
        }
    };
    let name = if name.is_empty() { "tool".to_owned() } else { name };
    Call { id, name: name.into(), arguments, form }
}

/// A part of a result. Without an id it answers nothing.
fn answer<'b>(id: Option<Cow<'b, str>>, failed: bool, what: What<'b>) -> Piece<'b> {
    let part = Part { blocks: Vec::new(), what, fields: None };
    let (name, form) = (Cow::Borrowed(""), Form::Tool);
    let id = id.unwrap_or_default();
    let answer = Answer { id, name, failed, form, parts: vec![part] };
    Piece::of(Speaker::Tool, What::Answer(answer))
}

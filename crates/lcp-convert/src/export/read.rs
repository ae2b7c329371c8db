//! From blocks and their tags to messages.

use std::borrow::Cow;
use std::collections::HashMap;

use lcp_types::{BlockContent, Conversation, Extension, Role, Status, Tag};

use super::turn::{Answer, Call, Form, Part, Speaker, Turn, What};
use super::{ExportBlock, ExportReport, Shown, others};
use crate::json::{self, Object};
use crate::{Format, Target, forms, tags};

/// Keys of messages that an export writes itself, of what it knows.
const MADE_HERE: [&str; 5] = ["role", "content", "tool_calls", "function_call", "tool_call_id"];

/// Messages, and what the request had beside them.
pub(super) struct Read<'b> {
    pub(super) turns: Vec<Turn<'b>>,
    pub(super) request: Option<String>,
}

/// What annotations say of a block.
#[derive(Default)]
struct Tags<'b>(HashMap<(usize, String), Cow<'b, str>>);

impl<'b> Tags<'b> {
    fn of(blocks: &'b [ExportBlock<'_>]) -> Self {
        let tags = blocks.iter().filter_map(|block| {
            let annotation = block.block.as_annotation()?;
            let tag = annotation.as_tag()?;
            let target = usize::try_from(annotation.target_block_id).ok()?;
            Some(((target, tag.key.into_owned()), tag.value?))
        });
        Self(tags.collect())
    }

    fn get(&self, index: usize, key: &str) -> Option<Cow<'b, str>> {
        self.0.get(&(index, key.to_owned())).cloned()
    }

    /// What only the formats of this provider have.
    fn own(&self, target: Target, index: usize, key: &str) -> Option<Cow<'b, str>> {
        let formats = Format::ALL.into_iter().filter(|format| format.has_parts_of(target));
        let mut found = formats.filter_map(|format| self.get(index, &tags::of(format, key)));
        found.find(|json| json::is_json_object(json))
    }
}

/// What a block is in a message.
struct Piece<'b> {
    speaker: Speaker,
    what: Option<What<'b>>,
    /// The fields of the message, where the block is these.
    fields: Option<Cow<'b, str>>,
}

impl<'b> Piece<'b> {
    fn of(speaker: Speaker, what: What<'b>) -> Self {
        Self { speaker, what: Some(what), fields: None }
    }
}

/// The messages of a pack, as they stand in it.
pub(super) fn read<'b>(
    target: Target,
    blocks: &'b [ExportBlock<'_>],
    report: &mut ExportReport,
) -> Read<'b> {
    let tags = Tags::of(blocks);
    let (mut turns, mut requests) = (Vec::<Turn<'b>>::new(), Vec::new());
    for (index, block) in blocks.iter().enumerate() {
        if block.block.content.is_metadata() || block.shown == Shown::Omitted {
            continue;
        }
        if let Some(fields) = request(target, block) {
            requests.push(fields);
            continue;
        }
        let Some(piece) = piece(target, index, block, &tags) else {
            report.leave_out(&name(block));
            continue;
        };
        let message = tags.get(index, tags::MESSAGE).and_then(|number| number.parse().ok());
        let fits = |turn: &&mut Turn<'b>| {
            message.is_some() && turn.message == message && turn.speaker == piece.speaker
        };
        let turn = match turns.last_mut().filter(fits) {
            Some(turn) => turn,
            None => {
                let speaker = piece.speaker;
                turns.push(Turn { speaker, message, parts: Vec::new(), fields: None });
                let Some(turn) = turns.last_mut() else { continue };
                turn
            }
        };
        if piece.fields.is_some() {
            turn.fields = piece.fields;
        }
        if let Some(what) = piece.what {
            add(turn, index, what, target, &tags);
        }
    }
    if requests.len() > 1 {
        requests.iter().for_each(|_| report.leave_out("request"));
        requests.clear();
    }
    Read { turns, request: requests.pop() }
}

/// Adds a part to a message; parts of one result become one.
fn add<'b>(turn: &mut Turn<'b>, index: usize, what: What<'b>, target: Target, tags: &Tags<'b>) {
    let blocks = vec![index];
    let (part_fields, result_fields) =
        (tags.own(target, index, tags::PART), tags.own(target, index, tags::RESULT));
    let What::Answer(mut answer) = what else {
        turn.parts.push(Part { blocks, what, fields: part_fields });
        return;
    };
    for part in &mut answer.parts {
        part.blocks.clone_from(&blocks);
        part.fields.clone_from(&part_fields);
    }
    // The fields of a result stand with its first block.
    if let (Some(last), None) = (turn.parts.last_mut(), &result_fields)
        && let What::Answer(before) = &mut last.what
        && before.id == answer.id
        && turn.message.is_some()
    {
        before.failed |= answer.failed;
        before.parts.append(&mut answer.parts);
        last.blocks.push(index);
        return;
    }
    turn.parts.push(Part { blocks, what: What::Answer(answer), fields: result_fields });
}

/// What a block is called that is left out.
fn name(block: &ExportBlock<'_>) -> String {
    match block.block.as_extension() {
        Some(extension) => extension.type_name.to_string(),
        None => block.block.block_type().to_string(),
    }
}

/// What a request of this provider had beside its messages.
fn request(target: Target, block: &ExportBlock<'_>) -> Option<String> {
    let extension = block.block.as_extension()?;
    let format = Format::from_name(&extension.namespace)?;
    let is_it = extension.type_name == "request"
        && format.has_parts_of(target)
        && block.shown == Shown::Whole;
    let text = extension.content.as_str().filter(|text| is_it && json::is_json_object(text))?;
    Some(without(text, &["messages", "system"]))
}

/// The object without these keys.
fn without(object: &str, keys: &[&str]) -> String {
    let mut rest = Object::default();
    for (key, value) in json::Fields::parse(object).unwrap_or_default().rest() {
        if !keys.contains(&key) {
            rest.raw(key, value.get());
        }
    }
    rest.finish()
}

/// What a block is in a message; `None` if there is no place for it.
fn piece<'b>(
    target: Target,
    index: usize,
    block: &'b ExportBlock<'_>,
    tags: &Tags<'b>,
) -> Option<Piece<'b>> {
    let role = match tags.get(index, tags::ROLE).as_deref() {
        Some("system") => Some(Speaker::System),
        Some("developer") => Some(Speaker::Developer),
        Some("assistant") => Some(Speaker::Assistant),
        _ => None,
    };
    let shown = match &block.shown {
        Shown::As(text) => Some(Cow::Borrowed(text.as_ref())),
        Shown::Whole | Shown::Omitted => None,
    };
    let answered = tags.get(index, Tag::TOOL_CALL_ID).filter(|id| !id.is_empty());
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
            tags.get(index, tags::MESSAGE)?;
            let json = whole_part(target, extension, &block.shown)?;
            if extension.type_name == "message" {
                let speaker = role.unwrap_or(Speaker::User);
                let fields = without(json, &MADE_HERE);
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
            let form = tags.get(index, tags::FORM).filter(|_| answered.is_some());
            let written = form.and_then(|form| forms::text(&form, block.block)).map(Cow::Owned);
            What::Text(shown.or(written).or_else(|| others::text(block.block))?)
        }
    };
    Some(match answered {
        Some(id) => answer(Some(id), false, what),
        None => Piece::of(role.unwrap_or(Speaker::User), what),
    })
}

/// The JSON of a part of this provider; shortened it would be none.
fn whole_part<'b>(
    target: Target,
    extension: &'b Extension<'_>,
    shown: &Shown<'_>,
) -> Option<&'b str> {
    let format = Format::from_name(&extension.namespace)?;
    let text = extension.content.as_str()?;
    let is_part =
        format.has_parts_of(target) && *shown == Shown::Whole && json::is_json_object(text);
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
            let form = match tags.get(index, tags::CALL).as_deref() {
                Some(tags::FUNCTION) => Form::Function,
                Some(tags::CUSTOM) => Form::Custom,
                _ => Form::Tool,
            };
            let call = call(id, text, tags.get(index, tags::NAME), form, shown);
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

/// The call that `NAME ARGUMENTS` says. A shorter text in its place is an argument of
/// its own, so that the call is still one.
fn call<'b>(
    id: Cow<'b, str>,
    text: Cow<'b, str>,
    name: Option<Cow<'b, str>>,
    form: Form,
    shown: Option<Cow<'b, str>>,
) -> Call<'b> {
    let end = match &name {
        Some(name) if text.starts_with(name.as_ref()) => name.len(),
        _ => text.find(' ').unwrap_or(text.len()),
    };
    let (name, arguments) = text.split_at(end);
    let (name, arguments) = (name.to_owned(), arguments.strip_prefix(' ').unwrap_or(arguments));
    let arguments = match shown {
        None => Cow::Owned(arguments.to_owned()),
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

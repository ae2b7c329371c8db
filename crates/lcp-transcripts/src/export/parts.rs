//! Converts each block to a part of a message.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use lcp_types::{Block, BlockContent, Conversation, Extension, FileEntry, Role, Status, Tag};

use super::annotations::Annotations;
use super::turn::{Call, CallSyntax, Part, PartKind, Speaker, ToolResult};
use super::{ExportBlock, ExportDetail, gemini, responses};
use crate::anthropic::RESPONSE_KEYS;
use crate::raw_json::{self, Object, strict};
use crate::{Format, Provider, annotation_keys, typed_results};

/// The fields of messages that an export writes itself.
const GENERATED_KEYS: [&str; 6] =
    ["role", "content", "tool_calls", "function_call", "tool_call_id", "parts"];

pub(super) struct BlockPart<'b> {
    pub(super) speaker: Speaker,
    pub(super) kind: Option<PartKind<'b>>,
    /// Extra fields of the message, if the block holds these instead of a part.
    pub(super) fields: Option<Cow<'b, str>>,
}

impl<'b> BlockPart<'b> {
    fn new(speaker: Speaker, kind: PartKind<'b>) -> Self {
        Self { speaker, kind: Some(kind), fields: None }
    }
}

/// Returns the message part of a block. `unnamed` has the inferred call ids by block index.
pub(super) fn block_part<'b>(
    provider: Provider,
    index: usize,
    block: &'b ExportBlock<'_>,
    tags: &Annotations<'b>,
    unnamed: &HashMap<usize, Cow<'b, str>>,
) -> Option<BlockPart<'b>> {
    let role = match tags.get(index, annotation_keys::ROLE).as_deref() {
        Some("system") => Some(Speaker::System),
        Some(annotation_keys::INSTRUCTIONS) => Some(Speaker::Instructions),
        Some("developer") => Some(Speaker::Developer),
        Some("assistant") => Some(Speaker::Assistant),
        _ => None,
    };
    let shown = match &block.detail {
        ExportDetail::Replaced(text) => Some(Cow::Borrowed(text.as_ref())),
        ExportDetail::Full | ExportDetail::Omitted => None,
    };
    let answered = tags.get(index, Tag::TOOL_CALL_ID).filter(|id| !id.is_empty());
    let answered = answered.or_else(|| unnamed.get(&index).cloned());
    let kind = match &block.block.content {
        BlockContent::Conversation(turn) => {
            return Some(conversation(index, turn, shown, role, answered, tags));
        }
        BlockContent::ToolResult(result) => {
            let text = shown.unwrap_or_else(|| result.content.to_str_lossy());
            let failed = result.status != Status::Ok;
            let form = tags.get(index, annotation_keys::FORM);
            let is_object = form.as_deref() == Some(annotation_keys::OBJECT);
            let mut part = answer(answered, failed, PartKind::Text(text));
            if let Some(PartKind::ToolResult(result)) = &mut part.kind {
                result.is_object = is_object && block.detail == ExportDetail::Full;
            }
            return Some(part);
        }
        BlockContent::Image(image) => match shown {
            Some(text) => PartKind::Text(text),
            None => PartKind::Image {
                media: image.media_type,
                alt: &image.alt_text,
                data: image.data.as_slice(),
            },
        },
        BlockContent::Extension(extension) if Format::from_name(&extension.namespace).is_some() => {
            tags.get(index, annotation_keys::MESSAGE)?;
            let json = whole_part(provider, extension, &block.detail)?;
            if extension.type_name == "message" {
                let speaker = role.unwrap_or(Speaker::User);
                let fields = extra_fields(provider, json)?;
                return Some(BlockPart { speaker, kind: None, fields: Some(fields.into()) });
            }
            let is_raw = match provider {
                // A part of a known type became an extension because it is malformed.
                Provider::OpenAi | Provider::Anthropic => {
                    let kind = raw_json::Fields::parse(json)?.string("type")?;
                    !matches!(kind.as_str(), "text" | "tool_use" | "tool_result")
                }
                Provider::OpenAiResponses => responses::is_raw(json),
                Provider::Gemini => gemini::is_raw(json),
            };
            is_raw.then(|| PartKind::Raw(json.into()))?
        }
        _ => {
            let syntax = tags.get(index, annotation_keys::FORM).filter(|_| answered.is_some());
            let written =
                syntax.and_then(|syntax| typed_results::text(&syntax, block.block)).map(Cow::Owned);
            PartKind::Text(shown.or(written).or_else(|| non_chat_text(block.block))?)
        }
    };
    Some(match answered {
        Some(id) => answer(Some(id), false, kind),
        None => BlockPart::new(role.unwrap_or(Speaker::User), kind),
    })
}

/// Returns the extra fields of a message that the provider accepts; `None` if there are no such
/// fields.
fn extra_fields(provider: Provider, json: &str) -> Option<String> {
    let refused = match provider {
        Provider::OpenAi | Provider::Gemini => &[][..],
        Provider::Anthropic => &RESPONSE_KEYS,
        // The fields of an item are not in a block of their own.
        Provider::OpenAiResponses => return None,
    };
    let mut object = Object::default();
    for (key, value) in raw_json::Fields::parse(json)?.rest() {
        let audio = || raw_json::Fields::read(value)?.get("id");
        match key {
            _ if GENERATED_KEYS.contains(&key) || refused.contains(&key) => {}
            // `OpenAI` accepts the audio of an earlier response as an id, without its data.
            "audio" if provider == Provider::OpenAi => match audio() {
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

/// Returns the JSON of a part of this provider. Returns `None` for a shortened part, because it
/// would be invalid JSON.
fn whole_part<'b>(
    provider: Provider,
    extension: &'b Extension<'_>,
    shown: &ExportDetail<'_>,
) -> Option<&'b str> {
    let format = Format::from_name(&extension.namespace)?;
    let text = extension.content.as_str()?;
    let is_part = format.has_parts_of(provider)
        && *shown == ExportDetail::Full
        && raw_json::is_json_object(text);
    is_part.then_some(text)
}

fn conversation<'b>(
    index: usize,
    turn: &'b Conversation<'_>,
    shown: Option<Cow<'b, str>>,
    role: Option<Speaker>,
    answered: Option<Cow<'b, str>>,
    tags: &Annotations<'b>,
) -> BlockPart<'b> {
    let id = turn.tool_call_id.as_deref().filter(|id| !id.is_empty()).map(Cow::Borrowed);
    let text = turn.content.to_str_lossy();
    match (turn.role, id) {
        (Role::Tool, id) => answer(id.or(answered), false, PartKind::Text(shown.unwrap_or(text))),
        (Role::Assistant, Some(id)) => {
            let syntax = match tags.get(index, annotation_keys::CALL).as_deref() {
                Some(annotation_keys::FUNCTION) => CallSyntax::Function,
                Some(annotation_keys::CUSTOM) => CallSyntax::Custom,
                Some(annotation_keys::WITHOUT_ID) => CallSyntax::WithoutId,
                _ => CallSyntax::Tool,
            };
            let name = tags.get(index, annotation_keys::NAME);
            let call = call(id, &text, name.as_deref(), syntax, shown);
            BlockPart::new(Speaker::Assistant, PartKind::Call(call))
        }
        (said, _) => {
            let speaker = match said {
                Role::System => role.filter(|role| role.is_system()).unwrap_or(Speaker::System),
                Role::Assistant => Speaker::Assistant,
                Role::User | Role::Tool | Role::Other(_) => Speaker::User,
            };
            BlockPart::new(speaker, PartKind::Text(shown.unwrap_or(text)))
        }
    }
}

/// Returns the tool name of a call `NAME ARGUMENTS`. A tag has the name if it contains a space.
pub(super) fn tool_name<'t>(text: &'t str, tag: Option<&str>) -> &'t str {
    let end = match tag {
        Some(name) if text.starts_with(name) => name.len(),
        _ => text.find(' ').unwrap_or(text.len()),
    };
    text.get(..end).unwrap_or(text)
}

/// Parses a call `NAME ARGUMENTS`. A shortened text replaces the arguments as a single argument.
fn call<'b>(
    id: Cow<'b, str>,
    text: &str,
    name: Option<&str>,
    syntax: CallSyntax,
    shown: Option<Cow<'b, str>>,
) -> Call<'b> {
    let name = tool_name(text, name);
    let arguments = text.get(name.len()..).unwrap_or_default();
    let (name, arguments) = (name.to_owned(), arguments.strip_prefix(' ').unwrap_or(arguments));
    let arguments = match shown {
        None if syntax == CallSyntax::Custom => Cow::Owned(arguments.to_owned()),
        // The arguments are JSON inside a string, which the final pass over the output does not
        // reach.
        None => Cow::Owned(strict(arguments.to_owned())),
        Some(shown) if syntax == CallSyntax::Custom => shown,
        Some(shown) => {
            let mut object = Object::default();
            object.text("shortened", &shown);
            object.finish().into()
        }
    };
    let name = if name.is_empty() { "tool".to_owned() } else { name };
    Call { id, name: name.into(), arguments, syntax }
}

/// Returns a part of a result. A result without an id matches no call.
pub(super) fn answer<'b>(
    id: Option<Cow<'b, str>>,
    failed: bool,
    kind: PartKind<'b>,
) -> BlockPart<'b> {
    let (id, name, syntax) = (id.unwrap_or_default(), Cow::Borrowed(""), CallSyntax::Tool);
    let parts = vec![Part::new(kind)];
    let answer = ToolResult { id, name, failed, syntax, is_object: false, parts };
    BlockPart::new(Speaker::Tool, PartKind::ToolResult(answer))
}

/// The maximum depth of a file tree that is written. A pack cannot have a deeper one.
const TREE_DEPTH_MAX: usize = lcp_types::limits::DEPTH_MAX as usize;

/// Returns the text of a block that is not a conversation, with a heading.
fn non_chat_text<'b>(block: &'b Block<'_>) -> Option<Cow<'b, str>> {
    let under = |heading: &str, content: &str| match heading {
        "" => content.to_owned(),
        heading => format!("{heading}\n{content}"),
    };
    Some(match &block.content {
        BlockContent::Code(code) => {
            let heading = match (code.line_start, code.line_end) {
                (Some(first), Some(last)) => format!("{} ({first}-{last})", code.path),
                _ => code.path.to_string(),
            };
            under(&heading, &code.content.to_str_lossy()).into()
        }
        BlockContent::Document(document) => {
            under(&document.title, &document.content.to_str_lossy()).into()
        }
        BlockContent::Diff(diff) => {
            let mut text = diff.path.to_string();
            for hunk in &diff.hunks {
                let lines = hunk.lines.to_str_lossy();
                let _ = write!(text, "\n@@ -{} +{} @@\n{lines}", hunk.old_start, hunk.new_start);
            }
            text.into()
        }
        BlockContent::FileTree(tree) => {
            let mut text = tree.root.to_string();
            push_entries(&tree.entries, 1, &mut text);
            text.into()
        }
        other => other.text()?.to_str_lossy(),
    })
}

fn push_entries(list: &[FileEntry<'_>], depth: usize, text: &mut String) {
    for entry in list {
        let _ = write!(text, "\n{}{}", "  ".repeat(depth), entry.name);
        if depth <= TREE_DEPTH_MAX {
            push_entries(&entry.children, depth + 1, text);
        }
    }
}

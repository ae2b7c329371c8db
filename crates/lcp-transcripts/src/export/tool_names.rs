//! Renames tools and call ids that the provider would reject.

use std::collections::{BTreeMap, HashMap, HashSet};

use lcp_types::BlockContent;
use serde_json::value::RawValue;

use super::annotations::Annotations;
use super::parts::tool_name;
use super::turn::{CallSyntax, PartKind, Turn};
use super::{ExportBlock, ExportReport};
use crate::raw_json::{self, Fields, Object};
use crate::{Provider, annotation_keys};

/// The maximum length of a tool name in characters: the smallest limit of all providers.
const NAME_CHARS_MAX: usize = 64;
/// The maximum length of a call id in characters for `OpenAI`. Other providers have no limit.
const OPENAI_ID_CHARS_MAX: usize = 40;
const RESPONSES_ID_CHARS_MAX: usize = 64;

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns whether a provider accepts the name of a tool.
fn is_name(provider: Provider, name: &str) -> bool {
    let is_gemini = provider == Provider::Gemini;
    (1..=NAME_CHARS_MAX).contains(&name.len())
        && name.chars().all(|c| is_plain(c) || is_gemini && matches!(c, '.' | ':'))
        && (!is_gemini || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// A set of unique names made of letters, digits, `_` and `-`.
struct UniqueNames {
    chars_max: usize,
    /// The names in use, with a counter for numeric suffixes.
    taken: HashMap<String, u64>,
}

impl UniqueNames {
    fn new(chars_max: usize) -> Self {
        Self { chars_max, taken: HashMap::new() }
    }

    fn reserve(&mut self, text: &str) {
        self.taken.insert(text.to_owned(), 1);
    }

    /// Adds a name and returns it. Invalid characters become `_`, and a numeric suffix makes it
    /// unique.
    fn take(&mut self, text: &str) -> String {
        let plain = text.chars().map(|c| if is_plain(c) { c } else { '_' });
        let plain: String = plain.take(self.chars_max).collect();
        let mut unique = plain.clone();
        while self.taken.contains_key(&unique) {
            let times = self.taken.entry(plain.clone()).or_default();
            *times += 1;
            let end = format!("_{times}");
            let kept = plain.chars().take(self.chars_max.saturating_sub(end.len()));
            unique = kept.chain(end.chars()).collect();
        }
        self.reserve(&unique);
        unique
    }
}

/// The tool names that a provider would reject, with their replacements.
pub(super) struct ToolNames(BTreeMap<String, String>);

impl ToolNames {
    /// Collects the names of all tools, including those of omitted blocks. Valid names do not
    /// change.
    pub(super) fn collect(
        provider: Provider,
        blocks: &[ExportBlock<'_>],
        tags: &Annotations<'_>,
    ) -> Self {
        let mut all = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            match &block.block.content {
                BlockContent::Conversation(turn) if turn.tool_call_id.is_some() => {
                    let tag = tags.get(at, annotation_keys::NAME);
                    all.push(tool_name(&turn.content.to_str_lossy(), tag.as_deref()).to_owned());
                }
                BlockContent::Extension(of) if of.type_name == "request" => {
                    each_name(of.content.as_str().unwrap_or_default(), &mut |name| {
                        all.push(name.to_owned());
                        None
                    });
                }
                _ => {}
            }
        }
        let is_taken = |name: &&String| is_name(provider, name);
        let mut plain = UniqueNames::new(NAME_CHARS_MAX);
        all.iter().filter(is_taken).for_each(|name| plain.reserve(name));
        let mut names = BTreeMap::new();
        for name in all.iter().filter(|name| !name.is_empty() && !is_taken(name)) {
            if !names.contains_key(name) {
                let begins = is_name(provider, name.get(..1).unwrap_or("_"));
                let new = if begins || provider != Provider::Gemini {
                    plain.take(name)
                } else {
                    plain.take(&format!("_{name}"))
                };
                names.insert(name.clone(), new);
            }
        }
        Self(names)
    }

    /// Returns the replacement of a tool name, if it has one.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Replaces the tool names in a request.
    pub(super) fn in_request(&self, request: String) -> String {
        let named = each_name(&request, &mut |name| self.get(name).map(str::to_owned));
        named.unwrap_or(request)
    }

    pub(super) fn into_inner(self) -> BTreeMap<String, String> {
        self.0
    }
}

/// Replaces the tool names in a request. Returns `None` if no name changes.
fn each_name(request: &str, new: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    changed(request, &mut |key, value| match key {
        "tools" | "functions" => tools(value, true, new),
        "tool_choice" | "function_call" => tool(value.get(), true, new),
        "toolConfig" => changed(value.get(), &mut |_, value| {
            changed(value.get(), &mut |key, value| match key {
                "allowedFunctionNames" => {
                    each(value, &mut |name| Some(raw_json::quote(&new(&raw_json::string(name)?)?)))
                }
                _ => None,
            })
        }),
        _ => None,
    })
}

/// Replaces values of a list. Returns `None` if no value changes.
fn each(list: &RawValue, change: &mut dyn FnMut(&RawValue) -> Option<String>) -> Option<String> {
    let values: Vec<_> =
        raw_json::array(list)?.into_iter().map(|of| (of.get(), change(of))).collect();
    let is_changed = values.iter().any(|(_, new)| new.is_some());
    let values = values.into_iter().map(|(stood, new)| new.unwrap_or(stood.to_owned()));
    is_changed.then(|| raw_json::list(&values.collect::<Vec<_>>()))
}

fn tools(
    list: &RawValue,
    is_outer: bool,
    new: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    each(list, &mut |of| tool(of.get(), is_outer, new))
}

/// Replaces the name of a tool, a field of the object itself or of an inner object. Returns `None`
/// if the name does not change.
fn tool(json: &str, is_outer: bool, new: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    changed(json, &mut |key, value| match key {
        "name" => Some(raw_json::quote(&new(&raw_json::string(value)?)?)),
        "function" | "custom" if is_outer => tool(value.get(), false, new),
        // A tool of Gemini has several functions, and a choice of the responses API several tools.
        "functionDeclarations" | "tools" if is_outer => tools(value, false, new),
        _ => None,
    })
}

/// Replaces values of an object. Returns `None` if no value changes.
fn changed(
    object: &str,
    change: &mut dyn FnMut(&str, &RawValue) -> Option<String>,
) -> Option<String> {
    let fields = Fields::parse(object)?;
    let (mut written, mut is_changed) = (Object::default(), false);
    for (key, value) in fields.rest() {
        let new = change(key, value);
        is_changed |= new.is_some();
        written.raw(key, new.as_deref().unwrap_or(value.get()));
    }
    is_changed.then(|| written.finish())
}

/// Renames invalid ids of calls and of their results. For Anthropic and the responses API, ids also
/// become unique.
pub(super) fn rename_ids(provider: Provider, turns: &mut [Turn<'_>], report: &mut ExportReport) {
    let chars_max = match provider {
        Provider::OpenAi => OPENAI_ID_CHARS_MAX,
        Provider::OpenAiResponses => RESPONSES_ID_CHARS_MAX,
        Provider::Anthropic => usize::MAX,
        Provider::Gemini => return,
    };
    let is_valid = |id: &str| provider != Provider::Anthropic && id.chars().count() <= chars_max;
    let mut plain = UniqueNames::new(chars_max);
    let ids: HashSet<&str> = turns.iter().flat_map(|turn| &turn.parts).filter_map(id).collect();
    ids.into_iter().filter(|id| is_valid(id)).for_each(|id| plain.reserve(id));
    let (mut used, mut renamed) = (HashSet::<String>::new(), HashMap::<String, String>::new());
    for turn in turns {
        for part in &mut turn.parts {
            match &mut part.kind {
                // The legacy syntax has no ids.
                PartKind::Call(call)
                    if provider == Provider::OpenAi && call.syntax == CallSyntax::Function => {}
                PartKind::Call(call) => {
                    let is_new = used.insert(call.id.to_string());
                    renamed.remove(call.id.as_ref());
                    if is_valid(&call.id) && (is_new || provider == Provider::OpenAi) {
                        continue;
                    }
                    let id = plain.take(&call.id);
                    if id != call.id {
                        report.renamed += 1;
                        renamed.insert(call.id.to_string(), id.clone());
                        call.id = id.into();
                    }
                }
                PartKind::ToolResult(answer) => {
                    if let Some(id) = renamed.get(answer.id.as_ref()) {
                        answer.id = id.clone().into();
                    }
                }
                _ => {}
            }
        }
    }
}

fn id<'t>(part: &'t super::turn::Part<'_>) -> Option<&'t str> {
    match &part.kind {
        PartKind::Call(call) => Some(&call.id),
        _ => None,
    }
}

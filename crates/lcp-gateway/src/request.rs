//! Requests of model APIs, with the places of their tool results.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decisions::Key;
#[cfg(feature = "proxy")]
use crate::json::without_cache_marks;
use crate::json::{has_cache_mark, place};

/// A model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// `OpenAI`'s `/v1/chat/completions`.
    OpenAiChat,
    /// `OpenAI`'s `/v1/responses`.
    OpenAiResponses,
}

impl Api {
    /// Returns the API of a path, such as `/v1/messages?beta=true`.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path).trim_end_matches('/');
        let ends = |end: &str| path.ends_with(end);
        if ends("/messages") || ends("/messages/count_tokens") {
            Some(Self::Anthropic)
        } else if ends("/chat/completions") {
            Some(Self::OpenAiChat)
        } else if ends("/responses") {
            Some(Self::OpenAiResponses)
        } else {
            None
        }
    }
}

/// A request that can be edited.
#[derive(Debug)]
pub struct Request<'b> {
    pub(crate) body: &'b str,
    /// The model.
    pub model: String,
    /// The id of the session, if the request has one.
    pub session: Option<String>,
    /// The fields before the messages in the order in which providers cache them.
    pub(crate) head: Vec<&'b str>,
    pub(crate) messages: Vec<Message<'b>>,
    /// The number of messages up to the newest one of the model, which has not seen those behind it.
    pub(crate) seen_messages: usize,
    /// The results that can be edited, in their order.
    pub(crate) results: Vec<ToolResult>,
    /// The calls by their ids.
    pub(crate) calls: HashMap<String, Call<'b>>,
    /// `true` if a mark is in the head or if the provider caches without marks.
    pub(crate) is_head_cached: bool,
    /// `true` if the provider caches all messages without marks.
    pub(crate) caches_all: bool,
    /// The longest time in seconds for which the provider keeps a beginning of this request.
    pub(crate) cache_seconds: u32,
}

/// A message, or an item of `OpenAI`'s responses.
#[derive(Debug)]
pub(crate) struct Message<'b> {
    pub(crate) json: &'b str,
    /// `true` if the user says something, rather than a tool.
    pub(crate) is_turn: bool,
    pub(crate) has_mark: bool,
}

/// The text of a tool result that can be edited.
#[derive(Debug)]
pub(crate) struct ToolResult {
    pub(crate) key: Key,
    /// The index of its message.
    pub(crate) message: usize,
    /// The place of the JSON string in the body.
    pub(crate) place: Range<usize>,
    pub(crate) text: String,
}

/// A tool result of a request that can be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultText<'r> {
    /// The id of its call.
    pub call: &'r str,
    /// The place of its JSON string in the body.
    pub place: Range<usize>,
    /// The text.
    pub text: &'r str,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'b> {
    pub(crate) name: &'b str,
    /// Its arguments as JSON, or as a JSON string.
    pub(crate) arguments: &'b str,
}

/// The time in seconds for which providers keep a beginning.
const FIVE_MINUTES: u32 = 300;
const HOUR: u32 = 3_600;
const DAY: u32 = 86_400;

#[derive(Deserialize)]
struct Body<'b> {
    #[serde(borrow)]
    model: Option<Cow<'b, str>>,
    messages: Option<Vec<&'b RawValue>>,
    #[serde(borrow)]
    input: Option<&'b RawValue>,
    #[serde(borrow)]
    tools: Option<&'b RawValue>,
    #[serde(borrow)]
    tool_choice: Option<&'b RawValue>,
    #[serde(borrow)]
    system: Option<&'b RawValue>,
    #[serde(borrow)]
    instructions: Option<&'b RawValue>,
    #[serde(borrow)]
    thinking: Option<&'b RawValue>,
    #[serde(borrow)]
    previous_response_id: Option<&'b RawValue>,
    #[serde(borrow)]
    cache_control: Option<&'b RawValue>,
    #[serde(borrow)]
    prompt_cache_retention: Option<Cow<'b, str>>,
    #[serde(borrow)]
    prompt_cache_key: Option<&'b RawValue>,
    #[serde(borrow)]
    metadata: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct RawMessage<'b> {
    #[serde(borrow)]
    role: Option<Cow<'b, str>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'b, str>>,
    #[serde(borrow)]
    content: Option<&'b RawValue>,
    #[serde(borrow)]
    output: Option<&'b RawValue>,
    tool_call_id: Option<String>,
    call_id: Option<String>,
    #[serde(borrow)]
    name: Option<&'b RawValue>,
    #[serde(borrow)]
    arguments: Option<&'b RawValue>,
    #[serde(borrow)]
    input: Option<&'b RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ChatCall<'b>>>,
}

#[derive(Deserialize)]
struct ChatCall<'b> {
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'b>>,
}

#[derive(Deserialize)]
struct Function<'b> {
    #[serde(borrow)]
    name: Option<&'b RawValue>,
    #[serde(borrow)]
    arguments: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct Part<'b> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'b, str>>,
    #[serde(borrow)]
    text: Option<&'b RawValue>,
    #[serde(borrow)]
    content: Option<&'b RawValue>,
    tool_use_id: Option<String>,
    id: Option<String>,
    #[serde(borrow)]
    name: Option<&'b RawValue>,
    #[serde(borrow)]
    input: Option<&'b RawValue>,
}

impl<'b> Request<'b> {
    /// Reads a request. Returns `None` for a body that must be forwarded unchanged: other JSON, a
    /// continuation of a stored response, or a message of another form than the API documents.
    #[must_use]
    pub fn parse(api: Api, body: &'b [u8]) -> Option<Self> {
        let body = std::str::from_utf8(body).ok()?;
        let fields: Body<'b> = serde_json::from_str(body).ok()?;
        if fields.previous_response_id.is_some() {
            return None;
        }
        let messages = match api {
            Api::OpenAiResponses => serde_json::from_str(fields.input?.get()).ok()?,
            _ => fields.messages?,
        };
        let head =
            [fields.tools, fields.tool_choice, fields.system, fields.instructions, fields.thinking];
        let head: Vec<&str> = head.into_iter().flatten().map(RawValue::get).collect();
        let is_openai = api != Api::Anthropic;
        let caches_all = is_openai || fields.cache_control.is_some();
        let cache_seconds = match fields.prompt_cache_retention.as_deref() {
            Some("24h") => DAY,
            _ if is_openai || body.contains("\"1h\"") => HOUR,
            _ => FIVE_MINUTES,
        };
        // Only Anthropic's metadata have an id of the client.
        let session = fields.prompt_cache_key.or(fields.metadata.filter(|_| !is_openai));
        let mut request = Self {
            body,
            model: fields.model?.into_owned(),
            session: session.map(|json| short_id(json.get())),
            is_head_cached: caches_all || head.iter().any(|json| has_cache_mark(json)),
            head,
            messages: Vec::with_capacity(messages.len()),
            seen_messages: 0,
            results: Vec::new(),
            calls: HashMap::new(),
            caches_all,
            cache_seconds,
        };
        for message in messages {
            request.add(message)?;
        }
        request.ignore_repeated_ids();
        Some(request)
    }

    /// Forgets the results whose ids occur twice, because decisions belong to ids.
    fn ignore_repeated_ids(&mut self) {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for result in &self.results {
            *uses.entry(&result.key.call).or_default() += 1;
        }
        let is_unique: Vec<_> =
            self.results.iter().map(|result| uses[result.key.call.as_str()] == 1).collect();
        let mut is_unique = is_unique.into_iter();
        self.results.retain(|_| is_unique.next().unwrap_or(true));
    }

    fn add(&mut self, json: &'b RawValue) -> Option<()> {
        let message: RawMessage<'b> = serde_json::from_str(json.get()).ok()?;
        let mut is_turn = message.role.as_deref() == Some("user");
        let is_call = message.kind.as_deref().is_some_and(|kind| kind.ends_with("_call"));
        let is_from_model = is_call || message.role.as_deref() == Some("assistant");
        match message.kind.as_deref() {
            Some("function_call_output" | "custom_tool_call_output") => {
                self.add_result(message.call_id?, message.output?);
            }
            Some("function_call" | "custom_tool_call") => {
                self.add_call(message.call_id?, message.name, message.arguments.or(message.input));
            }
            _ if message.role.as_deref() == Some("tool") => {
                self.add_result(message.tool_call_id?, message.content?);
            }
            _ => {
                for call in message.tool_calls.into_iter().flatten() {
                    if let (Some(id), Some(function)) = (call.id, call.function) {
                        self.add_call(id, function.name, function.arguments);
                    }
                }
                let parts = message.content.map(RawValue::get).filter(|json| json.starts_with('['));
                if let Some(parts) = parts {
                    is_turn &= self.add_parts(parts)?;
                }
            }
        }
        let json = json.get();
        self.messages.push(Message { json, is_turn, has_mark: has_cache_mark(json) });
        if is_from_model {
            self.seen_messages = self.messages.len();
        }
        Some(())
    }

    /// Adds the calls and results among the parts of a message. Returns whether no part is a result.
    fn add_parts(&mut self, parts: &'b str) -> Option<bool> {
        let parts: Vec<Part<'b>> = serde_json::from_str(parts).ok()?;
        let mut has_results = false;
        for part in parts {
            match part.kind.as_deref() {
                Some("tool_use") => self.add_call(part.id?, part.name, part.input),
                Some("tool_result") => {
                    has_results = true;
                    if let Some(content) = part.content {
                        self.add_result(part.tool_use_id?, content);
                    }
                }
                _ => {}
            }
        }
        Some(!has_results)
    }

    fn add_call(
        &mut self,
        id: String,
        name: Option<&'b RawValue>,
        arguments: Option<&'b RawValue>,
    ) {
        let name = name.map_or("", |name| name.get().trim_matches('"'));
        let call = Call { name, arguments: arguments.map_or("", RawValue::get) };
        self.calls.insert(id, call);
    }

    /// Adds a result if it is one text.
    fn add_result(&mut self, call: String, content: &'b RawValue) {
        let literal = if content.get().starts_with('[') {
            let Ok([part]) = serde_json::from_str::<[Part<'b>; 1]>(content.get()) else { return };
            let is_text =
                matches!(part.kind.as_deref(), Some("text" | "input_text" | "output_text"));
            part.text.filter(|_| is_text)
        } else {
            Some(content)
        };
        let text = literal.map(|literal| serde_json::from_str::<String>(literal.get()));
        if let (Some(literal), Some(Ok(text))) = (literal, text) {
            let (message, place) = (self.messages.len(), place(self.body, literal.get()));
            self.results.push(ToolResult { key: Key::new(call, &text), message, place, text });
        }
    }

    /// Returns the tool results that can be edited.
    #[must_use]
    pub fn results(&self) -> Vec<ResultText<'_>> {
        let results = self.results.iter();
        results
            .map(|it| ResultText { call: &it.key.call, place: it.place.clone(), text: &it.text })
            .collect()
    }

    /// Returns an id of the first message, which all requests of a session have.
    #[cfg(feature = "proxy")]
    pub(crate) fn first_message_id(&self) -> String {
        let mut tokens = String::new();
        let first = self.messages.first().map_or("", |message| message.json);
        without_cache_marks(first, |token| tokens.push_str(token));
        short_id(&tokens)
    }

    /// Returns the texts of the tool results that can be edited, with the keys of their decisions.
    #[cfg(feature = "proxy")]
    pub(crate) fn keyed_texts(&self) -> Vec<(Key, &str)> {
        let results = self.results.iter();
        results.map(|it| (it.key.clone(), it.text.as_str())).collect()
    }

    /// Returns whether `edited` has the same results, and differs in nothing but their texts.
    #[must_use]
    pub fn differs_only_in_results(&self, edited: &Self) -> bool {
        let (mut start, mut edited_start) = (0, 0);
        self.results.len() == edited.results.len()
            && self.results.iter().zip(&edited.results).all(|(old, new)| {
                let is_equal = old.key.call == new.key.call
                    && self.body[start..old.place.start]
                        == edited.body[edited_start..new.place.start];
                (start, edited_start) = (old.place.end, new.place.end);
                is_equal && !new.text.is_empty()
            })
            && self.body[start..] == edited.body[edited_start..]
    }

    /// Returns whether the provider can read any part of the request from its cache.
    pub(crate) fn uses_cache(&self) -> bool {
        self.is_head_cached || self.messages.iter().any(|message| message.has_mark)
    }

    /// Returns the index of the newest message in which the user says something.
    pub(crate) fn newest_turn(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| message.is_turn)
    }
}

/// Returns a short id for the id of a client, which may be long or private.
fn short_id(json: &str) -> String {
    blake3::hash(json.as_bytes()).to_hex()[..12].to_owned()
}

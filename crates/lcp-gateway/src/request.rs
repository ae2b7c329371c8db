//! Requests of model APIs, with the places of their tool results.

mod cache;
mod item;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::body::EditedBody;
use crate::decisions::{Hash, Key};
use crate::duplicates::{Lines, TextLines};
use crate::hash_chain::Previous;
use crate::json::{Reader, decode};
use cache::{CacheFields, DAY, HOUR, reports_writes};
use item::{CACHE_CONTROL, Content, Mark, has_mark, plain, read_content, read_item, skip};

pub(crate) use cache::{Cache, CachedMessages};

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
    /// The places of the fields before the messages, in the order in which providers cache them.
    pub(crate) head: Vec<Range<usize>>,
    pub(crate) outline: Outline,
    /// The number of messages up to the newest one of the model, which has not seen those behind it.
    pub(crate) seen_messages: usize,
    cache_fields: CacheFields,
    pub(crate) cache: Cache,
}

/// The places of the parts of a request. The next request of a session begins with the same bytes, so
/// these parts need not be read again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) messages: Vec<Message>,
    /// The results that can be edited, in their order.
    pub(crate) results: Vec<ToolResult>,
    /// The lines of the results.
    lines: Lines,
    calls: Vec<Call>,
    /// The cache marks in their order.
    marks: Vec<Mark>,
    /// `true` if results are missing because of their ids.
    has_repeated_ids: bool,
    /// The hashes of the previous request, or of this one after it was edited.
    pub(crate) previous: Option<Previous>,
}

impl Outline {
    /// Forgets all but the messages that end before `end`.
    fn truncate(&mut self, end: usize) {
        let first = self.messages.first().map_or(0, |message| message.place.start);
        let messages = self.messages.partition_point(|message| message.place.end <= end);
        self.messages.truncate(messages);
        let end = self.messages.last().map_or(0, |message| message.place.end);
        self.results.truncate(self.results.partition_point(|result| result.message < messages));
        self.lines.truncate(self.results.len());
        self.calls.truncate(self.calls.partition_point(|call| call.message < messages));
        self.marks.retain(|mark| first <= mark.place.start && mark.place.end <= end);
        if let Some(previous) = &mut self.previous {
            previous.messages = messages;
        }
    }

    /// Returns the outline for another request with the same first `common` bytes.
    #[cfg(feature = "proxy")]
    pub(crate) fn beginning(&self, common: usize) -> Self {
        if self.messages.first().is_none_or(|message| message.place.end > common) {
            return Self::default();
        }
        let mut outline = self.clone();
        outline.truncate(common);
        outline
    }

    /// Returns the lines of a result, given by its index.
    pub(crate) fn lines(&self, result: usize) -> TextLines<'_> {
        self.lines.get(result)
    }
}

/// A message, or an item of `OpenAI`'s responses.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) place: Range<usize>,
    /// `true` if the user says something, rather than a tool.
    pub(crate) is_turn: bool,
    is_from_model: bool,
    pub(crate) has_mark: bool,
    /// The hash of the content without its results and cache marks.
    pub(crate) hash: Hash,
}

/// A tool result that can be edited.
#[derive(Clone, Debug)]
pub(crate) struct ToolResult {
    pub(crate) key: Key,
    /// The index of its message.
    pub(crate) message: usize,
    /// The place of the JSON string in the body.
    pub(crate) place: Range<usize>,
}

/// A tool result of a request that can be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultText<'r> {
    /// The id of its call.
    pub call: &'r str,
    /// The place of its JSON string in the body.
    pub place: Range<usize>,
    /// The text.
    pub text: String,
}

/// A call of a tool.
#[derive(Clone, Debug)]
struct Call {
    id: Arc<str>,
    /// The index of its message.
    message: usize,
    name: Range<usize>,
    /// The place of its arguments as JSON, or as a JSON string.
    arguments: Range<usize>,
}

/// Prices of tokens in hundredths of that of an input token: of those that are written to the cache for five
/// minutes or an hour, and those that are read from it.
pub(crate) const INPUT: u64 = 100;
pub(crate) const WRITTEN: u64 = 125;
pub(crate) const WRITTEN_HOUR: u64 = 200;
pub(crate) const READ: u64 = 10;

/// The fields before the messages, in the order in which providers cache them.
const HEAD: [&str; 5] = ["tools", "tool_choice", "system", "instructions", "thinking"];

impl<'b> Request<'b> {
    /// Reads a request. Returns `None` for a body that must be forwarded unchanged: other JSON, a
    /// continuation of a stored response, or a message of another form than the API documents.
    #[must_use]
    pub fn parse(api: Api, body: &'b [u8]) -> Option<Self> {
        Self::parse_after(api, simdutf8::basic::from_utf8(body).ok()?, Outline::default(), 0)
    }

    /// Reads a request. `previous` is the outline of another request of this API with the same first
    /// `common` bytes.
    pub(crate) fn parse_after(
        api: Api,
        body: &'b str,
        previous: Outline,
        common: usize,
    ) -> Option<Self> {
        let mut previous = Some(previous);
        let is_openai = api != Api::Anthropic;
        let cache_fields =
            CacheFields { api, has_marks: false, has_mark_for_all: false, seconds: None };
        let mut request = Self {
            body,
            model: String::new(),
            session: None,
            head: Vec::new(),
            outline: Outline::default(),
            seen_messages: 0,
            cache_fields,
            cache: cache_fields.cache(false),
        };
        let messages_name = if api == Api::OpenAiResponses { "input" } else { "messages" };
        let mut fields: HashMap<&str, &str> = HashMap::new();
        let mut json = Reader::new(body);
        let mut head_marks = Vec::new();
        json.members(|json, key| {
            json.peek()?;
            let start = json.at();
            if key.name == messages_name {
                request.read_messages(json, previous.take()?, common)?;
            } else if HEAD.contains(&key.name) {
                read_content(json, &mut head_marks)?;
            } else {
                skip(json, key.name)?;
            }
            fields.insert(key.name, &body[start..json.at()]).is_none().then_some(())
        })?;
        json.end()?;
        let field = |name: &str| fields.get(name).copied().filter(|json| *json != "null");
        if field("previous_response_id").is_some() || field(messages_name).is_none() {
            return None;
        }
        request.model = decode(field("model")?)?;
        // Only Anthropic's metadata identify the session.
        let session = field("prompt_cache_key").or(field("metadata").filter(|_| !is_openai));
        request.session = session.map(|json| short_id(blake3::hash(json.as_bytes())));
        request.head = HEAD.into_iter().filter_map(field).map(|json| place(body, json)).collect();
        let marks = &mut request.outline.marks;
        marks.append(&mut head_marks);
        marks.sort_unstable_by_key(|mark| mark.place.start);
        let mark = field(CACHE_CONTROL);
        let is_hour =
            marks.iter().any(|mark| mark.is_hour) || mark.is_some_and(|it| it.contains("\"1h\""));
        request.cache_fields = CacheFields {
            has_marks: request.outline.messages.iter().any(|message| message.has_mark),
            has_mark_for_all: mark.is_some(),
            seconds: if field("prompt_cache_retention") == Some("\"24h\"") {
                Some(DAY)
            } else {
                is_hour.then_some(HOUR)
            },
            ..cache_fields
        };
        request.cache = request.cache_fields.cache(reports_writes(&request.model));
        let messages = &request.outline.messages;
        request.seen_messages =
            messages.iter().rposition(|it| it.is_from_model).map_or(0, |at| at + 1);
        request.ignore_repeated_ids();
        Some(request)
    }

    fn read_messages(
        &mut self,
        json: &mut Reader<'b>,
        mut previous: Outline,
        common: usize,
    ) -> Option<()> {
        previous.truncate(common);
        let start = previous.messages.first().map(|message| message.place.start);
        let mut previous = Some(previous).filter(|previous| !previous.has_repeated_ids);
        json.elements(|json| {
            json.peek()?;
            if start == Some(json.at())
                && let Some(previous) = previous.take()
            {
                self.outline = previous;
                json.set_at(self.outline.messages.last()?.place.end);
                return Some(());
            }
            self.read_message(json)
        })
    }

    /// Forgets the results whose ids occur twice, because decisions belong to ids.
    fn ignore_repeated_ids(&mut self) {
        let results = &mut self.outline.results;
        let mut uses: HashMap<&str, usize, RandomState> = HashMap::default();
        for result in &*results {
            *uses.entry(&result.key.call).or_default() += 1;
        }
        if uses.len() == results.len() {
            return;
        }
        let is_unique: Vec<_> = results.iter().map(|result| uses[&*result.key.call] == 1).collect();
        let mut is_unique = is_unique.into_iter();
        results.retain(|_| is_unique.next().unwrap_or(true));
        self.outline.lines = Lines::default();
        for result in &self.outline.results {
            let string = &self.body[result.place.clone()];
            self.outline.lines.add_text(&string[1..string.len() - 1]);
        }
        self.outline.has_repeated_ids = true;
        self.outline.previous = None;
        // These results are now part of their messages, so the hashes must include their texts.
        for at in 0..self.outline.messages.len() {
            self.outline.messages[at].hash =
                self.hash_part(self.outline.messages[at].place.clone());
        }
    }

    fn read_message(&mut self, json: &mut Reader<'b>) -> Option<()> {
        let (start, marks) = (json.at(), self.outline.marks.len());
        let item = read_item(json, &mut self.outline.marks)?;
        let (role, kind) = (item.role.and_then(plain), item.kind.and_then(plain));
        let mut is_turn = role == Some("user");
        let is_call = kind.is_some_and(|kind| kind.ends_with("_call"));
        match kind {
            Some("function_call_output" | "custom_tool_call_output") => {
                self.add_result(item.call, &item.output?)?;
            }
            Some("function_call" | "custom_tool_call") => {
                self.add_call(item.call, item.name, item.arguments.or(item.input))?;
            }
            _ if role == Some("tool") => self.add_result(item.call, &item.content?)?,
            _ => {
                for call in item.calls.map_or(Vec::new(), Content::into_items) {
                    if let Some(function) = call.function {
                        self.add_call(call.id, function.name, function.arguments)?;
                    }
                }
                for part in item.content.map_or(Vec::new(), Content::into_items) {
                    match part.kind.and_then(plain) {
                        Some("tool_use") => self.add_call(part.id, part.name, part.input)?,
                        Some("tool_result") => {
                            is_turn = false;
                            if let Some(content) = &part.content {
                                self.add_result(part.call, content)?;
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        let place = start..json.at();
        self.outline.messages.push(Message {
            is_turn,
            is_from_model: is_call || role == Some("assistant"),
            has_mark: has_mark(&self.outline.marks[marks..]),
            hash: self.hash_part(place.clone()),
            place,
        });
        Some(())
    }

    fn add_call(
        &mut self,
        id: Option<&'b str>,
        name: Option<&'b str>,
        arguments: Option<&'b str>,
    ) -> Option<()> {
        let part = |json: Option<&str>| json.map_or(0..0, |json| place(self.body, json));
        let (id, name, arguments) = (decode(id?)?.into(), part(name), part(arguments));
        let message = self.outline.messages.len();
        self.outline.calls.push(Call { id, message, name, arguments });
        Some(())
    }

    /// Adds a result if it is one text.
    fn add_result(&mut self, call: Option<&'b str>, content: &Content<'b>) -> Option<()> {
        let call = decode(call?)?.into();
        let string = match content {
            Content::Text(string) => Some(*string),
            Content::Items(parts) => match &parts[..] {
                [part] => {
                    let kind = part.kind.and_then(plain);
                    let is_text = matches!(kind, Some("text" | "input_text" | "output_text"));
                    part.text.filter(|_| is_text)
                }
                _ => None,
            },
            Content::Other => None,
        };
        // Half a surrogate pair cannot be decoded.
        let is_text = |string: &&str| {
            let has_escape = memchr::memmem::find(string.as_bytes(), b"\\u").is_some();
            string.starts_with('"') && (!has_escape || decode(string).is_some())
        };
        if let Some(string) = string.filter(is_text) {
            self.outline.results.push(ToolResult {
                key: Key::new(call, string),
                message: self.outline.messages.len(),
                place: place(self.body, string),
            });
            self.outline.lines.add_text(&string[1..string.len() - 1]);
        }
        Some(())
    }

    /// Returns the string of a result as it is written, with quotes.
    pub(crate) fn string(&self, result: &ToolResult) -> &'b str {
        &self.body[result.place.clone()]
    }

    /// Returns the string of a result as it is written, without quotes.
    pub(crate) fn content(&self, result: &ToolResult) -> &'b str {
        let string = self.string(result);
        &string[1..string.len() - 1]
    }

    /// Returns the text of a result.
    pub(crate) fn text(&self, result: &ToolResult) -> String {
        decode(self.string(result)).unwrap_or_default()
    }

    /// Hashes a part of the body without cache marks, which move from request to request. A byte stands for
    /// each result, because the text that is sent for it is only known later.
    pub(crate) fn hash_part(&self, part: Range<usize>) -> Hash {
        let results = &self.outline.results;
        let first_result = results.partition_point(|it| it.place.start < part.start);
        let mut results = results[first_result..].iter().map(|result| &result.place).peekable();
        let mut marks = self.marks_in(&part).peekable();
        let mut hasher = blake3::Hasher::new();
        let mut at = part.start;
        loop {
            let start = |place: Option<&&Range<usize>>| place.map_or(part.end, |it| it.start);
            let (result, mark) = (start(results.peek()), start(marks.peek()));
            let next = result.min(mark).min(part.end);
            hasher.update(&self.body.as_bytes()[at..next]);
            if next == part.end {
                return *hasher.finalize().as_bytes();
            }
            let skipped = if next == mark {
                marks.next()
            } else {
                // Text in UTF-8 does not contain this byte.
                hasher.update(&[0xFF]);
                results.next()
            };
            at = skipped.map_or(part.end, |place| place.end);
        }
    }

    /// Returns the places of the cache marks in a part of the body.
    pub(crate) fn marks_in(&self, part: &Range<usize>) -> impl Iterator<Item = &Range<usize>> {
        let marks = &self.outline.marks;
        let first = marks.partition_point(|mark| mark.place.start < part.start);
        let (marks, end) = (marks[first..].iter().map(|mark| &mark.place), part.end);
        marks.take_while(move |place| place.start < end)
    }

    /// Returns the tool results that can be edited.
    #[must_use]
    pub fn results(&self) -> Vec<ResultText<'_>> {
        let results = self.outline.results.iter();
        results
            .map(|it| ResultText {
                call: &it.key.call,
                place: it.place.clone(),
                text: self.text(it),
            })
            .collect()
    }

    /// Returns the number of bytes of the fields before the messages.
    #[cfg(feature = "proxy")]
    pub(crate) fn head_bytes(&self) -> usize {
        self.head.iter().map(Range::len).sum()
    }

    /// Returns an id of the first message without its results, which all requests of a session have.
    #[cfg(feature = "proxy")]
    pub(crate) fn first_message_id(&self) -> String {
        short_id(self.outline.messages.first().map_or([0; 32], |message| message.hash).into())
    }

    /// Returns whether `edited` is this request with other texts of results. Since only strings are
    /// replaced, and only by strings, it has the same structure.
    #[must_use]
    pub fn differs_only_in_results(&self, edited: &EditedBody<'_>) -> bool {
        let mut results = self.outline.results.iter();
        edited.replaced.iter().all(|(place, string)| {
            let mut json = Reader::new(string);
            let is_string = json.string().is_some_and(|json| json == &**string);
            is_string && **string != *"\"\"" && results.any(|result| result.place == *place)
        })
    }

    /// Returns the tool and the arguments of each call by its id, both as they are written.
    pub(crate) fn calls(&self) -> HashMap<&str, (&'b str, &'b str), RandomState> {
        let part = |place: &Range<usize>| &self.body[place.clone()];
        let calls = self.outline.calls.iter();
        calls.map(|it| (&*it.id, (part(&it.name).trim_matches('"'), part(&it.arguments)))).collect()
    }

    /// Notes that the provider reports the tokens that it writes to its cache.
    #[cfg(feature = "proxy")]
    pub(crate) const fn set_reports_writes(&mut self) {
        self.cache = self.cache_fields.cache(true);
    }

    /// Returns the number of messages that the provider may cache.
    pub(crate) fn cached_messages(&self) -> usize {
        let messages = &self.outline.messages;
        match self.cache.messages {
            CachedMessages::UntilMark => {
                messages.iter().rposition(|message| message.has_mark).map_or(0, |last| last + 1)
            }
            CachedMessages::All | CachedMessages::Unasked => messages.len(),
        }
    }

    /// Returns the index of the newest message in which the user says something.
    pub(crate) fn newest_turn(&self) -> Option<usize> {
        self.outline.messages.iter().rposition(|message| message.is_turn)
    }
}

/// Returns the place of a part in the text from which it is borrowed.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Returns a short id for the id of a client, which may be long or private.
fn short_id(hash: blake3::Hash) -> String {
    hash.to_hex()[..12].to_owned()
}

#[cfg(test)]
mod tests;

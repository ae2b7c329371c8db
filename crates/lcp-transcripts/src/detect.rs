//! Detects the format of an input.

use serde_json::value::RawValue;

use crate::raw_json::{self, Document, Fields, Source};
use crate::{Format, codex, gemini, gemini_cli, mcp, opencode};

/// The maximum number of lines or items that are examined.
const LOOKED_AT_MAX: usize = 200;

/// Detects the format of a transcript by its structure. Text that is not JSON is
/// [`Format::Markdown`].
///
/// Requests of `OpenAI` chat and Anthropic look alike. They are told apart by, in this order:
///
/// 1. the roles, fields and part types of the messages;
/// 2. request fields that only one of the two has;
/// 3. a model whose name begins with `claude`, or `max_tokens` without a model, for Anthropic.
///
/// Otherwise the format is [`Format::OpenAiChat`]. Returns `None` for empty text, binary data,
/// broken JSON and JSON of another structure.
///
/// ```
/// use lcp_transcripts::{Format, detect};
///
/// let chat = br#"[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"#;
/// assert_eq!(detect(chat), Some(Format::OpenAiChat));
/// assert_eq!(detect(b"## User\n\nhi\n"), Some(Format::Markdown));
/// assert_eq!(detect(b"{}"), None);
/// ```
#[must_use]
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let source = Source::new(bytes).ok()?;
    let text = source.text().trim_start();
    if text.is_empty() || text.contains('\0') {
        return None;
    }
    match source.document() {
        Ok(Document::List(list)) => ListFormat::new(&list, false).or(Format::OpenAiChat),
        Ok(Document::One(value)) => of_object(&Fields::read(value)?),
        Ok(Document::Lines(lines)) => {
            let values = lines.filter_map(|line| line.value.ok()).take(LOOKED_AT_MAX);
            values.filter_map(Fields::read).find_map(|fields| of_object(&fields))
        }
        // Text that begins like JSON but cannot be parsed is broken JSON, not Markdown.
        Err(_) => (!looks_like_json(text)).then_some(Format::Markdown),
    }
}

/// Detects the format of a transcript. A list of messages that only have roles and texts, which are
/// the same for `OpenAI` and Anthropic, has the format `default`.
///
/// ```
/// use lcp_transcripts::{Format, detect_messages};
///
/// let chat = br#"[{"role":"user","content":"hi"}]"#;
/// assert_eq!(detect_messages(chat, Format::Anthropic), Some(Format::Anthropic));
/// ```
#[must_use]
pub fn detect_messages(bytes: &[u8], default: Format) -> Option<Format> {
    let source = Source::new(bytes).ok()?;
    match raw_json::first_items(source.text(), LOOKED_AT_MAX) {
        items if items.is_empty() => detect(bytes),
        // Text can begin with brackets, too.
        items => ListFormat::new(&items, false).or(default).or_else(|| detect(bytes)),
    }
}

/// Returns whether a text begins like JSON and not like a template or a wiki link.
fn looks_like_json(text: &str) -> bool {
    let inner = text.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    match inner.strip_prefix('{') {
        Some(object) => !object.starts_with(['{', '%', '#']),
        None => text.starts_with('[') && inner.starts_with(['"', ']']),
    }
}

fn of_object(fields: &Fields<'_>) -> Option<Format> {
    let kind = fields.string("type");
    let has = |key: &str| fields.get(key).is_some();
    // A response of Anthropic also has the type `message`, which Codex lines use too.
    let is_item = kind.as_deref() != Some("message")
        || has("payload")
        || of_message(fields) == Some(Format::OpenAiResponses);
    if is_item && codex::is_line(fields) {
        return Some(Format::Codex);
    }
    if let Some(format) = of_session(fields) {
        return Some(format);
    }
    let list = |key: &str| fields.get(key).and_then(raw_json::array);
    if let Some(messages) = list("messages") {
        let of_request =
            if is_of_anthropic(fields) { Format::Anthropic } else { Format::OpenAiChat };
        let list = ListFormat::new(&messages, true);
        let system = list.has_system.then_some(Format::OpenAiChat);
        return list.certain.or(system).or(Some(of_request));
    }
    if has("choices") {
        return Some(Format::OpenAiChat);
    }
    if gemini::is_of(fields) {
        return Some(Format::Gemini);
    }
    if kind.as_deref() == Some("message") && has("role") {
        return Some(Format::Anthropic);
    }
    if has("jsonrpc") {
        return Some(Format::Mcp);
    }
    if list("output").is_some() || has("input") && (has("model") || list("input").is_some()) {
        return Some(Format::OpenAiResponses);
    }
    if has("role") {
        return Some(of_message(fields).unwrap_or(Format::OpenAiChat));
    }
    if mcp::is_message(fields) {
        return Some(Format::Mcp);
    }
    // A line of a batch file holds its request or response in a field.
    let inner = |key: &str| fields.get(key).and_then(Fields::read);
    let message = inner("result").and_then(|result| Fields::read(result.get("message")?));
    if message.is_some_and(|message| message.string("type").as_deref() == Some("message")) {
        return Some(Format::Anthropic);
    }
    ["body", "params", "request", "response"].iter().find_map(|key| {
        let found = of_object(&inner(key)?)?;
        let is_batch = *key == "params" && has("custom_id") && found == Format::OpenAiChat;
        Some(if is_batch { Format::Anthropic } else { found })
    })
}

/// Returns the format of a line of a session or of the output of an agent.
fn of_session(fields: &Fields<'_>) -> Option<Format> {
    if codex::is_event(fields) {
        return Some(Format::Codex);
    }
    if gemini_cli::is_line(fields) {
        return Some(Format::GeminiCli);
    }
    if opencode::is_of(fields) {
        return Some(Format::Opencode);
    }
    let kind = fields.string("type")?;
    let keys = ["sessionId", "session_id", "leafUuid", "parentUuid", "uuid"];
    let is_session = keys.iter().any(|key| fields.get(key).is_some());
    // Lines without ids, as `claude --input-format stream-json` reads them.
    let is_message = matches!(kind.as_str(), "user" | "assistant")
        && fields.get("message").and_then(Fields::read).is_some_and(|of| of.get("role").is_some());
    let is_one = is_session || is_message || kind == "file-history-snapshot";
    is_one.then_some(Format::ClaudeCode)
}

/// Returns whether a request has the format of Anthropic. Used if its messages do not decide it.
fn is_of_anthropic(request: &Fields<'_>) -> bool {
    let has = |key: &&str| request.get(key).is_some();
    let inner = |key: &str| request.get(key).and_then(Fields::read);
    let tools = request.get("tools").and_then(raw_json::array).unwrap_or_default();
    let any_tool = |key: &str| {
        let tools = tools.iter().take(LOOKED_AT_MAX).filter_map(|tool| Fields::read(tool));
        tools.into_iter().any(|tool| tool.get(key).is_some())
    };
    let thinks = inner("thinking").is_some_and(|of| of.get("budget_tokens").is_some());
    if thinks || OF_ANTHROPIC.iter().any(&has) || any_tool("input_schema") {
        return true;
    }
    let is_openai = OF_OPENAI.iter().any(&has) || any_tool("function");
    let named = match request.string("model") {
        Some(model) => model.starts_with("claude"),
        None => has(&"max_tokens"),
    };
    named && !is_openai
}

/// The fields that only requests of Anthropic have.
const OF_ANTHROPIC: [&str; 4] = ["system", "stop_sequences", "anthropic_version", "anthropic_beta"];

/// The fields that only requests of `OpenAI` and compatible servers have.
#[rustfmt::skip]
const OF_OPENAI: [&str; 20] = [
    "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
    "max_completion_tokens", "modalities", "n", "parallel_tool_calls", "prediction",
    "presence_penalty", "reasoning_effort", "response_format", "seed", "stop", "store",
    "stream_options", "top_logprobs", "user", "verbosity",
];

/// The format of a list of messages or items.
struct ListFormat {
    /// The only format that the list can have, if there is just one.
    certain: Option<Format>,
    /// `true` if there is a message of the system, as `OpenAI` has them in both of its formats.
    has_system: bool,
    has_roles: bool,
}

impl ListFormat {
    /// Reads a list. The messages of a request are not items, and no lines of a session.
    fn new(list: &[&RawValue], is_request: bool) -> Self {
        let (mut has_roles, mut has_system) = (false, false);
        let certain = list.iter().take(LOOKED_AT_MAX).find_map(|value| {
            let fields = Fields::read(value)?;
            let has_role = fields.get("role").is_some();
            has_roles |= has_role;
            has_system |= fields.string("role").is_some_and(|role| is_system(&role));
            let is_item = codex::is_line(&fields) && fields.get("payload").is_none();
            if is_item && !is_request && fields.get("stop_reason").is_none() {
                return Some(Format::OpenAiResponses);
            }
            let session = || if is_request { None } else { of_session(&fields) };
            let other = || {
                if has_role {
                    gemini::is_of(&fields).then_some(Format::Gemini)
                } else {
                    mcp::is_message(&fields).then_some(Format::Mcp)
                }
            };
            of_message(&fields).or_else(session).or_else(other)
        });
        Self { certain, has_system, has_roles }
    }

    /// Returns the format, or `default` for messages that do not decide it.
    fn or(self, default: Format) -> Option<Format> {
        // Both formats of `OpenAI` have system messages.
        let is_chat = self.has_system && default != Format::OpenAiResponses;
        let default = if is_chat { Format::OpenAiChat } else { default };
        self.certain.or(self.has_roles.then_some(default))
    }
}

fn is_system(role: &str) -> bool {
    matches!(role, "system" | "developer")
}

/// Returns the only format that this message can have, if there is just one.
fn of_message(fields: &Fields<'_>) -> Option<Format> {
    let role = fields.string("role")?;
    let is_openai = matches!(role.as_str(), "tool" | "function")
        || ["tool_calls", "function_call", "refusal", "audio"]
            .iter()
            .any(|key| fields.get(key).is_some());
    let parts = fields.get("content").and_then(raw_json::array).unwrap_or_default();
    let kinds = parts.iter().filter_map(|part| Fields::read(part)?.string("type"));
    let mut found = kinds.filter_map(|kind| match kind.as_str() {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document" => {
            Some(Format::Anthropic)
        }
        "input_text" | "output_text" | "input_image" | "input_file" => {
            Some(Format::OpenAiResponses)
        }
        "image_url" | "input_audio" | "refusal" | "file" => Some(Format::OpenAiChat),
        _ => None,
    });
    // A list can also contain whole responses.
    let is_answer = fields.get("stop_reason").is_some();
    let by_fields = if is_answer { Some(Format::Anthropic) } else { None };
    found.next().or(by_fields).or(is_openai.then_some(Format::OpenAiChat))
}

//! Messages of a chat API within a budget, in the shape of the input.

mod originals;
mod report;

use std::path::Path;

use lcp_driver::Overflow;
use lcp_ingest::SecretPolicy;
use lcp_transcripts::{Format, Provider};
use lcp_types::{Block, BlockContent, Role};
use serde_json::value::RawValue;

use crate::budget::BudgetOptions;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::export::{ExportOptions, ExportedPack, FitRules, ResultOrder};
use crate::import::{ImportOptions, ImportedTranscript};
use crate::reporter::{Reporter, Silent};
use crate::tokenizer::TokenizerOptions;
use originals::MessageIndices;

pub use originals::FittedMessage;
pub use report::FitReport;

/// The name of the messages in errors.
const MESSAGES: &str = "messages";

/// The options of a fit.
///
/// ```
/// use lcp_app::Warnings;
/// use lcp_app::budget::BudgetOptions;
/// use lcp_app::config::Config;
/// use lcp_app::fit_messages::FitOptions;
///
/// let messages = br#"[
///     {"role": "system", "content": "Answer briefly."},
///     {"role": "user", "content": "What is a budget?"},
///     {"role": "assistant", "content": "A limit, here of tokens. The text never exceeds it."},
///     {"role": "user", "content": "And a pack?"}
/// ]"#;
/// let budget = BudgetOptions { budget: Some(40), ..BudgetOptions::default() };
/// let options = FitOptions { budget, ..FitOptions::default() };
/// let fitted = options.fit(messages, &Config::default(), &Warnings::default())?;
/// assert!(fitted.report.used_tokens() <= 40);
/// assert!(fitted.json.contains("And a pack?"));
/// # Ok::<(), lcp_app::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The format of the messages, one of a chat API. By default, it is detected. Messages that only
    /// have roles and texts are Anthropic's if the name of the model begins with `claude`, and else
    /// `OpenAI`'s.
    pub format: Option<Format>,
    /// The limits. By default, messages that must exceed the budget are an error.
    pub budget: BudgetOptions,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
    /// The order in which older tool results and files are shown.
    pub order: ResultOrder,
    /// The part of the budget that stays free for the next turns if messages must be cut, between 0
    /// and 1. Without it, each turn would cut again, and the provider could not reuse its cache.
    /// By default, it is 0.1.
    pub headroom: f64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            format: None,
            budget: BudgetOptions::default(),
            tokenizer: TokenizerOptions::default(),
            order: ResultOrder::default(),
            headroom: 0.1,
        }
    }
}

/// Messages within a budget.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The messages as JSON: a list if the input was one, or else a request. If nothing was changed,
    /// it is the input.
    pub json: String,
    /// The messages of a list. A request has none here.
    pub messages: Vec<FittedMessage>,
    /// The note about omitted messages, if the messages cannot contain it: a list of Anthropic or
    /// Gemini has no system messages. It is counted; append it to the system prompt.
    pub note: Option<String>,
    /// `true` if the messages are those of the input.
    pub is_unchanged: bool,
    /// The counts and decisions.
    pub report: FitReport,
    format: Format,
    /// The number of messages in the input.
    input_messages: usize,
}

/// Exported messages, and the input that they came from.
struct Exported {
    format: Format,
    indices: MessageIndices,
    input_messages: usize,
    export: ExportedPack,
}

impl FitOptions {
    /// Fits messages into the budget. They are a list, or a request with other fields, whose tools
    /// count, too.
    ///
    /// - The messages never exceed the budget.
    /// - Calls of tools and their results stay together, in their order.
    /// - System messages and the newest turn of the user are kept.
    /// - Messages that fit are returned unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error if the messages are malformed or of no chat API, if a list for a provider has
    /// system messages that it cannot contain, or if system messages and the newest turn of the user
    /// exceed the budget.
    pub fn fit(&self, messages: &[u8], config: &Config, reporter: &dyn Reporter) -> Result<Fitted> {
        let format = self.format.or_else(|| self.detect(messages));
        let Exported { format, indices, mut input_messages, export } =
            self.export(format, messages, config, reporter)?;
        let is_unchanged = is_complete(&export) && export.all.report.inserted == 0;
        let input = String::from_utf8_lossy(messages);
        let (json, messages, note) = if is_unchanged {
            let count = if is_list(messages) { input_messages } else { 0 };
            (input.into_owned(), (0..count).map(FittedMessage::Original).collect(), None)
        } else if is_list(messages) {
            let (list, note) = list(export.json())?;
            let read = |json| {
                serde_json::from_str::<Vec<&RawValue>>(json).map_err(|error| malformed(&error))
            };
            let (originals, messages) = (read(&input)?, read(list)?);
            input_messages = originals.len();
            (list.to_owned(), indices.find(&export, &messages, &originals), note)
        } else {
            (export.json().to_owned(), Vec::new(), None)
        };
        let report = FitReport::new(export);
        Ok(Fitted { json, messages, note, is_unchanged, report, format, input_messages })
    }

    /// Appends a list of messages to a fitted list, which stays as it is, so that the provider can
    /// reuse its cache.
    ///
    /// Returns `None` if all messages must be fitted again: they exceed the budget, or the new ones
    /// are not valid alone, such as the result of a call in the fitted list.
    pub fn append(&self, fitted: &Fitted, messages: &[u8], config: &Config) -> Option<Fitted> {
        let budget = self.budget.budget?;
        if is_empty_list(messages) {
            let report = fitted.report.with_budget(budget);
            let fits = report.used_tokens() <= u64::from(budget);
            return fits.then(|| Fitted { report, ..fitted.clone() });
        }
        let start = fitted.json.trim_ascii_end().strip_suffix(']')?;
        let end = std::str::from_utf8(messages).ok()?.trim_ascii_start().strip_prefix('[')?;
        let format = lcp_transcripts::detect_messages(messages, fitted.format)?;
        if format != fitted.format {
            return None;
        }
        let complete = BudgetOptions { budget: Some(u32::MAX), ..self.budget.clone() };
        let options = Self { budget: complete, ..self.clone() };
        let Exported { export, input_messages: count, .. } =
            options.export(Some(format), messages, config, &Silent).ok()?;
        let report =
            is_complete(&export).then(|| fitted.report.with_budget(budget).append(export))?;
        if report.used_tokens() > u64::from(budget) {
            return None;
        }
        let input_messages = fitted.input_messages + count;
        let appended = (fitted.input_messages..input_messages).map(FittedMessage::Original);
        let messages = fitted.messages.iter().cloned().chain(appended).collect();
        let (json, note) = (format!("{start},{end}"), fitted.note.clone());
        Some(Fitted { json, messages, note, report, input_messages, ..*fitted })
    }

    /// Detects the format of messages.
    fn detect(&self, messages: &[u8]) -> Option<Format> {
        let is_claude = self.tokenizer.model.as_ref().is_some_and(|it| it.starts_with("claude"));
        let default = if is_claude { Format::Anthropic } else { Format::OpenAiChat };
        lcp_transcripts::detect_messages(messages, default)
    }

    /// Exports messages for their own provider.
    fn export(
        &self,
        format: Option<Format>,
        messages: &[u8],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<Exported> {
        let path = Path::new(MESSAGES);
        let secrets = Some(SecretPolicy::Off);
        let import = ImportOptions { format, secrets, ..ImportOptions::default() };
        let ImportedTranscript { format, blocks, report } =
            import.import(path, messages, config, reporter)?;
        let provider = format.provider().filter(|_| is_of_api(format)).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("{format} is not the format of a chat API"))
                .with_hint("pass messages of OpenAI, Anthropic or Gemini")
        })?;
        let is_list = is_list(messages);
        if is_list && has_no_system_messages(provider) && blocks.iter().any(is_system) {
            let message = format!("a list of messages for {provider} has no system messages");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("leave them out, and send them as the system prompt"));
        }
        let overflow = self.budget.overflow.or(Some(Overflow::Deny));
        let options = ExportOptions {
            provider,
            budget: BudgetOptions { overflow, ..self.budget.clone() },
            tokenizer: self.tokenizer.clone(),
            order: self.order,
            ..ExportOptions::default()
        };
        let rules = FitRules { headroom: self.headroom, keeps_question: true };
        let indices = MessageIndices::new(&blocks);
        let input_messages = usize::try_from(report.messages).unwrap_or(usize::MAX);
        let export = options.export_blocks(path, &blocks, config, reporter, rules)?;
        Ok(Exported { format, indices, input_messages, export })
    }
}

fn is_empty_list(messages: &[u8]) -> bool {
    let inner = messages.trim_ascii().strip_prefix(b"[");
    inner.is_some_and(|inner| inner.trim_ascii() == b"]")
}

fn is_list(messages: &[u8]) -> bool {
    messages.trim_ascii_start().starts_with(b"[")
}

/// Returns whether messages are sent in this format. Files of agents are other formats.
const fn is_of_api(format: Format) -> bool {
    matches!(
        format,
        Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic | Format::Gemini
    )
}

/// Returns whether the system prompt of a request is not in its list of messages.
const fn has_no_system_messages(provider: Provider) -> bool {
    matches!(provider, Provider::Anthropic | Provider::Gemini)
}

fn is_system(block: &Block<'_>) -> bool {
    matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::System)
}

/// Returns whether an export omits and changes nothing.
fn is_complete(export: &ExportedPack) -> bool {
    let report = &export.all.report;
    let changes = [
        export.messages.dropped as u64,
        report.unanswered,
        report.orphans,
        report.empty,
        report.renamed,
        report.left_out.values().sum(),
    ];
    !export.messages.plan.is_cut()
        && changes.iter().all(|count| *count == 0)
        && export.all.renamed_tools.is_empty()
}

/// Returns the list of messages in a request, and the note about omissions: the last part of its
/// system prompt.
fn list(request: &str) -> Result<(&str, Option<String>)> {
    #[derive(serde::Deserialize)]
    struct Request<'j> {
        #[serde(borrow, alias = "input", alias = "contents")]
        messages: &'j RawValue,
        #[serde(alias = "instructions", alias = "systemInstruction")]
        system: Option<serde_json::Value>,
    }
    let request: Request<'_> = serde_json::from_str(request).map_err(|error| malformed(&error))?;
    let note = request.system.as_ref().and_then(system_text);
    Ok((request.messages.get(), note))
}

fn malformed(error: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Malformed, format!("messages: {error}"))
}

/// Returns the text of a system prompt: a string, or the text of its last part.
fn system_text(system: &serde_json::Value) -> Option<String> {
    let parts = system.get("parts").unwrap_or(system);
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    text(parts).or_else(|| text(parts.as_array()?.last()?.get("text")?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::reporter::Silent;

    fn options(budget: u32) -> FitOptions {
        let budget = BudgetOptions { budget: Some(budget), ..BudgetOptions::default() };
        FitOptions { budget, headroom: 0.0, ..FitOptions::default() }
    }

    fn append(options: &FitOptions, fitted: &Fitted, messages: &Value) -> Option<Fitted> {
        options.append(fitted, messages.to_string().as_bytes(), &Config::default())
    }

    fn fit(options: &FitOptions, messages: &Value) -> Fitted {
        let messages = messages.to_string();
        options.fit(messages.as_bytes(), &Config::default(), &Silent).unwrap()
    }

    /// A conversation whose model reads a long file in each of its turns.
    fn history(turns: usize) -> Value {
        let turn = |at: usize| {
            let file = format!("line {at} of a file that the model reads\n").repeat(60);
            let call = json!({
                "id": format!("call_{at}"), "type": "function",
                "function": { "name": "read", "arguments": format!("{{\"path\":\"{at}.txt\"}}") },
            });
            [
                json!({ "role": "user", "content": format!("What does file {at} say?") }),
                json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
                json!({ "role": "tool", "tool_call_id": format!("call_{at}"), "content": file }),
                json!({ "role": "assistant", "content": format!("It repeats line {at}.") }),
            ]
        };
        let system = json!({ "role": "system", "content": "Answer briefly." });
        let last = json!({ "role": "user", "content": "And what do all of them say?" });
        std::iter::once(system).chain((0..turns).flat_map(turn)).chain([last]).collect()
    }

    #[test]
    fn messages_that_fit_are_the_input() {
        let messages = json!([
            { "role": "user", "content": "Hello", "name": "ada", "x_own": [1, 2.50] },
            { "content": [{ "type": "text", "text": "Hi" }], "role": "assistant" },
        ]);
        let fitted = fit(&options(1_000), &messages);
        assert!(fitted.is_unchanged);
        assert_eq!(fitted.json, messages.to_string());
    }

    #[test]
    fn long_history_fits_with_its_calls_and_newest_turn() {
        let messages = history(12);
        let fitted = fit(&options(1_500), &messages);
        assert!(!fitted.is_unchanged && fitted.note.is_none());
        assert!(fitted.report.used_tokens() <= 1_500);
        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!(list[0]["content"], "Answer briefly.");
        assert_eq!(list.last().unwrap()["content"], "And what do all of them say?");
        let ids = |key: &str| -> Vec<&str> {
            let found = list.iter().filter_map(|it| it.pointer(key)?.as_str());
            found.collect()
        };
        assert!(!ids("/tool_calls/0/id").is_empty());
        assert_eq!(ids("/tool_calls/0/id"), ids("/tool_call_id"));
        // A second fit changes nothing.
        let again = options(1_500).fit(fitted.json.as_bytes(), &Config::default(), &Silent);
        assert_eq!(again.unwrap().json, fitted.json);
    }

    #[test]
    fn messages_are_those_of_the_input_or_new() {
        let messages = history(12);
        let fitted = fit(&options(1_500), &messages);
        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!(list.len(), fitted.messages.len());
        let (mut originals, mut news) = (0, 0);
        for (message, value) in fitted.messages.iter().zip(&list) {
            match message {
                FittedMessage::Original(index) => {
                    assert_eq!(value, &messages[index]);
                    originals += 1;
                }
                FittedMessage::New { origin, json } => {
                    let source = origin.map(|index| &messages[index]["role"]);
                    assert!(source.is_none_or(|role| *role == value["role"]));
                    news += usize::from(origin.is_some());
                    assert_eq!(&serde_json::from_str::<Value>(json).unwrap(), value);
                    assert!(messages.as_array().unwrap().iter().all(|message| message != value));
                }
            }
        }
        assert!((2..list.len()).contains(&originals), "{originals} of {}", list.len());
        assert!(news > 0);
    }

    #[test]
    fn headroom_stays_free_unless_the_newest_turn_needs_it() {
        let options = FitOptions { headroom: 0.25, ..options(2_000) };
        let tokens = |messages| fit(&options, messages).report.used_tokens();
        let cut = tokens(&history(20));
        // A tenth of the headroom may be used.
        assert!((1_000..=1_550).contains(&cut), "{cut}");
        let words = "word ".repeat(1_800);
        let long = json!([
            { "role": "user", "content": "An older question. ".repeat(200) },
            { "role": "assistant", "content": "An answer." },
            { "role": "user", "content": words },
        ]);
        let fitted = fit(&options, &long);
        assert!((1_800..=2_000).contains(&fitted.report.used_tokens()));
        assert!(fitted.messages.contains(&FittedMessage::Original(2)));
    }

    #[test]
    fn appended_messages_follow_the_fitted_ones_while_they_fit() {
        let options = FitOptions { headroom: 0.3, ..options(6_000) };
        let all = history(30);
        let all = all.as_array().unwrap();
        // The history without its last question, and then a turn of four messages at a time.
        let mut fitted = fit(&options, &all[..61].into());
        let mut turns = 0;
        for end in (65..=121).step_by(4) {
            let messages: Value = all[end - 4..end].into();
            let Some(appended) = append(&options, &fitted, &messages) else { break };
            let tokens = appended.report.used_tokens();
            assert!(tokens <= 6_000 && appended.report.is_appended());
            let start = fitted.json.strip_suffix(']').unwrap();
            assert!(appended.json.starts_with(start));
            assert_eq!(appended.messages.last(), Some(&FittedMessage::Original(end - 1)));
            // The same tokens as those of a fit of the list, which is complete.
            let again = fit(&options, &serde_json::from_str(&appended.json).unwrap());
            assert_eq!((again.is_unchanged, again.report.used_tokens()), (true, tokens));
            let report = appended.report.to_json();
            assert_eq!(report["messages"].as_array().unwrap().len(), appended.messages.len());
            fitted = appended;
            turns += 1;
        }
        assert!((1..15).contains(&turns), "{turns} turns");
    }

    #[test]
    fn messages_that_depend_on_the_fitted_ones_are_not_appended() {
        let options = options(5_000);
        let fitted = fit(&options, &history(3));
        let orphan = json!([{ "role": "tool", "tool_call_id": "call_1", "content": "again" }]);
        assert!(append(&options, &fitted, &orphan).is_none());
        let call = json!({ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{}" } });
        let open = json!([{ "role": "assistant", "content": null, "tool_calls": [call] }]);
        assert!(append(&options, &fitted, &open).is_none());
        let part = json!({ "type": "tool_use", "id": "t", "name": "read", "input": {} });
        let other = json!([{ "role": "assistant", "content": [part] }]);
        assert!(append(&options, &fitted, &other).is_none());
        // The same messages again.
        let again = append(&options, &fitted, &json!([])).unwrap();
        assert_eq!((&again.json, &again.messages), (&fitted.json, &fitted.messages));
        assert!(append(&options, &fitted, &json!("text")).is_none());
    }

    #[test]
    fn appended_messages_of_anthropic_begin_with_the_model() {
        let question = json!([{ "role": "user", "content": "Read it." }]);
        let tokenizer = TokenizerOptions {
            model: Some("claude-x".into()),
            encoding: Some("o200k_base".into()),
            ..TokenizerOptions::default()
        };
        let options = FitOptions { tokenizer, ..options(1_000) };
        let fitted = fit(&options, &question);
        let call = json!({ "type": "tool_use", "id": "t", "name": "read", "input": {} });
        let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "text" });
        let step = json!([
            { "role": "assistant", "content": [call] }, { "role": "user", "content": [result] }
        ]);
        let appended = append(&options, &fitted, &step).unwrap();
        let answer = json!([{ "role": "assistant", "content": "Done." }]);
        let appended = append(&options, &appended, &answer).unwrap();
        let again = fit(&options, &serde_json::from_str(&appended.json).unwrap());
        assert!(again.is_unchanged);
        assert_eq!(again.report.used_tokens(), appended.report.used_tokens());
    }

    #[test]
    fn request_stays_a_request_and_its_tools_count() {
        let tools = json!([{ "type": "function", "function": { "name": "read" } }]);
        let request = json!({ "model": "gpt-5", "messages": history(12), "tools": tools });
        let fitted = fit(&options(1_500), &request);
        let result: Value = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!((&result["model"], &result["tools"]), (&request["model"], &request["tools"]));
        assert!(fitted.report.overhead_tokens() > 0);
        assert!(fitted.report.used_tokens() <= 1_500);
    }

    #[test]
    fn note_about_omissions_is_returned_if_no_message_can_contain_it() {
        let turns = (0..40).map(|at| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            json!({ "role": role, "content": format!("Words of turn {at}. ").repeat(20) })
        });
        let format = Some(Format::Anthropic);
        let fitted = fit(&FitOptions { format, ..options(600) }, &turns.collect());
        let note = fitted.note.unwrap();
        assert!(note.contains("omitted"), "{note}");
        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
        assert!(list.iter().all(|message| message["role"] != "system"));
    }

    #[test]
    fn calls_of_the_newest_turn_have_their_thinking() {
        let step = |at: usize| {
            let thinking = format!("I read file {at} next, for a reason. ").repeat(20);
            let thinking = json!({ "type": "thinking", "thinking": thinking, "signature": "c2ln" });
            let id = format!("toolu_{at}");
            let input = json!({ "path": format!("{at}.txt") });
            let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": input });
            let file = format!("line {at} of a file\n").repeat(30);
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": file });
            [
                json!({ "role": "assistant", "content": [thinking, call] }),
                json!({ "role": "user", "content": [result] }),
            ]
        };
        let question = json!({ "role": "user", "content": "What do the files say?" });
        let messages: Value = std::iter::once(question).chain((0..12).flat_map(step)).collect();
        let mut calls = 0;
        for budget in (200..6_000).step_by(100) {
            let fitted = fit(&options(budget), &messages);
            assert!(fitted.report.used_tokens() <= u64::from(budget));
            let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
            for message in list.iter().filter(|message| message["role"] == "assistant") {
                let types: Vec<_> = message["content"].as_array().unwrap().iter().collect();
                let types: Vec<_> = types.iter().map(|part| &part["type"]).collect();
                assert_eq!(types, ["thinking", "tool_use"], "budget {budget}");
                calls += 1;
            }
        }
        assert!(calls > 100, "{calls} calls");
    }

    #[test]
    fn newest_question_is_complete_or_an_error() {
        let question = json!({ "role": "user", "content": "word ".repeat(300) });
        for messages in [json!([question]), json!([{ "role": "user", "content": "Hi" }, question])]
        {
            let text = messages.to_string();
            for budget in (10..400).step_by(5) {
                let fitted = options(budget).fit(text.as_bytes(), &Config::default(), &Silent);
                match fitted {
                    Ok(fitted) => {
                        let list: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
                        assert_eq!(list.last(), Some(&question));
                        assert!(fitted.report.used_tokens() <= u64::from(budget));
                    }
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::OverBudget);
                        assert!(budget < 310, "{}", error.message);
                    }
                }
            }
        }
    }

    #[test]
    fn newest_question_keeps_its_images() {
        let image =
            json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
        let question = json!({ "type": "text", "text": "What does the image show?" });
        let mut messages = history(12);
        let last = messages.as_array_mut().unwrap().last_mut().unwrap();
        *last = json!({ "role": "user", "content": [question, image] });
        for budget in (100..3_000).step_by(100) {
            let fitted = fit(&options(budget), &messages);
            let result: Vec<Value> = serde_json::from_str(&fitted.json).unwrap();
            assert_eq!(result.last(), messages.as_array().unwrap().last(), "budget {budget}");
        }
    }

    #[test]
    fn other_formats_and_broken_messages_are_errors() {
        let fails = |options: FitOptions, messages: &[u8], expected: &str| {
            let error = options.fit(messages, &Config::default(), &Silent).unwrap_err();
            assert!(error.message.contains(expected), "{}", error.message);
        };
        fails(options(100), b"[{\"role\": ", "messages");
        let format = Some(Format::Markdown);
        fails(FitOptions { format, ..options(100) }, b"# User\nHi", "not the format of a chat API");
        let format = Some(Format::Anthropic);
        let system = br#"[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]"#;
        fails(FitOptions { format, ..options(100) }, system, "has no system messages");
        let messages = history(1).to_string();
        fails(options(3), messages.as_bytes(), "over the budget of 3");
    }
}

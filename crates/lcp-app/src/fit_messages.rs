//! Messages of a chat API within a budget, in the shape of the input.

use std::path::Path;

use lcp_driver::Overflow;
use lcp_ingest::SecretPolicy;
use lcp_transcripts::{Format, Provider};
use lcp_types::{Block, BlockContent, Role};
use serde_json::value::RawValue;

use crate::budget::BudgetOptions;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::export::{ExportOptions, ExportedPack, ResultOrder};
use crate::import::{ImportOptions, ImportedTranscript};
use crate::reporter::Reporter;
use crate::tokenizer::TokenizerOptions;

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
/// assert!(fitted.export.messages.tokens <= 40);
/// assert!(fitted.json.contains("And a pack?"));
/// # Ok::<(), lcp_app::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FitOptions {
    /// The format of the messages, one of a chat API. By default, it is detected.
    pub format: Option<Format>,
    /// The limits. By default, messages that must exceed the budget are an error.
    pub budget: BudgetOptions,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
    /// The order in which older tool results and files are shown.
    pub order: ResultOrder,
}

/// Messages within a budget.
#[derive(Debug)]
pub struct Fitted {
    /// The messages as JSON: a list if the input was one, or else a request. If nothing was changed,
    /// it is the input.
    pub json: String,
    /// The note about omitted messages, if the messages cannot contain it: a list of Anthropic or
    /// Gemini has no system messages. It is counted; append it to the system prompt.
    pub note: Option<String>,
    /// `true` if the messages are those of the input.
    pub is_unchanged: bool,
    /// The plan, the token counts and the report.
    pub export: ExportedPack,
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
        let path = Path::new(MESSAGES);
        let import = ImportOptions {
            format: self.format,
            secrets: Some(SecretPolicy::Off),
            ..ImportOptions::default()
        };
        let ImportedTranscript { format, blocks, .. } =
            import.import(path, messages, config, reporter)?;
        let provider = format.provider().filter(|_| is_of_api(format)).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("{format} is not the format of a chat API"))
                .with_hint("pass messages of OpenAI, Anthropic or Gemini")
        })?;
        let overflow = self.budget.overflow.or(Some(Overflow::Deny));
        let is_list = messages.trim_ascii_start().starts_with(b"[");
        if is_list && has_no_system_messages(provider) && blocks.iter().any(is_system) {
            let message = format!("a list of messages for {provider} has no system messages");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("leave them out, and send them as the system prompt"));
        }
        let options = ExportOptions {
            provider,
            budget: BudgetOptions { overflow, ..self.budget.clone() },
            tokenizer: self.tokenizer.clone(),
            order: self.order,
            ..ExportOptions::default()
        };
        let export = options.export_blocks(path, blocks, config, reporter)?;
        let is_unchanged = is_complete(&export);
        let (json, note) = if is_unchanged {
            (String::from_utf8_lossy(messages).into_owned(), None)
        } else if is_list {
            list(export.json())?
        } else {
            (export.json().to_owned(), None)
        };
        Ok(Fitted { json, note, is_unchanged, export })
    }
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
        report.inserted,
        report.left_out.values().sum(),
    ];
    !export.messages.plan.is_cut()
        && changes.iter().all(|count| *count == 0)
        && export.all.renamed_tools.is_empty()
}

/// Returns the list of messages in a request, and the note about omissions: the last part of its
/// system prompt.
fn list(request: &str) -> Result<(String, Option<String>)> {
    #[derive(serde::Deserialize)]
    struct Request<'j> {
        #[serde(borrow, alias = "input", alias = "contents")]
        messages: &'j RawValue,
        #[serde(alias = "instructions", alias = "systemInstruction")]
        system: Option<serde_json::Value>,
    }
    let request: Request<'_> = serde_json::from_str(request)
        .map_err(|error| Error::new(ErrorKind::Malformed, format!("messages: {error}")))?;
    let note = request.system.as_ref().and_then(system_text);
    Ok((request.messages.get().to_owned(), note))
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
        FitOptions { budget, ..FitOptions::default() }
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
        assert!(fitted.export.messages.tokens <= 1_500);
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
    fn request_stays_a_request_and_its_tools_count() {
        let tools = json!([{ "type": "function", "function": { "name": "read" } }]);
        let request = json!({ "model": "gpt-5", "messages": history(12), "tools": tools });
        let fitted = fit(&options(1_500), &request);
        let result: Value = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!((&result["model"], &result["tools"]), (&request["model"], &request["tools"]));
        assert!(fitted.export.messages.overhead_tokens > 0);
        assert!(fitted.export.messages.tokens <= 1_500);
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

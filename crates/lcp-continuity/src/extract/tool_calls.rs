//! Parses tool calls into the tool and its arguments.

use std::collections::HashMap;

use lcp_types::{BlockContent, Status};
use serde_json::Value;

use crate::model::{Message, Recorded};
use crate::tool_pairs;

const NAMES: [&str; 4] = ["name", "tool", "tool_name", "recipient_name"];
const ARGUMENTS: [&str; 5] = ["input", "arguments", "args", "parameters", "params"];

#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The words of the tool's name in lower case: `read` and `file` for `readFile`.
    pub(crate) tool: Vec<String>,
    /// The arguments, if they are JSON.
    pub(crate) json: Option<Value>,
    /// The arguments as text, or the whole text if it does not begin with the tool's name.
    pub(crate) text: String,
}

impl Call {
    /// Parses the call in `text`: `{"name": "Read", "input": {…}}`, `Read {…}`, `Read(…)` or
    /// `read_file src/main.rs`. `tool` is the name in the result, if known.
    pub(crate) fn parse(text: &str, tool: Option<&str>) -> Self {
        let text = text.trim();
        if let Ok(Value::Object(whole)) = serde_json::from_str(text) {
            let whole = match whole.get("function") {
                Some(Value::Object(function)) => function.clone(),
                _ => whole,
            };
            let named = NAMES.iter().find_map(|key| whole.get(*key)?.as_str());
            let json = ARGUMENTS
                .iter()
                .find_map(|key| to_object(whole.get(*key)?))
                .unwrap_or_else(|| Value::Object(whole.clone()));
            let tool = name_words(tool.or(named).unwrap_or_default());
            return Self { tool, json: Some(json), text: String::new() };
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let behind = text.trim_start_matches(is_name);
        let (named, rest) = match behind.chars().next() {
            Some(' ' | '\t' | '\n' | '(' | ':' | '{') | None => (
                &text[..text.len() - behind.len()],
                behind.trim_start_matches([':', ' ', '\t', '\n']),
            ),
            _ => ("", text),
        };
        let inside = match behind.strip_prefix('(') {
            Some(inside) => inside.strip_suffix(')').unwrap_or(rest),
            None => rest,
        };
        let json = serde_json::from_str(inside).ok().filter(Value::is_object);
        let known = tool.map(name_words);
        // If the text does not begin with the tool's name, all of it is arguments.
        let is_named = known.as_ref().is_none_or(|known| *known == name_words(named));
        let text = if is_named { inside } else { text };
        let tool = known.unwrap_or_else(|| name_words(named));
        Self { tool, json, text: text.trim().to_owned() }
    }

    /// Returns the argument with the first of these keys that exists.
    pub(crate) fn argument(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|key| self.json.as_ref()?.get(*key)).filter(|value| !value.is_null())
    }

    pub(crate) fn names_any(&self, words: &[&str]) -> bool {
        self.tool.iter().any(|word| words.contains(&word.as_str()))
    }
}

/// Returns an object, or the object in a string that contains JSON.
fn to_object(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

/// Splits a name into words in lower case.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && was_lower || !c.is_alphanumeric();
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Messages with their tool calls paired to results.
pub(crate) struct CallResults<'m> {
    messages: &'m [Recorded],
    /// The indices of results, by the indices of their calls.
    result_of: HashMap<usize, usize>,
    /// The index of the answered call, for each message that is a result.
    answered: Vec<Option<usize>>,
}

impl<'m> CallResults<'m> {
    pub(crate) fn new(messages: &'m [Recorded]) -> Self {
        let answered = tool_pairs::answered_calls(messages);
        let mut result_of = HashMap::new();
        for (at, call) in answered.iter().enumerate() {
            if let Some(call) = call {
                // The first result of a call shows whether it succeeded.
                result_of.entry(*call).or_insert(at);
            }
        }
        Self { messages, result_of, answered }
    }

    /// Returns the call that the message at `at` makes, if any.
    pub(crate) fn call(&self, at: usize) -> Option<Call> {
        let message = &self.messages.get(at)?.message;
        if !message.is_call() {
            return None;
        }
        let tool = self.result(at).and_then(tool_of);
        Some(Call::parse(&message.text(), tool))
    }

    /// Returns the call that the message at `at` reports as successful, if any.
    pub(crate) fn succeeded(&self, at: usize) -> Option<Call> {
        let call = (*self.answered.get(at)?)?;
        let is_first = self.result_of.get(&call) == Some(&at);
        if is_first && !self.has_failed(call) { self.call(call) } else { None }
    }

    /// Returns the first result of the call at `at`, if any.
    pub(crate) fn result(&self, at: usize) -> Option<&'m Message> {
        Some(&self.messages.get(*self.result_of.get(&at)?)?.message)
    }

    /// Returns whether the first result of the call at `at` reports a failure.
    pub(crate) fn has_failed(&self, at: usize) -> bool {
        self.result(at).is_some_and(|result| {
            matches!(&result.block.content,
                BlockContent::ToolResult(result) if !matches!(result.status, Status::Ok))
        })
    }
}

/// Returns the name of the tool that wrote a result, if it is known.
pub(crate) fn tool_of(result: &Message) -> Option<&str> {
    let BlockContent::ToolResult(result) = &result.block.content else { return None };
    Some(result.tool_name.as_ref()).filter(|tool| !tool.is_empty())
}

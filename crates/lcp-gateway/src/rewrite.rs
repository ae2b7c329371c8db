//! The edit of a request.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use lcp_tokens::TokenEstimator;

use crate::beginnings::{Beginning, Beginnings, Cached};
use crate::decisions::{Decision, Decisions, Hash, Key, Replacement};
use crate::duplicates::EarlierLines;
use crate::json::{countable_text, decode, encode};
use crate::request::{Request, ToolResult};

/// The comment that switches edits off for the result of a command.
const RAW: &str = "# lcp: raw";

/// The number of newest results that do not become stubs, unless the budget requires it.
const NEWEST_RESULTS: usize = 6;

/// The size in bytes of the smallest result that becomes a stub.
const STUB_BYTES_MIN: usize = 1_000;

/// The rules of edits.
pub struct Policy<'p> {
    /// The maximum number of tokens of a request.
    pub budget: u32,
    /// The number of tokens down to which a request is cut.
    pub watermark: u32,
    /// The counter of tokens.
    pub estimator: &'p dyn TokenEstimator,
    /// The state of a beginning at the provider.
    pub cached: &'p dyn Fn(&Hash) -> Cached,
    /// Returns whether another model may have a result in its cache.
    pub is_warm: &'p dyn Fn(&Key) -> bool,
    /// Returns the path of the file that has a text, by its hash.
    pub original: &'p dyn Fn(&Hash) -> String,
    /// Returns whether the results of a call, given by its tool and its arguments, always stay.
    pub is_raw: &'p dyn Fn(&str, &str) -> bool,
    /// Returns the ids of the calls with older results, those that the newest turn needs least first.
    pub order: &'p dyn Fn(&[u8]) -> Vec<String>,
    /// Returns the token count that is stored for a hash, or computes and stores it.
    pub remember: &'p dyn Fn(&Hash, &dyn Fn() -> u32) -> u32,
}

/// The reason of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// An earlier result shows the same lines.
    Duplicate,
    /// The provider no longer keeps this part of the request, which is larger than the watermark.
    Cold,
    /// The request exceeds the budget.
    OverBudget,
    /// The result that the reference points to became a stub.
    LostTarget,
}

/// An edit that this request is the first to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The result.
    pub key: Key,
    /// The reason.
    pub reason: Reason,
    /// The tokens of the request that it saves.
    pub saved_tokens: u32,
}

/// The full text of an edited result, which must be written before the request is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The hash in the key of its result.
    pub hash: Hash,
    /// The text.
    pub text: String,
}

/// A request with its edits.
#[derive(Debug)]
pub struct Rewritten<'b> {
    /// The body. Without edits, these are the bytes of the request.
    pub body: Cow<'b, [u8]>,
    /// The decisions that are new.
    pub decisions: Vec<(Key, Decision)>,
    /// The edits that are new.
    pub edits: Vec<Edit>,
    /// The texts of new edits.
    pub originals: Vec<Original>,
    /// The beginnings that the provider caches with this request.
    pub beginnings: Vec<Beginning>,
    /// The results in these beginnings.
    pub cached_results: Vec<Key>,
    /// Tokens of the body, without images and files. Without edits, they are not counted.
    pub tokens: u32,
    /// Tokens that all edits save, new and old, in the warm prefix and after it.
    pub saved_tokens: (u32, u32),
    /// Tokens of the warm prefix that the provider must write again, because a new edit changed them
    /// or something before them.
    pub broken_tokens: u32,
}

/// A result with its decision.
struct Judged {
    decision: Option<Decision>,
    /// The replacement as it is written in JSON.
    sent: Option<String>,
    is_new: bool,
}

struct Editor<'e, 'b> {
    request: &'e Request<'b>,
    policy: &'e Policy<'e>,
    /// The tool and the arguments of each call.
    calls: HashMap<&'e str, (&'b str, &'b str)>,
    results: Vec<Judged>,
    edits: Vec<Edit>,
    /// The hashes of the request in the form in which it would be sent, until a message that changed.
    beginnings: Beginnings,
    first_changed: usize,
}

/// Edits a request. `decisions` has at least those of its results.
///
/// Only texts of tool results change. Decisions are repeated. New results that repeat lines of earlier
/// ones get references. After the warm prefix, or if the budget is exceeded, older results become
/// stubs.
#[must_use]
pub fn rewrite<'b>(
    request: &Request<'b>,
    decisions: &Decisions,
    policy: &Policy<'_>,
) -> Rewritten<'b> {
    let mut editor = Editor::new(request, decisions, policy);
    editor.update_beginnings();
    let warm = editor.warm_messages();
    editor.judge_new(warm);
    editor.reduce(warm);
    editor.finish(warm)
}

impl<'e, 'b> Editor<'e, 'b> {
    fn new(request: &'e Request<'b>, decisions: &Decisions, policy: &'e Policy<'e>) -> Self {
        let results = request.outline.results.iter().map(|result| {
            // A stub of another session, or of a branch that the user left, with the same id and text.
            let is_seen = result.message < request.seen_messages;
            let decision =
                decisions.get(&result.key).filter(|it| is_seen || !it.is_stub()).cloned();
            Judged { sent: decision.as_ref().and_then(sent), decision, is_new: false }
        });
        Self {
            request,
            policy,
            calls: request.calls(),
            results: results.collect(),
            edits: Vec::new(),
            beginnings: Beginnings::new(request),
            first_changed: 0,
        }
    }

    /// Returns whether a result always stays.
    fn is_raw(&self, result: &ToolResult) -> bool {
        self.calls.get(&*result.key.call).is_some_and(|(tool, arguments)| {
            arguments.contains(RAW) || (self.policy.is_raw)(tool, arguments)
        })
    }

    /// Hashes the changed messages.
    fn update_beginnings(&mut self) {
        let count = self.request.outline.messages.len();
        let first = std::mem::replace(&mut self.first_changed, count);
        if first < count {
            let mut beginnings = std::mem::take(&mut self.beginnings);
            beginnings.hash_from(first, self.request, |at| match &self.results[at].sent {
                Some(string) => *blake3::hash(string.as_bytes()).as_bytes(),
                None => self.request.outline.results[at].key.text,
            });
            self.beginnings = beginnings;
        }
    }

    /// Returns the number of messages in the warm prefix. Those of an unknown session may all be warm,
    /// except for the newest turn.
    fn warm_messages(&self) -> usize {
        if !self.request.uses_cache() {
            return 0;
        }
        let warm = self.beginnings.warm_messages(self.policy.cached);
        warm.unwrap_or_else(|| {
            let turn = self.request.newest_turn().unwrap_or_default();
            let unknown = self.request.outline.messages.len().saturating_sub(1);
            // A history without a second turn can still have many results.
            if turn > 0 { turn } else { unknown }
        })
    }

    /// Decides about the results that appear for the first time.
    fn judge_new(&mut self, warm: usize) {
        let request = self.request;
        self.forget_lost_references(warm);
        let results = request.outline.results.iter().zip(&self.results);
        let is_new: Vec<bool> = results
            .map(|(result, judged)| {
                result.message >= warm && judged.decision.is_none() && !self.is_raw(result)
            })
            .collect();
        let new = request.outline.results.iter().zip(&is_new).filter(|(_, is_new)| **is_new);
        let mut earlier = EarlierLines::new(new.map(|(result, _)| &*result.lines));
        let mut shown: Vec<usize> = Vec::new();
        for (at, result) in request.outline.results.iter().enumerate() {
            if self.results[at].decision.is_none() {
                let reference =
                    is_new[at].then(|| self.reference(result, &earlier, &shown)).flatten();
                if let Some(replacement) = reference {
                    self.replace(at, replacement, Reason::Duplicate);
                } else {
                    self.results[at].decision = Some(Decision::Keep);
                    self.results[at].is_new = true;
                }
            }
            if self.results[at].decision == Some(Decision::Keep) {
                earlier.add(&result.lines);
                shown.push(at);
            }
        }
    }

    /// Forgets references after the warm prefix to results that are not shown before them. They are
    /// judged again, like new results.
    fn forget_lost_references(&mut self, warm: usize) {
        let mut shown: HashSet<&Key> = HashSet::new();
        for (result, judged) in self.request.outline.results.iter().zip(&mut self.results) {
            match &judged.decision {
                Some(Decision::Replace(Replacement { target: Some(target), .. }))
                    if result.message >= warm && !shown.contains(target) =>
                {
                    (judged.decision, judged.sent) = (None, None);
                    self.first_changed = self.first_changed.min(result.message);
                }
                Some(Decision::Replace(_)) => continue,
                _ => {}
            }
            shown.insert(&result.key);
        }
    }

    /// Returns a reference to the earlier result that shows lines of this one, if it is shorter.
    fn reference(
        &self,
        result: &ToolResult,
        earlier: &EarlierLines<'_>,
        shown: &[usize],
    ) -> Option<Replacement> {
        let text = content(self.request, result);
        let duplicate = earlier.longest_in(&result.lines)?;
        let target = &self.request.outline.results[shown[duplicate.text]];
        // Different lines can have the same hash.
        let original = &content(self.request, target)[duplicate.original.clone()];
        if original != &text[duplicate.bytes.clone()] {
            return None;
        }
        let target = &target.key;
        let lines = duplicate.lines.len();
        let own = line_range(&duplicate.lines);
        let other = line_range(&(duplicate.start..duplicate.start + lines));
        let path = (self.policy.original)(&result.key.text);
        let note = format!(
            "[lcp: {own} of this output are {other} of the output of the earlier call {}; the \
             complete output is in {path}]\n",
            target.call
        );
        let (before, after) = (&text[..duplicate.bytes.start], &text[duplicate.bytes.end..]);
        let (before, after) = (decode(&format!("\"{before}\""))?, decode(&format!("\"{after}\""))?);
        Some(Replacement { text: before + &note + &after, target: Some(target.clone()) })
            .filter(|it| it.text.len() < self.request.text(result).len())
    }

    /// Turns older results into stubs, if the request is too large.
    fn reduce(&mut self, warm: usize) {
        // A token has at least a byte.
        if self.request.body.len() <= self.policy.watermark as usize {
            return;
        }
        self.update_beginnings();
        let mut tokens = self.tokens();
        let results = &self.request.outline.results;
        let seen = results.partition_point(|result| result.message < self.request.seen_messages);
        let older = seen.min(results.len().saturating_sub(NEWEST_RESULTS));
        if tokens > self.policy.watermark {
            self.cut(&mut tokens, warm, older, Reason::Cold);
        }
        if tokens > self.policy.budget {
            self.cut(&mut tokens, 0, older, Reason::OverBudget);
        }
        if tokens > self.policy.budget {
            self.cut(&mut tokens, 0, seen, Reason::OverBudget);
        }
    }

    /// Turns the first `end` results, without those before the message `first`, into stubs until the
    /// watermark is reached.
    fn cut(&mut self, tokens: &mut u32, first: usize, end: usize, reason: Reason) {
        let request = self.request;
        // References among the results that stay need their targets.
        let targets: HashSet<&Key> =
            self.results[end..].iter().filter_map(|it| it.decision.as_ref()?.target()).collect();
        let candidates: HashMap<&str, usize> = (0..end)
            .filter(|at| {
                let (result, judged) = (&request.outline.results[*at], &self.results[*at]);
                // The session may switch back to the model that has the result in its cache.
                let is_warm = reason == Reason::Cold && (self.policy.is_warm)(&result.key);
                result.message >= first
                    && !is_warm
                    && !targets.contains(&result.key)
                    && judged.decision == Some(Decision::Keep)
                    && result.place.len() >= STUB_BYTES_MIN
                    && request.text(result).len() >= STUB_BYTES_MIN
                    && !self.is_raw(result)
            })
            .map(|at| (request.outline.results[at].key.call.as_str(), at))
            .collect();
        if candidates.is_empty() {
            return;
        }
        let order = (self.policy.order)(request.body.as_bytes());
        let ranked: Vec<usize> =
            order.iter().filter_map(|call| candidates.get(call.as_str()).copied()).collect();
        let is_ranked: HashSet<_> = ranked.iter().copied().collect();
        // Results that the ranking does not know go first, the oldest first.
        let mut unranked: Vec<_> =
            candidates.values().copied().filter(|at| !is_ranked.contains(at)).collect();
        unranked.sort_unstable();
        for at in unranked.into_iter().chain(ranked) {
            if *tokens <= self.policy.watermark {
                break;
            }
            let saved = self.stub(at, reason);
            *tokens = tokens.saturating_sub(saved);
        }
    }

    /// Turns a result into a stub, and the references to it. Returns the tokens that this saves.
    fn stub(&mut self, at: usize, reason: Reason) -> u32 {
        let mut saved = self.replace(at, self.stub_of(at), reason);
        let key = &self.request.outline.results[at].key;
        for other in 0..self.results.len() {
            let points_here = |decision: &Decision| decision.target() == Some(key);
            if self.results[other].decision.as_ref().is_some_and(points_here) {
                saved += self.replace(other, self.stub_of(other), Reason::LostTarget);
            }
        }
        saved
    }

    fn stub_of(&self, at: usize) -> Replacement {
        let result = &self.request.outline.results[at];
        let path = (self.policy.original)(&result.key.text);
        let lines = self.request.text(result).lines().count();
        let text = format!(
            "[lcp: this output of {lines} lines was left out to save context; it is in {path}]"
        );
        Replacement { text, target: None }
    }

    /// Replaces a result. Returns the tokens that this saves.
    fn replace(&mut self, at: usize, replacement: Replacement, reason: Reason) -> u32 {
        let estimator = self.policy.estimator;
        let before = estimator.estimate(&self.text(at));
        let saved_tokens = before.saturating_sub(estimator.estimate(&replacement.text));
        let result = &self.request.outline.results[at];
        self.first_changed = self.first_changed.min(result.message);
        let judged = &mut self.results[at];
        judged.sent = Some(encode(&replacement.text));
        judged.decision = Some(Decision::Replace(replacement));
        judged.is_new = true;
        self.edits.push(Edit { key: result.key.clone(), reason, saved_tokens });
        saved_tokens
    }

    /// Returns the text that is sent for a result.
    fn text(&self, at: usize) -> Cow<'_, str> {
        match &self.results[at].decision {
            Some(Decision::Replace(replacement)) => Cow::Borrowed(&replacement.text),
            _ => Cow::Owned(self.request.text(&self.request.outline.results[at])),
        }
    }

    /// Returns the tokens of the request in the form that was hashed.
    fn tokens(&self) -> u32 {
        let Policy { estimator, remember, .. } = self.policy;
        let count = |json: &str| estimator.estimate(&countable_text(json));
        let (head, messages) = (self.beginnings.hashes()).split_first().unwrap_or((&[0; 32], &[]));
        let (head_places, body) = (&self.request.head, self.request.body);
        let head =
            remember(head, &|| head_places.iter().map(|place| count(&body[place.clone()])).sum());
        let messages = messages.iter().enumerate();
        messages.fold(head, |sum, (at, hash)| {
            sum.saturating_add(remember(hash, &|| count(&self.message_json(at))))
        })
    }

    fn message_json(&self, at: usize) -> Cow<'b, str> {
        self.spliced(self.request.outline.messages[at].place.clone())
    }

    /// Returns a part of the body with the replacements.
    fn spliced(&self, part: Range<usize>) -> Cow<'b, str> {
        let body: &'b str = self.request.body;
        let first = self.request.outline.results.partition_point(|it| it.place.start < part.start);
        let mut text = String::new();
        let mut start = part.start;
        for (result, judged) in self.request.outline.results.iter().zip(&self.results).skip(first) {
            if result.place.start >= part.end {
                break;
            }
            if let Some(string) = &judged.sent {
                text.push_str(&body[start..result.place.start]);
                text.push_str(string);
                start = result.place.end;
            }
        }
        if start == part.start {
            return Cow::Borrowed(&body[part]);
        }
        text.push_str(&body[start..part.end]);
        Cow::Owned(text)
    }

    fn finish(mut self, warm: usize) -> Rewritten<'b> {
        self.update_beginnings();
        let body = match self.spliced(0..self.request.body.len()) {
            Cow::Borrowed(body) => Cow::Borrowed(body.as_bytes()),
            Cow::Owned(body) => Cow::Owned(body.into_bytes()),
        };
        let beginnings = self.beginnings.cached(self.request);
        // The first beginning has no message.
        let cached_messages = beginnings.len().saturating_sub(1);
        let cached_results = self.request.outline.results.iter();
        let cached_results = cached_results.take_while(|result| result.message < cached_messages);
        let cached_results = cached_results.map(|result| result.key.clone()).collect();
        let Policy { estimator, remember, .. } = *self.policy;
        let mut saved_tokens = (0, 0);
        for (result, judged) in self.request.outline.results.iter().zip(&self.results) {
            if let Some(Decision::Replace(replacement)) = &judged.decision {
                let count = || estimator.estimate(&self.request.text(result));
                let before = remember(&result.key.text, &count);
                let saved = before.saturating_sub(estimator.estimate(&replacement.text));
                let place =
                    if result.message < warm { &mut saved_tokens.0 } else { &mut saved_tokens.1 };
                *place += saved;
            }
        }
        let edited: HashSet<&Key> = self.edits.iter().map(|edit| &edit.key).collect();
        let results = self.request.outline.results.iter();
        let first = results
            .clone()
            .filter(|result| edited.contains(&result.key))
            .map(|result| result.message)
            .min();
        let broken = (first.unwrap_or(warm)..warm).map(|at| self.message_json(at));
        let broken_tokens = broken.map(|json| estimator.estimate(&countable_text(&json))).sum();
        let tokens = if matches!(body, Cow::Owned(_)) { self.tokens() } else { 0 };
        let originals = results.clone().filter(|result| edited.contains(&result.key));
        let original = |result: &ToolResult| Original {
            hash: result.key.text,
            text: self.request.text(result),
        };
        let originals = originals.map(original).collect();
        let decisions = results.zip(self.results).filter(|(_, judged)| judged.is_new);
        let decisions =
            decisions.filter_map(|(it, judged)| Some((it.key.clone(), judged.decision?))).collect();
        Rewritten {
            body,
            decisions,
            edits: self.edits,
            originals,
            beginnings,
            cached_results,
            tokens,
            saved_tokens,
            broken_tokens,
        }
    }
}

/// Returns the replacement of a decision as it is written in JSON.
fn sent(decision: &Decision) -> Option<String> {
    match decision {
        Decision::Replace(replacement) => Some(encode(&replacement.text)),
        Decision::Keep => None,
    }
}

/// Returns the string of a result as it is written in JSON, without quotes.
fn content<'b>(request: &Request<'b>, result: &ToolResult) -> &'b str {
    let string = request.string(result);
    &string[1..string.len() - 1]
}

/// Returns lines, counted from 1, for readers.
fn line_range(lines: &Range<usize>) -> String {
    format!("lines {} to {}", lines.start + 1, lines.end)
}

//! The edit of a request.

mod cuts;
mod deferred_counts;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use lcp_tokens::TokenEstimator;

use crate::beginnings::{Beginning, Beginnings, Cached};
use crate::body::EditedBody;
use crate::decisions::{Decision, Hash, Key, Replacement};
use crate::duplicates::EarlierLines;
#[cfg(feature = "proxy")]
use crate::hash_chain::HashChain;
use crate::json::{countable_text, decode};
use crate::request::{CachedMessages, Request, ToolResult};
use deferred_counts::{SavedText, Text};

pub use deferred_counts::{Counts, DeferredCounts};

/// The comment that switches edits off for the result of a command.
const RAW: &str = "# lcp: raw";

/// The rules of edits.
pub struct Policy<'p> {
    /// The number of tokens that a request should have at most.
    pub budget: u32,
    /// The number of tokens above which the provider may refuse a request. Up to it, the warm prefix of a
    /// request over the budget is edited only if that pays. It has no effect unless it exceeds the budget.
    pub limit: u32,
    /// The counter of tokens.
    pub estimator: &'p dyn TokenEstimator,
    /// Returns the stored decision about a result.
    pub decision: &'p dyn Fn(&Key) -> Option<Decision>,
    /// The state of a beginning at the provider.
    pub cached: &'p dyn Fn(&Hash) -> Cached,
    /// The state of the results of a call, given by its id, in the caches of all models.
    pub cached_call: &'p dyn Fn(&str) -> Cached,
    /// Returns whether another model may have a result in its cache.
    pub is_warm: &'p dyn Fn(&Key) -> bool,
    /// Returns the path of the file that has a text, by its hash.
    pub original: &'p dyn Fn(&Hash) -> String,
    /// Returns whether the results of a call, given by its tool and its arguments, always stay.
    pub is_raw: &'p dyn Fn(&str, &str) -> bool,
    /// Returns the ids of the calls with older results, those that the newest turn needs least first.
    pub order: &'p dyn Fn(&[u8]) -> Vec<String>,
    /// Returns the stored token count of a hash: for a text, its tokens; for a beginning, the tokens of
    /// the complete beginning.
    pub stored_count: &'p dyn Fn(&Hash) -> Option<u32>,
    /// Stores a token count.
    pub store_count: &'p dyn Fn(&Hash, u32),
}

impl Policy<'_> {
    /// Returns the number of tokens above which results behind the warm prefix become stubs.
    const fn watermark(&self) -> u32 {
        self.budget / 8
    }
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
    /// The body.
    pub body: EditedBody<'b>,
    /// The decisions that are new.
    pub decisions: Vec<(Key, Decision)>,
    /// The edits that are new.
    pub edits: Vec<Edit>,
    /// The texts of new edits.
    pub originals: Vec<Original>,
    /// The beginnings that the provider may cache with this request.
    pub beginnings: Vec<Beginning>,
    /// The hashes for the next request.
    #[cfg(feature = "proxy")]
    pub(crate) chain: HashChain,
    /// `true` if a beginning with messages is warm, or was sent without asking for a cache.
    pub is_known: bool,
    /// The results in the beginnings that the provider may cache.
    pub cached_results: Vec<Key>,
    /// The counts for the bill.
    pub deferred_counts: DeferredCounts,
}

/// A result with its decision.
struct Judged {
    decision: Option<Decision>,
    is_new: bool,
}

impl Judged {
    fn replacement(&self) -> Option<&Replacement> {
        self.decision.as_ref()?.replacement()
    }
}

struct Editor<'e, 'b> {
    request: &'e Request<'b>,
    policy: &'e Policy<'e>,
    /// The tool and the arguments of each call.
    calls: OnceCell<HashMap<&'e str, (&'b str, &'b str), RandomState>>,
    results: Vec<Judged>,
    edits: Vec<Edit>,
    /// The hashes of the request in the form in which it would be sent, until a message that changed.
    beginnings: Beginnings,
    first_changed: usize,
    is_known: bool,
}

/// Edits a request.
///
/// Only texts of tool results change. Decisions are repeated. New results that repeat lines of earlier
/// ones get references. After the warm prefix, or if the budget is exceeded, older results become
/// stubs.
#[must_use]
pub fn rewrite<'b>(request: &Request<'b>, policy: &Policy<'_>) -> Rewritten<'b> {
    let mut editor = Editor::new(request, policy);
    editor.update_beginnings();
    let warm = editor.warm_messages();
    editor.judge_new(warm);
    editor.reduce(warm);
    editor.finish(warm)
}

impl<'e, 'b> Editor<'e, 'b> {
    fn new(request: &'e Request<'b>, policy: &'e Policy<'e>) -> Self {
        let results = request.outline.results.iter().map(|result| {
            // A stub of another session, or of a branch that the user left, with the same id and text.
            let is_seen = result.message < request.seen_messages;
            let decision = (policy.decision)(&result.key).filter(|it| is_seen || !it.is_stub());
            Judged { decision, is_new: false }
        });
        Self {
            request,
            policy,
            calls: OnceCell::new(),
            results: results.collect(),
            edits: Vec::new(),
            beginnings: Beginnings::new(request),
            first_changed: 0,
            is_known: true,
        }
    }

    /// Returns the hash of the JSON string that is sent for a result.
    fn result_hash(&self, at: usize) -> Hash {
        let replacement = self.results[at].replacement();
        replacement.map_or(self.request.outline.results[at].key.text, |it| *it.hash())
    }

    /// Returns whether a result always stays.
    fn is_raw(&self, result: &ToolResult) -> bool {
        let calls = self.calls.get_or_init(|| self.request.calls());
        calls.get(&*result.key.call).is_some_and(|(tool, arguments)| {
            arguments.contains(RAW) || (self.policy.is_raw)(tool, arguments)
        })
    }

    /// Hashes the changed messages.
    fn update_beginnings(&mut self) {
        let count = self.request.outline.messages.len();
        let first = std::mem::replace(&mut self.first_changed, count);
        if first < count {
            let mut beginnings = std::mem::take(&mut self.beginnings);
            beginnings.hash_from(first, self.request, |at| self.result_hash(at));
            self.beginnings = beginnings;
        }
    }

    /// Returns the number of messages in the warm prefix. Those of an unknown beginning may all be warm,
    /// except for the newest turn.
    fn warm_messages(&mut self) -> usize {
        let warm = self.beginnings.warm_messages(self.policy.cached);
        self.is_known = warm.is_some_and(|messages| messages > 0 || self.is_unasked());
        warm.unwrap_or_else(|| {
            let turn = self.request.newest_turn().unwrap_or_default();
            let unknown = self.request.outline.messages.len().saturating_sub(1);
            // A history without a second turn can still have many results.
            let messages = if turn > 0 { turn } else { unknown };
            if self.are_expired(messages) { 0 } else { messages }
        })
    }

    /// Returns whether the client does not ask to cache messages.
    fn is_unasked(&self) -> bool {
        self.request.cache.messages == CachedMessages::Unasked
    }

    /// Returns whether the gateway sent all results of the first messages, so long ago that no provider keeps
    /// them. Their beginnings may be unknown, because an agent changed its system prompt when it resumed the
    /// session.
    fn are_expired(&self, messages: usize) -> bool {
        let results = self.request.outline.results.iter().zip(&self.results);
        let mut results = results.take_while(|(result, _)| result.message < messages);
        let is_expired =
            |result: &ToolResult| (self.policy.cached_call)(&result.key.call) == Cached::Expired;
        // Sessions can have the same ids. An agent can change some texts.
        results.clone().any(|(_, judged)| judged.decision.is_some())
            && results.all(|(result, _)| is_expired(result))
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
        let new = (0..).zip(&is_new).filter(|(_, is_new)| **is_new);
        let mut earlier = EarlierLines::new(new.map(|(at, _)| request.outline.lines(at)));
        let mut shown: Vec<usize> = Vec::new();
        for (at, is_new) in is_new.into_iter().enumerate() {
            if self.results[at].decision.is_none() {
                let reference = is_new.then(|| self.reference(at, &earlier, &shown)).flatten();
                if let Some(replacement) = reference {
                    self.replace(at, replacement, Reason::Duplicate);
                } else {
                    self.results[at].decision = Some(Decision::Keep);
                    self.results[at].is_new = true;
                }
            }
            if self.results[at].decision == Some(Decision::Keep) {
                earlier.add(request.outline.lines(at));
                shown.push(at);
            }
        }
    }

    /// Forgets references after the warm prefix to results that are not shown before them. They are
    /// judged again, like new results.
    fn forget_lost_references(&mut self, warm: usize) {
        let mut results = self.request.outline.results.iter().zip(&self.results);
        let points = |judged: &Judged| judged.replacement().is_some_and(|it| it.target.is_some());
        if !results.any(|(result, judged)| result.message >= warm && points(judged)) {
            return;
        }
        let mut shown: HashSet<&Key, RandomState> = HashSet::default();
        for (result, judged) in self.request.outline.results.iter().zip(&mut self.results) {
            match &judged.decision {
                Some(Decision::Replace(Replacement { target: Some(target), .. }))
                    if result.message >= warm && !shown.contains(target) =>
                {
                    judged.decision = None;
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
        at: usize,
        earlier: &EarlierLines<'_>,
        shown: &[usize],
    ) -> Option<Replacement> {
        let duplicate = earlier.longest_in(self.request.outline.lines(at))?;
        let result = &self.request.outline.results[at];
        let text = self.request.content(result);
        let target = &self.request.outline.results[shown[duplicate.text]];
        // Different lines can have the same hash.
        let original = &self.request.content(target)[duplicate.original.clone()];
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
        let text = before + &note + &after;
        let is_shorter = text.len() < self.request.text(result).len();
        is_shorter.then(|| Replacement::new(text, Some(target.clone())))
    }

    /// Replaces a result.
    fn replace(&mut self, at: usize, replacement: Replacement, reason: Reason) {
        let result = &self.request.outline.results[at];
        self.first_changed = self.first_changed.min(result.message);
        let judged = &mut self.results[at];
        judged.decision = Some(Decision::Replace(replacement));
        judged.is_new = true;
        self.edits.push(Edit { key: result.key.clone(), reason });
    }

    /// Returns the tokens of the text that is sent for a result.
    fn result_tokens(&self, at: usize) -> u32 {
        let result = &self.request.outline.results[at];
        let (hash, text) = match self.results[at].replacement() {
            Some(replacement) => (replacement.hash(), Cow::Borrowed(replacement.text())),
            None => (&result.key.text, Cow::Owned(self.request.text(result))),
        };
        (self.policy.stored_count)(hash).unwrap_or_else(|| {
            let tokens = self.policy.estimator.estimate(&text);
            (self.policy.store_count)(hash, tokens);
            tokens
        })
    }

    /// Returns the number of beginnings up to the longest one with a stored count, and this count. Call
    /// [`Self::update_beginnings`] first.
    fn counted(&self) -> (usize, u32) {
        let hashes = self.beginnings.hashes().iter().enumerate();
        let counted =
            hashes.rev().find_map(|(at, hash)| Some((at + 1, (self.policy.stored_count)(hash)?)));
        counted.unwrap_or_default()
    }

    /// Returns an upper bound of the tokens of the request, without counting its new messages.
    fn tokens_max(&mut self) -> u32 {
        self.update_beginnings();
        let (beginnings, tokens) = self.counted();
        let messages = &self.request.outline.messages;
        let last = beginnings.checked_sub(2).and_then(|last| messages.get(last));
        let start = last.map_or(0, |message| message.place.end);
        let replaced = self.request.outline.results.iter().zip(&self.results).rev();
        let replaced = replaced.take_while(|(result, _)| result.place.start >= start);
        let replaced = replaced.filter_map(|(_, judged)| Some(judged.replacement()?.json().len()));
        let bytes = self.request.body.len() - start + replaced.sum::<usize>();
        tokens.saturating_add(self.tokens_of(bytes))
    }

    /// Counts the tokens of the request.
    fn tokens(&mut self) -> u32 {
        self.update_beginnings();
        let (start, mut sum) = self.counted();
        for (at, hash) in self.beginnings.hashes().iter().enumerate().skip(start) {
            let tokens = self.policy.estimator.estimate(&countable_text(&self.added_json(at)));
            sum = sum.saturating_add(tokens);
            (self.policy.store_count)(hash, sum);
        }
        sum
    }

    /// Returns the JSON that a beginning adds to the previous one: the head, or a message.
    fn added_json(&self, beginning: usize) -> Cow<'b, str> {
        let Some(message) = beginning.checked_sub(1) else {
            let parts = self.request.head.iter().map(|place| self.json_of(place));
            return Cow::Owned(parts.collect());
        };
        self.message_json(message)
    }

    fn message_json(&self, at: usize) -> Cow<'b, str> {
        self.json_of(&self.request.outline.messages[at].place)
    }

    /// Returns a part of the body with its replacements, without cache marks.
    fn json_of(&self, part: &Range<usize>) -> Cow<'b, str> {
        let body: &'b str = self.request.body;
        let results = &self.request.outline.results;
        let first = results.partition_point(|it| it.place.start < part.start);
        let results = results.iter().zip(&self.results).skip(first);
        let results = results.take_while(|(result, _)| result.place.start < part.end);
        let replaced = results
            .filter_map(|(result, judged)| Some((&result.place, &**judged.replacement()?.json())));
        let marks = self.request.marks_in(part).map(|place| (place, ""));
        let mut changes: Vec<(&Range<usize>, &str)> = replaced.chain(marks).collect();
        if changes.is_empty() {
            return Cow::Borrowed(&body[part.clone()]);
        }
        changes.sort_unstable_by_key(|(place, _)| place.start);
        let mut text = String::with_capacity(part.len());
        let mut start = part.start;
        for (place, string) in changes {
            text.push_str(&body[start..place.start]);
            text.push_str(string);
            start = place.end;
        }
        text.push_str(&body[start..part.end]);
        Cow::Owned(text)
    }

    fn finish(mut self, warm: usize) -> Rewritten<'b> {
        self.update_beginnings();
        let replaced = self.request.outline.results.iter().zip(&self.results);
        let replaced = replaced.filter_map(|(result, judged)| {
            Some((result.place.clone(), Arc::clone(judged.replacement()?.json())))
        });
        let body = EditedBody::new(self.request.body, replaced.collect());
        let beginnings = self.beginnings.cached(self.request);
        let cached_messages = self.request.cached_messages();
        let cached_results = self.request.outline.results.iter();
        let cached_results = cached_results.take_while(|result| result.message < cached_messages);
        let cached_results = cached_results.map(|result| result.key.clone()).collect();
        let edited: HashSet<&Key> = self.edits.iter().map(|edit| &edit.key).collect();
        let results = self.request.outline.results.iter();
        let first = results
            .clone()
            .filter(|result| edited.contains(&result.key))
            .map(|result| result.message)
            .min();
        // A large request is counted even without edits, because the next one continues from its count.
        let deferred_counts = if body.is_edited() || self.is_large() {
            self.deferred_counts(first.unwrap_or(warm)..warm, warm)
        } else {
            DeferredCounts::default()
        };
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
            #[cfg(feature = "proxy")]
            chain: self.beginnings.into_chain(),
            is_known: self.is_known,
            cached_results,
            deferred_counts,
        }
    }

    /// Collects the texts to count for the bill. `broken` are the messages of the warm prefix that the
    /// provider must write again.
    fn deferred_counts(&self, broken: Range<usize>, warm: usize) -> DeferredCounts {
        let (start, known) = self.counted();
        let beginnings = self.beginnings.hashes().iter().enumerate().skip(start);
        let text = |hash: &Hash, text: &dyn Fn() -> String| match (self.policy.stored_count)(hash) {
            Some(tokens) => Text::Counted(tokens),
            None => Text::Uncounted(*hash, text()),
        };
        let saved = |(result, judged): (&ToolResult, &Judged)| {
            let replacement = judged.replacement()?;
            Some(SavedText {
                is_warm: result.message < warm,
                before: text(&result.key.text, &|| self.request.text(result)),
                after: text(replacement.hash(), &|| replacement.text().to_owned()),
            })
        };
        let results = self.request.outline.results.iter();
        let deferred = DeferredCounts {
            counts: Counts { tokens: known, ..Counts::default() },
            parts: beginnings.map(|(at, hash)| (*hash, self.added_json(at).into_owned())).collect(),
            saved: results.zip(&self.results).filter_map(saved).collect(),
            broken: broken.map(|at| self.message_json(at).into_owned()).collect(),
        };
        deferred.bounded(self.policy.estimator, self.policy.store_count)
    }

    /// Returns whether the request may have more tokens than the watermark.
    fn is_large(&self) -> bool {
        self.tokens_of(self.request.body.len()) > self.policy.watermark()
    }

    /// Returns a number of tokens that so many bytes do not exceed. A token has at least one byte, and the
    /// count of one token shows by how much the estimator scales counts.
    fn tokens_of(&self, bytes: usize) -> u32 {
        let scale = self.policy.estimator.estimate("a").max(1);
        u32::try_from(bytes).unwrap_or(u32::MAX).saturating_mul(scale)
    }
}

/// Returns lines, counted from 1, for readers.
fn line_range(lines: &Range<usize>) -> String {
    format!("lines {} to {}", lines.start + 1, lines.end)
}

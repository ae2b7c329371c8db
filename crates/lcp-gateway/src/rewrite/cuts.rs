//! Cuts: older results become stubs if the request is too large.

use std::collections::{HashMap, HashSet};

use super::{Editor, Reason};
use crate::decisions::{Decision, Key, Replacement};
use crate::request::{READ, Request};

/// The number of newest results that do not become stubs, unless the budget requires it.
const NEWEST_RESULTS: usize = 6;

/// The part of the budget that an edit must save, unless the request fits after it: 1 / 4. The window
/// exceeds the limit by the same part of the limit.
const EXCESS_PART: u32 = 4;

/// The number of requests within which an edit of a warm prefix must pay. Later, the provider will probably
/// write the prefix again anyway, because of a pause, a resume or a compaction.
const PAYS_WITHIN: u64 = 10;

/// The approximate length of a stub in bytes.
const STUB_BYTES: u64 = 190;

/// The part of the watermark that the most relevant older results may keep: 1 / 4.
const KEPT_PART: u32 = 4;

/// The size in bytes of the smallest result that becomes a stub.
const STUB_BYTES_MIN: usize = 1_000;

/// Results that become stubs if the request is too large.
struct Cut {
    /// The tokens that the request may have.
    limit: u32,
    /// The number of tokens down to which the request is cut.
    target: u32,
    /// The maximum number of tokens of the candidates that stay.
    kept: u32,
    /// Results in earlier messages stay.
    first_message: usize,
    /// Results from this index on stay.
    end: usize,
    reason: Reason,
}

impl Editor<'_, '_> {
    /// Turns older results into stubs, if the request is too large.
    pub(super) fn reduce(&mut self, warm: usize) {
        if !self.is_large() {
            return;
        }
        let budget = self.policy.budget;
        // Without a cache, each request would be cut.
        let watermark = if self.is_unasked() { budget / 2 } else { self.policy.watermark() };
        let results = &self.request.outline.results;
        let seen = results.partition_point(|result| result.message < self.request.seen_messages);
        let older = seen.min(results.len().saturating_sub(NEWEST_RESULTS));
        let kept = watermark / KEPT_PART;
        let over = Cut {
            limit: budget,
            target: budget,
            kept,
            first_message: 0,
            end: older,
            reason: Reason::OverBudget,
        };
        let reason = Reason::Cold;
        let cold = Cut { limit: watermark, target: u32::MAX, first_message: warm, reason, ..over };
        let mut tokens = None;
        self.cut(&mut tokens, &cold, warm);
        self.cut(&mut tokens, &over, warm);
        // The next cut should be far away.
        let more = Cut { target: budget / 2, kept: u32::MAX, end: seen, ..over };
        self.cut(&mut tokens, &more, warm);
    }

    /// Turns results into stubs. `tokens` is the count of the request, or `None` until it is counted; `warm` is
    /// the number of messages in the warm prefix.
    fn cut(&mut self, tokens: &mut Option<u32>, cut: &Cut, warm: usize) {
        let Cut { limit, target, kept, first_message, end, reason } = *cut;
        if tokens.unwrap_or_else(|| self.tokens_max()) <= limit {
            return;
        }
        let request = self.request;
        // References among the results that stay need their targets.
        let targets: HashSet<&Key> =
            self.results[end..].iter().filter_map(|it| it.decision.as_ref()?.target()).collect();
        let candidates: HashMap<&str, usize> = (0..end)
            .filter(|at| {
                let (result, judged) = (&request.outline.results[*at], &self.results[*at]);
                // The session may switch back to the model that has the result in its cache.
                let is_warm = reason == Reason::Cold && (self.policy.is_warm)(&result.key);
                result.message >= first_message
                    && !is_warm
                    && !targets.contains(&result.key)
                    && judged.decision == Some(Decision::Keep)
                    && result.place.len() >= STUB_BYTES_MIN
                    && request.text(result).len() >= STUB_BYTES_MIN
                    && !self.is_raw(result)
            })
            .map(|at| (&*request.outline.results[at].key.call, at))
            .collect();
        if candidates.is_empty() {
            return;
        }
        let tokens = tokens.get_or_insert_with(|| self.tokens());
        if *tokens <= limit {
            return;
        }
        // The tokens of the candidates that stay.
        let mut left: u32 = candidates.values().map(|at| self.result_tokens(*at)).sum();
        if reason == Reason::OverBudget {
            let fits = tokens.saturating_sub(left) <= limit;
            // An edit of a warm prefix must save much, because the provider writes its cache again.
            let part = limit / EXCESS_PART;
            let window = self.policy.limit.saturating_add(self.policy.limit / EXCESS_PART);
            let is_worth_it = if *tokens > self.policy.limit {
                fits || left >= part || *tokens > window
            } else {
                let removed =
                    left.saturating_sub(kept).max(tokens.saturating_sub(target)).min(left);
                let share = (removed, left);
                self.is_free(&candidates, warm)
                    || removed >= part && self.pays(&candidates, warm, share)
            };
            if !is_worth_it {
                return;
            }
        }
        if left <= kept && *tokens <= target {
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
            if left <= kept && *tokens <= target {
                break;
            }
            left = left.saturating_sub(self.result_tokens(at));
            let saved = self.stub(at, reason);
            *tokens = tokens.saturating_sub(saved);
        }
    }

    /// Returns whether none of these results is in the warm prefix.
    fn is_free(&self, candidates: &HashMap<&str, usize>, warm: usize) -> bool {
        candidates.values().all(|at| self.request.outline.results[*at].message >= warm)
    }

    /// Returns whether an edit of the warm prefix pays within [`PAYS_WITHIN`] requests. `share` has the tokens
    /// of these results that the edit removes, and all their tokens. Bytes stand for tokens.
    fn pays(&self, candidates: &HashMap<&str, usize>, warm: usize, share: (u32, u32)) -> bool {
        let Request { outline, cache, .. } = self.request;
        let (mut first, mut bytes, mut stubs) = (warm, 0, 0);
        for result in candidates.values().map(|at| &outline.results[*at]) {
            if result.message < warm {
                first = first.min(result.message);
                bytes += result.place.len() as u64;
                stubs += STUB_BYTES;
            }
        }
        let (removed, all) = (u64::from(share.0), u64::from(share.1).max(1));
        let saved = (bytes * removed / all).saturating_sub(stubs);
        let messages = &outline.messages[first..warm];
        let places = messages.iter().map(|message| self.json_of(&message.place).len() as u64);
        let rest = places.sum::<u64>().saturating_sub(saved);
        PAYS_WITHIN * READ * saved >= (cache.write_price - READ) * rest
    }

    /// Turns a result and the references to it into stubs. Returns the tokens that this saves.
    fn stub(&mut self, at: usize, reason: Reason) -> u32 {
        let mut saved = self.replace_with_stub(at, reason);
        let key = &self.request.outline.results[at].key;
        for other in 0..self.results.len() {
            let points_here = |decision: &Decision| decision.target() == Some(key);
            if self.results[other].decision.as_ref().is_some_and(points_here) {
                saved += self.replace_with_stub(other, Reason::LostTarget);
            }
        }
        saved
    }

    fn replace_with_stub(&mut self, at: usize, reason: Reason) -> u32 {
        let before = self.result_tokens(at);
        self.replace(at, self.stub_of(at), reason);
        before.saturating_sub(self.result_tokens(at))
    }

    fn stub_of(&self, at: usize) -> Replacement {
        let result = &self.request.outline.results[at];
        let path = (self.policy.original)(&result.key.text);
        let lines = self.request.text(result).lines().count();
        let text = format!(
            "[lcp: this output of {lines} lines was left out to save context; it is in {path}]"
        );
        Replacement::new(text, None)
    }
}

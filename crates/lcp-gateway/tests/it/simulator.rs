//! A gateway without a network, and the cache of a provider.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use lcp_gateway::{Api, Cached, Decision, Hash, Key, Policy, Reason, Request, Rewritten, rewrite};
use lcp_tokens::HeuristicEstimator;

/// The stores of a gateway, with a clock of its own in seconds.
#[derive(Clone, Default)]
pub(crate) struct Simulator {
    pub(crate) now: u64,
    /// The limit of the provider. By default, it is the budget.
    pub(crate) limit: Option<u32>,
    pub(crate) decisions: HashMap<Key, Decision>,
    pub(crate) originals: BTreeMap<Hash, String>,
    counts: RefCell<HashMap<Hash, u32>>,
    /// The time until which the provider keeps a beginning.
    beginnings: HashMap<Hash, u64>,
    /// The model that keeps a result in its cache for the longest time, and the end of this time.
    warm: HashMap<Key, (String, u64)>,
}

/// A request that was sent.
pub(crate) struct Sent {
    pub(crate) body: Vec<u8>,
    pub(crate) reasons: Vec<Reason>,
    /// `true` if a beginning with messages is warm.
    pub(crate) is_known: bool,
}

impl Simulator {
    /// Forgets the cache of the provider, as after a response that reports none.
    pub(crate) fn expire(&mut self) {
        self.beginnings.values_mut().for_each(|end| *end = self.now);
        self.warm.values_mut().for_each(|(_, end)| *end = self.now);
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, api: Api, body: &[u8], budget: u32) -> Sent {
        let Some(request) = Request::parse(api, body) else {
            return Sent { body: body.to_vec(), reasons: Vec::new(), is_known: false };
        };
        let cached = |hash: &Hash| match self.beginnings.get(hash) {
            Some(end) if *end > self.now => Cached::Warm,
            Some(_) => Cached::Expired,
            None => Cached::Unknown,
        };
        let store = |hash: &Hash, count| {
            self.counts.borrow_mut().insert(*hash, count);
        };
        let policy = Policy {
            budget,
            limit: self.limit.unwrap_or(budget),
            estimator: &HeuristicEstimator,
            decision: &|key| self.decisions.get(key).cloned(),
            cached: &cached,
            cached_call: &|call| {
                if self.warm.iter().any(|(key, (_, end))| *key.call == *call && *end > self.now) {
                    return Cached::Warm;
                }
                let is_known = self.decisions.keys().any(|key| *key.call == *call);
                if is_known { Cached::Expired } else { Cached::Unknown }
            },
            is_warm: &|key| {
                let known = self.warm.get(key);
                known.is_some_and(|(model, end)| *end > self.now && *model != request.model)
            },
            original: &|hash| format!("/originals/{:02x}{:02x}.txt", hash[0], hash[1]),
            is_raw: &|_, arguments| arguments.contains("raw.txt"),
            order: &|_| Vec::new(),
            stored_count: &|hash| self.counts.borrow().get(hash).copied(),
            store_count: &store,
        };
        let forgetful = Policy { stored_count: &|_| None, store_count: &|_, _| {}, ..policy };
        let counted = rewrite(&request, &forgetful);
        let Rewritten {
            body,
            decisions,
            edits,
            originals,
            beginnings,
            cached_results,
            deferred_counts,
            is_known,
            ..
        } = rewrite(&request, &policy);
        // Stored counts change no decision, and no bill.
        assert_eq!((&decisions, &edits), (&counted.decisions, &counted.edits));
        let counts = deferred_counts.count(&HeuristicEstimator, &store);
        assert_eq!(counts, counted.deferred_counts.count(&HeuristicEstimator, &|_, _| {}));
        let body = body.to_bytes();
        self.decisions.extend(decisions);
        self.originals.extend(originals.into_iter().map(|it| (it.hash, it.text)));
        let seconds = beginnings.first().map_or(0, |it| u64::from(it.seconds));
        for key in cached_results {
            let warm = (request.model.clone(), self.now + seconds);
            self.warm
                .entry(key)
                .and_modify(|known| {
                    if known.1 < warm.1 {
                        known.clone_from(&warm);
                    }
                })
                .or_insert(warm);
        }
        for beginning in beginnings {
            self.beginnings.insert(beginning.hash, self.now + u64::from(beginning.seconds));
        }
        Sent { body, reasons: edits.iter().map(|edit| edit.reason).collect(), is_known }
    }
}

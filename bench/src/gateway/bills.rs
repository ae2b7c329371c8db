//! The bills of sessions: as they are, with the gateway, and with the edits of a provider.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use lcp_gateway::{Api, Cached, Decision, Hash, Key, Policy, Request, rewrite};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator as _};
use lcp_transcripts::Format;
use serde_json::Value;

use super::headroom::Headroom;
use super::provider::{Provider, READ, WRITTEN, add_strings};
use super::sessions::Session;
use crate::harness::{Progress, Result, float};
use crate::table::{Better, Row, Wanted};

/// The rules of Anthropic's `clear_tool_uses_20250919` by default: the size of a request in tokens from
/// which results are cleared, and the number of newest results that stay.
const TRIGGER: u64 = 100_000;
const NEWEST: usize = 3;

/// The tokens that must be saved by clearing results, so that the cache is not broken for a few.
const CLEAR_AT_LEAST: u64 = 20_000;

/// A budget far below the window, in tokens.
const SMALL_BUDGET: u32 = 60_000;

/// The length in bytes of the shortest line that tells which result a later message uses.
const LINE_BYTES_MIN: usize = 24;

/// The tokens of a call that reads an original.
const CALL_TOKENS: u64 = 100;

/// Compares the bills of sessions in the repository and of generated ones.
pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut headroom = Headroom::start(progress).map_err(|error| error.to_string());
    let peer = &mut headroom;
    let samples = Session::samples()?;
    rows.extend(compare("samples", &samples, true, peer, progress)?);
    let short = || Session::synthetic(45);
    rows.extend(compare("no pause", &[short()?.with_pauses(usize::MAX)], true, peer, progress)?);
    rows.extend(compare(
        "a pause each 20 requests",
        &[short()?.with_pauses(20)],
        true,
        peer,
        progress,
    )?);
    rows.extend(compare(
        "a resume each 20 requests",
        &[short()?.with_pauses(20).with_resumes()],
        true,
        peer,
        progress,
    )?);
    rows.extend(compare(
        "a small budget",
        &[short()?.with_pauses(usize::MAX).with_budget(SMALL_BUDGET)],
        true,
        peer,
        progress,
    )?);
    rows.extend(compare("over the budget", &[Session::synthetic(150)?], true, peer, progress)?);
    Ok(rows)
}

/// Compares the bills of the sessions in a folder of transcripts, by default with the budget of the window.
pub(super) fn recorded(
    folder: &Path,
    budget: Option<u32>,
    progress: &mut Progress<'_>,
) -> Result<Vec<Row>> {
    let mut headroom = Headroom::start(progress).map_err(|error| error.to_string());
    let mut recorded = Session::recorded(folder)?;
    if let Some(budget) = budget {
        recorded = recorded.into_iter().map(|session| session.with_budget(budget)).collect();
    }
    compare("recorded", &recorded, budget.is_none(), &mut headroom, progress)
}

/// Compares the bills of sessions. If `is_never_more`, no session may become more expensive.
fn compare(
    what: &str,
    sessions: &[Session],
    is_never_more: bool,
    headroom: &mut Result<Headroom, String>,
    progress: &mut Progress<'_>,
) -> Result<Vec<Row>> {
    let mut sums = [const { Outcome::NONE }; 4];
    let (mut losses, mut largest_loss) = (0, 1.0_f64);
    for session in sessions {
        progress(format!("{what}: {}, {} requests", session.name, session.len()));
        let uses = uses(session);
        let mut strategies = vec![Strategy::AsItIs, Strategy::gateway(session), Strategy::Clear(0)];
        strategies.extend(headroom.as_mut().ok().map(Strategy::Headroom));
        let mut costs = Vec::new();
        for (sum, mut strategy) in sums.iter_mut().zip(strategies) {
            let outcome = play(session, &uses, &mut strategy)?;
            costs.push(outcome.cost);
            sum.add(&outcome);
        }
        if costs[1] > costs[0] {
            losses += 1;
            largest_loss = largest_loss.max(float(costs[1]) / float(costs[0]));
        }
    }
    let [plain, own, cleared, compressed] = &sums;
    let cost = |outcome: &Outcome| float(outcome.cost / 100);
    let billed = |name: &str, peer: &Outcome| {
        Row::new(format!("{what}, billed"), Better::Lower, "tokens", cost(own), name, cost(peer))
    };
    let shown = |outcome: &Outcome| 100.0 * float(outcome.shown) / float(outcome.uses);
    let mut all = vec![billed("without", plain).notes(format!(
        "{} sessions, {losses} of them more expensive, by up to {:.1} %; {} results cut, {} of them read \
         again",
        sessions.len(),
        100.0 * (largest_loss - 1.0),
        own.cut,
        own.read_again,
    ))];
    if is_never_more {
        let highest = Wanted::RatioAtLeast(if losses == 0 { 1.0 } else { f64::INFINITY });
        all = all.into_iter().map(|row| row.wants(highest)).collect();
    }
    // A peer that shows other lines can be cheaper.
    let compared = |name: &str, peer: &Outcome| {
        let row = billed(name, peer);
        let is_equal = (own.shown, own.uses) == (peer.shown, peer.uses);
        if is_equal { row.wants(Wanted::RatioAtLeast(1.0)) } else { row }
    };
    all.push(compared("clear_tool_uses", cleared));
    all.push(match headroom {
        Ok(headroom) => compared(&headroom.name, compressed),
        Err(reason) => billed("headroom", &Outcome::NONE).notes(format!("not measured: {reason}")),
    });
    if plain.over > 0 {
        let share = |outcome: &Outcome| 100.0 * float(outcome.over) / float(outcome.requests);
        let name = format!("{what}, requests over the budget");
        all.push(Row::new(name, Better::Lower, "%", share(own), "without", share(plain)));
    }
    if own.uses > 0 {
        let what = format!("{what}, lines of results that later messages use, shown");
        for (name, peer) in [("clear_tool_uses", cleared), ("headroom", compressed)] {
            if peer.uses > 0 {
                all.push(Row::new(&*what, Better::Higher, "%", shown(own), name, shown(peer)));
            }
        }
    }
    Ok(all)
}

/// The way in which requests are edited.
enum Strategy<'h> {
    AsItIs,
    Headroom(&'h mut Headroom),
    Gateway(Box<Simulated>),
    /// The number of results that the provider has cleared.
    Clear(usize),
}

/// A gateway with its stores.
#[derive(Default)]
struct Simulated {
    budget: u32,
    limit: u32,
    decisions: HashMap<Key, Decision>,
    ends: HashMap<Hash, u64>,
    /// The ends of the results of calls. All results are cached, because the last message has a mark.
    calls: HashMap<Arc<str>, u64>,
    counts: RefCell<HashMap<Hash, u32>>,
}

/// The figures of a session.
#[derive(Default)]
struct Outcome {
    /// The cost in hundredths of an input token.
    cost: u64,
    /// Uses of lines of results, and those whose lines the request shows.
    uses: u64,
    shown: u64,
    /// Results that were cut, and those that had to be read again.
    cut: u64,
    read_again: u64,
    /// Requests, and those above the budget.
    requests: u64,
    over: u64,
}

impl Outcome {
    const NONE: Self =
        Self { cost: 0, uses: 0, shown: 0, cut: 0, read_again: 0, requests: 0, over: 0 };

    fn add(&mut self, other: &Self) {
        self.cost += other.cost;
        self.uses += other.uses;
        self.shown += other.shown;
        self.cut += other.cut;
        self.read_again += other.read_again;
        self.requests += other.requests;
        self.over += other.over;
    }
}

/// The use of a line of a result in a message of the model.
struct Use {
    line: String,
    /// The text of the result.
    result: usize,
}

/// The uses of results.
struct Uses {
    /// The tokens of results.
    tokens: Vec<u64>,
    /// By the index of the message.
    by_message: HashMap<usize, Vec<Use>>,
}

/// Finds the lines of results that later messages of the model repeat, as calls that edit a file do.
fn uses(session: &Session) -> Uses {
    let (mut tokens, mut lines) = (Vec::new(), HashMap::new());
    let mut by_message: HashMap<usize, Vec<Use>> = HashMap::new();
    for (at, message) in session.messages.iter().enumerate() {
        if session.is_start(at) {
            lines.clear();
        }
        let mut text = String::new();
        if message["role"] == "assistant" {
            add_strings(&message["content"], &mut text);
            let known = text
                .lines()
                .map(str::trim)
                .filter_map(|line| Some(Use { line: line.to_owned(), result: *lines.get(line)? }));
            by_message.insert(at, known.collect());
            continue;
        }
        for part in message["content"].as_array().into_iter().flatten() {
            if part["type"] != "tool_result" {
                continue;
            }
            let mut text = String::new();
            add_strings(&part["content"], &mut text);
            let long = text.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN);
            // A line belongs to the newest result that has it.
            lines.extend(long.map(|line| (line.to_owned(), tokens.len())));
            tokens.push(Tiktoken::new(Encoding::O200kBase).estimate(&text).into());
        }
    }
    Uses { tokens, by_message }
}

/// Plays a session.
fn play(session: &Session, uses: &Uses, strategy: &mut Strategy<'_>) -> Result<Outcome> {
    let (mut provider, mut now, mut outcome) = (Provider::default(), 0, Outcome::default());
    let mut again: HashSet<usize> = HashSet::new();
    for request in 0..session.len() {
        now += session.pauses[request];
        let body = session.body(request);
        let sent = strategy.edit(&body, now, &mut outcome)?;
        let billed = provider.send(&sent, now)?;
        outcome.cost += billed.cost;
        outcome.requests += 1;
        outcome.over += u64::from(billed.tokens > session.budget.into());
        // What was read again is in all later requests.
        let carried: u64 = again.iter().map(|result| uses.tokens[*result]).sum();
        outcome.cost += carried * READ;
        for Use { line, result } in uses.by_message.get(&session.end(request)).into_iter().flatten()
        {
            outcome.uses += 1;
            if billed.text.contains(line) {
                outcome.shown += 1;
            } else if again.insert(*result) {
                // One more request, which reads the others from the cache.
                let read = uses.tokens[*result] + CALL_TOKENS;
                outcome.cost += read * WRITTEN + billed.tokens * READ;
                outcome.read_again += 1;
            }
        }
    }
    Ok(outcome)
}

impl Strategy<'_> {
    /// Creates a gateway for a session.
    fn gateway(session: &Session) -> Self {
        let &Session { budget, limit, .. } = session;
        Self::Gateway(Box::new(Simulated { budget, limit, ..Simulated::default() }))
    }

    /// Returns the request that is sent.
    fn edit(&mut self, body: &[u8], now: u64, outcome: &mut Outcome) -> Result<Vec<u8>> {
        match self {
            Self::AsItIs => Ok(body.to_vec()),
            Self::Headroom(headroom) => headroom.edit(body),
            Self::Gateway(gateway) => gateway.edit(body, now, outcome),
            Self::Clear(cleared) => clear(body, cleared, outcome),
        }
    }
}

impl Simulated {
    fn edit(&mut self, body: &[u8], now: u64, outcome: &mut Outcome) -> Result<Vec<u8>> {
        let request = Request::parse(Api::Anthropic, body).ok_or("the request is not read")?;
        let state = |end: Option<&u64>| match end {
            Some(end) if *end > now => Cached::Warm,
            Some(_) => Cached::Expired,
            None => Cached::Unknown,
        };
        let policy = Policy {
            budget: self.budget,
            limit: self.limit,
            estimator: &Tiktoken::new(Encoding::O200kBase),
            decision: &|key| self.decisions.get(key).cloned(),
            cached: &|hash| state(self.ends.get(hash)),
            cached_call: &|call| state(self.calls.get(call)),
            // Sessions have one model.
            is_warm: &|_| false,
            original: &|hash| {
                let folder = "/home/user/.local/share/lcp/gateway/originals/";
                let name = |mut name: String, byte: &u8| {
                    let _ = write!(name, "{byte:02x}");
                    name
                };
                hash.iter().fold(folder.to_owned(), name) + ".txt"
            },
            is_raw: &|_, _| false,
            order: &|body| lcp_app::rank::results_by_need(Format::Anthropic, body),
            stored_count: &|hash| self.counts.borrow().get(hash).copied(),
            store_count: &|hash, count| {
                self.counts.borrow_mut().insert(*hash, count);
            },
        };
        let rewritten = rewrite(&request, &policy);
        outcome.cut += rewritten.edits.len() as u64;
        let sent = rewritten.body.to_bytes();
        self.decisions.extend(rewritten.decisions);
        let ends = rewritten.beginnings.iter().map(|it| (it.hash, now + u64::from(it.seconds)));
        let ends: Vec<_> = ends.collect();
        if let Some((_, end)) = ends.first() {
            let calls = rewritten.cached_results.into_iter().map(|key| (key.call, *end));
            self.calls.extend(calls);
        }
        self.ends.extend(ends);
        Ok(sent)
    }
}

/// Clears results as the provider does: when the request is too large, all but the newest.
fn clear(body: &[u8], cleared: &mut usize, outcome: &mut Outcome) -> Result<Vec<u8>> {
    let request = Request::parse(Api::Anthropic, body).ok_or("the request is not read")?;
    let results = request.results();
    if results.len() < *cleared {
        // Another conversation begins.
        *cleared = 0;
    }
    let counter = Tiktoken::new(Encoding::O200kBase);
    let tokens = |texts: &[lcp_gateway::ResultText<'_>]| -> u64 {
        texts.iter().map(|result| u64::from(counter.estimate(&result.text))).sum()
    };
    let mut all = String::new();
    add_strings(&serde_json::from_slice::<Value>(body)?, &mut all);
    let size = u64::from(counter.estimate(&all)).saturating_sub(tokens(&results[..*cleared]));
    let end = results.len().saturating_sub(NEWEST).max(*cleared);
    if size > TRIGGER && tokens(&results[*cleared..end]) >= CLEAR_AT_LEAST {
        outcome.cut += (end - *cleared) as u64;
        *cleared = end;
    }
    let (mut sent, mut start) = (Vec::new(), 0);
    for result in &results[..*cleared] {
        sent.extend_from_slice(&body[start..result.place.start]);
        sent.extend_from_slice(b"\"[Old tool result content cleared]\"");
        start = result.place.end;
    }
    sent.extend_from_slice(&body[start..]);
    Ok(sent)
}

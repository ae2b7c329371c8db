//! `cache`: the cost of a session if the provider caches prompt prefixes, with stable plans and
//! with plans made from scratch in every turn. The cached prefix is found by comparing the texts of
//! two turns byte by byte.

pub(crate) mod session;

use std::collections::BTreeMap;
use std::sync::Arc;

use lcp_driver::prompt_cache::{PreviousPlan, StableOptions, StableOutcome, TextReuse, Watermarks};
use lcp_driver::{DefaultDriver, DriverConfig, Objective, Rendered, ValueModel, group_thousands};
use lcp_tokens::{CachedEstimator, CountCache, Encoding, Tiktoken, TokenEstimator};

use crate::harness::{Progress, Result, float};
use crate::table::{Better, Row, Wanted};
use session::Session;

const TURNS: usize = 400;

/// The budget, in tokens.
const BUDGET: u32 = 100_000;

/// The price of a token read from the cache, and of one written to it, in percent of the base
/// price.
const READ: u64 = 10;
const WRITE: u64 = 125;

/// The least cost of plans made from scratch, as a multiple of the cost of stable plans.
const SAVED_MIN: f64 = 4.0;

/// Watermarks that are measured in addition to the default ones.
const OTHER_MARKS: [(f64, f64); 2] = [(0.9, 0.5), (0.95, 0.8)];

/// The name of plans that reuse no text.
const FROM_SCRATCH: &str = "made from scratch";

/// The size of the cache of token counts, in bytes.
const COUNTS_BYTES: usize = 16 << 20;

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let session = Session::new(TURNS)?;
    let counter = Tiktoken::new(Encoding::O200kBase);
    let counts = Arc::new(CountCache::new(COUNTS_BYTES));
    let driver = DefaultDriver::new(CachedEstimator::new(counter, counts));
    let whole = driver.plan(&session.blocks, &DriverConfig::default())?.used_tokens;
    let each = u64::from(whole) / TURNS as u64;
    progress(format!("{TURNS} turns, {} tokens, {each} a turn", group_thousands(whole.into())));

    let mut rows = Vec::new();
    for objective in [Objective::Strict, Objective::Value(ValueModel::default())] {
        let name = objective.name();
        let mut billed_session = |what: &str, watermarks: Option<Watermarks>| {
            progress(format!("{name}, {what}"));
            play(&driver, counter, &session, objective, watermarks)
        };
        let scratch = billed_session(FROM_SCRATCH, None)?;
        let stable = billed_session("stable", Some(Watermarks::default()))?;
        let row = |what: &str, better, unit, own, other| {
            Row::new(format!("{name}, {what}"), better, unit, own, FROM_SCRATCH, other)
        };
        let count = |what: &str, own: usize, other: usize| {
            row(what, Better::Lower, "turns", float(own as u64), float(other as u64))
        };
        let billed = |what: &str, bill: &Bill| {
            let each = |bill: &Bill| bill.each(bill.billed) / 100.0;
            row(what, Better::Lower, "tokens", each(bill), each(&scratch))
        };
        let shown = (stable.each(stable.shown), scratch.each(scratch.shown));
        rows.extend([
            billed("billed a turn", &stable).wants(Wanted::RatioAtLeast(SAVED_MIN)),
            row("shown a turn", Better::Higher, "tokens", shown.0, shown.1),
            count("over the budget", stable.over, scratch.over).wants(Wanted::OwnAtMost(0.0)),
            count("without the newest question", stable.unasked, scratch.unasked)
                .wants(Wanted::OwnAtMost(0.0)),
            count("repacked", stable.repacks(), scratch.turns - 1).notes(stable.causes()),
        ]);
        for (high, low) in OTHER_MARKS {
            let what = format!("watermarks {high} and {low}");
            let other = billed_session(&what, Some(Watermarks::new(high, low)?))?;
            rows.push(billed(&format!("{what}, billed a turn"), &other).notes(format!(
                "{} tokens shown a turn, repacked in {} turns",
                group_thousands(other.shown / other.turns as u64),
                other.repacks(),
            )));
        }
    }
    Ok(rows)
}

/// The totals of a session.
#[derive(Default)]
struct Bill {
    turns: usize,
    /// The cost, in hundredths of the price of a token.
    billed: u64,
    /// The number of tokens of all texts.
    shown: u64,
    /// Turns whose text exceeds the budget.
    over: usize,
    /// Turns whose text does not show the newest user message in full.
    unasked: usize,
    /// The number of turns for each kind of reuse of the previous text, with the reason for a
    /// repack.
    turned: BTreeMap<(&'static str, &'static str), usize>,
}

impl Bill {
    /// Returns the average of a sum per turn.
    fn each(&self, sum: u64) -> f64 {
        float(sum) / float(self.turns as u64)
    }

    fn repacks(&self) -> usize {
        let repacked =
            self.turned.iter().filter(|((turn, _), _)| *turn == TextReuse::Repacked.name());
        repacked.map(|(_, turns)| turns).sum()
    }

    /// Lists the kinds of reuse and the reasons for repacks, with their numbers of turns.
    fn causes(&self) -> String {
        let causes = self.turned.iter().map(|((turn, cause), turns)| {
            let cause = if cause.is_empty() { String::new() } else { format!(" ({cause})") };
            format!("{turns} {turn}{cause}")
        });
        causes.collect::<Vec<_>>().join(", ")
    }
}

/// Plays a session. `counter` counts the tokens of texts and of cached prefixes.
fn play(
    driver: &DefaultDriver,
    counter: Tiktoken,
    session: &Session,
    objective: Objective,
    watermarks: Option<Watermarks>,
) -> Result<Bill> {
    let mut bill = Bill { turns: session.turns.len(), ..Bill::default() };
    let mut before: Option<Before> = None;
    for (number, turn) in (1..).zip(&session.turns) {
        let previous = before.as_ref().and_then(|before| before.plan.clone());
        let config = DriverConfig {
            token_budget: Some(BUDGET),
            objective,
            stable: watermarks.map(|watermarks| StableOptions { watermarks, previous }),
            ..DriverConfig::default()
        };
        let Rendered { text, plan } = driver.run(&session.blocks[..turn.end], &config)?;
        let tokens = u64::from(counter.estimate(&text));
        let cached = match &before {
            Some(before) => before.cached(number, &text, plan.stable.as_ref(), counter)?,
            None => 0,
        };
        bill.billed += cached * READ + tokens.saturating_sub(cached) * WRITE;
        bill.shown += tokens;
        bill.over += usize::from(tokens > BUDGET.into());
        let asked = plan.items[turn.user].decision.name() == "full" && text.contains(&turn.said);
        bill.unasked += usize::from(!asked);
        if let Some(stable) = &plan.stable {
            let cause = stable.repack_reason.map_or("", |cause| cause.name());
            *bill.turned.entry((stable.reuse.name(), cause)).or_default() += 1;
        }
        let (prefix, plan) = plan
            .stable
            .map_or((text.len(), None), |stable| (stable.prefix_bytes, Some(stable.next_plan)));
        before = Some(Before { text, prefix, plan: plan.map(Arc::new) });
    }
    Ok(bill)
}

/// The previous turn.
struct Before {
    text: String,
    /// The length of the prefix that should stay cached, in bytes.
    prefix: usize,
    plan: Option<Arc<PreviousPlan>>,
}

impl Before {
    /// Returns the number of tokens at the beginning of `text` that a cache would have. Without a
    /// stable plan, these are the tokens up to the first difference. A stable plan has its own
    /// figure, which is returned if it is right.
    ///
    /// # Errors
    ///
    /// Returns an error if the figures of the stable plan are wrong.
    fn cached(
        &self,
        turn: usize,
        text: &str,
        stable: Option<&StableOutcome>,
        counter: Tiktoken,
    ) -> Result<u64> {
        let pairs = self.text.bytes().zip(text.bytes());
        let same = pairs.take_while(|(before, now)| before == now).count();
        let Some(stable) = stable else {
            let same = (0..=same).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            return Ok(counter.estimate(&text[..same]).into());
        };
        let kept = stable.kept_bytes;
        let untrue = |claim: String| -> Result<u64> {
            Err(format!("turn {turn}: the plan says that {claim}, and it is not so").into())
        };
        if kept > same.min(self.prefix) {
            return untrue(format!("{kept} bytes were kept"));
        }
        if stable.reuse == TextReuse::Appended && kept < self.prefix {
            return untrue("all parts were kept".to_owned());
        }
        let tokens = counter.estimate(text.get(..kept).unwrap_or_default());
        if tokens != stable.kept_tokens {
            return untrue(format!("{} tokens were kept", stable.kept_tokens));
        }
        Ok(tokens.into())
    }
}

//! As much as a budget holds, in the order of giving way.

use std::sync::Arc;

use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, Excerpts, Reason, Rendered, WarningCode,
};
use lcp_tokens::TokenEstimator;

use super::DirectiveOptions;
use super::draft::Draft;
use super::parts::{Parts, Pick, Unit};
use super::wording::{Wording, wording};

/// How often what did not fit is passed over for what is smaller: each time costs some
/// drafts of the whole directive.
const TRIES_MAX: usize = 16;

/// A directive, rendered.
pub(super) struct Fitted {
    pub(super) draft: Draft,
    pub(super) rendered: Rendered,
}

impl Fitted {
    /// Whether all that is picked fits, and the rest is at least counted.
    fn holds(&self) -> bool {
        let plan = &self.rendered.plan;
        let is_below = |code| code == WarningCode::BelowFloor;
        plan.overflow_tokens() == 0 && !plan.warnings.iter().any(|warning| is_below(warning.code))
    }
}

/// One way to show a unit.
struct Way {
    /// Its place.
    unit: usize,
    pick: Pick,
    /// What its words alone cost.
    tokens: u32,
}

/// Picks units until the budget is spent.
pub(super) fn fit(
    parts: &Parts<'_>,
    options: &DirectiveOptions,
    counter: Arc<dyn TokenEstimator>,
) -> Result<Fitted, DriverError> {
    let config = DriverConfig {
        mode: options.mode,
        token_budget: options.budget,
        // Half a decision may say the opposite: whole, or by a line.
        excerpts: Excerpts::Off,
        ..DriverConfig::default()
    };
    let driver = DefaultDriver::new(Arc::clone(&counter));
    let fitter = Fitter { parts, wording: wording(options.style), config, driver, counter };
    fitter.fit()
}

struct Fitter<'p, 'h> {
    parts: &'p Parts<'h>,
    wording: &'static dyn Wording,
    config: DriverConfig,
    driver: DefaultDriver,
    counter: Arc<dyn TokenEstimator>,
}

impl Fitter<'_, '_> {
    fn fit(&self) -> Result<Fitted, DriverError> {
        let units = &self.parts.units;
        let all = self.run(&vec![Pick::Whole; units.len()])?;
        if all.holds() {
            return Ok(all);
        }
        // None of them always fits.
        let (fits, best) = self.most(units.len(), |count| first(units.len(), count))?;
        let picks = first(units.len(), fits);
        let best = match best {
            Some(best) => best,
            None => self.run(&picks)?,
        };
        self.fill(fits, picks, best)
    }

    /// Those that give way last and are smaller may fit where one did not: adds what
    /// of the units from `from` on fits.
    fn fill(
        &self,
        from: usize,
        mut picks: Vec<Pick>,
        mut best: Fitted,
    ) -> Result<Fitted, DriverError> {
        let ways = self.ways(from);
        let mut ways = ways.as_slice();
        for _ in 0..TRIES_MAX {
            let may = may_fit(ways, self.left(&best));
            let with = |count: usize| {
                let mut picks = picks.clone();
                for at in &may[..count] {
                    picks[ways[*at].unit] = ways[*at].pick;
                }
                picks
            };
            let (added, found) = self.most(may.len() + 1, with)?;
            if let Some(found) = found {
                (picks, best) = (with(added), found);
            }
            let Some(failed) = may.get(added) else { break };
            ways = &ways[failed + 1..];
        }
        Ok(best)
    }

    /// How many, from the first on, fit, and they as they are rendered; `too_many` do
    /// not. None where not even one does.
    fn most(
        &self,
        mut too_many: usize,
        picks: impl Fn(usize) -> Vec<Pick>,
    ) -> Result<(usize, Option<Fitted>), DriverError> {
        let (mut fits, mut best) = (0, None);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            let found = self.run(&picks(middle))?;
            if found.holds() {
                (fits, best) = (middle, Some(found));
            } else {
                too_many = middle;
            }
        }
        Ok((fits, best))
    }

    fn run(&self, picks: &[Pick]) -> Result<Fitted, DriverError> {
        let draft = Draft::new(self.parts, picks, self.wording);
        let rendered = self.driver.run(&draft.blocks, &self.config)?;
        Ok(Fitted { draft, rendered })
    }

    /// The ways to show the units from `from` on that give way last, in order.
    fn ways(&self, from: usize) -> Vec<Way> {
        let units = self.parts.units.iter().enumerate().skip(from);
        let last = units.take_while(|(_, unit)| unit.is_last());
        last.flat_map(|(at, unit)| {
            let sizes = self.sizes(unit);
            sizes.into_iter().map(move |(pick, tokens)| Way { unit: at, pick, tokens })
        })
        .collect()
    }

    /// The ways to show a unit that gives way last, and what its words alone cost:
    /// more than that it costs in any case.
    fn sizes(&self, unit: &Unit) -> Vec<(Pick, u32)> {
        let count = |words: &mut dyn Iterator<Item = &String>| -> u32 {
            words.map(|words| self.counter.estimate(words)).sum()
        };
        match unit {
            Unit::Anchor(at) => {
                vec![(Pick::Whole, self.counter.estimate(&self.parts.anchors[*at].text))]
            }
            Unit::Task(at) => {
                let task = self.parts.tasks[*at];
                let short = count(&mut task.remaining_steps.iter());
                let whole = short + count(&mut task.done_steps.iter());
                let mut sizes = vec![(Pick::Whole, whole)];
                if !task.done_steps.is_empty() {
                    sizes.push((Pick::Short, short));
                }
                sizes
            }
            _ => vec![(Pick::Whole, 0)],
        }
    }

    /// Tokens that what is picked leaves.
    fn left(&self, fitted: &Fitted) -> u32 {
        let picked = fitted.rendered.plan.items.iter().filter(|item| item.reason == Reason::Pinned);
        let picked: u32 = picked.map(|item| item.tokens).sum();
        self.config.token_budget.unwrap_or(u32::MAX).saturating_sub(picked)
    }
}

/// The places of those of `ways` that may fit together into `left` tokens, as far as
/// their words alone tell: of each unit one, the first before the later.
fn may_fit(ways: &[Way], mut left: u32) -> Vec<usize> {
    let mut last = None;
    let mut may = Vec::new();
    for (at, way) in ways.iter().enumerate() {
        if way.tokens <= left && last != Some(way.unit) {
            left -= way.tokens;
            last = Some(way.unit);
            may.push(at);
        }
    }
    may
}

/// The first `whole` of `units` units.
fn first(units: usize, whole: usize) -> Vec<Pick> {
    let pick = |at| if at < whole { Pick::Whole } else { Pick::Left };
    (0..units).map(pick).collect()
}

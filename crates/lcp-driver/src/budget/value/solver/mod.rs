//! A multiple-choice knapsack: of each class one option, worth most together
//! within a capacity (RFC 0005 §3 and §4).
//!
//! | step | in |
//! |---|---|
//! | classes and options, those dropped that others beat | `problem.rs` |
//! | what an option adds, compared without rounding | `density.rs` |
//! | the upgrades of a class, by falling density | `hull.rs` |
//! | all upgrades in order, for those who take them one by one | `order.rs` |
//! | all that comes before the first upgrade that does not fit | `greedy.rs` |
//! | the upgrades nearest to that one, on both sides | `frontier.rs` |
//! | their classes decided again, together | `core.rs`, its states in `states.rs` |
//! | what still fits | `rest.rs` |
//! | single classes decided both ways, where that was not good enough | `branch.rs` |

mod branch;
mod core;
mod density;
mod frontier;
mod greedy;
mod hull;
#[cfg(test)]
mod laws;
mod order;
mod problem;
mod rest;
mod states;

use self::core::Size;
pub(crate) use order::{by_density, hull_of};
use problem::{Choice, View};
pub(crate) use problem::{Problem, narrow};

/// What was chosen, and how far from the best it can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Solution {
    /// For each class the index of its option, as it was pushed.
    pub(crate) chosen: Vec<u32>,
    /// What they cost together.
    pub(crate) cost: u64,
    /// What they are worth together.
    pub(crate) value: u64,
    /// The value of the linear relaxation, rounded down.
    pub(crate) lp_bound: u64,
    /// No choice is worth more than this: never below `value`, never above
    /// `lp_bound`, and equal to `value` where the choice is proven best.
    pub(crate) bound: u64,
}

/// Chooses of each class one option, for as much value as `capacity` pays for.
/// Of choices worth the same, the one that is found first.
///
/// `None` if the cheapest options of all classes exceed the capacity together.
pub(crate) fn solve(problem: &Problem, capacity: u64) -> Option<Solution> {
    solve_within(problem, capacity, Size::FULL)
}

/// Takes what comes before the first upgrade that does not fit, and no more; the
/// bound is that of the linear relaxation.
pub(crate) fn solve_greedily(problem: &Problem, capacity: u64) -> Option<Solution> {
    let view = problem.view();
    let greedy::Greedy { choice: Choice { at, cost, value }, broken } =
        greedy::greedy(view, capacity)?;
    let more = broken.map_or(0, |broken| broken.upgrade().gain.worth_of(capacity - cost));
    let chosen = at.into_iter().map(|at| view.option(at).index).collect();
    Some(Solution { chosen, cost, value, lp_bound: value + more, bound: value + more })
}

/// As [`solve`], with cores of this size at most.
fn solve_within(problem: &Problem, capacity: u64, size: Size) -> Option<Solution> {
    let view = problem.view();
    let first = attempt(view, capacity, size)?;
    let lp_bound = first.lp_bound;
    let (Choice { at, cost, value }, bound) = branch::search(view, capacity, size, first);
    let chosen = at.into_iter().map(|at| view.option(at).index).collect();
    Some(Solution { chosen, cost, value, lp_bound, bound })
}

/// What the steps up to the core, and the rest, come to.
struct Attempt {
    choice: Choice,
    lp_bound: u64,
    /// At most `lp_bound`.
    bound: u64,
    /// The class of the break, and the place that it leads to.
    broke: Option<(u32, u32)>,
}

fn attempt(problem: View<'_>, capacity: u64, size: Size) -> Option<Attempt> {
    let greedy::Greedy { mut choice, broken } = greedy::greedy(problem, capacity)?;
    let Some(broken) = broken else {
        let best = choice.value;
        return Some(Attempt { choice, lp_bound: best, bound: best, broke: None });
    };
    let upgrade = *broken.upgrade();
    let lp_bound = choice.value + upgrade.gain.worth_of(capacity - choice.cost);
    let mut bound = lp_bound;
    if bound > choice.value {
        bound = core::decide(problem, capacity, &mut choice, broken, size);
    }
    // Of a choice that is proven best nothing is left that fits.
    if bound > choice.value {
        rest::fill(problem, capacity, &mut choice);
    }
    Some(Attempt { choice, lp_bound, bound, broke: Some((upgrade.class, upgrade.at)) })
}

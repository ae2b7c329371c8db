//! A multiple-choice knapsack: choose one option of each class, with a high total value within a
//! capacity (RFC 0005 §3 and §4).
//!
//! | step | in |
//! |---|---|
//! | classes and options, without dominated ones | `instance.rs` |
//! | upgrades along the convex hull of each class, by density | `upgrades.rs` |
//! | all upgrades before the first that does not fit; at the end, any that fit | `greedy.rs` |
//! | the upgrades nearest to that break item, on both sides | `break_item.rs` |
//! | an expanding core of classes around it, by dynamic programming | `core.rs`, `dp_states.rs` |
//! | splits of single classes, if the result is not good enough | `branch_and_bound.rs` |

mod branch_and_bound;
mod break_item;
mod core;
mod dp_states;
mod greedy;
mod instance;
#[cfg(test)]
mod tests;
mod upgrades;

use self::core::Size;
use greedy::{Greedy, fill_leftover, solve_by_density};
use instance::{Assignment, Instance};
pub(super) use instance::{Problem, to_u32};
pub(super) use upgrades::{convex_hull, upgrades_by_density};

/// One option of each class, and bounds on their distance from the optimum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Solution {
    /// The index of the option of each class, in the order in which the options were pushed.
    pub(super) chosen: Vec<u32>,
    pub(super) cost: u64,
    pub(super) value: u64,
    /// The value of the linear relaxation, rounded down.
    pub(super) lp_bound: u64,
    /// The upper bound on the value of any solution: from `value`, if this one is proven optimal,
    /// to `lp_bound`.
    pub(super) bound: u64,
}

/// Chooses one option of each class for a high total value within `capacity`. Of equal solutions
/// the one that is found first wins.
///
/// Returns `None` if the cheapest options of all classes together exceed the capacity.
pub(super) fn solve(problem: &Problem, capacity: u64) -> Option<Solution> {
    solve_within(problem, capacity, Size::FULL)
}

/// Takes only the upgrades before the first one that does not fit.
pub(super) fn solve_greedily(problem: &Problem, capacity: u64) -> Option<Solution> {
    let view = problem.view();
    let Greedy { assignment: Assignment { at, cost, value }, break_item } =
        solve_by_density(view, capacity)?;
    let more = break_item.map_or(0, |item| item.upgrade().gain.value_of(capacity - cost));
    let chosen = at.into_iter().map(|at| view.option(at).index).collect();
    Some(Solution { chosen, cost, value, lp_bound: value + more, bound: value + more })
}

fn solve_within(problem: &Problem, capacity: u64, size: Size) -> Option<Solution> {
    let view = problem.view();
    let first = attempt(view, capacity, size)?;
    let lp_bound = first.lp_bound;
    let (Assignment { at, cost, value }, bound) =
        branch_and_bound::search(view, capacity, first, |part| attempt(part, capacity, size));
    let chosen = at.into_iter().map(|at| view.option(at).index).collect();
    Some(Solution { chosen, cost, value, lp_bound, bound })
}

/// The result of the greedy, core and leftover steps.
struct Attempt {
    assignment: Assignment,
    lp_bound: u64,
    /// At most `lp_bound`.
    bound: u64,
    split: Option<(u32, u32)>,
}

fn attempt(problem: Instance<'_>, capacity: u64, size: Size) -> Option<Attempt> {
    let Greedy { mut assignment, break_item } = solve_by_density(problem, capacity)?;
    let Some(break_item) = break_item else {
        let best = assignment.value;
        return Some(Attempt { assignment, lp_bound: best, bound: best, split: None });
    };
    let upgrade = *break_item.upgrade();
    let lp_bound = assignment.value + upgrade.gain.value_of(capacity - assignment.cost);
    let mut bound = lp_bound;
    if bound > assignment.value {
        bound = core::decide(problem, capacity, &mut assignment, break_item, size);
    }
    // No better option fits if the assignment is proven optimal.
    if bound > assignment.value {
        fill_leftover(problem, capacity, &mut assignment);
    }
    Some(Attempt { assignment, lp_bound, bound, split: Some((upgrade.class, upgrade.at)) })
}

//! Branch and bound, for problems in which one upgrade is a large part of the whole.
//!
//! To take such an upgrade, hundreds of others must be undone, which no core around the break item
//! finds. So the options of the break item's class are split in two, and each half is solved as its
//! own problem.

use super::Attempt;
use super::greedy::fill_leftover;
use super::instance::{Assignment, ClassRange, Instance};

/// The divisor of the acceptable gap: a solution is good enough if it is within a thousandth of its
/// bound.
const NEAR: u64 = 1_000;

/// The maximum number of splits.
const MAX_BRANCHES: usize = 12;

/// The number of successive splits without a better solution or bound after which the search stops.
const MAX_UNIMPROVED_BRANCHES: usize = 2;

/// A subproblem that may contain a better solution.
struct Node {
    /// Classes with fewer options.
    limits: Vec<(u32, ClassRange)>,
    bound: u64,
    /// The class to decide, and the index at which its options are split.
    split: (u32, u32),
}

/// Improves the first assignment, and returns it with a bound on all assignments. `attempt` solves
/// subproblems.
pub(super) fn search(
    problem: Instance<'_>,
    capacity: u64,
    first: Attempt,
    mut attempt: impl FnMut(Instance<'_>) -> Option<Attempt>,
) -> (Assignment, u64) {
    let Attempt { assignment: mut best, bound, split, .. } = first;
    let mut open: Vec<Node> =
        split.map(|split| Node { limits: Vec::new(), bound, split }).into_iter().collect();
    let (mut classes, mut improved) = (Vec::new(), false);
    let mut unimproved = 0;
    for _ in 0..MAX_BRANCHES {
        // Of several nodes with the highest bound, this takes the first.
        let highest = (0..open.len()).rev().max_by_key(|&i| open[i].bound);
        let near = |open: &Node| open.bound.saturating_sub(best.value) <= open.bound / NEAR;
        let Some(highest) = highest.filter(|&i| !near(&open[i])) else { break };
        let Node { limits, bound, split: (class, at) } = open.remove(highest);
        if classes.is_empty() {
            classes = problem.classes.to_vec();
        }
        for &(class, range) in &limits {
            classes[class as usize] = range;
        }
        let (start, end) = classes[class as usize];
        let value = best.value;
        for range in [(at, end), (start, at)] {
            classes[class as usize] = range;
            let part = Instance { classes: &classes, options: problem.options };
            let Some(result) = attempt(part) else { continue };
            if let Some(split) = result.split {
                let mut limits = limits.clone();
                limits.push((class, range));
                open.push(Node { limits, bound: result.bound.min(bound), split });
            }
            if result.assignment.value > best.value {
                best = result.assignment;
                improved = true;
            }
        }
        for class in limits.iter().map(|limit| limit.0).chain([class]) {
            classes[class as usize] = problem.classes[class as usize];
        }
        // The node that was split had the highest bound.
        let lowered = open.iter().all(|open| open.bound < bound);
        unimproved = if lowered || best.value > value { 0 } else { unimproved + 1 };
        if unimproved == MAX_UNIMPROVED_BRANCHES {
            break;
        }
    }
    // A subproblem excludes options, so more may fit in the whole problem.
    if improved {
        fill_leftover(problem, capacity, &mut best);
    }
    let bound = open.iter().map(|open| open.bound).fold(best.value, u64::max);
    (best, bound)
}

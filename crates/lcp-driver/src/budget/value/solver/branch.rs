//! Where one upgrade is a large part of all, a core around the break may be far
//! from the best: to take it, hundreds of others are to be given back. Then the
//! class of the break is decided both ways, and each is a problem of its own.

use super::core::Size;
use super::problem::{Choice, Places, View};
use super::{Attempt, attempt, rest};

/// How near to the bound is near enough: a thousandth of it.
const NEAR: u64 = 1_000;

/// How often a class is decided both ways at most.
const BRANCHES: usize = 12;

/// After so many branches in a row that neither find a better choice nor lower
/// the highest bound, it is given up: as where all densities are equal, and no
/// class that is decided changes what the others can come to.
const PATIENCE: usize = 2;

/// A part of the problem that may hold something better.
struct Open {
    /// Classes that have fewer options there.
    limits: Vec<(u32, Places)>,
    bound: u64,
    /// The class that is to be decided, and the place from which on its options
    /// are the other part.
    broke: (u32, u32),
}

/// The best choice that is found from a first one on, and a bound of all.
pub(super) fn search(
    problem: View<'_>,
    capacity: u64,
    size: Size,
    first: Attempt,
) -> (Choice, u64) {
    search_by(problem, capacity, first, |part| attempt(part, capacity, size))
}

/// The same, with parts solved by `attempt`: `None` for those without a choice.
pub(super) fn search_by(
    problem: View<'_>,
    capacity: u64,
    first: Attempt,
    mut attempt: impl FnMut(View<'_>) -> Option<Attempt>,
) -> (Choice, u64) {
    let Attempt { choice: mut best, bound, broke, .. } = first;
    let mut open: Vec<Open> =
        broke.map(|broke| Open { limits: Vec::new(), bound, broke }).into_iter().collect();
    let (mut classes, mut improved) = (Vec::new(), false);
    let mut in_vain = 0;
    for _ in 0..BRANCHES {
        // The first of the highest bound.
        let highest = (0..open.len()).rev().max_by_key(|&i| open[i].bound);
        let near = |open: &Open| open.bound.saturating_sub(best.value) <= open.bound / NEAR;
        let Some(highest) = highest.filter(|&i| !near(&open[i])) else { break };
        let Open { limits, bound, broke: (class, at) } = open.remove(highest);
        if classes.is_empty() {
            classes = problem.classes.to_vec();
        }
        for &(class, places) in &limits {
            classes[class as usize] = places;
        }
        let (start, end) = classes[class as usize];
        let value = best.value;
        for places in [(at, end), (start, at)] {
            classes[class as usize] = places;
            let part = View { classes: &classes, options: problem.options };
            let Some(found) = attempt(part) else { continue };
            if let Some(broke) = found.broke {
                let mut limits = limits.clone();
                limits.push((class, places));
                open.push(Open { limits, bound: found.bound.min(bound), broke });
            }
            if found.choice.value > best.value {
                best = found.choice;
                improved = true;
            }
        }
        for class in limits.iter().map(|limit| limit.0).chain([class]) {
            classes[class as usize] = problem.classes[class as usize];
        }
        // The part that was decided had the highest bound.
        let lowered = open.iter().all(|open| open.bound < bound);
        in_vain = if lowered || best.value > value { 0 } else { in_vain + 1 };
        if in_vain == PATIENCE {
            break;
        }
    }
    // In a part, not all that fits could be taken.
    if improved {
        rest::fill(problem, capacity, &mut best);
    }
    let bound = open.iter().map(|open| open.bound).fold(best.value, u64::max);
    (best, bound)
}

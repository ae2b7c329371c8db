//! Upgrades by density, up to the first that does not fit (RFC 0005 §3.2).

use super::frontier::Frontier;
use super::problem::{Choice, View, narrow};

/// What density alone chooses.
pub(super) struct Greedy {
    pub(super) choice: Choice,
    /// The upgrades around the break; `None` if all fit.
    pub(super) broken: Option<Frontier>,
}

/// Takes all upgrades before the break, the first in their order that does not
/// fit. `None` if not even the cheapest options do.
pub(super) fn greedy(problem: View<'_>, capacity: u64) -> Option<Greedy> {
    let mut choice = Choice::with_capacity(problem.classes.len());
    let mut fullest = Choice::with_capacity(problem.classes.len());
    for (start, options) in problem.classes() {
        choice.add(start, options.first()?);
        fullest.add(start + narrow(options.len() - 1), options.last()?);
    }
    if choice.cost > capacity {
        return None;
    }
    if fullest.cost <= capacity {
        return Some(Greedy { choice: fullest, broken: None });
    }
    let broken = Frontier::new(problem.upgrades(), capacity - choice.cost);
    for upgrade in broken.as_ref().map_or(&[][..], Frontier::taken) {
        let at = &mut choice.at[upgrade.class as usize];
        // They come in no order, but a fuller option has a later place.
        *at = upgrade.at.max(*at);
        choice.cost += upgrade.gain.cost;
        choice.value += upgrade.gain.value;
    }
    Some(Greedy { choice, broken })
}

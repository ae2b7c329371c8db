//! The states of the core's dynamic program, their bounds, and the pruning of states (RFC 0005 §4,
//! P2).

use std::cmp::Reverse;

use super::upgrades::{Gain, product};

/// An assignment that differs from the greedy one only in classes of the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// The cost of all classes, including those outside the core.
    pub(super) cost: u64,
    pub(super) value: u64,
    /// The node of the preceding state, later its own node.
    pub(super) node: u32,
    /// The choice for the last class.
    pub(super) at: u32,
}

/// The linear relaxation of the classes outside the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxation {
    pub(super) capacity: u64,
    /// The least dense upgrade that was taken. Undoing upgrades loses at least this density.
    pub(super) before: Option<Gain>,
    /// The densest upgrade that was not taken. Further upgrades gain at most this density.
    pub(super) after: Option<Gain>,
}

impl Relaxation {
    /// Returns the maximum value that a state can reach; 0 if it cannot get within the capacity.
    pub(super) fn bound(&self, state: &State) -> u64 {
        if state.cost <= self.capacity {
            let room = self.capacity - state.cost;
            state.value + self.after.map_or(0, |gain| gain.value_of(room))
        } else {
            let over = state.cost - self.capacity;
            self.before.map_or(0, |gain| state.value.saturating_sub(gain.value_rounded_up(over)))
        }
    }

    /// Returns whether the bound exceeds `best`, without a division.
    pub(super) fn beats(&self, best: u64, cost: u64, value: u64) -> bool {
        if cost <= self.capacity {
            let room = self.capacity - cost;
            value > best
                || self.after.is_some_and(|gain| {
                    product(room, gain.value) >= product(best - value + 1, gain.cost)
                })
        } else {
            let over = cost - self.capacity;
            value > best
                && self.before.is_some_and(|gain| {
                    product(over, gain.value) <= product(value - best - 1, gain.cost)
                })
        }
    }
}

/// Sorts states by cost, and removes those that another state dominates.
pub(super) fn prune_dominated(states: &mut Vec<State>) {
    // The sort is stable, which is fast because the states of one choice are already sorted. Of two
    // equal states the first remains.
    states.sort_by_key(|state| (state.cost, Reverse(state.value)));
    let mut top = None;
    states.retain(|state| {
        let better = top.is_none_or(|top| state.value > top);
        if better {
            top = Some(state.value);
        }
        better
    });
}

/// Keeps the `most` states with the highest bounds, and returns the highest bound of the others.
pub(super) fn beam_trim(states: &mut Vec<State>, most: usize, relaxation: &Relaxation) -> u64 {
    if states.len() <= most {
        return 0;
    }
    let mut ranked: Vec<(u64, usize)> =
        states.iter().enumerate().map(|(i, state)| (relaxation.bound(state), i)).collect();
    let (_, &mut (dropped, _), _) =
        ranked.select_nth_unstable_by_key(most, |&(bound, i)| (Reverse(bound), i));
    let mut remaining: Vec<usize> = ranked[..most].iter().map(|&(_, i)| i).collect();
    remaining.sort_unstable();
    *states = remaining.into_iter().map(|i| states[i]).collect();
    dropped
}

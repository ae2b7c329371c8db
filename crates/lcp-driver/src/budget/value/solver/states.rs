//! States of the core: what was chosen of its classes, with all others as they
//! were (RFC 0005 §4, P2).

use std::cmp::Reverse;

use super::density::{Gain, product};

/// A choice that differs from the greedy one in classes of the core only.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// What all classes cost, those outside of the core included.
    pub(super) cost: u64,
    /// What they are worth.
    pub(super) value: u64,
    /// The node of the state that it came from, then its own.
    pub(super) node: u32,
    /// The place of the option that it has of the last class.
    pub(super) at: u32,
}

/// What can still become of states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    pub(super) capacity: u64,
    /// The least dense of what was taken outside of the core: what is given
    /// back loses as much. `None` if nothing can be.
    pub(super) before: Option<Gain>,
    /// The densest of what was not taken: more brings no more than that.
    pub(super) after: Option<Gain>,
}

impl Outlook {
    /// What a state can come to at most; 0 if it stays over the capacity.
    pub(super) fn bound(&self, state: &State) -> u64 {
        if state.cost <= self.capacity {
            let room = self.capacity - state.cost;
            state.value + self.after.map_or(0, |gain| gain.worth_of(room))
        } else {
            let over = state.cost - self.capacity;
            self.before.map_or(0, |gain| state.value.saturating_sub(gain.worth_up(over)))
        }
    }

    /// Whether that is more than `best`: the same question, without a division.
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

/// Sorts states by cost, and drops those that another one beats in both.
pub(super) fn undominated(states: &mut Vec<State>) {
    // Stable: those of one option are in order already, which it makes use of,
    // and of two alike the first stays.
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

/// Keeps `most` states, those of the highest bounds, and returns the highest of
/// the others; 0 if there are none.
pub(super) fn trim(states: &mut Vec<State>, most: usize, outlook: &Outlook) -> u64 {
    if states.len() <= most {
        return 0;
    }
    let mut ranked: Vec<(u64, usize)> =
        states.iter().enumerate().map(|(i, state)| (outlook.bound(state), i)).collect();
    let (_, &mut (dropped, _), _) =
        ranked.select_nth_unstable_by_key(most, |&(bound, i)| (Reverse(bound), i));
    let mut kept: Vec<usize> = ranked[..most].iter().map(|&(_, i)| i).collect();
    kept.sort_unstable();
    *states = kept.into_iter().map(|i| states[i]).collect();
    dropped
}

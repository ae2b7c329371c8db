//! Greedy steps: take upgrades by density up to the first that does not fit (RFC 0005 §3.2), and
//! fill the leftover capacity at the end.

use super::break_item::BreakItem;
use super::instance::{Assignment, Instance, to_u32};
use super::upgrades::Gain;

/// The greedy solution by density.
pub(super) struct Greedy {
    pub(super) assignment: Assignment,
    /// The first upgrade that does not fit; `None` if all fit.
    pub(super) break_item: Option<BreakItem>,
}

/// Takes all upgrades before the break item; returns `None` if even the cheapest options do not
/// fit.
pub(super) fn solve_by_density(problem: Instance<'_>, capacity: u64) -> Option<Greedy> {
    let mut assignment = Assignment::with_capacity(problem.classes.len());
    let mut fullest = Assignment::with_capacity(problem.classes.len());
    for (start, options) in problem.classes() {
        assignment.add(start, options.first()?);
        fullest.add(start + to_u32(options.len() - 1), options.last()?);
    }
    if assignment.cost > capacity {
        return None;
    }
    if fullest.cost <= capacity {
        return Some(Greedy { assignment: fullest, break_item: None });
    }
    let break_item = BreakItem::new(problem.upgrades(), capacity - assignment.cost);
    for upgrade in break_item.as_ref().map_or(&[][..], BreakItem::taken) {
        let at = &mut assignment.at[upgrade.class as usize];
        // The upgrades are unordered, but a more expensive option has a higher index.
        *at = upgrade.at.max(*at);
        assignment.cost += upgrade.gain.cost;
        assignment.value += upgrade.gain.value;
    }
    Some(Greedy { assignment, break_item })
}

/// An option that is better than the current one of its class.
struct Improvement {
    gain: Gain,
    class: u32,
    at: u32,
}

/// Gives classes better options, the densest first, until no further one fits (RFC 0005 §3, step 5).
///
/// One pass is enough. An upgrade makes the better options of its class cheaper by at most its own
/// cost, and reduces the leftover capacity by that cost.
pub(super) fn fill_leftover(problem: Instance<'_>, capacity: u64, assignment: &mut Assignment) {
    let left = capacity - assignment.cost;
    let mut better = Vec::new();
    for (class, (start, options)) in problem.classes().enumerate() {
        let has = assignment.at[class];
        let above = (has - start) as usize + 1;
        let now = problem.option(has);
        for (at, option) in (has + 1..).zip(&options[above..]) {
            let gain = Gain { cost: option.cost - now.cost, value: option.value - now.value };
            if gain.cost > left {
                break;
            }
            better.push(Improvement { gain, class: to_u32(class), at });
        }
    }
    better.sort_unstable_by(|a, b| b.gain.by_density(a.gain).then(a.at.cmp(&b.at)));
    for Improvement { class, at, .. } in better {
        let has = assignment.at[class as usize];
        let more = problem.option(at).cost.saturating_sub(problem.option(has).cost);
        if at > has && more <= capacity - assignment.cost {
            assignment.change(problem, class, at);
        }
    }
}

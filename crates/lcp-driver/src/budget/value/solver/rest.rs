//! What still fits (RFC 0005 §3.4).

use super::density::Gain;
use super::problem::{Choice, View, narrow};

/// An option that is worth more than what its class has.
struct Better {
    gain: Gain,
    class: u32,
    at: u32,
}

/// Gives classes better options, the densest first, until none that is left to
/// take fits.
///
/// One pass is enough: what a class is given makes its better options cheaper by
/// no more than it takes from what is left.
pub(super) fn fill(problem: View<'_>, capacity: u64, choice: &mut Choice) {
    let left = capacity - choice.cost;
    let mut better = Vec::new();
    for (class, (start, options)) in problem.classes().enumerate() {
        let has = choice.at[class];
        let above = (has - start) as usize + 1;
        let now = problem.option(has);
        for (at, option) in (has + 1..).zip(&options[above..]) {
            let gain = Gain { cost: option.cost - now.cost, value: option.value - now.value };
            if gain.cost > left {
                break;
            }
            better.push(Better { gain, class: narrow(class), at });
        }
    }
    better.sort_unstable_by(|a, b| b.gain.by_density(a.gain).then(a.at.cmp(&b.at)));
    for Better { class, at, .. } in better {
        let has = choice.at[class as usize];
        let more = problem.option(at).cost.saturating_sub(problem.option(has).cost);
        if at > has && more <= capacity - choice.cost {
            choice.change(problem, class, at);
        }
    }
}

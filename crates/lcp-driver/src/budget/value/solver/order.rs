//! Upgrades in their order, for those who take them one by one.

use super::hull::Upgrade;
use super::problem::Problem;

/// All upgrades of a problem, by falling density: each a class and the index of
/// the option that it leads to, as it was pushed.
pub(crate) fn by_density(problem: &Problem) -> Vec<(usize, usize)> {
    let view = problem.view();
    let mut all = view.upgrades();
    all.sort_unstable_by(Upgrade::order);
    let place =
        |upgrade: &Upgrade| (upgrade.class as usize, view.option(upgrade.at).index as usize);
    all.iter().map(place).collect()
}

/// Which of these options, each a cost and a value, are on their upper convex
/// hull: the cheapest, then where each upgrade leads to.
pub(crate) fn hull_of(options: &[(u64, u64)]) -> Vec<usize> {
    let mut problem = Problem::with_capacity(1, options.len());
    problem.push(options.iter().copied());
    let cheapest = problem.view().options.first().map(|option| option.index as usize);
    cheapest.into_iter().chain(by_density(&problem).into_iter().map(|(_, option)| option)).collect()
}

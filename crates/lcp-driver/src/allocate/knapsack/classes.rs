//! The conversion of candidates to classes of a multiple-choice knapsack, and of a solution back.

use lcp_types::Priority;

use super::Task;
use super::solver::{Problem, convex_hull, to_u32, upgrades_by_density};
use crate::allocate::{Candidate, Eligibility, PerLevel, Selection};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MinimumChoice {
    /// The candidate may be omitted, because the roll-up line is paid for.
    Nothing,
    /// The candidate has at least its lowest level, unless it is Background.
    Line,
}

/// The maximum size of a group for which all combinations are considered; a larger group has only
/// the convex hull.
const PRODUCT_MAX: usize = 3;

/// The maximum number of options of a group's class; with more, only the convex hull is used.
const OPTIONS_MAX: usize = 64;

pub(super) struct Classes {
    problem: Problem,
    members: Vec<Members>,
    groups: Vec<Group>,
    /// `true` if combinations are missing, so that only the bound of the linear relaxation is
    /// valid.
    thinned: bool,
}

/// The candidates of a class. The type is small, because a problem can have millions.
enum Members {
    /// A single block. Its options are its levels from the lowest to the fullest, preceded by the
    /// option to omit it if `nothing` is set.
    One { candidate: u32, lowest: u8, fullest: u8, nothing: bool },
    /// Candidates that are shown together, as an index into the groups.
    Group(u32),
}

struct Group {
    candidates: Vec<usize>,
    options: Vec<Combination>,
}

/// A level for each block of a group, or the option to omit the whole group.
#[derive(Clone, Debug)]
struct Combination {
    cost: u64,
    value: u64,
    /// Empty if the group is omitted.
    levels: Vec<usize>,
}

fn may_be_nothing(candidate: &Candidate, floor: MinimumChoice) -> bool {
    floor == MinimumChoice::Nothing || candidate.priority == Priority::Background
}

fn competes(candidate: &Candidate) -> bool {
    candidate.eligibility == Eligibility::Competes && !candidate.is_fixed()
}

impl Task<'_> {
    fn costs_and_values(&self, i: usize) -> (&PerLevel, &PerLevel) {
        (&self.input.candidates[i].costs, &self.values[i])
    }

    /// Returns the group of a candidate, including the candidate; empty without a group.
    fn group(&self, i: usize) -> &[usize] {
        let group = self.input.candidates[i].group.and_then(|group| self.input.groups.get(group));
        group.map_or(&[], Vec::as_slice)
    }
}

impl Classes {
    fn with_capacity(classes: usize, options: usize) -> Self {
        Self {
            problem: Problem::with_capacity(classes, options),
            members: Vec::with_capacity(classes),
            groups: Vec::new(),
            thinned: false,
        }
    }

    /// Creates the classes. The candidate in `first` has exactly this level. With `grown`, all
    /// candidates have at least their ceilings.
    pub(super) fn new(
        task: &Task<'_>,
        floor: MinimumChoice,
        grown: bool,
        first: Option<(usize, usize)>,
    ) -> Self {
        let candidates = task.input.candidates;
        let room = candidates.iter().map(|candidate| candidate.costs.len() + 1).sum();
        let mut classes = Self::with_capacity(candidates.len(), room);
        let range = |i: usize| {
            let candidate = &candidates[i];
            match first {
                Some((first, level)) if first == i => level..level + 1,
                _ if grown && candidate.may_grow => 0..candidate.ceiling + 1,
                _ if grown && candidate.needs_mention() => candidate.ceiling..candidate.ceiling + 1,
                _ => candidate.ceiling..candidate.costs.len(),
            }
        };
        let is_apart = |i: usize| task.newest_excerpt.is_some_and(|(newest, _)| newest == i);
        let is_served_first = |i: usize| first.is_some_and(|(first, _)| first == i);
        let may_be_nothing = |candidate: &Candidate| {
            may_be_nothing(candidate, floor) && !(grown && candidate.needs_mention())
        };
        let competing = candidates
            .iter()
            .enumerate()
            .filter(|(i, candidate)| competes(candidate) && !is_apart(*i));
        for (i, candidate) in competing {
            let group = task.group(i);
            // The frozen and excluded members of a group decide for the others.
            if group.iter().any(|&at| candidates[at].eligibility == Eligibility::Excluded) {
                continue;
            }
            let free: Vec<_> =
                group.iter().copied().filter(|&at| competes(&candidates[at])).collect();
            if free.len() < 2 || free.len() < group.len() {
                let nothing = may_be_nothing(candidate) && !is_served_first(i);
                classes.push_one(task, i, range(i), nothing);
            } else if free[0] == i {
                let nothing =
                    may_be_nothing(candidate) && !free.iter().any(|&at| is_served_first(at));
                classes.push_group(task, free, &range, nothing);
            }
        }
        classes
    }

    /// Creates a class for each block separately, so that their optimum is an upper bound for all
    /// plans.
    pub(super) fn relaxed(task: &Task<'_>, all: bool) -> Self {
        let candidates = task.input.candidates;
        let mut classes = Self::with_capacity(candidates.len(), 3 * candidates.len());
        for (i, candidate) in
            candidates.iter().enumerate().filter(|(_, candidate)| competes(candidate))
        {
            let fullest = if all || candidate.may_grow { 0 } else { candidate.ceiling };
            classes.push_one(task, i, fullest..candidate.costs.len(), true);
        }
        classes
    }

    /// Returns the minimum cost of all classes together, without candidate `first` itself.
    pub(super) fn lowest_besides(
        task: &Task<'_>,
        floor: MinimumChoice,
        first: usize,
    ) -> Option<u64> {
        let candidates = task.input.candidates;
        let group = task.group(first);
        if group.iter().any(|&at| candidates[at].eligibility == Eligibility::Excluded) {
            return None;
        }
        let must = |i: usize| group.contains(&i) || !may_be_nothing(&candidates[i], floor);
        let others =
            (0..candidates.len()).filter(|&i| i != first && competes(&candidates[i]) && must(i));
        Some(others.map(|i| candidates[i].costs[candidates[i].lowest()]).sum())
    }

    fn push_one(
        &mut self,
        task: &Task<'_>,
        candidate: usize,
        levels: std::ops::Range<usize>,
        nothing: bool,
    ) {
        let (costs, values) = task.costs_and_values(candidate);
        let (fullest, lowest) = (levels.start, levels.end - 1);
        let options = levels.rev().map(|level| (costs[level], values[level]));
        self.problem.push(nothing.then_some((0, 0)).into_iter().chain(options));
        let level = |level: usize| u8::try_from(level).unwrap_or(u8::MAX);
        let (lowest, fullest) = (level(lowest), level(fullest));
        self.members.push(Members::One { candidate: to_u32(candidate), lowest, fullest, nothing });
    }

    fn push_group(
        &mut self,
        task: &Task<'_>,
        candidates: Vec<usize>,
        range: &dyn Fn(usize) -> std::ops::Range<usize>,
        nothing: bool,
    ) {
        let mut options = if candidates.len() <= PRODUCT_MAX {
            product(task, &candidates, range)
        } else {
            self.thinned = true;
            chain(task, &candidates, range)
        };
        if options.len() > OPTIONS_MAX {
            self.thinned = true;
            let points: Vec<_> = options.iter().map(|option| (option.cost, option.value)).collect();
            options = convex_hull(&points).into_iter().map(|at| options[at].clone()).collect();
        }
        if nothing {
            options.push(Combination { cost: 0, value: 0, levels: Vec::new() });
        }
        self.problem.push(options.iter().map(|option| (option.cost, option.value)));
        self.members.push(Members::Group(to_u32(self.groups.len())));
        self.groups.push(Group { candidates, options });
    }

    pub(super) fn are_thinned(&self) -> bool {
        self.thinned
    }

    pub(super) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the candidate and the level of an option; `None` for a group or the option to omit.
    pub(super) fn level(&self, class: usize, option: usize) -> Option<(usize, usize)> {
        let Members::One { candidate, lowest, nothing, .. } = self.members[class] else {
            return None;
        };
        let above = option.checked_sub(usize::from(nothing))?;
        Some((candidate as usize, usize::from(lowest) - above))
    }

    /// Returns the candidate of a class and its fullest level; `None` for a group.
    pub(super) fn fullest(&self, class: usize) -> Option<(usize, usize)> {
        let Members::One { candidate, fullest, .. } = self.members[class] else { return None };
        Some((candidate as usize, usize::from(fullest)))
    }

    /// Writes the selections for these options, one of each class, to the candidates.
    pub(super) fn write(&self, options: &[u32], chosen: &mut [Option<Selection>]) {
        for (class, (members, &option)) in self.members.iter().zip(options).enumerate() {
            if let Members::Group(group) = members {
                let Group { candidates, options } = &self.groups[*group as usize];
                for (candidate, level) in candidates.iter().zip(&options[option as usize].levels) {
                    chosen[*candidate] = Some(Selection::Level(*level));
                }
            } else if let Some((candidate, level)) = self.level(class, option as usize) {
                chosen[candidate] = Some(Selection::Level(level));
            }
        }
    }
}

/// Returns all combinations of the levels of these candidates that are not dominated.
fn product(
    task: &Task<'_>,
    candidates: &[usize],
    range: &dyn Fn(usize) -> std::ops::Range<usize>,
) -> Vec<Combination> {
    let mut options = vec![Combination { cost: 0, value: 0, levels: Vec::new() }];
    for &candidate in candidates {
        let (costs, values) = task.costs_and_values(candidate);
        let with = |one: &Combination| {
            let one = one.clone();
            range(candidate).map(move |level| {
                let mut levels = one.levels.clone();
                levels.push(level);
                let cost = one.cost + costs[level];
                Combination { cost, value: one.value + values[level], levels }
            })
        };
        options = options.iter().flat_map(with).collect();
        options.sort_by_key(|option| (option.cost, std::cmp::Reverse(option.value)));
        let mut best = None;
        options.retain(|option| {
            let better = best.is_none_or(|best| option.value > best);
            best = best.max(Some(option.value));
            better
        });
    }
    options
}

/// Returns the convex hull of all combinations of the levels of many candidates.
fn chain(
    task: &Task<'_>,
    candidates: &[usize],
    range: &dyn Fn(usize) -> std::ops::Range<usize>,
) -> Vec<Combination> {
    let mut problem = Problem::with_capacity(candidates.len(), candidates.len() * 2);
    for &candidate in candidates {
        let (costs, values) = task.costs_and_values(candidate);
        problem.push(range(candidate).map(|level| (costs[level], values[level])));
    }
    let mut has = Combination { cost: 0, value: 0, levels: Vec::new() };
    for &candidate in candidates {
        let (costs, values) = task.costs_and_values(candidate);
        let lowest = range(candidate).end - 1;
        has.cost += costs[lowest];
        has.value += values[lowest];
        has.levels.push(lowest);
    }
    let mut options = vec![has.clone()];
    for (class, option) in upgrades_by_density(&problem) {
        let (candidate, level) = (candidates[class], range(candidates[class]).start + option);
        let (costs, values) = task.costs_and_values(candidate);
        let before = std::mem::replace(&mut has.levels[class], level);
        has.cost = has.cost + costs[level] - costs[before];
        has.value = has.value + values[level] - values[before];
        options.push(has.clone());
    }
    options
}

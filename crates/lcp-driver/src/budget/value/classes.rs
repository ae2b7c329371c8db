//! Blocks as classes of a knapsack, and back.

use lcp_types::Priority;

use super::Field;
use super::solver::{Problem, by_density, hull_of, narrow};
use crate::budget::walk::{Choice, Item, Standing};

/// The least that a class may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floor {
    /// Nothing: the roll-up line is paid for.
    Nothing,
    /// Its lowest detail, but for Background.
    Line,
}

/// Blocks of the largest group all of whose combinations are tried; of larger
/// ones only the hull is.
const PRODUCT_MAX: usize = 3;

/// Options of the largest class of a group; of more only the hull is kept.
const OPTIONS_MAX: usize = 64;

/// The classes of what competes.
pub(super) struct Classes {
    problem: Problem,
    members: Vec<Members>,
    groups: Vec<Group>,
    /// Whether groups have more combinations than their classes have options:
    /// then only what holds of hulls holds.
    thinned: bool,
}

/// What a class is of. There can be millions, so it is small.
enum Members {
    /// One block: its details from the lowest up, nothing before them if it
    /// may have that.
    One { item: u32, lowest: u8, fullest: u8, nothing: bool },
    /// Blocks that are shown together: an index into the groups.
    Group(u32),
}

/// Blocks that are shown together, and what each option gives each of them.
struct Group {
    items: Vec<usize>,
    options: Vec<Combination>,
}

/// A detail of each block of a group, or nothing of any.
#[derive(Clone, Debug)]
struct Combination {
    cost: u64,
    value: u64,
    /// Empty for nothing.
    details: Vec<usize>,
}

/// Whether a class has the choice of nothing.
fn may_be_nothing(item: &Item, floor: Floor) -> bool {
    floor == Floor::Nothing || item.priority == Priority::Background
}

fn competes(item: &Item) -> bool {
    item.standing == Standing::Free && !item.is_fixed()
}

impl Field<'_> {
    /// The blocks of the group of one, itself included; none without a group.
    fn group(&self, i: usize) -> &[usize] {
        let group = self.items[i].group.and_then(|group| self.terms.groups.get(group));
        group.map_or(&[], Vec::as_slice)
    }
}

impl Classes {
    /// The classes of a field; `first` has this detail and no other. With
    /// `grown`, all have their ceilings, and what may grow beyond may do so.
    pub(super) fn new(
        field: &Field<'_>,
        floor: Floor,
        grown: bool,
        first: Option<(usize, usize)>,
    ) -> Self {
        let items = field.items;
        let room = items.iter().map(|item| item.costs.len() + 1).sum();
        let mut classes = Self {
            problem: Problem::with_capacity(items.len(), room),
            members: Vec::with_capacity(items.len()),
            groups: Vec::new(),
            thinned: false,
        };
        let range = |i: usize| {
            let item = &items[i];
            match first {
                Some((first, detail)) if first == i => detail..detail + 1,
                // What may grow does so beside what others have already.
                _ if grown && item.may_grow => 0..item.ceiling + 1,
                _ if grown && item.is_rest() => item.ceiling..item.ceiling + 1,
                _ => item.ceiling..item.costs.len(),
            }
        };
        let is_apart = |i: usize| field.question.is_some_and(|(question, _)| question == i);
        let is_first = |i: usize| first.is_some_and(|(first, _)| first == i);
        let may_be_nothing =
            |item: &Item| may_be_nothing(item, floor) && !(grown && item.is_rest());
        let competing =
            items.iter().enumerate().filter(|(i, item)| competes(item) && !is_apart(*i));
        for (i, item) in competing {
            let group = field.group(i);
            // What stands or is out already decides for those beside it.
            if group.iter().any(|&at| items[at].standing == Standing::Out) {
                continue;
            }
            let free: Vec<_> = group.iter().copied().filter(|&at| competes(&items[at])).collect();
            if free.len() < 2 || free.len() < group.len() {
                let nothing = may_be_nothing(item) && !is_first(i);
                classes.push_one(field, i, range(i), nothing);
            } else if free[0] == i {
                let nothing = may_be_nothing(item) && !free.iter().any(|&at| is_first(at));
                classes.push_group(field, free, &range, nothing);
            }
        }
        classes
    }

    /// Each block by itself, with the choice of nothing: what no plan exceeds.
    /// With `all`, no ceilings are asked.
    pub(super) fn relaxed(field: &Field<'_>, all: bool) -> Self {
        let items = field.items;
        let mut classes = Self {
            problem: Problem::with_capacity(items.len(), 3 * items.len()),
            members: Vec::with_capacity(items.len()),
            groups: Vec::new(),
            thinned: false,
        };
        for (i, item) in items.iter().enumerate().filter(|(_, item)| competes(item)) {
            let fullest = if all || item.may_grow { 0 } else { item.ceiling };
            classes.push_one(field, i, fullest..item.costs.len(), true);
        }
        classes
    }

    /// What all classes cost at least, without block `first` itself.
    pub(super) fn lowest_besides(field: &Field<'_>, floor: Floor, first: usize) -> Option<u64> {
        let items = field.items;
        let group = field.group(first);
        if group.iter().any(|&at| items[at].standing == Standing::Out) {
            return None;
        }
        let must = |i: usize| group.contains(&i) || !may_be_nothing(&items[i], floor);
        let others = (0..items.len()).filter(|&i| i != first && competes(&items[i]) && must(i));
        Some(others.map(|i| items[i].costs[items[i].lowest()]).sum())
    }

    fn push_one(
        &mut self,
        field: &Field<'_>,
        item: usize,
        details: std::ops::Range<usize>,
        nothing: bool,
    ) {
        let (costs, worths) = (&field.items[item].costs, &field.worths[item]);
        let (fullest, lowest) = (details.start, details.end - 1);
        let options = details.rev().map(|detail| (costs[detail], worths[detail]));
        self.problem.push(nothing.then_some((0, 0)).into_iter().chain(options));
        let detail = |detail: usize| u8::try_from(detail).unwrap_or(u8::MAX);
        let (lowest, fullest) = (detail(lowest), detail(fullest));
        self.members.push(Members::One { item: narrow(item), lowest, fullest, nothing });
    }

    fn push_group(
        &mut self,
        field: &Field<'_>,
        items: Vec<usize>,
        range: &dyn Fn(usize) -> std::ops::Range<usize>,
        nothing: bool,
    ) {
        let mut options = if items.len() <= PRODUCT_MAX {
            product(field, &items, range)
        } else {
            self.thinned = true;
            chain(field, &items, range)
        };
        if options.len() > OPTIONS_MAX {
            self.thinned = true;
            let points: Vec<_> = options.iter().map(|option| (option.cost, option.value)).collect();
            options = hull_of(&points).into_iter().map(|at| options[at].clone()).collect();
        }
        if nothing {
            options.push(Combination { cost: 0, value: 0, details: Vec::new() });
        }
        self.problem.push(options.iter().map(|option| (option.cost, option.value)));
        self.members.push(Members::Group(narrow(self.groups.len())));
        self.groups.push(Group { items, options });
    }

    /// Whether some combinations are not among the options.
    pub(super) fn are_thinned(&self) -> bool {
        self.thinned
    }

    pub(super) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What the option of a class gives its block, if it is of one.
    pub(super) fn detail(&self, class: usize, option: usize) -> Option<(usize, usize)> {
        let Members::One { item, lowest, nothing, .. } = self.members[class] else { return None };
        let above = option.checked_sub(usize::from(nothing))?;
        Some((item as usize, usize::from(lowest) - above))
    }

    /// The fullest that the block of a class may have, if it is of one.
    pub(super) fn fullest(&self, class: usize) -> Option<(usize, usize)> {
        let Members::One { item, fullest, .. } = self.members[class] else { return None };
        Some((item as usize, usize::from(fullest)))
    }

    /// Writes down what these options, one of each class, give each block.
    pub(super) fn write(&self, options: &[u32], chosen: &mut [Option<Choice>]) {
        for (class, (members, &option)) in self.members.iter().zip(options).enumerate() {
            if let Members::Group(group) = members {
                let Group { items, options } = &self.groups[*group as usize];
                for (item, detail) in items.iter().zip(&options[option as usize].details) {
                    chosen[*item] = Some(Choice::Detail(*detail));
                }
            } else if let Some((item, detail)) = self.detail(class, option as usize) {
                chosen[item] = Some(Choice::Detail(detail));
            }
        }
    }
}

/// All combinations of the details of these blocks, but for those that another
/// one beats.
fn product(
    field: &Field<'_>,
    items: &[usize],
    range: &dyn Fn(usize) -> std::ops::Range<usize>,
) -> Vec<Combination> {
    let mut options = vec![Combination { cost: 0, value: 0, details: Vec::new() }];
    for &item in items {
        let (costs, worths) = (&field.items[item].costs, &field.worths[item]);
        let with = |one: &Combination| {
            let one = one.clone();
            range(item).map(move |detail| {
                let mut details = one.details.clone();
                details.push(detail);
                let cost = one.cost + costs[detail];
                Combination { cost, value: one.value + worths[detail], details }
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

/// The hull of all combinations of the details of many blocks: the upgrades of
/// each, taken by their density.
fn chain(
    field: &Field<'_>,
    items: &[usize],
    range: &dyn Fn(usize) -> std::ops::Range<usize>,
) -> Vec<Combination> {
    let mut problem = Problem::with_capacity(items.len(), items.len() * 2);
    for &item in items {
        let (costs, worths) = (&field.items[item].costs, &field.worths[item]);
        problem.push(range(item).map(|detail| (costs[detail], worths[detail])));
    }
    let details = items.iter().map(|&item| range(item).end - 1).collect();
    let mut has = Combination { cost: 0, value: 0, details };
    let sum = |ladder: fn(&Field<'_>, usize, usize) -> u64, has: &Combination| {
        items.iter().zip(&has.details).map(|(&item, &detail)| ladder(field, item, detail)).sum()
    };
    has.cost = sum(|field, item, detail| field.items[item].costs[detail], &has);
    has.value = sum(|field, item, detail| field.worths[item][detail], &has);
    let mut options = vec![has.clone()];
    for (class, option) in by_density(&problem) {
        let (item, detail) = (items[class], range(items[class]).start + option);
        let (costs, worths) = (&field.items[item].costs, &field.worths[item]);
        let before = std::mem::replace(&mut has.details[class], detail);
        has.cost = has.cost + costs[detail] - costs[before];
        has.value = has.value + worths[detail] - worths[before];
        options.push(has.clone());
    }
    options
}

//! Problem instances: classes of choices, and assignments of one choice to each class.

use std::cmp::Reverse;

#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) cost: u64,
    pub(super) value: u64,
    /// The index at which the choice was pushed to its class.
    pub(super) index: u32,
}

/// The range of a class's choices among those of all classes: start and end.
pub(super) type ClassRange = (u32, u32);

/// A problem: classes of options, with exactly one option of each class to choose.
///
/// Sums do not overflow: costs and values of blocks are at most 2^40, those of groups of 64 at most
/// 2^46, and a problem has at most two million classes.
pub(in crate::allocate::knapsack) struct Problem {
    classes: Vec<ClassRange>,
    /// The options of each class that are not dominated, by increasing cost and value.
    options: Vec<Choice>,
}

impl Problem {
    pub(in crate::allocate::knapsack) fn with_capacity(classes: usize, options: usize) -> Self {
        Self { classes: Vec::with_capacity(classes), options: Vec::with_capacity(options) }
    }

    /// Adds a class of options, each a cost and a value, in any order.
    pub(in crate::allocate::knapsack) fn push(
        &mut self,
        options: impl IntoIterator<Item = (u64, u64)>,
    ) {
        let start = self.options.len();
        let numbered = (0..).zip(options);
        self.options.extend(numbered.map(|(index, (cost, value))| Choice { cost, value, index }));
        self.options[start..]
            .sort_unstable_by_key(|option| (option.cost, Reverse(option.value), option.index));
        let mut end = start;
        for i in start..self.options.len() {
            // The cheapest option remains regardless of its value.
            if end == start || self.options[i].value > self.options[end - 1].value {
                self.options[end] = self.options[i];
                end += 1;
            }
        }
        self.options.truncate(end);
        self.classes.push((to_u32(start), to_u32(end)));
    }

    pub(super) fn view(&self) -> Instance<'_> {
        Instance { classes: &self.classes, options: &self.options }
    }
}

/// A problem, or a part of it in which some classes have fewer options.
#[derive(Clone, Copy)]
pub(super) struct Instance<'p> {
    pub(super) classes: &'p [ClassRange],
    pub(super) options: &'p [Choice],
}

impl<'p> Instance<'p> {
    /// Returns the options of each class, with the index of the first.
    pub(super) fn classes(self) -> impl Iterator<Item = (u32, &'p [Choice])> {
        let class =
            move |&(start, end): &ClassRange| (start, &self.options[start as usize..end as usize]);
        self.classes.iter().map(class)
    }

    pub(super) fn option(self, at: u32) -> &'p Choice {
        &self.options[at as usize]
    }
}

/// One choice for each class, with their total cost and value.
#[derive(Clone)]
pub(super) struct Assignment {
    /// The index of each class's choice.
    pub(super) at: Vec<u32>,
    pub(super) cost: u64,
    pub(super) value: u64,
}

impl Assignment {
    pub(super) fn with_capacity(classes: usize) -> Self {
        Self { at: Vec::with_capacity(classes), cost: 0, value: 0 }
    }

    /// Appends a class with this choice, whose index is `at`.
    pub(super) fn add(&mut self, at: u32, option: &Choice) {
        self.at.push(at);
        self.cost = self.cost.saturating_add(option.cost);
        self.value = self.value.saturating_add(option.value);
    }

    pub(super) fn change(&mut self, problem: Instance<'_>, class: u32, to: u32) {
        let from = std::mem::replace(&mut self.at[class as usize], to);
        let (from, to) = (problem.option(from), problem.option(to));
        self.cost = self.cost - from.cost + to.cost;
        self.value = self.value - from.value + to.value;
    }
}

/// Converts an index or a number of classes, all of which are below 2^32.
pub(in crate::allocate::knapsack) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

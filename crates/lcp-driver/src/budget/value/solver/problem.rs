//! Classes and their options.

use std::cmp::Reverse;

/// One of the options of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opt {
    pub(super) cost: u64,
    pub(super) value: u64,
    /// Its place in the class as it was pushed.
    pub(super) index: u32,
}

/// The places of the options of a class among all: from the first to before the
/// second.
pub(super) type Places = (u32, u32);

/// Classes, of each of which exactly one option is to be chosen.
///
/// Costs and values of blocks are at most 2^40, those of groups of 64 at most
/// 2^46, and there are at most two million classes: so no sum overflows.
pub(crate) struct Problem {
    classes: Vec<Places>,
    /// Of each class those that no other one beats: by rising cost, and so by
    /// rising value.
    options: Vec<Opt>,
}

impl Problem {
    /// A problem without classes, with room for so many, and for so many
    /// options of all of them.
    pub(crate) fn with_capacity(classes: usize, options: usize) -> Self {
        Self { classes: Vec::with_capacity(classes), options: Vec::with_capacity(options) }
    }

    /// Adds a class of these options, each a cost and a value, in any order.
    /// Without any, the problem has no solution.
    pub(crate) fn push(&mut self, options: impl IntoIterator<Item = (u64, u64)>) {
        let start = self.options.len();
        let numbered = (0..).zip(options);
        self.options.extend(numbered.map(|(index, (cost, value))| Opt { cost, value, index }));
        self.options[start..]
            .sort_unstable_by_key(|option| (option.cost, Reverse(option.value), option.index));
        let mut kept = start;
        for i in start..self.options.len() {
            // The first is the cheapest: it stays, worth something or not.
            if kept == start || self.options[i].value > self.options[kept - 1].value {
                self.options[kept] = self.options[i];
                kept += 1;
            }
        }
        self.options.truncate(kept);
        self.classes.push((narrow(start), narrow(kept)));
    }

    /// All of it.
    pub(super) fn view(&self) -> View<'_> {
        View { classes: &self.classes, options: &self.options }
    }
}

/// A problem, or what is left of it where classes have fewer options.
#[derive(Clone, Copy)]
pub(super) struct View<'p> {
    pub(super) classes: &'p [Places],
    pub(super) options: &'p [Opt],
}

impl<'p> View<'p> {
    /// The options of each class, with the place of the first.
    pub(super) fn classes(self) -> impl Iterator<Item = (u32, &'p [Opt])> {
        let of = move |&(start, end): &Places| (start, &self.options[start as usize..end as usize]);
        self.classes.iter().map(of)
    }

    /// The option at this place.
    pub(super) fn option(self, at: u32) -> &'p Opt {
        &self.options[at as usize]
    }
}

/// One option of each class, and what they cost and are worth together.
#[derive(Clone)]
pub(super) struct Choice {
    /// For each class the place of its option.
    pub(super) at: Vec<u32>,
    pub(super) cost: u64,
    pub(super) value: u64,
}

impl Choice {
    /// A choice for no classes, with room for so many.
    pub(super) fn with_capacity(classes: usize) -> Self {
        Self { at: Vec::with_capacity(classes), cost: 0, value: 0 }
    }

    /// Appends a class with this option, which is at this place.
    pub(super) fn add(&mut self, at: u32, option: &Opt) {
        self.at.push(at);
        self.cost = self.cost.saturating_add(option.cost);
        self.value = self.value.saturating_add(option.value);
    }

    /// Gives a class the option at another place.
    pub(super) fn change(&mut self, problem: View<'_>, class: u32, to: u32) {
        let from = std::mem::replace(&mut self.at[class as usize], to);
        let (from, to) = (problem.option(from), problem.option(to));
        self.cost = self.cost - from.cost + to.cost;
        self.value = self.value - from.value + to.value;
    }
}

/// A place or a number of classes: there are less than 2^32 of either.
pub(crate) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

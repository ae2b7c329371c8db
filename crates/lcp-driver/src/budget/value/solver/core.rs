//! The classes nearest to the break decided again, all together (RFC 0005 §3.3):
//! an expanding core.

use super::density::Gain;
use super::frontier::Frontier;
use super::problem::{Choice, View, narrow};
use super::states::{Outlook, State, trim, undominated};

/// What a core may grow to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// States that are kept from one class to the next.
    pub(super) states: usize,
    /// About so many states are made in all. It is what bounds the time.
    pub(super) work: usize,
}

impl Size {
    /// Some milliseconds.
    pub(super) const FULL: Self = Self { states: 4_096, work: 300_000 };
}

/// What it costs to pass a class that stays as it is.
const PASSED: usize = 8;

/// After so many classes in a row that stay as they are, states are looked
/// through again.
const PATIENCE: usize = 16;

/// Improves the greedy choice where it can, and returns a bound: no choice is
/// worth more.
pub(super) fn decide(
    problem: View<'_>,
    capacity: u64,
    choice: &mut Choice,
    frontier: Frontier,
    size: Size,
) -> u64 {
    let mut core = Core::new(problem, capacity, choice, frontier, size);
    let bound = core.run();
    for (class, at) in core.improved() {
        choice.change(problem, class, at);
    }
    bound
}

/// How a state came about: a path back through all classes of the core.
struct Node {
    from: u32,
    at: u32,
}

struct Core<'c> {
    problem: View<'c>,
    capacity: u64,
    size: Size,
    greedy: &'c Choice,
    frontier: Frontier,
    /// Classes that are in the core, or stay as they are.
    passed: Vec<bool>,
    /// The classes that are decided again.
    classes: Vec<u32>,
    states: Vec<State>,
    nodes: Vec<Node>,
    best: Best,
    /// The highest bound of states that were dropped for their number.
    dropped: u64,
    work: usize,
    /// Classes in a row that stay as they are.
    idle: usize,
}

/// The best choice so far.
#[derive(Clone, Copy)]
struct Best {
    value: u64,
    /// Its node, and how many classes there were.
    node: u32,
    depth: usize,
}

impl<'c> Core<'c> {
    fn new(
        problem: View<'c>,
        capacity: u64,
        greedy: &'c Choice,
        frontier: Frontier,
        size: Size,
    ) -> Self {
        let Choice { cost, value, .. } = *greedy;
        Self {
            problem,
            capacity,
            size,
            greedy,
            frontier,
            passed: vec![false; problem.classes.len()],
            classes: Vec::new(),
            states: vec![State { cost, value, node: 0, at: 0 }],
            nodes: Vec::new(),
            best: Best { value, node: 0, depth: 0 },
            dropped: 0,
            work: 0,
            idle: 0,
        }
    }

    fn run(&mut self) -> u64 {
        let mut class = self.frontier.upgrade().class;
        let mut forward = false;
        loop {
            self.passed[class as usize] = true;
            let before = self.frontier.before(&self.passed);
            let after = self.frontier.after(&self.passed);
            let outlook = Outlook {
                capacity: self.capacity,
                before: before.map(|upgrade| upgrade.gain),
                after: after.map(|upgrade| upgrade.gain),
            };
            self.take_in(class, &outlook);
            forward = !forward;
            let next = if forward { after.or(before) } else { before.or(after) };
            match next {
                Some(upgrade) if !self.states.is_empty() && self.work < self.size.work => {
                    class = upgrade.class;
                }
                _ => {
                    let open = self.states.iter().map(|state| outlook.bound(state)).max();
                    return self.best.value.max(self.dropped).max(open.unwrap_or(0));
                }
            }
        }
    }

    /// Decides one more class again.
    fn take_in(&mut self, class: u32, outlook: &Outlook) {
        let options = self.worth_a_try(class);
        if options.len() > 1 {
            self.classes.push(class);
            self.extend(class, &options, outlook);
            self.idle = 0;
            return;
        }
        self.work += PASSED;
        self.idle += 1;
        if self.idle.is_multiple_of(PATIENCE) {
            self.work += self.states.len();
            let best = self.best.value;
            self.states.retain(|state| outlook.beats(best, state.cost, state.value));
        }
    }

    /// The places of those options of a class that a better choice can have:
    /// what it loses by them is made up for at the density of the break at most.
    fn worth_a_try(&self, class: u32) -> Vec<u32> {
        let break_gain: Gain = self.frontier.upgrade().gain;
        let at_best =
            Outlook { capacity: self.capacity, before: Some(break_gain), after: Some(break_gain) };
        let greedy = self.greedy.at[class as usize];
        let (start, end) = self.problem.classes[class as usize];
        let beats = |&at: &u32| {
            at == greedy || {
                let (cost, value) = self.with(class, at, self.greedy.cost, self.greedy.value);
                at_best.beats(self.best.value, cost, value)
            }
        };
        (start..end).filter(beats).collect()
    }

    /// Cost and value of a choice that has an option instead of the greedy one.
    fn with(&self, class: u32, at: u32, cost: u64, value: u64) -> (u64, u64) {
        let from = self.problem.option(self.greedy.at[class as usize]);
        let to = self.problem.option(at);
        (cost - from.cost + to.cost, value - from.value + to.value)
    }

    /// Each state with each of these options.
    fn extend(&mut self, class: u32, options: &[u32], outlook: &Outlook) {
        let mut made = Vec::with_capacity(self.states.len() * 2);
        self.work += self.states.len() * options.len();
        for &at in options {
            for state in &self.states {
                let (cost, value) = self.with(class, at, state.cost, state.value);
                if cost <= self.capacity && value > self.best.value {
                    let node = narrow(self.nodes.len());
                    self.nodes.push(Node { from: state.node, at });
                    self.best = Best { value, node, depth: self.classes.len() };
                }
                if outlook.beats(self.best.value, cost, value) {
                    made.push(State { cost, value, node: state.node, at });
                }
            }
        }
        undominated(&mut made);
        self.dropped = self.dropped.max(trim(&mut made, self.size.states, outlook));
        for state in &mut made {
            let node = narrow(self.nodes.len());
            self.nodes.push(Node { from: state.node, at: state.at });
            state.node = node;
        }
        self.states = made;
    }

    /// The best choice: the classes of the core, each with its place.
    fn improved(self) -> Vec<(u32, u32)> {
        let mut node = self.best.node;
        let classes = self.classes[..self.best.depth].iter().rev();
        classes
            .map(|&class| {
                let Node { from, at } = self.nodes[node as usize];
                node = from;
                (class, at)
            })
            .collect()
    }
}

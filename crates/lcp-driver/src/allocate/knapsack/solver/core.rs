//! An expanding core: the classes nearest to the break item are optimized together by dynamic
//! programming (RFC 0005 §3.3).

use super::break_item::BreakItem;
use super::dp_states::{Relaxation, State, beam_trim, prune_dominated};
use super::instance::{Assignment, Instance, to_u32};
use super::upgrades::Gain;

#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// The maximum number of states after each class.
    pub(super) states: usize,
    /// The approximate maximum number of states created in total, which bounds the time.
    pub(super) work: usize,
}

impl Size {
    /// A size that takes a few milliseconds.
    pub(super) const FULL: Self = Self { states: 4_096, work: 300_000 };
}

/// The work units for a class that keeps its option.
const PASSED_WORK: usize = 8;

/// The number of successive classes that keep their option after which states are pruned.
const PRUNE_INTERVAL: usize = 16;

/// Improves the greedy assignment if possible, and returns an upper bound for all assignments.
pub(super) fn decide(
    problem: Instance<'_>,
    capacity: u64,
    assignment: &mut Assignment,
    break_item: BreakItem,
    size: Size,
) -> u64 {
    let mut core = Core::new(problem, capacity, assignment, break_item, size);
    let bound = core.run();
    for (class, at) in core.improved() {
        assignment.change(problem, class, at);
    }
    bound
}

/// The choice that led to a state. The nodes form a path back through all classes of the core.
struct PathNode {
    from: u32,
    at: u32,
}

struct Core<'c> {
    problem: Instance<'c>,
    capacity: u64,
    size: Size,
    greedy: &'c Assignment,
    break_item: BreakItem,
    /// The classes that are in the core or keep their option.
    passed: Vec<bool>,
    /// The classes of the core.
    classes: Vec<u32>,
    states: Vec<State>,
    nodes: Vec<PathNode>,
    best: Best,
    /// The highest bound of states that were dropped because there were too many.
    dropped: u64,
    work: usize,
    /// The number of successive classes that kept their option.
    idle: usize,
}

#[derive(Clone, Copy)]
struct Best {
    value: u64,
    /// The node of the best state; `depth` is the number of core classes at that point.
    node: u32,
    depth: usize,
}

impl<'c> Core<'c> {
    fn new(
        problem: Instance<'c>,
        capacity: u64,
        greedy: &'c Assignment,
        break_item: BreakItem,
        size: Size,
    ) -> Self {
        let Assignment { cost, value, .. } = *greedy;
        Self {
            problem,
            capacity,
            size,
            greedy,
            break_item,
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
        let mut class = self.break_item.upgrade().class;
        let mut forward = false;
        loop {
            self.passed[class as usize] = true;
            let before = self.break_item.before(&self.passed);
            let after = self.break_item.after(&self.passed);
            let relaxation = Relaxation {
                capacity: self.capacity,
                before: before.map(|upgrade| upgrade.gain),
                after: after.map(|upgrade| upgrade.gain),
            };
            self.add_class(class, &relaxation);
            forward = !forward;
            let next = if forward { after.or(before) } else { before.or(after) };
            match next {
                Some(upgrade) if !self.states.is_empty() && self.work < self.size.work => {
                    class = upgrade.class;
                }
                _ => {
                    let open = self.states.iter().map(|state| relaxation.bound(state)).max();
                    return self.best.value.max(self.dropped).max(open.unwrap_or(0));
                }
            }
        }
    }

    /// Adds a class to the core, unless it must keep its option.
    fn add_class(&mut self, class: u32, relaxation: &Relaxation) {
        let options = self.promising_choices(class);
        if options.len() > 1 {
            self.classes.push(class);
            self.extend(class, &options, relaxation);
            self.idle = 0;
            return;
        }
        self.work += PASSED_WORK;
        self.idle += 1;
        if self.idle.is_multiple_of(PRUNE_INTERVAL) {
            self.work += self.states.len();
            let best = self.best.value;
            self.states.retain(|state| relaxation.beats(best, state.cost, state.value));
        }
    }

    /// Returns the choices that could improve the best value at the density of the break item.
    fn promising_choices(&self, class: u32) -> Vec<u32> {
        let break_gain: Gain = self.break_item.upgrade().gain;
        let at_best = Relaxation {
            capacity: self.capacity,
            before: Some(break_gain),
            after: Some(break_gain),
        };
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

    /// Returns the cost and the value with a choice in place of the greedy one.
    fn with(&self, class: u32, at: u32, cost: u64, value: u64) -> (u64, u64) {
        let from = self.problem.option(self.greedy.at[class as usize]);
        let to = self.problem.option(at);
        (cost - from.cost + to.cost, value - from.value + to.value)
    }

    /// Combines each state with each of these choices.
    fn extend(&mut self, class: u32, options: &[u32], relaxation: &Relaxation) {
        let mut extended = Vec::with_capacity(self.states.len() * 2);
        self.work += self.states.len() * options.len();
        for &at in options {
            for state in &self.states {
                let (cost, value) = self.with(class, at, state.cost, state.value);
                if cost <= self.capacity && value > self.best.value {
                    let node = to_u32(self.nodes.len());
                    self.nodes.push(PathNode { from: state.node, at });
                    self.best = Best { value, node, depth: self.classes.len() };
                }
                if relaxation.beats(self.best.value, cost, value) {
                    extended.push(State { cost, value, node: state.node, at });
                }
            }
        }
        prune_dominated(&mut extended);
        self.dropped = self.dropped.max(beam_trim(&mut extended, self.size.states, relaxation));
        for state in &mut extended {
            let node = to_u32(self.nodes.len());
            self.nodes.push(PathNode { from: state.node, at: state.at });
            state.node = node;
        }
        self.states = extended;
    }

    /// Returns the classes of the core with their choices in the best assignment.
    fn improved(self) -> Vec<(u32, u32)> {
        let mut node = self.best.node;
        let classes = self.classes[..self.best.depth].iter().rev();
        classes
            .map(|&class| {
                let PathNode { from, at } = self.nodes[node as usize];
                node = from;
                (class, at)
            })
            .collect()
    }
}

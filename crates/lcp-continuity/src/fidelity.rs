//! What a text keeps of a hand-off (RFC 0007 §8).

use serde::{Deserialize, Serialize};

use crate::directive::beginning;
use crate::model::{SessionHandoff, SessionState};

/// What a text keeps of a hand-off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// Anchors that stand in it byte for byte.
    pub anchors: Kept,
    /// Steps of tasks, done or remaining, that stand in it word for word.
    pub task_steps: Kept,
    /// Things of the session's state that stand in it.
    pub state: Kept,
    /// The weighted mean of the parts kept of each of these that there is
    /// ([`WEIGHTS`]); 1 where there is none.
    pub score: f64,
    /// What does not stand in it: its kind and how it begins.
    pub lost: Vec<String>,
    /// Whether the score is at least [`FIDELITY_MIN`], and no decision or commitment
    /// is lost.
    pub ok: bool,
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Those that are kept.
    pub kept: u32,
    /// All of them.
    pub of: u32,
}

/// What anchors, steps and the state count for in the score. The state, which gives
/// way first and can be found out again, may be lost; more may not.
pub const WEIGHTS: [u32; 3] = [50, 35, 15];

/// The score from which on a hand-off is in order.
pub const FIDELITY_MIN: f64 = 0.85;

/// The same in whole numbers, so that the edge is exact.
const MIN_PARTS: (u128, u128) = (17, 20);

/// Characters of what is lost that name it.
const LOST_CHARS: usize = 60;

/// What `text` keeps of `handoff`: anchors that hold, steps of tasks and things of the
/// state, each byte for byte.
///
/// A variable is kept where both its name and its value are.
#[must_use]
pub fn measure(handoff: &SessionHandoff, text: &str) -> Fidelity {
    let mut binding_lost = false;
    let mut anchors = Tally::default();
    for anchor in handoff.anchors.iter().filter(|anchor| anchor.is_live()) {
        let kept = text.contains(&anchor.text);
        binding_lost |= !kept && anchor.kind.is_binding();
        anchors.add(kept, anchor.kind.title(), &anchor.text);
    }
    let mut steps = Tally::default();
    for task in &handoff.pending_tasks {
        for step in task.done_steps.iter().chain(&task.remaining_steps) {
            steps.add(text.contains(step), "step", step);
        }
    }
    let state = handoff.state.as_ref().map(|state| state_kept(state, text)).unwrap_or_default();
    let groups = [anchors.kept, steps.kept, state.kept];
    let lost = anchors.lost.into_iter().chain(steps.lost).chain(state.lost).collect();
    Fidelity {
        anchors: anchors.kept,
        task_steps: steps.kept,
        state: state.kept,
        score: score(&groups),
        lost,
        ok: is_enough(&groups) && !binding_lost,
    }
}

/// What is kept of one group, and what is lost.
#[derive(Default)]
struct Tally {
    kept: Kept,
    lost: Vec<String>,
}

impl Tally {
    fn add(&mut self, kept: bool, kind: &str, what: &str) {
        self.kept.of += 1;
        self.kept.kept += u32::from(kept);
        if !kept {
            self.lost.push(format!("{kind} \"{}\"", beginning(what, LOST_CHARS)));
        }
    }
}

fn state_kept(state: &SessionState, text: &str) -> Tally {
    let mut tally = Tally::default();
    let one = |what, item| (what, item, "");
    let things = state
        .working_directory
        .iter()
        .map(|item| one("directory", item))
        .chain(state.branch.iter().map(|item| one("branch", item)))
        .chain(state.active_files.iter().map(|item| one("file", item)))
        .chain(state.recent_commands.iter().map(|item| one("command", item)))
        .chain(state.variables.iter().map(|(name, value)| ("variable", name, value.as_str())));
    for (kind, item, value) in things {
        tally.add(text.contains(item) && text.contains(value), kind, item);
    }
    tally
}

/// The groups that there are, with their weights.
fn weighted(groups: &[Kept; 3]) -> impl Iterator<Item = (u32, Kept)> {
    WEIGHTS.into_iter().zip(*groups).filter(|(_, group)| group.of > 0)
}

/// The weighted mean of the parts kept of each group that there is; 1 where there is
/// none.
fn score(groups: &[Kept; 3]) -> f64 {
    let (sum, of) = weighted(groups).fold((0.0, 0), |(sum, of), (weight, group)| {
        let part = f64::from(group.kept) / f64::from(group.of);
        (sum + f64::from(weight) * part, of + weight)
    });
    if of == 0 { 1.0 } else { sum / f64::from(of) }
}

/// Whether the score is at least [`FIDELITY_MIN`].
fn is_enough(groups: &[Kept; 3]) -> bool {
    // Three counts of 32 bits, and numbers below 2,000, fit.
    let whole: u128 = weighted(groups).map(|(_, group)| u128::from(group.of)).product();
    let (kept, of) = weighted(groups).fold((0, 0), |(kept, of), (weight, group)| {
        let part = whole / u128::from(group.of) * u128::from(group.kept);
        (kept + u128::from(weight) * part, of + u128::from(weight))
    });
    kept * MIN_PARTS.1 >= MIN_PARTS.0 * of * whole
}

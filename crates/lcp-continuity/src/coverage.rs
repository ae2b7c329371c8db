//! Measures the coverage of a hand-off by a text: the share of anchors, steps and state
//! that the text retains, and the fidelity score (RFC 0007 §8).

use crate::model::{SessionHandoff, SessionState};
use crate::resume_prompt::truncate_inline;

pub use crate::model::{Coverage, Ratio};

/// The weights of anchors, task steps and state in the score.
///
/// The state has the lowest weight: it is dropped first, and the next session can find it out
/// again. A text may lose the state and still reach [`COVERAGE_MIN`], but not much more.
pub const WEIGHTS: [u32; 3] = [50, 35, 15];

/// The lowest score at which a hand-off is acceptable.
pub const COVERAGE_MIN: f64 = 0.85;

/// [`COVERAGE_MIN`] as a fraction, so that the comparison is exact.
const MIN_PARTS: (u128, u128) = (17, 20);
/// The number of characters that identify a lost item.
const LOST_CHARS: usize = 60;

/// Measures the anchors, task steps and state of `handoff` that `text` contains.
///
/// Superseded anchors are not counted. Each item must occur byte for byte. For a variable, both the
/// name and the value must occur.
#[must_use]
pub fn measure(handoff: &SessionHandoff, text: &str) -> Coverage {
    let mut binding_lost = false;
    let mut anchors = Tally::default();
    for anchor in handoff.anchors.iter().filter(|anchor| anchor.is_live()) {
        let is_retained = text.contains(&anchor.text);
        binding_lost |= !is_retained && anchor.kind.is_binding();
        anchors.add(is_retained, anchor.kind.title(), &anchor.text);
    }
    let mut steps = Tally::default();
    for task in &handoff.pending_tasks {
        for step in task.done_steps.iter().chain(&task.remaining_steps) {
            steps.add(text.contains(step), "step", step);
        }
    }
    let state = handoff.state.as_ref().map(|state| tally_state(state, text)).unwrap_or_default();
    let groups = [anchors.ratio, steps.ratio, state.ratio];
    let lost = anchors.lost.into_iter().chain(steps.lost).chain(state.lost).collect();
    Coverage {
        anchors: anchors.ratio,
        task_steps: steps.ratio,
        state: state.ratio,
        score: score(&groups),
        lost,
        ok: is_enough(&groups) && !binding_lost,
    }
}

#[derive(Default)]
struct Tally {
    ratio: Ratio,
    lost: Vec<String>,
}

impl Tally {
    fn add(&mut self, is_retained: bool, kind: &str, item: &str) {
        self.ratio.total += 1;
        self.ratio.retained += u32::from(is_retained);
        if !is_retained {
            self.lost.push(format!("{kind} \"{}\"", truncate_inline(item, LOST_CHARS)));
        }
    }
}

fn tally_state(state: &SessionState, text: &str) -> Tally {
    let mut tally = Tally::default();
    let one = |kind, item| (kind, item, "");
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

fn weighted(groups: &[Ratio; 3]) -> impl Iterator<Item = (u32, Ratio)> {
    WEIGHTS.into_iter().zip(*groups).filter(|(_, group)| group.total > 0)
}

/// Returns the weighted mean of the retained shares of all groups that have items, or 1 if no group
/// has any.
fn score(groups: &[Ratio; 3]) -> f64 {
    let (sum, of) = weighted(groups).fold((0.0, 0), |(sum, of), (weight, group)| {
        let part = f64::from(group.retained) / f64::from(group.total);
        (sum + f64::from(weight) * part, of + weight)
    });
    if of == 0 { 1.0 } else { sum / f64::from(of) }
}

/// Returns whether the score is at least [`COVERAGE_MIN`].
fn is_enough(groups: &[Ratio; 3]) -> bool {
    // Three 32-bit counts multiplied by numbers below 2,000 fit into 128 bits.
    let product: u128 = weighted(groups).map(|(_, group)| u128::from(group.total)).product();
    let (kept, of) = weighted(groups).fold((0, 0), |(kept, of), (weight, group)| {
        let part = product / u128::from(group.total) * u128::from(group.retained);
        (kept + u128::from(weight) * part, of + u128::from(weight))
    });
    kept * MIN_PARTS.1 >= MIN_PARTS.0 * of * product
}

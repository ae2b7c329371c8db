//! Calls and their results: in pairs, results right behind their calls.

use std::collections::{HashMap, HashSet};

use super::ExportReport;
use super::turn::{Form, Part, Speaker, Turn, What};

/// A part of a turn, by their indices.
type Place = (usize, usize);

/// The turns with each call answered once, right behind its turn; what has no
/// counterpart is left out.
pub(super) fn pair<'b>(mut turns: Vec<Turn<'b>>, report: &mut ExportReport) -> Vec<Turn<'b>> {
    let mut answers = find(&turns);
    let results: HashSet<Place> = answers.values().copied().collect();
    let mut taken: HashMap<Place, Part<'b>> = HashMap::new();
    for (at, turn) in turns.iter_mut().enumerate() {
        let mut kept = Vec::with_capacity(turn.parts.len());
        for (place, part) in std::mem::take(&mut turn.parts).into_iter().enumerate() {
            let place = (at, place);
            match &part.what {
                What::Answer(_) if results.contains(&place) => {
                    taken.insert(place, part);
                }
                What::Answer(_) => report.orphans += 1,
                What::Call(_) if !answers.contains_key(&place) => report.unanswered += 1,
                What::Call(_) => {
                    // Where its part is now: others before it are gone.
                    if let Some(answer) = answers.remove(&place) {
                        answers.insert((at, kept.len()), answer);
                    }
                    kept.push(part);
                }
                _ => kept.push(part),
            }
        }
        turn.parts = kept;
    }
    let mut paired = Vec::with_capacity(turns.len());
    for (at, mut turn) in turns.into_iter().enumerate() {
        let parts = behind(at, &mut turn, &answers, &mut taken, report);
        if turn.speaker != Speaker::Tool {
            paired.push(turn);
        }
        if !parts.is_empty() {
            paired.push(Turn::of(Speaker::Tool, None, parts));
        }
    }
    paired
}

/// The result of each call: the first behind it, before its id is used again.
fn find(turns: &[Turn<'_>]) -> HashMap<Place, Place> {
    let mut open: HashMap<&str, Place> = HashMap::new();
    let mut answers = HashMap::new();
    for (at, turn) in turns.iter().enumerate() {
        for (place, part) in turn.parts.iter().enumerate() {
            match &part.what {
                What::Call(call) => {
                    open.insert(&call.id, (at, place));
                }
                What::Answer(answer) => {
                    if let Some(call) = open.remove(answer.id.as_ref()) {
                        answers.insert(call, (at, place));
                    }
                }
                _ => {}
            }
        }
    }
    answers
}

/// The results of a turn's calls, in the order in which they stood.
fn behind<'b>(
    at: usize,
    turn: &mut Turn<'b>,
    answers: &HashMap<Place, Place>,
    taken: &mut HashMap<Place, Part<'b>>,
    report: &mut ExportReport,
) -> Vec<Part<'b>> {
    let is_call = |part: &&Part<'_>| matches!(part.what, What::Call(_));
    let is_one = turn.parts.iter().filter(is_call).count() == 1;
    let mut parts = Vec::new();
    for (place, part) in turn.parts.iter_mut().enumerate() {
        let What::Call(call) = &mut part.what else { continue };
        // A message has room for one call of the old form.
        if call.form == Form::Function && !is_one {
            call.form = Form::Tool;
        }
        let Some(stood) = answers.get(&(at, place)) else { continue };
        let Some(mut result) = taken.remove(stood) else { continue };
        if let What::Answer(answer) = &mut result.what {
            answer.form = call.form;
            answer.name.clone_from(&call.name);
        }
        report.calls += 1;
        parts.push((*stood, result));
    }
    // Calls at once are answered as each is done.
    parts.sort_unstable_by_key(|(stood, _)| *stood);
    parts.into_iter().map(|(_, part)| part).collect()
}

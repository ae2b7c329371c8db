//! Check boxes in Markdown.

use super::super::sentences::{Line, LineKind, check_box, lines};
use super::{Step, StepState};

/// Bytes of the longest line that says what boxes are for.
const MAX_LEAD: usize = 200;

/// How lines begin that say by what a task is known to be done. Lower case.
const ACCEPTANCE: [&str; 6] = [
    "done when", "acceptance:", "acceptance criteria:", "acceptance criterion:", "accepted when",
    "definition of done:",
];

/// How lines begin that say what boxes are for, whatever follows. Lower case.
const PLANS: [&str; 8] =
    ["plan:", "task:", "tasks:", "todo:", "to-do:", "steps:", "next steps:", "checklist:"];

/// Boxes under one heading.
#[derive(Debug, Default)]
pub(super) struct BoxGroup {
    /// What stands above them.
    pub(super) lead: Option<String>,
    pub(super) steps: Vec<Step>,
    /// By what it is known to be done.
    pub(super) acceptance: Option<String>,
}

/// The boxes in `text`, by what stands above them.
pub(super) fn groups(text: &str) -> Vec<BoxGroup> {
    // Most texts have none.
    if !text.contains(['[', '☐', '□', '☑', '☒']) {
        return Vec::new();
    }
    let mut groups: Vec<BoxGroup> = Vec::new();
    let mut group = BoxGroup::default();
    for line in lines(text) {
        if let Some((is_done, step)) = check_box(line.text) {
            let step = step.trim();
            if line.kind == LineKind::Item && !step.is_empty() {
                let state = if is_done { StepState::Done } else { StepState::Open };
                group.steps.push(Step { text: step.to_owned(), state });
            }
        } else if let Some(acceptance) = acceptance(line.text) {
            group.acceptance.get_or_insert_with(|| acceptance.to_owned());
        } else if let Some(lead) = lead(&line) {
            let mut next = BoxGroup { lead: Some(lead.to_owned()), ..BoxGroup::default() };
            if group.steps.is_empty() {
                next.acceptance = group.acceptance.take();
            }
            push_group(std::mem::replace(&mut group, next), &mut groups);
        }
    }
    push_group(group, &mut groups);
    groups
}

/// Adds a group; to the one above it where both are under the same words.
fn push_group(group: BoxGroup, groups: &mut Vec<BoxGroup>) {
    if group.steps.is_empty() {
        return;
    }
    match groups.last_mut().filter(|last| last.lead == group.lead) {
        Some(last) => {
            last.steps.extend(group.steps);
            last.acceptance = last.acceptance.take().or(group.acceptance);
        }
        None => groups.push(group),
    }
}

/// Returns the title of the boxes below: a heading, a bold line, or one that ends with a colon.
fn lead<'t>(line: &Line<'t>) -> Option<&'t str> {
    let text = line.text.trim();
    let bare = text.trim_matches(['*', '_']).trim_end_matches(':').trim_matches(['*', '_']).trim();
    let is_lead = match line.kind {
        LineKind::Heading => true,
        LineKind::Text | LineKind::Item => {
            text.ends_with(':')
                || text.ends_with(":**")
                || text.starts_with("**") && text.ends_with("**")
                || begins_with_one(&PLANS, bare)
        }
    };
    (is_lead && !bare.is_empty() && bare.len() <= MAX_LEAD).then_some(bare)
}

/// The line, if it says by what a task is known to be done.
fn acceptance(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(['*', '_']);
    let says = begins_with_one(&ACCEPTANCE, bare) && !line.ends_with([':', '*']);
    says.then_some(line)
}

fn begins_with_one(phrases: &[&str], text: &str) -> bool {
    phrases.iter().any(|phrase| {
        text.get(..phrase.len()).is_some_and(|start| start.eq_ignore_ascii_case(phrase))
    })
}

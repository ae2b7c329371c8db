//! Extracts checkboxes from Markdown.

use super::super::sentences::{Line, LineKind, check_box, lines};
use super::{Step, StepState};

/// The maximum length in bytes of the title of a group.
const MAX_LEAD: usize = 200;

/// Beginnings of lines with an acceptance criterion, in lower case.
const ACCEPTANCE: [&str; 6] = [
    "done when", "acceptance:", "acceptance criteria:", "acceptance criterion:", "accepted when",
    "definition of done:",
];

/// Beginnings of lines that are the title of a group, in lower case.
const PLANS: [&str; 8] =
    ["plan:", "task:", "tasks:", "todo:", "to-do:", "steps:", "next steps:", "checklist:"];

/// The checkboxes under one title.
#[derive(Debug, Default)]
pub(super) struct BoxGroup {
    /// The title above the checkboxes.
    pub(super) lead: Option<String>,
    pub(super) steps: Vec<Step>,
    /// The acceptance criterion.
    pub(super) acceptance: Option<String>,
}

/// Returns the checkboxes in `text`, grouped by their titles.
pub(super) fn groups(text: &str) -> Vec<BoxGroup> {
    // Return early, because most texts contain no checkboxes.
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
                group.steps.push(Step::new(step, state));
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

/// Appends a group, or merges it into the last group if both have the same title.
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

/// Returns the line as a title if it is a heading, a bold line, or a line that ends with a colon.
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

/// Returns the line if it contains an acceptance criterion.
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

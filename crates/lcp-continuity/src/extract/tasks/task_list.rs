//! The list of tasks, updated message by message.

use std::collections::{HashMap, HashSet};

use super::checkboxes::BoxGroup;
use super::single_tasks::{self, TaskChange};
use super::todo_tool::{LIST_KINDS, ListKind, SINGLE_TASKS, ToolList};
use super::{Step, StepState, comparison_key};
use crate::model::{PendingTask, TaskStatus, short_hash};

/// The maximum number of tasks. The oldest are removed first.
const MAX_TASKS: usize = 64;

#[derive(Clone, Debug)]
struct Task {
    id: String,
    description: String,
    steps: Vec<Step>,
    approved: Option<bool>,
    acceptance: Option<String>,
    /// The status from before these messages, until a list updates the task.
    status: Option<TaskStatus>,
}

/// The current tasks.
pub(super) struct TaskList {
    tasks: Vec<Task>,
    /// The ids of the tasks that the user has not replied to.
    pub(super) proposed: HashSet<String>,
}

impl TaskList {
    pub(super) fn new(known: &[PendingTask]) -> Self {
        let task = |task: &PendingTask| {
            let steps = |texts: &[String], state| -> Vec<Step> {
                texts.iter().map(|text| Step::new(text, state)).collect()
            };
            let mut all = steps(&task.done_steps, StepState::Done);
            all.extend(steps(&task.remaining_steps, StepState::Open));
            Task {
                id: task.id.clone(),
                description: task.description.clone(),
                steps: all,
                approved: task.approved,
                acceptance: task.acceptance.clone(),
                status: Some(task.status),
            }
        };
        let proposed = known.iter().filter(|task| task.awaits_answer);
        Self {
            tasks: known.iter().map(task).collect(),
            proposed: proposed.map(|task| task.id.clone()).collect(),
        }
    }

    /// Records a reply of the user: `Some` if it is a plain yes or no.
    pub(super) fn answer(&mut self, answer: Option<bool>) {
        let proposed = std::mem::take(&mut self.proposed);
        if answer.is_none() {
            return;
        }
        for task in self.tasks.iter_mut().filter(|task| proposed.contains(&task.id)) {
            task.approved = answer;
        }
    }

    /// Replaces the list of a tool with a newer one.
    pub(super) fn update_list(&mut self, list: ToolList) {
        let ToolList { kind, explanation, steps } = list;
        let id = id_of_list(kind);
        if let Some(task) = self.tasks.iter_mut().find(|task| task.id == id) {
            let goes_on = steps.is_empty() || count_shared(&task.steps, &steps) > 0;
            if !goes_on {
                task.approved = None;
                task.acceptance = None;
            }
            if !goes_on || task.description == kind.title {
                task.description = explanation.unwrap_or_else(|| kind.title.to_owned());
            }
            task.steps = steps;
            task.status = None;
        } else if !steps.is_empty() {
            let description = explanation.unwrap_or_else(|| kind.title.to_owned());
            self.add(Task::new(id.clone(), description, steps));
        }
        self.proposed.insert(id);
    }

    /// Creates or updates single tasks of a tool, which are the steps of one task.
    pub(super) fn update_single_tasks(&mut self, change: TaskChange) {
        let id = id_of_list(SINGLE_TASKS);
        let is_new = matches!(change, TaskChange::Create { .. });
        if !self.tasks.iter().any(|task| task.id == id) {
            let is_empty = matches!(&change, TaskChange::List(tasks) if tasks.is_empty());
            if is_empty || matches!(change, TaskChange::Update { .. }) {
                return;
            }
            self.add(Task::new(id.clone(), SINGLE_TASKS.title.to_owned(), Vec::new()));
        }
        let Some(task) = self.tasks.iter_mut().find(|task| task.id == id) else { return };
        let before = if is_new { task.steps.clone() } else { Vec::new() };
        if !single_tasks::apply(&mut task.steps, change) {
            return;
        }
        if is_new && count_shared(&before, &task.steps) == 0 {
            task.approved = None;
            task.acceptance = None;
        }
        task.status = None;
        if is_new {
            self.proposed.insert(id);
        }
    }

    /// Updates the task that a group belongs to, or creates one. Returns its id.
    pub(super) fn update_boxes(&mut self, group: BoxGroup) -> String {
        let BoxGroup { lead, steps, acceptance } = group;
        let by_steps = self
            .tasks
            .iter()
            .enumerate()
            .map(|(at, task)| (count_shared(&task.steps, &steps), at))
            .max()
            .filter(|(count, _)| *count > 0);
        let same_lead = |task: &Task| {
            lead.as_deref().is_some_and(|lead| lead.eq_ignore_ascii_case(&task.description))
        };
        if let Some((count, at)) = by_steps
            && (count == steps.len() || count * 2 >= steps.len() || same_lead(&self.tasks[at]))
        {
            let task = &mut self.tasks[at];
            if count == steps.len() || task.id == id_of_list(SINGLE_TASKS) {
                // The group is a part of the task, so steps that it does not list remain unchanged.
                // Single tasks are added and removed only by their tool.
                update_states(&mut task.steps, &steps);
            } else {
                task.steps = steps;
            }
            task.acceptance = acceptance.or(task.acceptance.take());
            task.status = None;
            return task.id.clone();
        }
        // The group has the same title but other steps, so it replaces the old task.
        self.tasks.retain(|task| !same_lead(task) || task.is_of_tool());
        let first = steps.first().map_or("", |step| step.text.as_str());
        let description = lead.unwrap_or_else(|| first.to_owned());
        let id = short_hash(&[description.as_bytes(), first.as_bytes()]);
        self.tasks.retain(|task| task.id != id);
        self.add(Task { acceptance, ..Task::new(id.clone(), description, steps) });
        id
    }

    fn add(&mut self, task: Task) {
        if self.tasks.len() >= MAX_TASKS {
            self.tasks.remove(0);
        }
        self.tasks.push(task);
    }

    pub(super) fn pending(self) -> Vec<PendingTask> {
        let Self { tasks, proposed } = self;
        tasks.into_iter().filter_map(|task| task.pending(&proposed)).collect()
    }
}

impl Task {
    fn new(id: String, description: String, steps: Vec<Step>) -> Self {
        Self { id, description, steps, approved: None, acceptance: None, status: None }
    }

    fn is_of_tool(&self) -> bool {
        LIST_KINDS.into_iter().chain([SINGLE_TASKS]).any(|kind| id_of_list(kind) == self.id)
    }

    /// Converts the task unless it is finished. Tasks in `proposed` await an answer.
    fn pending(self, proposed: &HashSet<String>) -> Option<PendingTask> {
        let texts = |is_done: bool| -> Vec<String> {
            let steps = self.steps.iter();
            steps
                .filter(|step| (step.state == StepState::Done) == is_done)
                .map(|step| step.text.clone())
                .collect()
        };
        let (done_steps, remaining_steps) = (texts(true), texts(false));
        // A task from another source may have no steps.
        if remaining_steps.is_empty() && (self.status.is_none() || !done_steps.is_empty()) {
            return None;
        }
        let status = self.status.unwrap_or_else(|| status(&self.steps));
        Some(PendingTask {
            awaits_answer: proposed.contains(&self.id),
            id: self.id,
            description: self.description,
            status,
            done_steps,
            remaining_steps,
            approved: self.approved,
            acceptance: self.acceptance,
        })
    }
}

fn status(steps: &[Step]) -> TaskStatus {
    let mut open = steps.iter().filter(|step| step.state != StepState::Done);
    let current = open.clone().find(|step| step.state != StepState::Open).or_else(|| open.next());
    if current.is_some_and(is_blocked) {
        TaskStatus::Blocked
    } else if steps.iter().any(|step| step.state != StepState::Open) {
        TaskStatus::InProgress
    } else {
        TaskStatus::Pending
    }
}

/// Returns whether a step says that it is blocked.
fn is_blocked(step: &Step) -> bool {
    let text = step.text.to_lowercase();
    let says = |mark: &str| {
        text.match_indices(mark).any(|(at, _)| {
            let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            is_edge(text[..at].chars().next_back())
                && is_edge(text[at + mark.len()..].chars().next())
        })
    };
    step.state == StepState::Blocked
        || [
            "(blocked", "[blocked", "blocked:", "blocked by", "blocked on", "waiting for",
            "waiting on",
        ]
        .into_iter()
        .any(says)
}

/// Returns the id of the task for a tool's list. Each kind of list has one task.
fn id_of_list(kind: ListKind) -> String {
    short_hash(&[b"list", kind.key.as_bytes()])
}

fn count_shared(old: &[Step], new: &[Step]) -> usize {
    let old: HashSet<String> = old.iter().map(|step| comparison_key(&step.text)).collect();
    new.iter().filter(|step| old.contains(&comparison_key(&step.text))).count()
}

fn update_states(old: &mut [Step], new: &[Step]) {
    let new: HashMap<String, StepState> =
        new.iter().map(|step| (comparison_key(&step.text), step.state)).collect();
    for step in old {
        if let Some(state) = new.get(&comparison_key(&step.text)) {
            step.state = *state;
        }
    }
}

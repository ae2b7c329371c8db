//! Extracts tasks by rules, from to-do lists and single tasks of tools, and from checkboxes.

mod checkboxes;
mod single_tasks;
mod task_list;
mod todo_tool;

use std::collections::HashMap;

use lcp_types::{BlockContent, Role};

use self::task_list::TaskList;
use super::TaskExtractor;
use super::agreement::agreement;
use super::tool_calls::{CallResults, name_words};
use crate::model::{Message, PendingTask, Recorded};

const PLANS: [&str; 8] =
    ["todo", "todos", "task", "tasks", "plan", "plans", "checklist", "checklists"];

/// Finds pending tasks in explicit lists (RFC 0007 §6):
///
/// - lists of tools: `todos` of `TodoWrite` and `plan` of `update_plan`, as JSON in calls and
///   results;
/// - single tasks of tools: calls of `TaskCreate` and `TaskUpdate`, and results of `TaskList`. They are
///   the steps of one task;
/// - checkboxes (`- [ ] step`, `☐ step`) in turns, and in results of tools or calls that name a
///   to-do list, a task, a plan or a checklist. Checkboxes in other files are ignored.
///
/// Later lists update earlier ones. The next turn of the user after a list approves it, refuses it,
/// or does neither. A line "Done when …" or "Acceptance: …" with a list is its acceptance
/// criterion. Tasks without remaining steps are left out. Run time is linear in the length of the
/// text and the number of steps.
///
/// ```
/// use lcp_continuity::extract::{ListTaskExtractor, TaskExtractor};
/// use lcp_continuity::{Message, Recorded, TaskStatus};
///
/// let message = Message::assistant("## Port\n- [x] Read the code\n- [ ] Write the parser");
/// let messages = [Recorded { position: 0, epoch: 0, tokens: 16, message }];
/// let tasks = ListTaskExtractor.pending_tasks(&[], &messages);
/// assert_eq!(tasks[0].description, "Port");
/// assert_eq!(tasks[0].status, TaskStatus::InProgress);
/// assert_eq!(tasks[0].remaining_steps, ["Write the parser"]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ListTaskExtractor;

impl TaskExtractor for ListTaskExtractor {
    fn pending_tasks(&self, known: &[PendingTask], messages: &[Recorded]) -> Vec<PendingTask> {
        let mut list = TaskList::new(known);
        let calls: HashMap<&str, &Message> = messages
            .iter()
            .map(|recorded| &recorded.message)
            .filter(|message| message.is_call())
            .filter_map(|call| Some((call.tool_call_id()?, call)))
            .collect();
        let results = CallResults::new(messages);
        for (at, Recorded { message, .. }) in messages.iter().enumerate() {
            let speaker = message.turn_text().map(|(role, _)| role);
            let from_tool = message.is_call() || message.is_result();
            if speaker.is_none() && !from_tool {
                continue;
            }
            let text = message.text();
            if speaker == Some(Role::User) && !list.proposed.is_empty() {
                list.answer(agreement(&text));
            }
            if from_tool && let Some(todos) = todo_tool::last_list(&text) {
                list.update_list(todos);
            }
            if from_tool && let Some(change) = single_tasks::change_at(messages, &results, at) {
                list.update_single_tasks(change);
            }
            if speaker.is_some() || is_of_plan(message, &calls) {
                for group in checkboxes::groups(&text) {
                    let id = list.update_boxes(group);
                    if speaker == Some(Role::Assistant) {
                        list.proposed.insert(id);
                    }
                }
            }
        }
        list.pending()
    }
}

/// Returns whether a message is a result whose tool or call names a plan.
fn is_of_plan(message: &Message, calls: &HashMap<&str, &Message>) -> bool {
    let names_plan = |text: &str| {
        may_name_plan(text) && name_words(text).iter().any(|word| PLANS.contains(&word.as_str()))
    };
    let call = || calls.get(message.tool_call_id()?);
    message.is_result()
        && (matches!(&message.block.content,
                BlockContent::ToolResult(result) if names_plan(&result.tool_name))
            || call().is_some_and(|call| names_plan(&call.text())))
}

/// Returns whether a text has the first four letters of a plan's name, in any case. Most texts have not, and
/// need not be split into words.
fn may_name_plan(text: &str) -> bool {
    const SMALL: u32 = u32::from_le_bytes([0x20; 4]);
    const BEGINNINGS: [u32; 4] = [
        u32::from_le_bytes(*b"todo"),
        u32::from_le_bytes(*b"task"),
        u32::from_le_bytes(*b"plan"),
        u32::from_le_bytes(*b"chec"),
    ];
    let mut windows = text.as_bytes().windows(4).filter_map(|four| four.try_into().ok());
    windows.any(|four| BEGINNINGS.contains(&(u32::from_le_bytes(four) | SMALL)))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// The description of the step, verbatim.
    text: String,
    /// The progress of the step.
    state: StepState,
    /// The id that a tool gave to a single task, if it is known.
    tool_id: Option<String>,
}

impl Step {
    fn new(text: impl Into<String>, state: StepState) -> Self {
        Self { text: text.into(), state, tool_id: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepState {
    Open,
    Doing,
    Blocked,
    Done,
}

/// Normalizes a step for comparison: case, white space and emphasis are ignored.
fn comparison_key(step: &str) -> String {
    let words = step.split_whitespace().map(|word| word.trim_matches(['*', '_', '`', '.', ':']));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

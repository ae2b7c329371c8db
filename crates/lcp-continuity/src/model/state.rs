//! The state of a session and its pending tasks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The state of a session outside its messages, such as open files and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Named values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The paths of the files in use, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub active_files: Vec<String>,
    /// The commands that were run, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_commands: Vec<String>,
    /// The working directory of commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// The version control branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl SessionState {
    /// Returns whether no field is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns this state updated with `newer`. Values in `newer` replace values of the same name,
    /// and its list items are appended, without duplicates.
    #[must_use]
    pub fn updated(mut self, newer: &Self) -> Self {
        self.variables.extend(newer.variables.clone());
        for (list, newer) in [
            (&mut self.active_files, &newer.active_files),
            (&mut self.recent_commands, &newer.recent_commands),
        ] {
            list.retain(|item| !newer.contains(item));
            list.extend(newer.iter().cloned());
        }
        if newer.working_directory.is_some() {
            self.working_directory.clone_from(&newer.working_directory);
        }
        if newer.branch.is_some() {
            self.branch.clone_from(&newer.branch);
        }
        self
    }
}

/// The progress of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun, not done.
    InProgress,
    /// Waiting for something.
    Blocked,
}

/// A task that is not finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingTask {
    /// The id. It stays the same when the task is updated.
    pub id: String,
    /// A description of the work to do.
    pub description: String,
    /// The progress of the task.
    pub status: TaskStatus,
    /// The finished steps, in order, verbatim.
    #[serde(default)]
    pub done_steps: Vec<String>,
    /// The remaining steps, in order, verbatim.
    #[serde(default)]
    pub remaining_steps: Vec<String>,
    /// `Some(true)` if the user agreed to the task, `Some(false)` if the user refused it, `None` if
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// `true` if the model proposed the task and the user has not replied yet. The next turn of the
    /// user may approve or refuse it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_answer: bool,
    /// The acceptance criterion, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
}

impl PendingTask {
    /// Returns whether the task has more than `steps` remaining steps and the user did not refuse
    /// it. Its progress does not matter: a list of which no step is done yet is long too.
    #[must_use]
    pub fn is_long(&self, steps: usize) -> bool {
        self.approved != Some(false) && self.remaining_steps.len() > steps
    }
}

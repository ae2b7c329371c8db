//! The state of a session, and the tasks that are not done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a session has at hand, beside what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Named values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Paths of the files that are worked on, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub active_files: Vec<String>,
    /// Commands that were run, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_commands: Vec<String>,
    /// The directory that commands run in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// The branch of version control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl SessionState {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This, with what `newer` says in place of what it says too: its lists follow,
    /// without saying anything twice.
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

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun, not done.
    InProgress,
    /// It waits for something.
    Blocked,
}

/// A task with steps that remain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingTask {
    /// Its id: a later state of the same task has the same one.
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// How far it is.
    pub status: TaskStatus,
    /// The steps that are done, in order, word for word.
    #[serde(default)]
    pub done_steps: Vec<String>,
    /// The steps that remain, in order, word for word.
    #[serde(default)]
    pub remaining_steps: Vec<String>,
    /// Whether the user agreed to it; `None` where nothing says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Whether the model proposed it, and the user has not spoken since: the user's next
    /// turn may approve or refuse it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_answer: bool,
    /// By what it is known to be done, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
}

impl PendingTask {
    /// Whether it is in progress with more than `steps` steps that remain.
    #[must_use]
    pub fn is_long(&self, steps: usize) -> bool {
        self.status == TaskStatus::InProgress && self.remaining_steps.len() > steps
    }
}

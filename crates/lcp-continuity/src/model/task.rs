//! Tasks that are not done.

use serde::{Deserialize, Serialize};

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

impl TaskStatus {
    /// The name in packs and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
        }
    }
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

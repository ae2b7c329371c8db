//! The usage of a conversation after each answer of the model.

use lcp_driver::usage::{UsageEntry, UsageHistory};
use lcp_types::Role;
use serde::{Deserialize, Serialize};

/// A log of the usage of a conversation. It has a record for each answer of the model (a run of its
/// messages), and for each further report of the provider.
///
/// The report that follows an answer replaces its counted tokens. So does each further message of
/// the same answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UsageLog {
    /// All records except the newest.
    finished: UsageHistory,
    newest: Option<Newest>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Newest {
    entry: UsageEntry,
    /// `true` if the provider reported it, so that it does not change any more.
    is_reported: bool,
}

impl UsageLog {
    /// Records a message of this role, after which the conversation has the usage `entry`.
    pub(crate) fn record_message(&mut self, role: Role, entry: UsageEntry) {
        if role != Role::Assistant || self.newest.as_ref().is_some_and(|it| it.is_reported) {
            self.finish();
        }
        if role == Role::Assistant {
            self.newest = Some(Newest { entry, is_reported: false });
        }
    }

    /// Records the usage that the provider reported.
    pub(crate) fn record_reported(&mut self, entry: UsageEntry) {
        if self.newest.as_ref().is_some_and(|it| it.is_reported) {
            self.finish();
        }
        self.newest = Some(Newest { entry, is_reported: true });
    }

    /// Ends the newest answer. Later messages and reports get records of their own.
    pub(crate) fn finish(&mut self) {
        if let Some(newest) = self.newest.take() {
            self.finished.push(newest.entry);
        }
    }

    /// Returns all records.
    pub(crate) fn history(&self) -> UsageHistory {
        let mut history = self.finished.clone();
        if let Some(newest) = &self.newest {
            history.push(newest.entry.clone());
        }
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(used: u32) -> UsageEntry {
        UsageEntry { model: None, total: 100, used }
    }

    fn used(log: &UsageLog) -> Vec<u32> {
        log.history().entries().map(|entry| entry.used).collect()
    }

    #[test]
    fn run_of_messages_of_the_model_is_one_answer() {
        let mut log = UsageLog::default();
        for (role, tokens) in [
            (Role::System, 1),
            (Role::User, 2),
            (Role::Assistant, 3),
            (Role::Assistant, 4),
            (Role::Tool, 5),
            (Role::Assistant, 6),
            (Role::User, 7),
        ] {
            log.record_message(role, entry(tokens));
        }
        assert_eq!(used(&log), [4, 6]);
    }

    #[test]
    fn report_replaces_the_counted_answer_once() {
        let mut log = UsageLog::default();
        log.record_message(Role::Assistant, entry(3));
        log.record_reported(entry(30));
        assert_eq!(used(&log), [30]);
        // Reports without messages are records of their own.
        log.record_reported(entry(40));
        assert_eq!(used(&log), [30, 40]);
        // A further message of the model after a report belongs to the next answer.
        log.record_message(Role::Assistant, entry(41));
        log.record_message(Role::User, entry(42));
        log.record_reported(entry(50));
        assert_eq!(used(&log), [30, 40, 41, 50]);
    }
}

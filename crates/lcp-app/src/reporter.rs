//! Warnings and progress of a job while it runs.

use std::fmt::Display;
use std::sync::Mutex;

/// A receiver of warnings, notes and progress.
pub trait Reporter: Sync {
    /// Receives a warning.
    fn warn(&self, message: &dyn Display);

    /// Receives a warning about an input file, which may be shown after the work is done.
    fn warn_at_end(&self, message: &dyn Display) {
        self.warn(message);
    }

    /// Receives a detail.
    fn note(&self, message: &dyn Display) {
        let _ = message;
    }

    /// Receives a line that summarizes a task.
    fn summary(&self, message: &dyn Display) {
        let _ = message;
    }

    /// Begins a task with this number of steps. The task ends when the returned value is dropped.
    fn begin(&self, task: &'static str, steps: usize) -> Box<dyn Progress + '_> {
        let _ = (task, steps);
        Box::new(Silent)
    }
}

/// A running task. Several threads may report steps at once.
pub trait Progress: Send + Sync {
    /// Reports that one more step is done.
    fn step(&self) {}
}

/// A reporter that drops everything. Plans and errors hold their warnings as well; some warnings
/// of packs, imports and exports are lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn warn(&self, _: &dyn Display) {}
}

impl Progress for Silent {}

/// A reporter that collects warnings.
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Returns the collected warnings and removes them.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Reporter for Warnings {
    fn warn(&self, message: &dyn Display) {
        let mut warnings = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        warnings.push(message.to_string());
    }
}

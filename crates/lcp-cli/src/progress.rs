//! A progress bar for long operations, shown only on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// A progress bar on standard error. Dropping it clears the bar.
#[derive(Debug)]
pub struct ProgressReporter(ProgressBar);

impl Output {
    /// Returns a progress bar with the label `what`. It is hidden unless standard error is a
    /// terminal, and with `--quiet`.
    pub fn bar(&self, what: &'static str) -> ProgressReporter {
        let is_seen = !self.quiet && std::io::stderr().is_terminal();
        let target =
            if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what);
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}");
        ProgressReporter(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }
}

impl ProgressReporter {
    /// Sets the total number of steps.
    pub fn expect(&self, steps: usize) {
        self.0.set_length(steps as u64);
    }

    /// Advances the bar by one step.
    pub fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl lcp_app::Progress for ProgressReporter {
    fn step(&self) {
        Self::step(self);
    }
}

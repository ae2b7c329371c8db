//! A bar that says how far long work is: on a terminal, and nowhere else.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// A bar on standard error. It is gone when it is dropped.
#[derive(Debug)]
pub struct ProgressReporter(ProgressBar);

impl Output {
    /// A bar, which nobody sees but on a terminal; `what` stands before it.
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
    /// There are so many steps.
    pub fn expect(&self, steps: usize) {
        self.0.set_length(steps as u64);
    }

    /// One more is done.
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

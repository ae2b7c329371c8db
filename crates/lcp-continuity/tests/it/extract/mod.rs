//! Extraction by rules: anchors, tasks, state, intent.

mod anchors;
mod anchors_not;
mod intent;
mod laws;
mod session;
mod single_tasks;
mod state;
mod tasks;

use lcp_continuity::{Message, Recorded};

/// Records these messages at successive positions.
fn recorded(messages: impl IntoIterator<Item = Message>) -> Vec<Recorded> {
    (0..)
        .zip(messages)
        .map(|(position, message)| Recorded { position, epoch: 0, tokens: 1, message })
        .collect()
}

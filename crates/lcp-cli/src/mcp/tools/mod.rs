//! The tools: a file each.

#![allow(clippy::doc_markdown, reason = "clients show these texts as they stand")]

mod count;
mod expand;
mod handoff;
mod pack;
mod record_usage;
pub(super) mod render;
mod resume;
mod should_handoff;
mod sittings;
mod tracked;

pub use sittings::Sittings;

use super::tool::{Entry, entry};

/// All tools, in the order in which a model reads them.
pub(super) const ALL: [Entry; 8] = [
    entry::<pack::Tool>(),
    entry::<render::Tool>(),
    entry::<expand::Tool>(),
    entry::<count::Tool>(),
    entry::<record_usage::Tool>(),
    entry::<should_handoff::Tool>(),
    entry::<handoff::Tool>(),
    entry::<resume::Tool>(),
];

/// The tool of this name.
pub(super) fn find(name: &str) -> Option<Entry> {
    ALL.into_iter().find(|entry| entry.name == name)
}

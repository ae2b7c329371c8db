//! The tools: a file each.

mod count;
mod expand;
mod pack;
pub(super) mod render;

use super::tool::{Entry, entry};

/// All tools, in the order in which a model reads them.
pub(super) const ALL: [Entry; 4] = [
    entry::<pack::Tool>(),
    entry::<render::Tool>(),
    entry::<expand::Tool>(),
    entry::<count::Tool>(),
];

/// The tool of this name.
pub(super) fn find(name: &str) -> Option<Entry> {
    ALL.into_iter().find(|entry| entry.name == name)
}

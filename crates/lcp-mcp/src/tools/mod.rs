//! The tools of the server, one per file.

#![allow(clippy::doc_markdown, reason = "clients show these texts verbatim")]

mod count;
mod expand;
mod handoff;
mod pack;
mod record_usage;
pub(crate) mod render;
mod resume;
mod sessions;
mod should_handoff;

use super::tool::RegisteredTool;

/// All tools, in the order in which clients list them.
pub(crate) const ALL: [RegisteredTool; 8] = [
    RegisteredTool::new::<pack::Tool>(),
    RegisteredTool::new::<render::Tool>(),
    RegisteredTool::new::<expand::Tool>(),
    RegisteredTool::new::<count::Tool>(),
    RegisteredTool::new::<record_usage::Tool>(),
    RegisteredTool::new::<should_handoff::Tool>(),
    RegisteredTool::new::<handoff::Tool>(),
    RegisteredTool::new::<resume::Tool>(),
];

/// Returns the tool with this name.
pub(crate) fn find(name: &str) -> Option<RegisteredTool> {
    ALL.into_iter().find(|tool| tool.name == name)
}

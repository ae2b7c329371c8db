//! The driver against the requirements, as its users call it.

mod api;
mod budget;
mod excerpts;
mod levels;
mod packs;
mod placeholder;
mod render;
#[cfg(feature = "report")]
mod report;
mod selector;
mod shares;
mod sharing;
mod split;

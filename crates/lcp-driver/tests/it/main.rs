//! The driver against the requirements, as its users call it.

mod api;
mod budget;
mod excerpts;
mod levels;
#[cfg(any(feature = "metrics", feature = "tracing"))]
mod observe;
mod packs;
mod placeholder;
mod render;
#[cfg(feature = "report")]
mod report;
mod segments;
mod selector;
mod shares;
mod sharing;
mod split;

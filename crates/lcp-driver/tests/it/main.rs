//! The driver against the requirements, as its users call it.

mod api;
mod budget;
mod packs;
mod placeholder;
mod render;
#[cfg(feature = "report")]
mod report;
mod split;

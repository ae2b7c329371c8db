//! The driver against the requirements, as its users call it.

mod budget;
mod packs;
mod placeholder;
mod render;
mod report;
mod split;

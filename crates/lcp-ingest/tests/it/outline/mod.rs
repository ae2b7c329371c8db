//! Outlines: the lines that are kept, and properties of every outline.

mod definitions;
mod golden;
mod head_tail;
mod properties;

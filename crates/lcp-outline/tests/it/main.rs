//! Outlines: what is kept, and what always holds.
#![cfg(all(
    feature = "c",
    feature = "cpp",
    feature = "go",
    feature = "java",
    feature = "javascript",
    feature = "python",
    feature = "rust",
    feature = "typescript",
))]

mod ends;
mod golden;
mod laws;

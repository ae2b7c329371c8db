//! Tests of the driver's requirements, through its public API.

mod api;
mod budget;
mod duplicates;
mod examples;
mod excerpts;
mod indexed;
mod levels;
mod objective;
mod packs;
mod parse;
mod parse_blocks;
mod passages;
mod placeholder;
#[cfg(feature = "serde")]
mod prompt_cache;
mod readers;
mod relations;
mod render;
#[cfg(feature = "report")]
mod report;
mod segments;
mod selector;
mod shares;
mod sharing;
mod special_tokens;
#[cfg(any(feature = "metrics", feature = "tracing"))]
mod telemetry;
#[cfg(all(feature = "rayon", feature = "report"))]
mod threads;

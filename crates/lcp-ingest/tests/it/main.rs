//! Public behavior of the crate.

mod examples;
mod globs;
#[cfg(feature = "outline")]
mod outline;
#[cfg(all(unix, feature = "summaries"))]
mod summaries;

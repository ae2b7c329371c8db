//! Public behavior of the crate.

mod charsets;
#[cfg(all(unix, feature = "summaries"))]
mod converters;
mod examples;
mod git_parts;
mod globs;
#[cfg(feature = "outline")]
mod outline;
mod records;
mod secrets;
mod selection;
#[cfg(all(unix, feature = "summaries"))]
mod summaries;

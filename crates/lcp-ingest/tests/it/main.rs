//! Public behavior of the crate.

#[cfg(feature = "outline")]
mod outline;
#[cfg(all(unix, feature = "summaries"))]
mod summaries;

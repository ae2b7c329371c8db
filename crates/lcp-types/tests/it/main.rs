//! What the model promises: its tables are those of the format, and nothing is
//! lost when a block is owned, copied or serialized.

mod annotations;
mod blocks;
mod examples;
mod limits_tables;
#[cfg(feature = "serde")]
mod serde;
mod tables;

//! `dedup`: how fast duplicates are found, how many, and whether anything is lost; and datasketch's
//! LSH.

pub mod check;
pub mod corpus;
#[cfg(feature = "peers")]
mod datasketch;
pub mod ground_truth;
#[cfg(feature = "peers")]
mod rows;

#[cfg(feature = "peers")]
pub(crate) use rows::run;

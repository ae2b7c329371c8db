//! `dedup`: the speed, recall and safety of deduplication, compared with datasketch's LSH.

pub mod check;
pub mod corpus;
#[cfg(feature = "peers")]
mod datasketch;
pub mod ground_truth;
#[cfg(feature = "peers")]
mod rows;

#[cfg(feature = "peers")]
pub(crate) use rows::run;

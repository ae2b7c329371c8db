//! The properties of untrusted input, for the corpus of the fuzzers.

mod corpus;
mod exhaustive;
mod python_decoder;

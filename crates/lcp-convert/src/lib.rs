//! Chat transcripts and tool results to blocks, and back (RFC 0010 §5).

pub mod diff;
pub mod numbered;

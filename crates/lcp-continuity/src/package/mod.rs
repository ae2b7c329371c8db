//! A hand-off as a pack, and back (RFC 0007 §5).

mod index;
mod message;
mod read;
mod write;

pub use index::moved_index;
pub(crate) use message::encode_message;

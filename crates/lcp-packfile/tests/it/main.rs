//! Operations on packs, through the public interface.

mod diff;
mod examples;
mod recover;

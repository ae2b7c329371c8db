//! Operations on packs, through the public interface.

mod annotate;
mod diff;
mod examples;
mod recover;
mod validate_source;

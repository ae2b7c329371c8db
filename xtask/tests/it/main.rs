//! The tasks as they are called.

mod command;
mod handoff;
mod torture;

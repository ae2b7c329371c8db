//! The store in one SQLite file: what all stores do, and what files may be.

#[path = "../conformance/mod.rs"]
mod conformance;
mod conforms;
mod damaged;
mod full;
#[cfg(unix)]
mod moved;
mod opened;
mod processes;
mod readers;
mod refused;
mod support;

//! Tests of the store in a SQLite file: the behaviour that all stores share, and the states of
//! files.

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

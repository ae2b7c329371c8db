//! Tests of the store in PostgreSQL, on a separate server.

mod broken;
#[path = "../conformance/mod.rs"]
mod conformance;
mod crash;
mod migrations;
mod opened;
mod races;
mod support;
mod tls;
mod trips;

use conformance::conformance;

conformance!(support::harness);

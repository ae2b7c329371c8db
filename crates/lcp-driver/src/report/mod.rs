//! The report: what became of a plan's tokens, and why. As JSON for programs
//! ([`to_json`]), as a table for terminals ([`to_table`]), as one page for
//! browsers ([`to_html`]).
//!
//! The same plan gives the same bytes: no clock, no paths of the machine, no
//! hash order.

mod duplicates;
mod figures;
mod html;
mod json;
mod names;
mod stable;
mod table;
mod value;

pub use html::to_html;
pub use json::{SCHEMA, to_json};
pub use names::title;
pub use table::{TableOptions, to_table};

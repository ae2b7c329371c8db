//! The report on a plan: the use of its tokens, with reasons. It can be JSON for programs
//! ([`to_json`]), a table for terminals ([`to_table`]) or a page for browsers ([`to_html`]).
//!
//! Reports are deterministic: they contain no time, no paths of the machine and no hash order.

mod display_names;
mod html;
mod json;
mod metrics;
mod rows;
mod table;
#[cfg(test)]
mod tests;

pub use display_names::display_name;
pub use html::to_html;
pub use json::{SCHEMA, to_json};
pub use table::style::truncate_start;
pub use table::{TableOptions, to_table};

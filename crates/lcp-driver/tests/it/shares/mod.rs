//! RFC 0004: windows, shares and usage. `cargo test -p lcp-driver -- shares`
//! runs these.

mod budget_manager;
mod category_allocator;
mod context_budget;
mod fill;
mod sizes;
mod usage;
mod window;

//! RFC 0004: windows, shares and usage. Run these tests with `cargo test -p lcp-driver -- shares`.

mod budget_manager;
mod category_allocator;
mod context_budget;
mod fill;
mod sizes;
mod usage;
mod window;

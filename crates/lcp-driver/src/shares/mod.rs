//! Named parts of a budget, and how tokens are divided among them
//! (RFC 0004 §3 shares).
//!
//! [`Shares`] say how large each part is; [`Shares::divide`] makes whole tokens
//! of them, a [`ContextBudget`] that can be consumed; [`fill`] lends what one
//! part does not need to the others. *CBS* below is Context Budget System.

mod context;
mod divide;
mod error;
mod fill;
mod presets;
mod share;

pub use context::{ContextBudget, ShareBudget, ShareLeft, percent};
pub use divide::calculate_budget;
pub use error::{BudgetError, SharesNote};
pub use fill::{Demand, max_min_fair};
pub use presets::{
    AGENT_RATIOS, CODE_FOCUSED_RATIOS, DEFAULT_BUDGET_RATIOS, PREFERENCE_FOCUSED_RATIOS,
    SESSION_FOCUSED_RATIOS,
};
pub use share::{Share, ShareSize, Shares, SharesError};

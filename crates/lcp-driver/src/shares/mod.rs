//! Named parts of a budget, and how tokens are divided among them (RFC 0004 §3).
//!
//! [`Shares`] define the size of each part; [`Shares::divide`] turns them into whole tokens, a
//! [`ContextBudget`] that can be consumed; [`max_min_fair`] lends what one part does not need to
//! the others. *CBS* below is Context Budget System.

mod context_budget;
mod max_min_fair;
mod presets;
mod share;

pub use crate::fixed_point::percent;
pub use context_budget::{BudgetError, ContextBudget, RemainingShare, ShareBudget, ShareScaling};
pub use max_min_fair::{Demand, max_min_fair};
pub use presets::{
    AGENT_RATIOS, CODE_FOCUSED_RATIOS, DEFAULT_BUDGET_RATIOS, PREFERENCE_FOCUSED_RATIOS,
    SESSION_FOCUSED_RATIOS, calculate_budget,
};
pub use share::{Share, ShareSize, Shares, SharesError};

//! Named shares of a budget, and the division of tokens among them (RFC 0004 §3).
//!
//! [`Shares`] define the size of each share. [`Shares::divide`] converts them to whole tokens: a
//! [`ContextBudget`], from which callers consume tokens. [`max_min_fair`] lends tokens that one
//! share does not need to the others. *CBS* below is Context Budget System.

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

//! The HTML report of a render, with a slider over budgets.

use lcp_driver::{Plan, report};

use crate::error::Result;
use crate::render::RenderJob;

/// The number of budgets on the slider, besides that of the plan.
const BUDGETS: u32 = 25;

impl RenderJob<'_> {
    /// Returns the HTML report of a plan of this job, with plans for other budgets.
    ///
    /// # Errors
    ///
    /// Returns an error if the job cannot be planned for another budget.
    pub fn html_report(&self, plan: &Plan) -> Result<String> {
        // Plans for other budgets do not follow the previous turn, and neither must the plan that
        // they are compared with.
        let independent = match plan.budget.filter(|_| plan.stable.is_some()) {
            Some(budget) => self.replay(&[budget])?.pop(),
            None => None,
        };
        let replays = self.replay(&budgets(independent.as_ref().unwrap_or(plan)))?;
        Ok(report::to_html(plan, &replays))
    }
}

/// Returns evenly spaced budgets up to the one that shows everything, and the budget of the plan.
fn budgets(plan: &Plan) -> Vec<u32> {
    let largest = plan.wanted_budget.unwrap_or(plan.used_tokens.into());
    let step = |number: u32| {
        let budget = (largest * u64::from(number)).div_ceil(u64::from(BUDGETS));
        u32::try_from(budget).unwrap_or(u32::MAX)
    };
    let mut budgets: Vec<u32> = (1..=BUDGETS).map(step).chain(plan.budget).collect();
    budgets.sort_unstable();
    budgets.dedup();
    budgets
}

#[cfg(test)]
mod tests {
    use lcp_driver::{DefaultDriver, DriverConfig};
    use lcp_types::{Block, Lang};

    use super::*;

    #[test]
    fn slider_budgets_are_sorted_and_include_the_plan_budget() {
        let code = "let x = 1;\n".repeat(100);
        let blocks = [Block::code(Lang::Rust, "a.rs", code.as_str())];
        let config = DriverConfig { token_budget: Some(61), ..DriverConfig::default() };
        let plan = DefaultDriver::default().plan(&blocks, &config).unwrap();
        let budgets = budgets(&plan);
        assert_eq!(budgets.len(), 26);
        assert!(budgets.contains(&61));
        assert_eq!(budgets.last().map(|&last| u64::from(last)), plan.wanted_budget);
        assert!(budgets.is_sorted());
    }
}

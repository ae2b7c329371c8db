//! Stable plans (RFC 0005 §6).

mod bill;
mod laws;
mod refusals;
mod session;
mod turns;
mod unchanged;
mod watched;

use std::sync::Arc;

use lcp_driver::prompt_cache::{PreviousPlan, StableOptions, StableOutcome, Watermarks};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Plan, Rendered, WarningCode};
use lcp_types::Block;

use crate::packs::O200K;

fn stable_of(plan: &Plan) -> &StableOutcome {
    plan.stable.as_ref().expect("a stable plan")
}

/// Returns the plan for the next turn, after a round trip through JSON.
fn saved(plan: &Plan) -> Arc<PreviousPlan> {
    Arc::new(PreviousPlan::from_json(&stable_of(plan).next_plan.to_json()).unwrap())
}

fn has_warning(plan: &Plan, code: WarningCode) -> bool {
    plan.warnings.iter().any(|warning| warning.code == code)
}

/// A caller that passes the plan of each turn to the next.
struct Caller {
    config: DriverConfig,
    watermarks: Watermarks,
    previous: Option<Arc<PreviousPlan>>,
}

impl Caller {
    fn new(budget: u32) -> Self {
        let config = DriverConfig {
            token_budget: Some(budget),
            mode: OutputMode::Minimal,
            ..DriverConfig::default()
        };
        Self { config, watermarks: Watermarks::default(), previous: None }
    }

    fn marks(self, high: f64, low: f64) -> Self {
        Self { watermarks: Watermarks::new(high, low).unwrap(), ..self }
    }

    /// Returns the result of a turn without advancing to it.
    fn peek(&self, blocks: &[Block<'_>]) -> Rendered {
        let (watermarks, previous) = (self.watermarks, self.previous.clone());
        let config = DriverConfig {
            stable: Some(StableOptions { watermarks, previous }),
            ..self.config.clone()
        };
        DefaultDriver::new(O200K).run(blocks, &config).unwrap()
    }

    /// Returns the text without a previous plan.
    fn anew(&self, blocks: &[Block<'_>]) -> Rendered {
        DefaultDriver::new(O200K).run(blocks, &self.config).unwrap()
    }

    fn turn(&mut self, blocks: &[Block<'_>]) -> Rendered {
        let rendered = self.peek(blocks);
        self.previous = Some(saved(&rendered.plan));
        rendered
    }
}

//! The tree of `config`: the calculation and the division of the budget.

use lcp_driver::group_thousands;
use lcp_driver::report::display_name;
use lcp_driver::shares::{ContextBudget, Share, ShareScaling, ShareSize};
use lcp_driver::window::ContextWindow;
use serde_json::{Value, json};

use lcp_app::budget::{ResolvedBudget, Settings};

/// Returns the shares for JSON. Their tokens are `null` without a budget.
pub(super) fn shares_json(settings: &Settings, divided: Option<&ContextBudget>) -> Vec<Value> {
    let factor = ratio_factor(settings.shares(), divided);
    let share = |share: &Share| {
        let (ratio, fixed) = match share.size {
            ShareSize::Ratio(ratio) => (Some(ratio), None),
            ShareSize::Tokens(tokens) => (None, Some(tokens)),
            _ => (None, None),
        };
        json!({
            "name": share.name,
            "percent": ratio.map(|ratio| percent(ratio * factor)),
            "configured_percent": ratio.map(percent),
            "fixed": fixed,
            "cap": share.cap,
            "tokens": divided.and_then(|budget| budget.tokens(&share.name)),
        })
    };
    settings.shares().iter().map(share).collect()
}

/// Returns the tree, one node per line, with a final newline.
pub(super) fn tree(settings: &Settings, divided: Option<&ContextBudget>) -> String {
    let factor = ratio_factor(settings.shares(), divided);
    let node = |share: &Share| share_node(share, factor, divided);
    let mut parts: Vec<_> = settings.shares().iter().map(node).collect();
    let unassigned = divided.map_or(0, ContextBudget::unassigned);
    if unassigned > 0 {
        parts.push(tokens("Unassigned", unassigned));
    }
    let (root, parts) = match settings.budget.as_ref().map(|budget| budget.value) {
        None => ("No budget: everything is shown in full".to_owned(), parts),
        Some(ResolvedBudget { tokens: all, window: None, .. }) => (tokens("Budget", all), parts),
        Some(ResolvedBudget { tokens: all, window: Some(window), .. }) => {
            let mut nodes = reserves(&window);
            nodes.push(tokens("Available for Context", all));
            let root = tokens("Total Context Window", window.tokens);
            return format!("{root}\n{}{}", branches("", &nodes), branches("    ", &parts));
        }
    };
    format!("{root}\n{}", branches("", &parts))
}

/// Returns a line for each node of one level.
fn branches(indent: &str, nodes: &[String]) -> String {
    let line = |(at, node): (usize, &String)| {
        let branch = if at + 1 == nodes.len() { "└── " } else { "├── " };
        format!("{indent}{branch}{node}\n")
    };
    nodes.iter().enumerate().map(line).collect()
}

fn share_node(share: &Share, factor: f64, divided: Option<&ContextBudget>) -> String {
    let count = divided.and_then(|budget| budget.tokens(&share.name));
    let cap = share.cap.unwrap_or(u32::MAX);
    let size = match share.size {
        ShareSize::Ratio(ratio) => {
            let (effective, configured) = (percent(ratio * factor), percent(ratio));
            let (effective, configured) = (format!("{effective}%"), format!("{configured}%"));
            if effective == configured {
                configured
            } else {
                format!("{effective}, configured {configured}")
            }
        }
        ShareSize::Tokens(tokens) if count.is_some_and(|count| count < tokens.min(cap)) => {
            format!("fixed, configured {}", group_thousands(tokens.into()))
        }
        _ => "fixed".to_owned(),
    };
    let cap =
        share.cap.map_or_else(String::new, |cap| format!(", cap {}", group_thousands(cap.into())));
    let name = format!("{} ({size}{cap})", display_name(&share.name));
    match count {
        Some(count) => tokens(&name, count),
        None => name,
    }
}

/// Returns the factor by which the ratios were scaled down. Without a budget, only ratios without
/// fixed sizes have a known factor.
fn ratio_factor(shares: &[Share], divided: Option<&ContextBudget>) -> f64 {
    let ratios = shares.iter().filter_map(|share| match share.size {
        ShareSize::Ratio(ratio) => Some(ratio),
        _ => None,
    });
    let (count, sum) = ratios.fold((0, 0.0), |(count, sum), ratio| (count + 1, sum + ratio));
    match divided.map(|budget| (budget.scaling(), budget.total())) {
        Some((Some(ShareScaling::Ratios { left, .. }), total)) => {
            f64::from(left) / f64::from(total.max(1)) / sum
        }
        Some((Some(_), _)) => 0.0,
        // Rounding errors of ratios that sum to 1 are not scaled.
        None if count == shares.len() && sum > 1.0 + 1e-6 => 1.0 / sum,
        _ => 1.0,
    }
}

/// Returns the nodes for the safety margin and the reserves of a window.
fn reserves(window: &ContextWindow) -> Vec<String> {
    let mut nodes = Vec::new();
    if window.safety < 1.0 {
        let bare = ContextWindow { system_prompt_reserve: 0, response_reserve: 0, ..*window };
        let margin = window.tokens - bare.available().unwrap_or(0);
        nodes.push(tokens(&format!("Safety Margin ({}%)", percent(1.0 - window.safety)), margin));
    }
    nodes.push(tokens("System Prompt Reserve", window.system_prompt_reserve));
    nodes.push(tokens("Response Reserve", window.response_reserve));
    nodes
}

fn tokens(name: &str, count: u32) -> String {
    format!("{name}: {} tokens", group_thousands(count.into()))
}

/// Converts a ratio to percent, rounded to a thousandth to hide floating-point noise.
fn percent(ratio: f64) -> f64 {
    (ratio * 100_000.0).round() / 1_000.0
}

//! What gave way, in words.

use lcp_driver::{RenderDecision, WarningCode};

use super::fit::Fitted;
use super::parts::Parts;
use crate::fidelity;

/// What a text does not show in full, each once; nothing where it shows all. Anchors,
/// steps and things of the state that are lost are named one by one.
pub(super) fn warnings(parts: &Parts<'_>, fitted: &Fitted) -> Vec<String> {
    let plan = &fitted.rendered.plan;
    let is_of_text = |code| {
        use WarningCode::{BelowFloor, EmptyResult, NonUtf8Content};
        matches!(code, BelowFloor | EmptyResult | NonUtf8Content)
    };
    let told = plan.warnings.iter().filter(|warning| is_of_text(warning.code));
    let mut warnings: Vec<_> = told.map(|warning| warning.message.clone()).collect();
    warnings.dedup();
    let lost = fidelity::measure(parts.handoff, &fitted.rendered.text).lost;
    warnings.extend(lost.into_iter().map(|lost| format!("left out: {lost}")));
    for (at, name) in &fitted.draft.left {
        match plan.items.get(*at).map(|item| &item.decision) {
            None | Some(RenderDecision::Full) => {}
            Some(decision) if decision.shows_content() => {
                warnings.push(format!("shortened: {name} ({})", decision.name()));
            }
            Some(_) => warnings.push(format!("left out: {name}")),
        }
    }
    warnings
}

//! Kept: the part of the previous text that is unchanged, and the plan's figures for it.

use lcp_driver::prompt_cache::TextReuse;
use lcp_driver::{DecisionReason, Objective, RenderDecision, ValueModel, WarningCode};
use lcp_types::Priority;
use proptest::prelude::*;

use super::laws::is_new;
use super::session::Estimator;
use super::watched::{Turned, is_shown};
use super::{has_warning, stable_of};

type Law = Result<(), TestCaseError>;

/// The prefix ends with the last part. Only the tail follows it.
pub(super) fn prefix(turn: &Turned) -> Law {
    let stable = stable_of(turn.plan());
    let opening = if turn.text().starts_with("<context>\n") { "<context>\n".len() } else { 0 };
    let parts: usize = turn.parts().iter().map(|part| part.len()).sum();
    let end = if parts == 0 { 0 } else { opening + parts };
    prop_assert_eq!(stable.prefix_bytes, end);
    let counted = turn.estimator.count(&turn.text()[..end]);
    prop_assert_eq!(stable.prefix_tokens, counted);
    Ok(())
}

/// The plan's figures for the previous text are right.
pub(super) fn check(turn: &Turned, before: Option<&Turned>) -> Law {
    let stable = stable_of(turn.plan());
    let refused = has_warning(turn.plan(), WarningCode::PreviousRefused);
    let Some(before) = before.filter(|_| !refused) else {
        prop_assert_eq!(stable.reuse, TextReuse::Fresh);
        prop_assert_eq!((stable.kept_bytes, stable.kept_tokens, stable.previous_tokens), (0, 0, 0));
        return Ok(());
    };
    prop_assert!(stable.reuse != TextReuse::Fresh);
    let (parts, old) = (turn.parts(), before.parts());
    let same = parts.iter().zip(&old).take_while(|(part, old)| part == old).count();
    let bytes: usize = parts[..same].iter().map(|part| part.len()).sum();
    let opening = stable.prefix_bytes - parts.iter().map(|part| part.len()).sum::<usize>();
    let bytes = if same == 0 { 0 } else { opening + bytes };
    prop_assert_eq!(stable.kept_bytes, bytes);
    prop_assert_eq!(&turn.text()[..bytes], &before.text()[..bytes]);
    prop_assert_eq!(stable.kept_tokens, turn.estimator.count(&turn.text()[..bytes]));
    prop_assert_eq!(stable.previous_tokens, stable_of(before.plan()).prefix_tokens);
    if stable.reuse == TextReuse::Appended {
        prop_assert_eq!(stable.kept_bytes, stable_of(before.plan()).prefix_bytes);
        appended(turn, before)?;
    }
    Ok(())
}

/// All shown blocks stay as they were, the others wait, and new blocks follow in the order of the
/// pack.
fn appended(turn: &Turned, before: &Turned) -> Law {
    let (plan, was) = (turn.plan(), before.plan());
    let (order, old) = (&stable_of(plan).order, &stable_of(was).order);
    let (kept, new) = order.split_at(old.len());
    for (&now, &then) in kept.iter().zip(old) {
        prop_assert_eq!(plan.items[now].reason, DecisionReason::Unchanged);
        prop_assert_eq!(&plan.items[now].decision, &was.items[then].decision);
    }
    let count = |reason| plan.items.iter().filter(|item| item.reason == reason).count();
    prop_assert_eq!(count(DecisionReason::Unchanged), kept.len());
    prop_assert!(new.is_sorted());
    prop_assert!(new.iter().all(|&i| is_new(plan.items[i].reason)));
    let gone = plan.items.iter().filter(|item| item.reason == DecisionReason::Deferred);
    prop_assert!(gone.clone().all(|item| !is_shown(item)));
    let waited = |i: &usize| before.is_block(*i) && !is_shown(&was.items[*i]);
    let waited = (0..was.items.len()).filter(waited).count();
    prop_assert!(gone.count() <= waited);
    if stable_of(plan).repack_reason.is_none() {
        at_ceilings(turn)?;
    }
    Ok(())
}

/// New blocks are at their ceilings if the text is appended below the high watermark. Shares and
/// counts that do not add up are exceptions.
fn at_ceilings(turn: &Turned) -> Law {
    if turn.config.shares.is_some() || turn.estimator != Estimator::O200k {
        return Ok(());
    }
    let (plan, said) = (turn.plan(), turn.annotated());
    // With other value models, some blocks may be worth nothing.
    if ![Objective::Strict, Objective::Value(ValueModel::default())].contains(&plan.objective) {
        return Ok(());
    }
    // A call with a deferred part also waits if a new plan would not show it.
    let waits = |&at: &usize| plan.items[at].reason == DecisionReason::Deferred;
    let is_held =
        |i: usize| said.groups.iter().any(|group| group.contains(&i) && group.iter().any(waits));
    let new = plan.items.iter().enumerate().filter(|(_, item)| is_new(item.reason));
    for (i, item) in new.filter(|(i, _)| !is_held(*i)) {
        let shown = match said.priorities[i] {
            Priority::Background => true,
            Priority::Low => is_shown(item),
            _ => item.decision == RenderDecision::Full,
        };
        prop_assert!(shown, "new block {}: {:?}", i, item);
    }
    Ok(())
}

//! The laws of RFC 0005 §7 for random sessions.

use std::sync::Arc;

use lcp_driver::parse::{PartKind, parse};
use lcp_driver::prompt_cache::{PreviousPlan, RepackReason, StableOptions, TextReuse};
use lcp_driver::{
    DecisionReason, DriverConfig, OutputMode, Overflow, RenderDecision, Verbosity, WarningCode,
};
use lcp_types::Priority;
use proptest::prelude::*;

use super::session::{Estimator, Pack, Session, any_session};
use super::unchanged;
use super::watched::{Turned, is_shown};
use super::{has_warning, stable_of};

type Law = Result<(), TestCaseError>;

/// Exact and Bounded: counts equal those of the text, and only Critical or pinned blocks exceed the
/// budget.
fn exact_and_bounded(turn: &Turned) -> Law {
    let (plan, text) = (turn.plan(), turn.text());
    prop_assert_eq!(plan.used_tokens, turn.estimator.count(text));
    let blocks: u32 = plan.items.iter().map(|item| item.tokens).sum();
    prop_assert_eq!(blocks + plan.overhead_tokens, plan.used_tokens);
    let alone = turn.afresh(0).plan.used_tokens;
    prop_assert!(plan.used_tokens <= turn.budget().max(alone));
    let over = plan.used_tokens > turn.budget();
    prop_assert_eq!(has_warning(plan, WarningCode::OverBudget), over);
    if over {
        let fixed = |i: &usize| turn.annotated().is_fixed(*i);
        prop_assert!(stable_of(plan).order.iter().all(fixed));
    }
    Ok(())
}

/// Critical and pinned blocks are shown in full, tool calls are complete or missing, and the newest
/// user turn is dropped last.
fn relations(turn: &Turned) -> Law {
    let (plan, said) = (turn.plan(), turn.annotated());
    for (i, item) in plan.items.iter().enumerate().filter(|(i, _)| turn.is_block(*i)) {
        let whole = item.decision == RenderDecision::Full;
        prop_assert!(whole || !said.is_fixed(i), "block {} is {:?}", i, item);
    }
    for group in &said.groups {
        let shown = group.iter().filter(|&&i| is_shown(&plan.items[i])).count();
        prop_assert!(shown == 0 || shown == group.len(), "group {:?} is torn", group);
    }
    // A cap takes precedence, and Low and Background are deliberate.
    let capped = plan.shares.iter().any(|share| share.cap.is_some());
    let waits = |i: &usize| said.priorities[*i] > Priority::Normal;
    if let Some(newest) = said.newest.filter(|i| !capped && !waits(i))
        && !is_shown(&plan.items[newest])
    {
        // Other blocks may be smaller than its placeholder. Then a new plan does not show it
        // either.
        let helps = is_shown(&turn.afresh(turn.budget()).plan.items[newest]);
        prop_assert!(!helps, "the newest user turn is gone");
    }
    Ok(())
}

/// Complete: a block that must be shown is shown or counted in the roll-up line, which counts no
/// other blocks.
fn complete(turn: &Turned) -> Law {
    let (plan, said) = (turn.plan(), turn.annotated());
    let (mut count, mut tokens) = (0, 0);
    let lines = !has_warning(plan, WarningCode::BelowFloor) && plan.overflow_tokens() == 0;
    for (i, item) in plan.items.iter().enumerate() {
        if item.decision == RenderDecision::RolledUp {
            count += 1;
            tokens += u64::from(item.content_tokens);
        }
        if item.decision == RenderDecision::Omit {
            let background = said.priorities[i] == Priority::Background;
            let newest = said.newest == Some(i);
            prop_assert!(background || !lines, "block {} is lost: {:?} {}", i, item, newest);
        }
    }
    let rolled_up = plan.rolled_up.map(|all| (all.count, all.tokens));
    prop_assert_eq!(rolled_up, (count > 0).then_some((count, tokens)));
    if has_warning(plan, WarningCode::BelowFloor) {
        let afresh = turn.afresh(turn.budget()).plan;
        prop_assert!(has_warning(&afresh, WarningCode::BelowFloor));
    }
    Ok(())
}

/// The text has exactly the parts of the plan, in its order and with its decisions. Blocks in full
/// are unchanged from the pack.
fn splits(turn: &Turned) -> Law {
    let (plan, mode) = (turn.plan(), turn.config.mode);
    let whole = DriverConfig { verbosity: Verbosity::Full, stable: None, ..turn.config.clone() };
    let whole = turn.estimator.driver().render(&turn.blocks, &whole).unwrap();
    let whole = parse(&whole, mode).unwrap();
    let place = |i: usize| (0..i).filter(|&i| turn.is_block(i)).count();
    let mut pieces = parse(turn.text(), mode).unwrap().into_iter();
    for &i in &stable_of(plan).order {
        let (item, piece) = (&plan.items[i], pieces.next().unwrap());
        prop_assert_eq!(&piece.block_type, item.block_type.label());
        let whole = &whole[place(i)];
        let as_said = match (&item.decision, piece.kind) {
            (RenderDecision::Full, PartKind::Full) => piece.body == whole.body,
            (
                RenderDecision::Placeholder { omitted_tokens, .. },
                PartKind::Placeholder { tokens },
            ) => u64::from(*omitted_tokens) == tokens,
            (RenderDecision::Detailed, PartKind::Detailed)
            | (RenderDecision::Summary, PartKind::Summary)
            | (RenderDecision::Tags, PartKind::Tags)
            | (RenderDecision::Excerpt(_), PartKind::Excerpt) => true,
            _ => false,
        };
        prop_assert!(as_said, "block {} is {:?}, the text has {:?}", i, item.decision, piece);
    }
    let rest: Vec<_> = pieces.map(|piece| piece.kind).collect();
    let line = plan
        .rolled_up
        .map(|all| PartKind::RolledUp { count: all.count as u64, tokens: all.tokens });
    prop_assert_eq!(rest, line.into_iter().collect::<Vec<_>>());
    let mut shown = stable_of(plan).order.clone();
    shown.sort_unstable();
    let parts: Vec<_> = (0..plan.items.len()).filter(|&i| is_shown(&plan.items[i])).collect();
    prop_assert_eq!(shown, parts);
    Ok(())
}

/// A plan is plain data, and rendering it needs nothing else.
fn plain(turn: &Turned) -> Law {
    let driver = turn.estimator.driver();
    prop_assert_eq!(&driver.render_plan(&turn.blocks, turn.plan()).unwrap(), turn.text());
    prop_assert_eq!(&driver.plan(&turn.blocks, &turn.config).unwrap(), turn.plan());
    let next = &stable_of(turn.plan()).next_plan;
    prop_assert_eq!(&PreviousPlan::from_json(&next.to_json()).unwrap(), next);
    Ok(())
}

/// With `Overflow::Deny`, the plan is the same, or there is an error if it overflows.
fn denied(turn: &Turned) -> Law {
    let config = DriverConfig { overflow: Overflow::Deny, ..turn.config.clone() };
    let denied = turn.estimator.driver().run(&turn.blocks, &config).ok();
    let over = |code| has_warning(turn.plan(), code);
    let is_over = over(WarningCode::OverBudget) || over(WarningCode::OverShareCap);
    prop_assert_eq!(denied.as_ref(), (!is_over).then_some(&turn.rendered));
    Ok(())
}

/// Watermarks bound the size of a text.
fn marks(turn: &Turned) -> Law {
    let (plan, stable) = (turn.plan(), stable_of(turn.plan()));
    let watermarks = turn.config.stable.as_ref().unwrap().watermarks;
    prop_assert_eq!((stable.high_tokens, stable.low_tokens), watermarks.tokens(turn.budget()));
    let above = has_warning(plan, WarningCode::AboveWatermark);
    match (stable.reuse, stable.repack_reason) {
        (TextReuse::Appended, None) => {
            prop_assert!(!above && plan.used_tokens <= stable.high_tokens);
        }
        (
            TextReuse::Appended,
            Some(RepackReason::CriticalAboveLow | RepackReason::TurnAboveGap),
        ) => {
            prop_assert!(plan.used_tokens <= turn.budget());
            prop_assert_eq!(above, plan.used_tokens > stable.high_tokens);
        }
        (TextReuse::Fresh, None)
        | (
            TextReuse::Repacked,
            Some(
                RepackReason::HighWatermark
                | RepackReason::BecameCritical
                | RepackReason::NewestUserTurn
                | RepackReason::SplitToolCall,
            ),
        ) => {
            prop_assert!(!above);
        }
        other => prop_assert!(false, "{:?}", other),
    }
    if stable.reuse != TextReuse::Appended {
        packed(turn)?;
    }
    Ok(())
}

/// A repacked text equals that of a new plan without the previous one, with one of the budgets of
/// RFC 0005 §6.
fn packed(turn: &Turned) -> Law {
    let (plan, stable, budget) = (turn.plan(), stable_of(turn.plan()), turn.budget());
    let xml = turn.config.mode == OutputMode::Xml;
    let envelope = if xml { turn.estimator.count("<context>\n</context>\n") } else { 0 };
    let fixed = turn.afresh(0).plan.used_tokens.max(envelope);
    let low = turn.afresh(stable.low_tokens);
    if low.text == turn.text() || turn.afresh(stable.high_tokens).text == turn.text() {
        return Ok(());
    }
    let said = turn.annotated();
    let is_first = |i: &usize| !said.is_fixed(*i) && said.priorities[*i] <= Priority::Normal;
    let question = said.newest.filter(is_first).map_or(0, |i| plan.items[i].full_tokens);
    let fixed = fixed + question;
    let middle = u32::midpoint(fixed, budget).min(budget);
    if turn.estimator != Estimator::O200k {
        // The middle budget depends on the sum of parts, which a count of the text does not give.
        return Ok(());
    }
    if fixed >= stable.low_tokens && turn.afresh(middle).text == turn.text() {
        return Ok(());
    }
    prop_assert_eq!(&turn.afresh(budget).text, turn.text());
    // This is only allowed if something is missing that must be shown.
    let lacks = |i: usize| low.plan.items[i].decision != RenderDecision::Full;
    let codes = [WarningCode::OverBudget, WarningCode::BelowFloor, WarningCode::EmptyResult];
    let is_short = codes.iter().any(|code| has_warning(&low.plan, *code));
    prop_assert!(
        is_short || said.newest.is_some_and(lacks) || fixed >= stable.low_tokens,
        "{} of {} tokens, packed to the whole budget: {:?}",
        plan.used_tokens,
        budget,
        stable
    );
    Ok(())
}

/// A turn without changes keeps the text, if counts of parts add up.
fn stands_still(turn: &Turned) -> Law {
    if turn.estimator != Estimator::O200k {
        return Ok(());
    }
    let (plan, said) = (turn.plan(), turn.annotated());
    let stable = stable_of(plan);
    let gone = |i: usize| !is_shown(&plan.items[i]);
    let shows = plan.items.iter().any(|item| item.decision.has_content());
    let is_short = has_warning(plan, WarningCode::BelowFloor) || !shows;
    let above = plan.used_tokens > stable.high_tokens;
    let is_due = above && stable.repack_reason != Some(RepackReason::CriticalAboveLow);
    if is_due || is_short || said.newest.is_some_and(gone) {
        return Ok(());
    }
    let watermarks = turn.config.stable.as_ref().unwrap().watermarks;
    let previous = Some(Arc::new(stable.next_plan.clone()));
    let again = DriverConfig {
        stable: Some(StableOptions { watermarks, previous }),
        ..turn.config.clone()
    };
    let again = turn.estimator.driver().run(&turn.blocks, &again).unwrap();
    let (now, cause) = (stable_of(&again.plan).reuse, stable_of(&again.plan).repack_reason);
    prop_assert_eq!(now, TextReuse::Appended, "{:?}: {}", cause, turn.text());
    prop_assert_eq!(&again.text, turn.text());
    prop_assert_eq!(&stable_of(&again.plan).next_plan.to_json(), &stable.next_plan.to_json());
    Ok(())
}

fn check(session: &Session) -> Law {
    let whole = session.full_tokens();
    let mut settings = &session.settings;
    let mut pack = Pack::default();
    let mut before: Option<Turned> = None;
    for (ops, other) in &session.turns {
        pack.apply(ops);
        settings = other.as_ref().unwrap_or(settings);
        let previous = before.as_ref().map(|before| {
            let json = stable_of(before.plan()).next_plan.to_json();
            Arc::new(PreviousPlan::from_json(&json).unwrap())
        });
        let stable = Some(StableOptions { watermarks: settings.watermarks, previous });
        let config = DriverConfig { stable, ..settings.config(whole) };
        let blocks = pack.blocks();
        let rendered = session.estimator.driver().run(&blocks, &config).unwrap();
        let turn = Turned { estimator: session.estimator, blocks, config, rendered };
        exact_and_bounded(&turn)?;
        relations(&turn)?;
        complete(&turn)?;
        splits(&turn)?;
        plain(&turn)?;
        denied(&turn)?;
        marks(&turn)?;
        unchanged::prefix(&turn)?;
        unchanged::check(&turn, before.as_ref())?;
        stands_still(&turn)?;
        before = Some(turn);
    }
    Ok(())
}

/// Returns whether a block with this reason is new in an appended turn.
pub(super) fn is_new(reason: DecisionReason) -> bool {
    !matches!(
        reason,
        DecisionReason::Unchanged
            | DecisionReason::Deferred
            | DecisionReason::Metadata
            | DecisionReason::Filtered
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn stable_text_laws_hold_in_every_turn(session in any_session()) {
        check(&session)?;
    }
}

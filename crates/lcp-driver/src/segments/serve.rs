//! Spends a budget on segments, turn by turn, from a ledger of the budget
//! engine: nothing that is not in it is ever spent.

use lcp_types::Priority;

use super::choices::Choices;
use super::turns::{Group, Turn};
use crate::allocate::{BudgetLedger, Candidate, Eligibility, Selection};
use crate::fixed_point::BILLION;

/// What is in force of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// It is not known yet.
    New,
    /// It is omitted.
    Nothing,
    /// This choice of it is shown.
    Form(usize),
}

/// What every segment gets, and the tokens that are left.
pub(super) struct Served {
    chosen: Vec<Option<Selection>>,
    pub(super) left: u64,
}

impl Served {
    /// The choice for segment `at`.
    pub(super) fn choice(&self, at: usize, forms: &Choices) -> Option<usize> {
        match self.chosen[at] {
            Some(Selection::Level(choice)) => Some(choice),
            // What costs nothing is shown without being paid for.
            _ => (forms.get(forms.last()).1 == 0).then_some(forms.last()),
        }
    }
}

/// Serves all segments; `lifting` is the part of what is left that lifts the
/// new ones, in billionths.
pub(super) fn serve(
    choices: &[Choices],
    turns: &[Turn],
    held: &[Held],
    budget: u32,
    lifting: u64,
) -> Served {
    let items: Vec<_> = choices.iter().map(item).collect();
    let lowest = |turn: &Turn| items[turn.at].costs.len();
    let lifted = || turns.iter().filter(|turn| turn.group > Group::Recent);
    let mut ledger =
        BudgetLedger::new(&items, &[], &[], vec![None; items.len()], u64::from(budget));
    // What is in force limits what comes behind the first two groups: nobody
    // moves up while others might have to move down.
    take_turns(&mut ledger, turns, &items, |turn| match held[turn.at] {
        Held::Form(choice) if turn.group > Group::Recent => Some(choice.max(turn.target)),
        Held::Nothing if turn.group > Group::Recent => None,
        _ => Some(turn.target),
    });
    for turn in turns.iter().filter(|turn| turn.group == Group::Recent) {
        ledger.upgrade(turn.at, 0, lowest(turn));
    }
    for turn in lifted() {
        if let Held::Form(choice) = held[turn.at] {
            ledger.upgrade(turn.at, choice, lowest(turn));
        }
    }
    take_turns(&mut ledger, turns, &items, |turn| Some(turn.target));
    let (chosen, left) = ledger.into_parts();
    let part = left * lifting / BILLION;
    let mut ledger = BudgetLedger::new(&items, &[], &[], chosen, part);
    for turn in lifted().filter(|turn| matches!(held[turn.at], Held::New)) {
        ledger.upgrade(turn.at, 0, lowest(turn));
    }
    let (chosen, rest) = ledger.into_parts();
    Served { chosen, left: left - part + rest }
}

/// Serves each group in turn, every segment up to the choice that `ceiling`
/// gives it.
fn take_turns(
    ledger: &mut BudgetLedger<'_>,
    turns: &[Turn],
    items: &[Candidate],
    ceiling: impl Fn(&Turn) -> Option<usize>,
) {
    for group in turns.chunk_by(|a, b| a.group == b.group) {
        let limited = || group.iter().filter_map(|turn| Some((turn, ceiling(turn)?)));
        for (turn, ceiling) in limited().filter(|(turn, _)| turn.group.is_thinned()) {
            let forms = items[turn.at].costs.len();
            ledger.upgrade(turn.at, ceiling.max(items[turn.at].content_levels), forms);
        }
        for (turn, ceiling) in limited() {
            ledger.upgrade(turn.at, ceiling, items[turn.at].costs.len());
        }
    }
}

/// A segment, as the ledger sees it. All segments compete for the whole, in the
/// order of their turns.
fn item(forms: &Choices) -> Candidate {
    Candidate {
        priority: Priority::Normal,
        rank: None,
        costs: forms.costs().map(u64::from).collect(),
        ceiling: 0,
        content_levels: forms.telling(),
        may_grow: false,
        may_be_cut: false,
        share: 0,
        group: None,
        eligibility: Eligibility::Competes,
    }
}

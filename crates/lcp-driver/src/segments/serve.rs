//! Spends a budget on segments, turn by turn, from the purse of the budget
//! engine: nothing that is not in it is ever spent.

use lcp_types::Priority;

use super::choices::Choices;
use super::turns::{Group, Turn};
use crate::budget::walk::{Choice, Item, Purse, Standing};
use crate::ratio::BILLION;

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
    chosen: Vec<Option<Choice>>,
    pub(super) left: u64,
}

impl Served {
    /// The choice for segment `at`.
    pub(super) fn choice(&self, at: usize, forms: &Choices) -> Option<usize> {
        match self.chosen[at] {
            Some(Choice::Detail(choice)) => Some(choice),
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
    let mut purse = Purse::new(&items, &[], &[], vec![None; items.len()], u64::from(budget));
    // What is in force limits what comes behind the first two groups: nobody
    // moves up while others might have to move down.
    take_turns(&mut purse, turns, &items, |turn| match held[turn.at] {
        Held::Form(choice) if turn.group > Group::Recent => Some(choice.max(turn.target)),
        Held::Nothing if turn.group > Group::Recent => None,
        _ => Some(turn.target),
    });
    for turn in turns.iter().filter(|turn| turn.group == Group::Recent) {
        purse.step(turn.at, 0, lowest(turn));
    }
    for turn in lifted() {
        if let Held::Form(choice) = held[turn.at] {
            purse.step(turn.at, choice, lowest(turn));
        }
    }
    take_turns(&mut purse, turns, &items, |turn| Some(turn.target));
    let (chosen, left) = purse.close();
    let part = left * lifting / BILLION;
    let mut purse = Purse::new(&items, &[], &[], chosen, part);
    for turn in lifted().filter(|turn| matches!(held[turn.at], Held::New)) {
        purse.step(turn.at, 0, lowest(turn));
    }
    let (chosen, rest) = purse.close();
    Served { chosen, left: left - part + rest }
}

/// Serves each group in turn, every segment up to the choice that `ceiling`
/// gives it.
fn take_turns(
    purse: &mut Purse<'_>,
    turns: &[Turn],
    items: &[Item],
    ceiling: impl Fn(&Turn) -> Option<usize>,
) {
    for group in turns.chunk_by(|a, b| a.group == b.group) {
        let limited = || group.iter().filter_map(|turn| Some((turn, ceiling(turn)?)));
        for (turn, ceiling) in limited().filter(|(turn, _)| turn.group.is_thinned()) {
            let forms = items[turn.at].costs.len();
            purse.step(turn.at, ceiling.max(items[turn.at].telling), forms);
        }
        for (turn, ceiling) in limited() {
            purse.step(turn.at, ceiling, items[turn.at].costs.len());
        }
    }
}

/// A segment, as the purse sees it. All segments compete for the whole, in the
/// order of their turns.
fn item(forms: &Choices) -> Item {
    Item {
        priority: Priority::Normal,
        rank: None,
        costs: forms.costs().map(u64::from).collect(),
        ceiling: 0,
        telling: forms.telling(),
        may_grow: false,
        may_be_cut: false,
        share: 0,
        group: None,
        standing: Standing::Free,
    }
}

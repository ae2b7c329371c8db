//! What is left of a budget while it is spent, as a whole and by share.

use super::{Choice, Cut, Item, ShareTerms, Standing};

/// The rest of a budget, and what it bought.
///
/// While grants are in force each block is paid from that of its share;
/// otherwise from what is left of the whole. Caps hold in both.
pub(crate) struct Purse<'w> {
    pub(super) items: &'w [Item],
    groups: &'w [Vec<usize>],
    pub(super) chosen: Vec<Option<Choice>>,
    left: u64,
    /// What each share's grant has left, while grants are in force.
    granted: Option<Vec<u64>>,
    /// What each share has spent, and its cap; empty without shares.
    spent: Vec<u64>,
    caps: Vec<u64>,
}

impl<'w> Purse<'w> {
    /// A purse with `left` tokens, besides what is chosen already.
    pub(crate) fn new(
        items: &'w [Item],
        shares: &[ShareTerms],
        groups: &'w [Vec<usize>],
        chosen: Vec<Option<Choice>>,
        left: u64,
    ) -> Self {
        let mut spent = vec![0; shares.len()];
        if !shares.is_empty() {
            for (item, chosen) in items.iter().zip(&chosen) {
                spent[item.share] += chosen.map_or(0, |choice| choice.cost(item));
            }
        }
        let caps = shares.iter().map(|share| share.cap).collect();
        Self { items, groups, chosen, left, granted: None, spent, caps }
    }

    /// What each share has spent.
    pub(crate) fn spent(&self) -> &[u64] {
        &self.spent
    }

    /// From now on each share spends its own: `grants`, what it has spent
    /// already included.
    pub(crate) fn grant(&mut self, grants: &[u64]) {
        let left =
            grants.iter().zip(&self.spent).map(|(grant, spent)| grant.saturating_sub(*spent));
        self.granted = Some(left.collect());
    }

    /// From now on all spend what is left of the whole.
    pub(crate) fn pool(&mut self) {
        self.granted = None;
    }

    /// What block `i` can cost at most.
    pub(crate) fn most(&self, i: usize) -> u64 {
        self.affordable(i).map_or(0, |affordable| self.paid(i) + affordable)
    }

    /// What block `i` has.
    pub(crate) fn chosen(&self, i: usize) -> Option<Choice> {
        self.chosen[i]
    }

    pub(crate) fn close(self) -> (Vec<Option<Choice>>, u64) {
        (self.chosen, self.left)
    }

    /// What block `i` can pay besides what it has paid; `None` where it cannot
    /// be shown at all, since it cannot pay for the lines of its group.
    fn affordable(&self, i: usize) -> Option<u64> {
        if self.companions(i).next().is_some() {
            return self.affordable_with_companions(i);
        }
        let left = self.share_left(self.items[i].share);
        Some(left.min(self.left))
    }

    /// What a share has left.
    fn share_left(&self, share: usize) -> u64 {
        if self.spent.is_empty() {
            return self.left;
        }
        let granted = self.granted.as_ref().map_or(self.left, |left| left[share]);
        granted.min(self.caps[share].saturating_sub(self.spent[share]))
    }

    fn affordable_with_companions(&self, i: usize) -> Option<u64> {
        let mut left = self.left;
        let own = self.items[i].share;
        let mut own_left = self.share_left(own);
        let mut others: Vec<(usize, u64)> = Vec::new();
        for companion in self.companions(i) {
            let item = &self.items[companion];
            if item.standing == Standing::Out {
                return None;
            }
            let line = item.costs[item.lowest()];
            left = left.checked_sub(line)?;
            if self.spent.is_empty() || item.share == own {
                own_left = own_left.checked_sub(line)?;
                continue;
            }
            let known = others.iter().position(|(share, _)| *share == item.share);
            let at = known.unwrap_or_else(|| {
                others.push((item.share, self.share_left(item.share)));
                others.len() - 1
            });
            others[at].1 = others[at].1.checked_sub(line)?;
        }
        Some(left.min(own_left))
    }

    /// The others of its group, if showing block `i` would bring them along.
    fn companions(&self, i: usize) -> impl Iterator<Item = usize> {
        let group = self.items[i].group.filter(|_| self.chosen[i].is_none());
        let members = group.and_then(|group| self.groups.get(group)).map_or(&[][..], Vec::as_slice);
        members.iter().copied().filter(move |&at| at != i && self.chosen[at].is_none())
    }

    /// Whether the cap of its share keeps block `i` from having more, whatever
    /// the budget.
    pub(super) fn is_capped(&self, i: usize) -> bool {
        let Some(share) = self.caps.get(self.items[i].share) else { return false };
        let (item, paid) = (&self.items[i], self.paid(i));
        let more = item.costs[item.ceiling..].iter().rev().find(|cost| **cost > paid);
        let under_cap = share.saturating_sub(self.spent[item.share]);
        more.is_some_and(|cost| cost - paid > under_cap)
    }

    fn paid(&self, i: usize) -> u64 {
        self.chosen[i].map_or(0, |choice| choice.cost(&self.items[i]))
    }

    fn choose(&mut self, i: usize, choice: Choice) {
        if self.items[i].group.is_some() {
            let companions: Vec<_> = self.companions(i).collect();
            for companion in companions {
                self.pay(companion, Choice::Detail(self.items[companion].lowest()));
            }
        }
        self.pay(i, choice);
    }

    fn pay(&mut self, i: usize, choice: Choice) {
        let extra = choice.cost(&self.items[i]) - self.paid(i);
        self.left -= extra;
        if !self.spent.is_empty() {
            let share = self.items[i].share;
            self.spent[share] += extra;
            if let Some(granted) = &mut self.granted {
                granted[share] -= extra;
            }
        }
        self.chosen[i] = Some(choice);
    }

    /// Gives block `i` the fullest detail from `ceiling` to below `floor` that
    /// is better than what it has and whose extra cost can be paid.
    pub(crate) fn step(&mut self, i: usize, ceiling: usize, floor: usize) {
        let Some(affordable) = self.affordable(i) else { return };
        let paid = self.paid(i);
        let costs = &self.items[i].costs;
        // A part of the content is more than any line about it.
        let cut = matches!(self.chosen[i], Some(Choice::Excerpt { .. }));
        let floor = if cut { floor.min(self.items[i].telling) } else { floor };
        // Costs fall strictly, so what is better costs more.
        let better = (ceiling..floor).take_while(|&detail| costs[detail] > paid);
        let mut fitting = better.filter(|&detail| costs[detail] - paid <= affordable);
        if let Some(detail) = fitting.next() {
            self.choose(i, Choice::Detail(detail));
        }
    }

    /// Shows a part of block `i`, or a larger one, if nothing whole of it is
    /// shown: the largest that can be paid and costs `most` at most, and more
    /// than `least`.
    pub(crate) fn excerpt(&mut self, i: usize, least: u64, most: u64, cutter: &mut dyn Cut) {
        let item = &self.items[i];
        let has = match self.chosen[i] {
            Some(Choice::Detail(detail)) if detail < item.telling => return,
            Some(Choice::Excerpt { most, .. }) => most,
            _ => 0,
        };
        if !item.may_be_cut {
            return;
        }
        let Some(affordable) = self.affordable(i) else { return };
        let paid = self.paid(i);
        // What costs no less than the whole is no excerpt.
        let limit = (paid + affordable).min(most).min(item.costs[0].saturating_sub(1));
        let Some(rung) = rung(limit).filter(|rung| *rung > has.max(paid).max(least)) else {
            return;
        };
        if let Some(cost) = cutter.cut(i, rung).filter(|cost| *cost > paid.max(least)) {
            self.choose(i, Choice::Excerpt { most: rung, cost });
        }
    }
}

/// The steps between a power of two and the next.
const RUNGS: u32 = 32;

/// What the smallest excerpt may cost: the lowest rung.
pub(crate) const EXCERPT_MIN: u64 = RUNGS as u64;

/// The highest rung of the ladder of sizes that is not above `limit`.
///
/// The rungs are `m · 2^k` for m from 32 to 63: none is more than a 32nd above
/// the one before.
pub(crate) fn rung(limit: u64) -> Option<u64> {
    let bits = limit.checked_ilog2()?.checked_sub(RUNGS.ilog2())?;
    Some(limit >> bits << bits)
}

//! Which share of the budget pays for which block (RFC 0004 §3 and §4).

use std::collections::BTreeMap;

use lcp_types::Priority;

use super::decide::Decided;
use super::scan::{Scan, is_rest};
use crate::budget::walk::{Allocation, Item, ShareTerms};
use crate::config::Overflow;
use crate::error::DriverError;
use crate::plan::{PlanItem, ShareUse};
use crate::view;
use crate::warning::{Warning, WarningCode};

/// The shares of a budget, and the items of a scan with the share of each.
pub(super) struct Sharing {
    pub(super) items: Vec<Item>,
    /// The shares in their order, then one for what belongs to none; empty
    /// where the budget is not shared.
    pub(super) terms: Vec<ShareTerms>,
    names: Vec<String>,
}

impl Sharing {
    /// No shares: all blocks compete for the whole.
    pub(super) fn none(scan: &Scan<'_, '_>) -> Self {
        Self { items: scan.items.clone(), terms: Vec::new(), names: Vec::new() }
    }

    pub(super) fn new(scan: &Scan<'_, '_>, budget: u32, warnings: &mut Vec<Warning>) -> Self {
        let mut sharing = Self::none(scan);
        let Some(shares) = &scan.config.shares else {
            return sharing;
        };
        let divided = shares.divide(budget);
        if let Some(note) = divided.note() {
            warnings.push(Warning::new(WarningCode::SharesNormalised, None, note.to_string()));
        }
        for share in shares.as_slice() {
            let own = divided.tokens(&share.name).unwrap_or_default();
            let cap = share.cap.map_or(u64::MAX, u64::from);
            sharing.terms.push(ShareTerms { own, cap });
            sharing.names.push(share.name.clone());
        }
        sharing.terms.push(ShareTerms { own: 0, cap: u64::MAX });
        sharing.names.push(String::new());
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        for ((i, _), item) in scan.shown.iter().zip(&mut sharing.items) {
            let category = scan.category(*i);
            item.share = shares.index_of(&category).unwrap_or_else(|| {
                *unknown.entry(category).or_default() += 1;
                shares.as_slice().len()
            });
        }
        for (category, blocks) in unknown {
            let message = format!(
                "category {category:?} has no share: its blocks ({blocks}) use what others leave"
            );
            warnings.push(Warning::new(WarningCode::UnknownCategory, None, message));
        }
        sharing
    }

    /// What the cap of each share leaves of it; none without shares.
    pub(super) fn cap_left(&self, allocation: &Allocation) -> Vec<u64> {
        let mut left: Vec<_> = self.terms.iter().map(|share| share.cap).collect();
        for (item, choice) in self.items.iter().zip(&allocation.chosen) {
            if let Some(left) = left.get_mut(item.share).filter(|left| **left < u64::MAX) {
                *left = left.saturating_sub(choice.map_or(0, |choice| choice.cost(item)));
            }
        }
        left
    }

    /// What became of the shares, given what became of the blocks; `shown` are
    /// the blocks of the items.
    pub(super) fn uses(&self, shown: &[usize], plan: &[PlanItem], fill: bool) -> Vec<ShareUse> {
        let mut uses: Vec<ShareUse> = self
            .terms
            .iter()
            .zip(&self.names)
            .map(|(share, name)| ShareUse {
                name: name.clone(),
                tokens: share.own,
                cap: u32::try_from(share.cap).ok(),
                wanted: 0,
                used: 0,
                blocks: 0,
            })
            .collect();
        for (item, i) in self.items.iter().zip(shown) {
            if let Some(share) = uses.get_mut(item.share) {
                share.wanted += wanted(item, fill);
                share.used = share.used.saturating_add(plan[*i].tokens);
                share.blocks += 1;
            }
        }
        uses.retain(|share| !share.name.is_empty() || share.blocks > 0);
        uses
    }
}

/// What an item would cost with all that it may have.
pub(super) fn wanted(item: &Item, fill: bool) -> u64 {
    if is_rest(item) || item.priority == Priority::Critical || fill {
        item.costs[item.ceiling]
    } else {
        0
    }
}

impl Scan<'_, '_> {
    /// The category of a block: its tag, else by its type and role the first
    /// that is a share.
    pub(super) fn category(&self, i: usize) -> String {
        if let Some(category) = &self.metas[i].category {
            return category.to_string();
        }
        let defaults = view::default_categories(&self.blocks[i].content);
        let shares = self.config.shares.as_ref();
        let is_share = |name: &&&str| shares.is_some_and(|shares| shares.index_of(name).is_some());
        let category = defaults.iter().find(is_share).or(defaults.first());
        category.copied().unwrap_or_default().to_owned()
    }

    /// Critical blocks are shown whatever the cap of their share is.
    pub(super) fn warn_of_caps(
        &self,
        decided: &[Decided],
        sharing: &Sharing,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), DriverError> {
        let mut used = vec![0u64; sharing.terms.len()];
        for ((i, _), item) in self.shown.iter().zip(&sharing.items) {
            if let Some(used) = used.get_mut(item.share) {
                *used += u64::from(decided[*i].2);
            }
        }
        for ((share, name), used) in sharing.terms.iter().zip(&sharing.names).zip(used) {
            let Some(cap) = u32::try_from(share.cap).ok().filter(|cap| used > u64::from(*cap))
            else {
                continue;
            };
            let excess = used - u64::from(cap);
            if self.config.overflow == Overflow::Deny {
                return Err(DriverError::OverShareCap {
                    share: name.clone(),
                    needed: used,
                    cap,
                    excess,
                });
            }
            let message = format!(
                "the critical blocks of share {name:?} have {used} tokens, {excess} over its cap of {cap}"
            );
            warnings.push(Warning::new(WarningCode::OverShareCap, None, message));
        }
        Ok(())
    }
}

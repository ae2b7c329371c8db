//! Which share of the budget pays for which block (RFC 0004 §3 and §4).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lcp_types::{Block, BlockMeta, Priority, escape_for_display};

use super::scan::Scan;
use crate::block_view;
use crate::budget::walk::{Allocation, Item, ShareTerms};
use crate::config::Overflow;
use crate::error::DriverError;
use crate::plan::{PlanItem, ShareUsage};
use crate::shares::Shares;
use crate::warning::{Warning, WarningCode};

/// The shares of a budget.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// The shares in their order, then one for what belongs to none; empty
    /// where the budget is not shared.
    pub(super) terms: Vec<ShareTerms>,
    /// Their names and caps, as they were asked for.
    names: Vec<(String, Option<u32>)>,
}

impl Sharing {
    pub(super) fn new(scan: &Scan<'_, '_>, budget: u32, warnings: &mut Vec<Warning>) -> Self {
        let mut sharing = Self::default();
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
            sharing.terms.push(ShareTerms { own, weight: own, cap });
            sharing.names.push((share.name.clone(), share.cap));
        }
        // What belongs to no share borrows like one of middling size: a few
        // turns of a chat must not give way to the last of many files.
        let all: u64 = sharing.terms.iter().map(|share| u64::from(share.own)).sum();
        let mean = all / (sharing.terms.len() as u64).max(1);
        let weight = u32::try_from(mean).unwrap_or(u32::MAX).max(1);
        sharing.terms.push(ShareTerms { own: 0, weight, cap: u64::MAX });
        sharing.names.push((String::new(), None));
        let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
        for ((i, _), item) in scan.shown.iter().zip(&scan.items) {
            if item.share == shares.as_slice().len() {
                *unknown.entry(&scan.categories[*i]).or_default() += 1;
            }
        }
        for (category, blocks) in unknown {
            let message = format!(
                "category {} has no share: its blocks ({blocks}) use what others leave",
                escape_for_display(category.as_bytes()),
            );
            warnings.push(Warning::new(WarningCode::UnknownCategory, None, message));
        }
        sharing
    }

    /// What the cap of each share leaves of it; none without shares.
    pub(super) fn cap_left(&self, items: &[Item], allocation: &Allocation) -> Vec<u64> {
        let mut left: Vec<_> = self.terms.iter().map(|share| share.cap).collect();
        for (item, choice) in items.iter().zip(&allocation.chosen) {
            if let Some(left) = left.get_mut(item.share).filter(|left| **left < u64::MAX) {
                *left = left.saturating_sub(choice.map_or(0, |choice| choice.cost(item)));
            }
        }
        left
    }

    /// What all items would cost with all that they may have, under the caps;
    /// `line` is paid for what those keep out.
    pub(super) fn wanted(&self, items: &[Item], fill: bool, line: u64) -> u64 {
        if self.terms.is_empty() {
            return items.iter().map(|item| wanted(item, fill)).sum();
        }
        let mut shares = vec![(0u64, 0u64); self.terms.len()];
        for item in items {
            let (all, critical) = &mut shares[item.share];
            *all += wanted(item, fill);
            if item.is_fixed() {
                *critical += item.costs[0];
            }
        }
        let caps = self.names.iter().map(|(_, cap)| cap.map_or(u64::MAX, u64::from));
        let all: u64 = shares.iter().map(|(all, _)| *all).sum();
        let under_caps: u64 = shares
            .iter()
            .zip(caps)
            .map(|((all, critical), cap)| *all.min(&cap.max(*critical)))
            .sum();
        under_caps + if under_caps < all { line } else { 0 }
    }

    /// What each share exceeds its cap by where that is not for its Critical
    /// blocks, which counts of parts that do not add up can bring about;
    /// `tokens` are those of the items.
    pub(super) fn excess(&self, items: &[Item], tokens: &[u32]) -> Vec<u64> {
        let (mut used, mut critical) = (vec![0; self.terms.len()], vec![0; self.terms.len()]);
        for (item, tokens) in items.iter().zip(tokens) {
            let of = if item.priority == Priority::Critical { &mut critical } else { &mut used };
            if let Some(of) = of.get_mut(item.share) {
                *of += u64::from(*tokens);
            }
        }
        let over = |(((_, cap), used), critical): ((&(String, Option<u32>), u64), u64)| {
            let cap = cap.map_or(u64::MAX, u64::from);
            // Without other blocks there is nothing to take back.
            (critical + used).saturating_sub(cap).min(used)
        };
        self.names.iter().zip(used).zip(critical).map(over).collect()
    }

    /// Lowers caps, for a plan that is made anew.
    pub(super) fn lower_caps(&mut self, by: &[u64]) {
        for (share, by) in self.terms.iter_mut().zip(by) {
            share.cap = share.cap.saturating_sub(*by);
        }
    }

    /// What became of the shares, given what became of the blocks.
    pub(super) fn uses(&self, scan: &Scan<'_, '_>, plan: &[PlanItem]) -> Vec<ShareUsage> {
        let mut uses: Vec<ShareUsage> = self
            .terms
            .iter()
            .zip(&self.names)
            .map(|(share, (name, cap))| ShareUsage {
                name: name.clone(),
                tokens: share.own,
                cap: *cap,
                wanted: 0,
                used: 0,
                blocks: 0,
            })
            .collect();
        for (item, (i, _)) in scan.items.iter().zip(&scan.shown) {
            if let Some(share) = uses.get_mut(item.share) {
                share.wanted += wanted(item, scan.config.fill);
                share.used = share.used.saturating_add(plan[*i].tokens);
                share.blocks += 1;
            }
        }
        uses.retain(|share| !share.name.is_empty() || share.blocks > 0);
        uses
    }
}

/// The category of each block: its tag, else by its type and role the first
/// that is a share.
pub(super) fn categories(
    blocks: &[Block<'_>],
    metas: &[BlockMeta<'_>],
    shares: Option<&Shares>,
) -> Vec<Arc<str>> {
    // Of many blocks few have a name of their own.
    let mut known: HashMap<&str, Arc<str>> = HashMap::new();
    let mut categories = Vec::with_capacity(blocks.len());
    for (block, meta) in blocks.iter().zip(metas) {
        let name = meta.category.as_deref().unwrap_or_else(|| {
            let defaults = block_view::default_categories(&block.content);
            let is_share = |name: &&&str| shares.is_some_and(|all| all.index_of(name).is_some());
            defaults.iter().find(is_share).or(defaults.first()).copied().unwrap_or_default()
        });
        categories.push(Arc::clone(known.entry(name).or_insert_with(|| name.into())));
    }
    categories
}

/// Warns of the shares whose Critical blocks, which are shown in any case,
/// exceed their caps.
pub(super) fn warn_of_caps(
    uses: &[ShareUsage],
    overflow: Overflow,
    warnings: &mut Vec<Warning>,
) -> Result<(), DriverError> {
    for share in uses {
        let Some(cap) = share.cap.filter(|cap| share.used > *cap) else { continue };
        let (name, needed) = (share.name.clone(), u64::from(share.used));
        let excess = needed - u64::from(cap);
        if overflow == Overflow::Deny {
            return Err(DriverError::OverShareCap { share: name, needed, cap, excess });
        }
        let message = format!(
            "the critical and pinned blocks of share {name:?} have {needed} tokens, {excess} over its cap of {cap}"
        );
        warnings.push(Warning::new(WarningCode::OverShareCap, None, message));
    }
    Ok(())
}

/// What an item would cost with all that it may have. A Background block may
/// have what is left, and wants nothing but under `fill`.
pub(super) fn wanted(item: &Item, fill: bool) -> u64 {
    match item.priority {
        Priority::Background if !fill => 0,
        _ if item.may_grow => item.costs[0],
        _ => item.costs[item.ceiling],
    }
}

impl Scan<'_, '_> {
    /// The share of a block: an index, behind the last for a category that has
    /// none; 0 where there are no shares.
    pub(super) fn share(&self, i: usize) -> usize {
        self.config.shares.as_ref().map_or(0, |shares| {
            shares.index_of(&self.categories[i]).unwrap_or(shares.as_slice().len())
        })
    }
}

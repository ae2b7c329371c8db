//! A turn of a session, and its properties, derived without the engine.

use std::borrow::Cow;
use std::collections::HashMap;

use lcp_driver::{
    DriverConfig, OutputMode, Plan, PlanItem, RenderDecision, Rendered, resolve_priorities,
};
use lcp_types::{AnnotationKind, Block, BlockContent, Priority, Role, Tag};

use super::session::Estimator;
use super::stable_of;

/// A turn with its result.
pub(super) struct Turned {
    pub(super) estimator: Estimator,
    pub(super) blocks: Vec<Block<'static>>,
    pub(super) config: DriverConfig,
    pub(super) rendered: Rendered,
}

/// The properties of the blocks of a pack (RFC 0005 §5).
pub(super) struct Annotated {
    /// The priorities, including those that groups pass on.
    pub(super) priorities: Vec<Priority>,
    pub(super) pinned: Vec<bool>,
    pub(super) groups: Vec<Vec<usize>>,
    /// The index of the newest user turn.
    pub(super) newest: Option<usize>,
}

impl Turned {
    pub(super) fn plan(&self) -> &Plan {
        &self.rendered.plan
    }

    pub(super) fn text(&self) -> &str {
        &self.rendered.text
    }

    pub(super) fn budget(&self) -> u32 {
        self.config.token_budget.unwrap()
    }

    /// Renders the same blocks and settings without a previous text.
    pub(super) fn afresh(&self, budget: u32) -> Rendered {
        let token_budget = Some(budget);
        let config = DriverConfig { stable: None, token_budget, ..self.config.clone() };
        self.estimator.driver().run(&self.blocks, &config).unwrap()
    }

    /// Returns the parts of the text.
    pub(super) fn parts(&self) -> Vec<&str> {
        let plan = self.plan();
        let closing = if plan.mode == OutputMode::Xml { "</context>\n".len() } else { 0 };
        let mut start = if plan.mode == OutputMode::Xml { "<context>\n".len() } else { 0 };
        let driver = self.estimator.driver();
        let mut parts = Vec::new();
        for shown in 1..=stable_of(plan).order.len() {
            let mut front = Plan { rolled_up: None, ..plan.clone() };
            front.stable.as_mut().unwrap().order.truncate(shown);
            let end = driver.render_plan(&self.blocks, &front).unwrap().len() - closing;
            parts.push(&self.text()[start..end]);
            start = end;
        }
        parts
    }

    pub(super) fn is_block(&self, index: usize) -> bool {
        !matches!(
            self.plan().items[index].decision,
            RenderDecision::Metadata | RenderDecision::Filtered
        )
    }

    pub(super) fn annotated(&self) -> Annotated {
        let blocks = &self.blocks;
        let mut said = Annotated {
            priorities: resolve_priorities(blocks),
            pinned: vec![false; blocks.len()],
            groups: Vec::new(),
            newest: None,
        };
        let mut calls = vec![None; blocks.len()];
        for block in blocks {
            let Some(annotation) = block.as_annotation() else { continue };
            let target = usize::try_from(annotation.target_block_id).unwrap();
            let (AnnotationKind::Tag, Some(text)) = (annotation.kind, annotation.value.as_str())
            else {
                continue;
            };
            let tag = Tag::parse(text);
            match tag.key.as_ref() {
                Tag::PINNED => said.pinned[target] = true,
                Tag::TOOL_CALL_ID => calls[target] = tag.value.map(Cow::into_owned),
                _ => {}
            }
        }
        // The groups of each id in order, and whether the last one has a result.
        let mut by_call: HashMap<String, (Vec<Vec<usize>>, bool)> = HashMap::new();
        for index in (0..blocks.len()).filter(|&index| self.is_block(index)) {
            let (call, is_result) = match &blocks[index].content {
                BlockContent::Conversation(turn) => {
                    if turn.role == Role::User {
                        said.newest = Some(index);
                    }
                    let call = turn.tool_call_id.as_ref().map(ToString::to_string);
                    (call, turn.role == Role::Tool)
                }
                _ => (calls[index].take(), true),
            };
            let Some(call) = call.filter(|call| !call.is_empty()) else { continue };
            let (groups, answered) = by_call.entry(call).or_default();
            if groups.is_empty() || *answered && !is_result {
                groups.push(Vec::new());
                *answered = false;
            }
            *answered |= is_result;
            groups.last_mut().unwrap().push(index);
        }
        // A low priority of the newest question is deliberate.
        said.newest = said.newest.filter(|&newest| said.priorities[newest] <= Priority::Normal);
        let groups = by_call.into_values().flat_map(|(groups, _)| groups);
        for members in groups.filter(|members| members.len() > 1) {
            let highest = members.iter().map(|&at| said.priorities[at]).min().unwrap();
            let pinned = members.iter().any(|&at| said.pinned[at]);
            for &at in &members {
                said.priorities[at] = highest;
                said.pinned[at] = pinned;
            }
            said.groups.push(members);
        }
        said
    }
}

impl Annotated {
    /// Returns whether a block is in full at any budget.
    pub(super) fn is_fixed(&self, index: usize) -> bool {
        self.pinned[index] || self.priorities[index] == Priority::Critical
    }
}

/// Returns whether the text shows a block in any form.
pub(super) fn is_shown(item: &PlanItem) -> bool {
    item.decision.is_shown()
}

//! Stable plans of a session whose copies are removed.

use std::collections::HashMap;
use std::sync::Arc;

use lcp_driver::prompt_cache::{StableOptions, StableOutcome, TextReuse};
use lcp_driver::{DefaultDriver, DriverConfig, Rendered};
use lcp_types::{Block, DuplicateKind, Replacements, Role};

use super::{config, removed};
use crate::packs::{O200K, bare_file, priority};

/// Removes the later one of two equal blocks.
fn equal_blocks(blocks: &[Block<'_>]) -> Replacements {
    let mut first: HashMap<&[u8], usize> = HashMap::new();
    let mut covered = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let Some(content) = block.content.text() else { continue };
        let by = *first.entry(content.as_slice()).or_insert(index);
        if by != index {
            covered.push(removed(index, by, DuplicateKind::Equal));
        }
    }
    config(covered).duplicates.unwrap()
}

fn turn(blocks: &[Block<'_>], previous: Option<&StableOutcome>) -> Rendered {
    let previous = previous.map(|stable| Arc::new(stable.next_plan.clone()));
    let config = DriverConfig {
        token_budget: Some(2_000),
        stable: Some(StableOptions { previous, ..StableOptions::default() }),
        duplicates: Some(equal_blocks(blocks)),
        ..config([])
    };
    DefaultDriver::new(O200K).run(blocks, &config).unwrap()
}

#[test]
fn prefix_is_unchanged_when_duplicates_are_added() {
    let mut blocks = Vec::new();
    let mut last: Option<Rendered> = None;
    for number in 0..8 {
        blocks.push(Block::conversation(Role::User, format!("Question {number}?")));
        // Each file is read a second time two turns later.
        blocks.push(bare_file(&format!("src/{}.rs", number % 2), 4 + number % 2));
        let stable = last.as_ref().and_then(|last| last.plan.stable.as_ref());
        let rendered = turn(&blocks, stable);
        if let Some(last) = &last {
            assert_eq!(rendered.plan.stable.as_ref().unwrap().reuse, TextReuse::Appended);
            assert!(rendered.text.starts_with(&last.text), "{}", rendered.text);
        }
        let again = DefaultDriver::new(O200K).render_plan(&blocks, &rendered.plan).unwrap();
        assert_eq!(again, rendered.text);
        last = Some(rendered);
    }
    let last = last.unwrap();
    assert_eq!(last.plan.dedup_stats().unwrap().removed, 6);
    assert_eq!(last.text.matches("[code src/").count(), 2, "each file once");
}

/// A block that covers a High copy becomes High at the next repack. Until then it is unchanged.
#[test]
fn inherited_priority_does_not_change_existing_text() {
    let mut blocks = vec![bare_file("src/a.rs", 4), Block::conversation(Role::User, "Why?")];
    let first = turn(&blocks, None);
    blocks.extend([bare_file("src/again.rs", 4), priority(2, lcp_types::Priority::High)]);
    let second = turn(&blocks, first.plan.stable.as_ref());
    assert_eq!(second.text, first.text);
    assert_eq!(second.plan.items[0].priority, lcp_types::Priority::High);
    let again = DefaultDriver::new(O200K).render_plan(&blocks, &second.plan).unwrap();
    assert_eq!(again, second.text);
}

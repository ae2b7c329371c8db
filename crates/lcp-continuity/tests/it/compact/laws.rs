//! Properties of every compaction.

use std::collections::BTreeMap;

use lcp_continuity::compact::{
    CompactionError, CompactionOptions, CompactionWarning, MEMORY_HEADING,
};
use lcp_continuity::extract::{ExtractiveSummarizer, Summarizer};
use lcp_continuity::{AnchorKind, AnchorPoint, Message, Recorded};
use lcp_tokens::{HeuristicEstimator, TokenEstimator};
use lcp_types::{Role, Status};
use proptest::prelude::*;

use super::{Case, Fails, Says, anchor, recorded, words};
use crate::tracker::Words;

/// A tokenizer whose counts do not add up: the count of a text is not the sum of its parts.
struct Odd;

impl TokenEstimator for Odd {
    fn estimate(&self, text: &str) -> u32 {
        let bytes = u32::try_from(text.len()).unwrap();
        let lines = u32::try_from(text.matches('\n').count()).unwrap();
        (bytes / 3 + lines * lines / 7).max(u32::from(bytes > 0))
    }
}

#[derive(Clone, Debug)]
enum Step {
    System(usize),
    Memory,
    User(usize),
    Assistant(usize),
    /// Several calls at once. `results` of them have results, possibly in reverse order.
    Calls {
        calls: usize,
        results: usize,
        reversed: bool,
        tokens: usize,
    },
    /// A result without a call.
    Orphan,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (1..20_usize).prop_map(Step::System),
        1 => Just(Step::Memory),
        6 => (0..120_usize).prop_map(Step::User),
        6 => (0..120_usize).prop_map(Step::Assistant),
        5 => (1..4_usize, 0..4_usize, any::<bool>(), 1..60_usize).prop_map(
            |(calls, results, reversed, tokens)| Step::Calls { calls, results, reversed, tokens }
        ),
        1 => Just(Step::Orphan),
    ]
}

fn conversation(steps: &[Step]) -> Vec<Recorded> {
    let mut messages = Vec::new();
    for (at, steps) in steps.iter().enumerate() {
        let text =
            |count: usize| if count == 0 { String::new() } else { words(&format!("m{at}"), count) };
        match *steps {
            Step::System(count) => messages.push(Message::system(text(count))),
            Step::Memory => {
                messages.push(Message::system(format!("{MEMORY_HEADING}\n{}", text(9))));
            }
            Step::User(count) => messages.push(Message::user(text(count))),
            Step::Assistant(count) => messages.push(Message::assistant(text(count))),
            Step::Calls { calls, results, reversed, tokens } => {
                // Ids repeat every few turns, as with some providers.
                let id = |call: usize| format!("call_{}_{call}", at % 3);
                messages.extend((0..calls).map(|call| Message::tool_call(id(call), text(5))));
                let answer =
                    |call| Message::tool_result(id(call), "tool", Status::Ok, text(tokens));
                let answered = 0..results.min(calls);
                if reversed {
                    messages.extend(answered.rev().map(answer));
                } else {
                    messages.extend(answered.map(answer));
                }
            }
            Step::Orphan => {
                messages.push(Message::tool_result("nobody", "tool", Status::Ok, text(7)));
            }
        }
    }
    recorded(messages)
}

fn any_anchors() -> impl Strategy<Value = Vec<AnchorPoint>> {
    let kind = prop::sample::select(&AnchorKind::ALL[..]);
    let one = (kind, 1..25_usize, 0..1_000_u32, 0.0..1.0_f64).prop_map(
        |(kind, count, name, importance)| {
            anchor(kind, &words(&format!("a{name}"), count), importance)
        },
    );
    prop::collection::vec(one, 0..8)
}

/// Returns the positions of each call and its result.
fn pairs(messages: &[Recorded]) -> Vec<(u64, u64)> {
    let (mut calls, mut pairs) = (BTreeMap::new(), Vec::new());
    for Recorded { position, message, .. } in messages {
        let Some(id) = message.tool_call_id() else { continue };
        if !message.is_result() {
            calls.insert(id, *position);
        } else if let Some(&call) = calls.get(id) {
            pairs.push((call, *position));
        }
    }
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn compaction_satisfies_its_invariants(
        steps in prop::collection::vec(any_step(), 0..30),
        anchors in any_anchors(),
        window in 20..4_000_u32,
        overhead in prop_oneof![3 => Just(0_u32), 1 => 0..200_u32],
        memory_percent in prop_oneof![Just(20_u32), 1..101_u32],
        counter in prop::sample::select(vec![0_usize, 1, 2]),
        summarizer in prop::sample::select(vec![0_usize, 1, 2]),
        has_memory in any::<bool>(),
    ) {
        let counter: &dyn TokenEstimator = [&Words as &dyn TokenEstimator, &HeuristicEstimator, &Odd][counter];
        let builtin = ExtractiveSummarizer;
        let summarizer = [&Says as &dyn Summarizer, &Fails, &builtin][summarizer];
        let messages = conversation(&steps);
        let heading = format!("{MEMORY_HEADING}\n");
        // Other messages that begin like a memory are prompts.
        let begins = |recorded: &&Recorded| recorded.message.text().starts_with(&heading);
        let memory = messages.iter().rfind(begins).filter(|_| has_memory).map(|it| it.position);
        let count = |message: &Message| counter.estimate(&message.text());
        let before: u32 = messages.iter().map(|recorded| count(&recorded.message)).sum();
        let options = CompactionOptions { memory_percent, ..CompactionOptions::default() };
        let case = Case {
            memory,
            used: before + overhead,
            anchors: &anchors,
            summarizer,
            counter,
            options,
            ..Case::new(&messages, window)
        };
        let is_system = |message: &Message| message.role() == Role::System;
        let compaction = match case.compact() {
            Ok(compaction) => compaction,
            Err(CompactionError::Futile { needed_tokens, tokens_before, target_tokens }) => {
                prop_assert!(needed_tokens > target_tokens || needed_tokens >= tokens_before);
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let again = case.compact().unwrap();
        prop_assert_eq!(&again, &compaction, "deterministic");

        // The result never exceeds the target, is counted exactly, and is shorter.
        let after: u32 = compaction.messages().map(count).sum();
        prop_assert_eq!(after + overhead, compaction.tokens_after);
        prop_assert!(compaction.tokens_after <= compaction.target_tokens);
        prop_assert!(compaction.tokens_after < compaction.tokens_before);
        prop_assert_eq!(compaction.tokens_before, before + overhead);
        if let Some(memory) = &compaction.memory {
            prop_assert_eq!(memory.tokens, count(&memory.message));
            let max = u64::from(compaction.target_tokens) * u64::from(memory_percent) / 100;
            prop_assert!(u64::from(memory.tokens) <= max);
            let text = memory.message.text();
            prop_assert!(is_system(&memory.message) && text.starts_with(&heading));
        }

        // Shown messages are unchanged and in order, and all prompts are shown.
        let was = |recorded: &Recorded| {
            usize::try_from(recorded.position).is_ok_and(|at| messages[at].message == recorded.message)
        };
        for shown in [&compaction.system, &compaction.recent] {
            prop_assert!(shown.is_sorted_by(|a, b| a.position < b.position));
            prop_assert!(shown.iter().all(was));
        }
        let is_prompt = |recorded: &&Recorded| {
            is_system(&recorded.message) && Some(recorded.position) != memory
        };
        prop_assert_eq!(messages.iter().filter(is_prompt).count(), compaction.system.len());

        // The newest message is shown. Between it and the oldest shown one, only messages before
        // the user's newest message may be left out.
        let history: Vec<u64> = messages
            .iter()
            .filter(|recorded| !is_system(&recorded.message))
            .map(|recorded| recorded.position)
            .collect();
        let recent: Vec<u64> = compaction.recent.iter().map(|recorded| recorded.position).collect();
        prop_assert_eq!(recent.last(), history.last());
        let newest = |recorded: &&Recorded| {
            recorded.message.role() == Role::User && !recorded.message.is_result()
        };
        let newest = messages.iter().rfind(newest).map(|recorded| recorded.position);
        let tail = match (recent.first(), newest) {
            (Some(first), Some(newest))
                if *first == newest && !history.ends_with(&recent) => &recent[1..],
            _ => &recent[..],
        };
        prop_assert!(history.ends_with(tail));
        let too_long = |warning: &CompactionWarning| {
            matches!(warning, CompactionWarning::UserMessageArchived { .. })
        };
        if let Some(newest) = newest {
            prop_assert!(
                recent.contains(&newest) || compaction.warnings.iter().any(too_long)
            );
        }

        // Calls are shown with their results, or not at all.
        for (call, result) in pairs(&messages) {
            prop_assert_eq!(recent.contains(&call), recent.contains(&result));
        }

        // Every message that is not shown is archived exactly once.
        let mut all: Vec<u64> = recent;
        all.extend(compaction.system.iter().map(|recorded| recorded.position));
        for chunk in &compaction.archived {
            all.extend(chunk.first..=chunk.last);
            let tokens = |position| count(&messages[usize::try_from(position).unwrap()].message);
            prop_assert_eq!((chunk.first..=chunk.last).map(tokens).sum::<u32>(), chunk.tokens);
            prop_assert_eq!(u64::from(chunk.messages), chunk.last - chunk.first + 1);
        }
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..messages.len() as u64));

        // Anchors are shown byte for byte, or named in a warning.
        for anchor in &anchors {
            let shown = compaction.messages().any(|message| message.text().contains(&anchor.text));
            let named = |warning: &CompactionWarning| {
                matches!(warning, CompactionWarning::AnchorLeftOut { id, .. } if *id == anchor.id)
            };
            prop_assert!(shown || compaction.warnings.iter().any(named));
        }
        // Chunks without a summary are named in a warning if they have any tokens.
        for chunk in compaction.archived.iter().filter(|chunk| !chunk.is_summarized) {
            let named = |warning: &CompactionWarning| {
                matches!(warning, CompactionWarning::NotSummarized { first, .. } if *first == chunk.first)
            };
            prop_assert!(chunk.tokens == 0 || compaction.warnings.iter().any(named), "{chunk:?}");
        }
    }
}

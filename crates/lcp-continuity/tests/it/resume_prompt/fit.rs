//! The selection of parts, and its cost.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A tokenizer that adds up the bytes of the texts it counts.
#[derive(Debug, Default)]
struct Metered(AtomicUsize);

impl TokenEstimator for Metered {
    fn estimate(&self, text: &str) -> u32 {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        HeuristicEstimator.estimate(text)
    }
}

/// Returns a hand-off with decisions of these numbers of words, in this order.
fn decisions(words: &[usize]) -> SessionHandoff {
    let decision = |(at, words): (usize, &usize)| {
        let text = format!("Number {at} stays{}.", " as it is".repeat(*words));
        anchor(AnchorKind::Decision, &text, 0.9)
    };
    SessionHandoff { anchors: words.iter().enumerate().map(decision).collect(), ..empty() }
}

/// Returns the decisions that are shown in full within `budget` tokens.
fn shown(handoff: &SessionHandoff, budget: u32) -> Vec<usize> {
    let options = DirectiveOptions { budget: Some(budget), ..DirectiveOptions::default() };
    let text = directive(handoff, &options).text;
    let is_shown = |at: &usize| text.contains(&handoff.anchors[*at].text);
    (0..handoff.anchors.len()).filter(is_shown).collect()
}

#[test]
fn smaller_anchors_are_shown_when_larger_do_not_fit() {
    let mut sizes = vec![1; 60];
    sizes[3] = 500;
    sizes[7] = 400;
    let shown = shown(&decisions(&sizes), 600);
    let expected: Vec<_> = (0..60).filter(|at| ![3, 7].contains(at)).collect();
    assert!(shown.len() > 20, "{shown:?}");
    assert_eq!(shown, expected[..shown.len()]);
}

#[test]
fn many_anchors_need_few_drafts() {
    let equal = vec![3; 1_000];
    let mut small = vec![1; 1_000];
    small[0] = 9_000;
    let falling: Vec<_> = (0..1_000).map(|at| 40 - at / 25).collect();
    for sizes in [equal, small, falling] {
        let handoff = decisions(&sizes);
        let all: usize = handoff.anchors.iter().map(|anchor| anchor.text.len()).sum();
        for budget in [400, 3_000, 9_000] {
            let meter = Arc::new(Metered::default());
            let options = DirectiveOptions { budget: Some(budget), ..DirectiveOptions::default() };
            let counter = Arc::clone(&meter) as Arc<dyn TokenEstimator>;
            continuation_directive(&handoff, &options, counter).expect("a directive");
            let drafts = meter.0.load(Ordering::Relaxed) / all;
            assert!(drafts < 300, "{drafts} of {budget}");
        }
    }
}

//! The savings by stable plans (RFC 0005 §6.1).

use lcp_driver::budget::TokenEstimator;
use lcp_driver::prompt_cache::TextReuse;
use lcp_types::{Block, Role};

use super::Caller;
use crate::packs::{O200K, bare_file, tag};

/// Returns the cost of 60 turns of a session that far exceeds its budget, and the number of
/// appended texts. The cost is in hundredths of a token's price: cached tokens are read at 10, the
/// others written at 125.
fn bill(is_stable: bool) -> (u64, u64) {
    const HISTORY: usize = 80;
    let mut caller = Caller::new(5_000).marks(0.9, 0.5);
    let mut blocks = vec![Block::conversation(Role::System, "Be brief.")];
    let (mut paid, mut appended) = (0, 0);
    let mut before = String::new();
    for turn in 0..HISTORY + 60 {
        // Newer blocks rank higher, so the oldest ones are dropped one by one without watermarks.
        let newer = format!("rank={turn}");
        blocks.push(bare_file(&format!("src/file_{turn}.rs"), 3 + turn * 7 % 9));
        blocks.push(tag(blocks.len() as u64 - 1, &newer));
        blocks.push(Block::conversation(Role::User, format!("What does file {turn} do?")));
        blocks.push(tag(blocks.len() as u64 - 1, &newer));
        if turn < HISTORY {
            continue;
        }
        let rendered = if is_stable { caller.turn(&blocks) } else { caller.anew(&blocks) };
        let stable = rendered.plan.stable.as_ref();
        appended += u64::from(stable.is_some_and(|stable| stable.reuse == TextReuse::Appended));
        // A cache keeps the common prefix of two texts, with and without stable plans. All texts
        // are ASCII.
        let same = before.bytes().zip(rendered.text.bytes()).take_while(|(a, b)| a == b).count();
        let kept = u64::from(O200K.estimate(&rendered.text[..same]));
        paid += kept * 10 + (u64::from(rendered.plan.used_tokens) - kept) * 125;
        before = rendered.text;
    }
    (paid, appended)
}

#[test]
fn stable_session_costs_at_most_a_third_of_repacking() {
    let (stable, appended) = bill(true);
    let (anew, _) = bill(false);
    assert!(appended >= 50, "{appended} of 60 turns were appended");
    assert!(anew >= 3 * stable, "{anew} against {stable}");
}

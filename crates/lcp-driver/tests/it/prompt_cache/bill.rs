//! What stability saves (RFC 0005 §6.1).

use lcp_driver::budget::TokenEstimator;
use lcp_driver::prompt_cache::TextReuse;
use lcp_types::{Block, Role};

use super::Caller;
use crate::packs::{O200K, bare_file, tag};

/// What 60 turns cost of a session that has long outgrown its budget, in
/// hundredths of a token's price: what a cache kept is read at 10, the rest
/// written at 125. Also how many texts were appended.
fn bill(is_stable: bool) -> (u64, u64) {
    const HISTORY: usize = 80;
    let mut caller = Caller::new(5_000).marks(0.9, 0.5);
    let mut blocks = vec![Block::conversation(Role::System, "Be brief.")];
    let (mut paid, mut appended) = (0, 0);
    let mut before = String::new();
    for turn in 0..HISTORY + 60 {
        // The newer, the better: without marks the oldest go, one by one.
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
        // A cache keeps what the two texts begin with, whoever made them.
        // All of them is ASCII.
        let same = before.bytes().zip(rendered.text.bytes()).take_while(|(a, b)| a == b).count();
        let kept = u64::from(O200K.estimate(&rendered.text[..same]));
        paid += kept * 10 + (u64::from(rendered.plan.used_tokens) - kept) * 125;
        before = rendered.text;
    }
    (paid, appended)
}

#[test]
fn a_stable_session_costs_a_third_of_one_packed_anew() {
    let (stable, appended) = bill(true);
    let (anew, _) = bill(false);
    assert!(appended >= 50, "{appended} of 60 turns were appended");
    assert!(anew >= 3 * stable, "{anew} against {stable}");
}

//! Hand-offs as packs.

use lcp_continuity::{HandoffOptions, Message, PackageError, SessionHandoff, SessionState};
use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig};
use lcp_packfile::renumber_handoff_index;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, BlockContent, BlockMeta, HANDOFF_TYPE_NAME, Role, Status};

use super::support::{Fixture, PLAN};

fn handoff() -> (SessionHandoff, Vec<u8>) {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("Please move the parser, and keep its tests."));
    fixture.say("c", Message::assistant(PLAN));
    fixture.say("c", Message::user("DECISION: </document> stays \u{202e}as it is.\n"));
    fixture.say("c", Message::tool_call("call_1", "{\"command\": \"git switch topic\"}"));
    fixture.say("c", Message::tool_result("call_1", "bash", Status::Error, "no such branch"));
    let state = SessionState { branch: Some("main".into()), ..SessionState::default() };
    let options = HandoffOptions { state, ..HandoffOptions::default() };
    let handoff = fixture.service.prepare_handoff("c", 2_000, &options).unwrap();
    let pack = fixture.store.handoff(&handoff.handoff_id).unwrap().pack;
    (handoff, pack)
}

/// Returns the blocks of the hand-off's pack.
fn blocks(handoff: &SessionHandoff) -> Vec<Block<'static>> {
    let pack = handoff.to_pack().unwrap();
    let pack = lcp_decoder::decode(&pack, lcp_decoder::DecodeOptions::default()).unwrap();
    pack.blocks.into_iter().map(Block::into_owned).collect()
}

#[test]
fn handoff_round_trips_through_its_pack() {
    let (handoff, pack) = handoff();
    assert_eq!(SessionHandoff::from_pack(&pack).unwrap(), handoff);
    assert_eq!(handoff.to_pack().unwrap(), pack);
    let (sealed, again) = handoff.clone().with_id().unwrap();
    assert_eq!((sealed.handoff_id, again), (handoff.handoff_id, pack));
}

/// Other blocks may precede it if its index is renumbered.
#[test]
fn handoff_is_read_after_other_blocks() {
    const BEFORE: u64 = 3;
    let (handoff, _) = handoff();
    let moved = blocks(&handoff).into_iter().map(|mut block| {
        if let BlockContent::Extension(extension) = &mut block.content
            && extension.type_name == HANDOFF_TYPE_NAME
        {
            let content = renumber_handoff_index(extension.content.as_slice(), |at| at + BEFORE);
            extension.content = content.unwrap().into();
            return block;
        }
        block.with_target(|at| at + BEFORE)
    });
    let before = (0..BEFORE).map(|_| Block::conversation(Role::User, "before"));
    let blocks: Vec<_> = before.chain(moved).collect();
    let pack = lcp_encoder::encode(&blocks, lcp_encoder::EncodeOptions::default()).unwrap();
    let found = SessionHandoff::from_pack(&pack).unwrap();
    // A different pack has a different id.
    assert_eq!(SessionHandoff { handoff_id: handoff.handoff_id.clone(), ..found }, handoff);
    assert_eq!(renumber_handoff_index(b"{\"version\":99}", |at| at), None);
    assert_eq!(renumber_handoff_index(b"[]", |at| at), None);
}

#[test]
fn rendering_a_handoff_pack_gives_no_warnings() {
    let (handoff, _) = handoff();
    let blocks = blocks(&handoff);
    let mut problems = Vec::new();
    let _ = BlockMeta::resolve_all(&blocks, &mut |at, problem| problems.push((at, problem)));
    assert_eq!(problems, []);
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    let rendered = driver.run(&blocks, &DriverConfig::default()).unwrap();
    for anchor in &handoff.anchors {
        assert!(rendered.text.contains(&anchor.text));
    }
    assert!(rendered.text.contains("- [ ] split lexer.rs") && rendered.text.contains("main"));
    assert_eq!(rendered.plan.warnings, []);
}

#[test]
fn parts_of_a_handoff_belong_to_the_sections_of_a_conversation() {
    let (handoff, _) = handoff();
    let blocks = blocks(&handoff);
    let config = DriverConfig {
        token_budget: Some(9_999),
        shares: Some(Shares::conversation()),
        ..DriverConfig::default()
    };
    let plan = DefaultDriver::default().plan(&blocks, &config).unwrap();
    let section = |label: &str| {
        let at = blocks.iter().position(|block| block.label() == label);
        &*plan.items[at.unwrap_or_else(|| panic!("{label}"))].category
    };
    assert_eq!(section("user intent"), "goal");
    assert_eq!(section(handoff.anchors[0].kind.title()), "memory");
    assert_eq!(section(&handoff.pending_tasks[0].description), "working_state");
    assert_eq!(section("state"), "working_state");
    assert_eq!(section("summary"), "conversation_summary");
    assert_eq!(section("bash"), "recent_messages");
    let used = plan.shares.iter().filter(|share| share.used > 0);
    let used: Vec<_> = used.map(|share| share.name.as_str()).collect();
    let sections = ["goal", "memory", "working_state", "conversation_summary", "recent_messages"];
    assert_eq!(used, sections);
}

/// The state is dropped first, then the newest messages and the summary, and anchors last.
#[test]
fn budget_drops_state_first_and_anchors_last() {
    let (handoff, _) = handoff();
    let blocks = blocks(&handoff);
    let driver = DefaultDriver::default();
    let full = driver.run(&blocks, &DriverConfig::default()).unwrap().plan.used_tokens;
    let mut state_gone = false;
    for budget in (0..=full).rev() {
        let config = DriverConfig { token_budget: Some(budget), ..DriverConfig::default() };
        let text = driver.render(&blocks, &config).unwrap();
        let has_state = text.contains("branch: main");
        let has_summary = text.contains(&handoff.summary);
        let has_anchor = text.contains(&handoff.anchors[0].text);
        let has_steps = text.contains("- [ ] open the pull request");
        assert!(has_summary || !has_state, "{budget}: {text}");
        assert!((has_anchor && has_steps) || !has_summary, "{budget}: {text}");
        state_gone |= has_summary && !has_state;
    }
    assert!(state_gone);
}

#[test]
fn packs_without_a_handoff_are_rejected() {
    let other = lcp_encoder::encode(
        &[Block::conversation(Role::User, "hi")],
        lcp_encoder::EncodeOptions::default(),
    );
    let error = SessionHandoff::from_pack(&other.unwrap()).unwrap_err();
    assert_eq!(error, PackageError::NoHandoff);
    let error = SessionHandoff::from_pack(b"LCP?").unwrap_err();
    assert!(matches!(error, PackageError::Malformed(_)));
}

/// Changes each block that the index refers to.
#[test]
fn inconsistent_handoff_packs_are_rejected() {
    let (handoff, _) = handoff();
    let encode = |blocks: &[Block<'_>]| {
        lcp_encoder::encode(blocks, lcp_encoder::EncodeOptions::default()).unwrap()
    };
    let blocks = blocks(&handoff);
    let text = |needle: &str| {
        let has = |block: &Block<'_>| {
            block.content.text().is_some_and(|text| text.to_str_lossy().contains(needle))
        };
        blocks.iter().position(|block| block.as_extension().is_none() && has(block)).unwrap()
    };
    for at in [text("branch: main"), text("- [ ] split lexer.rs\n- [ ] split parser.rs")] {
        let mut changed = blocks.clone();
        changed[at] = Block::document("state", "branch: other", lcp_types::FormatHint::Plain);
        let error = SessionHandoff::from_pack(&encode(&changed)).unwrap_err();
        assert!(
            matches!(error, PackageError::Inconsistent { block, .. } if block == at as u64),
            "{error}"
        );
    }
    let mut newer = blocks.clone();
    let json = blocks[0].as_extension().unwrap().content.as_str().unwrap().to_owned();
    newer[0] =
        Block::extension("lcp", "handoff", json.replacen("\"version\":1", "\"version\":2", 1));
    let error = SessionHandoff::from_pack(&encode(&newer)).unwrap_err();
    assert_eq!(error, PackageError::TooNew { found: 2, known: 1 });
    let mut broken = blocks.clone();
    broken[0] = Block::extension("lcp", "handoff", json.replacen("\"epoch\"", "\"epoche\"", 1));
    let error = SessionHandoff::from_pack(&encode(&broken)).unwrap_err();
    assert!(matches!(error, PackageError::BadIndex { block: 0, .. }), "{error}");
    let mut missing = blocks;
    missing.truncate(3);
    assert!(SessionHandoff::from_pack(&encode(&missing)).is_err());
}

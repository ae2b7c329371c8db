//! The content of a hand-off, and the parts that are shortened to fit.

use lcp_continuity::extract::{Summarizer, SummaryError, SummaryRequest};
use lcp_continuity::{
    AnchorPoint, Error, HandoffOptions, Message, Recorded, SessionState, extract,
};
use lcp_driver::segments::CompressionLevel;
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, Role};

use super::support::{Fixture, PLAN, Words, words as text_of};

pub(super) fn counted(text: &str) -> u32 {
    Words.estimate(text)
}

fn filled() -> Fixture {
    let fixture = Fixture::new();
    fixture.open("c", 50_000);
    fill(&fixture);
    fixture
}

fn fill(fixture: &Fixture) {
    fixture.say("c", Message::user("Please migrate the store to the new format."));
    fixture.say("c", Message::assistant(PLAN));
    fixture.say("c", Message::user("DECISION: Old files stay readable."));
    for turn in 0..60 {
        fixture
            .say("c", Message::user(format!("Look at file {turn} of the store. {}", text_of(30))));
        fixture.say("c", Message::assistant(format!("File {turn} is fine. {}", text_of(30))));
    }
}

#[test]
fn summary_and_directive_stay_within_budgets() {
    let fixture = filled();
    for (summary, target) in [(2_000, 8_000), (100, 8_000), (2_000, 500), (2_000, 120), (50, 60)] {
        let options =
            HandoffOptions { target_summary_tokens: summary, ..HandoffOptions::default() };
        let handoff = fixture.service.prepare_handoff("c", target, &options).unwrap();
        assert!(counted(&handoff.summary) <= summary, "{summary}, {target}");
        let directive = fixture.service.generate_continuation_directive(&handoff).unwrap();
        assert_eq!(directive.tokens, counted(&directive.text));
        assert!(directive.tokens <= target, "{} of {target}", directive.tokens);
        assert_eq!(handoff.metadata.tokens_after, directive.tokens);
        // The package always has everything.
        assert_eq!(handoff.anchors[0].text, "Old files stay readable.");
        assert_eq!(handoff.pending_tasks[0].remaining_steps.len(), 6);
    }
}

#[test]
fn omissions_are_reported_as_warnings() {
    let fixture = filled();
    let handoff = fixture.service.prepare_handoff("c", 60, &HandoffOptions::default()).unwrap();
    assert!(!handoff.metadata.warnings.is_empty());
    let roomy = fixture.service.prepare_handoff("c", 9_000, &HandoffOptions::default()).unwrap();
    assert_eq!(roomy.metadata.warnings, [] as [String; 0]);
    assert!(roomy.metadata.coverage.ok);
}

#[test]
fn options_exclude_state_tasks_and_recent_messages() {
    let fixture = filled();
    let state = SessionState { branch: Some("topic".into()), ..SessionState::default() };
    let options = HandoffOptions { state: state.clone(), ..HandoffOptions::default() };
    let with = fixture.service.prepare_handoff("c", 9_000, &options).unwrap();
    assert_eq!(with.state.unwrap().branch, state.branch);
    let options = HandoffOptions {
        include_session_state: false,
        extract_pending_tasks: false,
        recent_tokens: 0,
        ..options
    };
    let without = fixture.service.prepare_handoff("c", 9_000, &options).unwrap();
    assert_eq!((without.state, without.pending_tasks.len(), without.recent.len()), (None, 0, 0));
}

#[test]
fn preparing_an_empty_conversation_is_an_error() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    let error = fixture.service.prepare_handoff("c", 100, &HandoffOptions::default()).unwrap_err();
    assert_eq!(error, Error::NothingToHandOver("c".into()));
    let error = fixture.service.prepare_handoff("d", 100, &HandoffOptions::default()).unwrap_err();
    assert_eq!(error, Error::NotOpen("d".into()));
}

/// A summarizer whose text exceeds the limit.
struct Liar;

impl Summarizer for Liar {
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        Ok(text_of(request.target_tokens as usize + 1))
    }

    fn name(&self) -> &'static str {
        "liar"
    }
}

#[test]
fn oversized_summary_falls_back_to_other_summarizer() {
    let mut fixture = Fixture::new();
    fixture.service = fixture.service.with_summarizer(Liar);
    fixture.open("c", 50_000);
    fill(&fixture);
    let handoff = fixture.service.prepare_handoff("c", 5_000, &HandoffOptions::default()).unwrap();
    assert!(counted(&handoff.summary) <= 2_000);
    assert_ne!(handoff.metadata.summarizer, "liar");
    assert!(handoff.metadata.warnings[0].starts_with("the summary of liar has 2001 tokens"));
}

/// An extractor that invents text.
struct Inventor;

impl extract::AnchorExtractor for Inventor {
    fn anchors(&self, conversation: &str, messages: &[Recorded]) -> Vec<AnchorPoint> {
        let mut anchors = extract::RuleAnchorExtractor.anchors(conversation, messages);
        anchors[0].text.push_str(" And so on.");
        anchors
    }
}

#[test]
fn anchors_missing_from_messages_are_dropped() {
    let mut fixture = Fixture::new();
    fixture.service = fixture.service.with_anchors(Inventor);
    fixture.open("c", 50_000);
    fill(&fixture);
    let handoff = fixture.service.prepare_handoff("c", 5_000, &HandoffOptions::default()).unwrap();
    assert!(handoff.anchors.iter().all(|anchor| !anchor.text.ends_with("And so on.")));
    assert!(
        handoff.metadata.warnings[0].starts_with("1 anchor"),
        "{:?}",
        handoff.metadata.warnings
    );
}

#[test]
fn non_utf8_text_is_not_an_anchor() {
    let fixture = filled();
    let said = b"DECISION: Use caf\xE9.\n\nDECISION: Use \xEF\xBF\xBD.\n\nDECISION: Use tea.";
    fixture.say("c", Message::new(Block::conversation(Role::User, said.to_vec())));
    let handoff = fixture.service.prepare_handoff("c", 9_000, &HandoffOptions::default()).unwrap();
    let texts: Vec<_> = handoff.anchors.iter().map(|anchor| anchor.text.as_str()).collect();
    assert_eq!(texts, ["Old files stay readable.", "Use \u{fffd}.", "Use tea."]);
    let warnings = &handoff.metadata.warnings;
    assert_eq!(warnings[0], "1 anchors do not stand in their messages: left out");
}

#[test]
fn newer_handoff_supersedes_unclaimed_one() {
    let fixture = filled();
    let first = fixture.service.prepare_handoff("c", 5_000, &HandoffOptions::default()).unwrap();
    fixture.say("c", Message::user("One more thing: keep the tests."));
    let second = fixture.service.prepare_handoff("c", 5_000, &HandoffOptions::default()).unwrap();
    let error = fixture.service.resume_from_handoff(&first.handoff_id).unwrap_err();
    assert_eq!(error.code(), "superseded");
    fixture.service.resume_from_handoff(&second.handoff_id).unwrap();
}

#[test]
fn default_options_match_the_requirements() {
    let options = HandoffOptions::default();
    assert_eq!(options.target_summary_tokens, 2_000);
    assert!(options.include_session_state && options.extract_pending_tasks);
    assert_eq!(options.summary_level, CompressionLevel::Detailed);
}

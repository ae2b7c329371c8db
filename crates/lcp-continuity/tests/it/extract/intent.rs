//! The intent of the user.

use lcp_continuity::extract::user_intent;
use lcp_continuity::{Message, Recorded};
use lcp_tokens::{HeuristicEstimator, TokenEstimator};
use proptest::prelude::*;

use super::recorded;

fn intent(messages: &[Recorded], max: u32) -> Option<String> {
    user_intent(messages, &HeuristicEstimator, max)
}

/// A tokenizer whose counts do not add up, because every text has a fixed extra cost.
struct Odd;

impl TokenEstimator for Odd {
    fn estimate(&self, text: &str) -> u32 {
        let words = u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
        if text.is_empty() { 0 } else { words + 1 + u32::from(text.ends_with(']')) * 3 }
    }
}

#[test]
fn intent_is_newest_user_turn_that_is_not_filler() {
    let messages = recorded([
        Message::user("Write a parser."),
        Message::assistant("Done."),
        Message::user("  Now port it\n\nto `no_std`. "),
        Message::assistant("Shall I go on?"),
        Message::user("yes"),
        Message::user("ok thanks"),
        Message::user("<system-reminder>\nThe list is empty.\n</system-reminder>"),
        Message::system("Be brief."),
    ]);
    assert_eq!(intent(&messages, 100).as_deref(), Some("Now port it\n\nto `no_std`."));
    assert_eq!(intent(&messages[..2], 100).as_deref(), Some("Write a parser."));
    assert_eq!(intent(&messages[4..], 100), None);
    assert_eq!(intent(&[], 100), None);
}

#[test]
fn slash_commands_are_not_an_intent() {
    let messages = recorded([
        Message::user("Port it to `no_std`."),
        Message::user("/add src/lib.rs"),
        Message::user("/run cargo test -q\n/undo"),
    ]);
    assert_eq!(intent(&messages, 100).as_deref(), Some("Port it to `no_std`."));
    assert_eq!(intent(&messages[1..], 100), None);
    let asked = recorded([Message::user("/ask Why is the parser slow?")]);
    assert_eq!(intent(&asked, 100).as_deref(), Some("/ask Why is the parser slow?"));
}

#[test]
fn text_of_programs_is_not_an_intent() {
    for text in [
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<task-notification>\n<task-id>a1</task-id>\n<summary>The build ended.</summary>\n\
         </task-notification>",
        "<task-notification>\n<result>All is well.</result>\n</task-notification>\n\
         Full transcript available at: /tmp/a1.output",
        "<task-notification>\n<status>done</status>\n</task-notification>\n\
         Read the output file to retrieve the result: /tmp/a1.output",
        "<command-name>/model</command-name>\n  <command-message>model</command-message>\n  \
         <command-args>fast</command-args>",
        "<command-message>review</command-message>\n<command-name>/review</command-name>",
        "<command-name>/compact</command-name>\n<command-args>Keep the list of files.\
         </command-args>",
        "<bash-input>ls -la</bash-input>",
        "<ide_opened_file>The user opened src/lib.rs.</ide_opened_file>",
    ] {
        let messages = recorded([Message::user("Port it to Rust."), Message::user(text)]);
        assert_eq!(intent(&messages, 100).as_deref(), Some("Port it to Rust."), "{text}");
    }
    let text = "[Request interrupted by user]\nUse tabs in all files.";
    assert_eq!(intent(&recorded([Message::user(text)]), 100).as_deref(), Some(text));
}

#[test]
fn intent_has_no_envelope() {
    for (text, typed) in [
        (
            "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n\
             <command-args>Move the bar\nto the left</command-args>",
            "/plan Move the bar\nto the left",
        ),
        (
            "<teammate-message teammate_id=\"lead\" summary=\"Port\">\nPort the <b>lexer</b>.\n\
             </teammate-message>",
            "Port the <b>lexer</b>.",
        ),
        ("<teammate-message teammate_id=\"lead\">Port it.</teammate-message>", "Port it."),
    ] {
        assert_eq!(intent(&recorded([Message::user(text)]), 100).as_deref(), Some(typed));
    }
    let notice = "<teammate-message teammate_id=\"a\">\n{\"type\":\"idle\"}\n</teammate-message>";
    let messages = recorded([Message::user("Port it."), Message::user(notice)]);
    assert_eq!(intent(&messages, 100).as_deref(), Some("Port it."));
}

#[test]
fn code_only_turn_is_an_intent() {
    let messages = recorded([Message::user("Fix it."), Message::user("```\nlet x = 1\n```")]);
    assert_eq!(intent(&messages, 100).as_deref(), Some("```\nlet x = 1\n```"));
}

#[test]
fn long_intent_is_cut_after_a_sentence_or_word() {
    let messages = recorded([Message::user(
        "Port the parser to no_std. Keep the tests green at all times. Then write the docs.",
    )]);
    assert_eq!(
        intent(&messages, 18).as_deref(),
        Some("Port the parser to no_std. Keep the tests green at all times. […]")
    );
    assert_eq!(intent(&messages, 6).as_deref(), Some("Port the parser to […]"));
    assert_eq!(intent(&messages, 0), None);
    assert_eq!(intent(&messages, 1), None);
}

proptest! {
    #[test]
    fn intent_fits_max_tokens_and_is_a_prefix(text in "\\PC{0,200}|[a-z .!?\n]{0,400}", max in 0_u32..60) {
        let messages = recorded([Message::user(text.clone())]);
        for counter in [&HeuristicEstimator as &dyn TokenEstimator, &Odd] {
            let Some(intent) = user_intent(&messages, counter, max) else { continue };
            prop_assert!(counter.estimate(&intent) <= max);
            let start = intent.strip_suffix(" […]").unwrap_or(&intent);
            prop_assert!(text.trim().starts_with(start));
            prop_assert!(!start.is_empty());
        }
    }
}

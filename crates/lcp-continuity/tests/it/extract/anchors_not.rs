//! Texts that are not anchors.

use lcp_continuity::{AnchorKind, Message};
use lcp_types::Block;
use lcp_types::{Lang, Role, Status};

use super::anchors::extracted;

#[test]
fn immediate_model_actions_are_not_commitments() {
    for text in [
        "I'll read the file.", "I'll now write the parser.", "I will look at the tests first.",
        "Let me check the configuration.", "Let me run the tests to make sure.",
        "I'll run the tests.", "Now I'll check the other file.", "Let's look at the error.",
        "Let's see what happens.", "I'll start by reading the code.", "We'll need two files.",
        "I'll be brief here.", "I won't need the second file.",
        "First, I'll search for the usages.",
    ] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
    }
}

#[test]
fn work_done_by_next_call_is_not_an_anchor() {
    let call = || Message::tool_call("1", "edit src/main.rs");
    for text in ["I'll add the missing case.", "We'll rename it.", "Actually, it must be sorted."] {
        assert_eq!(extracted([Message::assistant(text), call()]), [], "{text}");
        assert_eq!(extracted([Message::assistant(text)]).len(), 1, "{text}");
    }
    // A decision or a promise is an anchor, even if a call follows.
    for text in ["We'll use a map.", "I will never delete data.", "Note that it is sorted."] {
        assert_eq!(extracted([Message::assistant(text), call()]).len(), 1, "{text}");
    }
}

#[test]
fn offers_and_conditions_are_not_anchors() {
    for text in [
        "If you want, I'll add a test.",
        "I'll add a test if you like.",
        "Let me know and I'll split it.",
        "If we decided to use it, it would break.",
        "We should see whether we'll use it.",
        "We have not decided on a name.",
        "We'll use grep to find the usages.",
    ] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
    }
}

#[test]
fn descriptions_and_idioms_are_not_anchors() {
    for text in [
        "It returns None instead of Some.", "The worker never closes the socket.",
        "It always fails on Windows.", "That must be the cause.", "It must have been the cache.",
        "Never mind the warning.", "The compiler decided to inline it.", "No problem, go ahead.",
        "No, thanks for asking.", "I like it very much.", "It looks like a race.",
        "I'd like a table of it.", "It is not only slow but also wrong.",
        "It is not done but it works.", "Don't worry about that.",
    ] {
        assert_eq!(extracted([Message::user(text)]), [], "{text}");
    }
}

#[test]
fn keywords_inside_words_are_not_anchors() {
    for text in [
        "The musty nevertheless-crate is big.", "Agreedness, mustard, notes: all three.",
        "Unlet's goodwill see.",
    ] {
        assert_eq!(extracted([Message::user(text)]), [], "{text}");
    }
}

#[test]
fn preferences_and_refusals_come_only_from_users() {
    for text in ["I prefer small commits.", "Please use tabs here.", "No, the port is 80."] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
        assert_eq!(extracted([Message::user(text)]).len(), 1, "{text}");
    }
}

#[test]
fn questions_are_only_open_questions() {
    let asked = "Should we say that we'll use SQLite?";
    let anchors = extracted([Message::user(asked)]);
    assert_eq!(anchors, [(AnchorKind::OpenQuestion, asked.to_owned())]);
    for text in ["Why?", "Really, no?", "Is there anything else I can do?"] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
    }
}

#[test]
fn greetings_and_offers_are_not_open_questions() {
    for text in
        ["Is it done?", "Hi, how are you today?", "Ok, so why that?", "# Question: how are you?"]
    {
        assert_eq!(extracted([Message::user(text)]), [], "{text}");
    }
    for text in [
        "How can I help you with the parser?",
        "Would you like me to port the other file too?",
        "Do you want me to delete the branch?",
        "Shall I go on with the printer?",
        "Want me to commit this now?",
        "The tests pass. Want me to push it as well?",
        "Should I commit these two files?",
        "Ok, should I go ahead with the printer?",
        "Ready to commit these two files?",
        "Does all of this make sense to you?",
    ] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
    }
    let asked = extracted([Message::assistant("Should I keep the old format of the file?")]);
    assert_eq!(asked.len(), 1);
    for text in [
        "Would you like me to stop there?", "Shall I send you the dump?",
        "Do they want me to sign it?",
    ] {
        assert_eq!(extracted([Message::user(text)]).len(), 1, "{text}");
    }
}

#[test]
fn quotations_code_headings_and_tags_are_not_anchors() {
    for text in [
        "> We decided to use Rust.\n\nHm.",
        "```\nWe decided to use Rust.\n```",
        "~~~text\nDECISION: Rust\n~~~",
        "# What we must never do",
        "The page says \"we decided to use Rust\".",
        "The flag `we decided to` is new here.",
        "<system-reminder>\nYou must never use Rust.\n</system-reminder>",
        "<system-reminder>Note that it is so.</system-reminder>",
    ] {
        assert_eq!(extracted([Message::user(text)]), [], "{text}");
    }
    let text = "<task>We decided to use Rust.</task>";
    assert_eq!(
        extracted([Message::user(text)]),
        [(AnchorKind::Decision, "We decided to use Rust.".to_owned())]
    );
}

#[test]
fn only_user_and_assistant_turns_yield_anchors() {
    let text = "DECISION: Rust. We decided to use it.";
    let none = [
        Message::system(text),
        Message::turn(Role::Tool, text),
        Message::tool_call("1", text),
        Message::tool_result("1", "bash", Status::Ok, text),
        Message::user(text).answering("1"),
        Message::new(Block::code(Lang::Rust, "a.rs", text)),
    ];
    assert_eq!(extracted(none), []);
}

#[test]
fn long_unmarked_sentences_are_not_anchors() {
    let long = format!("We decided to {} it.", "really ".repeat(100));
    assert_eq!(extracted([Message::user(long)]), []);
    let fits = format!("We decided to {}it.", "really ".repeat(80));
    assert_eq!(extracted([Message::user(fits)]).len(), 1);
}

/// Returns the anchors of a model's message that has `text` next to code.
fn beside_code(text: &str) -> Vec<(AnchorKind, String)> {
    let fenced = format!("{text}\n\n```rust\nfn a() {{}}\n```\n");
    let edit = format!("{text}\n\nsrc/a.rs\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n");
    let diff = format!("{text}\n\n@@ -1 +1 @@\n-a\n+b\n");
    let all = [fenced, edit, diff].map(|text| extracted([Message::assistant(text)]));
    assert!(all.iter().all(|found| *found == all[0]), "{all:?}");
    let [first, ..] = all;
    first
}

#[test]
fn work_done_in_same_message_is_not_a_commitment() {
    for text in [
        "I'll move the check into the reader.",
        "We'll add a column for the owner.",
        "Sure, I will change the greeting.",
        "I'm going to split the loop in two.",
        "I'll change `load` to always return a list.",
        "We'll store the row so that we can find it later.",
        "I'll rename the field that is read once the file is open.",
    ] {
        assert_eq!(beside_code(text), [], "{text}");
    }
    for text in [
        "I'll never write to the old table.",
        "From now on, I'll name the file first.",
        "I'll split the loop before every release.",
        "I'll remove the shim as soon as 2.0 is out.",
        "I'll make sure to keep the order.",
        "I promise to leave the schema alone.",
        "We won't touch the vendored code.",
        "Next time, I'll name the file first.",
    ] {
        assert_eq!(beside_code(text), [(AnchorKind::Commitment, text.to_owned())], "{text}");
        let call = Message::tool_call("1", "edit src/main.rs");
        assert_eq!(extracted([Message::assistant(text), call]).len(), 1, "{text}");
    }
    // A user's text does not describe the code next to it.
    let text = "I'll move the check into the reader.\n```\na\n```";
    assert_eq!(extracted([Message::user(text)]).len(), 1);
}

#[test]
fn model_step_announcements_are_not_commitments() {
    for text in [
        "Let's fix the order of the rows.", "First, we'll migrate the old rows.",
        "Then we'll migrate the old rows.", "Next, I'll migrate the old rows.",
        "I'll then migrate the old rows.", "Finally, we'll drop the old rows.",
        "After that, we'll drop the old rows.",
    ] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
        assert_eq!(extracted([Message::user(text)]).len(), 1, "{text}");
    }
    let kept = "Let's keep the old rows.";
    assert_eq!(extracted([Message::assistant(kept)]), [(AnchorKind::Decision, kept.to_owned())]);
}

#[test]
fn announced_code_is_not_part_of_an_anchor() {
    for text in [
        "We decided to change the page:\n```html\n<p>a</p>\n```\n- and a list",
        "We decided to change the page:\n\n<div class=\"box\">\n<p>Some words here</p>\n</div>\n- x",
        "We decided to change the page:\n- one\n<p>that goes on</p>",
    ] {
        let found = extracted([Message::user(text)]);
        assert!(found.iter().all(|(_, text)| !text.contains(['<', '`'])), "{found:?}");
    }
    let code = "We decided to change the page:\n```\na\n```\n- and a list";
    assert_eq!(extracted([Message::user(code)]), []);
}

#[test]
fn model_notes_on_its_change_are_not_facts() {
    for text in [
        "We always return a pair of both.",
        "Ids are always lower case here.",
        "This ensures that the file must never be empty.",
        "This change requires nothing else.",
        "Note that this change assumes a running server.",
        "Note that we've renamed the table.",
        "It rounds up rather than always rounding down.",
        "A tag tells that approval is required here.",
    ] {
        assert_eq!(beside_code(text), [], "{text}");
    }
    for text in ["The token must not be logged.", "Note that the server speaks HTTP/1.1 only."] {
        assert_eq!(beside_code(text), [(AnchorKind::CriticalFact, text.to_owned())], "{text}");
    }
}

#[test]
fn program_output_and_usage_text_is_not_an_anchor() {
    for text in [
        "src/load.py:12:9: F841 local variable 'x' is assigned but never used",
        "E501 lines must not be longer than 79 characters",
        "Start the tool and it will always use the newest file.",
        "You can set it up, and please use the flag for that.",
        "The list seems to always be sorted by name.",
        "=== FAILURES ===\nTraceback (most recent call last):\nNote: it must be closed.\nValueError: x",
    ] {
        assert_eq!(extracted([Message::user(text)]), [], "{text}");
    }
}

#[test]
fn bare_apologies_are_not_corrections() {
    for text in [
        "You're right, and I made a mistake in my last answer.",
        "I apologize, I misunderstood what you asked for.",
        "Actually run the command on request.",
    ] {
        assert_eq!(extracted([Message::assistant(text)]), [], "{text}");
    }
}

//! Texts that are anchors, rule by rule.

use std::fmt::Write as _;

use lcp_continuity::extract::{AnchorExtractor, RuleAnchorExtractor};
use lcp_continuity::{AnchorKind, AnchorPoint, Message};
use lcp_types::Status;

use super::recorded;

pub(super) fn anchors(messages: impl IntoIterator<Item = Message>) -> Vec<AnchorPoint> {
    RuleAnchorExtractor.anchors("c1", &recorded(messages))
}

/// Returns the kinds and texts of the anchors.
pub(super) fn extracted(messages: impl IntoIterator<Item = Message>) -> Vec<(AnchorKind, String)> {
    anchors(messages).into_iter().map(|anchor| (anchor.kind, anchor.text)).collect()
}

/// Checks that each text alone is one anchor of this kind.
fn each_is(kind: AnchorKind, say: impl Fn(&str) -> Message, texts: &[&str]) {
    for text in texts {
        assert_eq!(extracted([say(text)]), [(kind, (*text).to_owned())], "{text}");
    }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn model(text: &str) -> Message {
    Message::assistant(text)
}

#[test]
fn decision_sentences_are_extracted() {
    let texts = [
        "We decided to keep SQLite.", "I've decided on three retries.",
        "It was decided to drop the cache.", "Decided against a new crate.",
        "The decision is to ship without it.", "Ok, let's go with option B.",
        "Let’s use BLAKE3 for the hashes.", "We'll use one file per tenant.",
        "WE WILL USE POSTGRES.", "Agreed: the API stays as it is.",
        "We agreed on a limit of 10 MiB.", "Instead of Redis we use PostgreSQL.",
        "We use tabs instead of spaces here.", "Go with the second design.",
        "No, we'll go with the first one.", "**We chose** the smaller model.",
    ];
    each_is(AnchorKind::Decision, user, &texts);
    each_is(AnchorKind::Decision, model, &texts);
}

#[test]
fn commitment_sentences_are_extracted() {
    let texts = [
        "I will keep the public API stable.",
        "I’ll send you the numbers tomorrow.",
        "We'll migrate the old rows in a second step.",
        "I promise to ask before I delete anything.",
        "I won't touch the public API.",
        "I will not push to main.",
        "I'm going to split the crate in two.",
        "I'll run the tests every time I change the parser.",
        "I'll make sure that nothing is lost.",
    ];
    each_is(AnchorKind::Commitment, user, &texts);
    each_is(AnchorKind::Commitment, model, &texts);
    each_is(AnchorKind::Commitment, user, &["Let's add a retry to the client."]);
}

#[test]
fn correction_sentences_are_extracted() {
    each_is(
        AnchorKind::Correction,
        user,
        &[
            "No, the port is 8080.", "Wait, no, it has to be sorted by name.",
            "Actually, the file is in docs.", "That's wrong, the test is new.",
            "That is not right at all.", "It is not Redis but Valkey.", "It's port 8080, not 80.",
            "Use the other table instead.", "You should return an error instead.",
            "Scratch that, it works.", "I meant the second file.",
        ],
    );
    each_is(
        AnchorKind::Correction,
        model,
        &[
            "I was wrong about the lock.",
            "A correction: the default is 30 seconds.",
            "Actually, the race is in the reader.",
            "I misread the specification here.",
            "You're right, I made a mistake: the port is 8081.",
            "I misunderstood, it should be sorted by date.",
        ],
    );
}

#[test]
fn preference_sentences_are_extracted() {
    each_is(
        AnchorKind::Preference,
        user,
        &[
            "I prefer small commits.", "I'd rather have one file.", "Please use British spelling.",
            "Please don't add dependencies.", "Always use `rg` for that.",
            "Don't use unwrap in the library.", "I like short names.",
            "From now on write tests first.", "Do not touch the vendored code.",
            "Avoid macros where you can.",
        ],
    );
}

#[test]
fn critical_fact_sentences_are_extracted() {
    let texts = [
        "Important: the key rotates at midnight.",
        "**Important:** the key rotates at midnight.",
        "Note that the server speaks HTTP/1.1 only.",
        "The token must not be logged.",
        "Never restart the primary during a backup.",
        "Ids are always lower case.",
        "The limit is 4 MiB per request.",
        "The build requires clang 17.",
        "Warning: the migration locks the table.",
        "Keep in mind that both share one lock.",
        "The queue is limited to 512 entries.",
    ];
    each_is(AnchorKind::CriticalFact, user, &texts);
    each_is(AnchorKind::CriticalFact, model, &texts);
}

#[test]
fn questions_are_open_until_they_are_answered() {
    let question = |text: &str| (AnchorKind::OpenQuestion, text.to_owned());
    let asked = "Which region do you want?";
    assert_eq!(extracted([model(asked)]), [question(asked)]);
    assert_eq!(extracted([model(asked), user("eu-west")]), []);

    let asked = "Why is the build slow?";
    assert_eq!(extracted([user(asked)]), [question(asked)]);
    assert_eq!(extracted([user(asked), model("The linker takes 40 s.")]), []);
    // The answer was postponed, and never given.
    assert_eq!(extracted([user(asked), model("Let me check.")]), [question(asked)]);
    let later = [user(asked), model("Let me check."), model("It is the linker.")];
    assert_eq!(extracted(later), []);
    // A text before a tool call does not answer the question yet.
    let call = || Message::tool_call("1", "bash cargo build");
    let result = || Message::tool_result("1", "bash", Status::Ok, "done");
    let working = [user(asked), model("The profile may tell."), call(), result()];
    assert_eq!(extracted(working), [question(asked)]);
    // A model's question to itself is not an open question.
    assert_eq!(extracted([model("Where is the lock taken?"), call()]), []);
}

#[test]
fn explicit_markers_set_the_anchor_kind() {
    use AnchorKind::{Commitment, Correction, CriticalFact, Decision, OpenQuestion, Preference};
    for (text, kind, marked) in [
        ("DECISION: sqlite", Decision, "sqlite"),
        ("decision: Wir nehmen SQLite. Punkt.", Decision, "Wir nehmen SQLite. Punkt."),
        ("- [COMMITMENT] back up first", Commitment, "back up first"),
        ("[question]: which one", OpenQuestion, "which one"),
        ("> x\nFACT: 8 cores", CriticalFact, "8 cores"),
        ("**Correction:** 9 cores", Correction, "9 cores"),
        ("## Preference: tabs", Preference, "tabs"),
    ] {
        assert_eq!(extracted([model(text)]), [(kind, marked.to_owned())], "{text}");
    }
    let long = format!("FACT: {}", "word ".repeat(300).trim_end());
    let anchors = anchors([user(&long)]);
    assert_eq!((anchors[0].text.len(), anchors[0].importance), (1_499, 1.0));
}

#[test]
fn announced_list_is_part_of_the_anchor() {
    let text = "We decided to change two things:\n- the name\n- the version\n\nGo on.";
    let list = "We decided to change two things:\n- the name\n- the version";
    assert_eq!(extracted([user(text)]), [(AnchorKind::Decision, list.to_owned())]);
    assert_eq!(extracted([user("We decided to change two things:")]), []);
}

#[test]
fn wrapped_sentence_is_one_anchor() {
    let text = "Also: we decided to keep the old format for as long as\nanybody reads it. Bye.";
    let sentence = &text[..text.len() - 5];
    assert_eq!(extracted([user(text)]), [(AnchorKind::Decision, sentence.to_owned())]);
}

#[test]
fn anchors_record_source_and_importance() {
    let anchors = anchors([
        user("Hi."),
        user("We decided to use Rust. I prefer short names."),
        model("I will keep the API. The build requires clang."),
    ]);
    let all: Vec<_> =
        anchors.iter().map(|anchor| (anchor.source.message, anchor.importance)).collect();
    assert_eq!(all, [(1, 0.95), (1, 0.75), (2, 0.8), (2, 0.6)]);
    assert!(anchors.iter().all(|anchor| anchor.source.conversation == "c1" && anchor.is_live()));
}

#[test]
fn duplicate_anchors_keep_only_the_first() {
    let anchors = anchors([user("We decided to use Rust."), model("We decided to use Rust.")]);
    assert_eq!(anchors.len(), 1);
    assert_eq!(anchors[0].source.message, 0);
}

#[test]
fn message_keeps_sixteen_most_important_anchors() {
    let mut text = String::new();
    for at in 0..20 {
        let _ = writeln!(text, "Rule {at} requires care.");
    }
    text.push_str("We decided to stop.\n");
    let anchors = anchors([user(&text)]);
    assert_eq!(anchors.len(), 16);
    assert_eq!(anchors[15].kind, AnchorKind::Decision);
    assert_eq!(anchors[14].text, "Rule 14 requires care.");
}

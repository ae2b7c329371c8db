//! The phrases, in lower case with straight apostrophes. Punctuation marks are separate words.

use crate::model::AnchorKind;

#[derive(Clone, Copy)]
pub(super) enum SpeakerFilter {
    Anyone,
    User,
    /// The user, or the model if no call follows, because the message is then a conclusion.
    AnyoneDone,
}

#[derive(Clone, Copy)]
pub(super) enum PhrasePosition {
    /// At the beginning of the sentence, after words like "ok, so".
    Start,
    Anywhere,
}

/// A phrase, and the kind of anchor that it makes of its sentence.
pub(super) struct Phrase {
    pub(super) words: &'static str,
    pub(super) kind: AnchorKind,
    pub(super) who: SpeakerFilter,
    pub(super) place: PhrasePosition,
}

macro_rules! phrases {
    ($($kind:ident $who:ident $place:ident: $($words:literal),+ $(,)?;)+) => {
        &[$($(Phrase {
            words: $words,
            kind: AnchorKind::$kind,
            who: SpeakerFilter::$who,
            place: PhrasePosition::$place,
        },)+)+]
    };
}

pub(super) const PHRASES: &[Phrase] = phrases! {
    Decision Anyone Anywhere:
        "we decided", "i decided", "we've decided", "i've decided", "we have decided",
        "i have decided", "decided to", "decided on", "decided that", "decided against",
        "the decision is", "the decision was", "our decision is", "my decision is",
        "final decision", "let's go with", "let's use", "let's stick with", "let's stay with",
        "let's keep", "let's switch to", "we'll use", "we will use", "we'll go with",
        "we will go with", "i'll go with", "i will go with", "we'll stick with",
        "we will stick with", "we'll keep", "we will keep", "we're going with",
        "we are going with", "i'm going with", "we agreed", "agreed on", "agreed to",
        "settled on", "we chose", "i chose", "we've chosen", "we have chosen", "we opted for",
        "i opted for", "we've opted for", "we picked",
        "instead of";
    Decision Anyone Start:
        "agreed :", "agreed ,", "agreed -", "agreed –", "agreed —", "go with";
    Commitment Anyone Anywhere:
        "i will", "i'll", "we will", "we'll", "i promise", "we promise", "i commit to",
        "we commit to", "i'm going to", "i am going to", "we're going to", "we are going to",
        "i won't", "we won't", "let's";
    Correction User Start:
        "no ,", "no -", "no –", "no —", "nope ,", "not quite ,", "i mean", "i meant";
    Correction AnyoneDone Start: "actually";
    Correction User Anywhere:
        "that's wrong", "that is wrong", "this is wrong", "that's not right",
        "that is not right", "that's not correct", "that's incorrect", "that is incorrect",
        "you misunderstood", "instead", "scratch that", "strike that", "what i meant";
    Correction Anyone Anywhere:
        "correction :", "i was wrong", "i was mistaken", "i made a mistake", "i misread",
        "i misunderstood", "i misspoke", "my mistake ,", "my mistake :";
    Preference User Anywhere:
        "i prefer", "i'd prefer", "i would prefer", "we prefer", "i'd rather",
        "i would rather", "please use", "please don't", "please do not", "please never",
        "please always", "please keep", "please avoid", "please stick to", "always use",
        "never use", "i like", "i don't like", "i hate", "don't use", "do not use",
        "my preference", "from now on";
    Preference User Start:
        "prefer", "avoid", "don't", "do not", "stick to", "stick with";
    CriticalFact Anyone Start:
        "important :", "important -", "important note", "it is important", "it's important",
        "note that", "please note", "note :", "nb :", "n.b :", "warning :", "caution :",
        "caveat :", "critical :", "keep in mind", "bear in mind", "remember that",
        "be aware", "heads up", "beware";
    CriticalFact Anyone Anywhere:
        "important to note", "the limit is", "limit of", "is limited to", "are limited to",
        "breaking change", "is critical", "are critical";
    CriticalFact AnyoneDone Anywhere:
        "must", "mustn't", "never", "always", "requires", "is required", "are required",
        "only works with", "only works if", "only works when", "hard limit";
};

/// Phrases that have a different meaning before these words.
pub(super) const EXCEPTIONS: &[(&str, &[&str])] = &[
    (
        "must",
        &[
            "have", "admit", "say", "be because", "be why", "be that", "be the", "be a", "be an",
            "be something", "be some",
        ],
    ),
    ("never", &["mind", "been", "had", "seen"]),
    ("always", &["been", "welcome", "had"]),
    ("i like", &["it", "that", "this", "the", "your", "how", ",", "!"]),
    ("no ,", &["thanks", "thank", "that's fine", "that's ok", "that's all", "go ahead"]),
    ("don't", &["worry", "mind", "know", "think", "understand", "bother", "see"]),
    ("do not", &["worry", "mind", "know", "think", "understand", "see"]),
    ("agreed to", &["disagree"]),
    ("let's", &["see", "say", "hope", "call it", "talk"]),
    ("i mean", &["it", "well"]),
    ("actually", &["works", "worked", "works !", ", that's fine", ", yes"]),
    ("limit of", &["the", "a", "my", "our"]),
];

/// Words with which a user asks for a different way of doing something.
pub(super) const IMPERATIVES: &[&str] = &[
    "please", "use", "do", "try", "put", "make", "call", "write", "keep", "run", "go", "take",
    "add", "set", "pick", "choose", "return", "store", "instead",
];

/// Phrases that make a sentence with "instead of" a decision.
pub(super) const WE_USE: &[&str] =
    &["we use", "we'll use", "we now use", "we will use", "we are using", "we're using"];

/// Phrases with which a model announces its next step, rather than a correction.
pub(super) const DOING_NOW: &[&str] = &["let me", "i'll", "i need to", "i should", "i see"];

/// Words right before a phrase that make it conditional.
pub(super) const CONDITIONS: [&str; 8] =
    ["if", "whether", "unless", "should", "could", "would", "until", "once"];

/// Subjects that may occur right before "decided".
pub(super) const DECIDED_BY: &[&str] = &[
    "we", "i", "we've", "i've", "have", "you", "team", "was", "been", "were", "they", "also",
    "finally", "already", "now", "is",
];

/// Phrases that make a promise an offer.
pub(super) const OFFERS: &[&str] = &[
    "if you want", "if you like", "if you'd like", "if you would like", "if you prefer",
    "if you wish", "if needed", "if necessary", "if that's ok", "if that works", "if you have",
    "if you need", "if you provide", "if you share", "once you share", "once you provide",
    "please share", "please provide", "please specify", "feel free", "happy to", "would you like",
    "let me know",
];

/// Phrases that show that a sentence is about a search, and not a decision.
pub(super) const LOOKING_FOR: &[&str] = &[
    "to find", "to search", "to look", "to see", "to check", "to read", "to locate", "to inspect",
];

/// Questions that do not expect an answer.
pub(super) const SMALL_TALK: &[&str] =
    &["anything else", "how are you", "how is it going", "how's it going", "what's up"];

/// Questions with which a model offers help.
pub(super) const OFFERED: &[&str] = &[
    "how can i", "how may i", "what can i", "can i help", "would you like", "do you want me",
    "want me to", "shall i", "shall we", "let me know", "make sense", "what would you like",
    "should i begin", "should i commit", "should i continue", "should i go ahead",
    "should i go on", "should i merge", "should i move on", "should i proceed", "should i push",
    "should i start", "ready to commit", "ready to continue", "ready to proceed",
];

/// Apologies of a model, which only say that something was wrong.
pub(super) const APOLOGIES: &[&str] = &[
    "i apologize", "i apologise", "my apologies", "i made a mistake", "i misunderstood",
    "you're right", "you are right", "you're correct", "you are correct", "you're absolutely",
    "you are absolutely",
];

/// Phrases that introduce the correct statement after an apology.
pub(super) const RIGHTS: &[&str] =
    &[":", "it is", "it's", "should be", "should have been", "is in fact", "is actually", "it was"];

/// Beginnings of sentences that describe a program.
pub(super) const OF_PROGRAMS: &[&str] = &["you can", "it will", "it can", "this will", "it'll"];

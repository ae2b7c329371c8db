//! Anchors: what must survive compression word for word.

use lcp_types::Role;
use serde::{Deserialize, Serialize};

/// What an anchor is (RFC 0007 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnchorKind {
    /// Something was promised: "I will …".
    Commitment,
    /// Something was decided.
    Decision,
    /// Something was asked, and not answered.
    OpenQuestion,
    /// A fact that the work depends on.
    CriticalFact,
    /// Something that was said before is wrong.
    Correction,
    /// How the user wants it.
    Preference,
}

impl AnchorKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Decision,
        Self::Commitment,
        Self::Correction,
        Self::CriticalFact,
        Self::Preference,
        Self::OpenQuestion,
    ];

    /// The name in packs, labels and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commitment => "commitment",
            Self::Decision => "decision",
            Self::OpenQuestion => "open_question",
            Self::CriticalFact => "critical_fact",
            Self::Correction => "correction",
            Self::Preference => "preference",
        }
    }

    /// The name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::OpenQuestion => "open question",
            Self::CriticalFact => "critical fact",
            _ => self.name(),
        }
    }

    /// Whether a hand-off that loses one of this kind is never in order,
    /// however much else it keeps.
    #[must_use]
    pub const fn is_binding(self) -> bool {
        matches!(self, Self::Commitment | Self::Decision)
    }
}

/// Something that must survive compression word for word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnchorPoint {
    /// Its id: the same kind and text have the same one ([`Self::new`]).
    pub id: String,
    /// What it is.
    pub kind: AnchorKind,
    /// The words, byte for byte as they were said.
    #[serde(skip)]
    pub text: String,
    /// How much it matters, 0 to 1; decides which of two gives way first.
    pub importance: f64,
    /// Where it was said.
    pub source: AnchorSource,
    /// The id of the anchor that replaced it; it is then not carried on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// Where an anchor was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorSource {
    /// The conversation.
    pub conversation: String,
    /// The message in it, counted from 0.
    pub message: u64,
    /// Who said it, where that is known: whose answer closes a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<Speaker>,
}

/// Who says something that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Model,
}

impl Speaker {
    /// The speaker of turns of this role; of system turns and tools there is none.
    #[must_use]
    pub const fn from_role(role: Role) -> Option<Self> {
        match role {
            Role::User => Some(Self::User),
            Role::Assistant => Some(Self::Model),
            _ => None,
        }
    }
}

impl AnchorPoint {
    /// An anchor with an id of its own: the first 16 hexadecimal digits of the
    /// BLAKE3 hash of its kind and text.
    ///
    /// ```
    /// use lcp_continuity::{AnchorKind, AnchorPoint, AnchorSource};
    ///
    /// let anchor = |text| AnchorPoint::new(AnchorKind::Decision, text, 0.8, AnchorSource::default());
    /// assert_eq!(anchor("Use SQLite.").id, anchor("Use SQLite.").id);
    /// assert_ne!(anchor("Use SQLite.").id, anchor("Use files.").id);
    /// ```
    #[must_use]
    pub fn new(
        kind: AnchorKind,
        text: impl Into<String>,
        importance: f64,
        source: AnchorSource,
    ) -> Self {
        let text = text.into();
        let id = super::short_hash(&[kind.name().as_bytes(), text.as_bytes()]);
        Self { id, kind, text, importance, source, superseded_by: None }
    }

    /// Whether it still holds.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.superseded_by.is_none()
    }
}

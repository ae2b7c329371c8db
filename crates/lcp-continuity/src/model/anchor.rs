//! Anchors: quotations that must survive compression verbatim.

use lcp_types::Role;
use serde::{Deserialize, Serialize};

/// The kind of an anchor (RFC 0007 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnchorKind {
    /// A promise: "I will …".
    Commitment,
    /// A decision.
    Decision,
    /// A question that was not answered.
    OpenQuestion,
    /// A fact that the work depends on.
    CriticalFact,
    /// A statement that corrects an earlier one.
    Correction,
    /// A wish of the user about the way of working.
    Preference,
}

impl AnchorKind {
    /// All kinds, in display order.
    pub const ALL: [Self; 6] = [
        Self::Decision,
        Self::Commitment,
        Self::Correction,
        Self::CriticalFact,
        Self::Preference,
        Self::OpenQuestion,
    ];

    /// Returns the name used in packs, labels and reports.
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

    /// Returns the name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::OpenQuestion => "open question",
            Self::CriticalFact => "critical fact",
            _ => self.name(),
        }
    }

    /// Returns whether the loss of an anchor of this kind makes a hand-off unacceptable, regardless
    /// of its score.
    #[must_use]
    pub const fn is_binding(self) -> bool {
        matches!(self, Self::Commitment | Self::Decision)
    }
}

/// A quotation that must survive compression verbatim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnchorPoint {
    /// The id. Anchors of the same kind and text have the same id (see [`Self::new`]).
    pub id: String,
    /// The kind.
    pub kind: AnchorKind,
    /// The quoted text, byte for byte.
    #[serde(skip)]
    pub text: String,
    /// The importance, from 0 to 1. If not all anchors fit, the less important ones are dropped
    /// first.
    pub importance: f64,
    /// The message that the anchor quotes.
    pub source: AnchorSource,
    /// The id of the anchor that replaced this one. A superseded anchor is not carried on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// The source of an anchor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorSource {
    /// The id of the conversation.
    pub conversation: String,
    /// The position of the message, counted from 0.
    pub message: u64,
    /// The speaker, if known. The speaker of a question decides whose answer closes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<Speaker>,
}

/// The speaker of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Model,
}

impl Speaker {
    /// Returns the speaker of turns of this role, or `None` for system and tool turns.
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
    /// Creates an anchor whose id is the first 16 hexadecimal digits of the BLAKE3 hash of its kind
    /// and text.
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

    /// Returns whether the anchor still holds, that is, has not been superseded.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.superseded_by.is_none()
    }
}

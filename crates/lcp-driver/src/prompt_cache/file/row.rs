//! Parts of a saved plan as JSON.

use lcp_types::Priority;
use serde::{Deserialize, Deserializer, Serialize};

use super::super::saved::{Hash, SavedPart};
use super::{PlanFileError, bad};
use crate::budget::Excerpt;
use crate::budget::cost::Detail;
use crate::text::Piece;

/// A part, one line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a part")]
pub(super) struct Row {
    place: usize,
    hash: Hash,
    #[serde(deserialize_with = "shown")]
    detail: Name,
    pub(super) cost: u32,
    text: Hash,
    #[serde(default, deserialize_with = "priority", skip_serializing_if = "Option::is_none")]
    priority: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<Figures>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the figures of an excerpt")]
struct Figures {
    head_bytes: usize,
    tail_bytes: usize,
    omitted_lines: usize,
    omitted_tokens: u32,
}

/// A name of ours.
#[derive(Clone, Copy, Serialize)]
struct Name(&'static str);

/// What parts show, as reports call it.
const DETAILS: [(&str, Detail); 5] = [
    ("full", Detail::Full),
    ("detailed", Detail::Detailed),
    ("summary", Detail::Summary),
    ("tags", Detail::Tags),
    ("placeholder", Detail::Placeholder),
];
const EXCERPT: &str = "excerpt";

impl Row {
    pub(super) fn of(part: &SavedPart) -> Self {
        let (detail, excerpt) = match part.piece {
            Piece::Excerpt(excerpt) => (EXCERPT, Some(Figures::of(&excerpt))),
            Piece::Detail(detail) => {
                let known = DETAILS.iter().find(|(_, known)| *known == detail);
                (known.map_or("", |(name, _)| *name), None)
            }
        };
        Self {
            place: part.place,
            hash: part.block,
            detail: Name(detail),
            cost: part.cost,
            text: part.text,
            priority: part.priority.map(|priority| Name(priority.name())),
            tool_call_id: part.tool_call_id.clone(),
            level: part.level.clone(),
            excerpt,
        }
    }

    /// The part at this place.
    pub(super) fn part(self, part: usize) -> Result<SavedPart, PlanFileError> {
        let Name(detail) = self.detail;
        let wrong = |message| Err(PlanFileError::Part { part, detail, message });
        let known = DETAILS.iter().find(|(name, _)| *name == detail).map(|(_, detail)| *detail);
        let has_level = matches!(known, Some(Detail::Detailed | Detail::Summary | Detail::Tags));
        if has_level && self.level.as_deref().is_none_or(str::is_empty) {
            return wrong("without the text of its level");
        }
        if !has_level && self.level.is_some() {
            return wrong("with the text of a level");
        }
        let piece = match (known, self.excerpt) {
            (Some(detail), None) => Piece::Detail(detail),
            (None, Some(figures)) => Piece::Excerpt(figures.excerpt()),
            (Some(_), Some(_)) => return wrong("with the figures of an excerpt"),
            (None, None) => return wrong("without its figures"),
        };
        Ok(SavedPart {
            place: self.place,
            block: self.hash,
            piece,
            cost: self.cost,
            text: self.text,
            priority: self.priority.and_then(|Name(name)| Priority::from_name(name)),
            tool_call_id: self.tool_call_id,
            level: self.level,
        })
    }
}

impl Figures {
    const fn of(excerpt: &Excerpt) -> Self {
        Self {
            head_bytes: excerpt.head_bytes,
            tail_bytes: excerpt.tail_bytes,
            omitted_lines: excerpt.omitted_lines,
            omitted_tokens: excerpt.omitted_tokens,
        }
    }

    const fn excerpt(&self) -> Excerpt {
        Excerpt {
            head_bytes: self.head_bytes,
            tail_bytes: self.tail_bytes,
            omitted_lines: self.omitted_lines,
            omitted_tokens: self.omitted_tokens,
        }
    }
}

fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut names = DETAILS.iter().map(|(name, _)| *name).chain([EXCERPT]);
    let known = names.find(|known| *known == name).map(Name);
    known.ok_or_else(|| bad(&name, "is nothing that a part shows"))
}

fn priority<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Name>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = Priority::from_name(&name).map(|priority| Name(priority.name()));
    known.map(Some).ok_or_else(|| bad(&name, "is no priority"))
}

//! Saved plans as JSON (RFC 0005 §6.2): one part per line, with a checksum over the whole file.

#[cfg(test)]
mod tests;

use std::fmt::Display;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use lcp_types::{Priority, Tag};

use super::previous_plan::{Fingerprint, PreviousPart, PreviousPlan};
use crate::block_view::label::{cap, escape_control, push_quoted};
use crate::detail::{DetailLevel, EXCERPT, Excerpt, OutputMode, ShownDetail};
use crate::fmt::write_to;

const SCHEMA: &str = "lcp.plan.v1";

/// The JSON form of a plan. The checksum is read from the end of the file, where it must be. Its
/// field is declared here so that a file must have it exactly once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a plan")]
struct File {
    schema: String,
    renderer: u32,
    encoding: String,
    #[serde(deserialize_with = "mode")]
    mode: OutputMode,
    parts: Vec<PartRow>,
    unshown: Vec<Fingerprint>,
    #[serde(rename = "check")]
    _check: Fingerprint,
}

/// The end of a file, around the checksum.
const CHECK: (&str, &str) = ("\"check\":\"", "\"}\n");

impl PreviousPlan {
    /// Formats the plan as JSON, one part per line, with a final newline. The same plan always
    /// gives the same bytes.
    ///
    /// ```
    /// use lcp_driver::prompt_cache::{PreviousPlan, StableOptions};
    /// use lcp_driver::{DefaultDriver, DriverConfig};
    /// use lcp_types::{Block, Role};
    ///
    /// let config = DriverConfig {
    ///     token_budget: Some(1_000),
    ///     stable: Some(StableOptions::default()),
    ///     ..DriverConfig::default()
    /// };
    /// let blocks = [Block::conversation(Role::User, "What is a pack?")];
    /// let plan = DefaultDriver::default().plan(&blocks, &config)?;
    /// let next = plan.stable.unwrap().next_plan;
    /// assert_eq!(PreviousPlan::from_json(&next.to_json()), Ok(next));
    /// # Ok::<(), lcp_driver::DriverError>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        let (renderer, mode) = (self.renderer, self.mode.name());
        let encoding = json(&self.encoding);
        write_to(
            &mut text,
            format_args!(
                "{{\"schema\":\"{SCHEMA}\",\"renderer\":{renderer},\
                 \"encoding\":{encoding},\"mode\":\"{mode}\","
            ),
        );
        push_lines(
            &mut text,
            "parts",
            self.parts.iter().map(|part| json(&PartRow::from_part(part))),
        );
        push_lines(&mut text, "unshown", self.unshown.iter().map(json));
        let check = Fingerprint::from_bytes(text.as_bytes());
        write_to(&mut text, format_args!("{}{check:?}{}", CHECK.0, CHECK.1));
        text
    }

    /// Parses the output of [`Self::to_json`]. The text must be unchanged, byte for byte.
    ///
    /// A plan of another renderer, encoding or mode is accepted here. Planning decides whether this
    /// version can continue from it.
    ///
    /// ```
    /// use lcp_driver::prompt_cache::{PlanFileError, PreviousPlan};
    ///
    /// let error = PreviousPlan::from_json("{\"schema\":\"lcp.report.v1\"}").unwrap_err();
    /// assert!(matches!(error, PlanFileError::Schema { .. }));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a [`PlanFileError`] for any other text.
    pub fn from_json(text: &str) -> Result<Self, PlanFileError> {
        let file: File = serde_json::from_str(text)
            .map_err(|error| other_schema(text).unwrap_or_else(|| wrong(&error)))?;
        if file.schema != SCHEMA {
            return Err(schema(&file.schema));
        }
        if !is_checked(text) {
            return Err(PlanFileError::Checksum);
        }
        let tokens = file.parts.iter().map(|row| u64::from(row.cost)).sum();
        if tokens > u64::from(u32::MAX) {
            return Err(PlanFileError::TooManyTokens { tokens });
        }
        let parts = file.parts.into_iter().enumerate().map(|(part, row)| row.part(part));
        Ok(Self {
            renderer: file.renderer,
            encoding: file.encoding,
            mode: file.mode,
            parts: parts.collect::<Result<_, _>>()?,
            unshown: file.unshown,
        })
    }
}

/// Returns whether a text ends with the checksum of everything before it.
fn is_checked(text: &str) -> bool {
    const DIGITS: usize = 2 * size_of::<Fingerprint>();
    let length = CHECK.0.len() + DIGITS + CHECK.1.len();
    let end = text.len().checked_sub(length).and_then(|at| text.split_at_checked(at));
    end.is_some_and(|(before, end)| {
        end == format!("{}{:?}{}", CHECK.0, Fingerprint::from_bytes(before.as_bytes()), CHECK.1)
    })
}

fn json(value: &impl Serialize) -> String {
    // A value is a number, a string or a list of them, so serialization cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// Appends a field with a list, one item per line, and a comma.
fn push_lines(text: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    write_to(text, format_args!("\"{name}\":["));
    let mut before = "\n";
    for line in lines {
        write_to(text, format_args!("{before}{line}"));
        before = ",\n";
    }
    text.push_str(if before == "\n" { "]," } else { "\n]," });
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        from_hex(&digits)
            .map(Self)
            .ok_or_else(|| bad(&digits, "is not a hash: expected 32 digits 0-9 and a-f"))
    }
}

fn from_hex(digits: &str) -> Option<[u8; 16]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = digits.as_bytes().as_chunks() else { return None };
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    bytes?.try_into().ok()
}

fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OutputMode, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mode = OutputMode::ALL.into_iter().find(|mode| mode.name() == name);
    mode.ok_or_else(|| bad(&name, "is not a mode"))
}

fn quoted(value: &str) -> String {
    let mut text = String::new();
    push_quoted(&mut text, value);
    text
}

fn bad<E: serde::de::Error>(value: &str, message: impl Display) -> E {
    E::custom(format_args!("{} {message}", quoted(value)))
}

/// Returns the error for a file of another format.
fn other_schema(text: &str) -> Option<PlanFileError> {
    #[derive(Deserialize)]
    struct Named {
        schema: String,
    }
    let named = serde_json::from_str::<Named>(text).ok()?;
    (named.schema != SCHEMA).then(|| schema(&named.schema))
}

fn schema(found: &str) -> PlanFileError {
    PlanFileError::Schema { found: quoted(found) }
}

fn wrong(error: &serde_json::Error) -> PlanFileError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let place = format!(" at line {line} column {column}");
    // The message may quote names and values of the file, which may contain control characters.
    let message = escape_control(&cap(text.strip_suffix(&place).unwrap_or(&text))).into_owned();
    if error.is_data() {
        PlanFileError::Field { message, line, column }
    } else {
        PlanFileError::Syntax { message, line, column }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a part")]
struct PartRow {
    place: usize,
    hash: Fingerprint,
    #[serde(deserialize_with = "shown")]
    detail: Name,
    cost: u32,
    text: Fingerprint,
    #[serde(default, deserialize_with = "priority", skip_serializing_if = "Option::is_none")]
    priority: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<Excerpt>,
}

/// The name of a level of detail or of a priority.
#[derive(Clone, Copy, Serialize)]
struct Name(&'static str);

impl PartRow {
    fn from_part(part: &PreviousPart) -> Self {
        let (detail, excerpt) = match &part.shown {
            ShownDetail::Excerpt(excerpt) => (EXCERPT, Some(excerpt.clone())),
            ShownDetail::Level(detail) => (detail.name(), None),
        };
        Self {
            place: part.position,
            hash: part.block,
            detail: Name(detail),
            cost: part.cost,
            text: part.text,
            priority: part.priority.map(|priority| Name(priority.name())),
            tool_call_id: part.tool_call_id.clone(),
            lang: part.lang.map(str::to_owned),
            path: part.path.clone(),
            renamed_from: part.renamed_from.clone(),
            level: part.level.clone(),
            excerpt,
        }
    }

    /// Converts a row to a part.
    fn part(self, part: usize) -> Result<PreviousPart, PlanFileError> {
        let Name(detail) = self.detail;
        let wrong = |message| Err(PlanFileError::Part { part, detail, message });
        let known = DetailLevel::from_name(detail);
        let has_level =
            matches!(known, Some(DetailLevel::Detailed | DetailLevel::Summary | DetailLevel::Tags));
        if has_level && self.level.as_deref().is_none_or(str::is_empty) {
            return wrong("missing text of the level");
        }
        if !has_level && self.level.is_some() {
            return wrong("unexpected text of a level");
        }
        let shown = match (known, self.excerpt) {
            (Some(detail), None) => ShownDetail::Level(detail),
            (None, Some(figures)) => ShownDetail::Excerpt(figures),
            (Some(_), Some(_)) => return wrong("unexpected excerpt"),
            (None, None) => return wrong("missing excerpt"),
        };
        let lang = self.lang.as_deref().map(Tag::known_lang);
        if lang == Some(None) {
            return wrong("unknown language");
        }
        let lang = lang.flatten();
        Ok(PreviousPart {
            position: self.place,
            block: self.hash,
            shown,
            cost: self.cost,
            text: self.text,
            priority: self.priority.and_then(|Name(name)| Priority::from_name(name)),
            tool_call_id: self.tool_call_id,
            lang,
            path: self.path,
            renamed_from: self.renamed_from,
            level: self.level,
        })
    }
}

fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = DetailLevel::from_name(&name).map(DetailLevel::name);
    let known = known.or_else(|| (name == EXCERPT).then_some(EXCERPT)).map(Name);
    known.ok_or_else(|| bad(&name, "is not a detail level"))
}

fn priority<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Name>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = Priority::from_name(&name).map(|priority| Name(priority.name()));
    known.map(Some).ok_or_else(|| bad(&name, "is not a priority"))
}

/// The error of parsing a saved plan.
///
/// Lines and columns count from 1, parts from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFileError {
    /// The file is not valid JSON, or is truncated.
    #[error("the plan is not valid JSON: {message} (line {line}, column {column})")]
    Syntax {
        /// The message of the JSON parser.
        message: String,
        /// The line of the error.
        line: usize,
        /// The column of the error, in bytes.
        column: usize,
    },
    /// A field is missing, unknown, repeated, or has an invalid value.
    #[error("the plan has an invalid field: {message} (line {line}, column {column})")]
    Field {
        /// The message of the JSON parser.
        message: String,
        /// The line of the error.
        line: usize,
        /// The column of the error, in bytes.
        column: usize,
    },
    /// The file has another format.
    #[error("expected a plan with schema {}, got {found}", SCHEMA)]
    Schema {
        /// The schema that the file names, in quotes.
        found: String,
    },
    /// The file was changed since it was written: its checksum does not match, or is not at the
    /// end.
    #[error("the plan was changed after it was written: its checksum does not match")]
    Checksum,
    /// A part is inconsistent: a level lacks its text, an excerpt lacks its numbers, or another
    /// detail has such a text or such numbers.
    #[error("part {part} of the plan ({detail}) is invalid: {message}")]
    Part {
        /// The position of the part in the text, from 0.
        part: usize,
        /// The detail of the part, by its name in reports.
        detail: &'static str,
        /// The inconsistency.
        message: &'static str,
    },
    /// The sum of the costs of all parts exceeds the maximum tokens of a text, `u32::MAX`.
    #[error("the parts of the plan have {tokens} tokens, more than the maximum of {}", u32::MAX)]
    TooManyTokens {
        /// The sum of the costs of all parts.
        tokens: u64,
    },
}

impl PlanFileError {
    /// Returns a stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "plan_syntax",
            Self::Field { .. } => "plan_field",
            Self::Schema { .. } => "plan_schema",
            Self::Checksum => "plan_checksum",
            Self::Part { .. } => "plan_part",
            Self::TooManyTokens { .. } => "plan_tokens",
        }
    }
}

//! Why a file is no plan.

/// Why a file cannot be read as the plan of a turn.
///
/// Lines and columns count from 1, parts from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFileError {
    /// It is no JSON, or was cut off.
    #[error("the plan is no JSON: {message} (line {line}, column {column})")]
    Syntax {
        /// What is wrong.
        message: String,
        /// The line of the file.
        line: usize,
        /// The column, in bytes.
        column: usize,
    },
    /// A field is missing, unknown, there twice, or has a value that it cannot
    /// have.
    #[error("the plan has a wrong field: {message} (line {line}, column {column})")]
    Field {
        /// What is wrong.
        message: String,
        /// The line of the file.
        line: usize,
        /// The column, in bytes.
        column: usize,
    },
    /// It is written in another format.
    #[error("the plan has the schema {found}, not {}", super::SCHEMA)]
    Schema {
        /// What it says it is, in quotes.
        found: String,
    },
    /// It was changed since it was written: its checksum is that of another
    /// text, or is not the last that it has.
    #[error("the plan was changed since it was written: its checksum does not fit")]
    Checksum,
    /// A part that no text has: a level without its text, an excerpt without
    /// its figures, or one of them where it does not belong.
    #[error("part {part} of the plan is {detail}, {message}")]
    Part {
        /// Its place in the text, counted from 0.
        part: usize,
        /// What is shown of its block, as in reports.
        detail: &'static str,
        /// What is wrong.
        message: &'static str,
    },
    /// The parts have more tokens together than a text can have, which are
    /// `u32::MAX`.
    #[error("the parts of the plan have {tokens} tokens, more than a text can have")]
    TooManyTokens {
        /// The sum of their costs.
        tokens: u64,
    },
}

impl PlanFileError {
    /// A stable code, for programs.
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
